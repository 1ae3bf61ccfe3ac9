// The process of a survey that asks the device: it may die or hang, and takes nothing with it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "corpus/survey_record.h"
#include "fuzz/engine.h"

namespace mmadiff {

using SendMessage = std::function<void(const SurveyMessage&)>;

// Opens a device specification; tests open others than OpenEngine().
using OpenSpec = std::function<EngineOr(const std::string& spec)>;

// Does the job and says what comes of it, each result as soon as it is there. Ok at its natural end:
// nothing is left, or the time is up. Else the device's error, for good, which was said too; what
// is wrong with one operation alone is a result.
absl::Status AskSurvey(const SurveyJob& job, const OpenSpec& open, const SendMessage& send);

}  // namespace mmadiff
