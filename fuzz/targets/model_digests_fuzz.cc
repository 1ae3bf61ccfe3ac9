// ParseModelDigests() survives any text; FormatModelDigests() writes accepted text as the same
// digests.
#include "fuzz/replay/model_digests.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto digests = mmadiff::ParseModelDigests(Text(data, size), "input");
  if (!digests.ok()) return 0;
  const auto again = mmadiff::ParseModelDigests(mmadiff::FormatModelDigests(*digests), "input");
  Check(again.ok() && mmadiff::CompareModelDigests(*digests, *again).empty());
  return 0;
}
