// The answers in the log of a survey. The survey's recording is written from them, and `replay` and
// `recorded:` use them. The recording next to the log is a copy for others.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/survey_log.h"

namespace mmadiff {

// Answers of one kind: lines, outputs or digests.
struct SurveyAnswers {
  const Operation* op = nullptr;        // may have no model
  std::string identity = {};            // the device that answered; for lines, with the variant
  std::string name = {};                // for lines: the question, vector or finding
  std::vector<std::string> lines = {};  // line protocol, with answers
  const SurveyOutputs* outputs = nullptr;
  const SurveyDigests* digests = nullptr;
};

// In the order of the results; lines with the same name are combined. A result that differed when
// it was queried again is not an answer.
absl::Status ForEachAnswers(const SurveyManifest& manifest,
                            const std::vector<SurveyResult>& results,
                            absl::FunctionRef<absl::Status(const SurveyAnswers&)> take);

// Deliver all answers as recordings, digests separately. kDataLoss for a record that no survey
// writes: a line without an answer, results of a wrong size, digests without cases.
absl::Status DeliverSurvey(const std::string& folder, const StoredSurvey& stored,
                           absl::FunctionRef<absl::Status(const Recording&)> deliver);
absl::Status DeliverSurveyDigests(const StoredSurvey& stored,
                                  absl::FunctionRef<absl::Status(const RecordedDigests&)> deliver);

// Problems of FOLDER/recording, one per line. The recording must be from the same device and
// contain no answer that the log lacks. A recording that does not exist, or that a killed process
// left without its manifest, is not a problem.
std::vector<std::string> WrongRecording(const std::string& folder, const StoredSurvey& stored);

// The part of ReadRecordings() for a survey folder.
absl::Status ReadSurveyFolder(const std::string& folder,
                              absl::FunctionRef<absl::Status(const Recording&)> deliver,
                              RecordingStats& stats);

}  // namespace mmadiff
