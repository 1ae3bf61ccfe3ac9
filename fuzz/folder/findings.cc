#include "fuzz/folder/findings.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "corpus/case_folder.h"
#include "corpus/utc_time.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/folder/finding_text.h"
#include "triage/explain.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

std::string Slug(const Bucket& bucket) {
  std::string slug;
  const bool no_word = bucket.kind == Bucket::kNoWord;  // one slug for all exit codes
  for (const char c : no_word ? Name(bucket.failure.kind) : Name(bucket))
    slug += absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '_';
  return slug;
}

std::string WhyOf(const RegressionCase& c) {
  return StateOf(c) == FindingState::kExplained ? c.why : "";
}

// Moves a fixed finding to kRegressed, because a run found it again.
absl::Status Regress(const std::string& path) {
  absl::StatusOr<RegressionCase> c = ReadCase(path);
  if (!c.ok() || c->state != FindingState::kFixed || !IsFinding(*c)) return c.status();
  c->state = FindingState::kRegressed;
  c->moved_by = {MovedBy::kRun};
  return RewriteCase(path, *c);
}

}  // namespace

bool IsMinimal(const RegressionCase& c) {
  const CaseRole role = RoleOf(c);
  return role == CaseRole::kMinimal || role == CaseRole::kSeenOnce;
}

RegressionCase ToRegressionCase(const KeptCase& kept, absl::string_view device,
                                absl::string_view identity, absl::string_view source) {
  const Mismatch& m = kept.mismatch;
  RegressionCase c;
  c.op = m.op;
  c.inputs = m.inputs;
  if (m.failure) {
    c.no_word = {std::string(device), std::string(identity), UtcNow(), *m.failure};
  } else {
    c.answers = {{std::string(device), std::string(identity), UtcNow(), m.device, m.age}};
  }
  c.answers.push_back({absl::StrCat("model:", kModelVersion), "", UtcNow(), m.model});
  c.slug = Slug(kept.bucket);
  c.bucket = kept.bucket;
  c.source = std::string(source);
  c.position = PositionOf(c.inputs.shape, m.element);
  c.why = kept.why;
  c.role = kept.role;
  return c;
}

std::optional<uint64_t> Findings::Left(const Operation& op) const {
  if (max_cases_ == 0) return std::nullopt;
  const auto of_op = ops_.find(op.name);
  return max_cases_ - (of_op == ops_.end() ? 0 : std::min(max_cases_, of_op->second.cases));
}

std::vector<Observed> Findings::Earlier(const Operation& op, size_t most) const {
  const auto of_op = ops_.find(op.name);
  if (of_op == ops_.end()) return {};
  const std::vector<Observed>& unfixed = of_op->second.unfixed;
  return {unfixed.begin(), unfixed.begin() + std::min<long>(most, std::ssize(unfixed))};
}

std::optional<InvestigateTask> Findings::Consider(const CaseName& name, const Mismatch& found) {
  if (Left(*found.op) == 0) return std::nullopt;
  OfOperation& of_op = ops_[found.op->name];
  // A failure that ends the process takes long, so each one counts toward the limit.
  const bool ends = found.failure && ScopeOf(found.failure->kind) == FailureScope::kProcess;
  of_op.cases += of_op.last.Add(name) || ends;
  if (CountIfKnown(of_op, name, found)) return std::nullopt;
  return InvestigateTask{name, found, of_op.observed, std::exchange(of_op.earlier, {}),
                         !of_op.clues};
}

