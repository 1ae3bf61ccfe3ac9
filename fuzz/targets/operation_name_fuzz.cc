// Names and globs of operations: every operation found is found again by its own name, and a
// failure is explained. Quoted names refer to existing operations.
#include <algorithm>

#include "fuzz/targets/input.h"
#include "sim/operation.h"
#include "sim/quoted_name.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string name(Text(data, size));
  const std::vector<const mmadiff::Operation*> matched = mmadiff::MatchOperations(name);
  for (const mmadiff::Operation* op : matched) Check(mmadiff::FindOperation(op->name) == op);
  if (const mmadiff::Operation* op = mmadiff::FindOperation(name)) {
    Check(matched == std::vector{op} && mmadiff::FindOperation(op->name) == op);
  } else {
    Check(!mmadiff::WhyNoOperation(name).empty());
  }
  static const std::vector<std::string> unknown = mmadiff::MatchUnknown("*");
  for (const std::string& quoted : mmadiff::QuotedOperations(name)) {
    Check(mmadiff::FindOperation(quoted, mmadiff::Models::kOptional) != nullptr ||
          std::ranges::count(unknown, quoted) == 1);
  }
  Check(mmadiff::NotUnderstood(name).empty() || mmadiff::QuotedOperations(name).empty());
  return 0;
}
