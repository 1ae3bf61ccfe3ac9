#include "triage/mismatch.h"

#include "absl/strings/str_cat.h"
#include "triage/number_text.h"
#include "triage/verdict.h"

namespace mmadiff {

std::vector<Observed> ObservedResults(const Mismatch& mismatch) {
  std::vector<Observed> observed;
  if (mismatch.device.empty()) return observed;
  for (int64_t i = 0; i < mismatch.inputs.dot_products(); ++i) {
    observed.push_back({Extract(mismatch.inputs, i), mismatch.device[i]});
  }
  return observed;
}

std::string ResultText(const Mismatch& m) {
  const Format& d = *m.op->instruction->d;
  const uint64_t model = m.model[m.element], device = m.device[m.element];
  return absl::StrCat("model ", NumberText(d, model), ", device ", NumberText(d, device),
                      HowFar(d, model, device));
}

std::string DescribeResult(const Mismatch& m, int64_t element, const TextStyle& style) {
  const Format& d = *m.op->instruction->d;
  if (m.failure) return DescribeFailure(d, m.model[element], *m.failure, style);
  const std::string text = DescribeDifference(d, m.model[element], m.device[element], style);
  if (m.age == 0) return text;
  return text +
         Labelled("age     ",
                  absl::StrCat("after ", m.age,
                               " answers from one process; a fresh process answers like the model"),
                  style.width);
}

}  // namespace mmadiff
