#include "fuzz/findings.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "device/line_protocol.h"
#include "triage/explain.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr char kFlaky[] = "flaky:", kUnconfirmed[] = "unconfirmed:";

std::string Slug(absl::string_view signature) {
  std::string slug;
  for (const char c : signature) slug += absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '_';
  return slug;
}

}  // namespace

std::string Now() {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
}

RegressionCase ToRegressionCase(const Minimized& minimal, const Device& device,
                                absl::string_view source) {
  RegressionCase c;
  c.row = minimal.mismatch.row;
  c.inputs = minimal.mismatch.inputs;
  c.answers = {{device.name(), IdentityFor(device, *c.row), Now(), minimal.device},
               {absl::StrCat("model:", kModelVersion), "", Now(), minimal.model}};
  c.slug = Slug(minimal.signature);
  c.signature = minimal.signature;
  c.source = std::string(source);
  c.position = PositionOf(c.inputs.shape, minimal.mismatch.element);
  c.why = absl::StrCat("the device and the model differ: ", minimal.signature);
  return c;
}

std::string DescribeFinding(const Minimized& minimal, const Finding& finding, bool color) {
  const Row& row = *minimal.mismatch.row;
  const int64_t element = minimal.mismatch.element;
  const Position p = PositionOf(minimal.mismatch.inputs.shape, element);
  const DotProductCase dot = Extract(minimal.mismatch.inputs, element);
  const bool alone = minimal.mismatch.inputs.shape == DotProductShape(row.shape());
  std::string text = absl::StrCat(
      finding.flaky                                       ? "FLAKY "
      : absl::StartsWith(finding.signature, kUnconfirmed) ? "UNCONFIRMED "
                                                          : "MISMATCH ",
      row.name, "\n  bucket     ", finding.signature, "\n  first case ", finding.case_name,
      "\n  minimal    ",
      alone ? "one dot product"
            : absl::StrCat("in its tile, block ", p.block, " row ", p.i, " column ", p.j),
      "\n  operands   ", FormatLine(*row.instruction, dot), "\n",
      DescribeDifference(*row.instruction->d, minimal.model[element], minimal.device[element],
                         color));
  if (!finding.path.empty()) {
    absl::StrAppend(&text, "  filed      ", finding.path, "\n  reproduce  ./mmadiff replay ",
                    finding.path, "\n  explain    ./mmadiff explain ", finding.path, "\n");
  }
  return text;
}

absl::Status Findings::Add(Device& device, const MismatchingCase& found) {
  const std::string& row = found.mismatch.row->name;
  const absl::Status limit = absl::ResourceExhaustedError("enough mismatches");
  bool last = false;
  {
    std::lock_guard lock(mutex_);
    const uint64_t count = ++cases_[row];
    if (max_cases_ != 0 && count > max_cases_) return limit;
    last = count == max_cases_;
  }
  const std::vector<Observed> observed = ObservedResults(found);
  const std::vector<Neighbour> explaining = Explaining(*found.mismatch.row, observed);
  Bucket* bucket;
  Finding finding;
  {
    std::lock_guard lock(mutex_);
    bool file = false;
    bucket = &BucketOf(found, observed, explaining, &file);
    if (!file) return last ? limit : absl::OkStatus();
    finding = bucket->finding;
  }
  const std::string old_path = finding.path;
  const bool was_flaky = finding.flaky;  // its file stays: it was seen
  const absl::Status status = Investigate(device, found, observed, finding);
  std::lock_guard lock(mutex_);
  if (!old_path.empty() && old_path != finding.path && !was_flaky) std::remove(old_path.c_str());
  finding.cases = bucket->finding.cases;
  bucket->finding = finding;
  if (!status.ok()) return status;
  return last ? limit : absl::OkStatus();
}

std::vector<Neighbour> Findings::Explaining(const Row& row,
                                            std::span<const Observed> observed) const {
  std::vector<Neighbour> known;
  {
    std::lock_guard lock(mutex_);
    const auto buckets = buckets_.find(row.name);
    if (buckets == buckets_.end()) return ExplainingNeighbours(row, observed);
    for (const Bucket& bucket : buckets->second) {
      // A flaky one is known by its signature, which takes all explanations.
      if (bucket.finding.flaky) return ExplainingNeighbours(row, observed);
      known.insert(known.end(), bucket.explanations.begin(), bucket.explanations.end());
    }
  }
  std::erase_if(known, [&](const Neighbour& n) {
    return !Explains(row, WithAlgorithm(row, n.algorithm), observed);
  });
  return known.empty() ? ExplainingNeighbours(row, observed) : known;
}

