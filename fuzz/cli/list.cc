// mmadiff list: the tables, one name a line.
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "corpus/cases/generate.h"
#include "corpus/cases/strategy.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/pager.h"
#include "fuzz/cli/typed_name.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/output/case_json.h"
#include "fuzz/output/json_text.h"
#include "fuzz/schedule/class_schedule.h"
#include "fuzz/unit/devices.h"
#include "sim/lanes/lanes.h"
#include "sim/parameter.h"
#include "sim/product.h"
#include "sim/quoted_name.h"
#include "sim/simulate.h"
#include "triage/model_words.h"

namespace mmadiff {
namespace {

using Json = nlohmann::ordered_json;

// One entry of a list: the plain name, the long line, and the JSON object.
struct Entry {
  std::string name, line;
  Json json;
  bool usable = true;      // false: an instruction that cannot be simulated, shown with --evidence
  std::string words = {};  // of an instruction that is named
};

std::string FileText(const Evidence& e) {
  return *e.file == '\0' ? "" : absl::StrCat(" [", e.file, "]");
}

Entry EntryOf(const Operation& op) {
  const Instruction& i = *op.instruction;
  const Evidence& e = op.numerics->evidence;
  const std::string algorithm = Describe(op.numerics->algorithm);
  const bool any_nan = op.numerics->nan_verdict == NanVerdict::kAnyNan;
  const bool lanes = HasLanes(op.model);
  std::string sizes;
  for (const Sizes& s : i.sizes) {
    absl::StrAppendFormat(&sizes, "\n  also m=%d n=%d..%d in steps of %d", s.m, s.n_min, s.n_max,
                          s.n_step);
  }
  const std::string words = DescribeModel(op.model);
  return {op.name,
          absl::StrCat(
              op.name, "\n  ", words, "\n  ", algorithm,
              any_nan ? "; the bits of a NaN are not promised" : "", "\n  ", Name(e.grade), ": ",
              e.text, FileText(e), *e.others == '\0' ? "" : absl::StrCat("\n  others: ", e.others),
              "\n  native on ", *i.native_on ? i.native_on : "nothing (made of other instructions)",
              "; ", i.source, "\n  simulated ", lanes ? "in vector lanes" : "one after the other",
              sizes),
          {{"name", op.name},
           {"m", i.shape.m},
           {"n", i.shape.n},
           {"k", i.shape.k},
           {"blocks", i.shape.blocks},
           {"d", i.d->name},
           {"a", i.a->name},
           {"b", i.b->name},
           {"c", i.c->name},
           {"scale", i.scale == nullptr ? "" : i.scale->name},
           {"scales", i.shape.scales},
           {"algorithm", algorithm},
           {"parameters", ParametersJson(AlgorithmFields(op.numerics->algorithm))},
           {"lanes", lanes},
           {"nan_bits", !any_nan},
           {"grade", Name(e.grade)},
           {"evidence", e.text},
           {"file", e.file},
           {"others", e.others},
           {"native_on", i.native_on},
           {"source", i.source},
           {"words", words}},
          true,
          words};
}

std::vector<Entry> ListInstructions() {
  std::vector<Entry> entries;
  for (const Operation& op : Operations()) entries.push_back(EntryOf(op));
  for (const UnknownNumerics& u : AllUnknown()) {
    const std::string name = absl::StrCat(u.arch, "/", u.instruction);
    entries.push_back({name,
                       absl::StrCat(name, "\n  ", Name(u.evidence.grade), ": ", u.evidence.text,
                                    FileText(u.evidence)),
                       {{"name", name},
                        {"grade", Name(u.evidence.grade)},
                        {"evidence", u.evidence.text},
                        {"file", u.evidence.file}},
                       false,
                       ""});
  }
  return entries;
}

// Adds what answers on an open device, and how many instructions it runs how.
void Describe(const Device& device, std::string& line, Json& json) {
  int native = 0, emulated = 0;
  for (const Operation& op : Operations()) {
    if (device.Supports(op).ok()) ++(device.Emulates(op) ? emulated : native);
  }
  const auto unmodelled = std::ranges::count_if(
      UnmodelledOperations(), [&](const Operation& op) { return device.Supports(op).ok(); });
  absl::StrAppend(&line, Name(device.identity()), "; instructions: ", native, " native, ", emulated,
                  " emulated");
  if (unmodelled > 0) {
    absl::StrAppend(&line, ", ", unmodelled, " without a model (for survey, probe and record)");
  }
  json["identity"] = Name(device.identity());
  json["native"] = native;
  json["emulated"] = emulated;
  json["without_model"] = unmodelled;
}

std::vector<Entry> ListDevices() {
  std::vector<Entry> entries;
  for (const DeviceKind& kind : Devices()) {
    Json json = {{"device", kind.usage}, {"what", kind.what}};
    std::string line = absl::StrFormat("%-20s %s", kind.usage, kind.what);
    if (std::string(kind.name) == "host") {
      const DeviceOr host = OpenDevice("host");
      if (!host.ok()) continue;
      line += ": ";
      Describe(**host, line, json);
      for (const Operation& op : Operations()) {
        const absl::Status supported = (*host)->Supports(op);
        if (op.arch() != "x86") continue;
        // The message begins with the name.
        absl::StrAppend(&line, "\n  ", supported.ok() ? op.name + "  native" : supported.message());
        Json& listed =
            json["instructions"].emplace_back(Json{{"name", op.name}, {"native", supported.ok()}});
        if (!supported.ok()) listed["why"] = supported.message();
      }
    }
    if (kind.is_gpu) {
      DeviceOr gpu = kind.open("0");
      if (!gpu.ok()) {
        absl::StrAppend(&line, ": ", gpu.status().message());
        json["why"] = gpu.status().message();
      }
      for (int n = 1; gpu.ok(); gpu = kind.open(absl::StrCat(n++))) {
        absl::StrAppend(&line, "\n  ", (*gpu)->name(), "  ");
        Json& described = json["gpus"].emplace_back(Json{{"device", (*gpu)->name()}});
        Describe(**gpu, line, described);
      }
    }
    entries.push_back({kind.usage, line, json});
  }
  return entries;
}

std::vector<Entry> ListStrategies() {
  std::vector<Entry> entries;
  for (const Strategy& s : Strategies()) {
    std::string line = absl::StrFormat("%-10s %s", s.name, s.what);
    Json json = {{"name", s.name}, {"what", s.what}};
    if (std::string(s.name) == "boundary") {
      struct {
        const char *title, *key;
        std::span<const InputClass> classes;
      } const kinds[] = {{"floating point", "float", float_classes::kClasses},
                         {"block-scaled, also", "scaled", scaled_classes::kClasses},
                         {"integer", "integer", integer_classes::kClasses},
                         {"not in turn (names and `scheduled` only)", "late", LateClasses()}};
      for (const auto& kind : kinds) {
        absl::StrAppend(&line, "\n  ", kind.title, ":");
        for (const InputClass& c : kind.classes) {
          absl::StrAppend(&line, absl::StrFormat("\n    %-16s %s", c.name, c.what));
          json[kind.key].push_back({{"name", c.name}, {"what", c.what}});
        }
      }
    }
    entries.push_back({s.name, line, json});
  }
  const Strategy& s = Scheduled();
  entries.push_back({s.name,
                     absl::StrFormat("%-10s %s (run, mutants)", s.name, s.what),
                     {{"name", s.name}, {"what", s.what}}});
  return entries;
}

std::vector<Entry> ListFormats() {
  std::vector<Entry> entries;
  for (const Format* f : kFormats) {
    entries.push_back(
        {f->name,
         absl::StrFormat("%-8s %2d bits: %2d exponent, %2d fraction, %d ignored", f->name, f->bits,
                         f->exponent_bits, f->fraction_bits, f->ignored_bits),
         {{"name", f->name},
          {"bits", f->bits},
          {"exponent_bits", f->exponent_bits},
          {"fraction_bits", f->fraction_bits},
          {"min_exponent", f->min_exponent},
          {"ignored_bits", f->ignored_bits}}});
  }
  return entries;
}

std::vector<Entry> ListProducts() {
  std::vector<Entry> entries;
  for (const Product& p : Products()) {
    entries.push_back(
        {p.name,
         absl::StrFormat("%-12s %s%s", p.name, p.arch,
                         HasTables(p.arch) ? "" : " (the tables have no row of it)"),
         {{"name", p.name}, {"architecture", p.arch}, {"tables", HasTables(p.arch)}}});
  }
  return entries;
}

// The answer of the model to the first operation and operands of an answer.
std::string ModelWord(const Vector& v, const VectorAnswer& answer) {
  for (const VectorCase& c : CasesOf(v)) {
    if (c.answer == &answer) return HexWord(*v.d, Simulate(c.op->model, c.dot));
  }
  return "";
}

std::vector<Entry> ListVectors() {
  std::vector<Entry> entries;
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) {
      std::string line = absl::StrCat(v.name, "\n  ", v.about);
      if (!v.section.empty()) absl::StrAppend(&line, "\n  in: ", v.section);
      Json json = {{"name", v.name},         {"source", file.source},   {"link", file.link},
                   {"section", v.section},   {"about", v.about},        {"reason", v.reason},
                   {"operands", v.operands}, {"answers", Json::array()}};
      for (const VectorAnswer& answer : v.answers) {
        absl::StrAppend(&line, "\n  ", Name(answer.kind), " ", WordText(v, answer), " ",
                        answer.patterns, answer.who.empty() ? "" : " : ", answer.who);
        json["answers"].push_back(AnswerJson(v, answer));
      }
      entries.push_back({v.name, line, json});
    }
  }
  return entries;
}

