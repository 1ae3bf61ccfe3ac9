// mmadiff changes: which operations have other models or answers than when corpus/model_digests.txt
// was written.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "corpus/durable_file.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/json_text.h"
#include "fuzz/replay/model_digests.h"

namespace mmadiff {
namespace {

using Json = nlohmann::ordered_json;

struct ChangesFlags {
  std::string file = "corpus/model_digests.txt";
  bool update = false;
};

// {"model": TEXT, "parameters": {...}}; null where there is no model. The text is the file's, which an
// earlier program may have written: its parameters may be others than the table's.
Json ModelJson(absl::string_view text) {
  if (text.empty()) return nullptr;
  Json parameters = Json::object();
  const absl::string_view algorithm = text.substr(0, text.find(')'));
  for (const absl::string_view part :
       absl::StrSplit(algorithm.substr(algorithm.find('(') + 1), ", ")) {
    const std::pair<std::string, std::string> field = absl::StrSplit(part, absl::MaxSplits('=', 1));
    int number;
    parameters[field.first] =
        absl::SimpleAtoi(field.second, &number) ? Json(number) : Json(field.second);
  }
  return {{"model", text}, {"parameters", std::move(parameters)}};
}

void PrintChanges(const std::vector<ModelChange>& changes, size_t instructions, bool as_json,
                  Console& console) {
  Json json = {{"changes", Json::array()}, {"instructions", instructions}};
  std::string text;
  for (const ModelChange& c : changes) {
    absl::StrAppendFormat(&text, "%-15s %s%s%s\n", Name(c.kind), c.op, c.what.empty() ? "" : ": ",
                          c.what);
    json["changes"].push_back({{"kind", Name(c.kind)},
                               {"instruction", c.op},
                               {"what", c.what},
                               {"before", ModelJson(c.before)},
                               {"now", ModelJson(c.now)}});
  }
  absl::StrAppend(&text, changes.size(), " changes, ", instructions, " instructions\n");
  console.Print(as_json ? JsonText(json, 1) + "\n" : Wrap(text, console.style().width, 2));
}

void RunChanges(const ChangesFlags& flags, const Globals& globals, Ending& ending) {
  Console console = globals.MakeConsole();
  std::vector<ModelDigest> stored;
  absl::StatusOr<std::string> text = ReadFile(flags.update ? flags.file : DataPath(flags.file));
  if (text.ok()) {
    auto parsed = ParseModelDigests(*text, flags.file);
    if (parsed.ok()) {
      stored = *std::move(parsed);
    } else if (!flags.update) {
      return ending.Say(Verdict::kHarmed, std::string(parsed.status().message()));
    }
  } else if (!flags.update) {
    return ending.Say(
        Verdict::kUsage,
        absl::StrCat(text.status().message(), "; run in the repository, or name it with --file"));
  }
  if (stored.empty() && !flags.update) {
    return ending.Say(Verdict::kHarmed, absl::StrCat(flags.file, ": no digest in it"));
  }
  const std::vector<ModelDigest> now = ComputeModelDigests();
  const std::vector<ModelChange> changes = CompareModelDigests(stored, now);
  PrintChanges(changes, now.size(), globals.json, console);
  if (!flags.update && !changes.empty()) ending.Say(Verdict::kDiffers);
  if (!flags.update) return;
  const absl::Status s = WriteFileDurably(flags.file, FormatModelDigests(now));
  if (!s.ok()) ending.Say(Verdict::kNotWritten, std::string(s.message()));
}

}  // namespace

Action AddChanges(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<ChangesFlags>();
  AddOption(command, "--file", flags->file, "the digests").TypeName("FILE");
  AddFlag(command, "--update", flags->update, "write the digests of now, after the changes");
  return [flags, &globals](Ending& ending) { RunChanges(*flags, globals, ending); };
}

}  // namespace mmadiff
