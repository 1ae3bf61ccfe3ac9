// The choices of CopyRules as a table: their names and values, and the one-parameter neighbors of the model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/copy/tensor_copy.h"

namespace mmadiff {

struct CopyParameter {
  const char* name;
  std::span<const char* const> values;  // names of the values 0, 1, ...; the model has 0
  int (*get)(const CopyRules&);
  void (*set)(CopyRules&, int);
  bool (*concerns)(const CopyForm&);
};
std::span<const CopyParameter> CopyParameters();
// Whether copies of the form can depend on it.
bool Concerns(const CopyParameter& parameter, const CopyForm& form);

struct CopyChange {
  const CopyParameter* parameter;
  int value;
};
std::string Name(const CopyChange& change);                        // "tf32_ties=away"
std::optional<CopyChange> ParseCopyChange(std::string_view text);  // exactly the output of Name()
CopyRules With(CopyRules rules, const CopyChange& change);

// Every change of one parameter of the model's rules.
std::vector<CopyChange> CopyNeighbors();

}  // namespace mmadiff
