#include "fuzz/engine/recompute.h"

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "device/threads.h"
#include "fuzz/unit/unit_runner.h"

namespace mmadiff {
namespace {

uint64_t MostUnitCases(const Operation& op) {
  return std::max<uint64_t>(1, kMaxRecordedDotProducts / op.shape().d_words());
}

// The model's digest if all NaNs count as the same word.
Digest DigestOfAnyNan(CaseStream stream, uint64_t first, uint64_t cases) {
  Numerics numerics = *stream.op->numerics;
  numerics.nan_verdict = NanVerdict::kAnyNan;
  Operation op = *stream.op;
  op.numerics = &numerics;
  stream.op = &op;
  return *AnswerDigest(stream, first, cases, nullptr);
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
  std::vector<std::pair<const Digests*, uint64_t>> chosen;
  uint64_t number = 0;
  for (const Digests& d : all_) {
    if (options.passes_over && options.passes_over(d.recorded)) continue;
    for (uint64_t u = 0; u < d.recorded.digests.size(); ++u) {
      if (number++ % options.every == 0) chosen.emplace_back(&d, u);
    }
  }
  if (options.not_sampled != nullptr) *options.not_sampled += number - chosen.size();
  std::vector<RecomputedUnit> units(chosen.size());
  const auto compute = [&](size_t i, int thread) {
    const auto& [of, u] = chosen[i];
    const RecordedDigests& d = of->recorded;
    const uint64_t first = d.first + u * d.unit_cases;
    units[i] = {of->stream, first, d.unit_cases, d.identity, d.digests[u], {}};
    if (IsModelled(*d.op)) {
      units[i].model = *AnswerDigest(of->stream, first, d.unit_cases, nullptr);
      units[i].nans_only = units[i].model != d.digests[u] &&
                           DigestOfAnyNan(of->stream, first, d.unit_cases) == d.digests[u];
    }
    if (options.also != nullptr) options.also(units[i], thread);
  };
  return InOrder(chosen.size(), options.threads, compute, [&](size_t i) {
    return deliver(std::exchange(units[i], {}));  // frees the memory of the unit
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
