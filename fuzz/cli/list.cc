// mmadiff list: prints the tables, one name per line.
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/list_items.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/cli/pager.h"
#include "fuzz/cli/typed_name.h"
#include "fuzz/folder/finding_life.h"
#include "sim/quoted_name.h"

namespace mmadiff {

Fields<FiledFinding> FieldsOf(const FiledFinding*) {
  using F = FiledFinding;
  return {
      {"state",
       [](const F& f) { return Name(f.state); },
       {.words = {std::begin(kFindingStates), std::end(kFindingStates)}}},
      {"instruction", &F::op, InstructionName()},
      {"bucket", &F::bucket},
      {"cases", &F::cases, {.least = 1}},
      {"path", &F::path},
  };
}

namespace {

constexpr char kFindings[] = "findings";
constexpr size_t kMaxInWords = 12;

struct ListFlags {
  std::string what = "instructions";
  std::vector<std::string> names;  // one glob, or folders of findings
  bool evidence = false;
};

// Continuation lines are indented to the second column, if the line has columns.
std::string Wrapped(absl::string_view text, size_t width) {
  constexpr size_t kMaxFirstColumn = 24;
  std::string wrapped;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t own = std::min(line.find_first_not_of(' '), line.size());
    const size_t second = line.find_first_not_of(' ', line.find("  ", own));
    const bool columns = line.find("  ", own) != line.npos && second - own <= kMaxFirstColumn;
    absl::StrAppend(&wrapped, Wrap(line, width, columns ? second - own : 4), "\n");
  }
  return wrapped;
}

void PrintEntries(const std::vector<Entry>& entries, const ListFlags& flags, bool lines,
                  size_t width) {
  const bool named =
      !flags.names.empty() && flags.names.front().find_first_of("*?[") == std::string::npos;
  std::vector<std::string> names;
  std::string text;
  if (named && entries.size() <= kMaxInWords && !flags.evidence) {
    for (const Entry& entry : entries) {
      if (!entry.words.empty()) absl::StrAppend(&text, entry.name, "\n  ", entry.words, "\n");
    }
    if (!text.empty()) return PrintPaged(Wrapped(absl::StripSuffix(text, "\n"), width));
  }
  for (const Entry& entry : entries) {
    names.push_back(entry.name);
    absl::StrAppend(&text, Wrapped(PlainText(entry.line), width));
  }
  PrintPaged(lines || flags.evidence ? text : InColumns(names));
}

// The folders of findings of all runs without --workdir.
std::vector<std::string> FoldersOfAllFindings() {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& run : std::filesystem::directory_iterator("mmadiff-runs", error)) {
    const std::filesystem::path findings = run.path() / "findings";
    if (std::filesystem::is_directory(findings, error)) folders.push_back(findings.string());
  }
  return folders;
}

void ListFiledFindings(const ListFlags& flags, Call& call) {
  std::vector<std::string> damaged;
  const absl::StatusOr<std::vector<FiledFinding>> findings = ListFindings(
      flags.names.empty() ? FoldersOfAllFindings() : flags.names, damaged, call.ledger());
  if (absl::IsNotFound(findings.status())) {
    return call.Say(Verdict::kUsage, std::string(findings.status().message()));
  }
  if (!findings.ok()) return call.Say(findings.status());
  for (const std::string& what : damaged) call.Say(Verdict::kHarmed, what);
  if (call.globals.json) return call.PrintJson(*findings);
  std::string text;
  for (const FiledFinding& f : *findings) {
    absl::StrAppendFormat(&text, "%-9s  %s  %s  cases filed: %d\n", Name(f.state), f.op, f.shown,
                          f.cases);
    absl::StrAppend(&text, "  ", f.path, "\n");
  }
  PrintPaged(Wrap(PlainText(text), call.console.style().width, 4));
  if (!findings->empty()) return;
  call.console.Warn(
      flags.names.empty()
          ? "no findings in the folders of mmadiff-runs; for other folders: list findings FOLDER"
          : absl::StrCat("no findings in ", absl::StrJoin(flags.names, ", ")));
}

