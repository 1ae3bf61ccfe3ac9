#include "fuzz/cli/help_sections.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "device/cuda/variant.h"
#include "device/faulty.h"
#include "fuzz/cli/flags.h"
#include "fuzz/unit/devices.h"

namespace mmadiff {
namespace {

// Adds the values that the option accepts.
void AddValues(const CLI::Option& option, FlagDoc& doc) {
  doc.value = option.get_type_name();
  FlagValues values = ValuesOf(option);
  if (!values.choices.empty()) {
    absl::StrAppend(&doc.text, ": ", absl::StrJoin(values.choices, ", "));
  } else if (!values.limits.empty()) {
    absl::StrAppend(&doc.text, doc.text.empty() ? "" : ", ", values.limits);
  }
  doc.choices = std::move(values.choices);
}

// Conditional defaults are part of the description; CLI11 has the others.
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
  AddValues(option, doc);
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

HelpSection GlobalFlags(const CLI::App& program, bool json) {
  HelpSection section = {"Global flags", {}};
  for (const FlagDoc& doc : FlagsOf(program)) {
    if (json || doc.names.front() != "--json") section.rows.push_back(RowOf(doc));
  }
  section.rows.push_back({"-h, --help", "show this help, or the help for the verb"});
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

std::vector<VerbGroup> VerbGroups() {
  std::vector<VerbGroup> groups;
  std::span<const Verb> rest = Verbs();
  while (!rest.empty()) {
    const absl::string_view title = rest.front().group;
    const auto end =
        std::ranges::find_if(rest, [&](const Verb& verb) { return verb.group != title; });
    const auto verbs = rest.first(end - rest.begin());
    groups.push_back({std::string(title), verbs});
    rest = rest.subspan(verbs.size());
  }
  return groups;
}

std::vector<HelpSection> SectionsOfVerbs() {
  std::vector<HelpSection> sections;
  for (const VerbGroup& group : VerbGroups()) {
    HelpSection& section = sections.emplace_back(HelpSection{group.title, {}});
    for (const Verb& verb : group.verbs) section.rows.push_back({verb.name, verb.what});
  }
  return sections;
}

std::vector<HelpSection> SectionsOfDevices() {
  HelpSection devices = {"Devices", {}},
              variants = {"cuda:N,NAME=VALUE and sass:arch=TARGET,NAME=VALUE", {}},
              faults = {"faulty:NAME=VALUE", {}};
  for (const DeviceKind& kind : Devices()) devices.rows.push_back({kind.usage, kind.what});
  faults.rows.push_back({"", "docs/glossary.md explains the parameters of the arithmetic."});
  for (const FaultUsage& usage : FaultUsages()) faults.rows.push_back({usage.name, usage.values});
  for (const VariantUsage& u : VariantUsages()) {
    variants.rows.push_back({u.name, absl::StrCat(u.values, " (", u.what, ")")});
  }
  return {devices, variants, faults};
}

std::optional<HelpSection> SectionOfDevices(const CLI::App& command) {
  const CLI::Option* const flag = command.get_option_no_throw("--device");
  if (flag == nullptr) return std::nullopt;
  if (flag->get_type_name() != kMatrixDevice) return SectionsOfDevices().front();
  return HelpSection{
      "Devices",
      {{"blas:LIBRARY[,NAME=VALUE]",
        "a BLAS library, such as openblas, or its path; threads=N, coretype=NAME, "
        "routine=sgemm|dgemm, order=row|column, transpose=none|a|b|ab, alpha=X, beta=X"},
       {"exec:COMMAND[,timeout=5m]",
        "a program that multiplies matrices in the protocol of docs/matmul.md"}}};
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
          {{"COLUMNS", "width of the terminal; overrides the width that the terminal reports"},
           {"MMADIFF_EXEC_TIMEOUT", "seconds that exec: waits for a line [60]"},
           {"MMADIFF_LIBCUDA", "driver library for cuda:, instead of the default"},
           {"MMADIFF_GPU_TIMEOUT", "seconds that cuda: and hip: wait for a kernel [60]"},
           {"MMADIFF_LIBCOMGR", "AMD code object manager for hip:, instead of the default"},
           {"MMADIFF_LIBHIP", "HIP run-time library for hip:, instead of the default"},
           {"MMADIFF_NVDISASM", "NVIDIA's disassembler for sass:, instead of the one beside ptxas"},
           {"NO_COLOR", "if set, disables color"},
           {"PAGER", "program that shows help and lists on a terminal [less -FRX if installed]"}}};
}

}  // namespace mmadiff