std::vector<std::string> Findings::LoadEarlier(
    const std::function<bool(const RegressionCase&)>& own) {
  std::vector<std::string> wrong;
  const absl::StatusOr<std::vector<std::string>> paths = ListCases(folder_);
  if (absl::IsNotFound(paths.status())) return wrong;
  if (!paths.ok()) return {std::string(paths.status().message())};
  for (const std::string& path : *paths) {
    const absl::StatusOr<RegressionCase> c = ReadCase(path);
    if (c.ok() && !own(*c)) {
      wrong.push_back(absl::StrCat(path, ": a finding of another run"));
    } else if (c.ok()) {
      earlier_.push_back(
          {c->row->name, c->signature, c->source, path, 0, absl::StartsWith(c->signature, kFlaky)});
    } else {
      wrong.push_back(std::string(c.status().message()));
    }
  }
  return wrong;
}

Findings::Bucket& Findings::BucketOf(const MismatchingCase& found,
                                     std::span<const Observed> observed,
                                     const std::vector<Neighbour>& explaining, bool* file) {
  const Row& row = *found.mismatch.row;
  std::list<Bucket>& buckets = buckets_[row.name];
  const std::string signature =
      SignatureOf(row, observed, explaining.empty() ? nullptr : &explaining.front());
  for (Bucket& bucket : buckets) {
    if (bucket.explanations.empty() || bucket.finding.flaky) {
      if (bucket.signature != signature) continue;
      const uint64_t cases = ++bucket.finding.cases;
      // One hiccup must not hide what does repeat: ask again, more and more seldom.
      *file = bucket.finding.flaky && (cases < 16 || std::has_single_bit(cases));
      if (*file) {
        bucket.finding.signature = bucket.signature;
        bucket.finding.case_name = FormatCaseName(found.name);
      }
      return bucket;
    }
    std::vector<Neighbour> shared;
    for (const Neighbour& n : bucket.explanations) {
      const auto same = [&n](const Neighbour& other) { return other.name == n.name; };
      if (std::any_of(explaining.begin(), explaining.end(), same)) shared.push_back(n);
    }
    if (shared.empty()) continue;
    ++bucket.finding.cases;
    *file = shared.front().name != bucket.explanations.front().name;
    bucket.explanations = std::move(shared);
    if (*file) {
      bucket.signature = SignatureOf(row, observed, &bucket.explanations.front());
      bucket.finding.signature = bucket.signature;
      bucket.finding.case_name = FormatCaseName(found.name);
    }
    return bucket;
  }
  Bucket& bucket = buckets.emplace_back();
  bucket.signature = signature;
  bucket.explanations = explaining;
  bucket.finding.row = row.name;
  bucket.finding.signature = signature;
  bucket.finding.case_name = FormatCaseName(found.name);
  bucket.finding.cases = 1;
  *file = true;
  return bucket;
}

absl::Status Findings::Investigate(Device& device, const MismatchingCase& found,
                                   std::span<const Observed> observed, Finding& finding) {
  Mismatch mismatch = found.mismatch;
  mismatch.element = TellingElement(*mismatch.row, observed, finding.signature);
  absl::StatusOr<Minimized> minimal = Minimize(device, mismatch);
  absl::Status asked = minimal.status();
  if (absl::IsDataLoss(asked)) {  // an unreadable answer; kDataLoss is for files here
    asked = absl::UnavailableError(asked.message());
  }
  finding.flaky = asked.ok() && minimal->repeatability != Repeatability::kReproduced;
  if (finding.flaky || !asked.ok()) {  // what was seen the first time is the evidence
    finding.signature = absl::StrCat(asked.ok() ? kFlaky : kUnconfirmed, finding.signature);
    minimal = Minimized{mismatch,          found.model,           found.device(),
                        finding.signature, Repeatability::kFlaky, 0};
  }
  const absl::StatusOr<std::string> path =
      WriteCase(ToRegressionCase(*minimal, device, finding.case_name), folder_);
  if (path.ok()) finding.path = *path;
  if (print_) console_.Print(DescribeFinding(*minimal, finding, console_.color()));
  return path.ok() ? asked : absl::DataLossError(path.status().message());
}

std::vector<Finding> Findings::list() const {
  std::lock_guard lock(mutex_);
  std::vector<Finding> all;
  for (const auto& [row, buckets] : buckets_) {
    for (const Bucket& bucket : buckets) all.push_back(bucket.finding);
  }
  const size_t own = all.size();
  for (const Finding& f : earlier_) {
    const auto same = [&f](const Finding& other) { return other.path == f.path; };
    // What was narrowed since has another file, and this one is no more.
    if (std::any_of(all.begin(), all.begin() + own, same) || !std::ifstream(f.path)) continue;
    all.push_back(f);
  }
  return all;
}

}  // namespace mmadiff
