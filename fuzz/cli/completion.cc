#include "fuzz/cli/completion.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "device/faulty.h"
#include "fuzz/cli/help_sections.h"
#include "fuzz/devices.h"

namespace mmadiff {
namespace {

// Bash makes words of "=" and ":" too: --device=faulty:x is five.
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

std::string FlagWords(const std::vector<FlagDoc>& docs) {
  std::vector<std::string> words;
  for (const FlagDoc& doc : docs) {
    if (!doc.names.empty()) words.push_back(doc.names.back() + (doc.value.empty() ? "" : "="));
  }
  return absl::StrJoin(words, " ");
}

// What the arguments of a verb may be: INSTRUCTIONS, or words; empty for files.
std::string Arguments(const std::vector<FlagDoc>& docs) {
  for (const FlagDoc& doc : docs) {
    if (doc.names.empty() && doc.value == "instruction") return "INSTRUCTIONS";
    if (doc.names.empty() && !doc.choices.empty()) return absl::StrJoin(doc.choices, " ");
  }
  return "";
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

// A line of fish for each flag or argument, under the condition.
void AddFish(const std::string& condition, const std::vector<FlagDoc>& docs, std::string& script) {
  for (const FlagDoc& doc : docs) {
    const bool instructions = doc.value == "GLOBS" || doc.value == "instruction";
    const std::string values = instructions            ? "(mmadiff list)"
                               : doc.value == "DEVICE" ? absl::StrJoin(DeviceWords(), " ")
                                                       : absl::StrJoin(doc.choices, " ");
    const bool files = doc.value == "FILE" || doc.value == "FOLDER";
    if (doc.names.empty() && values.empty()) continue;  // files, as by default
    absl::StrAppend(&script, "complete -c mmadiff", condition);
    if (!doc.names.empty()) absl::StrAppend(&script, " -l ", doc.names.back().substr(2));
    if (files) absl::StrAppend(&script, " -r");
    if (!files && !doc.value.empty()) absl::StrAppend(&script, doc.names.empty() ? " -f" : " -x");
    if (!values.empty()) absl::StrAppend(&script, " -a ", Quoted(values, "\\'"));
    absl::StrAppend(&script, " -d ", Quoted(doc.text, "\\'"), "\n");
  }
}

// Of flags with few values, one each; a flag has the same ones in every verb.
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
  std::vector<std::string> names, faults;
  std::string verbs, choices;
  for (const Verb& verb : Verbs()) {
    if (verb.hidden) continue;
    const std::vector<FlagDoc> docs = FlagsOf(*program.get_subcommand(verb.name));
    names.push_back(verb.name);
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
    if (verb.hidden) continue;
    absl::StrAppend(&script, "complete -c mmadiff -n __fish_use_subcommand -f -a ", verb.name,
                    " -d ", Quoted(verb.what, "\\'"), "\n");
    AddFish(absl::StrCat(" -n '__fish_seen_subcommand_from ", verb.name, "'"),
            FlagsOf(*program.get_subcommand(verb.name)), script);
  }
  return script;
}

}  // namespace mmadiff
