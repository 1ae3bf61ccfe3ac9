#include "fuzz/compare/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/path_kind.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/compare/compare_recordings.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/folder/findings.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/folder/workdir.h"
#include "fuzz/report/run_status.h"
#include "fuzz/survey/fields.h"
#include "triage/diagnosis/diagnosis.h"

namespace mmadiff {
namespace {

constexpr size_t kNamedOps = 8, kNamedBins = 12;  // in text; the rest is counted

// By unit number: the unit's cases (the last unit of a run has fewer) and the device's digest.
using UnitAnswers = std::map<uint64_t, std::pair<uint64_t, Digest>>;

// The results of a run for an operation.
struct Row {
  RunManifest::Instruction planned;
  UnitResult total;
  UnitAnswers units;
  struct Filed {
    Bucket bucket;
    std::string path;  // path of a case
  };
  std::map<std::string, Filed>
      buckets;  // repeating buckets by name, including those that repeat only in an old process

  bool Agrees() const { return total.mismatches == 0 && buckets.empty(); }
};

struct Side {
  RunStatus status;
  std::map<std::string, Row> rows;  // by operation: those with units or findings

  const RunManifest& manifest() const { return status.folder.manifest; }
};

absl::StatusOr<Side> ReadSide(const std::string& path, std::vector<std::string>& damage) {
  std::map<uint32_t, UnitAnswers> units;
  absl::StatusOr<RunStatus> status = ReadRunStatus(path, [&](const UnitResult& unit) {
    units[unit.instruction][unit.unit] = {unit.cases, unit.device_digest};
  });
  RETURN_IF_ERROR(status.status());
  damage.insert(damage.end(), status->damage.begin(), status->damage.end());
  for (const std::string& line : status->folder.distrusted) {
    damage.push_back(absl::StrCat(path, ": distrusted: ", line));
  }
  for (const RunReportRow& row : status->rows) {
    if (!IsDoubted(row)) continue;
    damage.push_back(absl::StrCat(path, ": ", row.instruction, ": ", row.dropped.message()));
  }
  Side side = {*std::move(status), {}};
  const RunFolder& folder = side.status.folder;
  for (size_t i = 0; i < folder.manifest.instructions.size(); ++i) {
    UnitResult total = side.status.rows[i].total;
    if (total.dot_products == 0) continue;
    const RunManifest::Instruction& planned = folder.manifest.instructions[i];
    if (side.status.rows[i].at_least) total.mismatches = 0;  // which no unit has
    total.coverage = folder.stored.totals[i].coverage;
    side.rows[planned.name] = {planned, std::move(total), std::move(units[i]), {}};
  }
  for (const FiledCase& f : folder.findings) {
    const Repetition repetition = f.filed.bucket.repetition;
    if (repetition != Repetition::kRepeats && repetition != Repetition::kAged) continue;
    if (!IsFinding(f.filed)) continue;
    if (StateOf(f.filed) == FindingState::kFixed) continue;
    // An operation that was stopped by its mismatches may have no unit.
    Row::Filed& filed = side.rows[f.filed.op->name].buckets[Name(f.filed.bucket)];
    if (filed.path.empty() || IsMinimal(f.filed)) filed = {f.filed.bucket, f.path};
  }
  return side;
}

// The change that reproduces all answers, according to the run's own diagnosis in its bucket.
std::string CauseOf(const Row& row) {
  if (row.Agrees()) return kModel;
  if (row.buckets.size() != 1) return row.buckets.empty() ? "no filed change" : kNoChange;
  const Bucket& bucket = row.buckets.begin()->second.bucket;
  if (bucket.kind == Bucket::kUnexplained || bucket.kind == Bucket::kNoWord || !bucket.Repeats()) {
    return kNoChange;
  }
  return bucket.kind == Bucket::kExplained ? Name(bucket.changes) : Name(bucket);
}

class RunsComparer {
 public:
  RunsComparer(const Side& x, const Side& y, const ListBins& bins, RunsDifference& difference)
      : x_(x), y_(y), bins_(bins), difference_(difference) {}

