#include "triage/clues.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "triage/infer/inference_text.h"
#include "triage/probe/decoding.h"
#include "triage/probe/decoding_text.h"
#include "triage/probe/layout.h"
#include "triage/probe/probe.h"

namespace mmadiff {
namespace {

constexpr int64_t kInferBudget = 30000, kInferValidation = 30000;  // dot products

// Questions whose vectors show more than the decoding of single words.
constexpr const char* kVectorQuestions[] = {"selection", "low_bits", "special_addends", "scales",
                                            "payloads"};

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

  std::vector<Clue> AskAll() {
    Ask("layout", [&] { return Places(); });
    Ask("decoding", [&] { return Readings(); });
    for (const char* id : kVectorQuestions) {
      const Question& question = *FindQuestion(id);
      if (!FoundAny() && Applies(question, op_)) Ask(id, [&] { return Vectors(question); });
    }
    // A device that reads operands differently has answers that say nothing about its sums.
    if (named_ || device_.IsSlow()) {
      Add("infer", Clue::kNotAsked,
          named_ ? "the fault that was found comes first" : "the device is slow");
    } else {
      Structure();
    }
    return std::move(clues_);
  }

 private:
  bool FoundAny() const { return std::ranges::count(clues_, Clue::kFound, &Clue::kind) > 0; }

  void Add(absl::string_view question, Clue::Kind kind, absl::string_view text = "") {
    clues_.push_back({std::string(question), kind, std::string(text)});
  }

  void AddFailure(absl::string_view question, const absl::Status& status) {
    Add(question, Clue::kNotAsked,
        absl::IsCancelled(status) ? "it takes longer" : status.message());
  }

  // `found` gives a difference from the model, or "".
  void Ask(absl::string_view question, absl::FunctionRef<absl::StatusOr<std::string>()> found) {
    const absl::StatusOr<std::string> text =
        device_.StopRequested() ? absl::CancelledError("") : found();
    if (!text.ok()) return AddFailure(question, text.status());
    Add(question, text->empty() ? Clue::kNothing : Clue::kFound, *text);
  }

  absl::StatusOr<std::string> Places() {
    ASSIGN_OR_RETURN(const ProbeAnswer answer, AskLayout(device_, op_, *FindQuestion("layout")));
    named_ = answer.agreement == Agreement::kContradicts;
    if (answer.agreement == Agreement::kAgrees) return "";
    return named_ ? answer.answer
                  : absl::StrCat(answer.answer, "; other numbers give other results");
  }

  absl::StatusOr<std::string> Readings() {
    if (LosesBitsOfWords(op_)) return "";
    ASSIGN_OR_RETURN(const Decoding decoding, AskDecoding(device_, op_, op_));
    if (decoding.AsTheModel()) return "";
    named_ |= !decoding.result.empty();
    const Algorithm read = WithRules(op_, decoding);
    if (read == op_.model.algorithm) return DecodingText(decoding);
    named_ |= Explains(op_, WithAlgorithm(op_, read), observed_);
    return absl::StrCat(DecodingText(decoding), "; ", HowMany(op_, read, observed_));
  }

  absl::StatusOr<std::string> Vectors(const Question& question) {
    const Question* const one[] = {&question};
    ASSIGN_OR_RETURN(const OperationAnswers all, ProbeOperation(device_, op_, one));
    const bool found =
        !all.answers.empty() && all.answers.front().agreement == Agreement::kContradicts;
    return found ? all.answers.front().answer : "";
  }

  // A difference that was found before an error is kept.
  void Structure() {
    const Inference inference =
        Infer(device_, op_, {.budget = kInferBudget, .validation = kInferValidation});
    const std::string text = InferenceClue(op_, inference);
    if (!text.empty()) Add("infer", Clue::kFound, text);
    if (!inference.status.ok()) return AddFailure("infer", inference.status);
    if (text.empty()) Add("infer", Clue::kNothing);
  }

  Device& device_;
  const Operation& op_;
  const std::span<const Observed> observed_;
  std::vector<Clue> clues_;
  bool named_ = false;  // a fault before the sum
};

}  // namespace

std::vector<Clue> AskForClues(Device& device, const Operation& op,
                              std::span<const Observed> observed, absl::Duration most) {
  const StopAt stop(device, TimeLimit::After(most));
  return Clues(device, op, observed).AskAll();
}

}  // namespace mmadiff
