// mmadiff clean: lists or removes files that a run's folder does not need.
#include "fuzz/folder/clean.h"

#include "absl/strings/str_cat.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"

namespace mmadiff {

Fields<Leftover> FieldsOf(const Leftover*) {
  using L = Leftover;
  return {
      {"path", &L::path},
      {"bytes", &L::bytes},
      {"why",
       &L::why,
       {.words = {"temporary file of a killed process", "log without units",
                  "log of units that others have"}}},
  };
}

namespace {

struct CleanFlags {
  std::string folder;
  bool yes = false;
};

struct CleanResult {
  const CleanFlags& flags;
  const Cleaning& cleaning;
};

Fields<CleanResult> FieldsOf(const CleanResult*) {
  using R = CleanResult;
  return {
      {"folder", [](const R& r) { return r.flags.folder; }},
      {"removed", [](const R& r) { return r.flags.yes; }, "whether the files were removed (--yes)"},
      {"files", [](const R& r) { return r.cleaning.files; }},
      {"damage", [](const R& r) { return r.cleaning.damage; },
       Prose("damaged logs, which are kept")},
  };
}

void RunClean(const CleanFlags& flags, Call& call) {
  bool not_durable = false;
  const absl::StatusOr<Cleaning> cleaning =
      flags.yes ? RemoveLeftovers(flags.folder, not_durable, call.globals.shared)
                : FindLeftovers(flags.folder);
  if (!cleaning.ok()) {
    return call.Say(cleaning.status(), not_durable ? Verdict::kNotWritten : Verdict::kHarmed);
  }
  std::string text;
  for (const Leftover& file : cleaning->files) {
    absl::StrAppend(&text, flags.yes ? "removed " : "would remove ", file.path, ", ", file.bytes,
                    " bytes: ", file.why, "\n");
  }
  if (cleaning->files.empty()) {
    text = "nothing to remove\n";
  } else if (!flags.yes) {
    text += "nothing was removed; --yes removes it\n";
  }
  for (const std::string& what : cleaning->damage) {
    call.Say(Verdict::kHarmed, what + "; this file stays");
  }
  call.Print(CleanResult{flags, *cleaning}, [&] { return PlainText(text); });
}

}  // namespace

Action AddClean(CLI::App& command) {
  const auto flags = std::make_shared<CleanFlags>();
  AddOption(command, "folder", flags->folder, "folder of a run").Required();
  AddFlag(command, "--yes", flags->yes, "remove the files; without this flag they are only listed");
  return {RunClean, flags, {SchemaOf<CleanResult>}};
}

}  // namespace mmadiff
