// What tensor copies do to single elements. Words are right-aligned.
#pragma once

#include "sim/copy/tensor_copy.h"

namespace mmadiff::reference {

// How elements are stored: in cells of one element, or of 16 packed ones.
struct CellLayout {
  int bits;          // of an element. In global memory, they follow each other without gaps
  int elements;      // in a cell
  int shared_bytes;  // of a cell in shared memory, with its padding
  int shared_bits;   // in shared memory, from an element to the next of its cell
};
CellLayout CellLayoutOf(TensorType type, CopyDirection direction);

// The word that a load writes for an element out of bounds. It is not converted.
uint64_t FillWord(TensorType type, FillMode fill, const CopyRules& rules);

// The word that a load writes for an element in bounds.
uint64_t LoadedWord(TensorType type, uint64_t word, const CopyRules& rules);

// The word in global memory after the reduction with `operand`. Aborts if PTX has no such reduction.
uint64_t ReducedWord(Reduction reduction, TensorType type, uint64_t old, uint64_t operand);

// Whether the result of two reductions depends on their order.
bool OrderMatters(Reduction reduction, TensorType type);

}  // namespace mmadiff::reference
