// ParseUnit() survives any bytes; SerializeUnit() writes accepted bytes as the same unit.
#include "corpus/run_record.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto unit = mmadiff::ParseUnit(Text(data, size));
  if (!unit.ok()) return 0;
  const auto again = mmadiff::ParseUnit(mmadiff::SerializeUnit(*unit));
  Check(again.ok() && *again == *unit);
  return 0;
}
