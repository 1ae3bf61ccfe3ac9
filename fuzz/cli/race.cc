// mmadiff race: finds the smallest case that distinguishes two models, compares the architectures
// of an instruction in a matrix, and finds the fewest cases that distinguish several rows.
#include <fnmatch.h>

#include <algorithm>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/cli/race_plans.h"
#include "fuzz/cli/typed_name.h"
#include "fuzz/output/next_command.h"
#include "sim/simulate.h"
#include "triage/case_text.h"
#include "triage/number_text.h"
#include "triage/race/architectures.h"
#include "triage/race/fingerprint.h"
#include "triage/race/pair.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// A case that distinguishes a pair.
struct TellingWords {
  const PairRace& pair;
  const TellingCase& found;

  int terms() const { return found.terms; }
  DotProductWords dot_product() const { return {*pair.op().instruction, found.dot}; }
  std::string of_x() const { return HexWord(pair.x.model.d, found.x); }
  std::string of_y() const { return HexWord(pair.x.model.d, found.y); }
};

Fields<TellingWords> FieldsOf(const TellingWords*) {
  using T = TellingWords;
  return {
      {"dot_product", &T::dot_product},
      {"of_x", &T::of_x, HexDigits()},
      {"of_y", &T::of_y, HexDigits()},
  };
}

// A member of the smallest case, if one was found.
template <class Get>
auto OfFound(const PairRace& pair, Get get) {
  const std::optional<TellingCase>& found = pair.race.found;
  return found ? std::optional(std::invoke(get, TellingWords{pair, *found})) : std::nullopt;
}

}  // namespace

Fields<ProofStep> FieldsOf(const ProofStep*) {
  using S = ProofStep;
  return {
      {"change", [](const S& s) { return Name(s.change); }},
      {"reason", &S::reason, Prose()},
  };
}

Fields<Stratum> FieldsOf(const Stratum*) {
  using S = Stratum;
  return {
      {"products", &S::products, "number of products that are not +0"},
      {"addend", &S::addend, "whether the addend is one of the terms"},
      {"tried", &S::tried, "number of cases that were tried"},
      {"all", &S::all, "whether these are all the cases of this kind"},
  };
}

Fields<PairRace> FieldsOf(const PairRace*) {
  using P = PairRace;
  using T = TellingWords;
  return {
      {"x", [](const P& p) { return p.x.name; },
       "ARCH/INSTRUCTION with the requested changes; \"2 x ARCH/INSTRUCTION\" is a chain of two"},
      {"y", [](const P& p) { return p.y.name; }},
      {"verdict",
       [](const P& p) { return Name(p.verdict); },
       {.words = {"same_model", "proved_equal", "told_apart", "undecided", "not_comparable"}}},
      {"text", VerdictText, Prose("verdict in words")},
      {"changes", [](const P& p) { return ParametersJson(p.changes); },
       ParameterValues("parameters of y that differ; empty between families")},
      {"stage", &P::stage,
       "stage at which the models diverge; empty if no case distinguishes them"},
      {"proof", &P::proof,
       "for proved_equal: changes that lead from x to y; no input can reveal any of them"},
      {"terms", [](const P& p) { return OfFound(p, &T::terms); },
       "number of terms of the case, products and addend, that are not +0"},
      {"fewest_terms", [](const P& p) { return p.race.FewestTerms(); },
       "whether all cases with fewer terms were tried, with scales of 1.0"},
      {"dot_product", [](const P& p) { return OfFound(p, &T::dot_product); }},
      {"of_x", [](const P& p) { return OfFound(p, &T::of_x); }, HexDigits()},
      {"of_y", [](const P& p) { return OfFound(p, &T::of_y); }, HexDigits()},
      {"generated", [](const P& p) { return p.race.generated; },
       "number of generated dot products that were tried until one distinguished the models; if "
       "none did, all that were tried"},
      {"smaller", [](const P& p) { return p.race.strata; },
       "cases with fewer terms that were tried; if no case was found, those with few terms"},
      {"typical",
       [](const P& p) {
         return p.typical ? std::optional(T{p, *p.typical}) : std::nullopt;
       },
       "case of ordinary numbers that distinguishes the models"},
  };
}

