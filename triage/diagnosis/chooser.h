// Chooses the inputs that distinguish models, by simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

class CaseChooser {
 public:
  // Models that each differ more from `model` than the one before, in one parameter. A case that
  // does not distinguish the last one is not tried on the others.
  using Chain = std::vector<Model>;

  // Each of the others is to be distinguished from `model` by `cases` cases. `nan_bits`: NaNs are
  // compared bit for bit, even where the operation promises none.
  CaseChooser(const Operation& op, const Model& model, const std::vector<Chain>& others, int cases,
              bool nan_bits = false);

  // Chooses the case if it distinguishes a model that still needs cases, or if `keep`.
  void Consider(const DotProductCase& dot, bool keep = false);
  // Like Consider() for each dot product in turn, but faster.
  void ConsiderEach(const Batch& batch);
  // Considers the dot products of a batch that distinguish a model, as many for each model as it
  // needs. Handles many dot products at once, for models that only one in a million distinguishes.
  void ConsiderTelling(const Batch& batch);
  // Considers relatives (triage/minimize/passes.h) of the cases that came nearest to models not yet
  // distinguished, some thousand for each chain. The case that decides between two values of a
  // number is often a shift away from one that decides between other values.
  void ConsiderRelatives();

  bool done() const { return open_.empty(); }
  size_t open() const { return open_.size(); }  // chains with a model that needs more cases
  std::vector<DotProductCase>& chosen() { return chosen_; }

 private:
  struct Undistinguished {
    Model model;
    int cases;  // still needed
  };

  struct OpenChain {
    std::vector<Undistinguished> models;
    std::optional<DotProductCase> nearest;  // distinguished the earliest model of the chain so far
    size_t first = 0;                       // index of that model
  };

  bool Same(uint64_t x, uint64_t y) const;
  // Whether the case, for which the model gives `word`, distinguishes a model of the chain.
  bool Distinguishes(OpenChain& chain, const DotProductCase& dot, uint64_t word) const;

  // Chooses the first of the dot products that distinguishes the last model of the chain, if one is
  // found before kRelatives were tried.
  bool ConsiderNearer(OpenChain& chain, const std::vector<DotProductCase>& dots, int& tried);

  const Operation& op_;
  const Model& model_;
  const bool nan_bits_;
  std::vector<OpenChain> open_;
  std::vector<DotProductCase> chosen_;
};

}  // namespace mmadiff
