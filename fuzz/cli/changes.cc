// mmadiff changes: which operations have other models or answers than when corpus/model_digests.txt
// was written.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/durable_file.h"
#include "fuzz/cli/cli.h"
#include "fuzz/model_digests.h"

namespace mmadiff {
namespace {

struct ChangesFlags {
  std::string file = "corpus/model_digests.txt";
  bool update = false;
};

int RunChanges(const ChangesFlags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  const std::vector<ModelDigest> now = ComputeModelDigests();
  std::vector<ModelDigest> stored;
  absl::StatusOr<std::string> text = ReadFile(flags.update ? flags.file : DataPath(flags.file));
  if (text.ok()) {
    auto parsed = ParseModelDigests(*text, flags.file);
    if (parsed.ok()) {
      stored = *std::move(parsed);
    } else if (!flags.update) {
      return Fail(absl::DataLossError(parsed.status().message()));
    }
  } else if (!flags.update) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat(text.status().message(), "; run in the repository, or name it with --file")));
  }
  if (stored.empty() && !flags.update) {
    return Fail(absl::DataLossError(absl::StrCat(flags.file, ": no digest in it")));
  }
  const std::vector<ModelChange> changes = CompareModelDigests(stored, now);
  for (const ModelChange& c : changes) {
    console.Print(
        absl::StrFormat("%-15s %s%s%s\n", Name(c.kind), c.op, c.what.empty() ? "" : ": ", c.what));
  }
  console.Print(absl::StrCat(changes.size(), " changes, ", now.size(), " instructions\n"));
  if (!flags.update) return changes.empty() ? kClean : kMismatch;
  const absl::Status s = WriteFileDurably(flags.file, FormatModelDigests(now));
  return s.ok() ? kClean : Fail(absl::DataLossError(s.message()), kNotDurable);
}

}  // namespace

std::function<int()> AddChanges(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<ChangesFlags>();
  command.add_option("--file", flags->file, "the digests")->type_name("FILE");
  command.add_flag("--update", flags->update, "write the digests of now, after the changes");
  return [flags, &globals] { return RunChanges(*flags, globals); };
}

}  // namespace mmadiff
