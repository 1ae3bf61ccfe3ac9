// mmadiff changes: lists the operations whose models or answers have changed since
// corpus/model_digests.txt was written.
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "corpus/durable_file.h"
#include "fuzz/cli/cli.h"
#include "fuzz/replay/model_digests.h"
#include "sim/parameter.h"

namespace mmadiff {

Fields<ModelChange> FieldsOf(const ModelChange*);

namespace {

struct ChangesFlags {
  std::string file = "corpus/model_digests.txt";
  bool update = false;
};

// A stored or computed model; absent if there is no model. The text may come from a file that an
// earlier program wrote, so its parameters may differ from the table's.
struct ModelText {
  absl::string_view text;
};

Json ModelParameters(const ModelText& model) {
  Json parameters = Json::object();
  // The nodes of a tree are in the text alone.
  if (absl::StrContains(model.text, absl::StrCat(Name(Family::kTree), "("))) return parameters;
  const absl::string_view algorithm = model.text.substr(0, model.text.find(')'));
  for (const absl::string_view part :
       absl::StrSplit(algorithm.substr(algorithm.find('(') + 1), ", ")) {
    const std::pair<std::string, std::string> field = absl::StrSplit(part, absl::MaxSplits('=', 1));
    int number;
    parameters[field.first] =
        absl::SimpleAtoi(field.second, &number) ? Json(number) : Json(field.second);
  }
  return parameters;
}

Fields<ModelText> FieldsOf(const ModelText*) {
  return {
      {"model", &ModelText::text, "grade, formats, algorithm"},
      {"parameters", ModelParameters, ParameterValues()},
  };
}

std::optional<ModelText> ModelOf(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(ModelText{text});
}

struct ChangesResult {
  const std::vector<ModelChange>& changes;
  size_t instructions;
};

Fields<ChangesResult> FieldsOf(const ChangesResult*) {
  using R = ChangesResult;
  return {
      {"changes", [](const R& r) { return r.changes; }},
      {"instructions", &R::instructions, "number of instructions now"},
  };
}

std::string ChangesText(const ChangesResult& result, size_t width) {
  std::string text;
  for (const ModelChange& c : result.changes) {
    absl::StrAppendFormat(&text, "%-15s %s%s%s\n", Name(c.kind), c.op, c.what.empty() ? "" : ": ",
                          c.what);
  }
  absl::StrAppend(&text, result.changes.size(), " changes, ", result.instructions,
                  " instructions\n");
  return Wrap(text, width, 2);
}

void RunChanges(const ChangesFlags& flags, Call& call) {
  std::vector<ModelDigest> stored;
  absl::StatusOr<std::string> text = ReadFile(flags.update ? flags.file : DataPath(flags.file));
  if (text.ok()) {
    auto parsed = ParseModelDigests(*text, flags.file);
    if (parsed.ok()) {
      stored = *std::move(parsed);
    } else if (!flags.update) {
      return call.Say(Verdict::kHarmed, std::string(parsed.status().message()));
    }
  } else if (!flags.update) {
    return call.Say(
        Verdict::kUsage,
        absl::StrCat(text.status().message(), "; run in the repository, or name it with --file"));
  }
  if (stored.empty() && !flags.update) {
    return call.Say(Verdict::kHarmed, absl::StrCat(flags.file, ": no digest in it"));
  }
  const std::vector<ModelDigest> now = ComputeModelDigests();
  const std::vector<ModelChange> changes = CompareModelDigests(stored, now);
  const ChangesResult result = {changes, now.size()};
  call.Print(result, [&] { return ChangesText(result, call.console.style().width); });
  if (!flags.update && !changes.empty()) call.Say(Verdict::kDiffers);
  if (!flags.update) return;
  const absl::Status s = WriteFileDurably(flags.file, FormatModelDigests(now));
  if (!s.ok()) call.Say(Verdict::kNotWritten, std::string(s.message()));
}

}  // namespace

Fields<ModelChange> FieldsOf(const ModelChange*) {
  using C = ModelChange;
  return {
      {"kind",
       [](const C& c) { return Name(c.kind); },
       {.words = {"answers changed", "inputs changed", "model changed", "new", "gone"}}},
      {"instruction", &C::op, InstructionName()},
      {"what", &C::what, Prose("the parts of the model that changed; empty if none")},
      {"before", [](const C& c) { return ModelOf(c.before); }},
      {"now", [](const C& c) { return ModelOf(c.now); }},
  };
}

Action AddChanges(CLI::App& command) {
  const auto flags = std::make_shared<ChangesFlags>();
  AddOption(command, "--file", flags->file, "file of digests").TypeName("FILE");
  AddFlag(command, "--update", flags->update,
          "write the current digests after listing the changes");
  return {RunChanges, flags, {SchemaOf<ChangesResult>}};
}

}  // namespace mmadiff
