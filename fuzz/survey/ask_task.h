// One task of a survey, as the process that asks the device does it.
#pragma once

#include "absl/status/status.h"
#include "corpus/survey_record.h"
#include "device/device.h"
#include "fuzz/engine.h"
#include "fuzz/survey/schedule.h"

namespace mmadiff {

// Adds what the device says to `result`. `unit`: of a run. `device`: the engine's, or one that hands
// everything on to it. Errors are the device's, and kNotFound for a task of no operation.
absl::Status AskTask(const SurveyManifest& manifest, const SurveyTask& task, const SurveyUnit& unit,
                     Engine& engine, Device& device, SurveyResult& result);

}  // namespace mmadiff
