#include "fuzz/replay_report.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "fuzz/case_json.h"
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

}  // namespace mmadiff