std::vector<Entry> ListDifferences() {
  std::vector<Entry> entries;
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) {
      for (const VectorAnswer& answer : v.answers) {
        if (answer.kind != AnswerKind::kContested) continue;
        const std::string model = ModelWord(v, answer);
        entries.push_back({v.name,
                           absl::StrCat(answer.patterns, "\n  ", v.name, ": ", v.about, "\n  ",
                                        WordText(v, answer), " ", answer.who, "\n  ", model,
                                        " the model\n  ", v.reason),
                           {{"instructions", answer.patterns},
                            {"vector", v.name},
                            {"about", v.about},
                            {"d", WordText(v, answer)},
                            {"who", answer.who},
                            {"model", model},
                            {"reason", v.reason}}});
      }
    }
  }
  return entries;
}

struct List {
  const char* name;
  std::vector<Entry> (*make)();
  bool long_by_default;
};

constexpr List kLists[] = {
    {"instructions", ListInstructions, false}, {"devices", ListDevices, true},
    {"strategies", ListStrategies, true},      {"formats", ListFormats, true},
    {"products", ListProducts, true},          {"vectors", ListVectors, true},
    {"differences", ListDifferences, true}};

constexpr char kFindings[] = "findings";
constexpr size_t kMostInWords = 12;

struct ListFlags {
  std::string what = "instructions";
  std::vector<std::string> names;  // a glob; folders of findings
  bool evidence = false;
};

