// Seeded faults: finds the one-parameter neighbors of a model, and the models of other
// architectures, that the generator detects, and the number of cases that it needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "corpus/cases/strategy.h"
#include "fuzz/output/console.h"
#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {

// Operations with one model. `op` is the one with the fewest dot products; operations whose NaN
// bits are specified come first.
struct OperationsOfModel {
  const Operation* op = nullptr;
  size_t operations = 0;
};
std::vector<OperationsOfModel> OperationsByModel(const std::vector<const Operation*>& ops);
// Calls `one` for 0 to count - 1, in `threads` threads (0: all cores), and shows the returned
// names.
void OverAll(size_t count, int threads, Console& console,
             absl::FunctionRef<const std::string&(size_t)> one);

struct MutantsOptions {
  std::vector<const Operation*> ops;
  const Strategy* strategy = &Strategies().front();  // or Scheduled()
  uint64_t cases = 100000;                           // executions tried per mutant; at least 1
  uint64_t seed = 1;
  int threads = 0;  // 0: all cores
};

struct Mutant {
  Change change;  // empty if `model` is that of `other`
  Model model;
  const Operation* other = nullptr;  // a different operation with this model, or nullptr
  uint64_t cases = 0;                // executions up to the first difference; 0: none

  std::string name() const;  // NAME=VALUE, or arch=NAME
};

struct OperationMutants {
  const Operation* op = nullptr;
  size_t stands_for = 1;  // operations with its model
  std::vector<Mutant> mutants;
  std::vector<EquivalentNeighbour> equivalent;  // indistinguishable by any input, with the reason
};

struct MutantsOutcome {
  // First, for each model, one operation with the neighbors of the model. Then operations whose
  // mutants are the different models of later operations of the same instruction.
  std::vector<OperationMutants> ops;
  size_t models = 0;
  size_t mutants = 0, equivalent = 0;
  // Pairs of operations of one instruction: tried; with equal models.
  size_t pairs = 0, equal_pairs = 0;
  std::vector<uint64_t> killed;  // Mutant::cases of the detected mutants, ascending

  size_t survivors() const { return mutants - killed.size(); }
};

// The neighbors of a model, before any is tried.
OperationMutants NeighboursOf(const OperationsOfModel& by_model);

// Does not depend on the number of threads. kOutOfRange: there are no mutants. kCancelled: a signal
// came.
absl::StatusOr<MutantsOutcome> KillMutants(const MutantsOptions& options, Console& console);

}  // namespace mmadiff
