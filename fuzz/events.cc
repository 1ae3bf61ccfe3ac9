#include "fuzz/events.h"

#include <algorithm>
#include <bitset>

#include "sim/dot_product.h"

namespace mmadiff {
namespace {

constexpr size_t kEvents = static_cast<size_t>(StageEvent::kCount);
constexpr std::array<const char*, kEvents> kNames = {"aligned_by_product",
                                                     "aligned_by_addend",
                                                     "aligned_by_floor",
                                                     "bits_lost",
                                                     "carry_out",
                                                     "full_cancellation",
                                                     "tie",
                                                     "sticky_only",
                                                     "inexact",
                                                     "result_zero",
                                                     "result_subnormal",
                                                     "result_infinite",
                                                     "result_special",
                                                     "integer_overflow"};

// Families that align all terms of a step to one exponent.
bool HasOneAlignment(Family family) {
  return family == Family::kFusedSum || family == Family::kScaledSum;
}

// Events that a family can have, by enumerator.
bool CanHappen(Family family, StageEvent e) {
  const bool alignment = e <= StageEvent::kCarryOut;
  if (family == Family::kIntegerDot) {
    return e == StageEvent::kIntegerOverflow || e == StageEvent::kFullCancellation ||
           e == StageEvent::kResultZero;
  }
  return e != StageEvent::kIntegerOverflow && (HasOneAlignment(family) || !alignment);
}

// Watches the stages of one dot product.
class Observer {
 public:
  // `c` is the addend of the first step, a word of model.c.
  Observer(const Model& model, uint64_t c) : model_(model) { NextAddend(model.c, c); }

  void operator()(const Event& e) {
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

  const std::bitset<kEvents>& seen() const { return seen_; }

 private:
  static constexpr int kNone = -1000000;

  // The exponent that the addend of the next step offers for the alignment.
  void NextAddend(const Format& format, uint64_t word) {
    if (!HasOneAlignment(model_.algorithm.family)) return;
    const Unpacked c = Decode(format, word);
    addend_exponent_ = c.significand == 0 ? kNone : AddendExponentOf(model_, format, c);
  }
  static int Leading(const Event& e) { return BitWidth(e.magnitude) - 1 + e.lsb_exponent; }
  void Set(StageEvent e) { seen_.set(static_cast<size_t>(e)); }

  void Sum(const Event& e) {
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

  void Rounded(const Event& e) {
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
  std::bitset<kEvents> seen_;
  bool any_nonzero_ = false, sum_zero_ = false, aligned_ = false;
  int align_ = 0, widest_ = 0, addend_exponent_ = kNone;
};

}  // namespace

const char* Name(StageEvent event) { return kNames[static_cast<size_t>(event)]; }

void EventCounter::Count(const Model& model, const DotProductCase& dot) {
  Observer observer(model, dot.c);
  DotProduct(model, dot.a.data(), dot.b.data(), dot.c, observer);
  for (size_t e = 0; e < kEvents; ++e) counts_[e] += observer.seen()[e];
  ++sampled_;
}

void EventCounter::AddTo(const Model& model, std::map<std::string, uint64_t>& counts) const {
  counts["event.sampled"] += sampled_;
  for (size_t e = 0; e < kEvents; ++e) {
    if (!CanHappen(model.algorithm.family, static_cast<StageEvent>(e))) continue;
    counts[std::string("event.") + kNames[e]] += counts_[e];
  }
}

}  // namespace mmadiff
