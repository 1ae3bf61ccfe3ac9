#include "fuzz/engine/recompute.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "device/status_macros.h"
#include "device/threads.h"
#include "fuzz/unit/unit_runner.h"

namespace mmadiff {
namespace {

// A digest can cover a whole run. Without a model it must be small, as it is recomputed in one piece.
constexpr uint64_t kMaxDotProducts = uint64_t{1} << 50;

uint64_t CasesWith(const Operation& op, uint64_t dot_products) {
  return std::max<uint64_t>(1, dot_products / op.shape().d_words());
}

uint64_t MostUnitCases(const Operation& op) {
  return CasesWith(op, IsModelled(op) ? kMaxDotProducts : kMaxRecordedDotProducts);
}

// Compares with the model's digest if all NaNs count as the same word.
void SetNansOnly(RecomputedUnit& unit, int threads) {
  if (!unit.model.has_value() || unit.model == unit.recorded) return;
  Numerics numerics = *unit.stream.op->numerics;
  numerics.nan_verdict = NanVerdict::kAnyNan;
  Operation op = *unit.stream.op;
  op.numerics = &numerics;
  CaseStream stream = unit.stream;
  stream.op = &op;
  const uint64_t most = CasesWith(op, kMaxRecordedDotProducts);
  const size_t parts = (unit.cases - 1) / most + 1;
  absl::Mutex mutex;
  Digest sum = 0;
  const auto add = [&](size_t i, int) {
    const uint64_t skipped = i * most, cases = std::min(most, unit.cases - skipped);
    const Digest digest = *AnswerDigest(stream, unit.first + skipped, cases, nullptr);
    absl::MutexLock lock(&mutex);
    sum += digest;
  };
  (void)InOrder(parts, threads, add, [](size_t) { return absl::OkStatus(); });
  unit.nans_only = sum == unit.recorded;
}

// The device's answer, if it is one and did not change.
std::optional<Digest> AnswerTo(const RecomputedUnit& unit) {
  if (unit.answers.empty() || !unit.answers.front().ok()) return std::nullopt;
  const absl::StatusOr<Digest>& last = unit.answers.back();
  return last.ok() && *last == *unit.answers.front() ? std::optional(*last) : std::nullopt;
}

// Adds the next part of the unit.
void AddPart(const RecomputedUnit& part, RecomputedUnit& unit) {
  unit.cases += part.cases;
  *unit.model += *part.model;
  const auto first = AnswerTo(unit), next = AnswerTo(part);
  unit.answers.clear();
  if (first && next) unit.answers.emplace_back(*first + *next);
}

// `unit`: whole.
std::optional<AnsweredUnit> Answered(const RecomputedUnit& unit) {
  const std::optional<Digest> now = AnswerTo(unit);
  if (!now.has_value()) return std::nullopt;
  if (!unit.nans_only) return AnsweredUnit{unit.first, unit.cases, *unit.recorded, *now};
  if (*now != *unit.model) return std::nullopt;  // perhaps only in NaNs
  return AnsweredUnit{unit.first, unit.cases, *unit.recorded, *unit.recorded};
}

}  // namespace

absl::Status Recomputation::Add(const RecordedDigests& d, const std::string& where) {
  ASSIGN_OR_RETURN(const CaseStream stream, StoredStream(d.stream, *d.op));
  // Larger units than any recorder writes would take too long.
  if (d.unit_cases > MostUnitCases(*d.op)) {
    return absl::DataLossError(absl::StrCat(where, ": digests of units with ", d.unit_cases,
                                            " cases of ", d.op->name, "; the maximum is ",
                                            MostUnitCases(*d.op)));
  }
  all_.push_back({d, stream});
  return absl::OkStatus();
}

absl::Status Recomputation::Run(
    const RecomputeOptions& options,
    absl::FunctionRef<absl::Status(const RecomputedUnit&)> deliver) const {
  struct Chosen {
    const Digests* of;
    uint64_t unit;
    size_t begin;  // its first part among those of all units
  };
  std::vector<Chosen> chosen;
  size_t parts = 0;
  uint64_t number = 0;
  for (const Digests& d : all_) {
    if (options.passes_over && options.passes_over(d.recorded)) continue;
    for (uint64_t u = 0; u < d.recorded.digests.size(); ++u) {
      if (number++ % options.every != 0) continue;
      chosen.push_back({&d, u, parts});
      const uint64_t most = CasesWith(*d.recorded.op, kMaxRecordedDotProducts);
      parts += (d.recorded.unit_cases - 1) / most + 1;
    }
  }
  if (options.not_sampled != nullptr) *options.not_sampled += number - chosen.size();
  absl::Mutex mutex;
  std::map<size_t, RecomputedUnit> done;  // parts that are not delivered
  const auto chosen_of = [&](size_t part) -> const Chosen& {
    return *std::prev(std::ranges::upper_bound(chosen, part, {}, &Chosen::begin));
  };
  const auto compute = [&](size_t i, int thread) {
    const Chosen& c = chosen_of(i);
    const RecordedDigests& d = c.of->recorded;
    const uint64_t most = CasesWith(*d.op, kMaxRecordedDotProducts), skipped = (i - c.begin) * most;
    RecomputedUnit part = {c.of->stream, d.first + c.unit * d.unit_cases + skipped,
                           std::min(most, d.unit_cases - skipped), d.identity};
    if (part.cases == d.unit_cases) part.recorded = d.digests[c.unit];
    if (IsModelled(*d.op)) part.model = *AnswerDigest(part.stream, part.first, part.cases, nullptr);
    if (part.recorded.has_value()) SetNansOnly(part, 1);
    if (options.also != nullptr) options.also(part, thread);
    absl::MutexLock lock(&mutex);
    done[i] = std::move(part);
  };
  RecomputedUnit unit;  // whose first parts are delivered
  return InOrder(parts, options.threads, compute, [&](size_t i) -> absl::Status {
    RecomputedUnit part;
    {
      absl::MutexLock lock(&mutex);
      part = std::move(done.extract(i).mapped());
    }
    const bool asks = options.also != nullptr;
    if (asks && part.answers.empty()) options.also(part, 0);
    const Chosen& c = chosen_of(i);
    const RecordedDigests& d = c.of->recorded;
    if (i == c.begin) {
      unit = part;
    } else {
      AddPart(part, unit);
    }
    if (unit.cases < d.unit_cases) return asks ? deliver(part) : absl::OkStatus();
    if (!unit.recorded.has_value()) {
      unit.recorded = d.digests[c.unit];
      const std::optional<Digest> now = AnswerTo(unit);
      if (!asks || (now.has_value() && now != unit.recorded)) SetNansOnly(unit, options.threads);
    }
    if (!asks) return deliver(unit);
    part.answered = Answered(unit);
    return deliver(part);
  });
}

absl::StatusOr<std::vector<Damage>> VerifyDigests(
    const std::string& folder, const RecomputeOptions& options,
    absl::FunctionRef<absl::Status(const RecomputedUnit&)> deliver) {
  Recomputation units;
  const auto damage =
      ReadDigests(folder, [&](const RecordedDigests& d) { return units.Add(d, folder); });
  // Units that were read before an error are recomputed, too.
  RETURN_IF_ERROR(units.Run(options, deliver));
  return damage;
}

}  // namespace mmadiff
