#include "fuzz/cli/list_items.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "corpus/cases/generate.h"
#include "corpus/cases/strategy.h"
#include "corpus/stored_lowerings.h"
#include "corpus/stored_plans.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "fuzz/cli/counts.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/output/progress.h"
#include "fuzz/output/shared_fields.h"
#include "fuzz/schedule/class_schedule.h"
#include "fuzz/unit/devices.h"
#include "sim/lanes/lanes.h"
#include "sim/open_changes.h"
#include "sim/parameter.h"
#include "sim/pattern.h"
#include "sim/product.h"
#include "sim/simulate.h"
#include "sim/sources.h"
#include "triage/model_words.h"

namespace mmadiff {

Fields<StoredPlan> FieldsOf(const StoredPlan*) {
  using P = StoredPlan;
  return {
      {"kernel", &P::kernel},
      {"library", &P::library},
      {"version", &P::version},
      {"architecture", &P::architecture},
      {"when", &P::when, Prose("shapes and settings for which it holds")},
      {"plan", &P::plan, "its numbers are those of one case"},
      {"grade", &P::grade, {.words = {"source", "measured"}}},
      {"evidence", &P::evidence, "lines of the library's source, or a recording"},
  };
}

Fields<InputClass> FieldsOf(const InputClass*) {
  using C = InputClass;
  return {{"name", &C::name}, {"what", &C::what, Prose()}};
}

Fields<Format> FieldsOf(const Format*) {
  using F = Format;
  return {
      {"name", &F::name},
      {"bits", &F::bits},
      {"exponent_bits", &F::exponent_bits},
      {"fraction_bits", &F::fraction_bits},
      {"min_exponent", &F::min_exponent, {.negative = true}},
      {"ignored_bits", &F::ignored_bits},
  };
}

Fields<Product> FieldsOf(const Product*) {
  using P = Product;
  return {
      {"name", &P::name},
      {"architecture", &P::arch},
      {"tables", [](const P& p) { return HasTables(p.arch); },
       "whether the tables have rows of the architecture"},
  };
}

Fields<StoredLowering> FieldsOf(const StoredLowering*) {
  using S = StoredLowering;
  return {
      {"lowering", &S::name, "digest of the expressions of all results"},
      {"ptxas", &S::ptxas, "versions that make it"},
      {"compared", &S::compared, Prose()},
      {"computes", &S::computes, Prose("expression of the first result")},
  };
}

namespace {

template <class List>
std::optional<List> IfAny(const List& list) {
  return list.empty() ? std::nullopt : std::optional(list);
}

std::string FileText(const Evidence& e) {
  return *e.file == '\0' ? "" : absl::StrCat(" [", e.file, "]");
}

// "\n  sources: MMA-Sim 2.1.1 (2026-10-22); ..."; empty without sources.
std::string SourcesText(const Evidence& e) {
  std::vector<std::string> cited;
  for (const Source* source : SourcesOf(e.sources)) cited.push_back(Citation(*source, true));
  return cited.empty() ? "" : absl::StrCat("\n  sources: ", absl::StrJoin(cited, "; "));
}

std::string ChangesFile(const Operation& op) {
  return absl::StrCat("corpus/observations/", std::string(op.arch()), "_changes.tsv");
}

// `op` is nullptr for an instruction that cannot be simulated.
std::string OpenQuestions(const Evidence& e, const Operation* op) {
  const int open = op == nullptr || e.grade != Grade::kMeasured ? 0 : OpenChanges(*op);
  return open == 0 ? e.open
                   : absl::StrCat(e.open, *e.open == '\0' ? "" : "; ",
                                  "the changes of a parameter in ", ChangesFile(*op));
}

std::string OpenText(const Operation& op) {
  const int open = OpenChanges(op);
  return open == 0 ? "" : absl::StrCat(", ", open, " open (", ChangesFile(op), ")");
}

std::vector<StoredLowering> StoredOf(const Operation& op) {
  std::vector<StoredLowering> stored;
  for (const StoredLowering* l : LoweringsOf(op.name)) stored.push_back(*l);
  return stored;
}

std::string LoweringsText(const Operation& op) {
  std::string text;
  for (const StoredLowering* l : LoweringsOf(op.name)) {
    absl::StrAppend(&text, "\n  ", l->name, " of ptxas ", absl::StrJoin(l->ptxas, ", "), ": ",
                    l->computes, "; ", l->compared);
  }
  return text;
}

// The tables' data on an instruction that can be simulated.
struct ComputedBy {
  const Operation& op;

