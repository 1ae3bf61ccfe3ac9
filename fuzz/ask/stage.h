// Runs the stages of a survey on a device.
#pragma once

#include "absl/status/status.h"
#include "corpus/survey_record.h"
#include "device/device.h"
#include "fuzz/engine/engine.h"

namespace mmadiff {

// A device that takes longer per dot product is slow: its tasks are cut into parts of a few
// seconds. Measured on the fastest batch of the row's layout stage.
inline constexpr double kSlowPace = 500e-6;  // seconds

// Whether the stage compares answers with a model. Operations without a model skip it.
bool NeedsModel(SurveyStage stage);

// Adds the device's answers to `result`. `device`: the engine's device, or one that forwards to it.
// `manifest`: the survey's. Errors are the device's, and kNotFound for an unknown operation.
absl::Status AskStage(const SurveyManifest& manifest, const AskRequest& request, Engine& engine,
                      Device& device, SurveyResult& result);

}  // namespace mmadiff
