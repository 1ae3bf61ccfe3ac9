#include "fuzz/findings.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "corpus/case_folder.h"
#include "fuzz/finding_life.h"
#include "fuzz/finding_text.h"
#include "triage/explain.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

std::string Slug(absl::string_view signature) {
  std::string slug;
  for (const char c : signature) slug += absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '_';
  return slug;
}

// A run found it again.
absl::Status Regress(const std::string& path) {
  absl::StatusOr<RegressionCase> c = ReadCase(path);
  if (!c.ok() || c->state != FindingState::kFixed || !IsFinding(*c)) return c.status();
  c->state = FindingState::kRegressed;
  c->state_by = kMovedByRun;
  return RewriteCase(path, *c);
}

}  // namespace

bool Repeats(absl::string_view signature) {
  return RepetitionOf(signature) == Repetition::kRepeats;
}

bool IsMinimal(const RegressionCase& c) {
  const CaseRole role = RoleOf(c);
  return role == CaseRole::kMinimal || role == CaseRole::kSeenOnce;
}

std::string Now() {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
}

RegressionCase ToRegressionCase(const KeptCase& kept, absl::string_view device,
                                absl::string_view identity, absl::string_view source) {
  const Mismatch& m = kept.mismatch;
  RegressionCase c;
  c.op = m.op;
  c.inputs = m.inputs;
  c.answers = {{std::string(device), std::string(identity), Now(), m.device},
               {absl::StrCat("model:", kModelVersion), "", Now(), m.model}};
  c.slug = Slug(kept.signature);
  c.signature = kept.signature;
  c.source = std::string(source);
  c.position = PositionOf(c.inputs.shape, m.element);
  c.why = kept.why;
  c.role = kept.role;
  return c;
}

uint64_t Findings::Left(const Operation& op) const {
  if (max_cases_ == 0) return UINT64_MAX;
  const auto of_op = ops_.find(op.name);
  return max_cases_ - (of_op == ops_.end() ? 0 : std::min(max_cases_, of_op->second.cases));
}

std::optional<InvestigateTask> Findings::Consider(const CaseName& name, const Mismatch& found) {
  if (Left(*found.op) == 0) return std::nullopt;
  OfOperation& of_op = ops_[found.op->name];
  ++of_op.cases;
  if (CountIfKnown(of_op, found)) return std::nullopt;
  return InvestigateTask{name, found, of_op.observed, std::exchange(of_op.earlier, {})};
}

bool Findings::CountIfKnown(OfOperation& of_op, const Mismatch& found) const {
  const Operation& op = *found.op;
  const std::vector<Observed> observed = ObservedResults(found);
  const auto gives = [&](const Bucket& b) {
    return b.change && Explains(op, WithAlgorithm(op, b.change->algorithm), observed);
  };
  for (Bucket& bucket : of_op.buckets) {
    if (!bucket.finding.flaky && gives(bucket)) {
      ++bucket.finding.cases;
      return true;
    }
  }
  const std::string seen = Signature(op, observed);
  const std::string way = GravestClass(op, observed);
  for (Bucket& bucket : of_op.buckets) {
    const bool flaky = bucket.finding.flaky;
    const bool lost =
        of_op.unexplained && !bucket.change && !bucket.unconfirmed && bucket.classes.contains(way);
    if (flaky ? bucket.signature != seen : !lost) continue;
    // One hiccup must not hide what does repeat: ask again, more and more seldom.
    const uint64_t cases = bucket.finding.cases + 1;
    if (flaky && (cases < 16 || std::has_single_bit(cases))) return false;
    bucket.finding.cases = cases;
    return true;
  }
  return false;
}

absl::Status Findings::File(const TaskResult& investigated) {
  const auto& task = std::get<InvestigateTask>(investigated.task.what);
  const auto& answer = std::get<InvestigateAnswer>(investigated.answer);
  OfOperation& of_op = ops_[task.mismatch.op->name];
  Bucket bucket;
  Finding& finding = bucket.finding;
  finding.op = task.mismatch.op->name;
  finding.case_name = FormatCaseName(task.name);
  finding.device = answer.device;
  finding.cases = 1;
  const std::vector<KeptCase> kept = Learn(of_op, task, answer, bucket);
  const absl::Status filed = FileCases(kept, answer.identity, folder_, finding);
  if (print_) console_.Print(DescribeFinding(kept.front().mismatch, finding, console_.style()));
  Join(of_op, std::move(bucket));
  return filed;
}

std::vector<KeptCase> Findings::Learn(OfOperation& of_op, const InvestigateTask& task,
                                      const InvestigateAnswer& answer, Bucket& bucket) const {
  const Operation& op = *task.mismatch.op;
  Finding& finding = bucket.finding;
  const std::vector<Observed> observed = ObservedResults(task.mismatch);
  of_op.observed = answer.known;
  finding.flaky = answer.found && answer.found->repeatability != Repeatability::kReproduced;
  if (finding.flaky || !answer.found) {  // what was seen the first time is the evidence
    bucket.signature = Signature(op, observed);
    bucket.unconfirmed = !answer.found;
    finding.signature = absl::StrCat(
        Prefix(finding.flaky ? Repetition::kFlaky : Repetition::kUnconfirmed), bucket.signature);
    return {{task.mismatch, finding.signature, "the device and the model differ, once",
             CaseRole::kSeenOnce}};
  }
  const Investigation& found = *answer.found;
  bucket.signature = finding.signature = found.bucket;
  finding.diagnosis = found.Text();
  finding.spent = found.spent ? found.executions : 0;
  of_op.observed = found.diagnosis.observed;
  if (found.diagnosis.changes.empty()) {
    of_op.unexplained = true;
    bucket.classes = {GravestClass(op, observed)};
    return found.cases;
  }
  bucket.change = found.diagnosis.changes.front();
  for (const Bucket& b : of_op.buckets) {
    if (Replaces(bucket, b.finding)) finding.replaces.push_back(b.finding.signature);
  }
  return found.cases;
}

