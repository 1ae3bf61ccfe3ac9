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
  // Models of which each one differs more from `model` than the one before, in one parameter: a
  // case that does not distinguish the last is not tried on the others.
  using Chain = std::vector<Model>;

  // Each of the others is to be distinguished from `model` by so many cases. `nan_bits`: NaNs are
  // compared bit for bit, even where the operation promises none.
  CaseChooser(const Operation& op, const Model& model, const std::vector<Chain>& others, int cases,
              bool nan_bits = false);

  // Chooses the case if it distinguishes one of those that still need some, or if `keep`.
  void Consider(const DotProductCase& dot, bool keep = false);
  // As Consider() of each in turn, faster.
  void ConsiderEach(const Batch& batch);
  // Considers those of a batch that distinguish a model, as many of each as it needs: many dot products at
  // once, for what one of a million distinguishes.
  void ConsiderTelling(const Batch& batch);
  // Considers relatives (triage/minimize/passes.h) of the cases that came nearest to those that are
  // not distinguished yet, some thousand for each chain. What decides between two values of a
  // number is often a shift away from what decides between others.
  void ConsiderRelatives();

  bool done() const { return open_.empty(); }
  size_t open() const { return open_.size(); }  // chains with a model that needs more
  std::vector<DotProductCase>& chosen() { return chosen_; }

 private:
  struct Undistinguished {
    Model model;
    int cases;  // still needed
  };

  struct OpenChain {
    std::vector<Undistinguished> models;
    std::optional<DotProductCase> nearest;  // distinguished the first of the chain that any has
    size_t first = 0;                       // that one
  };

  bool Same(uint64_t x, uint64_t y) const;
  // Whether the case, to which the model gives `word`, distinguishes one of the chain.
  bool Distinguishes(OpenChain& chain, const DotProductCase& dot, uint64_t word) const;

  // Chooses the first of the dot products that distinguishes the last model of the chain, if one does
  // before kRelatives were tried.
  bool ConsiderNearer(OpenChain& chain, const std::vector<DotProductCase>& dots, int& tried);

  const Operation& op_;
  const Model& model_;
  const bool nan_bits_;
  std::vector<OpenChain> open_;
  std::vector<DotProductCase> chosen_;
};

}  // namespace mmadiff
