// Compares a device's result of a tensor copy with the model's, and says where a wrong byte came from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/copy/copy_parameter.h"
#include "sim/copy/tensor_copy.h"

namespace mmadiff {

// The first byte that the model promises and the device does not have.
struct CopyMismatch {
  uint64_t address = 0;  // in shared memory for a load, else in global memory
  uint8_t expected = 0, got = 0;
  int64_t wrong = 0, promised = 0;  // bytes of the result
};
// nullopt if every promised byte is equal. Both cover the same bytes.
std::optional<CopyMismatch> Compare(const CopyResult& model, const CopyResult& device);

// "shared address 160: 3f, not a2: it belongs to element 16,1; the device has that of global address 96". The
// source is named if 8 bytes of memory below `window` have the device's bits.
std::string Text(const TensorCopy& copy, const CopyMemory& memory, const CopyMismatch& mismatch,
                 const CopyResult& device, uint64_t window);

// Whether the changed model gives every promised byte of the device's result, and the model does not.
bool Explains(const CopyChange& change, const TensorCopy& copy, const CopyMemory& memory,
              const CopyResult& model, const CopyResult& device);

}  // namespace mmadiff
