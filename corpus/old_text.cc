#include "corpus/old_text.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mmadiff {
namespace {

// What stands before and behind the first `mark`; the second is empty without one.
std::pair<absl::string_view, absl::string_view> Cut(absl::string_view text,
                                                    absl::string_view mark) {
  return absl::StrSplit(text, absl::MaxSplits(mark, 1));
}

// "130 of 132 multiprocessors answered"; any other text is of no use.
void ReadAnswered(absl::string_view text, Hardware& hardware) {
  if (absl::ConsumeSuffix(&text, " multiprocessors answered")) {
    hardware.part = Hardware::kMultiprocessors;
  } else if (absl::ConsumeSuffix(&text, " compute units answered")) {
    hardware.part = Hardware::kComputeUnits;
  }
  const auto [answered, of] = Cut(text, " of ");
  if (!absl::SimpleAtoi(answered, &hardware.answered) || !absl::SimpleAtoi(of, &hardware.of)) {
    hardware.part = Hardware::kNone;
  }
}

}  // namespace

StopCause StopCauseOfOld(absl::string_view stopped_by) {
  if (stopped_by == "time limit") return {StopCause::kTimeLimit};
  if (stopped_by == "folder full") return {StopCause::kFolderFull};
  int signal = 0;
  if (!absl::ConsumePrefix(&stopped_by, "signal ") || !absl::SimpleAtoi(stopped_by, &signal)) {
    return {};
  }
  return {StopCause::kSignal, signal};
}

Machine MachineOfOld(absl::string_view text) {
  const auto [host, hardware] = Cut(text, ", ");
  return {std::string(host), HardwareOfLine(hardware)};
}

Hardware HardwareOfLine(absl::string_view text) {
  const auto [which, answered] = Cut(text, ", ");
  const auto [unit, pci] = Cut(which, " at PCI ");
  Hardware hardware = {.unit = std::string(unit), .pci = std::string(pci)};
  ReadAnswered(answered, hardware);
  return hardware;
}

}  // namespace mmadiff
