#include "fuzz/gpu/resident.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/clock.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "fuzz/unit/events.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

constexpr uint64_t kTestCases = 64, kPlantedCases = 4096;  // cases of the self-test
constexpr int64_t kAtOnce = 25;                            // three launches, the last one shorter
constexpr uint64_t kFarCase = (uint64_t{1} << 40) + 5;
// Cases counted together: limits the time until a stop is noticed, and the flags.
constexpr uint64_t kPortionCases = 1 << 22, kPortionDotProducts = 1 << 28;
// Signals and time limits are checked between portions.
constexpr absl::Duration kShort = absl::Milliseconds(100), kLong = absl::Milliseconds(500);

uint64_t PortionOf(const Operation& op) {
  return std::clamp<uint64_t>(kPortionDotProducts / op.shape().d_words(), 1, kPortionCases);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResidentRunner>> ResidentRunner::Create(GpuDevice& device,
                                                                       absl::string_view image) {
  ASSIGN_OR_RETURN(auto counter, GpuCounter::Create(device, image));
  return std::unique_ptr<ResidentRunner>(new ResidentRunner(std::move(counter)));
}

absl::Status ResidentRunner::SelfTest(const CaseStream& stream) {
  const auto [tested, first] = tested_.try_emplace(stream.name(), absl::OkStatus());
  if (!first) return tested->second;
  const absl::Status s = TestAgainstHost(stream);
  tested->second = s;
  if (!s.ok() && !IsOfOperation(s)) tested_.erase(tested);  // the device's failure, not the test's
  return s;
}

absl::StatusOr<bool> ResidentRunner::TestCases(const CaseStream& stream, const Model& model,
                                               uint64_t first, uint64_t count,
                                               int64_t most_at_once) {
  Operation op = *stream.op;
  op.model = model;
  const CaseStream planted = {&op, stream.strategy, stream.seed, stream.version};
  Counted gpu;
  RETURN_IF_ERROR(counter_->Count(stream, model, first, count, most_at_once, gpu));
  const bool found = gpu.counters.differing > 0;
  if (!found && !SameModel(model, stream.op->model)) return false;
  UnitResult host;
  std::vector<uint64_t> cases;
  const auto note = [&](const CaseName& name, const Mismatch&) {
    cases.push_back(name.index);
    return Next::kGoOn;
  };
  RETURN_IF_ERROR(UnitRunner(counter_->device(), planted).Run(first, count, host, note).status());
  const char* other = gpu.model != host.model_digest              ? "simulated bits"
                      : gpu.device != host.device_digest          ? "device bits"
                      : gpu.flagged != cases                      ? "mismatching cases"
                      : gpu.counters.differing != host.mismatches ? "counts of mismatches"
                                                                  : nullptr;
  if (other == nullptr) return found;
  return absl::InternalError(absl::StrCat(
      stream.op->name, ": the GPU-resident run and the host compute different ", other, " for the ",
      count, " cases from ", FormatCaseName({stream, first}), " in launches of at most ",
      most_at_once, "; none of its findings can be trusted"));
}

absl::Status ResidentRunner::TestAgainstHost(const CaseStream& stream) {
  const Model& model = stream.op->model;
  RETURN_IF_ERROR(TestCases(stream, model, 0, kTestCases, GpuCounter::kMaxCases).status());
  // Several launches, with cases that no run begins with.
  RETURN_IF_ERROR(TestCases(stream, model, kFarCase, kTestCases, kAtOnce).status());
  std::vector<Neighbour> faults = Neighbours(model);
  std::erase_if(faults, [](const Neighbour& n) { return HasUnusual(n.algorithm); });
  for (const Neighbour& fault : faults) {
    const Model faulty = WithAlgorithm(*stream.op, fault.algorithm);
    ASSIGN_OR_RETURN(const bool found, TestCases(stream, faulty, 0, kTestCases, kAtOnce));
    if (found) return absl::OkStatus();
  }
  for (const Neighbour& fault : faults) {
    const Model faulty = WithAlgorithm(*stream.op, fault.algorithm);
    Counted counted;
    RETURN_IF_ERROR(
        counter_->Count(stream, faulty, 0, kPlantedCases, GpuCounter::kMaxCases, counted));
    if (counted.counters.differing > 0) return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat(stream.op->name, ": no planted fault was found on the GPU in ", kPlantedCases,
                   " cases, so a real one would be missed too"));
}

absl::StatusOr<size_t> ResidentRunner::Confirm(const CaseStream& stream, const Counted& counted,
                                               OnMismatch found) {
  std::map<uint64_t, FlaggedCase> details;
  const uint64_t listed = std::min<uint64_t>(counted.counters.flagged, kFlaggedCases);
  for (uint64_t i = 0; i < listed; ++i) {
    details[counted.counters.cases[i].index] = counted.counters.cases[i];
  }
  UnitRunner one_by_one(counter_->device(), stream);
  size_t confirmed = 0;
  Next next = Next::kGoOn;
  while (confirmed < counted.flagged.size() && next == Next::kGoOn) {
    const uint64_t index = counted.flagged[confirmed];
    const auto detail = details.find(index);
    const FlaggedCase* flagged = detail == details.end() ? nullptr : &detail->second;
    bool same = false;
    UnitResult one;
    const auto compare = [&](const CaseName& name, const Mismatch& m) {
      same = flagged == nullptr || m.device[flagged->element] == flagged->device;
      if (same) next = found(name, m);
      return Next::kGoOn;
    };
    RETURN_IF_ERROR(one_by_one.Run(index, 1, one, compare).status());
    if (!same) return Unconfirmed(stream, counted, index, flagged);
    ++confirmed;
  }
  return confirmed;
}

absl::Status ResidentRunner::CutAfter(const CaseStream& stream, uint64_t first, size_t confirmed,
                                      Counted& counted) {
  const std::vector<uint64_t> expected(counted.flagged.begin(),
                                       counted.flagged.begin() + confirmed);
  portion_ = expected.back() + 1 - first;
  Counted part;
  RETURN_IF_ERROR(
      counter_->Count(stream, stream.op->model, first, portion_, GpuCounter::kMaxCases, part));
  if (part.flagged != expected) return Unconfirmed(stream, counted, expected.front(), nullptr);
  counted = std::move(part);
  return absl::OkStatus();
}

absl::Status ResidentRunner::Unconfirmed(const CaseStream& stream, const Counted& counted,
                                         uint64_t index, const FlaggedCase* flagged) const {
  std::set<uint32_t> where;
  const uint64_t listed = std::min<uint64_t>(counted.counters.flagged, kFlaggedCases);
  for (uint64_t i = 0; i < listed; ++i) where.insert(counted.counters.cases[i].multiprocessor);
  const std::vector<uint32_t> some(where.begin(),
                                   std::next(where.begin(), std::min<size_t>(where.size(), 8)));
  std::string what;
  if (flagged != nullptr) {
    const Position p = PositionOf(stream.op->shape(), flagged->element);
    what = absl::StrCat(" (block ", p.block, ", row ", p.i, ", column ", p.j, " was ",
                        HexWord(*stream.op->instruction->d, flagged->device), " on multiprocessor ",
                        flagged->multiprocessor, ")");
  }
  return absl::DataLossError(
      absl::StrCat(FormatCaseName({stream, index}), ": differed on the GPU once", what,
                   ", but not when it was repeated: the GPU or its memory may be faulty; ",
                   counted.counters.flagged, " cases were flagged, on multiprocessors ",
                   absl::StrJoin(some, " "), where.size() > some.size() ? " ..." : ""));
}

absl::StatusOr<uint64_t> ResidentRunner::Run(const CaseStream& stream, uint64_t first,
                                             uint64_t count, UnitResult& result, OnMismatch found) {
  RETURN_IF_ERROR(SelfTest(stream));
  const uint64_t most = PortionOf(*stream.op), end = first + count;
  Next next = Next::kGoOn;
  const auto note = [&](const CaseName& name, const Mismatch& mismatch) {
    return next = std::max(next, found(name, mismatch));
  };
  while (first < end && next == Next::kGoOn) {
    const uint64_t n = std::min({most, portion_, end - first});
    const auto begun = MonotonicNow();
    ASSIGN_OR_RETURN(first, RunPortion(stream, first, n, result, note));
    const auto took = MonotonicNow() - begun;
    if (took < kShort && n == portion_) portion_ = std::min(2 * portion_, kPortionCases);
    if (took > kLong) portion_ = std::max<uint64_t>(n / 2, 1);
  }
  return first;
}

absl::StatusOr<uint64_t> ResidentRunner::RunPortion(const CaseStream& stream, uint64_t first,
                                                    uint64_t count, UnitResult& result,
                                                    OnMismatch found) {
  if (counter_->device().StopRequested()) return absl::CancelledError("stopped");
  Counted counted;
  const Model& model = stream.op->model;
  RETURN_IF_ERROR(counter_->Count(stream, model, first, count, GpuCounter::kMaxCases, counted));
  Next paused = Next::kGoOn;
  const auto note = [&](const CaseName& name, const Mismatch& mismatch) {
    return paused = found(name, mismatch);
  };
  const absl::StatusOr<size_t> confirmed = Confirm(stream, counted, note);
  if (confirmed.ok() && paused == Next::kPause && *confirmed < counted.flagged.size()) {
    count = counted.flagged[*confirmed - 1] + 1 - first;
    RETURN_IF_ERROR(CutAfter(stream, first, *confirmed, counted));
  }
  result.cases += count;
  result.dot_products += count * stream.op->shape().d_words();
  result.mismatches += counted.counters.differing;
  result.device_digest += counted.device;
  result.model_digest += counted.model;
  for (const uint64_t index : counted.flagged) result.List(index);
  CountClasses(stream, first, count, result);
  EventCounter(counted.counters.events, counted.counters.traced).AddTo(model, result.counts);
  RETURN_IF_ERROR(confirmed.status());
  return first + count;
}

absl::StatusOr<Digest> ResidentRunner::AnswerDigest(const CaseStream& stream, uint64_t first,
                                                    uint64_t count) {
  UnitResult result;
  const auto ignore = [](const CaseName&, const Mismatch&) { return Next::kGoOn; };
  if (const auto end = Run(stream, first, count, result, ignore); !end.ok()) return end.status();
  return result.device_digest;
}

}  // namespace mmadiff
