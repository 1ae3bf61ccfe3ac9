#include "fuzz/cli/help_sections.h"

#include <CLI/CLI.hpp>
#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/faulty.h"
#include "fuzz/devices.h"

namespace mmadiff {
namespace {

// What CLI11 makes of types and checks: "NAME:{mixed,bits}", "N:INT in [1 - 1024]", "N:POSITIVE".
void ReadType(const std::string& type, FlagDoc& doc) {
  static const std::regex& range = *new std::regex(R"(in \[(\d+) - (\d+)\])");
  doc.value = type.substr(0, type.find(':'));
  std::smatch match;
  if (const size_t open = type.find('{'); open != type.npos) {
    const std::string inside = type.substr(open + 1, type.find('}') - open - 1);
    doc.choices = absl::StrSplit(inside, ',');
    absl::StrAppend(&doc.text, ": ", absl::StrJoin(doc.choices, ", "));
  } else if (std::regex_search(type, match, range)) {
    absl::StrAppend(&doc.text, doc.text.empty() ? "" : ", ", match[1].str(), " to ",
                    match[2].str());
  } else if (absl::EndsWith(type, ":POSITIVE")) {
    absl::StrAppend(&doc.text, ", at least 1");
  }
}

// Defaults that depend on something are written in the description; the others CLI11 has.
FlagDoc DocOf(const CLI::Option& option) {
  FlagDoc doc;
  for (const std::string& name : option.get_snames()) doc.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) doc.names.push_back("--" + name);
  std::string standard;
  absl::string_view text = option.get_description();
  if (const size_t open = text.rfind('['); absl::EndsWith(text, "]")) {
    standard = std::string(text.substr(open));
    text = absl::StripSuffix(text.substr(0, open), " ");
  } else if (const std::string value = option.get_default_str(); !value.empty() && value != "[]") {
    standard = value.front() == '[' ? value : absl::StrCat("[", value, "]");
  }
  doc.text = std::string(text);
  if (option.get_items_expected_max() == 0) return doc;  // a switch
  ReadType(option.get_type_name(), doc);
  if (doc.names.empty()) doc.value = option.get_name(true);
  if (!standard.empty()) absl::StrAppend(&doc.text, doc.text.empty() ? "" : " ", standard);
  return doc;
}

HelpRow RowOf(const FlagDoc& doc) {
  std::string term = absl::StrJoin(doc.names, ", ");
  absl::StrAppend(&term, doc.value.empty() || doc.names.empty() ? "" : "=", doc.value);
  return {term, doc.text};
}

std::string Usage(const CLI::App& command) {
  std::string usage = absl::StrCat("mmadiff ", command.get_name());
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true);
    absl::StrAppend(&usage, " ", option->get_required() ? name : absl::StrCat("[", name, "]"),
                    option->get_items_expected_max() > 1 ? "..." : "");
  }
  return usage + " [FLAGS]";
}

}  // namespace

std::vector<FlagDoc> FlagsOf(const CLI::App& app) {
  std::vector<FlagDoc> docs;
  for (const CLI::Option* option : app.get_options()) {
    if (option != app.get_help_ptr() && !option->get_group().empty()) {
      docs.push_back(DocOf(*option));
    }
  }
  return docs;
}

bool HasDevice(const CLI::App& command) {
  return command.get_option_no_throw("--device") != nullptr;
}

HelpSection GlobalFlags(const CLI::App& program, bool json) {
  HelpSection section = {"Global flags", {}};
  for (const FlagDoc& doc : FlagsOf(program)) {
    if (json || doc.names.front() != "--json") section.rows.push_back(RowOf(doc));
  }
  section.rows.push_back({"-h, --help", "this, or that of the verb"});
  return section;
}

std::vector<HelpSection> SectionsOf(const CLI::App& command, const Verb& verb) {
  std::vector<HelpSection> sections = {{"Usage", {{"", Usage(command)}}}};
  if (*verb.example != '\0') {
    sections.push_back({"Example", {{"", absl::StrCat("mmadiff ", verb.example)}}});
  }
  HelpSection flags = {"Arguments and flags", {}};
  for (const FlagDoc& doc : FlagsOf(command)) flags.rows.push_back(RowOf(doc));
  if (!flags.rows.empty()) sections.push_back(std::move(flags));
  return sections;
}

HelpSection ListOfVerbs() {
  HelpSection section = {"Verbs", {}};
  for (const Verb& verb : Verbs()) {
    if (!verb.hidden) section.rows.push_back({verb.name, verb.what});
  }
  return section;
}

std::vector<HelpSection> SectionsOfDevices() {
  HelpSection devices = {"Devices", {}}, faults = {"faulty:NAME=VALUE", {}};
  for (const DeviceKind& kind : Devices()) devices.rows.push_back({kind.usage, kind.what});
  for (const FaultUsage& usage : FaultUsages()) faults.rows.push_back({usage.name, usage.values});
  return {devices, faults};
}

HelpSection SectionOfExitCodes(const Verb* verb) {
  HelpSection section = {"Exit codes", {}};
  for (const ExitCode code : ExitCodes()) {
    const std::string what = MeaningOf(code, verb == nullptr ? "" : verb->name);
    if (!what.empty()) section.rows.push_back({absl::StrCat(code), what});
  }
  return section;
}

HelpSection SectionOfEnvironment() {
  return {"Environment",
          {{"COLUMNS", "width of the terminal, if it is not to be asked"},
           {"MMADIFF_EXEC_TIMEOUT", "seconds that exec: waits for a line [60]"},
           {"MMADIFF_LIBCUDA", "the driver's library, where cuda: is to load another"},
           {"MMADIFF_GPU_TIMEOUT", "seconds that cuda: and hip: wait for a kernel [60]"},
           {"MMADIFF_LIBCOMGR", "AMD's code object manager, where hip: is to load another"},
           {"MMADIFF_LIBHIP", "the HIP run time, where hip: is to load another"},
           {"NO_COLOR", "if set, no colours"},
           {"PAGER", "shows help and lists on a terminal [less -FRX, if there]"}}};
}

}  // namespace mmadiff
