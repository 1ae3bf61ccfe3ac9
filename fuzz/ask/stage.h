// What each stage of a survey asks a device.
#pragma once

#include "absl/status/status.h"
#include "corpus/survey_record.h"
#include "device/device.h"
#include "fuzz/engine/engine.h"

namespace mmadiff {

// A device that takes longer for a dot product is slow: its tasks are cut into what it answers in a
// few seconds. Of the fastest batch of a row's layout.
inline constexpr double kSlowPace = 500e-6;  // seconds

// Whether what is asked is compared with a model. Operations without one are not asked it.
bool NeedsModel(SurveyStage stage);

// Adds what the device answers to `result`. `device`: the engine's, or one that hands everything on
// to it. `manifest`: of the survey. Errors are the device's, and kNotFound for an unknown operation.
absl::Status AskStage(const SurveyManifest& manifest, const AskRequest& request, Engine& engine,
                      Device& device, SurveyResult& result);

}  // namespace mmadiff
