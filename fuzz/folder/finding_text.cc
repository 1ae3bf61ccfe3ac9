#include "fuzz/folder/finding_text.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "corpus/cases/case_name.h"
#include "fuzz/output/next_command.h"
#include "triage/case_text.h"
#include "triage/probe/questions.h"

namespace mmadiff {
namespace {

// A line that names the one other element for which the model gives the device's word; "" unless
// there is exactly one.
std::string DescribePlace(const Mismatch& minimal) {
  const int64_t element = minimal.element;
  std::string line;
  int others = 0;
  for (size_t i = 0; i < minimal.model.size(); ++i) {
    if (static_cast<int64_t>(i) == element || minimal.model[i] != minimal.device[element]) continue;
    const Position p = PositionOf(minimal.inputs.shape, static_cast<int64_t>(i));
    line = absl::StrCat("  place      the device gives the model's word for block ", p.block,
                        " row ", p.i, " column ", p.j, "\n");
    ++others;
  }
  return others == 1 ? line : "";
}

// The command that repeats the search with ten times the executions and files cases next to the
// existing ones.
std::string LongerSearch(const Finding& finding) {
  const std::filesystem::path arch = std::filesystem::path(finding.path).parent_path();
  return absl::StrCat(Program(), " minimize ", ShellWord(finding.case_name),
                      " --device=", ShellWord(finding.device),
                      " --workdir=", ShellWord(arch.parent_path().string()),
                      " --max_calls=", finding.spent * 10);
}

const char* TitleOf(Repetition repetition) {
  constexpr const char* kTitles[kRepetitions] = {"MISMATCH", "FLAKY", "UNCONFIRMED", "MISMATCH"};
  return kTitles[static_cast<int>(repetition)];
}

}  // namespace

std::vector<std::string> NamesOf(const std::vector<Bucket>& buckets) {
  std::vector<std::string> names;
  for (const Bucket& bucket : buckets) names.push_back(Name(bucket));
  return names;
}

std::vector<std::string> ClueLines(const std::vector<Clue>& clues) {
  std::vector<std::string> lines, nothing;
  for (const Clue& clue : clues) {
    if (clue.kind == Clue::kFound) lines.push_back(absl::StrCat(clue.question, ": ", clue.text));
    if (clue.kind == Clue::kNothing) nothing.push_back(clue.question);
  }
  if (!nothing.empty()) {
    lines.push_back(absl::StrCat(absl::StrJoin(nothing, ", "), ": no difference found"));
  }
  return lines;
}

std::vector<std::string> CommandsFor(const Finding& finding) {
  std::vector<std::string> questions, verbs, commands;
  for (const Clue& clue : finding.clues) {
    if (clue.kind == Clue::kNotAsked && FindQuestion(clue.question) != nullptr)
      questions.push_back(clue.question);
    else if (clue.kind == Clue::kNotAsked)
      verbs.push_back(clue.question);
  }
  if (!questions.empty()) {
    verbs.insert(verbs.begin(), absl::StrCat("probe --question=", absl::StrJoin(questions, ",")));
  }
  for (const std::string& verb : verbs) {
    commands.push_back(absl::StrCat(Program(), " ", verb, " --device=", ShellWord(finding.device),
                                    " --instr=", ShellWord(finding.op)));
  }
  return commands;
}

std::string AskAgainFlag(const Finding& finding) {
  return finding.flaky() ? absl::StrCat(" --device=", ShellWord(finding.device)) : "";
}

std::string FiledText(const Finding& finding, size_t width) {
  const size_t beside = finding.beside.size();
  if (finding.path.size() + 1 > width) {
    const std::string folder = std::filesystem::path(finding.path).parent_path().string();
    return absl::StrCat(folder, ", ", beside + 1, beside == 0 ? " case" : " cases");
  }
  return absl::StrCat(
      finding.path, beside == 0
                        ? ""
                        : absl::StrCat(" and ", beside, beside == 1 ? " more case" : " more cases",
                                       " of this finding"));
}

std::string DescribeFinding(std::span<const KeptCase> cases, const Finding& finding,
                            const TextStyle& style) {
  const Mismatch& minimal = cases.front().mismatch;
  const Operation& op = *minimal.op;
  const int64_t element = minimal.element;
  const Position p = PositionOf(minimal.inputs.shape, element);
  const bool alone = minimal.inputs.shape == DotProductShape(op.shape());
  std::string text = absl::StrCat(TitleOf(finding.bucket.repetition), " ", op.name, "\n");
  const auto add = [&](const char* label, absl::string_view words) {
    text += Labelled(absl::StrFormat("  %-11s", label), words, style.width);
  };
  add("bucket", ShownName(finding.bucket, finding.reason));
  if (!finding.reason.empty()) add("reason", finding.reason);
  add(LooksLikeCaseName(finding.case_name) ? "first case" : "input", finding.case_name);
  // A flaky case cannot be minimized; the file has its operands.
  const bool minimized = finding.bucket.Repeats() || finding.bucket.repetition == Repetition::kAged;
  const std::string place =
      alone ? "one dot product"
            : absl::StrCat("at block ", p.block, ", row ", p.i, ", column ", p.j, " of its tile",
                           minimized ? "" : ", not minimized");
  const bool cut = finding.spent > 0;  // a longer search may find a smaller case
  add(!minimized      ? "as found"
      : cut || !alone ? "smallest"
                      : "minimal",
      minimized && cut      ? absl::StrCat(place, ", found with ", finding.spent, " executions")
      : minimized && !alone ? absl::StrCat("found ", place)
                            : place);
  if (minimized) text += CaseText(op, Extract(minimal.inputs, element), 13, style.width);
  if (minimized && !alone) {
    const std::string others = OtherOperandsText(op, minimal.inputs, element);
    add("elsewhere", others.empty()
                         ? "only at this row and column of the tile; all other operands "
                           "are +0"
                         : absl::StrCat("not reproduced by this dot product alone; other "
                                        "operands of the tile: ",
                                        others));
  }
  text += DescribeResult(minimal, element, style);
  if (!alone) absl::StrAppend(&text, DescribePlace(minimal));
  const size_t room = style.width - std::min<size_t>(style.width, 2);
  const auto typical = std::ranges::find(cases, CaseRole::kTypical, &KeptCase::role);
  if (typical != cases.end()) {
    add("typical", absl::StrCat("ordinary numbers also give different results: ",
                                ResultText(typical->mismatch)));
    if (!finding.typical.empty()) {
      text += CommandLine("             stage by stage: ",
                          CaseCommand("explain", finding.typical, room), style.width);
    }
  }
  const bool diagnosed = !OnlyReasonExplains(finding.bucket, finding.reason);
  if (diagnosed && !finding.diagnosis.empty()) add("diagnosis", finding.diagnosis);
  for (const std::string& line : ClueLines(finding.clues)) add("asked", line);
  for (const std::string& command : CommandsFor(finding)) {
    text += CommandLine("  not asked  ", command, style.width);
  }
  if (!finding.shared.empty()) add("shared", finding.shared);
  if (!finding.replaces.empty()) {
    add("replaces", absl::StrJoin(NamesOf(finding.replaces), ", ") +
                        ", refuted by later answers; their files were removed");
  }
  if (finding.path.empty()) return text;
  add("filed", FiledText(finding, style.width - std::min<size_t>(style.width, 13)));
  text += CommandLine("  reproduce  ",
                      absl::StrCat(CaseCommand("replay", finding.path, room),
                                   " --device=", ShellWord(finding.device)),
                      style.width);
  if (finding.flaky()) return text;
  if (finding.spent > 0) text += CommandLine("  continue   ", LongerSearch(finding), style.width);
  return text +
         CommandLine("  explain    ", CaseCommand("explain", finding.path, room), style.width);
}

}  // namespace mmadiff
