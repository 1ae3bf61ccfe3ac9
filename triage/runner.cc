#include "triage/runner.h"

#include "sim/simulate.h"

namespace mmadiff {
namespace {

bool HasNoAnswer(const absl::Status& s) { return absl::IsNotFound(s) || FailureOf(s).has_value(); }

}  // namespace

absl::StatusOr<std::vector<uint64_t>> Runner::Run(const Batch& batch) {
  executions_ += batch.count;
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<std::vector<uint64_t>> d = device_.Run(op_, batch);
  used_ += std::chrono::steady_clock::now() - start;
  dot_products_ += batch.dot_products();
  return d;
}

bool Runner::IsSlow() const {
  using std::chrono::milliseconds;
  if (!device_.IsSlow()) return false;
  return dot_products_ == 0 || used_ > milliseconds(1) * dot_products_ ||
         used_ > milliseconds(10000);
}

absl::StatusOr<std::vector<uint64_t>> Runner::Try(const Batch& batch) {
  absl::StatusOr<std::vector<uint64_t>> all = Run(batch);
  if (!HasNoAnswer(all.status())) return all;
  std::vector<uint64_t> d;
  for (int64_t i = 0; i < batch.count; ++i) {
    const Batch one = Slice(batch, i);
    absl::StatusOr<std::vector<uint64_t>> words = device_.Run(op_, one);
    if (HasNoAnswer(words.status())) {
      words = std::vector<uint64_t>(one.dot_products());
      Simulate(op_.model, one, *words);
    }
    if (!words.ok()) return words.status();
    d.insert(d.end(), words->begin(), words->end());
  }
  return d;
}

}  // namespace mmadiff
