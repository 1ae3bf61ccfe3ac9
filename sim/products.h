// Many executions of one operation, on operands as programs have them in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/algorithm.h"
#include "sim/instruction.h"
#include "sim/parts.h"
#include "sim/words.h"

namespace mmadiff {

// Matrices at equal distances, which may be 0 or negative.
template <class Matrix>
struct Stack {
  Matrix first;
  int64_t stride = 0;  // in elements

  Matrix At(int64_t i) const {
    Matrix matrix = first;
    if (matrix.data != nullptr) matrix.data += i * stride * (first.bits / 8);
    return matrix;
  }
};

// D = A B + C, `count` times: D and C have m x n words, A has m x k, B has k x n, where m and n are
// arbitrary and k is the model's. Scales are m x scales() and scales() x n words, the metadata of a
// sparse A m x groups() (sim/sparsity.h). Without data, C is +0, and the zeros of A give the metadata;
// the operands that a model does not have are not read.
struct Products {
  int64_t count = 0, m = 0, n = 0;
  Stack<Words> a = {}, b = {}, c = {}, scale_a = {}, scale_b = {}, metadata = {};
  Stack<MutableWords> d = {};
};

// Why the instruction cannot take the operands: one is missing, words have too few bits or bits beyond
// the format, metadata are undefined, or A does not have the zeros of a sparse instruction. Empty if it
// can.
std::string WhyNotProducts(const Instruction& instruction, const Products& products);

// Why A and the metadata, if they are given, cannot be those of a sparse instruction. Empty if they can.
std::string WhyNotSparseA(const Instruction& instruction, const Products& products);
// Writes the metadata that the zeros of A give, [m][groups]; WhyNotSparseA() must be empty.
void PutMetadata(const Instruction& instruction, const Products& products,
                 const Stack<MutableWords>& to);

// WhyNotProducts() must be empty; the model has the instruction's formats and k. The bits do not depend
// on threads.
void Simulate(const Model& model, const Products& products, const Threads& threads = {});

}  // namespace mmadiff
