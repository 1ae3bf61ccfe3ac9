#include "fuzz/cli/completion.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "device/faulty.h"
#include "fuzz/cli/help_sections.h"
#include "fuzz/unit/devices.h"

namespace mmadiff {
namespace {

// Bash treats "=" and ":" as words too: --device=faulty:x is five words.
constexpr char kBash[] =
    R"sh(# Completion of mmadiff for bash, made by `mmadiff help --completion=bash`.
_mmadiff() {
  local cur=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD verb= flag= flags= args= words= word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in @VERBS_BAR@) verb=$word; break ;; esac
  done
  case $verb in
@VERBS@  esac
  flags+=' @GLOBAL@'
  if [[ $cur == = || $cur == : ]]; then cur=; at=$((at + 1)); fi
  if [[ ${COMP_WORDS[at-1]} == : && ${COMP_WORDS[at-2]} == faulty ]]; then
    compopt -o nospace
    COMPREPLY=($(compgen -W '@FAULTS@' -- "$cur"))
    return
  elif [[ ${COMP_WORDS[at-1]} == = ]]; then flag=${COMP_WORDS[at-2]}
  elif [[ " $flags " == *" ${COMP_WORDS[at-1]}= "* ]]; then flag=${COMP_WORDS[at-1]}
  fi
  case $flag in
    '')
      if [[ $cur == -* ]]; then
        compopt -o nospace
        COMPREPLY=($(compgen -W "$flags" -- "$cur"))
        [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY != *= ]] && COMPREPLY+=' '
        return
      fi
      words=$args
      [[ -n $verb ]] || words='@VERBS_SPACE@'
      ;;
    --instr) words=INSTRUCTIONS ;;
    --device) compopt -o nospace; words='@DEVICES@' ;;
@CHOICES@  esac
  [[ $words != INSTRUCTIONS ]] || words=$("$1" list 2>/dev/null)
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _mmadiff mmadiff ./mmadiff
)sh";

constexpr char kZsh[] = R"sh(#compdef mmadiff
# Completion of mmadiff for zsh, made by `mmadiff help --completion=zsh`.
_mmadiff_instructions() { compadd -- ${(f)"$(mmadiff list 2>/dev/null)"} }
_mmadiff() {
  local curcontext=$curcontext state line
  local -a global=(@GLOBAL@)
  _arguments -C $global '1:verb:((@VERBS@))' '*::argument:->argument'
  case $line[1] in
@CASES@  esac
}
_mmadiff "$@"
)sh";

std::string FlagWords(const std::vector<FlagDoc>& docs) {
  std::vector<std::string> words;
  for (const FlagDoc& doc : docs) {
    if (!doc.names.empty()) words.push_back(doc.names.back() + (doc.value.empty() ? "" : "="));
  }
  return absl::StrJoin(words, " ");
}

std::vector<std::string> DeviceWords() {
  std::vector<std::string> words;
  for (const DeviceKind& kind : Devices()) {
    const std::string usage = kind.usage;
    const size_t colon = usage.find(':');
    words.push_back(colon == usage.npos ? usage : usage.substr(0, colon + 1));
  }
  return words;
}

std::string Quoted(const std::string& text, const char* quote_inside) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", quote_inside}}), "'");
}

constexpr char kInstructions[] = "(mmadiff list)";

// The values of a flag or an argument, separated by spaces; empty for files and numbers.
std::string Values(const FlagDoc& doc) {
  if (doc.value == "GLOBS" || doc.value == "instruction") return kInstructions;
  if (doc.value == "verb") return absl::StrJoin(VerbNames(), " ");
  return absl::StrJoin(doc.value == "DEVICE" ? DeviceWords() : doc.choices, " ");
}

// The possible arguments of a verb: INSTRUCTIONS, or words; empty for files.
std::string Arguments(const std::vector<FlagDoc>& docs) {
  for (const FlagDoc& doc : docs) {
    const std::string values = doc.names.empty() ? Values(doc) : "";
    if (!values.empty()) return values == kInstructions ? "INSTRUCTIONS" : values;
  }
  return "";
}

bool IsFile(const FlagDoc& doc) { return doc.value == "FILE" || doc.value == "FOLDER"; }

// One line of fish per flag or argument, under the condition.
void AddFish(const std::string& condition, const std::vector<FlagDoc>& docs, std::string& script) {
  for (const FlagDoc& doc : docs) {
    const std::string values = Values(doc);
    if (doc.names.empty() && values.empty()) continue;  // files, as by default
    absl::StrAppend(&script, "complete -c mmadiff", condition);
    if (!doc.names.empty()) absl::StrAppend(&script, " -l ", doc.names.back().substr(2));
    if (!doc.value.empty()) {
      absl::StrAppend(&script, doc.names.empty() ? " -f" : IsFile(doc) ? " -r" : " -x");
    }
    if (!values.empty()) absl::StrAppend(&script, " -a ", Quoted(values, "\\'"));
    absl::StrAppend(&script, " -d ", Quoted(doc.text, "\\'"), "\n");
  }
}

