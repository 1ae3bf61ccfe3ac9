// ReadUnits() survives a folder with any bytes in its logs and returns only units of its run. The
// first byte selects the kind of the rest: a file, or a record of a first attempt, whose length is
// the second byte, followed by a record of a second attempt, in blocks of this run with valid
// checksums.
#include "fuzz/folder/unit_log.h"
#include "fuzz/targets/input_folder.h"

using namespace mmadiff::fuzz;

namespace {

// A plan with units of any number.
mmadiff::RunManifest Plan() {
  mmadiff::RunManifest plan;
  plan.instructions = {{"x86/vfmadd231ss", UINT64_MAX, 4}, {"x86/vpdpbusd", 5, 5}};
  return plan;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  static const mmadiff::RunManifest plan = Plan();
  static const mmadiff::RunId run = mmadiff::RunIdOf(plan);
  const absl::string_view rest = Text(data + 2, size - 2), first = rest.substr(0, data[1]);
  const bool records = data[0] % 2 == 1;
  Write("units-000000-1.log", records ? LogOf(first, run) : std::string(rest));
  Write("units-000001-1.log", records ? LogOf(rest.substr(first.size()), run) : "");
  const auto stored = mmadiff::ReadUnits(Folder(), plan);
  if (!stored.ok()) return 0;
  uint64_t units = 0;
  for (size_t i = 0; i < plan.instructions.size(); ++i) {
    Check(stored->totals[i].cases <= stored->done[i].size() * plan.instructions[i].unit_cases);
    units += stored->done[i].size();
  }
  Check(units == stored->units);
  return 0;
}
