#include "fuzz/replay/replay_device.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "fuzz/unit/unit_runner.h"
#include "triage/diagnosis/investigate_aged.h"

namespace mmadiff {
namespace {

constexpr int kTimes = 5;  // same as the repetitions of a mismatch in `run`

void SetFlakyApart(const Operation& op, int64_t words_each, ConfirmedAnswers& answers) {
  const std::vector<int64_t> changed = Differences(op, answers.said.d, answers.again.d);
  std::vector<int64_t>& differing = answers.comparison.differing;
  std::set_union(differing.begin(), differing.end(), changed.begin(), changed.end(),
                 std::back_inserter(answers.flaky));
  const auto steady = [&](int64_t element) {
    const int64_t first = element / words_each * words_each;
    const auto next = std::lower_bound(changed.begin(), changed.end(), first);
    return next == changed.end() || *next >= first + words_each;
  };
  std::erase_if(answers.flaky, steady);
  std::erase_if(differing, [&](int64_t element) { return !steady(element); });
}

}  // namespace

ConfirmedAnswers AnswersTo(const Operation& op, const Batch& inputs, Answers said) {
  CountFailures(op, inputs, said);
  Comparison comparison = Compare(op, inputs, said.d);
  return {std::move(said), {}, std::move(comparison)};
}

absl::StatusOr<std::optional<ConfirmedAnswers>> ReplayDevice::Ask(const Operation& op,
                                                                  const Batch& inputs,
                                                                  bool always) {
  if (Dropped(op)) return std::nullopt;
  ConfirmedAnswers answers;
  absl::Status s = AskAll(device_, op, inputs, answers.said);
  if (s.ok()) {
    answers.comparison = Compare(op, inputs, answers.said.d);
    if (answers.comparison.differing.empty() && !always) return answers;
  }
  for (int i = 1; i < kTimes && s.ok() && (i == 1 || answers.again.d == answers.said.d); ++i) {
    s = AskAll(device_, op, inputs, answers.again);
  }
  if (Drops(op, s)) return std::nullopt;
  RETURN_IF_ERROR(s);
  SetFlakyApart(op, inputs.shape.d_words(), answers);
  flaky_ += answers.flaky.size();
  return answers;
}

absl::StatusOr<std::optional<ConfirmedAnswers>> ReplayDevice::AskAt(const Operation& op,
                                                                    const Batch& dot,
                                                                    uint64_t age) {
  if (Dropped(op)) return std::nullopt;
  for (int i = 0;; ++i) {
    absl::StatusOr<Answers> last = AskAtAge(device_, op, Extract(dot, 0), age);
    if (Drops(op, last.status())) return std::nullopt;
    RETURN_IF_ERROR(last.status());
    ConfirmedAnswers answers = AnswersTo(op, dot, *std::move(last));
    if (!answers.comparison.differing.empty() || i == kTimes - 1) return answers;
  }
}

std::vector<absl::StatusOr<Digest>> ReplayDevice::AskDigest(const RecomputedUnit& unit,
                                                            int thread) {
  const Operation& op = *unit.stream.op;
  Engine* const engine = engines_.of(thread);
  if (engine == nullptr || Dropped(op) || !engine->device().Supports(op).ok()) return {};
  const auto ask = [&] { return engine->AnswerDigest(unit.stream, unit.first, unit.cases); };
  std::vector<absl::StatusOr<Digest>> answers = {ask()};
  const absl::StatusOr<Digest>& first = answers.front();
  const bool changed = first.ok() && unit.recorded.has_value() && *first != *unit.recorded;
  const bool differs = unit.model.has_value() && first.ok() &&
                       (*first != *unit.model || (changed && !unit.nans_only));
  for (int i = 1; i < kTimes && differs; ++i) {
    answers.push_back(ask());
    if (!answers.back().ok() || *answers.back() != *answers.front()) break;
  }
  return answers;
}

bool ReplayDevice::Dropped(const Operation& op) const {
  absl::MutexLock lock(&mutex_);
  return dropped_.contains(&op);
}

bool ReplayDevice::Drops(const Operation& op, const absl::Status& s) {
  const std::optional<Drop> drop = DropOf(op, s);
  if (!drop.has_value()) return false;
  absl::MutexLock lock(&mutex_);
  if (dropped_.emplace(&op, *drop).second) console_.Warn(Text(*drop));
  return true;
}

std::vector<Drop> ReplayDevice::dropped() const {
  absl::MutexLock lock(&mutex_);
  std::vector<Drop> all;
  for (const auto& [op, drop] : dropped_) all.push_back(drop);
  return all;
}

}  // namespace mmadiff
