// Tasks of a survey that end when their part of the time is over: then the result is unfinished, and
// says where the next part begins.
#pragma once

#include "absl/status/status.h"
#include "corpus/survey_record.h"
#include "device/device.h"
#include "fuzz/engine/engine.h"

namespace mmadiff {

// Both add what the device says to `result`, also when they return its error: `result.next` is then
// what was asked last.

// Vectors and regression cases (fuzz/ask/known_cases.h) from number part.first on.
absl::Status AskVectors(const SurveyManifest& manifest, const TaskPart& part, Device& device,
                        const Operation& op, SurveyResult& result);

// Raw answers to the first cases of every strategy, from batch number part.first on, the strategies
// in turn; then digests, but not of a slow device.
absl::Status AskRecording(const SurveyManifest& manifest, const TaskPart& part, Engine& engine,
                          Device& device, const CaseStream& stream, SurveyResult& result);

}  // namespace mmadiff
