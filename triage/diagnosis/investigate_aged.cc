#include "triage/diagnosis/investigate_aged.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "device/isolate.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr uint64_t kAtOnce = 256;  // dot products per batch for a kept process
constexpr uint64_t kCheap = 2000;  // ages below this are tried more than once

// Asks a fresh process about the same dot product until `enough` returns true for an answer, or
// until the process is `most_age` old. `behind`: then asks about a different dot product, because
// the process may end only after its answer.
absl::Status AskWhileItAges(Device& device, const Operation& op, const DotProductCase& dot,
                            uint64_t most_age, bool behind,
                            absl::FunctionRef<bool(uint64_t age, const Answers&, int64_t)> enough) {
  device.Restart();
  const uint64_t at_once = device.StartsAnew() ? most_age + 1 : kAtOnce;
  for (uint64_t age = 0; age <= most_age;) {
    if (device.StopRequested()) return absl::CancelledError("stopped");
    std::vector<DotProductCase> same(std::min(at_once, most_age + 1 - age), dot);
    if (behind && age + same.size() > most_age) same.push_back(PlainDotProducts(op).front());
    Answers answers;
    RETURN_IF_ERROR(device.Ask(op, MakeDotProductBatch(op.shape(), same), answers));
    for (int64_t i = 0; i < answers.size() && age + i <= most_age; ++i) {
      if (enough(age + i, answers, i)) return absl::OkStatus();
    }
    age += answers.size();
  }
  return absl::OkStatus();
}

// The first age at which the device's word differs from the model's, and that word.
struct Aged {
  uint64_t age = 0, d = 0;
  friend bool operator==(const Aged&, const Aged&) = default;
};
absl::StatusOr<std::optional<Aged>> FindAge(Device& device, const Operation& op,
                                            const DotProductCase& dot, uint64_t most_age) {
  const uint64_t model = Simulate(op.model, dot);
  std::optional<Aged> aged;
  const absl::Status s = AskWhileItAges(device, op, dot, most_age, false,
                                        [&](uint64_t age, const Answers& answers, int64_t i) {
                                          if (answers.failures.contains(i)) return true;
                                          if (!SameResult(op, model, answers.d[i]))
                                            aged = {age, answers.d[i]};
                                          return aged.has_value();
                                        });
  RETURN_IF_ERROR(s);
  return aged;
}

// Whether the age is the same in more fresh processes. A fault that counts across processes is not
// a fault of age.
absl::StatusOr<bool> Repeats(Device& device, const Operation& op, const DotProductCase& dot,
                             const Aged& aged) {
  for (int i = 0; i < (aged.age < kCheap ? 3 : 1); ++i) {
    ASSIGN_OR_RETURN(const auto again, FindAge(device, op, dot, aged.age));
    if (again != aged) return false;
  }
  return true;
}

Mismatch MismatchOf(const Operation& op, const DotProductCase& dot, uint64_t d) {
  return {&op, MakeDotProductBatch(op.shape(), {dot}), 0, {d}, {Simulate(op.model, dot)}};
}

KeptCase CaseOf(const Operation& op, const DotProductCase& dot, const Aged& aged,
                const Bucket& bucket) {
  Mismatch m = MismatchOf(op, dot, aged.d);
  m.age = aged.age;
  return {std::move(m), bucket, "", CaseRole::kMinimal};
}

}  // namespace

absl::StatusOr<Answers> AskAtAge(Device& device, const Operation& op, const DotProductCase& dot,
                                 uint64_t age) {
  Answers last;
  uint64_t most = 0;  // answers from one process, if each batch starts one
  if (!device.Restart()) age = 0;
  const absl::Status s =
      AskWhileItAges(device, op, dot, age, true, [&](uint64_t, const Answers& answers, int64_t i) {
        last = {};
        last.d = {answers.d[i]};
        most = std::max(most, answers.of_one_process);
        const auto failed = answers.failures.find(i);
        if (failed != answers.failures.end()) last.failures[0] = failed->second;
        return !last.failures.empty();
      });
  RETURN_IF_ERROR(s);
  if (device.StartsAnew() && most <= age && last.failures.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "the case needs ", age,
        " earlier answers from one process; this device's processes gave at most ", most));
  }
  return last;
}

absl::StatusOr<Investigation> InvestigateInProcess(Device& device, const Mismatch& mismatch,
                                                   const CaseStream& cases,
                                                   std::span<const Observed> known) {
  const Operation& op = *mismatch.op;
  const DotProductCase dot = Extract(mismatch.inputs, mismatch.element);
  const auto as_ever = [&] { return Investigate(device, mismatch, cases, known); };
  if (mismatch.most_age == 0 || !device.Restart()) return as_ever();
  const auto fresh = FindAge(device, op, dot, 0);
  if (absl::IsNotFound(fresh.status()) || (fresh.ok() && fresh->has_value())) return as_ever();
  RETURN_IF_ERROR(fresh.status());
  ASSIGN_OR_RETURN(const auto aged, FindAge(device, op, dot, mismatch.most_age));
  if (!aged) return as_ever();
  ASSIGN_OR_RETURN(const bool repeats, Repeats(device, op, dot, *aged));
  if (!repeats) return as_ever();
  Investigation found;
  found.bucket = BucketOf(op, std::vector<Observed>{{dot, aged->d}});
  std::optional<KeptCase> minimal;
  if (!device.StartsAnew()) {  // the process is old now and can try smaller cases
    ASSIGN_OR_RETURN(Investigation old, Investigate(device, MismatchOf(op, dot, aged->d), cases));
    if (old.bucket.Repeats() && !old.cases.empty()) {
      const DotProductCase smaller = Extract(old.cases.front().mismatch.inputs, 0);
      ASSIGN_OR_RETURN(const auto again, FindAge(device, op, smaller, aged->age));
      if (again) minimal = CaseOf(op, smaller, *again, old.bucket);
      found.bucket = old.bucket;
      found.diagnosis = std::move(old.diagnosis);
      found.refuted = old.refuted;
      found.left = old.left;
    }
    found.executions = old.executions;
    found.spent = old.spent;
  }
  found.bucket.repetition = Repetition::kAged;
  if (!minimal) minimal = CaseOf(op, dot, *aged, found.bucket);
  minimal->bucket = found.bucket;
  found.cases = {*std::move(minimal)};
  return found;
}

}  // namespace mmadiff
