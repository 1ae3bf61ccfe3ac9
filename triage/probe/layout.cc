#include "triage/probe/layout.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/clock.h"
#include "device/one_hot.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"
#include "triage/model_device.h"
#include "triage/probe/pairing.h"

namespace mmadiff {
absl::StatusOr<bool> AskShapes(const Device& device, const Operation& op, int64_t alone,
                               int64_t whole, absl::FunctionRef<absl::Status(const Shape&)> ask) {
  if (device.IsSlow() && op.shape() != DotProductShape(op.shape())) {
    const absl::Duration begun = MonotonicNow();
    RETURN_IF_ERROR(ask(DotProductShape(op.shape())));
    const double seconds = absl::ToDoubleSeconds(MonotonicNow() - begun);
    const double each = seconds / static_cast<double>(alone);
    if (each * static_cast<double>(whole) > kMaxSlowSeconds) return false;
  }
  RETURN_IF_ERROR(ask(op.shape()));
  return true;
}

namespace {

// Whether whole executions were run, or an error, kFailedPrecondition if the layout is wrong.
absl::StatusOr<bool> AskWith(Device& device, const Operation& op, LayoutCode code) {
  const Shape one = DotProductShape(op.shape());
  const auto ask = [&](const Shape& s) {
    absl::Status said;
    return Repeated([&] {
      if (!said.ok() && !device.Supports(op).ok()) return said;  // the device itself asked again
      return said = s == op.shape() ? ProbeLayout(device, op, code)
                                    : ProbeDotProduct(device, op, code);
    });
  };
  return AskShapes(device, op, LayoutDotProducts(op, one), LayoutDotProducts(op, op.shape()), ask);
}

}  // namespace

bool LosesBitsOfWords(const Operation& op) {
  if (!IsModelled(op)) return false;
  ModelDevice model(op.model);
  return !ProbeDotProduct(model, op).ok();
}

absl::StatusOr<ProbeAnswer> AskLayout(Device& device, const Operation& op,
                                      const Question& question) {
  const bool narrow = LosesBitsOfWords(op);
  const LayoutCode code = narrow ? LayoutCode::kOnes : LayoutCode::kWords;
  const auto asked = AskWith(device, op, code);
  // If the device found the error first, it has disabled the instruction.
  const bool wrong = absl::IsFailedPrecondition(asked.status()) || !device.Supports(op).ok();
  if (!asked.ok() && !wrong) return asked.status();
  ProbeAnswer answer = {.question = &question, .decides = "agrees"};
  Pairing pairing;
  if (asked.ok()) {
    answer.scope = *asked ? Scope::kWholeExecutions : Scope::kDotProducts;
    answer.answer = absl::StrCat("as the tables say", *asked ? "" : ", for dot products alone",
                                 narrow ? ", for zeros and ones" : "");
    if (!IsSparse(op.model)) return answer;
    ASSIGN_OR_RETURN(pairing, AskPairing(device, op));
    if (pairing.IsOwn()) {
      if (pairing.metadata.size() < LegalMetadata(op.model.sparse_group).size())
        absl::StrAppend(&answer.answer, ", for one metadata word of each group");
      return answer;
    }
    answer.answer = pairing.Text();
    if (answer.answer.empty()) answer.answer = "products of ones do not show which k meet";
    answer.decides = "contradicts the tables: each k meets its own";
    answer.agreement = Agreement::kContradicts;
    return answer;
  }
  if (device.Supports(op).ok()) {
    const bool ones = AskWith(device, op, LayoutCode::kOnes).ok();
    bool lost = false;  // perhaps a number that the accumulator is too narrow for
    if (!ones || IsSparse(op.model)) {
      ASSIGN_OR_RETURN(pairing, AskPairing(device, op));
      lost = narrow && pairing.IsLost();
    }
    if (!lost) answer.answer = pairing.Text();
    // A program answers dot products one by one, so that nothing else can be misplaced.
    if ((ones || device.SupportsAny()) && answer.answer.empty()) {
      answer.answer = ones                       ? "as the tables say, for zeros and ones"
                      : !lost && pairing.IsOwn() ? "each k meets its own"
                      : IsAbsent(op.model.b)
                          ? "not known: 1 does not become 1"
                          : "not known: products of ones do not show which k meet";
      answer.decides = "other numbers give other results: see `decoding` and `model`";
      answer.agreement = Agreement::kOpen;
      return answer;
    }
  }
  if (answer.answer.empty()) answer.answer = "not as the tables say";
  answer.decides = std::string(asked.status().message());
  answer.agreement = Agreement::kContradicts;
  return answer;
}

}  // namespace mmadiff
