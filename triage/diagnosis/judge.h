// Tries models against answers, many at once; the answers that refuted the last models come first.
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

  // The index of an answer that the model does not give, if there is one. The `likely` ones are tried first.
  std::optional<size_t> FindRefuting(const Model& model, std::initializer_list<size_t> likely = {});

  // How many answers the model does not give; most + 1 if there are more than `most`.
  size_t Missed(const Model& model, size_t most);

  // Indices of the first `most` answers that the model does not give, ascending.
  std::vector<size_t> FirstMissed(const Model& model, size_t most);

 private:
  struct Block {
    size_t first;  // place of its first answer in the order
    Batch inputs;
  };

  bool IsGiven(const Model& model, size_t answer) const {
    return Fits(op_, model, observed_[answer]);
  }
  // Answers that the model does not give: all, or the first in the order, `enough` at least.
  const std::vector<size_t>& FindMissed(const Model& model, size_t enough);
  // Block `b` of the order, to be asked for after those before it; nullptr after the last.
  const Block* BlockAt(size_t b);
  void PutFirst(size_t answer);
  // The answers that most models missed come first.
  void Reorder();

  const Operation& op_;
  const std::span<const Observed> observed_;
  std::vector<size_t> order_;     // of all answers
  std::vector<Block> blocks_;     // of the order, made when they are needed
  std::vector<size_t> misses_;    // models that missed each answer
  size_t judged_ = 0;             // models that missed too many answers
  std::vector<size_t> refuting_;  // answers that refuted the last models, the latest first
  std::vector<size_t> missed_;    // memory that is used again, as words_
  std::vector<uint64_t> words_;
};

}  // namespace mmadiff
