// ReadUnits() takes a folder with any bytes in its log. The first byte chooses what the rest is: a
// file, or a record in a block with good checksums.
#include <algorithm>

#include "fuzz/targets/input_folder.h"
#include "fuzz/unit_log.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view rest = Text(data + 1, size - 1);
  Write("units-000000-1.log", data[0] % 2 == 0 ? std::string(rest) : LogOf(rest));
  const auto stored = mmadiff::ReadUnits(Folder(), 2);
  if (!stored.ok()) return 0;
  uint64_t units = 0;
  for (const auto& done : stored->done) units += std::count(done.begin(), done.end(), true);
  Check(units == stored->units && stored->totals.size() == 2);
  return 0;
}
