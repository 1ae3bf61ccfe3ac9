// mmadiff help: the text of --help, the man page and the installed completions.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/completion.h"
#include "fuzz/cli/help.h"
#include "fuzz/cli/pager.h"

namespace mmadiff {
namespace {

struct HelpFlags {
  const CLI::App* program;
  std::string verb, completion;
  bool man = false, verbs = false, exit_codes = false, schema = false, members = false;
};

Schema SchemaOfVerb(const Verb& verb) {
  std::vector<Schema> results = ResultsOf(verb);
  return results.size() == 1 ? results.front() : OneOf(std::move(results));
}

// The schema of one verb, or an object with the schemas of all verbs by name.
absl::StatusOr<Json> Schemas(const std::string& name) {
  Json all = Json::object();
  for (const Verb& verb : Verbs()) {
    if (ResultsOf(verb).empty()) continue;
    Json schema = SchemaJson(absl::StrCat("mmadiff ", verb.name, " --json"), SchemaOfVerb(verb));
    if (name == verb.name) return schema;
    all[verb.name] = std::move(schema);
  }
  if (name.empty()) return all;
  if (FindVerb(name) == nullptr) return NoVerb(name);
  return absl::InvalidArgumentError(absl::StrCat(name, " has no --json"));
}

// docs/members.txt
std::string Members() {
  std::string text =
      R"(# Members that verbs print with --json, from the JSON Schema of `mmadiff help VERB --schema`: PATH, TYPE, MEANING between tabs.
#   PATH      VERB, the arguments that select this result if any, and members; [] elements of a list, {} values of a map
#   count     a whole number from 0 to 2^64 - 1
#   integer   a whole number, possibly negative; number: neither infinite nor NaN
#   string    stable for programs; ^...$ is a regular expression, a|b lists all words
#   prose     text for people; its wording may change between versions
#   perhaps absent: missing if there is no value; or null: null if there is no value
)";
  for (const Verb& verb : Verbs()) {
    if (!ResultsOf(verb).empty()) text += MemberLines(verb.name, SchemaOfVerb(verb));
  }
  return text;
}

void RunHelp(const HelpFlags& flags, Call& call) {
  const CLI::App& program = *flags.program;
  if (flags.man) {
    std::fputs(ManPage(program).c_str(), stdout);
  } else if (flags.verbs) {
    std::fputs(VerbsPage().c_str(), stdout);
  } else if (flags.exit_codes) {
    std::fputs(ExitCodesPage().c_str(), stdout);
  } else if (flags.members) {
    std::fputs(Members().c_str(), stdout);
  } else if (flags.schema) {
    const absl::StatusOr<Json> schema = Schemas(flags.verb);
    if (!schema.ok()) return call.Say(schema.status());
    std::puts(JsonText(*schema, 1).c_str());
  } else if (!flags.completion.empty()) {
    const auto script = flags.completion == "fish"  ? FishCompletion
                        : flags.completion == "zsh" ? ZshCompletion
                                                    : BashCompletion;
    std::fputs(script(program).c_str(), stdout);
  } else if (flags.verb.empty()) {
    PrintPaged(HelpText(program));
  } else if (flags.verb == "devices") {
    PrintPaged(DevicesText());
  } else {
    if (FindVerb(flags.verb) == nullptr) return call.Say(NoVerb(flags.verb));
    PrintPaged(HelpText(*program.get_subcommand(flags.verb)));
  }
}

}  // namespace

Action AddHelp(CLI::App& command) {
  const auto flags = std::make_shared<HelpFlags>();
  flags->program = command.get_parent();
  AddOption(command, "verb", flags->verb, "verb to show help for, or: devices [the program]");
  AddFlag(command, "--man", flags->man, "print the man page, in roff");
  AddFlag(command, "--verbs", flags->verbs, "print a table of the verbs, in Markdown");
  AddFlag(command, "--exit_codes", flags->exit_codes,
          "print tables of the exit codes of all verbs, in Markdown");
  AddFlag(command, "--schema", flags->schema,
          "print the JSON Schema of the --json output of a verb or of all verbs");
  AddFlag(command, "--members", flags->members,
          "print all members of all --json outputs, one per line");
  AddOption(command, "--completion", flags->completion, "print the completion script for a shell")
      .OneOf({"bash", "fish", "zsh"})
      .TypeName("SHELL");
  return {RunHelp, flags};
}

}  // namespace mmadiff