  const Instruction& i() const { return *op.instruction; }
  const Numerics& n() const { return *op.numerics; }
};
struct KnownFrom {
  const Operation& op;
};

Fields<ComputedBy> FieldsOf(const ComputedBy*) {
  using C = ComputedBy;
  return {
      {"m", [](const C& c) { return c.i().shape.m; }},
      {"n", [](const C& c) { return c.i().shape.n; }},
      {"k", [](const C& c) { return c.i().shape.k; }},
      {"blocks", [](const C& c) { return c.i().shape.blocks; }},
      {"d", [](const C& c) { return c.i().d->name; }},
      {"a", [](const C& c) { return c.i().a->name; }},
      {"b", [](const C& c) { return c.i().b->name; }},
      {"c", [](const C& c) { return c.i().c->name; }},
      {"scale", [](const C& c) { return c.i().scale == nullptr ? "" : c.i().scale->name; }},
      {"scales", [](const C& c) { return c.i().shape.scales; }},
      {"groups", [](const C& c) { return c.i().shape.groups; }},
      {"algorithm", [](const C& c) { return Describe(c.n().algorithm); }, Prose()},
      {"parameters", [](const C& c) { return ParametersJson(AlgorithmFields(c.n().algorithm)); },
       ParameterValues()},
      {"lanes", [](const C& c) { return HasLanes(c.op.model); },
       "whether the model is simulated in vector lanes"},
      {"nan_bits", [](const C& c) { return c.n().nan_verdict != NanVerdict::kAnyNan; },
       "whether the bits of a NaN result are compared"},
  };
}

Fields<KnownFrom> FieldsOf(const KnownFrom*) {
  using K = KnownFrom;
  return {
      {"others",
       [](const K& k) {
         const Evidence* others = k.op.numerics->evidence.others;
         return others == nullptr ? "" : Text(*others);
       },
       Prose("evidence that others published or recorded")},
      {"lowerings", [](const K& k) { return StoredOf(k.op); },
       "its computations in the machine code of versions of ptxas (corpus/lowerings)"},
      {"native_on", [](const K& k) { return k.op.instruction->native_on; },
       "architectures whose machine code has it as one instruction"},
      {"source", [](const K& k) { return k.op.instruction->source; },
       Prose("source of the formats and the layout")},
      {"words", [](const K& k) { return DescribeModel(k.op.model); },
       Prose("model in words, with the parameters that are unusual for its family")},
  };
}

struct InstructionItem {
  const std::string& name;
  const Evidence& evidence;
  const Operation* op = nullptr;  // nullptr: it cannot be simulated
};

Fields<InstructionItem> FieldsOf(const InstructionItem*) {
  using I = InstructionItem;
  return {
      {"name", [](const I& i) { return i.name; }, InstructionName()},
      {"type",
       [](const I& i) {
         return i.op ? std::optional(std::string(Name(TypeOf(*i.op->instruction)))) : std::nullopt;
       },
       Absent(
           {.what = "kind of arithmetic", .words = NamesOf<InstructionType>(kInstructionTypes)})},
      Field<I>::Flat(
          [](const I& i) { return i.op ? std::optional(ComputedBy{*i.op}) : std::nullopt; }),
      {"grade",
       [](const I& i) { return Name(i.evidence.grade); },
       {.words = NamesOf<Grade>(static_cast<int>(Grade::kOwn) + 1)}},
      {"evidence", [](const I& i) { return TextOfClaims(i.evidence); }, Prose()},
      {"open_questions", [](const I& i) { return OpenQuestions(i.evidence, i.op); },
       Prose("empty without open questions")},
      {"sources", [](const I& i) { return SplitWords(i.evidence.sources); },
       "sources of the evidence, by the ids of `list sources`"},
      {"file", [](const I& i) { return i.evidence.file; }},
      {"open",
       [](const I& i) {
         const bool measured = i.op && i.evidence.grade == Grade::kMeasured;
         return measured ? std::optional(OpenChanges(*i.op)) : std::nullopt;
       },
       Absent({.what = "changes of one parameter of a measured model to a neighboring value that "
                       "no stored answer or digest refutes"})},
      Field<I>::Flat(
          [](const I& i) { return i.op ? std::optional(KnownFrom{*i.op}) : std::nullopt; }),
  };
}

}  // namespace

Entry EntryOf(const Operation& op) {
  const Instruction& i = *op.instruction;
  const Evidence& e = op.numerics->evidence;
  const bool any_nan = op.numerics->nan_verdict == NanVerdict::kAnyNan;
  std::string sizes;
  for (const Sizes& s : i.sizes) {
    absl::StrAppendFormat(&sizes,
                          "\n  the instruction also has the sizes m=%d n=%d..%d in steps of %d",
                          s.m, s.n_min, s.n_max, s.n_step);
  }
  const std::string words = DescribeModel(op.model);
  return {
      op.name,
      absl::StrCat(
          op.name, "\n  ", Name(TypeOf(i)), "\n  ", words, "\n  ", Describe(op.numerics->algorithm),
          any_nan ? "; the bits of a NaN are unspecified" : "", "\n  ", Name(e.grade), OpenText(op),
          ": ", Text(e), FileText(e), SourcesText(e),
          e.others == nullptr
              ? ""
              : absl::StrCat("\n  others: ", Text(*e.others), SourcesText(*e.others)),
          "\n  native on ", *i.native_on ? i.native_on : "nothing (made of other instructions)",
          "; formats and layout: ", i.source, LoweringsText(op), "\n  mmadiff simulates ",
          HasLanes(op.model) ? "several dot products at a time (SIMD)"
                             : "one dot product at a time",
          sizes),
      JsonOf(InstructionItem{op.name, e, &op}), true, words};
}

namespace {

std::vector<Entry> ListInstructions() {
  std::vector<Entry> entries;
  for (const Operation* op : ReadOperations()) entries.push_back(EntryOf(*op));
  for (const Operation& op : Operations()) entries.push_back(EntryOf(op));
  for (const UnknownNumerics& u : AllUnknown()) {
    const std::string name = absl::StrCat(u.arch, "/", u.instruction);
    entries.push_back({name,
                       absl::StrCat(name, "\n  ", Name(u.evidence.grade), ": ", Text(u.evidence),
                                    FileText(u.evidence), SourcesText(u.evidence)),
                       JsonOf(InstructionItem{name, u.evidence}), false, ""});
  }
  return entries;
}

// The identity of an open device, and the number of instructions that it runs natively or emulated.
struct Abilities {
  std::string device_identity;
  int64_t native = 0, emulated = 0, unmodelled = 0;
};
struct RowOfHost {
  std::string name;
  std::optional<std::string> why;  // reason why it is not native
};
struct Gpu {
  std::string device;
  Abilities abilities;
};
struct DeviceItem {
  const DeviceKind& kind;
  std::optional<Abilities> host = {};
  std::vector<RowOfHost> instructions = {};
  std::optional<std::string> why = {};
  std::vector<Gpu> gpus = {};
};

Fields<Abilities> FieldsOf(const Abilities*) {
  using A = Abilities;
  return {
      {"device_identity", &A::device_identity},
      {"native", &A::native, "number of instructions that the device executes natively"},
      {"emulated", &A::emulated,
       "number of instructions that several machine instructions emulate"},
      {"without_model", &A::unmodelled, "number of executable instructions without a model"},
  };
}

Fields<RowOfHost> FieldsOf(const RowOfHost*) {
  using R = RowOfHost;
  return {
      {"name", &R::name, InstructionName()},
      {"native", [](const R& r) { return !r.why; }},
      {"why", &R::why, Absent(Prose("reason if it is not native"))},
  };
}

Fields<Gpu> FieldsOf(const Gpu*) {
  return {{"device", &Gpu::device}, Field<Gpu>::Flat(&Gpu::abilities)};
}

Fields<DeviceItem> FieldsOf(const DeviceItem*) {
  using D = DeviceItem;
  return {
      {"device", [](const D& d) { return d.kind.usage; }},
      {"what", [](const D& d) { return d.kind.what; }, Prose()},
      Field<D>::Flat([](const D& d) { return d.host; }),
      {"instructions", [](const D& d) { return IfAny(d.instructions); }, Absent()},
      {"why", &D::why, Absent(Prose("reason why no such GPU can be opened"))},
      {"gpus", [](const D& d) { return IfAny(d.gpus); }, Absent()},
  };
}

Abilities AbilitiesOf(const Device& device) {
  Abilities all = {Name(device.identity())};
  for (const Operation& op : Operations()) {
    if (device.Supports(op).ok()) ++(device.Emulates(op) ? all.emulated : all.native);
  }
  all.unmodelled = std::ranges::count_if(
      UnmodelledOperations(), [&](const Operation& op) { return device.Supports(op).ok(); });
  return all;
}

std::string Text(const Abilities& a) {
  return absl::StrCat(a.device_identity, "; instructions: ", a.native, " native, ", a.emulated,
                      " emulated",
                      a.unmodelled == 0 ? ""
                                        : absl::StrCat(", ", a.unmodelled,
                                                       " without a model (for survey, probe and "
                                                       "record)"));
}

std::vector<RowOfHost> RowsOfHost(const Device& host) {
  std::vector<RowOfHost> rows;
  for (const Operation& op : Operations()) {
    if (op.arch() != "x86") continue;
    const absl::Status supported = host.Supports(op);
    rows.push_back(
        {op.name, supported.ok() ? std::nullopt : std::optional(std::string(supported.message()))});
  }
  return rows;
}

std::vector<Entry> ListDevices() {
  std::vector<Entry> entries;
  for (const DeviceKind& kind : Devices()) {
    DeviceItem item = {kind};
    std::string line = absl::StrFormat("%-20s %s", kind.usage, kind.what);
    if (std::string(kind.name) == "host") {
      const DeviceOr host = OpenDevice("host");
      if (!host.ok()) continue;
      item.host = AbilitiesOf(**host);
      item.instructions = RowsOfHost(**host);
      absl::StrAppend(&line, ": ", Text(*item.host));
      for (const RowOfHost& row : item.instructions) {
        const bool named = row.why && absl::StartsWith(*row.why, row.name);
        absl::StrAppend(&line, "\n  ",
                        named     ? *row.why
                        : row.why ? row.name + "  not supported by the device `host`"
                                  : row.name + "  native");
      }
    }
    if (kind.is_gpu) {
      DeviceOr gpu = kind.open("0");
      if (!gpu.ok()) {
        item.why = std::string(gpu.status().message());
        absl::StrAppend(&line, ": ", *item.why);
      }
      for (int n = 1; gpu.ok(); gpu = kind.open(absl::StrCat(n++))) {
        const Gpu& one = item.gpus.emplace_back(Gpu{(*gpu)->name(), AbilitiesOf(**gpu)});
        absl::StrAppend(&line, "\n  ", one.device, "  ", Text(one.abilities));
      }
    }
    entries.push_back({kind.usage, line, JsonOf(item)});
  }
  return entries;
}

struct StrategyItem {
  const char *name, *what;
  std::span<const InputClass> floats = {}, scaled = {}, integers = {}, conversions = {}, late = {};
};

Fields<StrategyItem> FieldsOf(const StrategyItem*) {
  using S = StrategyItem;
  return {
      {"name", &S::name},
      {"what", &S::what, Prose()},
      {"float", [](const S& s) { return IfAny(s.floats); }, Absent()},
      {"scaled", [](const S& s) { return IfAny(s.scaled); }, Absent()},
      {"integer", [](const S& s) { return IfAny(s.integers); }, Absent()},
      {"conversion", [](const S& s) { return IfAny(s.conversions); }, Absent()},
      {"late", [](const S& s) { return IfAny(s.late); }, Absent()},
  };
}

std::string ClassesText(const char* title, std::span<const InputClass> classes) {
  std::string text = classes.empty() ? "" : absl::StrCat("\n  ", title, ":");
  for (const InputClass& c : classes) {
    absl::StrAppendFormat(&text, "\n    %-16s %s", c.name, c.what);
  }
  return text;
}

std::vector<Entry> ListStrategies() {
  std::vector<Entry> entries;
  for (const Strategy& s : Strategies()) {
    StrategyItem item = {s.name, s.what};
    if (std::string(s.name) == "boundary") {
      item.floats = float_classes::kClasses;
      item.scaled = scaled_classes::kClasses;
      item.integers = integer_classes::kClasses;
      item.conversions = conversion_classes::kClasses;
      item.late = LateClasses();
    }
    entries.push_back(
        {s.name,
         absl::StrCat(absl::StrFormat("%-10s %s", s.name, s.what),
                      ClassesText("floating point", item.floats),
                      ClassesText("block-scaled, also", item.scaled),
                      ClassesText("integer", item.integers),
                      ClassesText("conversion", item.conversions),
                      ClassesText("not in rotation (only by name and in `scheduled`)", item.late)),
         JsonOf(item)});
  }
  const Strategy& s = Scheduled();
  entries.push_back({s.name, absl::StrFormat("%-10s %s (run, mutants)", s.name, s.what),
                     JsonOf(StrategyItem{s.name, s.what})});
  return entries;
}

std::vector<Entry> ListFormats() {
  std::vector<Entry> entries;
  for (const Format* f : kFormats) {
    entries.push_back(
        {f->name,
         absl::StrFormat("%-8s %2d bits: %2d exponent, %2d fraction, %d ignored", f->name, f->bits,
                         f->exponent_bits, f->fraction_bits, f->ignored_bits),
         JsonOf(*f)});
  }
  return entries;
}

std::vector<Entry> ListProducts() {
  std::vector<Entry> entries;
  for (const Product& p : Products()) {
    entries.push_back({p.name,
                       absl::StrFormat("%-12s %s%s", p.name, p.arch,
                                       HasTables(p.arch) ? "" : " (no rows in the tables)"),
                       JsonOf(p)});
  }
  return entries;
}

// The model's result for the first operation and operands of an answer.
std::string ModelWord(const Vector& v, const VectorAnswer& answer) {
  for (const VectorCase& c : CasesOf(v)) {
    if (c.answer == &answer) return HexWord(*v.d, Simulate(c.op->model, c.dot));
  }
  return "";
}

struct VectorItem {
  const VectorFile& file;
  const Vector& vector;

