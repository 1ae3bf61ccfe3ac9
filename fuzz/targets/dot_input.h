// Dot products as fuzz inputs: two bytes that choose a model, then the words of a row of A, a column
// of B and the addend, each in whole bytes, lowest first. What is missing is zero; bits beyond the
// format are dropped. Which models there are: those of the instructions that MMADIFF_INSTR names, with
// commas between; without it all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuzz/mutants.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff::fuzz {

struct DotInput {
  const Operation* op = nullptr;
  DotProductCase dot;
};

DotInput ReadDot(const uint8_t* data, size_t size);
std::vector<uint8_t> BytesOf(const DotInput& input);

// Marks the bins that the dot product reaches where libFuzzer looks for coverage besides that of
// code. At the end of the process it says on stderr, for each model, by which input the last bin had
// its least count; and with MMADIFF_INSTR by which one the last neighbour of the model was found.
void NoteBins(const DotInput& input);

// A neighbour of the input that knows formats, terms and the generator's cases.
DotInput MutateDot(DotInput input, uint64_t seed);

}  // namespace mmadiff::fuzz
