// The smallest input on which a device is known to die.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "corpus/survey_record.h"
#include "fuzz/survey/schedule.h"

namespace mmadiff {

// What a device was asked when it died in a task.
struct TrappedInput {
  SurveyTask task;
  uint64_t seed = 0;               // of the survey
  SurveyUnit unit = {};            // of a run
  std::vector<std::string> lines;  // of other tasks
  bool hangs = false;              // only zeros are tried: each trial takes as long as the limit
};

// Whether the device survives a task of SurveyStage::kTrap, in a process of its own.
using Survives = std::function<bool(const SurveyTask&)>;

// In words and, where there is one, as a case name or a line of the line protocol.
std::string SmallestTrap(const TrappedInput& input, const Survives& survives);

}  // namespace mmadiff
