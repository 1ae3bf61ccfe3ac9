// mmadiff copy: shows what a tensor copy puts where, or compares those of a device with the model.
#include <algorithm>
#include <cstdio>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/copies/copy_case.h"
#include "corpus/durable_file.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/copy_check.h"
#include "fuzz/cli/json_rows.h"
#include "sim/copy/copy_field.h"
#include "sim/copy/legal.h"
#include "sim/pattern.h"
#include "triage/copies/copy_drawing.h"

namespace mmadiff {
namespace {

constexpr char kDefaultArch[] = "sm_90";
constexpr uint64_t kMaxGlobalBytes = 64 << 20;

struct CopyFlags {
  std::string form;
  std::map<std::string, std::string> fields;  // values by name
  bool csv = false;
  std::string svg;
  int lines = 32;
  std::string device;  // empty: no copy is executed
  uint64_t cases = 1000, seed = 1;
};

struct NamedCopy {
  std::string arch;
  TensorCopy copy;
  CopyMemory memory = {};

  std::string name() const { return absl::StrCat(arch, "/", copy.form->name); }
};

struct Shown : CopyElement {
  int rank = 0;
};

Fields<Shown> FieldsOf(const Shown*) {
  using E = Shown;
  return {
      {"shared", [](const E& e) { return e.shared; }, "address in shared memory, in bytes"},
      {"global", [](const E& e) { return e.inside ? std::optional(e.global) : std::nullopt; },
       Absent({.what = "address in global memory, in bytes; absent for an element out of bounds"})},
      {"at", [](const E& e) { return std::vector<int64_t>(e.at.begin(), e.at.begin() + e.rank); },
       "coordinates, dimension 0 first"},
  };
}

struct CopyOutput {
  const NamedCopy& named;
  std::vector<Shown> elements = {};
};

Fields<CopyOutput> FieldsOf(const CopyOutput*) {
  using O = CopyOutput;
  return {
      {"form", [](const O& o) { return o.named.name(); }, "architecture and form"},
      {"fields", [](const O& o) { return FieldsText(o.named.copy); },
       "fields that differ from the defaults"},
      {"tile_bytes", [](const O& o) { return TileBytes(o.named.copy); },
       "bytes of the tile in shared memory"},
      {"elements", &O::elements, "elements in the order of the tile before it is swizzled"},
  };
}

// The form that the flags describe, if none was named.
std::string FormOf(const CopyFlags& flags) {
  if (!flags.form.empty()) return flags.form;
  const auto dim = flags.fields.find("dim");
  const auto rank = dim == flags.fields.end() ? 1 : std::ranges::count(dim->second, ',') + 1;
  const bool column = flags.fields.contains("pixels") || flags.fields.contains("channels");
  return absl::StrCat("load.", column ? "im2col." : "tile.", rank, "d");
}

absl::StatusOr<NamedCopy> Described(const CopyFlags& flags) {
  const std::string text = FormOf(flags);
  const size_t slash = text.find('/');
  NamedCopy named;
  named.arch = slash == text.npos ? kDefaultArch : text.substr(0, slash);
  named.copy.form = FindCopyForm(slash == text.npos ? text : text.substr(slash + 1));
  if (named.copy.form == nullptr) {
    std::vector<std::string> names;
    for (const CopyForm& form : CopyForms()) names.push_back(form.name);
    return absl::InvalidArgumentError(
        absl::StrCat("no form '", text, "'; the forms are ", absl::StrJoin(names, ", ")));
  }
  const auto archs = CopyArchitectures();
  if (std::ranges::find(archs, named.arch) == archs.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no architecture '", named.arch,
                     "' has tensor copies; these have: ", absl::StrJoin(archs, ", ")));
  }
  TensorCopy& copy = named.copy;
  copy.map.rank = copy.form->rank;
  copy.map.type = TensorType::kF16;
  if (!flags.fields.contains("dim")) return absl::InvalidArgumentError("--dim is missing");
  for (const CopyField& field : CopyFields()) {
    const auto given = flags.fields.find(field.name);
    if (given == flags.fields.end()) continue;
    if (!field.applies(*copy.form)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", field.name, ": ", copy.form->name, " has none"));
    }
    if (!field.set(copy, given->second)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", field.name, "=", given->second, ": expected ",
          *field.values != '\0' ? absl::StrCat("one of ", field.values)
                                : absl::StrCat("as many numbers as in ", field.get(copy))));
    }
  }
  SetDefaults(copy);
  return named;
}

absl::StatusOr<NamedCopy> CopyOf(const CopyFlags& flags) {
  if (!absl::StrContains(flags.form, '@')) return Described(flags);
  if (!flags.fields.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flags.fields.begin()->first, " is a field of the case already"));
  }
  ASSIGN_OR_RETURN(const CopyCaseName name, ParseCopyCase(flags.form));
  const CopyCase generated = GenerateCopy(name);
  return NamedCopy{name.arch, generated.copy, generated.memory};
}

