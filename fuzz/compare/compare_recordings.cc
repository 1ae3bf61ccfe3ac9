#include "fuzz/compare/compare_recordings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/cases/case_name.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/stored_files.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "triage/diagnosis/diagnosis.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxObserved =
    2048;  // maximum number of common answers that differ, and that agree

struct Recorded {
  AnswersByRow answers;
  std::set<std::string> identities;
  std::set<std::string> contradictory;  // operations with two different answers for one input
};

void Add(const Recording& r, Recorded& recorded) {
  StoredAnswers& said = recorded.answers[{r.op->name, ""}];
  const Instruction& instruction = *r.op->instruction;
  if (r.inputs.stream.empty()) {
    for (int64_t i = 0; i < r.inputs.dot_products(); ++i) {
      const std::string word = HexWord(*instruction.d, r.d[i]);
      const auto [at, added] =
          said.words.emplace(FormatLine(instruction, Extract(r.inputs, i)), word);
      if (!added && at->second != word) recorded.contradictory.insert(r.op->name);
    }
    return;
  }
  SurveyOutputs& outputs = said.outputs[r.inputs.stream];
  if (r.inputs.first != outputs.count) return;  // after a part that is damaged
  outputs.count += r.inputs.count;
  outputs.d += PackWords(*instruction.d, r.d);
}

absl::StatusOr<Recorded> Read(const std::string& path, std::vector<std::string>& damage) {
  Recorded recorded;
  const auto add = [&](const Recording& r) {
    recorded.identities.insert(r.identity);
    Add(r, recorded);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const RecordingStats stats, ReadRecordings(path, "", add));
  std::vector<Damage> wrong = stats.damage;
  if (IsRecordingFolder(path)) {
    const auto damaged = ReadDigests(path, [&](const RecordedDigests& d) {
      StoredAnswers& said = recorded.answers[{d.op->name, ""}];
      for (size_t u = 0; u < d.digests.size(); ++u) {
        const auto [at, added] = said.digests.emplace(
            std::tuple(absl::StrCat(d.stream, ":", d.first), d.unit_cases, u), d.digests[u]);
        if (!added && at->second != d.digests[u]) recorded.contradictory.insert(d.op->name);
      }
      return absl::OkStatus();
    });
    RETURN_IF_ERROR(damaged.status());
    wrong.insert(wrong.end(), damaged->begin(), damaged->end());
  }
  ASSIGN_OR_RETURN(const auto others, OtherAnswersBelow(path));
  for (const std::string& other : others) damage.push_back(other + ": not part of the recording");
  for (const Damage& d : wrong) damage.push_back(absl::StrCat(path, ": ", Text(d)));
  for (const std::string& op : recorded.contradictory) {
    damage.push_back(
        absl::StrCat(path, ": two answers for one input of ", op, "; the first is compared"));
  }
  return recorded;
}

// The common answers of an operation, from both sides.
class Common {
 public:
  Common(const Operation& op, const StoredAnswers& x, const StoredAnswers& y) : op_(op) {
    for (const auto& [line, word] : x.words) {
      const auto other = y.words.find(line);
      if (other == y.words.end() || Full()) continue;
      const auto first = ParseLine(*op.instruction, absl::StrCat(line, " ", word));
      const auto second = ParseHexWord(*op.instruction->d, other->second);
      const auto d = ParseHexWord(*op.instruction->d, word);
      if (first.ok() && second.ok() && d.ok()) Add(first->dot, *d, *second);
    }
    for (const auto& [stream, outputs] : x.outputs) {
      const auto other = y.outputs.find(stream);
      const auto cases = ParseStreamName(stream, Models::kOptional);
      if (other != y.outputs.end() && cases.ok()) Outputs(*cases, outputs.d, other->second.d);
    }
  }

  const std::vector<Observed>& first() const { return first_; }
  const std::vector<Observed>& second() const { return second_; }

