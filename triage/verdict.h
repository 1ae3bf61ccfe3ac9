// Bit-level comparison of a device's answer with the model's, under the operation's NaN rule. No
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

// True when `device` is the word that `model` promises: equal bits, or two NaNs where the operation
// says that NaN payloads are not known (NanVerdict::kAnyNan).
bool SameResult(const Operation& op, uint64_t model, uint64_t device);

// True when `device` is the word that the model, the operation's or another, promises for the dot
// product.
bool Gives(const Operation& op, const Model& model, const DotProductCase& dot, uint64_t device);

// Indices of the differing words, ascending. The spans have equal size.
std::vector<int64_t> Differences(const Operation& op, std::span<const uint64_t> model,
                                 std::span<const uint64_t> device);

// What the model says to a batch, and where a device's answer differs from it.
struct Comparison {
  std::vector<uint64_t> model;     // batch.dot_products() words
  std::vector<int64_t> differing;  // their indices, ascending
};

// The one place where a batch, its answers and the model meet: `device` holds an answer to each of
// its dot products. `result` is overwritten; its memory is used again. `model` may be another than
// the operation's.
void Compare(const Operation& op, const Model& model, const Batch& batch,
             std::span<const uint64_t> device, Comparison& result);
Comparison Compare(const Operation& op, const Batch& batch, std::span<const uint64_t> device);

// Gives what a device failed on the complement of the model's word: then it counts as a difference.
void CountFailures(const Operation& op, const Batch& batch, Answers& answers);

// Several lines: both values as sign|exponent|significand bits with the differing bits marked by
// '^', hex, hex float (or integer), NumberText(), and the distance in ulps. Where the lines are too
// wide, the values follow the bits.
std::string DescribeDifference(const Format& format, uint64_t model, uint64_t device,
                               const TextStyle& style);

// The same where the device has no word: the model's, and what the device did.
std::string DescribeFailure(const Format& format, uint64_t model, const InputFailure& failure,
                            const TextStyle& style);

// Distance on the line of finite values ordered by their bits; -1 if one is a NaN.
int64_t UlpDistance(const Format& format, uint64_t x, uint64_t y);

// ", 256 ulps apart, 2.6e-05 of the first"; "" of integers and where one is no finite number.
std::string HowFar(const Format& format, uint64_t x, uint64_t y);

// Exact value as a hexadecimal float, "0x1.8p+3", "-inf", "nan(0x...)"; integers in decimal.
std::string HexFloat(const Format& format, uint64_t word);

}  // namespace mmadiff
