#include "fuzz/replay_vectors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "device/line_protocol.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {

absl::Status VectorReplay::Compare(const Vector& v) {
  const std::vector<VectorCase> cases = CasesOf(v);
  for (auto first = cases.begin(); first != cases.end();) {
    const auto last = std::find_if(
        first, cases.end(), [first](const VectorCase& c) { return c.answer != first->answer; });
    if (absl::Status s = CompareAnswer(v, {first, last}); !s.ok()) return s;
    first = last;
  }
  return absl::OkStatus();
}

absl::Status VectorReplay::CompareAnswer(const Vector& v, std::span<const VectorCase> cases) {
  const VectorAnswer& answer = *cases.front().answer;
  const bool contested = answer.kind == AnswerKind::kContested;
  const std::string title =
      absl::StrCat(v.name, "  ", Name(answer.kind), " ", WordText(v, answer), " ", answer.patterns,
                   answer.who.empty() ? "" : " : ", answer.who);
  TestResult result = {title, ""};
  uint64_t done = 0, wrong = 0;
  std::string given;  // in place of a contested answer
  for (const VectorCase& c : cases) {
    if (device_ != nullptr && device_->Lacks(*c.op)) {
      ++unsupported_;
      continue;
    }
    const auto answered = AnswerTo(title, c);
    if (!answered.ok()) return answered.status();
    if (!answered->has_value()) continue;
    const uint64_t d = **answered;
    ++done;
    if (given.empty()) given = absl::StrCat(HexWord(*v.d, d), " ", c.op->name);
    const bool right = contested && device_ != nullptr ? Gives(*c.op, c.op->model, c.dot, d)
                                                       : Is(answer, *c.op, d) != contested;
    if (right) continue;
    ++wrong;
    const std::string text = Mismatch(title, v, c, d);
    mismatches_.Add(text);
    absl::StrAppend(&result.failure, text);
  }
  if (done == 0) return absl::OkStatus();
  by_kind_[static_cast<int>(answer.kind)] += done;
  compared_ += contested && device_ == nullptr ? wrong : done;
  differing_ += wrong;
  test_results_.push_back(std::move(result));
  if (contested && wrong == 0) {
    report_(absl::StrCat("CONTESTED ", title, "\n  given     ", given, "\n  reason    ", v.reason,
                         "\n"));
  } else if (verbose_) {
    report_(absl::StrCat(wrong == 0 ? "agrees    " : "differs   ", title, "\n"));
  }
  return absl::OkStatus();
}

// Of the device, or of the model when there is none.
absl::StatusOr<std::optional<uint64_t>> VectorReplay::AnswerTo(const std::string& title,
                                                               const VectorCase& c) {
  if (device_ == nullptr) return Simulate(c.op->model, c.dot);
  const Batch inputs = MakeDotProductBatch(c.op->shape(), {c.dot});
  const auto answers = device_->Ask(*c.op, inputs);
  if (!answers.ok()) return answers.status();
  if (!answers->has_value()) return std::nullopt;
  if ((*answers)->flaky.empty()) return (*answers)->d.front();
  mismatches_.Add(DescribeFlaky(*c.op, inputs, **answers, 0, title));
  return std::nullopt;
}

std::string VectorReplay::Mismatch(const std::string& title, const Vector& v, const VectorCase& c,
                                   uint64_t given) const {
  const std::string head = absl::StrCat("MISMATCH ", c.op->name, "  ", title, "\n");
  const bool model = device_ == nullptr, contested = c.answer->kind == AnswerKind::kContested;
  if (model && contested) {
    return absl::StrCat(head, "  no longer differs: remove or regrade it\n");
  }
  const std::string operands =
      Labelled("  operands   ", FormatLine(*c.op->instruction, c.dot), style_.width);
  if (contested) {
    return absl::StrCat(head, operands,
                        DescribeDifference(*v.d, Simulate(c.op->model, c.dot), given, style_));
  }
  const std::string lines =
      DescribeDifference(*v.d, model ? given : c.answer->d, model ? c.answer->d : given, style_);
  return absl::StrCat(head, operands,
                      absl::StrReplaceAll(lines, {{model ? "device  " : "model   ", "answer  "}}));
}

}  // namespace mmadiff