bool Findings::CountIfKnown(OfOperation& of_op, const CaseName& name, const Mismatch& found) const {
  const Operation& op = *found.op;
  if (found.failure) {
    const Bucket bucket = Bucket::NoWord(*found.failure);
    const auto same = std::ranges::find(of_op.groups, bucket,
                                        [](const Group& group) { return group.finding.bucket; });
    if (same == of_op.groups.end()) return false;
    same->Count(name);
    return true;
  }
  for (Group& group : of_op.groups) {
    if (group.age == 0 || found.most_age < group.age) continue;
    // A different fault must not hide behind it: investigate again, less and less often.
    const uint64_t cases = group.finding.cases + 1;
    if (std::has_single_bit(cases)) return false;
    group.Count(name);
    return true;
  }
  const std::vector<Observed> observed = ObservedResults(found);
  const DifferenceClass difference = GravestClass(op, observed);
  const WithNanVerdict free(op, op.model, NanVerdict::kAnyNan);
  const auto gives = [&](const Group& group) {
    if (!group.change) return false;
    const bool numbers = group.free_nans && difference != DifferenceClass::kNanPayload;
    return Explains(numbers ? free.op : op, WithAlgorithm(op, group.change->algorithm), observed);
  };
  for (Group& group : of_op.groups) {
    if (!group.finding.flaky() && gives(group)) {
      group.Count(name);
      return true;
    }
  }
  Bucket hiccup = BucketOf(op, observed);
  hiccup.repetition = Repetition::kFlaky;
  for (Group& group : of_op.groups) {
    const bool flaky = group.finding.flaky();
    const bool lost = of_op.unexplained && !group.change && group.finding.bucket.Repeats() &&
                      group.classes.contains(difference);
    if (flaky ? group.finding.bucket != hiccup : !lost) continue;
    // A flaky case must not hide one that repeats: investigate again, less and less often.
    const uint64_t cases = group.finding.cases + 1;
    if (flaky && (cases < 16 || std::has_single_bit(cases))) return false;
    group.Count(name);
    return true;
  }
  return false;
}

absl::Status Findings::File(const TaskResult& investigated) {
  const auto& task = std::get<InvestigateTask>(investigated.task.what);
  const auto& answer = std::get<InvestigateAnswer>(investigated.answer);
  OfOperation& of_op = ops_[task.mismatch.op->name];
  Group group;
  Finding& finding = group.finding;
  finding.op = task.mismatch.op->name;
  finding.case_name = FormatCaseName(task.name);
  finding.device = answer.device;
  group.Count(task.name);
  const std::vector<KeptCase> kept = Learn(of_op, task, answer, group);
  const absl::Status filed = FileCases(kept, answer.identity, folder_, finding);
  const bool printed = std::ranges::any_of(of_op.groups, [&](const Group& other) {
    return !finding.path.empty() && other.finding.path == finding.path;
  });
  if (print_ && !printed) {
    console_.Print(DescribeFinding(kept, finding, console_.style()));
  }
  Join(of_op, task, std::move(group));
  return filed;
}

std::vector<KeptCase> Findings::Learn(OfOperation& of_op, const InvestigateTask& task,
                                      const InvestigateAnswer& answer, Group& group) const {
  const Operation& op = *task.mismatch.op;
  Finding& finding = group.finding;
  const std::vector<Observed> observed = ObservedResults(task.mismatch);
  of_op.observed = answer.known;
  const Repetition repetition =
      answer.found ? answer.found->bucket.repetition : Repetition::kUnconfirmed;
  const std::optional<InputFailure>& failure = task.mismatch.failure;
  if (!answer.found || answer.found->cases.empty()) {  // the first observation is the evidence
    finding.bucket = failure ? Bucket::NoWord(*failure) : BucketOf(op, observed);
    finding.bucket.repetition = repetition;
    return {{task.mismatch, finding.bucket, "the device and the model differ, once",
             CaseRole::kSeenOnce}};
  }
  const Investigation& found = *answer.found;
  finding.bucket = found.bucket;
  if (failure) return found.cases;
  if (finding.bucket.repetition == Repetition::kAged) {
    group.age = found.cases.front().mismatch.age;
    finding.diagnosis = found.diagnosis.observed.empty() ? "" : found.Text();
    std::vector<KeptCase> cases = found.cases;
    for (const Group& other : of_op.groups) {  // the same age means the same fault
      if (other.age == group.age) cases.front().bucket = finding.bucket = other.finding.bucket;
    }
    return cases;
  }
  finding.diagnosis = found.Text();
  finding.shared = answer.shared;
  finding.reason = answer.reason;
  finding.clues = answer.clues;
  of_op.clues |= !answer.clues.empty();
  finding.spent = found.spent ? found.executions : 0;
  of_op.observed = found.diagnosis.observed;
  if (found.diagnosis.changes.empty()) {
    of_op.unexplained = true;
    group.classes = {GravestClass(op, observed)};
    return found.cases;
  }
  group.change = found.diagnosis.changes.front();
  group.free_nans = found.diagnosis.other_nans > 0;
  for (const Group& other : of_op.groups) {
    if (Replaces(group, other.finding)) finding.replaces.push_back(other.finding.bucket);
  }
  return found.cases;
}

