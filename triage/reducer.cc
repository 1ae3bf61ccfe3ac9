#include "triage/reducer.h"

#include <utility>

#include "sim/simulate.h"
#include "triage/explain.h"
#include "triage/sparse.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Proposals put to the device at once. Predicted ones are rarely refused, others mostly.
constexpr size_t kPredictedBatch = 16;
constexpr size_t kBlindBatch = 1024;
constexpr size_t kWordsOfBatch = 1 << 20;  // bounds the memory of batches of whole tiles
// A device that does not keep to its explanation is not asked for ever.
constexpr int kMostPredictedBatches = 64;

}  // namespace

absl::StatusOr<std::vector<uint64_t>> Runner::Run(const Batch& batch) {
  executions_ += batch.count;
  return device_.Run(row_, batch);
}

absl::StatusOr<std::vector<uint64_t>> Runner::Try(const Batch& batch) {
  absl::StatusOr<std::vector<uint64_t>> all = Run(batch);
  if (!absl::IsNotFound(all.status())) return all;
  std::vector<uint64_t> d;
  for (int64_t i = 0; i < batch.count; ++i) {
    const Batch one = Slice(batch, i);
    absl::StatusOr<std::vector<uint64_t>> words = device_.Run(row_, one);
    if (absl::IsNotFound(words.status())) {
      words = std::vector<uint64_t>(one.dot_products());
      Simulate(row_.model, one, *words);
    }
    if (!words.ok()) return words.status();
    d.insert(d.end(), words->begin(), words->end());
  }
  return d;
}

Target::Target(const Row& row, const DotProductCase& dot, uint64_t device) : row_(row) {
  const Observed observed{dot, device};
  signature_ = Signature(row, {&observed, 1});
  const std::vector<Neighbour> explaining = ExplainingNeighbours(row, {&observed, 1});
  if (explaining.empty()) return;
  for (const Neighbour& n : Neighbours(row.model)) {
    neighbours_.push_back(WithAlgorithm(row, n.algorithm));
    if (n.name == explaining[0].name) break;
  }
  explaining_ = static_cast<int>(neighbours_.size()) - 1;
}

// The same verdict as comparing Signature(), without its strings.
bool Target::Possible(const DotProductCase& dot) const {
  if (!explained()) return true;
  const Model& explanation = neighbours_[explaining_];
  const uint64_t predicted = SimulateSparse(explanation, dot);
  if (SameResult(row_, SimulateSparse(row_.model, dot), predicted)) return false;
  for (int i = 0; i < explaining_; ++i) {
    if (SameResult(row_, SimulateSparse(neighbours_[i], dot), predicted)) return false;
  }
  const std::string stage = FirstDifferingStage(row_.model, explanation, dot);
  return signature_.compare(0, signature_.find(':'), stage) == 0;
}

bool Target::Holds(const DotProductCase& dot, uint64_t device) const {
  const Observed observed{dot, device};
  return Signature(row_, {&observed, 1}) == signature_;
}

Reducer::Reducer(Runner& runner, const Target& target, const Batch& background, int64_t element)
    : runner_(runner),
      target_(target),
      inputs_(background),
      element_(element),
      current_(Extract(background, element)),
      complexity_(ComplexityOf(runner.row().model, current_)) {}

absl::StatusOr<bool> Reducer::Reduce() {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    for (const Pass& pass : Passes()) {
      while (Apply(pass)) again = true;
    }
    changed |= again;
    if (!status_.ok()) return status_;
    // The wide ones are dear: only where the others are at an end, and back to those after one
    // helped.
    for (const Pass& pass : WidePasses()) {
      if (again || !target_.explained()) break;
      while (Apply(pass)) again = true;
      changed |= again;
    }
  }
  if (!status_.ok()) return status_;
  Insert(current_, 0, PositionOf(inputs_.shape, element_), inputs_);
  return changed;
}

bool Reducer::Apply(const Pass& pass) {
  if (!status_.ok() || exhausted_.count(pass.name) > 0) return false;
  taken_ = false;
  asked_ = 0;
  pending_.clear();
  pass.propose(runner_.row().model, DotProductCase(current_),
               [this](const DotProductCase& dot) { return Offer(dot); });
  if (!taken_ && status_.ok()) Ask();
  if (pass.from_scratch && !taken_) exhausted_.insert(pass.name);
  return taken_;
}

bool Reducer::Offer(const DotProductCase& dot) {
  const Complexity complexity = ComplexityOf(runner_.row().model, dot);
  if (!Simpler(complexity, dot, complexity_, current_)) return false;
  if (!target_.Possible(dot) || refused_.count(dot) > 0) return false;
  pending_.push_back(dot);
  const size_t words = inputs_.a.size() + inputs_.b.size() + inputs_.c.size();
  const size_t most = target_.explained() ? kPredictedBatch : kBlindBatch;
  if (pending_.size() < most && pending_.size() * words < kWordsOfBatch) return false;
  return Ask() || (target_.explained() && asked_ >= kMostPredictedBatches);
}

// One execution for each proposal; the first that holds is taken, as if asked one at a time.
bool Reducer::Ask() {
  if (pending_.empty()) return false;
  ++asked_;
  Batch batch;
  const int64_t words = inputs_.shape.d_words();
  batch.shape = inputs_.shape;
  batch.count = static_cast<int64_t>(pending_.size());
  for (size_t i = 0; i < pending_.size(); ++i) {
    batch.a.insert(batch.a.end(), inputs_.a.begin(), inputs_.a.end());
    batch.b.insert(batch.b.end(), inputs_.b.begin(), inputs_.b.end());
    batch.c.insert(batch.c.end(), inputs_.c.begin(), inputs_.c.end());
  }
  const Position position = PositionOf(inputs_.shape, element_);
  for (size_t i = 0; i < pending_.size(); ++i) Insert(pending_[i], i, position, batch);
  const absl::StatusOr<std::vector<uint64_t>> d = runner_.Try(batch);
  status_ = d.status();
  for (size_t i = 0; i < pending_.size() && d.ok() && !taken_; ++i) {
    if (!target_.Holds(pending_[i], (*d)[i * words + element_])) {
      refused_.insert(pending_[i]);
      continue;
    }
    current_ = pending_[i];
    complexity_ = ComplexityOf(runner_.row().model, current_);
    taken_ = true;
  }
  pending_.clear();
  return taken_ || !status_.ok();
}

}  // namespace mmadiff
