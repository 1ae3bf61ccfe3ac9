// Names and globs of rows: what is found is found again by its own name, and what is not, is
// explained.
#include "fuzz/targets/input.h"
#include "sim/row.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string name(Text(data, size));
  const std::vector<const mmadiff::Row*> matched = mmadiff::MatchRows(name);
  for (const mmadiff::Row* row : matched) Check(mmadiff::FindRow(row->name) == row);
  if (const mmadiff::Row* row = mmadiff::FindRow(name)) {
    Check(matched == std::vector{row} && mmadiff::FindRow(row->name) == row);
  } else {
    Check(!mmadiff::WhyNoRow(name).empty());
  }
  return 0;
}
