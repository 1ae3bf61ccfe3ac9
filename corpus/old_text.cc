#include "corpus/old_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace mmadiff {

StopCause StopCauseOfOld(absl::string_view stopped_by) {
  if (stopped_by == "time limit") return {StopCause::kTimeLimit};
  if (stopped_by == "folder full") return {StopCause::kFolderFull};
  int signal = 0;
  if (!absl::ConsumePrefix(&stopped_by, "signal ") || !absl::SimpleAtoi(stopped_by, &signal)) {
    return {};
  }
  return {StopCause::kSignal, signal};
}

}  // namespace mmadiff
