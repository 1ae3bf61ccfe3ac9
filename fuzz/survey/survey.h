// A survey: everything that a device can say, in one folder, whatever traps, hangs or is gone on the
// way. This process never touches the device: another one asks it (fuzz/ask/child_worker.h), and
// what that one had answered when it dies is kept.
//
//   answers.log   all results (corpus/survey_log.h)
//   survey.html   one page, contradictions with the tables first; survey.md and survey.json say the same
//   recording/    what others verify without the device (corpus/recordings/recording_folder.h)
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
  bool shared = false;                     // write to `folder` even if it is another user's
  std::vector<std::string> globs = {"*"};  // of operations
  Ledger asked = {};                       // these; the device lacks those that it does not name
  uint64_t seed = 1;
  uint64_t cases = 0;  // executions of each operation's run; 0: until the time is up
  uint64_t max_bytes = 64'000'000;
  std::string regressions = "";  // folder of regression cases; empty: none
  absl::Duration time = absl::InfiniteDuration();
  absl::Duration patience = absl::Seconds(1);  // before a device that did not open is tried again
  // Sees what is known so far, and is in the log, every `progress_every` in which something was answered. kDataLoss ends
  // nothing, and is a warning.
  std::function<absl::Status(const SurveyOutcome&)> on_progress = nullptr;
  absl::Duration progress_every = absl::Seconds(20);
};

struct SurveyOutcome {
  SurveyManifest manifest;
  std::vector<SurveyResult> results;  // of all attempts
  std::vector<SurveyTask> missing;    // not reached
  std::vector<SurveyTask> given_up;   // of rows of which nothing more is asked
  StopCause stopped_by;               // kSignal, kTimeLimit or kFolderFull
  absl::Status device;                // not OK: it is gone
  absl::Status durable;               // not OK: results could not be written
  std::vector<std::string> warnings;
  bool running = false;  // of on_progress
};

// Begins a survey or goes on with the one in the folder. kFailedPrecondition for a folder of another
// survey, device or driver, or one in which another process writes; kNotFound for a device that
// does not open or has none of the operations; kAborted for a damaged log; kDataLoss for what
// cannot be written.
absl::StatusOr<SurveyOutcome> RunSurvey(const SurveyOptions& options, const StartProcess& start,
                                        Console& console);

}  // namespace mmadiff
