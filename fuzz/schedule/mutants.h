// Seeded faults: which one-parameter neighbours of a model, and which models of other
// architectures, does the generator find, and in how many cases?
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

// Operations of one model, by the one with the fewest dot products; those whose NaN is known first.
struct OperationsOfModel {
  const Operation* op = nullptr;
  size_t operations = 0;
};
std::vector<OperationsOfModel> OperationsByModel(const std::vector<const Operation*>& ops);
// Calls `one` for 0 to count - 1, in threads (0: of all cores), and shows the names that it returns.
void OverAll(size_t count, int threads, Console& console,
             absl::FunctionRef<const std::string&(size_t)> one);

struct MutantsOptions {
  std::vector<const Operation*> ops;
  const Strategy* strategy = &Strategies().front();  // or Scheduled()
  uint64_t cases = 100000;  // executions in which a mutant must die; at least 1
  uint64_t seed = 1;
  int threads = 0;  // 0: all cores
};

struct Mutant {
  Change change;  // no parameter where it is another operation's model
  Model model;
  const Operation* other = nullptr;  // that operation
  uint64_t cases = 0;                // executions up to the first that differs; 0 if none does

  std::string name() const;  // NAME=VALUE, or arch=NAME
};

struct OperationMutants {
  const Operation* op = nullptr;
  size_t stands_for = 1;  // operations of its model
  std::vector<Mutant> mutants;
  std::vector<EquivalentNeighbour> equivalent;  // that no input can distinguish, with the reason
};

struct MutantsOutcome {
  // First one of each model with its neighbours, then operations with the later ones of their
  // instruction that have another model.
  std::vector<OperationMutants> ops;
  size_t models = 0;
  size_t mutants = 0, equivalent = 0;
  size_t pairs = 0, equal_pairs = 0;  // of operations of one instruction: tried, and of one model
  std::vector<uint64_t> killed;       // Mutant::cases of those that died, ascending

  size_t survivors() const { return mutants - killed.size(); }
};

// The neighbours of a model, none tried yet.
OperationMutants NeighboursOf(const OperationsOfModel& by_model);

// The same whatever the number of threads. kOutOfRange where there are no mutants.
absl::StatusOr<MutantsOutcome> KillMutants(const MutantsOptions& options, Console& console);

}  // namespace mmadiff