  std::vector<AnswerOfVector> answers() const {
    std::vector<AnswerOfVector> answers;
    for (const VectorAnswer& answer : vector.answers) answers.push_back({vector, answer});
    return answers;
  }
};

Fields<VectorItem> FieldsOf(const VectorItem*) {
  using V = VectorItem;
  return {
      {"name", [](const V& v) { return v.vector.name; }},
      {"source", [](const V& v) { return v.file.source; }, Prose()},
      {"link", [](const V& v) { return v.file.link; }, Prose()},
      {"section", [](const V& v) { return v.vector.section; }, Prose()},
      {"about", [](const V& v) { return v.vector.about; }, Prose()},
      {"reason", [](const V& v) { return v.vector.reason; }, Prose()},
      {"operands", [](const V& v) { return v.vector.operands; }},
      {"answers", &V::answers},
  };
}

// A contested answer.
struct DifferenceItem {
  const Vector& vector;
  const VectorAnswer& answer;
  std::string model;
};

Fields<DifferenceItem> FieldsOf(const DifferenceItem*) {
  using D = DifferenceItem;
  return {
      {"instructions", [](const D& d) { return d.answer.patterns; }},
      {"vector", [](const D& d) { return d.vector.name; }},
      {"about", [](const D& d) { return d.vector.about; }, Prose()},
      {"d", [](const D& d) { return WordText(d.vector, d.answer); }},
      {"who", [](const D& d) { return d.answer.who; }, Prose()},
      {"model", &D::model},
      {"reason", [](const D& d) { return d.vector.reason; }, Prose()},
  };
}

std::vector<Entry> ListVectors() {
  std::vector<Entry> entries;
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) {
      std::string line = absl::StrCat(v.name, "\n  ", v.about);
      if (!v.section.empty()) absl::StrAppend(&line, "\n  in: ", v.section);
      for (const VectorAnswer& answer : v.answers) {
        absl::StrAppend(&line, "\n  ", Name(answer.kind), " ", WordText(v, answer), " ",
                        answer.patterns, answer.who.empty() ? "" : " : ", answer.who);
      }
      entries.push_back({v.name, line, JsonOf(VectorItem{file, v})});
    }
  }
  return entries;
}