  void Compare() {
    Facts();
    SurveyDifference& answers = difference_.answers;
    for (const auto& [op, row] : x_.rows) {
      const auto other = y_.rows.find(op);
      if (other == y_.rows.end()) {
        ++answers.only_first;
      } else {
        Rows(op, row, other->second);
      }
    }
    for (const auto& [op, row] : y_.rows) answers.only_second += !x_.rows.contains(op);
    // Rows that agree on the first side come first.
    std::stable_partition(
        answers.rows.begin(), answers.rows.end(),
        [this](const SurveyDifference::Row& row) { return x_.rows.at(row.op).Agrees(); });
  }

 private:
  void Fact(const std::string& name, const std::string& first, const std::string& second) {
    if (first != second) difference_.facts.push_back({name, first, second});
  }

  void Facts() {
    const RunManifest &x = x_.manifest(), &y = y_.manifest();
    const auto machines = [](const Side& s) { return absl::StrJoin(s.status.machines, "; "); };
    const auto rate = [](const Side& s) { return absl::StrCat(std::round(s.status.rate)); };
    Fact("device", x.device, y.device);
    Fact("identity", Name(x.device_identity), Name(y.device_identity));
    Fact("machines", machines(x_), machines(y_));
    Fact("program", x.tool_version, y.tool_version);
    Fact("model version", x.model_version, y.model_version);
    Fact("generator version", absl::StrCat(x.generator_version), absl::StrCat(y.generator_version));
    Fact("seed", absl::StrCat(x.seed), absl::StrCat(y.seed));
    Fact("strategy", x.strategy, y.strategy);
    Fact("shard", absl::StrCat(x.shard, "/", x.shards), absl::StrCat(y.shard, "/", y.shards));
    Fact("units", absl::StrCat(x_.status.units), absl::StrCat(y_.status.units));
    Fact("dot products", absl::StrCat(x_.status.total.dot_products),
         absl::StrCat(y_.status.total.dot_products));
    Fact("dot products per second", rate(x_), rate(y_));
  }

  // Whether units of one number and size are the same cases.
  bool SameCases(const Row& x, const Row& y) const {
    const auto facts = [](const RunManifest& m, const Row& row) {
      return std::tie(m.generator_version, m.seed, m.strategy, row.planned.unit_cases,
                      row.planned.schedule);
    };
    return facts(x_.manifest(), x) == facts(y_.manifest(), y);
  }

  void Rows(const std::string& op, const Row& x, const Row& y) {
    SurveyDifference::Row row = {op, "", {}, 0, "", "", ""};
    ++difference_.answers.compared;
    const bool both = x.total.dot_products > 0 && y.total.dot_products > 0;
    if (both && (x.total.mismatches == 0) != (y.total.mismatches == 0)) {
      const auto of = [](const UnitResult& total) {
        return absl::StrCat(total.mismatches, " of ", total.dot_products);
      };
      row.what.push_back(absl::StrCat("mismatches: ", of(x.total), " | ", of(y.total)));
    }
    uint64_t common = 0, others = 0;
    for (const auto& [unit, said] : x.units) {
      const auto other = y.units.find(unit);
      if (other == y.units.end() || !SameCases(x, y)) continue;
      if (said.first != other->second.first) continue;
      ++common;
      others += said.second != other->second.second;
    }
    difference_.answers.compared += common;
    difference_.common += common;
    if (others > 0) {
      row.what.push_back(absl::StrCat("different answers in ", others, " of ", common, " units"));
    }
    // An unreadable finding may be in the same bucket.
    if (y_.status.folder.all_findings) Buckets("only in A", x, y, row);
    if (x_.status.folder.all_findings) Buckets("only in B", y, x, row);
    Coverage(op, x, y);
    if (row.what.empty()) return;
    AddCause({CauseOf(x), CauseOf(y), x.Agrees()}, op, difference_);
    difference_.answers.rows.push_back(std::move(row));
  }

