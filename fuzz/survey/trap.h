// The smallest input on which a device is known to die.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "corpus/survey_record.h"

namespace mmadiff {

// Whether the device survives a task of SurveyStage::kTrap, in a process of its own.
using Survives = std::function<bool(const SurveyTask&)>;

// In words and, where there is one, as a case name or a line of the line protocol. `task` trapped;
// `asked`: the lines that were asked when it did; of a device that `hangs` only zeros are tried,
// since each trial takes as long as the limit.
std::string SmallestTrap(const SurveyManifest& manifest, const SurveyTask& task,
                         const std::vector<std::string>& asked, bool hangs,
                         const Survives& survives);

}  // namespace mmadiff