absl::Status FileCases(const std::vector<KeptCase>& cases, absl::string_view identity,
                       const std::string& folder, Finding& finding) {
  for (const KeptCase& kept : cases) {
    const auto path = WriteCase(ToRegressionCase(kept, finding.device, identity, finding.case_name),
                                folder, true);
    const absl::Status filed = path.ok() ? Regress(*path) : path.status();
    if (!filed.ok()) return absl::DataLossError(filed.message());
    if (finding.path.empty()) {
      finding.path = *path;
    } else {
      finding.beside.push_back(*path);
    }
  }
  return absl::OkStatus();
}

bool Findings::Replaces(const Bucket& bucket, const Finding& other) {
  return bucket.change && bucket.finding.op == other.op && !other.flaky &&
         RepetitionOf(other.signature) != Repetition::kUnconfirmed;
}

// A change that gives all answers of the operation takes in the buckets before it, also those of
// earlier attempts, whose names it has refuted; their files go, but for what did not repeat.
void Findings::Join(OfOperation& of_op, Bucket bucket) {
  const auto same = [&](const Bucket& b) {
    return b.finding.signature == bucket.finding.signature &&
           b.finding.flaky == bucket.finding.flaky;
  };
  const auto old = std::find_if(of_op.buckets.begin(), of_op.buckets.end(), same);
  if (old != of_op.buckets.end() && !bucket.change) {
    ++old->finding.cases;
    ++old->finding.reports;
    old->classes.merge(bucket.classes);
    std::vector<std::string>& beside = old->finding.beside;
    bucket.finding.beside.push_back(bucket.finding.path);
    for (std::string& path : bucket.finding.beside) {
      const bool known = path == old->finding.path || std::ranges::count(beside, path) > 0;
      if (!known && !path.empty()) beside.push_back(std::move(path));
    }
    return;
  }
  std::set<std::string> kept(bucket.finding.beside.begin(), bucket.finding.beside.end());
  kept.insert(bucket.finding.path);
  const auto remove_files = [&kept](Finding& replaced) {
    replaced.beside.push_back(replaced.path);
    for (const std::string& path : replaced.beside) {
      if (kept.count(path) == 0) std::remove(path.c_str());
    }
  };
  for (auto b = of_op.buckets.begin(); b != of_op.buckets.end();) {
    if (!Replaces(bucket, b->finding)) {
      ++b;
      continue;
    }
    bucket.finding.cases += b->finding.cases;
    remove_files(b->finding);
    b = of_op.buckets.erase(b);
  }
  std::erase_if(earlier_, [&](Finding& f) {
    const bool same = f.signature == bucket.finding.signature;
    if (same || !Replaces(bucket, f)) return false;
    remove_files(f);
    return true;
  });
  of_op.buckets.push_back(std::move(bucket));
}

std::vector<std::string> Findings::LoadEarlier(
    const std::function<bool(const RegressionCase&)>& own) {
  absl::StatusOr<CasesBelow> below = ReadCases(folder_);
  if (absl::IsNotFound(below.status())) return {};
  if (!below.ok()) return {std::string(below.status().message())};
  std::vector<std::string> wrong = std::move(below->damaged);
  for (const auto& [path, filed] : below->cases) {
    if (own(filed)) {
      AddEarlier(filed, path);
    } else {
      wrong.push_back(absl::StrCat(path, ": a finding of another run"));
    }
  }
  return wrong;
}

void Findings::AddEarlier(const RegressionCase& c, const std::string& path) {
  const bool repeats = Repeats(c.signature);
  if (repeats && c.inputs.shape == DotProductShape(c.inputs.shape)) {
    ops_[c.op->name].earlier.push_back({Extract(c.inputs, 0), c.answers.front().d[0]});
  }
  const bool unfixed = IsFinding(c) && StateOf(c) != FindingState::kFixed;
  const FindingState state = IsFinding(c) ? StateOf(c) : FindingState::kFixed;
  for (Finding& f : earlier_) {
    if (f.op != c.op->name || f.signature != c.signature) continue;
    f.beside.push_back(path);
    f.unfixed |= unfixed;
    f.state = MoreUrgent(state, f.state);
    if (IsMinimal(c)) std::swap(f.path, f.beside.back());
    return;
  }
  Finding f;
  f.op = c.op->name;
  f.signature = c.signature;
  f.case_name = c.source;
  f.path = path;
  f.flaky = RepetitionOf(c.signature) == Repetition::kFlaky;
  f.device = c.answers.front().device;
  f.unfixed = unfixed;
  f.state = state;
  earlier_.push_back(std::move(f));
}

std::vector<Finding> Findings::list() const {
  std::vector<Finding> all;
  for (const auto& [op, of_op] : ops_) {
    for (const Bucket& bucket : of_op.buckets) all.push_back(bucket.finding);
  }
  const size_t own = all.size();
  for (const Finding& f : earlier_) {
    const auto same = [&f](const Finding& other) {
      return other.op == f.op && other.signature == f.signature;
    };
    // What took it in since has other files, and this one is no more.
    if (std::any_of(all.begin(), all.begin() + own, same) || !std::ifstream(f.path)) continue;
    all.push_back(f);
  }
  return all;
}

}  // namespace mmadiff