// What follows a break stands below the second column of its line, if that has columns.
std::string Wrapped(absl::string_view text, size_t width) {
  constexpr size_t kWidest = 24;
  std::string wrapped;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t own = std::min(line.find_first_not_of(' '), line.size());
    const size_t second = line.find_first_not_of(' ', line.find("  ", own));
    const bool columns = line.find("  ", own) != line.npos && second - own <= kWidest;
    absl::StrAppend(&wrapped, Wrap(line, width, columns ? second - own : 4), "\n");
  }
  return wrapped;
}

void PrintEntries(const std::vector<Entry>& entries, const ListFlags& flags, bool lines,
                  size_t width) {
  const bool named =
      !flags.names.empty() && flags.names.front().find_first_of("*?[") == std::string::npos;
  std::vector<std::string> names;
  std::string text;
  if (named && entries.size() <= kMostInWords && !flags.evidence) {
    for (const Entry& entry : entries) {
      if (!entry.words.empty()) absl::StrAppend(&text, entry.name, "\n  ", entry.words, "\n");
    }
    if (!text.empty()) return PrintPaged(Wrapped(absl::StripSuffix(text, "\n"), width));
  }
  for (const Entry& entry : entries) {
    names.push_back(entry.name);
    absl::StrAppend(&text, Wrapped(PlainText(entry.line), width));
  }
  PrintPaged(lines || flags.evidence ? text : InColumns(names));
}

// Of the runs that have no --workdir.
std::vector<std::string> FoldersOfAllFindings() {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& run : std::filesystem::directory_iterator("mmadiff-runs", error)) {
    const std::filesystem::path findings = run.path() / "findings";
    if (std::filesystem::is_directory(findings, error)) folders.push_back(findings.string());
  }
  return folders;
}

void ListFiledFindings(const ListFlags& flags, const Globals& globals, Ending& ending) {
  Console console = globals.MakeConsole();
  std::vector<std::string> damaged;
  const absl::StatusOr<std::vector<FiledFinding>> findings = ListFindings(
      flags.names.empty() ? FoldersOfAllFindings() : flags.names, damaged, ending.ledger());
  if (absl::IsNotFound(findings.status())) {
    return ending.Say(Verdict::kUsage, std::string(findings.status().message()));
  }
  if (!findings.ok()) return ending.Say(findings.status());
  for (const std::string& what : damaged) ending.Say(Verdict::kHarmed, what);
  Json all = Json::array();
  std::string text;
  for (const FiledFinding& f : *findings) {
    all.push_back({{"state", Name(f.state)},
                   {"instruction", f.op},
                   {"bucket", f.bucket},
                   {"cases", f.cases},
                   {"path", f.path}});
    absl::StrAppendFormat(&text, "%-9s  %s  %s  cases: %d\n", Name(f.state), f.op, f.bucket,
                          f.cases);
    absl::StrAppend(&text, "  ", f.path, "\n");
  }
  if (globals.json) {
    std::printf("%s\n", JsonText(all, 1).c_str());
  } else {
    PrintPaged(Wrap(PlainText(text), console.style().width, 4));
    if (findings->empty()) console.Warn("no findings are filed there");
  }
}

