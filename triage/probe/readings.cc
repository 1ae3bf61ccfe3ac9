#include "triage/probe/readings.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "triage/probe/candidates.h"
#include "triage/probe/twice.h"

namespace mmadiff {

absl::StatusOr<ProbeAnswer> AskReadings(Device& device, const Operation& op,
                                        const Question& question) {
  const std::vector<VectorDot> all = VectorDotsOf(question, op);
  std::vector<DotProductCase> dots;
  for (const VectorDot& asked : all) dots.push_back(asked.dot);
  ASSIGN_OR_RETURN(const auto d, RunTwice(device, op, MakeDotProductBatch(op.shape(), dots)));
  ProbeAnswer answer = {.question = &question, .decides = "agrees", .cases = dots.size()};
  std::vector<std::string> texts;
  for (size_t i = 0; i < all.size(); ++i) {
    const Vector& v = *all[i].vector;
    const Observed observed = {dots[i], d[i]};
    const std::string* const reading = ReadingOf(v, observed.d);
    const std::string name = v.name.substr(v.name.find('/') + 1);
    const std::string word = HexWord(*v.d, observed.d);
    answer.facts.push_back(absl::StrCat(name, ": ", reading != nullptr ? *reading : word));
    texts.push_back(
        absl::StrCat(name, ": ", reading != nullptr ? *reading : "a different word, " + word));
    answer.observed.push_back(observed);
    if (!IsModelled(op) || Fits(op, op.model, observed)) continue;
    answer.agreement = Agreement::kContradicts;
    answer.refuting = observed;
    answer.decides =
        absl::StrCat("contradicts the table: ", FormatLine(*op.instruction, dots[i], observed.d));
  }
  answer.answer = absl::StrJoin(texts, "; ");
  if (!IsModelled(op)) {
    answer.agreement = Agreement::kOpen;
    answer.decides = "the tables have no model";
  }
  return answer;
}

}  // namespace mmadiff
