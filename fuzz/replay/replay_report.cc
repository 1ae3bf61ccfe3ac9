#include "fuzz/replay/replay_report.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "fuzz/output/case_json.h"
#include "triage/case_text.h"

namespace mmadiff {

ReplayReport ReportCase(const ReportedCase& c, absl::string_view lines, const TextStyle& style) {
  const std::string title = c.title.empty() ? absl::StrCat(c.where, "  ", c.device) : c.title;
  std::optional<uint64_t> d;
  if (!c.failure) d = c.d;
  ReplayReport report = {absl::StrCat(Wrap(absl::StrCat(absl::AsciiStrToUpper(c.kind), " ",
                                                        c.op.name, "  ", title, "\n"),
                                           style.width, 2),
                                      CaseText(c.op, c.dot, 2, style.width), lines),
                         {{"kind", c.kind},
                          {"instruction", c.op.name},
                          {"where", c.where},
                          {"device", c.device},
                          {"dot_product", DotProductJson(*c.op.instruction, c.dot, d)}}};
  if (c.failure) report.json.update({{"failure", Name(*c.failure)}, {"said", c.failure->text}});
  return report;
}

ReplayReport ReportFlaky(const Operation& op, const Batch& inputs, const AskedAnswers& answers,
                         int64_t element, const std::string& where, const std::string& device,
                         const std::string& title, const TextStyle& style) {
  const Format& f = *op.instruction->d;
  const auto text = [&](const Answers& answers) {
    const auto failure = answers.FailureAt(element);
    return failure ? Describe(*failure) : HexWord(f, answers.d[element]);
  };
  const std::string model = HexWord(f, answers.comparison.model[element]);
  ReplayReport report =
      ReportCase({"flaky", op, Extract(inputs, element), answers.said.d[element], where, device,
                  title, answers.said.FailureAt(element)},
                 Wrap(absl::StrCat("  model      ", model, "\n  device     ", text(answers.said),
                                   ", then ", text(answers.again), "\n"),
                      style.width, 13),
                 style);
  report.json["model"] = model;
  if (!answers.again.FailureAt(element))
    report.json["again"] = HexWord(f, answers.again.d[element]);
  return report;
}

}  // namespace mmadiff