Fields<RowClass> FieldsOf(const RowClass*) {
  using C = RowClass;
  return {
      {"instructions", [](const C& c) { return NamesOf(c.rows); }, InstructionName()},
      {"emulated", &C::emulated},
  };
}

Fields<FormatGroup> FieldsOf(const FormatGroup*) {
  using G = FormatGroup;
  constexpr const char* kRows =
      "classes of rows that give the same results, with shorter rows chained; emulated rows have "
      "separate classes";
  return {
      {"formats", &G::formats, "\"e4m3 x e5m2 to f32\""},
      {"verdict", &G::verdict, Prose("verdict in words")},
      {"x", &G::x, kRows},
      {"y", &G::y, kRows},
  };
}

namespace {

struct RaceFlags {
  std::vector<std::string> rows, instr = {"*"};
  bool all = false, set = false;
};

struct InstructionMatrix {
  std::string instruction;
  std::vector<std::vector<std::string>> columns = {};
};

// A case of a fingerprint, and the results of all rows for it.
struct WordOfRow {
  std::string row, d;
};
struct AnsweredCase {
  const Instruction& instruction;
  DotProductCase dot;
  std::vector<WordOfRow> words = {};
};
struct RowsFingerprint {
  bool least;
  size_t pool;
  std::vector<AnsweredCase> cases = {};
  std::vector<IndistinctPair> indistinct = {};
};

Fields<InstructionMatrix> FieldsOf(const InstructionMatrix*) {
  using M = InstructionMatrix;
  return {
      {"instruction", &M::instruction},
      {"columns", &M::columns, "architectures that share one model"},
  };
}

Fields<WordOfRow> FieldsOf(const WordOfRow*) {
  using W = WordOfRow;
  return {
      {"instruction", &W::row, "ARCH/INSTRUCTION with the requested changes"},
      {"d", &W::d, HexDigits()},
  };
}

Fields<AnsweredCase> FieldsOf(const AnsweredCase*) {
  using C = AnsweredCase;
  return {
      {"dot_product",
       [](const C& c) {
         return DotProductWords{c.instruction, c.dot};
       }},
      {"words", &C::words},
  };
}

Fields<RowsFingerprint> FieldsOf(const RowsFingerprint*) {
  using F = RowsFingerprint;
  return {
      {"cases", &F::cases},
      {"least", &F::least, "whether no smaller set of cases from the pool suffices"},
      {"pool", &F::pool, "number of cases to choose from"},
      {"indistinct", &F::indistinct, "pairs of rows that no case distinguishes"},
  };
}

// The output of all modes; parts that were not requested are empty.
struct Report {
  std::string text = {};
  std::vector<PairRace> pairs = {};
  std::vector<FormatGroup> groups = {};
  std::vector<InstructionMatrix> matrices = {};
  std::optional<RowsFingerprint> fingerprint = {};
  bool told = false;         // two named models were distinguished
  std::string nothing = {};  // reason why nothing was compared
};

Fields<Report> FieldsOf(const Report*) {
  using R = Report;
  return {
      {"pairs", &R::pairs, "the pair of rows; with --all, each pair of columns"},
      {"groups", &R::groups, "with two architectures: rows of both that multiply the same formats"},
      {"matrices", &R::matrices, "with --all"},
      {"fingerprint", &R::fingerprint, "with --set"},
  };
}

// The architectures, to name who gives a result.
std::pair<std::string, std::string> SidesOf(const PairRace& pair) {
  const std::string x(pair.x.op->arch()), y(pair.y.op->arch());
  return x == y ? std::pair<std::string, std::string>("the first", "the second") : std::pair(x, y);
}

// The case on one line: "k=0 3c00 x 3c00  1.0 x 1.0; c b3000000  -2^-25. sm_70 gives +0, sm_90 1.0".
std::string ShortCase(const PairRace& pair) {
  std::string text = CaseText(pair.op(), pair.race.found->dot, 0);
  text = absl::StrJoin(absl::StrSplit(text, '\n', absl::SkipEmpty()), "; ");
  const Format& d = pair.x.model.d;
  const auto [x, y] = SidesOf(pair);
  const auto gives = [&, &x = x, &y = y](const TellingCase& found) {
    return absl::StrCat(x, " gives ", NumberText(d, found.x), ", ", y, " gives ",
                        NumberText(d, found.y));
  };
  absl::StrAppend(&text, ". ", gives(*pair.race.found), ".");
  if (!pair.typical) return text;
  const TellingCase& typical = *pair.typical;
  return absl::StrCat(text, " With ordinary numbers: ", gives(typical),
                      HowFar(d, typical.x, typical.y));
}

const Architecture* FindArchitecture(const std::string& name) {
  const auto found =
      std::ranges::find_if(Architectures(), [&](const Architecture& a) { return a.name == name; });
  return found == Architectures().end() ? nullptr : &*found;
}

// The rows with a model whose instruction names match; empty if the architecture has no such
// instruction.
std::vector<const Operation*> RowsOf(const Architecture& arch, const std::string& glob,
                                     Ledger& ledger) {
  return ledger.Keep(
      WithModel(MatchOperations(absl::StrCat(arch.name, "/", glob), Models::kOptional)));
}

absl::StatusOr<Report> RacePair(const Racer& x, const Racer& y, const TextStyle& style) {
  Races races;
  const int k = std::max(x.model.k, y.model.k);
  ASSIGN_OR_RETURN(const PairRace pair, races.Find(ChainedRacer(x, k), ChainedRacer(y, k)));
  if (pair.verdict == PairRace::kNotComparable) {
    return absl::InvalidArgumentError(
        absl::StrCat(pair.x.name, " and ", pair.y.name, ": ", pair.why));
  }
  Report report;
  report.told = pair.verdict == PairRace::kTold;
  report.text = PairText(pair, style);
  report.pairs.push_back(pair);
  return report;
}

// A group of formats: its pairs, one per line.
std::string GroupText(const FormatGroup& group, const TextStyle& style) {
  std::string text = group.formats() + "\n";
  for (const ClassPair& pair : group.pairs) {
    const std::string found = pair.race.race.found ? absl::StrCat(": ", ShortCase(pair.race)) : "";
    const std::string line =
        absl::StrCat("  ", ClassName(group.x, {&pair.x, 1}), " | ",
                     ClassName(group.y, {&pair.y, 1}), "  ", VerdictText(pair.race), found, "\n");
    absl::StrAppend(&text, Wrap(line, style.width, 4));
  }
  return text;
}

// Compares all rows of both architectures, by formats.
absl::StatusOr<Report> RaceArchitectures(const Architecture& x, const Architecture& y,
                                         const std::vector<std::string>& globs,
                                         const TextStyle& style, Ledger& ledger) {
  std::vector<const Operation*> rows, others;
  for (const std::string& glob : globs) {
    for (const auto& [arch, all] : {std::pair(&x, &rows), std::pair(&y, &others)}) {
      for (const Operation* row : RowsOf(*arch, glob, ledger)) {
        if (std::ranges::count(*all, row) == 0) all->push_back(row);
      }
    }
  }
  if (rows.empty() && others.empty())
    return OneOperation(globs.front()).status();  // lists the nearest names
  Races races({.stratum = 1 << 14});              // there are many
  ASSIGN_OR_RETURN(const ArchitectureRace race, RaceAll(rows, others, races));
  Report report;
  for (const FormatGroup& group : race.only_in_one) {
    report.groups.push_back(group);
    for (const RowClass& c : group.x.empty() ? group.y : group.x) {
      for (const Operation* row : c.rows) {
        ledger.Leave({Thing::kOperation, Reason::kOnlyInOne, row->name});
      }
    }
  }
  for (const FormatGroup& group : race.groups) {
    report.groups.push_back(group);
    const bool same = std::ranges::all_of(
        group.pairs, [](const ClassPair& pair) { return pair.race.verdict == PairRace::kSame; });
    if (!same)
      absl::StrAppend(&report.text, GroupText(group, style));  // otherwise the last lines cover it
    for (const ClassPair& pair : group.pairs) {
      report.told |= pair.race.verdict == PairRace::kTold;
      report.pairs.push_back(pair.race);
    }
    for (const std::vector<RowClass>* classes : {&group.x, &group.y}) {
      for (const RowClass& c : *classes) {
        for (const Operation* row : c.rows) ledger.Compare(Thing::kOperation, row->name);
      }
    }
  }
  if (!report.text.empty()) {
    report.text = absl::StrCat("left: ", x.name, ", right: ", y.name, "\n", report.text);
  }
  if (race.groups.empty()) {
    report.nothing = absl::StrCat(x.name, " and ", y.name,
                                  " have no formats in common among the rows that have a model",
                                  " and match --instr=", absl::StrJoin(globs, ","));
    return report;
  }
  absl::StrAppend(&report.text, "\n", Wrap(VerdictLines(race), style.width, 2));
  return report;
}

// ---- The matrix of an instruction

// Rows with one model.
struct Column {
  Racer racer;
  std::vector<std::string> archs;

