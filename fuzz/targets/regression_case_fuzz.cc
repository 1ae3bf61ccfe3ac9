// ParseCase() takes any bytes; what it accepts, FormatCase() writes as the same case.
#include <cstdlib>

#include "corpus/regression_case.h"

using mmadiff::CaseId;
using mmadiff::FormatCase;
using mmadiff::ParseCase;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto c = ParseCase({reinterpret_cast<const char*>(data), size}, "input");
  if (!c.ok()) return 0;
  const std::string text = FormatCase(*c);
  const auto again = ParseCase(text, "input");
  if (!again.ok() || CaseId(*again) != CaseId(*c)) std::abort();
  if (again->answers.size() != c->answers.size() || FormatCase(*again) != text) std::abort();
  return 0;
}
