// The stage events of one dot product. The same source for the host and resident.cu.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/dot_product.h"
#include "sim/trace.h"
#include "sim/tree/tree_sum.h"

namespace mmadiff {

enum class StageEvent : uint8_t {
  kAlignedByProduct,  // a product set the alignment exponent
  kAlignedByAddend,   // the addend did, or tied with a product
  kAlignedByFloor,    // the exponent floor did
  kBitsLost,          // alignment cut nonzero bits of some term
  kCarryOut,          // the sum needs more bits than any of its terms
  kFullCancellation,  // zero sum of terms that are not zero after alignment
  kTie,               // the sum is exactly halfway between two outputs
  kStickyOnly,        // bits below half an ulp are all that rounding drops
  kInexact,           // the result of a step was rounded
  kResultZero,
  kResultSubnormal,
  kResultInfinite,   // from finite terms: overflow
  kResultSpecial,    // decided by an infinity or a NaN among the operands of a step
  kIntegerOverflow,  // an integer sum left the range of the output
  kCount
};

// Families that align all terms of a step to one exponent.
MMADIFF_HD inline bool HasOneAlignment(Family family) {
  return family == Family::kFusedSum || family == Family::kScaledSum;
}

// One case in thirteen is traced for its stage events, at one of its elements. Coprime to the
// periods of the strategies, so that every class gets its share.
inline constexpr uint64_t kTraceEvery = 13;
MMADIFF_HD inline bool IsTraced(uint64_t index) { return index % kTraceEvery == 0; }
MMADIFF_HD inline uint64_t TracedElement(uint64_t index, uint64_t results) {
  return index / kTraceEvery % results;
}

// Watches the stages of one dot product.
class StageWatcher {
 public:
  // `c` is the addend of the first step, a word of model.c.
  MMADIFF_HD StageWatcher(const Model& model, uint64_t c) : model_(model) {
    NextAddend(model.c, c);
  }

  MMADIFF_HD void operator()(const Event& e) {
    switch (e.stage) {
      case Stage::kProduct:
        any_nonzero_ |= !HasOneAlignment(model_.algorithm.family) && e.magnitude != 0;
        break;
      case Stage::kAlignExponent:
        align_ = e.lsb_exponent;
        aligned_ = true;
        break;
      case Stage::kAlignedTerm:
        if (e.inexact) Set(StageEvent::kBitsLost);
        widest_ = std::max(widest_, BitWidth(e.magnitude));
        any_nonzero_ |= e.magnitude != 0;  // a term that was cut to zero cancels nothing
        break;
      case Stage::kSpecial:
        Set(StageEvent::kResultSpecial);
        break;
      case Stage::kSum:
        Sum(e);
        break;
      case Stage::kRounded:
        Rounded(e);
        break;
    }
  }

  // One bit per StageEvent.
  MMADIFF_HD uint32_t seen() const { return seen_; }

 private:
  static constexpr int kNone = -1000000;

  // The exponent that the addend of the next step offers for the alignment.
  MMADIFF_HD void NextAddend(const Format& format, uint64_t word) {
    if (!HasOneAlignment(model_.algorithm.family)) return;
    const Unpacked c = Decode(format, word);
    addend_exponent_ = c.significand == 0 ? kNone : AddendExponentOf(model_, format, c);
  }
  MMADIFF_HD static int Leading(const Event& e) {
    return BitWidth(e.magnitude) - 1 + e.lsb_exponent;
  }
  MMADIFF_HD void Set(StageEvent e) { seen_ |= 1u << static_cast<int>(e); }

  MMADIFF_HD void Sum(const Event& e) {
    // The first sum of a two-stage sum is not rounded: the alignment of the second one follows.
    if (model_.algorithm.family == Family::kTwoStageSum && !aligned_) return;
    sum_zero_ = e.magnitude == 0;
    if (sum_zero_ && any_nonzero_) Set(StageEvent::kFullCancellation);
    if (aligned_) {
      if (BitWidth(e.magnitude) > widest_) Set(StageEvent::kCarryOut);
      Set(align_ == model_.algorithm.exponent_floor ? StageEvent::kAlignedByFloor
          : align_ == addend_exponent_              ? StageEvent::kAlignedByAddend
                                                    : StageEvent::kAlignedByProduct);
    }
    if (sum_zero_ || IsInteger(model_.d)) return;
    const int exponent = std::max(Leading(e), model_.d.min_exponent);
    const int shift = exponent - model_.algorithm.output_fraction_bits - e.lsb_exponent;
    if (shift <= 0) return;
    if (shift > 128) return Set(StageEvent::kStickyOnly);  // half exceeds every magnitude
    const unsigned __int128 half = static_cast<unsigned __int128>(1) << (shift - 1);
    const unsigned __int128 lost = e.magnitude & (2 * half - 1);
    if (lost == half) Set(StageEvent::kTie);
    if (lost != 0 && lost < half) Set(StageEvent::kStickyOnly);
  }

  MMADIFF_HD void Rounded(const Event& e) {
    const uint64_t word = static_cast<uint64_t>(e.magnitude);
    if (IsInteger(model_.d)) {
      if (e.inexact) Set(StageEvent::kIntegerOverflow);
      if (word == 0) Set(StageEvent::kResultZero);
    } else {
      const Unpacked d = Decode(model_.d, word);
      const bool normal = d.significand >> model_.d.fraction_bits;
      if (e.inexact) Set(StageEvent::kInexact);
      if (d.kind == Kind::kInfinite) Set(StageEvent::kResultInfinite);
      if (d.significand == 0) Set(StageEvent::kResultZero);
      if (d.significand != 0 && !normal) Set(StageEvent::kResultSubnormal);
      any_nonzero_ = false;  // the next step starts afresh
      NextAddend(model_.d, word);
    }
    widest_ = 0;
    aligned_ = false;
  }

  const Model& model_;
  uint32_t seen_ = 0;
  bool any_nonzero_ = false, sum_zero_ = false, aligned_ = false;
  int align_ = 0, widest_ = 0, addend_exponent_ = kNone;
};

}  // namespace mmadiff