  std::string title() const { return absl::StrJoin(archs, " "); }
};

std::vector<Column> ColumnsOf(const std::vector<const Operation*>& rows) {
  std::vector<Column> columns;
  for (const Operation* row : rows) {
    auto column = std::ranges::find_if(
        columns, [&](const Column& c) { return SameModel(c.racer.model, row->model); });
    if (column == columns.end()) column = columns.insert(column, {RacerOf(*row), {}});
    column->archs.push_back(std::string(row->arch()));
  }
  return columns;
}

std::string Cell(const PairRace& pair) {
  if (pair.verdict == PairRace::kTold) return absl::StrCat(pair.race.found->terms);
  if (pair.verdict == PairRace::kUndecided) return "?";
  return pair.verdict == PairRace::kNotComparable ? "/" : "=";
}

absl::Status AddMatrix(const std::string& instruction, const std::vector<const Operation*>& rows,
                       const TextStyle& style, Races& races, Report& report) {
  const std::vector<Column> columns = ColumnsOf(rows);
  std::vector<TableColumn> titles = {{"terms"}};
  InstructionMatrix& matrix = report.matrices.emplace_back(InstructionMatrix{instruction});
  for (const Column& c : columns) {
    titles.push_back({.title = c.title(), .right = true});
    matrix.columns.push_back(c.archs);
  }
  TextTable table(titles);
  std::string legend;
  for (size_t x = 0; x < columns.size(); ++x) {
    std::vector<std::string> cells = {columns[x].archs[0]};
    for (size_t y = 0; y < columns.size(); ++y) {
      if (y <= x) {
        cells.push_back(y == x ? "-" : "");
        continue;
      }
      ASSIGN_OR_RETURN(const PairRace pair, races.Find(columns[x].racer, columns[y].racer));
      cells.push_back(Cell(pair));
      report.pairs.push_back(pair);
      absl::StrAppend(&legend, columns[x].archs[0], " ", columns[y].archs[0], "  ",
                      pair.race.found ? ShortCase(pair) : VerdictText(pair), "\n");
    }
    table.Add(std::move(cells));
  }
  absl::StrAppend(&report.text, report.text.empty() ? "" : "\n", instruction, "\n",
                  columns.size() == 1 ? absl::StrCat("the same model: ", columns[0].title(), "\n")
                                      : table.Text(style) + Wrap(legend, style.width, 2));
  return absl::OkStatus();
}

absl::StatusOr<Report> RaceAll(const std::string& glob, const TextStyle& style, Ledger& ledger) {
  // By instruction, in the order of first occurrence.
  std::vector<std::pair<std::string, std::vector<const Operation*>>> found;
  for (const Architecture& arch : Architectures()) {
    for (const Operation* row : RowsOf(arch, glob, ledger)) {
      ledger.Compare(Thing::kOperation, row->name);
      const std::string& name = row->instruction->name;
      auto of = std::ranges::find_if(found, [&](const auto& f) { return f.first == name; });
      if (of == found.end()) of = found.insert(of, {name, {}});
      of->second.push_back(row);
    }
  }
  if (found.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no instruction with a model matches '", glob,
                     "'; write it without an architecture: --all 'mma.m16n8k16.f32.f16.f16.f32'"));
  }
  Report report;
  Races races;
  for (const auto& [name, rows] : found) {
    RETURN_IF_ERROR(AddMatrix(name, rows, style, races, report));
  }
  return report;
}

