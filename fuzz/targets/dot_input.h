// Dot products as fuzz inputs: two bytes that select a model, then the words of a row of A, a
// column of B and the addend, each in whole bytes, lowest first. Missing bytes are zero; bits
// beyond the format are dropped. The models are those of the instructions that MMADIFF_INSTR names,
// comma-separated as in --instr; all by default.
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

// Keeps only models of operations that the device supports. Call it before the first input is read.
// If there are no models, ends the program with one line and the exit code for no device.
void KeepSupported(const Device& device);

// Ends the program with one line and mmadiff's exit code for the error. Does not call exit(), which
// libFuzzer treats as a crash.
[[noreturn]] void GiveUp(const absl::Status& status);

// Marks the bins that the dot product reaches as additional coverage for libFuzzer, unless
// MMADIFF_BINS=0. Returns the number of dot products of the model so far. At the end of the
// process, prints to stderr the reached bins and, for each model of MMADIFF_INSTR, the last input
// that filled a thin bin. With MMADIFF_COUNT set, does the same for the neighbors of the model,
// each found by the first input for which its words differ; the program ends, with 0, once all bins
// are filled and all neighbors are found.
uint64_t NoteBins(const DotInput& input);

// A mutation of the input that is aware of formats, terms and the generator's cases.
DotInput MutateDot(DotInput input, uint64_t seed);

}  // namespace mmadiff::fuzz
