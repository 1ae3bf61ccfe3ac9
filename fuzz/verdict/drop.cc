#include "fuzz/verdict/drop.h"

#include "absl/strings/str_cat.h"
#include "device/device.h"
#include "fuzz/verdict/error_meaning.h"

namespace mmadiff {

std::optional<Drop> DropOf(const Operation& op, const absl::Status& error) {
  if (!IsOfOperation(error)) return std::nullopt;
  return Drop{&op, MeaningOf(error.code()).cause, error};
}

std::optional<DropCause> CauseOf(const SurveyResult& result) {
  const SurveyStage stage = result.task.stage;
  if (stage == SurveyStage::kTrap) return DropCause::kDeviceGone;
  // Older programs stored different codes for crashed devices.
  if (result.trapped && !absl::IsDeadlineExceeded(result.status)) return DropCause::kCrashes;
  if (!result.status.ok()) return MeaningOf(result.status.code()).cause;
  if (result.answers.empty() || result.answers.front().agreement == Agreement::kAgrees) return {};
  if (stage == SurveyStage::kLayout) {
    const bool wrong = result.answers.front().agreement == Agreement::kContradicts;
    return wrong ? std::optional(DropCause::kLayout) : std::nullopt;
  }
  if (stage == SurveyStage::kRepeat) return DropCause::kDoesNotRepeat;
  return {};
}

std::string Text(const Drop& drop) {
  const bool hangs = drop.cause == DropCause::kHangs;
  if (hangs || drop.cause == DropCause::kCrashes) {
    return absl::StrCat(drop.op->name, ": ", hangs ? "hangs" : "traps", " again on ",
                        Name(drop.input), ": ", drop.status.message());
  }
  return absl::StrCat("dropped ", drop.op->name, ": ", drop.status.message());
}

}  // namespace mmadiff