// ---- The fingerprint

absl::StatusOr<std::vector<Racer>> RacersOf(const std::vector<std::string>& arguments,
                                            Ledger& ledger) {
  std::vector<Racer> racers;
  for (const std::string& argument : arguments) {
    if (absl::StrContains(argument, '*') || absl::StrContains(argument, '?')) {
      ASSIGN_OR_RETURN(const auto ops,
                       ChooseOperations({argument}, Models::kRequired, nullptr, ledger));
      for (const Operation* op : ops) {
        ledger.Compare(Thing::kOperation, op->name);
        racers.push_back(RacerOf(*op));
      }
      continue;
    }
    ASSIGN_OR_RETURN(Racer racer, TypedRacer(argument));
    racers.push_back(std::move(racer));
  }
  for (const Racer& racer : racers) {
    const std::string why = WhyNotComparable(racers[0].model, racer.model);
    if (why.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(racers[0].name, " and ", racer.name, ": ", why));
  }
  if (racers.size() >= 2) return racers;
  return absl::InvalidArgumentError("--set takes at least two rows: ARCH/INSTRUCTION ...");
}

absl::StatusOr<Report> RaceSet(const std::vector<std::string>& arguments, const TextStyle& style,
                               Ledger& ledger) {
  ASSIGN_OR_RETURN(const std::vector<Racer> rows, RacersOf(arguments, ledger));
  ASSIGN_OR_RETURN(const Fingerprint print, FindFingerprint(rows));
  const size_t count = print.cases.size();
  Report report;
  report.text = absl::StrCat(
      count, count == 1 ? " case distinguishes" : " cases distinguish",
      " every distinguishable pair of ", rows.size(), " rows; ",
      print.least ? absl::StrCat("no smaller set of the ", print.pool, " candidate cases does so\n")
                  : absl::StrCat("chosen greedily from ", print.pool,
                                 " candidate cases; a smaller set may exist\n"));
  RowsFingerprint& result = report.fingerprint.emplace(RowsFingerprint{print.least, print.pool});
  for (const DotProductCase& dot : print.cases) {
    const Instruction& instruction = *rows.front().op->instruction;
    absl::StrAppend(&report.text, Wrap(FormatLine(instruction, dot) + "\n", style.width, 2));
    AnsweredCase& answered = result.cases.emplace_back(AnsweredCase{instruction, dot});
    for (const Racer& row : rows) {
      const std::string word = HexWord(row.model.d, Simulate(row.model, dot));
      answered.words.push_back({row.name, word});
      absl::StrAppend(&report.text, "  ", word, "  ", row.name, "\n");
    }
  }
  for (const Indistinct& i : print.indistinct) {
    const std::string &x = rows[i.x].name, &y = rows[i.y].name;
    result.indistinct.push_back({x, y, i.why});
    absl::StrAppend(&report.text,
                    Wrap(absl::StrCat("not distinguished: ", x, " and ", y, ": ", i.why, "\n"),
                         style.width, 2));
  }
  return report;
}

