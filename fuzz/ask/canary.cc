#include "fuzz/ask/canary.h"

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "device/clock.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// One dot product from each of the cases [first_case + begin, first_case + end).
std::vector<DotProductCase> DotProducts(const CaseStream& stream, uint64_t first_case, size_t begin,
                                        size_t end) {
  std::vector<DotProductCase> dots;
  Batch batch;
  for (size_t i = begin; i < end; ++i) {
    Generate(stream, first_case + i, 1, batch);
    dots.push_back(Extract(batch, static_cast<int>(37 * i % batch.dot_products())));
  }
  return dots;
}

absl::StatusOr<std::vector<uint64_t>> Ask(Device& device, const Operation& op,
                                          const std::vector<DotProductCase>& dots) {
  return device.Run(op, MakeDotProductBatch(op.shape(), dots));
}

// Calls ask(begin, end) for the first `least`, then doubles the total as long as the next batch, if
// it takes as long as the last one, ends within a second.
absl::Status AskForASecond(size_t least, size_t most,
                           absl::FunctionRef<absl::Status(size_t begin, size_t end)> ask) {
  const auto begun = MonotonicNow();
  absl::Duration before;
  for (size_t begin = 0, end = std::min(most, least); begin < most;) {
    RETURN_IF_ERROR(ask(begin, end));
    const absl::Duration passed = MonotonicNow() - begun;
    if (passed + (passed - before) > absl::Seconds(1)) break;
    before = passed;
    begin = std::exchange(end, std::min(most, 2 * end));
  }
  return absl::OkStatus();
}

constexpr char kChanged[] =
    "; the device, or a module that it loads, has changed: use a new folder, or remove this one";

}  // namespace

absl::StatusOr<Canary> AskCanary(Device& device, const CaseStream& stream, uint64_t first_case) {
  Canary canary = {first_case, {}};
  const auto ask = [&](size_t begin, size_t end) {
    std::vector<uint64_t> d;
    const std::vector<DotProductCase> dots = DotProducts(stream, first_case, begin, end);
    absl::Status s = device.Run(*stream.op, MakeDotProductBatch(stream.op->shape(), dots), d);
    if (s.ok() || FailureOf(s)) canary.d.insert(canary.d.end(), d.begin(), d.end());
    return s;
  };
  const absl::Status s = AskForASecond(kMinCanaries, kMaxCanaries, ask);
  if (FailureOf(s)) return canary;  // the answers before the failure suffice
  if (absl::IsNotFound(s)) return Canary();
  RETURN_IF_ERROR(s);
  return canary;
}

std::optional<CanaryDifference> FirstDifference(const CaseStream& stream, const Canary& canary) {
  const Operation& op = *stream.op;
  const std::vector<Observed> answers = AnswersOf(stream, canary);
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto& [dot, d, nan_bits] = answers[i];
    if (SameResult(op, Simulate(op.model, dot), d)) continue;
    return CanaryDifference{canary.first_case + i, FormatLine(*op.instruction, dot, d)};
  }
  return std::nullopt;
}

std::vector<Observed> AnswersOf(const CaseStream& stream, const Canary& canary) {
  std::vector<Observed> answers;
  std::vector<DotProductCase> dots = DotProducts(stream, canary.first_case, 0, canary.d.size());
  for (size_t i = 0; i < dots.size(); ++i) answers.push_back({std::move(dots[i]), canary.d[i]});
  return answers;
}

absl::StatusOr<uint64_t> AskAgain(Device& device, const Operation& op,
                                  std::span<const Observed> earlier, size_t least) {
  const Instruction& in = *op.instruction;
  uint64_t repeated = 0;
  const auto ask = [&](size_t begin, size_t end) -> absl::Status {
    std::vector<DotProductCase> dots;
    for (size_t i = begin; i < end; ++i) dots.push_back(earlier[i].dot);
    const auto now = Ask(device, op, dots);
    if (absl::IsNotFound(now.status())) {
      return absl::NotFoundError("the device no longer answers inputs that it answered earlier");
    }
    if (FailureOf(now.status())) {
      return absl::AbortedError(
          absl::StrCat("answered in an earlier attempt, now ", now.status().message(), kChanged));
    }
    RETURN_IF_ERROR(now.status());
    for (size_t i = begin; i < end; ++i) {
      const uint64_t word = (*now)[i - begin];
      const uint64_t before = earlier[i].d;
      if (before == word || (IsModelled(op) && SameResult(op, before, word))) continue;
      ASSIGN_OR_RETURN(const auto again, Ask(device, op, {earlier[i].dot}));
      const std::string answers =
          absl::StrCat(FormatLine(in, earlier[i].dot, before), " in an earlier attempt, now ",
                       HexWord(*in.d, word));
      return absl::AbortedError(
          again.front() == word ? absl::StrCat(answers, kChanged)
                                : absl::StrCat(answers, ", then ", HexWord(*in.d, again.front()),
                                               ": the device does not repeat"));
    }
    repeated = end;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(AskForASecond(least, earlier.size(), ask));
  return repeated;
}

absl::StatusOr<uint64_t> ExecuteAgain(Engine& engine, const CaseStream& stream,
                                      const UnitResult& earlier) {
  ASSIGN_OR_RETURN(const auto digest,
                   engine.AnswerDigest(stream, earlier.first_case, earlier.cases));
  if (digest == earlier.device_digest) return earlier.dot_products;
  return absl::AbortedError(absl::StrCat(
      "unit ", earlier.unit, " has different answers than in an earlier attempt", kChanged));
}

}  // namespace mmadiff
