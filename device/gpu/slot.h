// The place of an element in the 32-bit words that a kernel moves; plain data, also used in
// kernels.
#pragma once

namespace mmadiff {

// The first 32-bit word, counted within one execution, and the lowest bit in it. A 64-bit element
// continues in the next word.
struct Slot {
  int word, bit;
};

}  // namespace mmadiff
