// Tasks of a survey that end when their part of the time is over. The result is then unfinished and
// contains the start of the next part.
#pragma once

#include "absl/status/status.h"
#include "corpus/survey_record.h"
#include "device/device.h"
#include "fuzz/engine/engine.h"

namespace mmadiff {

// Both add the device's answers to `result`, even if they return its error: `result.next` is then
// the item that failed.

// Vectors and regression cases (fuzz/ask/known_cases.h) from number part.first on.
absl::Status AskVectors(const SurveyManifest& manifest, const TaskPart& part, Device& device,
                        const Operation& op, SurveyResult& result);

// Raw answers to the first cases of every strategy, from batch number part.first on, the strategies
// in turn; then digests, unless the device is slow.
absl::Status AskRecording(const SurveyManifest& manifest, const TaskPart& part, Engine& engine,
                          Device& device, const CaseStream& stream, SurveyResult& result);

}  // namespace mmadiff