absl::StatusOr<NamedCopy> LegalCopyOf(const CopyFlags& flags) {
  ASSIGN_OR_RETURN(NamedCopy named, CopyOf(flags));
  if (const CopyRule* broken = BrokenLimit(named.copy, named.arch); broken != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(named.name(), ": illegal by ", broken->section,
                                                   " (", broken->name, "): ", broken->text));
  }
  return named;
}

void PrintCsv(const std::vector<CopyElement>& elements, int rank) {
  std::string line = "shared,global";
  for (int d = 0; d < rank; ++d) absl::StrAppend(&line, ",c", d);
  std::puts(line.c_str());
  for (const CopyElement& e : elements) {
    line = absl::StrCat(e.shared, ",", e.inside ? absl::StrCat(e.global) : "");
    for (int d = 0; d < rank; ++d) absl::StrAppend(&line, ",", e.at[d]);
    std::puts(line.c_str());
  }
}

// Compares a described copy, a named case, or generated ones of the forms that match globs.
void Check(const CopyFlags& flags, Call& call) {
  if (flags.csv || !flags.svg.empty()) {
    return call.Say(Verdict::kUsage,
                    "--device compares copies and draws none: without --csv, --svg");
  }
  const bool single = !flags.fields.empty() || absl::StrContains(flags.form, '@');
  if (!single) {
    const auto tasks = TasksOf(flags.form.empty() ? "*" : flags.form, flags.seed,
                               static_cast<int64_t>(flags.cases));
    return tasks.ok() ? RunCopyCheck(flags.device, *tasks, call) : call.Say(tasks.status());
  }
  const auto named = LegalCopyOf(flags);
  if (!named.ok()) return call.Say(named.status());
  const GlobalRange range = TouchedRange(named->copy);
  if (range.last - range.first > kMaxGlobalBytes) {
    return call.Say(Verdict::kUsage, absl::StrCat("the copy touches ", range.last - range.first,
                                                  " bytes from the first to the last in global "
                                                  "memory; --device takes at most ",
                                                  kMaxGlobalBytes));
  }
  CopyTask task = {.arch = named->arch, .form = named->copy.form};
  task.described = CopyCase{named->copy, named->memory};
  RunCopyCheck(flags.device, {task}, call);
}

void RunCopy(const CopyFlags& flags, Call& call) {
  if (!flags.device.empty()) return Check(flags, call);
  const auto named = LegalCopyOf(flags);
  if (!named.ok()) return call.Say(named.status());
  const TensorCopy& copy = named->copy;
  if (flags.csv && call.globals.json)
    return call.Say(Verdict::kUsage, "use either --csv or --json");
  if (!flags.svg.empty()) {
    if (const absl::Status s = WriteFileDurably(flags.svg, CopySvg(copy, flags.lines)); !s.ok()) {
      return call.Say(s, Verdict::kNotWritten);
    }
  }
  if (flags.csv) return PrintCsv(Elements(copy), copy.map.rank);
  CopyOutput output = {*named};
  if (call.globals.json) {
    for (const CopyElement& e : Elements(copy)) output.elements.push_back({e, copy.map.rank});
  }
  call.Print(output, [&] {
    return absl::StrCat(named->name(), " ", FieldsText(copy), "\n", CopySummary(copy), "\n\n",
                        CopyText(copy, flags.lines, call.console.style()));
  });
}

}  // namespace

Action AddCopy(CLI::App& command) {
  const auto flags = std::make_shared<CopyFlags>();
  AddOption(
      command, "form", flags->form,
      "ARCH/FORM such as sm_100/load.tile_gather4.2d, or a case such as sm_90/load.tile.3d@g1:1:7 "
      "[sm_90/load.tile of the tensor's rank, or load.im2col if --channels or --pixels is "
      "given]");
  for (const CopyField& field : CopyFields()) {
    const std::string name = field.name;
    const auto set = [flags, name](const std::string& value) { flags->fields[name] = value; };
    Flag flag = AddRepeated(command, absl::StrCat("--", name), set, field.what);
    *field.values == '\0' ? flag.TypeName("N,...") : flag.OneOf(SplitWords(field.values));
  }
  AddFlag(command, "--csv", flags->csv, "print CSV: a line for each element");
  AddOption(command, "--svg", flags->svg, "file for a drawing");
  AddOption(command, "--lines", flags->lines, "most lines of 128 bytes to draw; 0: all")
      .Range(0, 1 << 14);
  AddOption(command, "--device", flags->device,
            "compare the copies of this device with the model's, for example faulty:pitch=tight: "
            "`form` may be a glob, and fields describe a single copy")
      .TypeName("DEVICE");
  AddOption(command, "--cases", flags->cases, "with --device: generated cases per form").Count();
  AddSeed(command, flags->seed);
  return {RunCopy, flags, {SchemaOf<CopyOutput>, {CopyCheckSchema, "--device"}}};
}

}  // namespace mmadiff
