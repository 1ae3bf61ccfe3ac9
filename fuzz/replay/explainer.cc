#include "fuzz/replay/explainer.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/case_folder.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/stored_files.h"
#include "device/status_macros.h"
#include "fuzz/unit/devices.h"
#include "triage/diagnosis/investigate.h"
#include "triage/diagnosis/investigate_aged.h"
#include "triage/diagnosis/investigate_failure.h"
#include "triage/explain.h"
#include "triage/explain_text.h"

namespace mmadiff {
namespace {

// Each device's answers in a case, without predictions.
std::map<std::string, std::vector<Observed>> AnswersIn(const RegressionCase& c) {
  std::map<std::string, std::vector<Observed>> answers;
  for (const Answer& a : c.answers) {
    if (a.IsPrediction()) continue;
    std::vector<Observed>& of_device = answers[WhoAnswered(a)];
    for (int64_t i = 0; i < c.inputs.dot_products(); ++i) {
      of_device.push_back({Extract(c.inputs, i), a.d[i]});
    }
  }
  return answers;
}

// The operation's model with the changes of the bucket, if any.
Model ModelOf(const Operation& op, const Bucket& bucket) {
  return WithAlgorithm(op, WithChanges(op.model.algorithm, bucket.changes));
}

// The diagnosis of stored answers. If the changes of the bucket reproduce all of them, they come
// first. A file stores only some of the answers, so other answers may have refuted a change that
// reproduces the stored ones.
Diagnosis OfStored(const Operation& op, const std::vector<Observed>& answers,
                   const Bucket& bucket) {
  Diagnosis d = FindChange(op, answers);
  d.refuted = bucket.kind == Bucket::kUnexplained;
  const Model named = ModelOf(op, bucket);
  if (SameModel(named, op.model) || !Explains(op, named, answers)) return d;
  std::erase_if(d.changes, [&](const Neighbour& n) { return n.algorithm == named.algorithm; });
  d.changes.insert(d.changes.begin(), NeighbourOf(op.model.algorithm, named.algorithm));
  return d;
}

// The bucket of the case in the group. Buckets are sorted by name.
ExplainedBucket& FindOrAddBucket(ExplainedGroup& group, const RegressionCase& c) {
  const std::string name = Name(c.bucket);
  auto at = std::ranges::lower_bound(group.buckets, name, {},
                                     [](const ExplainedBucket& b) { return Name(b.bucket); });
  if (at == group.buckets.end() || Name(at->bucket) != name) at = group.buckets.emplace(at);
  at->bucket = c.bucket;
  return *at;
}

void Add(const RegressionCase& c, const std::vector<Observed>& answers, ExplainedGroup& group) {
  ++group.cases;
  std::vector<Observed>& repeat = group.diagnosis.observed;
  if (c.bucket.Repeats()) repeat.insert(repeat.end(), answers.begin(), answers.end());
  ExplainedBucket& bucket = FindOrAddBucket(group, c);
  const Model model = ModelOf(*c.op, c.bucket);
  bucket.answers += answers.size();
  bucket.missed += std::ranges::count_if(
      answers, [&](const Observed& o) { return !Gives(*c.op, model, o.dot, o.d); });
  if (bucket.shared.empty()) bucket.shared = c.shared;
  if (bucket.reason.empty()) bucket.reason = c.reason;
  if (bucket.clues.empty()) bucket.clues = c.clues;
}

void AddFailed(const RegressionCase& c, ExplainedGroup& group) {
  ++group.cases;
  ExplainedBucket& bucket = FindOrAddBucket(group, c);
  ++bucket.failed;
  if (bucket.said.empty() || IsMinimal(c)) bucket.said = Describe(c.no_word->failure);
}

// Called after all cases were added.
void Diagnose(ExplainedGroup& group) {
  const Operation& op = *group.op;
  const std::vector<Observed> answers = group.diagnosis.observed;
  group.agrees = !answers.empty() && Explains(op, op.model, answers);
  if (group.agrees || answers.empty()) return;
  const auto unexplained = std::ranges::find_if(group.buckets, [](const ExplainedBucket& b) {
    return b.bucket.kind == Bucket::kUnexplained;
  });
  const auto of = unexplained == group.buckets.end() ? group.buckets.begin() : unexplained;
  group.diagnosis = OfStored(op, answers, of->bucket);
}

// The cases of one finding: this one first, then those in its folder with the same operation and
// bucket.
absl::StatusOr<std::vector<RegressionCase>> OfSameFinding(const std::string& path, Console& console,
                                                          bool& damaged) {
  ASSIGN_OR_RETURN(const RegressionCase own, ReadCase(path, true));
  std::vector<RegressionCase> all = {own};
  if (!own.bucket) return all;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto beside = [&](const std::string& other) {
    std::error_code error;
    return absl::StartsWith(std::filesystem::path(other).filename().string(), own.slug + "-") &&
           !std::filesystem::equivalent(path, other, error);
  };
  ASSIGN_OR_RETURN(const CasesBelow below, ReadCases(folder.empty() ? "." : folder, beside));
  for (const std::string& what : below.damaged) console.Warn(what);
  damaged |= !below.damaged.empty();
  for (const auto& [other, c] : below.cases) {
    if (c.op == own.op && c.bucket == own.bucket) all.push_back(c);
  }
  return all;
}

// The stored answers of the named device, or the current answers of `device`.
absl::StatusOr<std::vector<Observed>> AnswersOf(std::span<const RegressionCase> cases,
                                                const std::string& device_name, Device* device) {
  std::vector<Observed> answers;
  for (const RegressionCase& c : cases) {
    std::vector<Observed> of_case;
    if (device == nullptr) {
      of_case = AnswersIn(c)[device_name];
    } else {
      const absl::StatusOr<Subject> asked = AskSubject(*c.op, c.inputs, *device, c.age());
      if (absl::IsNotFound(asked.status())) continue;  // a recording may lack some
      RETURN_IF_ERROR(asked.status());
      of_case = ObservedResults(asked->mismatch);
    }
    answers.insert(answers.end(), of_case.begin(), of_case.end());
  }
  return answers;
}

// The changes that reproduce this answer, first those that reproduce all answers of its finding.
Diagnosis DiagnosisOf(const Operation& op, const Observed& observed, const Diagnosis& whole) {
  Diagnosis d = DiagnosisOfAnswer(op, observed);
  const auto in_whole = [&](const Neighbour& n) {
    return std::ranges::any_of(whole.changes,
                               [&](const Neighbour& f) { return f.algorithm == n.algorithm; });
  };
  std::stable_partition(d.changes.begin(), d.changes.end(), in_whole);
  if (!whole.changes.empty() && (d.changes.empty() || !in_whole(d.changes.front()))) {
    d.changes.insert(d.changes.begin(), whole.changes.front());
  }
  return d;
}

// Explains the subject together with other answers of its finding and the stored bucket, if any.
ExplainedCase Explain(Subject subject, const std::vector<Observed>& others, const Bucket& stored) {
  ExplainedCase e;
  e.subject = std::move(subject);
  e.observed = ObservedResults(e.subject.mismatch);
  const Operation& op = *e.subject.mismatch.op;
  if (e.subject.mismatch.failure) {
    e.stored = bool{stored};
    e.bucket = e.stored ? stored : Bucket::NoWord(*e.subject.mismatch.failure);
    return e;
  }
  std::vector<Observed> answers = e.observed;
  answers.insert(answers.end(), others.begin(), others.end());
  e.agrees = e.subject.differing.empty() && Explains(op, op.model, answers);
  if (e.agrees) {
    e.diagnosis.observed = std::move(answers);
    return e;
  }
  e.stored = bool{stored};
  e.diagnosis = OfStored(op, answers, stored);
  e.bucket = e.stored ? stored : e.diagnosis.bucket(op);
  e.element =
      e.subject.placed ? e.subject.mismatch.element : ElementInBucket(op, e.observed, e.bucket);
  e.of_answer = DiagnosisOf(op, e.observed[e.element], e.diagnosis);
  std::erase_if(e.of_answer.changes, [&](const Neighbour& n) {
    if (!e.diagnosis.refuted && Explains(op, WithAlgorithm(op, n.algorithm), answers)) return false;
    e.refuted.push_back(Name(n));
    return true;
  });
  e.of_answer.refuted = e.of_answer.changes.empty() && !e.refuted.empty();
  return e;
}

}  // namespace

absl::StatusOr<ExplainedCase> ExplainCase(const std::string& argument, Device* device,
                                          Console& console) {
  ASSIGN_OR_RETURN(Subject subject, LoadSubject(argument, device));
  if (LooksLikeCaseName(argument)) return ExplainSubject(std::move(subject));
  bool damaged = false;
  ASSIGN_OR_RETURN(const auto all, OfSameFinding(argument, console, damaged));
  const std::span others =
      std::span(all).subspan(subject.mismatch.failure ? all.size() : size_t{1});
  ASSIGN_OR_RETURN(const std::vector<Observed> answers,
                   AnswersOf(others, subject.device_name, device));
  Bucket bucket = all.front().bucket;
  if (device != nullptr) {  // a different device may have a different fault
    if (!all.front().IsOf(device->name()) || bucket.kind != Bucket::kUnexplained) bucket = {};
  }
  ExplainedCase e = Explain(std::move(subject), answers, bucket);
  e.stored &= device == nullptr;
  e.damaged = damaged;
  return e;
}

ExplainedCase ExplainSubject(Subject subject) { return Explain(std::move(subject), {}, {}); }

absl::StatusOr<ExplainedFolder> ExplainFolder(const std::string& folder, Console& console) {
  ASSIGN_OR_RETURN(const std::vector<std::string> recordings, RecordingFoldersBelow(folder));
  ExplainedFolder e;
  ASSIGN_OR_RETURN(const CasesBelow below, ReadStoredCases(folder, e.ledger));
  for (const std::string& what : below.damaged) console.Warn(what);
  e.recordings = !recordings.empty();
  e.damaged = !below.damaged.empty();
  std::map<std::pair<std::string, std::string>, ExplainedGroup> groups;  // by operation and device
  for (const auto& [path, c] : below.cases) {
    const auto group_of = [&groups, &op = *c.op](const std::string& device) -> ExplainedGroup& {
      ExplainedGroup& group = groups[{op.name, device}];
      group.op = &op;
      group.device = device;
      return group;
    };
    for (const auto& [device, answers] : AnswersIn(c)) Add(c, answers, group_of(device));
    if (c.no_word) AddFailed(c, group_of(WhoAnswered(*c.no_word)));
  }
  for (auto& [key, group] : groups) {
    Diagnose(group);
    e.groups.push_back(std::move(group));
  }
  return e;
}

absl::StatusOr<MinimizedCase> MinimizeCase(const Subject& subject, Device& device,
                                           int64_t most_calls, const std::string& folder) {
  const CaseStream stream =
      subject.stream.value_or(CaseStream{subject.mismatch.op, &Strategies().front(), 1});
  const Mismatch& m = subject.mismatch;
  auto i = m.failure        ? InvestigateFailure(device, m, most_calls)
           : m.most_age > 0 ? InvestigateInProcess(device, m, stream)
                            : Investigate(device, m, stream, {}, most_calls);
  if (!i.ok()) return DeviceError(i.status());
  MinimizedCase minimized;
  Finding& finding = minimized.finding;
  finding.bucket = i->bucket;
  if (finding.flaky()) {  // the first observation is the evidence
    i->cases = {{m, i->bucket, "the device and the model differ, once", CaseRole::kSeenOnce}};
  }
  finding.op = m.op->name;
  finding.case_name = subject.name;
  finding.device = device.name();
  if (!i->diagnosis.observed.empty()) finding.diagnosis = i->Text();
  if (!finding.flaky()) finding.reason = subject.reason;
  finding.spent = i->spent ? i->executions : 0;
  RETURN_IF_ERROR(FileCases(i->cases, IdentityFor(device, *m.op), folder, finding));
  finding.cases = 1;
  minimized.cases = std::move(i->cases);
  return minimized;
}

}  // namespace mmadiff
