// Events inside the arithmetic, counted over a sample of the dot products of a run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "fuzz/unit/stage_watcher.h"
#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

const char* Name(StageEvent event);

class EventCounter {
 public:
  EventCounter() = default;
  // Counts from elsewhere: by StageEvent, and the number of traced dot products.
  EventCounter(const uint64_t (&counts)[static_cast<size_t>(StageEvent::kCount)], uint64_t sampled)
      : counts_(std::to_array(counts)), sampled_(sampled) {}
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