absl::Status FileCases(const std::vector<KeptCase>& cases, absl::string_view identity,
                       const std::string& folder, Finding& finding) {
  FindingState state = FindingState::kFixed;  // if none of the cases is a finding
  for (const KeptCase& kept : cases) {
    RegressionCase c = ToRegressionCase(kept, finding.device, identity, finding.case_name);
    c.shared = finding.shared;
    c.reason = finding.reason;
    c.clues = finding.clues;
    const auto path = WriteCase(c, folder, true);
    const absl::Status filed = path.ok() ? Regress(*path) : path.status();
    if (!filed.ok()) return absl::DataLossError(filed.message());
    const auto stored = ReadCase(*path);
    if (!stored.ok()) return absl::DataLossError(stored.status().message());
    if (IsFinding(*stored)) state = MoreUrgent(state, StateOf(*stored));
    if (finding.path.empty()) {
      finding.path = *path;
    } else {
      finding.beside.push_back(*path);
    }
    if (kept.role == CaseRole::kTypical) finding.typical = *path;
  }
  if (!cases.empty()) finding.state = state;
  return absl::OkStatus();
}

bool Findings::Replaces(const Group& group, const Finding& other) {
  return group.change && group.finding.op == other.op && other.bucket.Repeats() &&
         other.bucket.kind != Bucket::kNoWord;
}

// A change that reproduces all answers of the operation absorbs the earlier groups whose buckets it
// refutes, including those of earlier attempts. Their files are removed; flaky groups stay.
void Findings::Join(OfOperation& of_op, const InvestigateTask& task, Group group) {
  const auto old =
      std::ranges::find(of_op.groups, group.finding.bucket,
                        [](const Group& other) -> const Bucket& { return other.finding.bucket; });
  if (old != of_op.groups.end() && !group.change) {
    old->Count(task.name);
    ++old->finding.reports;
    old->finding.state = MoreUrgent(old->finding.state, group.finding.state);
    old->classes.merge(group.classes);
    std::vector<std::string>& beside = old->finding.beside;
    group.finding.beside.push_back(group.finding.path);
    if (old->finding.typical.empty()) old->finding.typical = group.finding.typical;
    for (std::string& path : group.finding.beside) {
      const bool known = path == old->finding.path || std::ranges::count(beside, path) > 0;
      if (!known && !path.empty()) beside.push_back(std::move(path));
    }
    return;
  }
  std::set<std::string> kept(group.finding.beside.begin(), group.finding.beside.end());
  kept.insert(group.finding.path);
  const auto remove_files = [&](Finding& replaced) {
    replaced.beside.push_back(replaced.path);
    for (const std::string& path : replaced.beside) {
      std::error_code error;
      if (!kept.contains(path)) std::filesystem::remove(path, error);
      if (error) console_.Warn(absl::StrCat(path, ": remove: ", error.message()));
    }
  };
  for (auto b = of_op.groups.begin(); b != of_op.groups.end();) {
    if (!Replaces(group, b->finding)) {
      ++b;
      continue;
    }
    group.finding.cases += b->finding.cases;
    remove_files(b->finding);
    b = of_op.groups.erase(b);
  }
  std::erase_if(earlier_, [&](Finding& f) {
    const bool same = f.bucket == group.finding.bucket;
    if (same || !Replaces(group, f)) return false;
    remove_files(f);
    return true;
  });
  of_op.groups.push_back(std::move(group));
}

