// ParseVectors() takes any bytes; no message has a control character.
#include <algorithm>
#include <cstdlib>

#include "corpus/vector_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = mmadiff::ParseVectors({reinterpret_cast<const char*>(data), size}, "input");
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  const auto message = file.status().message();
  if (std::ranges::any_of(message, is_control)) std::abort();
  return 0;
}
