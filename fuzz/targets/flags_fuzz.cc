// Counts and durations of the command line: accepted text is in range, and its plain form has the
// same meaning.
#include "fuzz/cli/cli.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(Text(data, size));
  const auto count = mmadiff::ParseCount(text);
  if (count.ok()) {
    const auto again = mmadiff::ParseCount(std::to_string(*count));
    Check(again.ok() && *again == *count);
  }
  const auto duration = mmadiff::ParseDuration("--flag", text);
  if (!duration.ok()) return 0;
  const auto again = mmadiff::ParseDuration("--flag", absl::FormatDuration(*duration));
  Check(again.ok() && *again == *duration);
  return 0;
}
