#include "fuzz/report/run_status.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/folder/unit_log.h"
#include "fuzz/folder/workdir.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Measures the time during which at least one unit was running. Time between attempts does not
// count.
class BusySeconds {
 public:
  void Add(const UnitResult& unit) {
    if (unit.ended == 0) return;
    const double most = static_cast<double>(unit.ended);  // guards against a wrong file
    const auto length = static_cast<uint64_t>(std::min(std::ceil(unit.seconds), most));
    spans_.emplace_back(unit.ended - length, unit.ended);
    dot_products_ += unit.dot_products;
    if (spans_.size() > kMax) Join();
  }

  double Rate() {
    Join();
    uint64_t seconds = 0;
    for (const auto& [begin, end] : spans_) seconds += end + 1 - begin;
    return seconds == 0 ? 0 : static_cast<double>(dot_products_) / static_cast<double>(seconds);
  }

 private:
  static constexpr size_t kMax = 1 << 16;  // bounds the memory of a long run

  void Join() {
    std::ranges::sort(spans_);
    std::vector<std::pair<uint64_t, uint64_t>> joined;
    for (const auto& span : spans_) {
      if (joined.empty() || span.first > joined.back().second + 1) {
        joined.push_back(span);
      } else {
        joined.back().second = std::max(joined.back().second, span.second);
      }
    }
    spans_ = std::move(joined);
  }

  std::vector<std::pair<uint64_t, uint64_t>> spans_;  // first and last second
  uint64_t dot_products_ = 0;
};

double SecondsLeft(const RunStatus& s) {
  if (s.endless || s.rate == 0) return 0;
  double left = 0;
  for (const RunReportRow& row : s.rows) {
    if (row.op == nullptr || row.stopped() || row.total.cases >= row.planned_cases) continue;
    left +=
        static_cast<double>(row.planned_cases * row.op->shape().d_words() - row.total.dot_products);
  }
  return left / s.rate;
}

}  // namespace

absl::StatusOr<RunStatus> ReadRunStatus(const std::string& path, const OnUnit& counted) {
  ASSIGN_OR_RETURN(const RunManifest manifest, ReadManifest(path));
  RunReportBuilder builder(manifest);
  RunStatus status;
  BusySeconds busy;
  const auto add = [&](const UnitResult& unit) {
    busy.Add(unit);
    status.last_ended = std::max(status.last_ended, unit.ended);
  };
  absl::StatusOr<RunFolder> folder = builder.AddFolder(path, [&](const UnitResult& unit) {
    add(unit);
    if (counted != nullptr) counted(unit);
  });
  RETURN_IF_ERROR(folder.status());
  for (const UnitResult& part : builder.CountParts()) add(part);
  static_cast<RunReport&>(status) = std::move(builder).Finish();
  status.folder = *std::move(folder);
  status.writer = WriterOf(path);
  status.rate = busy.Rate();
  status.seconds_left = SecondsLeft(status);
  return status;
}

absl::StatusOr<ShardsStatus> SumShards(const std::vector<RunStatus>& folders) {
  const RunStatus& first = folders.front();
  ShardsStatus sum;
  sum.shards = first.shards;
  for (const RunManifest::Instruction& i : first.manifest.instructions) {
    sum.planned_units += i.Units();
  }
  sum.rows = first.rows;
  std::set<uint64_t> seen;
  for (const RunStatus& f : folders) {
    const std::string difference = ManifestDifference(first.manifest, f.manifest);
    if (!difference.empty() || f.shards != sum.shards) {
      return absl::FailedPreconditionError(absl::StrCat(
          f.folder.path, " is not a shard of the same run as ", first.folder.path, " (",
          difference.empty() ? absl::StrCat("shards: stored ", sum.shards, ", wanted ", f.shards)
                             : difference,
          "); name folders of one run only"));
    }
    if (!seen.insert(f.seen.front()).second) {
      return absl::InvalidArgumentError(absl::StrCat(f.folder.path, " repeats shard ",
                                                     f.seen.front(),
                                                     "; name one folder per shard, or merge them"));
    }
    sum.units += f.units;
    Accumulate(f.total, sum.total);
    sum.at_least |= f.at_least;
    for (size_t i = 0; i < sum.rows.size(); ++i) {
      if (f.rows[i].stopped() && f.rows[i].stopped_at >= sum.rows[i].stopped_at) {
        sum.rows[i] = f.rows[i];
      }
    }
    if (!f.writer.empty()) sum.rate += f.rate;
    sum.seconds_left = std::max(sum.seconds_left, f.seconds_left);
  }
  sum.seen.assign(seen.begin(), seen.end());
  return sum;
}

}  // namespace mmadiff