std::vector<std::string> Findings::LoadEarlier(absl::FunctionRef<bool(const RegressionCase&)> own) {
  absl::StatusOr<CasesBelow> below = ReadCases(folder_);
  if (absl::IsNotFound(below.status())) return {};
  if (!below.ok()) return {std::string(below.status().message())};
  std::vector<std::string> wrong = std::move(below->damaged);
  for (const FiledCase& filed : below->cases) {
    const RegressionCase& c = filed.filed;
    if (!own(c)) {
      wrong.push_back(absl::StrCat(filed.path, ": a finding of a different run"));
      continue;
    }
    if (c.bucket.Repeats() && !c.no_word && c.inputs.shape == DotProductShape(c.inputs.shape)) {
      OfOperation& of_op = ops_[c.op->name];
      of_op.earlier.push_back({Extract(c.inputs, 0), c.answers.front().d[0]});
      const bool fixed = !IsFinding(c) || StateOf(c) == FindingState::kFixed;
      if (!fixed) of_op.unfixed.push_back(of_op.earlier.back());
    }
    AddFiled(filed, earlier_);
  }
  return wrong;
}

void AddFiled(const FiledCase& filed, std::vector<Finding>& findings) {
  const auto& [path, c] = filed;
  const bool unfixed = IsFinding(c) && StateOf(c) != FindingState::kFixed;
  const FindingState state = IsFinding(c) ? StateOf(c) : FindingState::kFixed;
  for (Finding& f : findings) {
    if (f.op != c.op->name || f.bucket != c.bucket) continue;
    f.beside.push_back(path);
    if (RoleOf(c) == CaseRole::kTypical) f.typical = path;
    f.unfixed |= unfixed;
    f.state = MoreUrgent(state, f.state);
    if (f.shared.empty()) f.shared = c.shared;
    if (f.clues.empty()) f.clues = c.clues;
    // The reason of the case that is shown.
    if (f.reason.empty() || (IsMinimal(c) && !c.reason.empty())) f.reason = c.reason;
    const std::string why = WhyOf(c);
    if (f.why.empty() || (!why.empty() && why.size() < f.why.size())) f.why = why;
    if (IsMinimal(c)) std::swap(f.path, f.beside.back());
    return;
  }
  Finding f;
  f.op = c.op->name;
  f.bucket = c.bucket;
  f.case_name = c.source;
  f.path = path;
  if (RoleOf(c) == CaseRole::kTypical) f.typical = path;
  f.device = c.device();
  f.shared = c.shared;
  f.reason = c.reason;
  f.clues = c.clues;
  f.why = WhyOf(c);
  f.unfixed = unfixed;
  f.state = state;
  findings.push_back(std::move(f));
}

std::vector<Finding> Findings::list() const {
  std::vector<Finding> all;
  for (const auto& [op, of_op] : ops_) {
    for (const Group& group : of_op.groups) all.push_back(group.finding);
  }
  const size_t own = all.size();
  for (const Finding& f : earlier_) {
    const auto same = [&f](const Finding& other) {
      return other.op == f.op && other.bucket == f.bucket;
    };
    // A finding that absorbed this one has its own files; this one's were removed.
    std::error_code ignored;
    const bool gone = !std::filesystem::exists(f.path, ignored);
    if (gone || std::any_of(all.begin(), all.begin() + own, same)) continue;
    all.push_back(f);
  }
  return all;
}

}  // namespace mmadiff