std::vector<Entry> ListCounts() {
  std::vector<Entry> entries;
  for (const Count& count : Counts()) {
    entries.push_back({count.name,
                       absl::StrFormat("%-20s %d  %s", count.name, count.number, count.what),
                       JsonOf(count)});
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
                           JsonOf(DifferenceItem{v, answer, model})});
      }
    }
  }
  return entries;
}

// A source, and the operations whose evidence cites it.
struct SourceItem {
  const Source& source;
  std::vector<std::string> cited_by = {};
};

// Shell globs: without the braces and references of sim/pattern.h.
std::vector<std::string> Covered(const Source& source) {
  std::vector<std::string> globs;
  for (const std::string& pattern : SplitWords(source.covers)) {
    for (Expansion& e : Expand(pattern)) globs.push_back(std::move(e.text));
  }
  return globs;
}

Fields<SourceItem> FieldsOf(const SourceItem*) {
  using S = SourceItem;
  return {
      {"id", [](const S& s) { return s.source.id; }},
      {"name", [](const S& s) { return s.source.name; }},
      {"revision", [](const S& s) { return s.source.revision; }, "empty if it has none"},
      {"date", [](const S& s) { return s.source.date; },
       "of that revision or measurement: a day, a month or a year; empty if unknown"},
      {"covers", [](const S& s) { return Covered(s.source); },
       "globs of the instructions in its claims"},
      {"says", [](const S& s) { return s.source.says; }, Prose()},
      {"limits", [](const S& s) { return s.source.limits; }, Prose("limits of its claims")},
      {"withdrawn", [](const S& s) { return s.source.withdrawn; },
       Prose("the source that withdraws or replaces it")},
      {"cited_by", &S::cited_by, "instructions whose evidence cites it"},
  };
}