 private:
  void Outputs(const CaseStream& cases, const std::string& x, const std::string& y) {
    const Format& f = *op_.instruction->d;
    const int64_t each = op_.shape().d_words();
    const auto words = static_cast<int64_t>(std::min(x.size(), y.size()) / WordBytes(f));
    for (int64_t index = 0; index < words / each && !Full(); ++index) {
      Batch batch;
      Generate(cases, index, 1, batch);
      for (int64_t i = 0; i < each; ++i) {
        Add(Extract(batch, i), UnpackWord(f, x, index * each + i),
            UnpackWord(f, y, index * each + i));
      }
    }
  }

  bool Full() const { return differing_ >= kMaxObserved; }

  void Add(const DotProductCase& dot, uint64_t d, uint64_t e) {
    size_t& count = SameAnswer(op_, d, e) ? equal_ : differing_;
    if (count >= kMaxObserved) return;
    ++count;
    first_.push_back({dot, d});
    second_.push_back({dot, e});
  }

  const Operation& op_;
  size_t differing_ = 0, equal_ = 0;
  std::vector<Observed> first_, second_;
};

// Names the change that reproduces all answers. Changes that fitted other operations are tried
// first.
class Namer {
 public:
  std::string Name(const Operation& op, const std::vector<Observed>& observed) {
    if (Explains(op, op.model, observed)) return kModel;
    for (const Neighbour& n : AllNeighbours(op.model)) {
      if (std::ranges::count(known_, n.changes) == 0) continue;
      if (Explains(op, WithAlgorithm(op, n.algorithm), observed)) return mmadiff::Name(n);
    }
    const Diagnosis diagnosis = FindChange(op, observed);
    if (diagnosis.changes.empty()) return kNoChange;
    known_.push_back(diagnosis.changes.front().changes);
    return mmadiff::Name(diagnosis.changes.front());
  }

 private:
  std::vector<std::vector<Change>> known_;
};

// Causes whose first side agrees with the model come first.
void SortByCause(RunsDifference& difference) {
  std::set<std::string> agreed;
  for (const RunsDifference::Cause& cause : difference.causes) {
    if (cause.first_agrees) agreed.insert(cause.ops.begin(), cause.ops.end());
  }
  auto& rows = difference.answers.rows;
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const auto& row) { return agreed.contains(row.op); });
}

std::string Joined(const std::set<std::string>& identities) {
  return absl::StrJoin(identities, "; ");
}

}  // namespace

void AddCause(RunsDifference::Cause cause, const std::string& op, RunsDifference& difference) {
  for (RunsDifference::Cause& other : difference.causes) {
    if (other.first != cause.first || other.second != cause.second) continue;
    other.ops.push_back(op);
    return;
  }
  cause.ops = {op};
  difference.causes.push_back(std::move(cause));
}

absl::Status CompareRecordings(const std::string& first, const std::string& second,
                               RunsDifference& difference) {
  difference.kind = "recordings";
  ASSIGN_OR_RETURN(const Recorded x, Read(first, difference.damage));
  ASSIGN_OR_RETURN(const Recorded y, Read(second, difference.damage));
  difference.answers.first = Joined(x.identities);
  difference.answers.second = Joined(y.identities);
  CompareAnswers(x.answers, y.answers, difference.answers);
  Namer namer;
  for (const SurveyDifference::Row& row : difference.answers.rows) {
    const Operation* op = FindOperation(row.op);
    if (op == nullptr) continue;  // without a model
    const auto key = std::pair(row.op, row.variant);
    const Common common(*op, x.answers.at(key), y.answers.at(key));
    if (common.first().empty()) continue;  // only digests
    AddCause({namer.Name(*op, common.first()), namer.Name(*op, common.second()),
              Explains(*op, op->model, common.first())},
             row.op, difference);
  }
  SortByCause(difference);
  return absl::OkStatus();
}

}  // namespace mmadiff
