#include "fuzz/unit/events.h"

#include "fuzz/unit/stage_watcher.h"

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

// Events that a family can have, by enumerator.
bool CanHappen(Family family, StageEvent e) {
  const bool alignment = e <= StageEvent::kCarryOut;
  if (family == Family::kIntegerDot) {
    return e == StageEvent::kIntegerOverflow || e == StageEvent::kFullCancellation ||
           e == StageEvent::kResultZero;
  }
  if (family == Family::kConversion && e == StageEvent::kFullCancellation) return false;
  return e != StageEvent::kIntegerOverflow && (HasOneAlignment(family) || !alignment);
}

}  // namespace

const char* Name(StageEvent event) { return kNames[static_cast<size_t>(event)]; }

void EventCounter::Count(const Model& model, const DotProductCase& dot) {
  StageWatcher watcher(model, dot.c);
  DotProduct(model, dot.a.data(), dot.b.data(), dot.c, watcher);
  for (size_t e = 0; e < kEvents; ++e) counts_[e] += watcher.seen() >> e & 1;
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