std::vector<Entry> ListSources() {
  std::map<std::string_view, std::vector<std::string>> cited;
  const auto cite = [&](const std::string& op, const Evidence& e) {
    for (const Source* source : SourcesOf(e.sources)) cited[source->id].push_back(op);
  };
  for (const Operation& op : Operations()) cite(op.name, op.numerics->evidence);
  for (const UnknownNumerics& u : AllUnknown()) {
    cite(absl::StrCat(u.arch, "/", u.instruction), u.evidence);
  }
  std::vector<Entry> entries;
  for (const Source& s : Sources()) {
    const std::vector<std::string>& by = cited[s.id];
    std::string line = absl::StrCat(s.id, "\n  ", Citation(s, false), "\n  ", s.says);
    if (*s.limits != '\0') absl::StrAppend(&line, "\n  limits: ", s.limits);
    if (*s.withdrawn != '\0') absl::StrAppend(&line, "\n  withdrawn: ", s.withdrawn);
    absl::StrAppend(&line, "\n  covers ", absl::StrJoin(Covered(s), " "), "; cited by ",
                    CountText(by.size(), "instruction"));
    entries.push_back({s.id, line, JsonOf(SourceItem{s, by})});
  }
  return entries;
}

std::vector<Entry> ListPlans() {
  std::vector<Entry> entries;
  for (const StoredPlan& p : StoredPlans()) {
    entries.push_back({absl::StrCat(p.name(), ", ", p.architecture, ": ", p.when),
                       absl::StrCat(p.name(), ", ", p.architecture, ": ", p.when, "\n  ", p.plan,
                                    "\n  ", p.grade, ": ", p.evidence),
                       JsonOf(p)});
  }
  return entries;
}

constexpr List kLists[] = {
    {"instructions", ListInstructions, SchemaOf<std::vector<InstructionItem>>, false},
    {"devices", ListDevices, SchemaOf<std::vector<DeviceItem>>},
    {"strategies", ListStrategies, SchemaOf<std::vector<StrategyItem>>},
    {"formats", ListFormats, SchemaOf<std::vector<Format>>},
    {"products", ListProducts, SchemaOf<std::vector<Product>>},
    {"vectors", ListVectors, SchemaOf<std::vector<VectorItem>>},
    {"differences", ListDifferences, SchemaOf<std::vector<DifferenceItem>>},
    {"sources", ListSources, SchemaOf<std::vector<SourceItem>>},
    {"plans", ListPlans, SchemaOf<std::vector<StoredPlan>>},
    {"counts", ListCounts, SchemaOf<std::vector<Count>>}};

}  // namespace

std::span<const List> Lists() { return kLists; }

}  // namespace mmadiff
