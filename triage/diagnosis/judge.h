// Checks models against answers in batches; the answers that refuted the latest models are tried
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "sim/batch.h"
#include "triage/explain.h"

namespace mmadiff {

class Judge {
 public:
  // The operation and the answers must outlive the judge.
  Judge(const Operation& op, std::span<const Observed> observed);

  bool GivesAll(const Model& model) { return !FindRefuting(model); }

  // The index of an answer that the model does not reproduce, if any. The `likely` ones are tried
  // first.
  std::optional<size_t> FindRefuting(const Model& model, std::initializer_list<size_t> likely = {});

  // The number of answers that the model does not reproduce; most + 1 if more than `most`.
  size_t Missed(const Model& model, size_t most);

  // Indices of the first `most` answers that the model does not reproduce, ascending.
  std::vector<size_t> FirstMissed(const Model& model, size_t most);

 private:
  struct Block {
    size_t first;  // position of its first answer in the order
    Batch inputs;
  };

  bool IsGiven(const Model& model, size_t answer) const {
    return Fits(op_, model, observed_[answer]);
  }
  // Answers that the model does not reproduce: all, or the first in the order, at least `enough`.
  const std::vector<size_t>& FindMissed(const Model& model, size_t enough);
  // Block `b` of the order; the blocks before it must have been requested. nullptr after the last.
  const Block* BlockAt(size_t b);
  void PutFirst(size_t answer);
  // Moves the answers that most models missed to the front.
  void Reorder();

  const Operation& op_;
  const std::span<const Observed> observed_;
  std::vector<size_t> order_;     // all answers, by index
  std::vector<Block> blocks_;     // follow the order; made on demand
  std::vector<size_t> misses_;    // number of models that missed each answer
  size_t judged_ = 0;             // number of models that missed too many answers
  std::vector<size_t> refuting_;  // answers that refuted the latest models, the latest first
  std::vector<size_t> missed_;    // reused memory, like words_
  std::vector<uint64_t> words_;
};

}  // namespace mmadiff
