// mmadiff clean: what a run's folder does not need.
#include "fuzz/folder/clean.h"

#include "absl/strings/str_cat.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/json_text.h"

namespace mmadiff {
namespace {

struct CleanFlags {
  std::string folder;
  bool yes = false;
};

void RunClean(const CleanFlags& flags, const Globals& globals, Ending& ending) {
  using Json = nlohmann::ordered_json;
  Console console = globals.MakeConsole();
  bool not_durable = false;
  const absl::StatusOr<Cleaning> cleaning =
      flags.yes ? RemoveLeftovers(flags.folder, not_durable, globals.shared)
                : FindLeftovers(flags.folder);
  if (!cleaning.ok()) {
    return ending.Say(cleaning.status(), not_durable ? Verdict::kNotWritten : Verdict::kHarmed);
  }
  Json json = {{"folder", flags.folder}, {"removed", flags.yes}, {"files", Json::array()}};
  std::string text;
  for (const Leftover& file : cleaning->files) {
    json["files"].push_back({{"path", file.path}, {"bytes", file.bytes}, {"why", file.why}});
    absl::StrAppend(&text, flags.yes ? "removed " : "would remove ", file.path, ", ", file.bytes,
                    " bytes: ", file.why, "\n");
  }
  if (cleaning->files.empty()) {
    text = "nothing to remove\n";
  } else if (!flags.yes) {
    text += "nothing was removed; --yes removes it\n";
  }
  json["damage"] = cleaning->damage;
  for (const std::string& what : cleaning->damage) {
    ending.Say(Verdict::kHarmed, what + "; this file stays");
  }
  console.Print(globals.json ? JsonText(json, 1) + "\n" : PlainText(text));
}

}  // namespace

Action AddClean(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<CleanFlags>();
  AddOption(command, "folder", flags->folder, "folder of a run").Required();
  AddFlag(command, "--yes", flags->yes, "remove it; without this it is only listed");
  return [flags, &globals](Ending& ending) { RunClean(*flags, globals, ending); };
}

}  // namespace mmadiff
