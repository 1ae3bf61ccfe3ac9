#include "fuzz/schedule/fill.h"

#include <algorithm>

#include "absl/status/status.h"
#include "corpus/cases/case_name.h"
#include "device/stop.h"
#include "fuzz/schedule/class_schedule.h"

namespace mmadiff {
namespace {

void Fill(const MutantsOptions& options, FilledBins& filled) {
  const Operation& op = *filled.op;
  const uint64_t words = op.shape().d_words(), each = std::min(words, kLookedAtOfCase);
  CaseStream stream = {&op, options.strategy, options.seed};
  const bool scheduled = options.strategy == &Scheduled();
  const ClassSchedule schedule =
      scheduled ? ClassSchedule::Plan(op, options.seed) : ClassSchedule();
  CoverageCounter counter(op.model);
  size_t open = filled.reachable();
  std::vector<uint8_t> filling(filled.bins.size());
  Batch batch;
  for (; filled.cases < options.cases && open > 0 && StopSignal() == 0; ++filled.cases) {
    if (scheduled) stream.strategy = &schedule.of(filled.cases);
    Generate(stream, filled.cases, 1, batch);
    for (uint64_t e = 0; e < each; ++e) {
      counter.Count(
          Extract(batch, static_cast<int64_t>((filled.cases + e * words / each) % words)));
      for (const uint16_t bin : counter.reached()) {
        const Bin& b = filled.bins[bin];
        open -= counter.counts()[bin] == b.least && b.unreachable.empty();
      }
    }
  }
  filled.counts = counter.counts();
  filled.dot_products = counter.dot_products();
  filled.thin = ThinBins(filled.bins, filled.counts);
}

}  // namespace

size_t FilledBins::reachable() const {
  return std::ranges::count_if(bins, [](const Bin& b) { return b.unreachable.empty(); });
}

absl::StatusOr<std::vector<FilledBins>> FillBins(const MutantsOptions& options, Console& console) {
  std::vector<FilledBins> all;
  for (const OperationsOfModel& m : OperationsByModel(options.ops)) {
    all.push_back({m.op, m.operations, BinsOf(m.op->model), {}, 0, 0, {}});
  }
  OverAll(all.size(), options.threads, console, [&](size_t i) -> const std::string& {
    Fill(options, all[i]);
    return all[i].op->name;
  });
  if (StopSignal() != 0) return absl::CancelledError("stopped by a signal; run again");
  return all;
}

}  // namespace mmadiff