// Leaves out instructions that cannot be simulated.
Filtered<Entry> Usable(std::vector<Entry> entries) {
  Filtered<Entry> usable(Thing::kOperation);
  for (Entry& entry : entries) {
    const std::string name = entry.name;
    if (entry.usable) {
      usable.Keep(std::move(entry), name);
    } else {
      const bool formats = FindUnmodelled(name) != nullptr;
      usable.Leave(formats ? Reason::kNoModel : Reason::kNoFormats, name, false,
                   "--evidence lists them too");
    }
  }
  return usable;
}

void RunList(const ListFlags& flags, Call& call) {
  if (flags.what == kFindings) return ListFiledFindings(flags, call);
  if (flags.names.size() > 1) {
    return call.Say(Verdict::kUsage,
                    absl::StrCat("list ", flags.what, " takes one glob, in quotes: 'x86/*'"));
  }
  const bool instructions = flags.what == Lists().front().name;
  const bool own = instructions && !ReadOperations().empty();
  std::string wanted = !flags.names.empty() ? flags.names.front() : own ? "own/*" : "*";
  std::vector<std::string> meant;  // all names, if a typed name has several meanings
  if (instructions) meant = QuotedOperations(wanted);
  if (meant.size() < 2) {
    const absl::StatusOr<std::string> typed = instructions ? TypedGlob(wanted) : wanted;
    if (!typed.ok()) return call.Say(typed.status());
    wanted = ResolveAlias(*typed);
    meant = {wanted};
  }
  const List& list = *std::ranges::find(Lists(), flags.what, &List::name);
  std::vector<Entry> entries = list.make();
  std::erase_if(entries, [&](const Entry& entry) {
    return std::ranges::none_of(meant, [&](const std::string& glob) {
      return fnmatch(glob.c_str(), entry.name.c_str(), 0) == 0;
    });
  });
  for (const std::string& name : meant) {
    const Operation* op = instructions ? FindOperation(name) : nullptr;
    if (op != nullptr && std::ranges::count(entries, name, &Entry::name) == 0)
      entries.push_back(EntryOf(*op));  // the instruction has a different size
  }
  if (entries.empty()) {
    return call.Say(Verdict::kUsage, instructions
                                         ? std::string(OneOperation(wanted).status().message())
                                         : absl::StrCat("no ", flags.what, " '", wanted, "'"));
  }
  if (flags.names.empty() && !flags.evidence) {
    std::erase_if(entries, [](const Entry& entry) { return !entry.usable; });
  } else if (!flags.evidence) {
    entries = call.ledger().Keep(Usable(std::move(entries)));
    for (const Entry& entry : entries) call.ledger().Compare(Thing::kOperation, entry.name);
  }
  if (entries.empty()) return;  // the ledger has the reason
  if (!call.globals.json) {
    return PrintEntries(entries, flags, list.long_by_default, call.console.style().width);
  }
  std::vector<Json> all;
  for (const Entry& entry : entries) all.push_back(entry.json);
  call.PrintJson(all);
}

}  // namespace

Action AddList(CLI::App& command) {
  const auto flags = std::make_shared<ListFlags>();
  std::vector<std::string> names;
  std::vector<ResultKind> results;
  for (const List& list : Lists()) {
    names.push_back(list.name);
    results.emplace_back(list.schema, list.name);
  }
  names.push_back(kFindings);
  results.emplace_back(SchemaOf<std::vector<FiledFinding>>, kFindings);
  AddOption(command, "what", flags->what, "kind of items to list")
      .Check(
          [names](const std::string& what) {
            if (std::ranges::count(names, what) > 0) return std::string();
            return absl::StrCat("nothing named '", what, "'",
                                NearestText("; did you mean ", what, names, 1), "; choose from ",
                                absl::StrJoin(names, ", "));
          },
          names);
  AddOption(command, "names", flags->names,
            "glob of names to list; for findings, their folders [mmadiff-runs/*/findings]")
      .TypeName("");
  AddFlag(command, "--evidence", flags->evidence,
          "also show algorithm, parameters and evidence, and the instructions without a model");
  return {RunList, flags, results};
}

}  // namespace mmadiff
