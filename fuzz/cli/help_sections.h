// The help as data, made from the verbs and their flags; --help, the man page and shell completions
// are printed from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/cli/cli.h"

namespace mmadiff {

struct FlagDoc {
  std::vector<std::string> names;    // "-q", "--quiet"; empty for an argument without a flag
  std::string value;                 // name of its value, "GLOBS"; empty for a switch
  std::vector<std::string> choices;  // all values, if there are few
  std::string text;                  // description with range and default
};
// Without --help.
std::vector<FlagDoc> FlagsOf(const CLI::App& app);

struct HelpRow {
  std::string term, text;  // a paragraph if `term` is empty
};
struct HelpSection {
  std::string title;
  std::vector<HelpRow> rows;
};

// The flags of `program`, which all verbs accept; --json only if `json`.
HelpSection GlobalFlags(const CLI::App& program, bool json);
// Usage, example and flags.
std::vector<HelpSection> SectionsOf(const CLI::App& command, const Verb& verb);
// A group of verbs, which are consecutive in Verbs().
struct VerbGroup {
  std::string title;
  std::span<const Verb> verbs;
};
std::vector<VerbGroup> VerbGroups();
// One section per group.
std::vector<HelpSection> SectionsOfVerbs();
// All devices, then the parameters of `faulty:`.
std::vector<HelpSection> SectionsOfDevices();
// The exit codes of a verb, or of the program for nullptr.
HelpSection SectionOfExitCodes(const Verb* verb);
HelpSection SectionOfEnvironment();

// The devices of the verb's --device flag; nullopt: it has none.
std::optional<HelpSection> SectionOfDevices(const CLI::App& command);

}  // namespace mmadiff
