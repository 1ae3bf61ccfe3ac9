#include "triage/minimize/reducer.h"

#include <algorithm>
#include <utility>

#include "device/status_macros.h"
#include "sim/sparsity.h"
#include "triage/minimize/leap_passes.h"
#include "triage/minimize/terms.h"
#include "triage/minimize/wide_passes.h"

namespace mmadiff {
namespace {

// Proposals sent to the device at once. Predicted ones are rarely refused, others mostly.
constexpr size_t kPredictedBatch = 16;
constexpr size_t kBlindBatch = 1024;
constexpr size_t kWordsOfBatch = 1 << 20;  // bounds the memory of batches of whole tiles
// Limits the questions to a device that does not match its explanation.
constexpr int kMaxPredictedBatches = 64;
// The same for the passes that leap or draw, whose proposals cost nothing.
constexpr int kMaxLeapBatches = 16;
// If nothing predicts the device, only Passes() continue after this many executions, including
// those of the surroundings; sooner if each execution is a large tile.
constexpr int64_t kMaxBlindExecutions = 20000;
constexpr int64_t kMaxBlindWords = 1 << 24;

}  // namespace

Reducer::Reducer(Runner& runner, const Target& target, const Batch& background, int64_t element)
    : runner_(runner),
      target_(target),
      inputs_(background),
      element_(element),
      most_batches_(kMaxPredictedBatches),
      current_(Extract(background, element)),
      complexity_(ComplexityOf(runner.op().model, current_)) {}

absl::StatusOr<bool> Reducer::Reduce(Effort effort) {
  bool changed = false;
  while (ApplyAll(Passes()) || (effort == Effort::kAll && Leap())) changed = true;
  RETURN_IF_ERROR(status_);
  Insert(current_, 0, PositionOf(inputs_.shape, element_), inputs_);
  return changed;
}

bool Reducer::ApplyAll(std::span<const Pass> passes) {
  bool helped = false;
  for (const Pass& pass : passes) {
    while (Apply(pass)) helped = true;
  }
  return helped;
}

bool Reducer::ApplyFirst(std::span<const Pass> passes, int most_batches) {
  leaping_ = true;
  most_batches_ = most_batches;
  bool helped = false;
  for (size_t i = 0; i < passes.size() && !helped; ++i) {
    while (Apply(passes[i])) helped = true;
  }
  leaping_ = false;
  most_batches_ = kMaxPredictedBatches;
  return helped;
}

// Expensive, so only when the other passes are exhausted; these run again after one leap helped. On
// a device that no neighbor predicts, the most expensive passes come last, and only if the case has
// terms to lose.
bool Reducer::Leap() {
  const auto wide = [&] { return ApplyFirst(WidePasses(), kMaxPredictedBatches); };
  const auto draw = [&] { return ApplyFirst(DrawPasses(), kMaxLeapBatches); };
  if (ApplyFirst(LeapPasses(), kMaxLeapBatches)) return true;
  const bool many = ActiveTerms(runner_.op().model, current_).size() >= 3;
  if (target_.explained()) return wide() || (many && draw());
  return many && (draw() || wide());
}

bool Reducer::Spent() const {
  if (!runner_.HasBudget()) return true;
  if (target_.explained()) return asked_ >= most_batches_;
  const int64_t words = static_cast<int64_t>(WordsPerExecution());
  const int64_t most = std::min(kMaxBlindExecutions, kMaxBlindWords / words);
  return leaping_ && runner_.executions() >= most;
}

size_t Reducer::WordsPerExecution() const {
  return inputs_.a.size() + inputs_.b.size() + inputs_.c.size();
}

bool Reducer::Apply(const Pass& pass) {
  if (!status_.ok() || exhausted_.count(pass.name) > 0) return false;
  taken_ = false;
  asked_ = 0;
  if (Spent()) return false;
  pending_.clear();
  pass.propose(runner_.op().model, DotProductCase(current_),
               [this](const DotProductCase& dot) { return Offer(dot); });
  if (!taken_ && status_.ok()) Ask();
  if (pass.from_scratch && !taken_) exhausted_.insert(pass.name);
  return taken_;
}

bool Reducer::Offer(const DotProductCase& proposed) {
  DotProductCase dot = proposed;
  if (!FitMetadata(runner_.op().shape(), dot)) return false;
  if (++offers_ % 256 == 0 && runner_.StopRequested()) status_ = absl::CancelledError("stopped");
  if (!status_.ok()) return true;
  const Complexity complexity = ComplexityOf(runner_.op().model, dot);
  if (!Simpler(complexity, dot, complexity_, current_)) return false;
  if (!target_.Possible(dot) || refused_.count(dot) > 0) return false;
  pending_.push_back(dot);
  const size_t most = target_.explained() ? kPredictedBatch : kBlindBatch;
  if (pending_.size() < most && pending_.size() * WordsPerExecution() < kWordsOfBatch) return false;
  return Ask() || Spent();
}

// Runs one execution for each proposal and takes the first that holds, as one-by-one execution
// would.
bool Reducer::Ask() {
  if (pending_.empty()) return false;
  ++asked_;
  Batch batch;
  const int64_t words = inputs_.shape.d_words();
  for (size_t i = 0; i < pending_.size(); ++i) batch.Append(inputs_);
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
    complexity_ = ComplexityOf(runner_.op().model, current_);
    taken_ = true;
  }
  pending_.clear();
  return taken_ || !status_.ok();
}

}  // namespace mmadiff
