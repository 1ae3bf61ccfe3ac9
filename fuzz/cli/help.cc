#include "fuzz/cli/help.h"

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "fuzz/cli/help_sections.h"
#include "triage/text_table.h"

namespace mmadiff {
namespace {

constexpr size_t kWidth = 79;
constexpr int kTermWidth = 24;

std::string Text(const HelpSection& section) {
  std::string out = section.title + ":\n";
  for (const auto& [term, text] : section.rows) {
    if (term.empty()) {
      absl::StrAppend(&out, Wrap("  " + text, kWidth, 4), "\n");
      continue;
    }
    const bool fits = term.size() + 2 <= kTermWidth || text.empty();
    if (!fits) absl::StrAppend(&out, "  ", term, "\n");
    out += Labelled(absl::StrFormat("  %-*s", kTermWidth, fits ? term : ""), text, kWidth);
  }
  return out;
}

// Escapes text for roff: no part is read as a request, and a dash is not a hyphen.
std::string Roff(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"'", "\\(aq"}, {".", "\\&."}});
}

std::string Roff(const HelpSection& section, const char* heading) {
  std::string out = absl::StrCat(heading, Roff(section.title), "\n");
  for (const HelpRow& row : section.rows) {
    if (row.term.empty()) {
      absl::StrAppend(&out, ".PP\n", Roff(row.text), "\n");
    } else {
      absl::StrAppend(&out, ".TP\n.B ", Roff(row.term), "\n", Roff(row.text), "\n");
    }
  }
  return out;
}

constexpr char kAbout[] =
    "Compare matrix-multiply instructions of real hardware with a bit-exact simulator.";

std::string Texts(absl::string_view title, const std::vector<HelpSection>& sections) {
  std::string out = Wrap(title, kWidth, 4) + "\n";
  for (const HelpSection& section : sections) absl::StrAppend(&out, "\n", Text(section));
  return out;
}

std::string VerbHelp(const CLI::App& command, const Verb& verb) {
  std::vector<HelpSection> sections = SectionsOf(command, verb);
  sections.push_back(GlobalFlags(*command.get_parent(), !ResultsOf(verb).empty()));
  if (auto devices = SectionOfDevices(command)) sections.push_back(std::move(*devices));
  sections.push_back(SectionOfExitCodes(&verb));
  return Texts(absl::StrCat("mmadiff ", verb.name, ": ", verb.what), sections);
}

}  // namespace

std::string HelpText(const CLI::App& app) {
  const Verb* verb = FindVerb(app.get_name());
  if (app.get_parent() != nullptr && verb != nullptr) return VerbHelp(app, *verb);
  std::vector<HelpSection> sections = {{"Usage",
                                        {{"", "mmadiff VERB [ARGUMENTS] [FLAGS]"},
                                         {"", "mmadiff help VERB"},
                                         {"", "mmadiff help devices"}}}};
  for (HelpSection& section : SectionsOfVerbs()) sections.push_back(std::move(section));
  sections.push_back(GlobalFlags(app, true));
  sections.push_back(SectionOfExitCodes(nullptr));
  sections.push_back(SectionOfEnvironment());
  sections.push_back({"Words", {{"", "docs/glossary.md explains row, unit, bin, bucket, ..."}}});
  return Texts(absl::StrCat("mmadiff: ", kAbout), sections);
}

std::string DevicesText() { return Texts("Values of --device.", SectionsOfDevices()); }

std::string ManPage(const CLI::App& program) {
  std::string out = absl::StrCat(
      ".TH MMADIFF 1 \"\" \"mmadiff ", MMADIFF_VERSION, "\" \"User Commands\"\n",
      ".SH NAME\nmmadiff \\- differential fuzzing of matrix instructions\n", ".SH SYNOPSIS\n",
      ".B mmadiff\n", Roff("VERB [ARGUMENTS] [FLAGS]"), "\n.SH DESCRIPTION\n", Roff(kAbout),
      "\nBoth get identical inputs, and their results are compared bit for bit.\n");
  absl::string_view group;
  for (const Verb& verb : Verbs()) {
    if (verb.group != group) {
      group = verb.group;
      absl::StrAppend(&out, ".SH ", Roff(absl::AsciiStrToUpper(group)), "\n");
    }
    absl::StrAppend(&out, ".SS ", Roff(verb.name), "\n", Roff(verb.what), "\n");
    for (const HelpSection& section : SectionsOf(*program.get_subcommand(verb.name), verb)) {
      absl::StrAppend(&out, Roff(section, ".PP\n.I "));
    }
    for (const VerbVerdict& own : VerdictsOf(verb.name)) {
      if (own.what == nullptr) continue;
      absl::StrAppend(&out, ".PP\nExit code ", MeaningOf(own.verdict).code, ": ", Roff(own.what),
                      "\n");
    }
  }
  std::vector<HelpSection> sections = {GlobalFlags(program, true)};
  for (HelpSection& section : SectionsOfDevices()) sections.push_back(std::move(section));
  sections.push_back(SectionOfExitCodes(nullptr));
  sections.back().title = "Exit status";  // the usual title in man pages
  sections.push_back(SectionOfEnvironment());
  for (HelpSection& section : sections) {
    if (section.title.find(':') == std::string::npos) absl::AsciiStrToUpper(&section.title);
    absl::StrAppend(&out, Roff(section, ".SH "));
  }
  return out;
}

std::string ExitCodesPage() {
  std::string out = "| code | meaning; the first that holds |\n|---|---|\n";
  for (const VerdictMeaning& of : VerdictMeanings()) {
    absl::StrAppend(&out, "| ", of.code, " | ", of.what, " |\n");
  }
  // One meaning per cell, so that cells stay short.
  absl::StrAppend(&out, "\n| verb | codes |\n|---|---|\n");
  std::string own = "\n| verb | code | meaning for this verb |\n|---|---|---|\n";
  for (const Verb& verb : Verbs()) {
    std::vector<std::string> codes;
    for (const ExitCode code : ExitCodes()) {
      if (!MeaningOf(code, verb.name).empty()) codes.push_back(absl::StrCat(code));
    }
    absl::StrAppend(&out, "| `", verb.name, "` | ", absl::StrJoin(codes, " "), " |\n");
    for (const VerbVerdict& v : VerdictsOf(verb.name)) {
      if (v.what == nullptr) continue;
      absl::StrAppend(&own, "| `", verb.name, "` | ", MeaningOf(v.verdict).code, " | ", v.what,
                      " |\n");
    }
  }
  return out + own;
}

std::string VerbsPage() {
  std::string out = "| verb | | example |\n|---|---|---|\n";
  for (const Verb& verb : Verbs()) {
    const std::string example = absl::StrReplaceAll(verb.example, {{"|", "\\|"}});
    absl::StrAppend(&out, "| `", verb.name, "` | ", verb.what, " | `mmadiff ", example, "` |\n");
  }
  return out;
}

}  // namespace mmadiff
