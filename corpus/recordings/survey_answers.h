// The answers in the log of a survey: what its recording is written from, and what is replayed and
// answered by `recorded:`. The recording beside the log is a copy for others.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/survey_log.h"

namespace mmadiff {

// Of one kind: lines, or one of the others.
struct SurveyAnswers {
  const Operation* op = nullptr;        // perhaps without a model
  std::string identity = {};            // of the device that answered; of lines with the variant
  std::string name = {};                // of lines: of the question, vector or finding
  std::vector<std::string> lines = {};  // line protocol, with answers
  const SurveyOutputs* outputs = nullptr;
  const SurveyDigests* digests = nullptr;
};

// In the order of the results; lines of one name in one. What did not repeat when it was asked again
// is no answer.
absl::Status ForEachAnswers(const SurveyManifest& manifest,
                            const std::vector<SurveyResult>& results,
                            absl::FunctionRef<absl::Status(const SurveyAnswers&)> take);

// All of them as recordings, digests apart. kDataLoss for a record that no survey writes: a line
// without an answer, results of another size, digests of no cases.
absl::Status DeliverSurvey(const std::string& folder, const StoredSurvey& stored,
                           absl::FunctionRef<absl::Status(const Recording&)> deliver);
absl::Status DeliverSurveyDigests(const StoredSurvey& stored,
                                  absl::FunctionRef<absl::Status(const RecordedDigests&)> deliver);

// What is wrong with FOLDER/recording, a line each: it must be of the same device, and have no answer
// that the log has not. One that is not there, or that a killed process left without its manifest,
// is not wrong.
std::vector<std::string> WrongRecording(const std::string& folder, const StoredSurvey& stored);

// A part of ReadRecordings(): the folder of a survey.
absl::Status ReadSurveyFolder(const std::string& folder,
                              absl::FunctionRef<absl::Status(const Recording&)> deliver,
                              RecordingStats& stats);

}  // namespace mmadiff
