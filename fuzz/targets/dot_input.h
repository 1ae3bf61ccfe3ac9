// Dot products as fuzz inputs: two bytes that choose a model, then the words of a row of A, a column
// of B and the addend, each in whole bytes, lowest first. What is missing is zero; bits beyond the
// format are dropped. Which models there are: those of the instructions that MMADIFF_INSTR names, as
// --instr does, with commas between; without it all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "device/device.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff::fuzz {

struct DotInput {
  const Operation* op = nullptr;
  DotProductCase dot;
};

DotInput ReadDot(const uint8_t* data, size_t size);
std::vector<uint8_t> BytesOf(const DotInput& input);

// Leaves only models of operations that the device has; called before the first input is read. Ends
// the program with a line and the code for no device if there are none.
void KeepSupported(const Device& device);

// Ends the program with one line and the exit code that mmadiff has for the error. Not by exit(),
// which libFuzzer takes for a crash.
[[noreturn]] void GiveUp(const absl::Status& status);

// Marks the bins that the dot product reaches where libFuzzer looks for coverage besides that of
// code; not with MMADIFF_BINS=0. Returns how many dot products of the model there were so far. At
// the end of the process it says on stderr what was reached, and for each model of MMADIFF_INSTR
// which input was the last that a thin bin waited for. With MMADIFF_COUNT set the same for the
// neighbours of the model, each found by the first input to which it gives other words; the
// program ends, with 0, once all bins are filled and all neighbours found.
uint64_t NoteBins(const DotInput& input);

// A neighbour of the input that knows formats, terms and the generator's cases.
DotInput MutateDot(DotInput input, uint64_t seed);

}  // namespace mmadiff::fuzz
