// Chooses the inputs that tell models apart, by simulation.
#pragma once

#include <vector>

#include "sim/batch.h"
#include "sim/row.h"

namespace mmadiff {

class CaseChooser {
 public:
  // Models of which each one differs more from `model` than the one before, in one parameter: a
  // case that does not tell the last is not tried on the others.
  using Chain = std::vector<Model>;

  // Each of the others is to be told from `model` by so many cases. `nan_bits`: NaNs are compared
  // bit for bit, even where the row promises none.
  CaseChooser(const Row& row, const Model& model, const std::vector<Chain>& others, int cases,
              bool nan_bits = false);

  // Chooses the case if it tells one of those that still need some, or if `keep`.
  void Consider(const DotProductCase& dot, bool keep = false);

  bool done() const { return untold_.empty(); }
  std::vector<DotProductCase>& chosen() { return chosen_; }

 private:
  struct Untold {
    Model model;
    int cases;  // still needed
  };

  const Row& row_;
  const Model& model_;
  const bool nan_bits_;
  std::vector<std::vector<Untold>> untold_;  // chains
  std::vector<DotProductCase> chosen_;
};

}  // namespace mmadiff
