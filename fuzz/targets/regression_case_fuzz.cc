// ParseCase() survives any bytes; FormatCase() writes accepted text as the same case.
#include "corpus/regression_case.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto c = mmadiff::ParseCase(Text(data, size), "input");
  if (!c.ok()) return 0;
  const std::string text = mmadiff::FormatCase(*c);
  const auto again = mmadiff::ParseCase(text, "input");
  Check(again.ok() && CaseId(*again) == CaseId(*c) && again->answers.size() == c->answers.size());
  Check(FormatCase(*again) == text);
  return 0;
}
