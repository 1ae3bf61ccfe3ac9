#include "triage/infer/asker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

constexpr size_t kPortion = 4096;  // dot products of one batch

}  // namespace

absl::StatusOr<std::vector<uint64_t>> Asker::Run(const std::vector<DotProductCase>& dots) {
  if (static_cast<int64_t>(dots.size()) > left()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the budget of ", budget_, " dot products is spent"));
  }
  std::vector<uint64_t> words;
  for (size_t first = 0; first < dots.size(); first += kPortion) {
    const size_t count = std::min(kPortion, dots.size() - first);
    const std::vector<DotProductCase> portion(dots.begin() + first, dots.begin() + first + count);
    ASSIGN_OR_RETURN(const auto d, device_.Run(op_, MakeDotProductBatch(op_.shape(), portion)));
    asked_ += count;
    words.insert(words.end(), d.begin(), d.end());
  }
  return words;
}

absl::StatusOr<std::vector<uint64_t>> Asker::Ask(const std::string& experiment,
                                                 std::span<const DotProductCase> questions) {
  std::vector<DotProductCase> dots(questions.begin(), questions.end()), fresh;
  for (DotProductCase& dot : dots) dot.metadata = StoredMetadata(op_.shape(), dot);
  std::set<DotProductCase> seen;
  for (const DotProductCase& dot : dots) {
    if (!known_.contains(dot) && seen.insert(dot).second) fresh.push_back(dot);
  }
  ASSIGN_OR_RETURN(const auto d, Run(fresh));
  for (size_t i = 0; i < fresh.size(); ++i) Add(experiment, fresh[i], d[i]);
  std::vector<uint64_t> words;
  for (const DotProductCase& dot : dots) words.push_back(answers_[known_.at(dot)].observed.d);
  return words;
}

absl::StatusOr<size_t> Asker::AskAgain(std::span<const DotProductCase> dots) {
  ASSIGN_OR_RETURN(const auto d, Run({dots.begin(), dots.end()}));
  std::vector<DotProductCase> other;
  for (size_t i = 0; i < dots.size(); ++i) {
    const auto at = known_.find(dots[i]);
    if (at == known_.end()) continue;
    if (answers_[at->second].observed.d == d[i]) {
      repeated_.insert(dots[i]);
    } else {
      other.push_back(dots[i]);
    }
  }
  AddFlaky(other);
  return other.size();
}

void Asker::AddFlaky(std::span<const DotProductCase> dots) {
  if (dots.empty()) return;
  flaky_.insert(flaky_.end(), dots.begin(), dots.end());
  const std::set<DotProductCase> gone(flaky_.begin(), flaky_.end());
  std::erase_if(answers_, [&](const ExperimentAnswer& a) { return gone.contains(a.observed.dot); });
  std::erase_if(repeated_, [&](const DotProductCase& dot) { return gone.contains(dot); });
  known_.clear();
  for (size_t i = 0; i < answers_.size(); ++i) known_[answers_[i].observed.dot] = i;
}

void Asker::Add(const std::string& experiment, const DotProductCase& dot, uint64_t d) {
  const auto [at, fresh] = known_.try_emplace(dot, answers_.size());
  if (fresh) answers_.push_back({{dot, d}, experiment});
}

}  // namespace mmadiff
