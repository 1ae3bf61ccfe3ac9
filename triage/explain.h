// Which single change of the model reproduces the device's bits, and where the stages diverge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "corpus/bucket.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {

// What a device answered to a dot product.
struct Observed {
  DotProductCase dot;
  uint64_t d;
  bool nan_bits = false;  // NaNs count bit for bit, even where the operation promises none
};

// An operation with a model as if its table promised this of the bits of NaNs. It must stay where it is.
struct WithNanVerdict {
  WithNanVerdict(const Operation& of, const Model& model, NanVerdict verdict)
      : numerics(*of.numerics), op{of.instruction, &numerics, model, of.name} {
    numerics.nan_verdict = verdict;
  }
  WithNanVerdict(const WithNanVerdict&) = delete;

  Numerics numerics;
  Operation op;
};

// Whether a model gives what was observed, under the operation's NaN rule or bit for bit.
bool Fits(const Operation& op, const Model& model, const Observed& observed);
// Whether `word`, a model's, is what was observed.
bool Fits(const Operation& op, const Observed& observed, uint64_t word);

// The neighbours of the operation's model that give all the observed answers (under the operation's
// NaN rule), in the order of Neighbours(). Empty when no single change explains them.
std::vector<Neighbour> ExplainingNeighbours(const Operation& op,
                                            std::span<const Observed> observed);

// Whether a model fits all the observed answers.
bool Explains(const Operation& op, const Model& model, std::span<const Observed> observed);

// How the device's word, another than the model's, differs from it.
DifferenceClass ClassOf(const Format& format, uint64_t model, uint64_t device);

// The gravest of the answers that differ from the operation's model; kNone if none does.
DifferenceClass GravestClass(const Operation& op, std::span<const Observed> observed);

// The bucket of answers that repeat, the same on every machine: the first explaining neighbour, else
// how the first word that differs does. None if nothing differs.
Bucket BucketOf(const Operation& op, std::span<const Observed> observed);

// The same for a chosen explanation of one or more parameters; nullptr: none explains.
Bucket BucketOf(const Operation& op, std::span<const Observed> observed,
                const Neighbour* explanation);

// Index of the first differing dot product that is in the bucket by itself, so that shrinking it alone
// keeps to it; of the first that differs at all if there is none.
int64_t ElementInBucket(const Operation& op, std::span<const Observed> observed,
                        const Bucket& bucket);

}  // namespace mmadiff
