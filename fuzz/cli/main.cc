// mmadiff VERB: parses the command line and runs one verb.
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "device/plain_text.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/cli/cli.h"

namespace mmadiff {
namespace {

constexpr Verb kVerbs[] = {
    {"run", "differential run of a device against the model", AddRun, true},
    {"replay", "regression cases, vectors, recordings or one case name, with or without a device",
     AddReplay},
    {"minimize", "shrink one mismatch to its essence", AddMinimize, true},
    {"explain", "show one mismatch stage by stage, and what would reproduce it", AddExplain, true},
    {"list", "instructions, devices, strategies, formats, vectors, differences; one a line",
     AddList, true},
    {"gen", "print cases in the line protocol", AddGen, true},
    {"eval", "simulate cases from stdin, print them with their results", AddEval, true},
    {"check", "compare cases with results from stdin with the model", AddCheck, true},
    {"layout", "lane and register of each matrix element", AddLayout, true},
    {"mutants", "seeded faults: which neighbours of the model the generator finds", AddMutants,
     true},
    {"probe", "ask a device the questions that only hardware answers", AddProbe, true},
    {"changes", "which instructions answer otherwise than the digests in the repository",
     AddChanges},
    {"record", "write a device's answers to a file", AddRecord},
    {"survey", "everything that a device can say, in one folder", AddSurvey, true},
    {"survey-ask", "what `survey` runs", AddSurveyAsk, false, true},
};

// "--max-total-time" is "--max_total_time"; what follows "=" is left alone.
std::string WithUnderscores(std::string arg) {
  if (arg.rfind("--", 0) != 0) return arg;
  for (size_t i = 2; i < arg.size() && arg[i] != '='; ++i) {
    if (arg[i] == '-') arg[i] = '_';
  }
  return arg;
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `mmadiff gen X | head` ends quietly
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of write(), like a full disk
  Globals globals;
  CLI::App app(
      "mmadiff: matrix-multiply instructions of real hardware against a bit-exact simulator",
      "mmadiff");
  app.set_version_flag("--version", std::string("mmadiff " MMADIFF_VERSION " (model ") +
                                        std::to_string(kModelVersion) + ", generator " +
                                        std::to_string(kGeneratorVersion) + ")");
  app.fallthrough();
  app.require_subcommand(1);
  app.add_flag("--json", globals.json, "results as JSON on stdout");
  app.add_flag("--quiet,-q", globals.quiet, "no progress");
  app.add_option("--color", globals.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--workdir", globals.workdir, "folder for checkpoints and findings");
  app.add_option("--error_exitcode", globals.error_exitcode,
                 "exit code for mismatches instead of 1")
      ->check(CLI::Range(1, 255));

  std::function<int()> chosen;
  const Verb* chosen_verb = nullptr;
  for (const Verb& verb : kVerbs) {
    CLI::App* command = app.add_subcommand(verb.name, verb.what);
    command->fallthrough();
    if (verb.hidden) command->group("");
    command->callback([&, verb = &verb, action = verb.add(*command, globals)] {
      chosen = action;
      chosen_verb = verb;
    });
  }
  std::vector<std::string> args;
  for (int i = argc - 1; i > 0; --i) args.push_back(WithUnderscores(argv[i]));  // CLI11: reversed
  try {
    app.parse(args);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kClean : kUsage;
  }
  if (globals.json && !chosen_verb->json) {
    std::fprintf(stderr, "mmadiff: %s has no --json\n", chosen_verb->name);
    return kUsage;
  }
  const int code = chosen();
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "mmadiff: standard output could not be written\n");
    return kNotDurable;
  }
  return code == kMismatch ? globals.error_exitcode : code;
}

}  // namespace
}  // namespace mmadiff

int main(int argc, char** argv) {
  try {
    return mmadiff::Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory, a bug in a library
    std::fprintf(stderr, "mmadiff: internal error: %s\n", mmadiff::PlainText(error.what()).c_str());
    return mmadiff::kInternal;
  }
}