absl::StatusOr<Report> Race(const RaceFlags& flags, const TextStyle& style, Ledger& ledger) {
  if (flags.all && flags.set) return absl::InvalidArgumentError("write --all or --set, not both");
  if (flags.set) return RaceSet(flags.rows, style, ledger);
  if (flags.all) {
    if (flags.rows.size() == 1) return RaceAll(flags.rows[0], style, ledger);
    return absl::InvalidArgumentError("--all takes one instruction or one glob");
  }
  if (flags.rows.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("race takes two rows (ARCH/INSTRUCTION or ARCH/INSTRUCTION:NAME=VALUE) or two "
                     "architectures; `",
                     Program(), " help race` explains them"));
  }
  ASSIGN_OR_RETURN(const std::string arch_x, TypedArchitecture(flags.rows[0]));
  ASSIGN_OR_RETURN(const std::string arch_y, TypedArchitecture(flags.rows[1]));
  const Architecture* x = FindArchitecture(arch_x);
  const Architecture* y = FindArchitecture(arch_y);
  if (x != nullptr && y != nullptr) return RaceArchitectures(*x, *y, flags.instr, style, ledger);
  if (x != nullptr || y != nullptr) {
    const size_t row = x != nullptr ? 1 : 0;
    const std::string& other = flags.rows[row];
    if (const absl::StatusOr<Racer> racer = TypedRacer(other); racer.ok()) {
      ASSIGN_OR_RETURN(const Racer like, TypedRacer(flags.rows[1 - row], *racer->op));
      return row == 0 ? RacePair(*racer, like, style) : RacePair(like, *racer, style);
    }
    if (!absl::StrContains(other, '/')) {
      return absl::InvalidArgumentError(absl::StrCat("no architecture or product '",
                                                     absl::CHexEscape(other.substr(0, 200)), "'; `",
                                                     Program(), " list products` lists both"));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "'", x != nullptr ? x->name : y->name,
        "' is an architecture; write one of its rows, ARCH/INSTRUCTION, or two architectures"));
  }
  ASSIGN_OR_RETURN(const Racer of_x, TypedRacer(flags.rows[0]));
  ASSIGN_OR_RETURN(const Racer of_y, TypedRacer(flags.rows[1]));
  return RacePair(of_x, of_y, style);
}

