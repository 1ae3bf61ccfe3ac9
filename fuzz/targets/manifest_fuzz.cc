// ParseManifest() takes any bytes; what it accepts, FormatManifest() writes as the same manifest.
#include "corpus/run_record.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto manifest = mmadiff::ParseManifest(Text(data, size), "input");
  if (!manifest.ok()) return 0;
  const auto again = mmadiff::ParseManifest(mmadiff::FormatManifest(*manifest), "input");
  Check(again.ok() && *again == *manifest && ManifestDifference(*again, *manifest).empty());
  return 0;
}
