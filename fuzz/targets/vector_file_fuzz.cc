// ParseVectors() survives any bytes; no message contains a control character.
#include <algorithm>

#include "corpus/vector_file.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = mmadiff::ParseVectors(Text(data, size), "input");
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  Check(std::ranges::none_of(file.status().message(), is_control));
  return 0;
}
