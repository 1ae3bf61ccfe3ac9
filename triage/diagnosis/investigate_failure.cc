#include "triage/diagnosis/investigate_failure.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "device/isolate.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/minimize/minimize.h"
#include "triage/runner.h"

namespace mmadiff {
namespace {

constexpr int kTries = 5;
// The number of process-ending failures allowed on the way to the simplest case.
constexpr int kMaxEnds = 100;

bool Ends(FailureKind kind) { return ScopeOf(kind) == FailureScope::kProcess; }

// If the device fails in the same way, the word is the complement of the model's, otherwise the
// model's. Finding the smallest failure then means finding the smallest difference.
class FailureAsDifference : public Device {
 public:
  // `most`: as in Investigate().
  FailureAsDifference(Device& device, const InputFailure& failure, int64_t most)
      : device_(device),
        failure_(failure),
        left_(!Ends(failure.kind) ? std::numeric_limits<int64_t>::max()
              : most == 0         ? kMaxEnds
                                  : most) {}

  std::string name() const override { return device_.name(); }
  Identity identity() const override { return device_.identity(); }
  bool IsSlow() const override { return device_.IsSlow(); }
  absl::Status Supports(const Operation& op) const override { return device_.Supports(op); }

  bool spent() const { return left_ <= 0; }
  // The device's last failure.
  const InputFailure& said() const { return said_; }

 private:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    std::vector<uint64_t> model(batch.dot_products());
    Simulate(op.model, batch, model);
    const uint64_t bits = LowBits(op.instruction->d->bits);
    std::vector<DotProductCase> dots;
    for (int64_t i = 0; i < batch.dot_products(); ++i) dots.push_back(Extract(batch, i));
    // A process may end or print only after an answer, which shows at the next dot product.
    if (ScopeOf(failure_.kind) != FailureScope::kWord) dots.push_back(PlainDotProducts(op).front());
    for (size_t done = 0; done < dots.size() && left_ > 0;) {
      Answers answers;
      const Batch rest = MakeDotProductBatch(op.shape(), {dots.begin() + done, dots.end()});
      RETURN_IF_ERROR(device_.Ask(op, rest, answers));
      for (const auto& [index, failure] : answers.failures) {
        if (Ends(failure.kind)) --left_;
        if (!failure.SameAs(failure_) || done + index >= model.size()) continue;
        said_ = failure;
        model[done + index] ^= bits;
      }
      done += answers.d.size();
    }
    d = std::move(model);
    return absl::OkStatus();
  }

  Device& device_;
  const InputFailure failure_;
  int64_t left_;
  InputFailure said_;
};

// Asks about it after two others, of which at least one must get an answer: then the failure does
// not hit everything.
absl::StatusOr<bool> FailsWhereOthersDoNot(Device& difference, const Operation& op,
                                           const Batch& dot) {
  std::vector<DotProductCase> dots = PlainDotProducts(op);
  dots.push_back(Extract(dot, 0));
  ASSIGN_OR_RETURN(const auto d, difference.Run(op, MakeDotProductBatch(op.shape(), dots)));
  const auto fails = [&](int i) { return d[i] != Simulate(op.model, dots[i]); };
  return fails(2) && !(fails(0) && fails(1));
}

}  // namespace

absl::StatusOr<Investigation> InvestigateFailure(Device& device, const Mismatch& mismatch,
                                                 int64_t most) {
  const Operation& op = *mismatch.op;
  const InputFailure& failure = *mismatch.failure;
  Investigation result;
  result.bucket = Bucket::NoWord(failure);
  KeptCase found = {mismatch, result.bucket, failure.text, CaseRole::kMinimal};
  found.mismatch.inputs.stream.clear();
  found.mismatch.age = failure.age;
  if (failure.age > 0) {
    result.cases = {std::move(found)};
    return result;
  }
  FailureAsDifference difference(device, failure, most);
  Runner runner(difference, op, most == 0 ? kMaxExecutions : most,
                most == 0 ? kMaxSlowExecutions : most);
  // A failure that ends a process was observed alone, in a fresh process that answers others.
  for (int i = 0; i < kTries && !Ends(failure.kind); ++i) {
    ASSIGN_OR_RETURN(const bool fails, FailsWhereOthersDoNot(difference, op, mismatch.inputs));
    if (fails) continue;
    result.bucket.repetition = Repetition::kFlaky;
    return result;
  }
  const Target target(op, std::nullopt, {op.model});
  device.Hurry(true);
  absl::StatusOr<Mismatch> minimal = Shrink(runner, target, mismatch);
  device.Hurry(false);
  RETURN_IF_ERROR(minimal.status());
  if (failure.kind == FailureKind::kHang) {  // check again without hurry
    Answers answers;
    RETURN_IF_ERROR(device.Ask(op, minimal->inputs, answers));
    const auto failed = answers.failures.find(0);
    if (failed == answers.failures.end()) minimal->inputs = mismatch.inputs;
  }
  result.executions = runner.executions();
  result.spent = !runner.HasBudget() || difference.spent();
  if (SameWords(minimal->inputs, mismatch.inputs)) {
    result.cases = {std::move(found)};
    return result;
  }
  ASSIGN_OR_RETURN(const auto again, difference.Run(op, minimal->inputs));
  const DotProductCase dot = Extract(minimal->inputs, minimal->element);
  if (again[minimal->element] == Simulate(op.model, dot)) {  // it fails only among others
    result.cases = {std::move(found)};
    return result;
  }
  KeptCase smallest = found;
  smallest.mismatch.inputs = std::move(minimal->inputs);
  smallest.mismatch.inputs.stream.clear();
  smallest.mismatch.failure = difference.said();
  smallest.why = difference.said().text;
  Simulate(op.model, smallest.mismatch.inputs, smallest.mismatch.model);
  found.why = "as found, not minimized";
  found.role = CaseRole::kAsFound;
  result.cases = {std::move(smallest), std::move(found)};
  return result;
}

}  // namespace mmadiff
