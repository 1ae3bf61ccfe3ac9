// Compares a device's answer with the model's, bit for bit, under the operation's NaN rule. No
// tolerance.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/answers.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/text_table.h"

namespace mmadiff {

// Whether `device` is the word that `model` promises: equal bits, or two NaNs if the operation does
// not promise NaN payloads (NanVerdict::kAnyNan).
bool SameResult(const Operation& op, uint64_t model, uint64_t device);

// Whether `device` is the word that the model, the operation's or a different one, promises for the
// dot product.
bool Gives(const Operation& op, const Model& model, const DotProductCase& dot, uint64_t device);

// Indices of the differing words, ascending. The spans have equal size.
std::vector<int64_t> Differences(const Operation& op, std::span<const uint64_t> model,
                                 std::span<const uint64_t> device);

// The model's words for a batch, and where a device's answers differ from them.
struct Comparison {
  std::vector<uint64_t> model;     // batch.dot_products() words
  std::vector<int64_t> differing;  // their indices, ascending
};

// The one place where a batch, its answers and the model meet: `device` has an answer for each dot
// product. `result` is overwritten; its memory is reused. `model` may differ from the operation's.
void Compare(const Operation& op, const Model& model, const Batch& batch,
             std::span<const uint64_t> device, Comparison& result);
Comparison Compare(const Operation& op, const Batch& batch, std::span<const uint64_t> device);

// Sets the answer to each dot product on which a device failed to the complement of the model's
// word, so that it counts as a difference.
void CountFailures(const Operation& op, const Batch& batch, Answers& answers);

// Several lines: both values as sign|exponent|significand bits with the differing bits marked by
// '^', hex, hex float (or integer), NumberText(), and the distance in ulps. If the lines are too
// wide, the values go below the bits.
std::string DescribeDifference(const Format& format, uint64_t model, uint64_t device,
                               const TextStyle& style);

// The same if the device has no word: the model's word and the device's failure.
std::string DescribeFailure(const Format& format, uint64_t model, const InputFailure& failure,
                            const TextStyle& style);

// Distance on the line of finite values ordered by their bits; -1 if one is a NaN.
int64_t UlpDistance(const Format& format, uint64_t x, uint64_t y);

// ", 256 ulps apart, relative difference 2.6e-05"; "" for integers, and if a value is not a finite
// number.
std::string HowFar(const Format& format, uint64_t x, uint64_t y);

// The exact value as a hexadecimal float, "0x1.8p+3", "-inf", "nan(0x...)"; integers in decimal.
std::string HexFloat(const Format& format, uint64_t word);

}  // namespace mmadiff
