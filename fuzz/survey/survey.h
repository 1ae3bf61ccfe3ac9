// A survey runs every experiment on every operation of a device and stores the results in one
// folder, even if the device traps, hangs or is lost. This process never touches the device: a
// child process queries it (fuzz/ask/child_worker.h), and the answers received before the child
// crashes are kept.
//
//   answers.log   all results (corpus/survey_log.h)
//   survey.html   one page, contradictions with the tables first; survey.md and survey.json: the
//                 same content
//   recording/    answers to verify without the device (corpus/recordings/recording_folder.h)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/ledger.h"
#include "corpus/survey_record.h"
#include "fuzz/ask/child_worker.h"
#include "fuzz/output/console.h"

namespace mmadiff {

struct SurveyOutcome;

struct SurveyOptions {
  std::string folder, device;
  bool shared = false;                     // write to `folder` even if another user owns it
  std::vector<std::string> globs = {"*"};  // names of operations
  Ledger asked = {};                       // the operations of `globs`, to list those left out
  uint64_t seed = 1;
  uint64_t cases = 0;  // executions in the run of each operation; 0: until the time is up
  uint64_t max_bytes = 64'000'000;
  std::string regressions = "";  // folder of regression cases; empty: none
  absl::Duration time = absl::InfiniteDuration();
  absl::Duration patience = absl::Seconds(1);  // before a device that failed to open is tried again
  // Called every `progress_every`, if there are new results, with all results so far, which are in
  // the log by then. An error becomes a warning and the survey continues.
  std::function<absl::Status(const SurveyOutcome&)> on_progress = nullptr;
  absl::Duration progress_every = absl::Seconds(20);
};

struct SurveyOutcome {
  SurveyManifest manifest;
  std::vector<SurveyResult> results;  // from all attempts
  std::vector<SurveyTask> missing;    // not reached
  std::vector<SurveyTask> given_up;   // remaining tasks of rows that get no more tasks
  StopCause stopped_by;               // kSignal, kTimeLimit or kFolderFull
  absl::Status device;                // not OK: the device was lost
  absl::Status durable;               // not OK: results could not be written
  std::vector<std::string> warnings;
  bool running = false;  // true in calls of on_progress
};

// Begins a survey or resumes the one in the folder. kFailedPrecondition if the folder belongs to a
// different survey, device or driver, or another process is writing to it; kNotFound if the device
// fails to open or has none of the operations; kAborted for a damaged log; kDataLoss if files
// cannot be written.
absl::StatusOr<SurveyOutcome> RunSurvey(const SurveyOptions& options, const StartProcess& start,
                                        Console& console);

}  // namespace mmadiff
