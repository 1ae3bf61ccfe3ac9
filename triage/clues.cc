#include "triage/clues.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "triage/infer/inference_text.h"
#include "triage/probe/decoding.h"
#include "triage/probe/layout.h"
#include "triage/probe/probe.h"

namespace mmadiff {
namespace {

constexpr int64_t kInferBudget = 30000, kInferValidation = 30000;  // dot products

// Questions whose vectors show more than the decoding of single words.
constexpr const char* kVectorQuestions[] = {"low_bits", "special_addends", "scales"};

// Until it is destroyed, the device is to stop at the limit.
class StopAt {
 public:
  StopAt(Device& device, const TimeLimit& limit) : device_(device), before_(device.stop()) {
    device.StopWhen([before = before_, limit] { return (before && before()) || limit.Reached(); });
  }
  ~StopAt() { device_.StopWhen(std::move(before_)); }
  StopAt(const StopAt&) = delete;

 private:
  Device& device_;
  std::function<bool()> before_;
};

// The operation's model with the rules by which operands are read.
Algorithm WithRules(const Operation& op, const Decoding& decoding) {
  Algorithm algorithm = op.model.algorithm;
  if (!decoding.changes.empty()) return WithChanges(algorithm, {decoding.changes.data(), 1});
  for (const OperandDecoding& o : decoding.operands) {
    if (!o.rules.empty()) algorithm = WithChanges(algorithm, {o.rules.data(), 1});
  }
  return algorithm;
}

std::string HowMany(const Operation& op, const Algorithm& algorithm,
                    std::span<const Observed> observed) {
  const auto given = std::ranges::count_if(
      observed, [&](const Observed& o) { return Fits(op, WithAlgorithm(op, algorithm), o); });
  if (given == std::ssize(observed))
    return absl::StrCat("with this the model reproduces all ", given, " answers");
  return absl::StrCat("with this the model reproduces ", given, " of ", observed.size(),
                      " answers");
}

class Clues {
 public:
  Clues(Device& device, const Operation& op, std::span<const Observed> observed)
      : device_(device), op_(op), observed_(observed) {}

  absl::Status AskAll() {
    RETURN_IF_ERROR(AskPlaces());
    RETURN_IF_ERROR(Decode());
    for (const char* id : kVectorQuestions) {
      if (named_) break;
      RETURN_IF_ERROR(AskVectors(*FindQuestion(id)));
    }
    return Structure();
  }

  std::vector<Clue>& list() { return clues_; }

 private:
  void Add(absl::string_view question, const std::string& found) {
    clues_.push_back({std::string(question), found.empty() ? Clue::kNothing : Clue::kFound, found});
  }

  absl::Status Decode() {
    ASSIGN_OR_RETURN(const Decoding decoding, AskDecoding(device_, op_, op_));
    std::string text = decoding.AsTheModel() ? "" : decoding.Text();
    const Algorithm read = WithRules(op_, decoding);
    if (!(read == op_.model.algorithm)) {
      absl::StrAppend(&text, "; ", HowMany(op_, read, observed_));
    }
    named_ |= !decoding.result.empty() || (!(read == op_.model.algorithm) &&
                                           Explains(op_, WithAlgorithm(op_, read), observed_));
    Add("decoding", text);
    return absl::OkStatus();
  }

  absl::Status AskPlaces() {
    const Question& layout = *FindQuestion("layout");
    ASSIGN_OR_RETURN(const ProbeAnswer answer, AskLayout(device_, op_, layout));
    named_ = answer.agreement == Agreement::kContradicts;
    Add(layout.id, named_ ? answer.answer : "");
    return absl::OkStatus();
  }

  absl::Status AskVectors(const Question& question) {
    if (!Applies(question, op_)) return absl::OkStatus();
    const Question* const one[] = {&question};
    ASSIGN_OR_RETURN(const OperationAnswers all, ProbeOperation(device_, op_, one));
    for (const ProbeAnswer& a : all.answers) {
      Add(question.id, a.agreement == Agreement::kContradicts ? a.answer : "");
    }
    return absl::OkStatus();
  }

  // A device that reads operands otherwise has answers that say nothing about its sums.
  absl::Status Structure() {
    if (named_ || device_.IsSlow()) {
      clues_.push_back({"infer", Clue::kNotAsked,
                        named_ ? "the fault that was found comes first" : "the device is slow"});
      return absl::OkStatus();
    }
    const Inference inference =
        Infer(device_, op_, {.budget = kInferBudget, .validation = kInferValidation});
    Add("infer", InferenceClue(op_, inference));
    return inference.status;
  }

  Device& device_;
  const Operation& op_;
  const std::span<const Observed> observed_;
  std::vector<Clue> clues_;
  bool named_ = false;  // a fault before the sum
};

}  // namespace

absl::StatusOr<std::vector<Clue>> AskForClues(Device& device, const Operation& op,
                                              std::span<const Observed> observed,
                                              absl::Duration most) {
  const StopAt stop(device, TimeLimit::After(most));
  Clues clues(device, op, observed);
  const absl::Status status = clues.AskAll();
  if (absl::IsCancelled(status)) {
    const bool begun = !clues.list().empty();
    clues.list().push_back({begun ? "infer" : "decoding", Clue::kNotAsked, "it takes longer"});
  } else if (!status.ok()) {
    return status;
  }
  return std::move(clues.list());
}

}  // namespace mmadiff
