// ParseManifest() survives any bytes, and any text with a valid checksum; FormatManifest() writes
// accepted text as the same manifest.
#include "corpus/run_record.h"
#include "corpus/text_proto.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(Text(data, size));
  mmadiff::ParseManifest(text, "input").IgnoreError();
  const auto manifest = mmadiff::ParseManifest(mmadiff::Seal(text), "input");
  if (!manifest.ok()) return 0;
  const auto again = mmadiff::ParseManifest(mmadiff::FormatManifest(*manifest), "input");
  Check(again.ok() && *again == *manifest && ManifestDifference(*again, *manifest).empty());
  return 0;
}