  static void Buckets(const char* where, const Row& x, const Row& y, SurveyDifference::Row& row) {
    for (const auto& [name, filed] : x.buckets) {
      if (y.buckets.contains(name)) continue;
      row.what.push_back(absl::StrCat("bucket ", where, ": ", name, ", ", filed.path));
    }
  }

  void Coverage(const std::string& name, const Row& x, const Row& y) {
    const Operation* op = FindOperation(name);
    if (op == nullptr || x.total.coverage.empty() || y.total.coverage.empty()) return;
    RunsDifference::Reached reached = {name, {}, {}};
    const std::vector<Bin> bins = bins_(op->model);
    const auto is_reached = [&](const Row& row, size_t i) {
      return i < row.total.coverage.size() && row.total.coverage[i] >= bins[i].least;
    };
    for (size_t i = 0; i < bins.size(); ++i) {
      if (is_reached(x, i) == is_reached(y, i)) continue;
      (is_reached(x, i) ? reached.first : reached.second).push_back(bins[i].name());
    }
    if (reached.first.empty() && reached.second.empty()) return;
    difference_.coverage.push_back(std::move(reached));
  }

  const Side &x_, &y_;
  const ListBins& bins_;
  RunsDifference& difference_;
};

absl::Status CompareRuns(const std::string& first, const std::string& second, const ListBins& bins,
                         RunsDifference& difference) {
  difference.kind = "runs";
  ASSIGN_OR_RETURN(const Side x, ReadSide(first, difference.damage));
  ASSIGN_OR_RETURN(const Side y, ReadSide(second, difference.damage));
  difference.answers.first = Name(x.manifest().device_identity);
  difference.answers.second = Name(y.manifest().device_identity);
  RunsComparer(x, y, bins, difference).Compare();
  return absl::OkStatus();
}

// "a, b and 7 more"
std::string Some(const std::vector<std::string>& names, size_t most) {
  const size_t shown = std::min(most, names.size());
  const std::string more =
      names.size() == shown ? "" : absl::StrCat(" and ", names.size() - shown, " more");
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + shown, ", "), more);
}

std::string CauseText(const RunsDifference::Cause& cause) {
  const std::string gives = cause.first == cause.second
                                ? absl::StrCat(cause.first, " reproduces all answers of A and of B")
                                : absl::StrCat(cause.first, " reproduces all answers of A; ",
                                               cause.second, " reproduces those of B");
  return absl::StrCat(gives, ": ", Some(cause.ops, kNamedOps), "\n");
}

bool IsRun(const std::string& path) { return KindOf(path) == PathKind::kRun; }

}  // namespace

absl::StatusOr<RunsDifference> CompareFolders(const std::string& first, const std::string& second,
                                              const ListBins& bins) {
  RunsDifference difference;
  difference.first_path = first;
  difference.second_path = second;
  for (const std::string& path : {first, second}) {
    if (KindOf(path) != PathKind::kNothing) continue;
    return absl::InvalidArgumentError(absl::StrCat(path, ": no such file or folder"));
  }
  std::error_code error;
  if (std::filesystem::equivalent(first, second, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(first, " and ", second, " are the same; name two runs or two recordings"));
  }
  if (IsRun(first) != IsRun(second)) {
    return absl::InvalidArgumentError(
        absl::StrCat(IsRun(first) ? first : second, " is the folder of a run, ",
                     IsRun(first) ? second : first, " is not; name two runs or two recordings"));
  }
  const absl::Status compared = IsRun(first) ? CompareRuns(first, second, bins, difference)
                                             : CompareRecordings(first, second, difference);
  RETURN_IF_ERROR(compared);
  if (!IsRun(first)) difference.common = difference.answers.compared;
  std::ranges::stable_sort(difference.causes, std::ranges::greater(),
                           [](const RunsDifference::Cause& c) { return c.ops.size(); });
  return difference;
}

