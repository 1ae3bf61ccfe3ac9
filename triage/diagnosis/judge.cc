#include "triage/diagnosis/judge.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr size_t kRefuting = 8;  // answers that are tried first
constexpr size_t kMinBlock = 32, kMaxBlock = 512;
constexpr size_t kJudgedInOrder = 64;  // number of models between reorderings

}  // namespace

Judge::Judge(const Operation& op, std::span<const Observed> observed)
    : op_(op), observed_(observed), order_(observed.size()), misses_(observed.size()) {
  std::iota(order_.begin(), order_.end(), size_t{0});
}

std::optional<size_t> Judge::FindRefuting(const Model& model,
                                          std::initializer_list<size_t> likely) {
  for (const size_t answer : likely) {
    if (answer < observed_.size() && !IsGiven(model, answer)) return answer;
  }
  for (const size_t answer : refuting_) {
    if (IsGiven(model, answer)) continue;
    PutFirst(answer);
    return answer;
  }
  const std::vector<size_t>& missed = FindMissed(model, 1);
  if (missed.empty()) return std::nullopt;
  PutFirst(missed[0]);
  return missed[0];
}

size_t Judge::Missed(const Model& model, size_t most) {
  if (most < refuting_.size()) {
    size_t missed = 0;
    for (const size_t answer : refuting_) {
      if (IsGiven(model, answer) || ++missed <= most) continue;
      PutFirst(answer);
      return missed;
    }
  }
  const size_t missed = FindMissed(model, most + 1).size();
  if (missed <= most) return missed;
  PutFirst(missed_[most]);
  for (const size_t answer : missed_) ++misses_[answer];
  if (++judged_ % kJudgedInOrder == 0) Reorder();
  return most + 1;
}

std::vector<size_t> Judge::FirstMissed(const Model& model, size_t most) {
  std::vector<size_t> missed = FindMissed(model, judged_ < kJudgedInOrder ? most : order_.size());
  std::ranges::sort(missed);
  if (missed.size() > most) missed.resize(most);
  return missed;
}

const std::vector<size_t>& Judge::FindMissed(const Model& model, size_t enough) {
  missed_.clear();
  for (size_t b = 0; missed_.size() < enough; ++b) {
    const Block* block = BlockAt(b);
    if (block == nullptr) break;
    words_.resize(block->inputs.count);
    Simulate(model, block->inputs, words_);
    for (size_t i = 0; i < words_.size(); ++i) {
      const size_t answer = order_[block->first + i];
      if (!Fits(op_, observed_[answer], words_[i])) missed_.push_back(answer);
    }
  }
  return missed_;
}

const Judge::Block* Judge::BlockAt(size_t b) {
  if (b < blocks_.size()) return &blocks_[b];
  const size_t first =
      blocks_.empty() ? 0 : blocks_.back().first + static_cast<size_t>(blocks_.back().inputs.count);
  if (first == order_.size()) return nullptr;
  const size_t size = std::clamp(first / 2, kMinBlock, kMaxBlock);
  const size_t count = std::min(size, order_.size() - first);
  Block& block = blocks_.emplace_back(Block{first, {}});
  block.inputs.Resize(DotProductShape(op_.shape()), static_cast<int64_t>(count));
  for (size_t i = 0; i < count; ++i) {
    const DotProductCase& dot = observed_[order_[first + i]].dot;
    Insert(dot, static_cast<int64_t>(i), {}, block.inputs);
  }
  return &block;
}

void Judge::Reorder() {
  std::ranges::stable_sort(order_, std::greater<>(),
                           [&](size_t answer) { return misses_[answer]; });
  blocks_.clear();
}

void Judge::PutFirst(size_t answer) {
  auto at = std::ranges::find(refuting_, answer);
  if (at == refuting_.end()) {
    if (refuting_.size() < kRefuting) refuting_.push_back(answer);
    at = refuting_.end() - 1;
    *at = answer;
  }
  std::rotate(refuting_.begin(), at, at + 1);
}

}  // namespace mmadiff
