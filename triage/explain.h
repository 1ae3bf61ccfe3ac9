// Finds the single-parameter change of the model that reproduces the device's bits, and where the
// stages diverge.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "corpus/bucket.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {

// A device's answer to a dot product.
struct Observed {
  DotProductCase dot;
  uint64_t d;
  bool nan_bits = false;  // NaNs count bit for bit, even where the operation promises none
};

// An operation with `model`, as if its table promised `verdict` for NaN bits. Must not be moved.
struct WithNanVerdict {
  WithNanVerdict(const Operation& of, const Model& model, NanVerdict verdict)
      : numerics(*of.numerics), op{of.instruction, &numerics, model, of.name} {
    numerics.nan_verdict = verdict;
  }
  WithNanVerdict(const WithNanVerdict&) = delete;

  Numerics numerics;
  Operation op;
};

// The name, with the meaning of a single reading: "b_reading=masked_1 (b: the low bit as 0)".
std::string NameAndMeaning(const Neighbour& neighbour);

// Whether a model reproduces the observed answer, under the operation's NaN rule or bit for bit.
bool Fits(const Operation& op, const Model& model, const Observed& observed);
// Whether `word`, a model's, matches the observed answer.
bool Fits(const Operation& op, const Observed& observed, uint64_t word);

// The neighbors of the operation's model that reproduce all observed answers (under the operation's
// NaN rule), in the order of `Neighbours()`. Empty if no neighbor does.
std::vector<Neighbour> ExplainingNeighbours(const Operation& op,
                                            std::span<const Observed> observed);

// Whether a model reproduces all observed answers.
bool Explains(const Operation& op, const Model& model, std::span<const Observed> observed);

// How the device's word differs from the model's. The words must be different.
DifferenceClass ClassOf(const Format& format, uint64_t model, uint64_t device);

// The gravest class among the answers that differ from the operation's model; kNone if none
// differs.
DifferenceClass GravestClass(const Operation& op, std::span<const Observed> observed);

// The bucket for answers that repeat, the same on every machine: the first explaining neighbor,
// otherwise the class of the first word that differs. None if nothing differs.
Bucket BucketOf(const Operation& op, std::span<const Observed> observed);

// The same for a chosen explanation of one or more parameters; nullptr if nothing explains the
// answers.
Bucket BucketOf(const Operation& op, std::span<const Observed> observed,
                const Neighbour* explanation);

// Index of the first differing dot product that falls into the bucket on its own, so that it stays
// in the bucket when it is shrunk alone. Otherwise the first that differs at all.
int64_t ElementInBucket(const Operation& op, std::span<const Observed> observed,
                        const Bucket& bucket);

}  // namespace mmadiff
