#include "fuzz/canary.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr double kSeconds = 1;

std::vector<DotProductCase> DotProducts(const CaseStream& stream, uint64_t first_case, int begin,
                                        int end) {
  std::vector<DotProductCase> dots;
  Batch batch;
  for (int i = begin; i < end; ++i) {
    Generate(stream, first_case + static_cast<uint64_t>(i), 1, batch);
    dots.push_back(Extract(batch, 37 * i % batch.dot_products()));
  }
  return dots;
}

absl::StatusOr<std::vector<uint64_t>> Ask(Device& device, const CaseStream& stream,
                                          const std::vector<DotProductCase>& dots) {
  return device.Run(*stream.op, MakeDotProductBatch(stream.op->shape(), dots));
}

constexpr char kChanged[] =
    "; the device, or what it loads, has changed since: take another --workdir for it, or remove "
    "this run's folder";

}  // namespace

absl::StatusOr<Canary> AskCanary(Device& device, const CaseStream& stream, uint64_t first_case,
                                 int most) {
  Canary canary = {first_case, {}};
  const auto begun = std::chrono::steady_clock::now();
  std::chrono::duration<double> before(0);
  for (int end = std::min(most, kFewestCanaries);; end = std::min(most, 2 * end)) {
    const int begin = static_cast<int>(canary.d.size());
    const auto d = Ask(device, stream, DotProducts(stream, first_case, begin, end));
    if (absl::IsNotFound(d.status())) return Canary();
    if (!d.ok()) return d.status();
    canary.d.insert(canary.d.end(), d->begin(), d->end());
    // The next ones are as many as all so far, and take as long as the last at least.
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    if (end == most || (passed + (passed - before)).count() > kSeconds) return canary;
    before = passed;
  }
}

std::optional<CanaryDifference> FirstDifference(const CaseStream& stream, const Canary& canary) {
  const Operation& op = *stream.op;
  for (int i = 0; i < static_cast<int>(canary.d.size()); ++i) {
    const DotProductCase dot = DotProducts(stream, canary.first_case, i, i + 1).front();
    if (SameResult(op, Simulate(op.model, dot), canary.d[i])) continue;
    return CanaryDifference{canary.first_case + static_cast<uint64_t>(i),
                            FormatLine(*op.instruction, dot, canary.d[i])};
  }
  return std::nullopt;
}

absl::StatusOr<uint64_t> AskAgain(Device& device, const CaseStream& stream, const Canary& earlier) {
  const auto now =
      AskCanary(device, stream, earlier.first_case, static_cast<int>(earlier.d.size()));
  if (!now.ok()) return now.status();
  if (now->d.empty()) return absl::NotFoundError("no answer any more to what it was asked earlier");
  const auto same = [&](uint64_t a, uint64_t b) { return SameResult(*stream.op, b, a); };
  const auto [x, y] = std::mismatch(now->d.begin(), now->d.end(), earlier.d.begin(), same);
  if (x == now->d.end()) return now->d.size();
  const int i = static_cast<int>(x - now->d.begin());
  const auto dots = DotProducts(stream, earlier.first_case, i, i + 1);
  const auto again = Ask(device, stream, dots);
  if (!again.ok()) return again.status();
  const Instruction& in = *stream.op->instruction;
  const std::string answers = absl::StrCat(FormatLine(in, dots.front(), *y),
                                           " in an earlier attempt, now ", HexWord(*in.d, *x));
  return absl::AbortedError(again->front() == *x
                                ? absl::StrCat(answers, kChanged)
                                : absl::StrCat(answers, ", then ", HexWord(*in.d, again->front()),
                                               ": the device does not repeat"));
}

absl::StatusOr<uint64_t> ExecuteAgain(Engine& engine, const CaseStream& stream,
                                      const UnitResult& earlier) {
  const auto digest = engine.AnswerDigest(stream, earlier.first_case, earlier.cases);
  if (!digest.ok()) return digest.status();
  if (*digest == earlier.device_digest) return earlier.dot_products;
  return absl::AbortedError(absl::StrCat(
      "unit ", earlier.unit, " has other answers now than in an earlier attempt", kChanged));
}

}  // namespace mmadiff
