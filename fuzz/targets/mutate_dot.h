// The mutator of targets whose input is a dot product; one time in four it uses libFuzzer's own.
#pragma once

#include <algorithm>

#include "fuzz/targets/dot_input.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const auto bytes =
      mmadiff::fuzz::BytesOf(mmadiff::fuzz::MutateDot(mmadiff::fuzz::ReadDot(data, size), seed));
  size = std::min(bytes.size(), max_size);
  std::copy_n(bytes.begin(), size, data);
  return size;
}
