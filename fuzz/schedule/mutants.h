// Seeded faults: measures which one-parameter neighbors of a model, and which models of other
// architectures, the generator distinguishes from the model, and in how many cases.
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

// Operations with the same model, represented by one of them: one with specified NaN bits if
// possible, then the one with the fewest dot products.
struct OperationsOfModel {
  const Operation* op = nullptr;
  size_t operations = 0;
};
std::vector<OperationsOfModel> OperationsByModel(const std::vector<const Operation*>& ops);
// Calls `one` for 0 to count - 1, in threads (0: one per core), and shows the names that it
// returns.
void OverAll(size_t count, int threads, Console& console,
             absl::FunctionRef<const std::string&(size_t)> one);

struct MutantsOptions {
  std::vector<const Operation*> ops;
  const Strategy* strategy = &Strategies().front();  // or Scheduled()
  uint64_t cases = 100000;  // executions within which a mutant must be killed; at least 1
  uint64_t seed = 1;
  int threads = 0;  // 0: all cores
};

struct Mutant {
  Change change;  // empty if the mutant is the model of a different operation
  Model model;
  const Operation* other = nullptr;  // that operation
  uint64_t cases = 0;                // executions up to the first that differs; 0: it survived

  std::string name() const;  // NAME=VALUE, or arch=NAME
};

struct OperationMutants {
  const Operation* op = nullptr;
  size_t stands_for = 1;  // number of operations with its model
  std::vector<Mutant> mutants;
  std::vector<EquivalentNeighbour> equivalent;  // neighbors that no input can distinguish, and why
};

struct MutantsOutcome {
  // First one operation per model with its neighbors; then operations with later operations of the
  // same instruction that have a different model.
  std::vector<OperationMutants> ops;
  size_t models = 0;
  size_t mutants = 0, equivalent = 0;
  size_t pairs = 0, equal_pairs = 0;  // pairs with one instruction: tried; with equal models
  std::vector<uint64_t> killed;       // Mutant::cases of the killed mutants, ascending

  size_t survivors() const { return mutants - killed.size(); }
};

// The neighbors of a model, before any is tried.
OperationMutants NeighboursOf(const OperationsOfModel& by_model);

// The result does not depend on the number of threads. kOutOfRange if there are no mutants.
absl::StatusOr<MutantsOutcome> KillMutants(const MutantsOptions& options, Console& console);

}  // namespace mmadiff
