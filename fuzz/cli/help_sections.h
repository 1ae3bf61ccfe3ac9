// What the program says of itself, as data made from the verbs and their flags: --help, the man page
// and shell completions are printed from it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuzz/cli/cli.h"

namespace mmadiff {

struct FlagDoc {
  std::vector<std::string> names;    // "-q", "--quiet"; none: an argument without a flag
  std::string value;                 // what it takes, "GLOBS"; empty for a switch
  std::vector<std::string> choices;  // all values, where there are few
  std::string text;                  // with range and default
};
// Without --help.
std::vector<FlagDoc> FlagsOf(const CLI::App& app);

struct HelpRow {
  std::string term, text;  // without a term: a paragraph
};
struct HelpSection {
  std::string title;
  std::vector<HelpRow> rows;
};

// The flags of `program`, which all verbs take; --json only if `json`.
HelpSection GlobalFlags(const CLI::App& program, bool json);
// Usage, example and flags.
std::vector<HelpSection> SectionsOf(const CLI::App& command, const Verb& verb);
// A group of verbs; they follow each other in Verbs().
struct VerbGroup {
  std::string title;
  std::span<const Verb> verbs;
};
std::vector<VerbGroup> VerbGroups();
// A section for each group.
std::vector<HelpSection> SectionsOfVerbs();
// All devices, then what `faulty:` takes.
std::vector<HelpSection> SectionsOfDevices();
// The exit codes of a verb; nullptr: of the program.
HelpSection SectionOfExitCodes(const Verb* verb);
HelpSection SectionOfEnvironment();

// Whether the verb takes a device.
bool HasDevice(const CLI::App& command);

}  // namespace mmadiff