std::string RunsDifference::Text(size_t width) const {
  std::string text;
  if (answers.compared == 0) {
    text = "nothing in common\n";
  } else if (answers.rows.empty()) {
    text = common == 0 ? "no unit has the same cases in both; counts and findings are equal\n"
                       : "no shared answer differs\n";
  }
  for (const Cause& cause : causes) absl::StrAppend(&text, CauseText(cause));
  absl::StrAppend(&text, "A  ", first_path, ": ", answers.first, "\nB  ", second_path, ": ",
                  answers.second, "\n", answers.RowsText());
  for (const Reached& c : coverage) {
    for (const auto& [side, bins] : {std::pair("A", &c.first), std::pair("B", &c.second)}) {
      if (bins->empty()) continue;
      absl::StrAppend(&text, c.op, ": reached only in ", side, ": ", Some(*bins, kNamedBins), "\n");
    }
  }
  if (!facts.empty()) absl::StrAppend(&text, "other differences (A | B):\n");
  for (const Fact& fact : facts) {
    absl::StrAppend(&text, "  ", fact.name, ": ", fact.first, " | ", fact.second, "\n");
  }
  absl::StrAppend(&text, "compared: ", answers.compared,
                  "; differing instructions: ", answers.rows.size(),
                  ", only in A: ", answers.only_first, ", only in B: ", answers.only_second, "\n");
  return Wrap(PlainText(text), width, 2);
}

Fields<RunsDifference::Fact> FieldsOf(const RunsDifference::Fact*) {
  using F = RunsDifference::Fact;
  return {{"name", &F::name}, {"first", &F::first}, {"second", &F::second}};
}

Fields<RunsDifference::Cause> FieldsOf(const RunsDifference::Cause*) {
  using C = RunsDifference::Cause;
  return {
      {"first", &C::first,
       Prose("explanation of this side's answers: the model, its changed parameters (NAME=VALUE), "
             "or a phrase")},
      {"second", &C::second,
       Prose("explanation of this side's answers: the model, its changed parameters (NAME=VALUE), "
             "or a phrase")},
      {"instructions", &C::ops, InstructionName()},
  };
}

Fields<RunsDifference::Reached> FieldsOf(const RunsDifference::Reached*) {
  using R = RunsDifference::Reached;
  return {
      {"instruction", &R::op, InstructionName()},
      {"first", &R::first},
      {"second", &R::second},
  };
}

namespace {

struct ComparedSide {
  const std::string& path;
  const std::string& identity;
};

Fields<ComparedSide> FieldsOf(const ComparedSide*) {
  using S = ComparedSide;
  return {
      {"path", [](const S& s) { return s.path; }},
      {"device_identity", [](const S& s) { return s.identity; }, "device that answered"},
  };
}

}  // namespace

Fields<RunsDifference> FieldsOf(const RunsDifference*) {
  using D = RunsDifference;
  return {
      {"kind", &D::kind, {.words = {"runs", "recordings"}}},
      {"first",
       [](const D& d) {
         return ComparedSide{d.first_path, d.answers.first};
       }},
      {"second",
       [](const D& d) {
         return ComparedSide{d.second_path, d.answers.second};
       }},
      {"causes", &D::causes,
       "models that reproduce all answers of each side, where the sides differ"},
      {"differences", [](const D& d) { return d.answers.rows; }},
      {"coverage", &D::coverage, "bins that only one side reached, by name"},
      {"facts", &D::facts, "facts in which the two runs differ"},
      {"compared", [](const D& d) { return d.answers.compared; }},
      {"only_first", [](const D& d) { return d.answers.only_first; },
       "number of instructions that only the first side has"},
      {"only_second", [](const D& d) { return d.answers.only_second; }},
      {"damage", &D::damage, Prose("damaged data that was left out")},
  };
}

}  // namespace mmadiff
