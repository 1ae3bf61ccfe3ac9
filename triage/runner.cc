#include "triage/runner.h"

#include <utility>

#include "device/clock.h"
#include "device/status_macros.h"
#include "sim/simulate.h"

namespace mmadiff {
absl::StatusOr<std::vector<uint64_t>> Runner::Run(const Batch& batch) {
  executions_ += batch.count;
  const auto start = MonotonicNow();
  absl::StatusOr<std::vector<uint64_t>> d = device_.Run(asked_, batch);
  used_ += MonotonicNow() - start;
  dot_products_ += batch.dot_products();
  return d;
}

absl::StatusOr<Answers> Runner::Observe(const Batch& batch) {
  executions_ += batch.count;
  const auto start = MonotonicNow();
  Answers answers;
  const absl::Status s = Ask(batch, answers);
  used_ += MonotonicNow() - start;
  dot_products_ += answers.size();
  RETURN_IF_ERROR(s);
  return answers;
}

absl::Status Runner::Ask(const Batch& batch, Answers& answers) {
  const int enough = ends_ + kMaxEnds;
  while (answers.size() < batch.dot_products() && ends_ < enough) {
    std::vector<DotProductCase> rest;
    for (int64_t i = answers.size(); i < batch.dot_products() && i > 0; ++i) {
      rest.push_back(Extract(batch, i));
    }
    Answers some;
    const bool whole = answers.size() == 0;
    device_.Hurry(ends_ > 0);  // it may hang again
    const absl::Status s =
        device_.Ask(asked_, whole ? batch : MakeDotProductBatch(op_.shape(), rest), some);
    device_.Hurry(false);
    RETURN_IF_ERROR(s);
    for (const auto& [index, failure] : some.failures) {
      ends_ += ScopeOf(failure.kind) == FailureScope::kProcess;
    }
    answers.Append(std::move(some));
  }
  return absl::OkStatus();
}

bool Runner::IsSlow() const {
  if (!device_.IsSlow()) return false;
  return dot_products_ == 0 || used_ > absl::Milliseconds(1) * dot_products_ ||
         used_ > absl::Seconds(10);
}

absl::StatusOr<std::vector<uint64_t>> Runner::Try(const Batch& batch) {
  absl::StatusOr<Answers> all = Observe(batch);
  if (absl::IsNotFound(all.status())) {  // some dot products may be recorded
    all = Answers();
    for (int64_t i = 0; i < batch.count; ++i) {
      const Batch one = Slice(batch, i);
      Answers answers;
      const absl::Status s = batch.count > 1 ? Ask(one, answers) : absl::NotFoundError("");
      if (!s.ok() && !absl::IsNotFound(s)) return s;
      const int64_t missing = one.dot_products() - answers.size();
      for (int64_t j = 0; j < missing; ++j) answers.Fail({});
      all->Append(std::move(answers));
    }
  }
  RETURN_IF_ERROR(all.status());
  std::vector<uint64_t> d(batch.dot_products());
  Simulate(op_.model, batch, d);
  for (int64_t i = 0; i < all->size(); ++i) {
    if (!all->failures.contains(i)) d[i] = all->d[i];
  }
  return d;
}

}  // namespace mmadiff