// But for instructions that nobody can simulate.
Filtered<Entry> Usable(std::vector<Entry> entries) {
  Filtered<Entry> usable(Thing::kOperation);
  for (Entry& entry : entries) {
    const std::string name = entry.name;
    if (entry.usable) {
      usable.Keep(std::move(entry), name);
    } else {
      const bool formats = FindUnmodelled(name) != nullptr;
      usable.Leave(formats ? Reason::kNoModel : Reason::kNoFormats, name, false,
                   "--evidence lists them too");
    }
  }
  return usable;
}

void RunList(const ListFlags& flags, const Globals& globals, Ending& ending) {
  if (flags.what == kFindings) return ListFiledFindings(flags, globals, ending);
  if (flags.names.size() > 1) {
    return ending.Say(Verdict::kUsage,
                      absl::StrCat("list ", flags.what, " takes one glob, in quotes: 'x86/*'"));
  }
  const bool instructions = flags.what == kLists[0].name;
  std::string wanted = flags.names.empty() ? "*" : flags.names.front();
  std::vector<std::string> meant;  // names, where one means several
  if (instructions) meant = QuotedOperations(wanted);
  if (meant.size() < 2) {
    const absl::StatusOr<std::string> typed = instructions ? TypedGlob(wanted) : wanted;
    if (!typed.ok()) return ending.Say(typed.status());
    wanted = ResolveAlias(*typed);
    meant = {wanted};
  }
  for (const List& list : kLists) {
    if (flags.what != list.name) continue;
    std::vector<Entry> entries = list.make();
    std::erase_if(entries, [&](const Entry& entry) {
      return std::ranges::none_of(meant, [&](const std::string& glob) {
        return fnmatch(glob.c_str(), entry.name.c_str(), 0) == 0;
      });
    });
    for (const std::string& name : meant) {
      const Operation* op = instructions ? FindOperation(name) : nullptr;
      if (op != nullptr && std::ranges::count(entries, name, &Entry::name) == 0)
        entries.push_back(EntryOf(*op));  // of another size
    }
    if (entries.empty()) {
      return ending.Say(Verdict::kUsage, instructions
                                             ? std::string(OneOperation(wanted).status().message())
                                             : absl::StrCat("no ", flags.what, " '", wanted, "'"));
    }
    if (flags.names.empty() && !flags.evidence) {
      std::erase_if(entries, [](const Entry& entry) { return !entry.usable; });
    } else if (!flags.evidence) {
      entries = ending.ledger().Keep(Usable(std::move(entries)));
      for (const Entry& entry : entries) ending.ledger().Compare(Thing::kOperation, entry.name);
    }
    if (entries.empty()) return;  // the ledger says why
    if (!globals.json) {
      PrintEntries(entries, flags, list.long_by_default, globals.MakeConsole().style().width);
      continue;
    }
    Json all = Json::array();
    for (const Entry& entry : entries) all.push_back(entry.json);
    std::printf("%s\n", JsonText(all, 1).c_str());
  }
}

}  // namespace

Action AddList(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<ListFlags>();
  std::vector<std::string> names;
  for (const List& list : kLists) names.push_back(list.name);
  names.push_back(kFindings);
  AddOption(command, "what", flags->what, "what to list")
      .Check(
          [names](const std::string& what) {
            if (std::ranges::count(names, what) > 0) return std::string();
            return absl::StrCat("no '", what, "' to list",
                                NearestText("; did you mean ", what, names, 1), ": there are ",
                                absl::StrJoin(names, ", "));
          },
          names);
  AddOption(command, "names", flags->names,
            "a glob: only names that match; of findings their folders "
            "[mmadiff-runs/*/findings]")
      .TypeName("");
  AddFlag(command, "--evidence", flags->evidence,
          "with algorithm, parameters and evidence; also the instructions "
          "that nobody can simulate");
  return [flags, &globals](Ending& ending) { RunList(*flags, globals, ending); };
}

}  // namespace mmadiff
