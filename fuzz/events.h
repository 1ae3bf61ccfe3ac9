// What happened inside the arithmetic, counted over a sample of the dot products of a run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/trace.h"

namespace mmadiff {

enum class StageEvent : uint8_t {
  kAlignedByProduct,  // a product set the alignment exponent
  kAlignedByAddend,   // the addend did, or tied with a product
  kAlignedByFloor,    // the exponent floor did
  kBitsLost,          // alignment cut nonzero bits of some term
  kCarryOut,          // the sum needs more bits than any of its terms
  kFullCancellation,  // zero sum of terms that are not zero after alignment
  kTie,               // the sum lies exactly between two outputs
  kStickyOnly,        // bits below half an ulp are all that rounding drops
  kInexact,           // the result of a step was rounded
  kResultZero,
  kResultSubnormal,
  kResultInfinite,   // from finite terms: overflow
  kResultSpecial,    // decided by an infinity or a NaN among the operands of a step
  kIntegerOverflow,  // an integer sum left the range of the output
  kCount
};

const char* Name(StageEvent event);

class EventCounter {
 public:
  // Traces one dot product and counts each of its events once.
  void Count(const Model& model, const DotProductCase& dot);
  // Adds "event.NAME" for every event that the model's family can have (zero counts too) and
  // "event.sampled", the dot products traced, to `counts`.
  void AddTo(const Model& model, std::map<std::string, uint64_t>& counts) const;

 private:
  std::array<uint64_t, static_cast<size_t>(StageEvent::kCount)> counts_{};
  uint64_t sampled_ = 0;
};

}  // namespace mmadiff