// The input of zsh's _arguments for each flag or argument; the last argument may be repeated.
void AddZsh(const std::vector<FlagDoc>& docs, std::string& script) {
  const auto escaped = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
  };
  int position = 0;
  for (const FlagDoc& doc : docs) {
    const std::string values = Values(doc);
    const std::string action = values == kInstructions ? "_mmadiff_instructions"
                               : !values.empty()       ? absl::StrCat("(", escaped(values), ")")
                               : doc.names.empty() || IsFile(doc) ? "_files"
                                                                  : " ";
    const bool last = &doc == &docs.back() || !(&doc)[1].names.empty();
    std::string spec = !doc.names.empty() ? doc.names.back()
                       : last             ? "*"
                                          : absl::StrCat(++position);
    if (!doc.names.empty())
      absl::StrAppend(&spec, doc.value.empty() ? "[" : "=[", escaped(doc.text), "]");
    if (!doc.value.empty()) absl::StrAppend(&spec, ":", doc.value, ":", action);
    absl::StrAppend(&script, " ", Quoted(spec, "'\\''"));
  }
}

// Adds a line for each flag with few values; a flag has the same values in every verb.
void AddChoices(const std::vector<FlagDoc>& docs, std::string& all) {
  for (const FlagDoc& doc : docs) {
    if (doc.names.empty() || doc.choices.empty()) continue;
    const std::string line = absl::StrCat("    ", doc.names.back(), ") words='",
                                          absl::StrJoin(doc.choices, " "), "' ;;\n");
    if (all.find(line) == all.npos) all += line;
  }
}

}  // namespace

std::string BashCompletion(const CLI::App& program) {
  const std::vector<std::string> names = VerbNames();
  std::vector<std::string> faults;
  std::string verbs, choices;
  for (const Verb& verb : Verbs()) {
    const std::vector<FlagDoc> docs = FlagsOf(*program.get_subcommand(verb.name));
    absl::StrAppend(&verbs, "    ", verb.name, ") flags='", FlagWords(docs), "' args='",
                    Arguments(docs), "' ;;\n");
    AddChoices(docs, choices);
  }
  AddChoices(FlagsOf(program), choices);
  for (const FaultUsage& usage : FaultUsages()) faults.push_back(usage.name + "=");
  return absl::StrReplaceAll(kBash, {{"@VERBS_BAR@", absl::StrJoin(names, "|")},
                                     {"@VERBS_SPACE@", absl::StrJoin(names, " ")},
                                     {"@VERBS@", verbs},
                                     {"@GLOBAL@", FlagWords(FlagsOf(program)) + " --help"},
                                     {"@FAULTS@", absl::StrJoin(faults, " ")},
                                     {"@DEVICES@", absl::StrJoin(DeviceWords(), " ")},
                                     {"@CHOICES@", choices}});
}

std::string FishCompletion(const CLI::App& program) {
  std::string script =
      "# Completion of mmadiff for fish, made by `mmadiff help --completion=fish`.\n";
  AddFish("", FlagsOf(program), script);
  for (const Verb& verb : Verbs()) {
    absl::StrAppend(&script, "complete -c mmadiff -n __fish_use_subcommand -f -a ", verb.name,
                    " -d ", Quoted(verb.what, "\\'"), "\n");
    AddFish(absl::StrCat(" -n '__fish_seen_subcommand_from ", verb.name, "'"),
            FlagsOf(*program.get_subcommand(verb.name)), script);
  }
  return script;
}

std::string ZshCompletion(const CLI::App& program) {
  std::string verbs, cases, global;
  AddZsh(FlagsOf(program), global);
  for (const Verb& verb : Verbs()) {
    absl::StrAppend(&verbs, " ", verb.name, "\\:", "\"", verb.what, "\"");
    absl::StrAppend(&cases, "    ", verb.name, ") _arguments $global");
    AddZsh(FlagsOf(*program.get_subcommand(verb.name)), cases);
    absl::StrAppend(&cases, " ;;\n");
  }
  return absl::StrReplaceAll(kZsh, {{"@GLOBAL@", global},
                                    {"@VERBS@", absl::StrReplaceAll(verbs, {{"'", "'\\''"}})},
                                    {"@CASES@", cases}});
}

}  // namespace mmadiff