void RunPlanRace(const RaceFlags& flags, Call& call) {
  if (flags.all || flags.set) {
    return call.Say(absl::InvalidArgumentError("--all and --set are for rows, not for plans"));
  }
  const absl::StatusOr<PlanPair> pair = RaceTwoPlans(flags.rows);
  if (!pair.ok()) return call.Say(pair.status());
  call.Print(*pair, [&] { return PlanPairText(*pair); });
  if (pair->race.found) call.Say(Verdict::kDiffers);
}

// The typed rows, with the names of the models of the user's own that a glob matches; after fewer than
// two rows the other models.
std::vector<std::string> WithOwnModels(const std::vector<std::string>& typed) {
  std::vector<std::string> rows;
  for (const std::string& text : typed) {
    const size_t before = rows.size();
    for (const Operation* op : ReadOperations()) {
      if (fnmatch(text.c_str(), op->name.c_str(), 0) == 0) rows.push_back(op->name);
    }
    if (rows.size() == before) rows.push_back(text);
  }
  if (rows.size() >= 2) return rows;
  for (const Operation* op : ReadOperations()) {
    const bool named = !rows.empty() && FindOperation(rows[0]) == op;
    if (!named) rows.push_back(op->name);
  }
  return rows;
}

void RunRace(const RaceFlags& typed, Call& call) {
  if (ArePlans(typed.rows)) return RunPlanRace(typed, call);
  RaceFlags flags = typed;
  if (!flags.all) flags.rows = WithOwnModels(typed.rows);
  const absl::StatusOr<Report> report = Race(flags, call.console.style(), call.ledger());
  if (!report.ok()) return call.Say(report.status());
  call.PrintWithLeftOut(*report, [&] { return report->text; });
  if (report->told) call.Say(Verdict::kDiffers);
  if (!report->nothing.empty()) call.Say(Verdict::kNotHere, report->nothing);
}

}  // namespace

Action AddRace(CLI::App& command) {
  const auto flags = std::make_shared<RaceFlags>();
  AddOption(
      command, "rows", flags->rows,
      "two rows, each ARCH/INSTRUCTION or ARCH/INSTRUCTION:NAME=VALUE,NAME=VALUE (as for faulty:), "
      "or two architectures, or two plans; with --all: one instruction; with --set: two or more "
      "rows")
      .Required();
  AddFlag(command, "--all", flags->all,
          "compare all architectures that have the instruction (or glob)");
  AddFlag(command, "--set", flags->set, "find the fewest cases that distinguish all the rows");
  AddInstr(command, flags->instr, "with two architectures: comma-separated globs of instructions");
  return {RunRace, flags, {SchemaOf<WithLeftOut<Report>>, {SchemaOf<PlanPair>, "PLAN PLAN"}}};
}

}  // namespace mmadiff
