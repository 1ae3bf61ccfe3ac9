// ReadSafetensors() survives any bytes: an array that it returns has all words that its shape says.
#include "corpus/arrays/safetensors.h"
#include "fuzz/targets/arrays.h"

using namespace mmadiff;
using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxArrayInput) return 0;
  const std::string path = FileOf(Text(data, size));
  CheckArray(ReadSafetensors(path, std::nullopt));
  CheckArray(ReadSafetensors(path, "w"));
  return 0;
}
