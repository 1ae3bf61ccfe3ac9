// The parameters of an algorithm as a table, and its one-parameter neighbours. Sabotaged devices
// (`faulty:NAME=VALUE`), `explain` and mutants are all this one function.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/algorithm.h"
#include "sim/trace.h"

namespace mmadiff {

struct Parameter {
  const char* name;
  Stage stage;        // at which it acts
  unsigned families;  // bit 1 << Family for each family that reads it
  int (*get)(const Algorithm&);
  void (*set)(Algorithm&, int);
  std::span<const char* const> values;  // names of the values 0, 1, ...; empty for a number
  int min, max;                         // of a number
  bool structural;                      // says which products are added with which
};

// In the order in which a neighbour is preferred as an explanation. The first neighbour of every
// model is the fault that each run plants and must find.
std::span<const Parameter> Parameters();

// nullptr when there is none, or none of that name for the family.
const Parameter* FindParameter(Family family, std::string_view name);

// "25", "toward_zero", "none" (exponent_floor).
std::string ValueText(const Parameter& p, int value);
// False when `text` is no value of the parameter.
bool ParseValue(const Parameter& p, std::string_view text, int* value);

// Empty when the model can be simulated; otherwise what is wrong with it. Models made from a table
// operation or by Neighbours() are valid; one made from a user's NAME=VALUE must be asked.
std::string WhyInvalid(const Model& model);

// One parameter and a value of it.
struct Change {
  const Parameter* parameter = nullptr;  // an entry of Parameters()
  int value = 0;

  friend bool operator==(const Change&, const Change&) = default;
};
std::string Name(const Change& change);             // "fraction_bits=24"
std::string Name(std::span<const Change> changes);  // "terms=8 fraction_bits=24"; "" for none
// Reads exactly what Name() writes; nothing for other text, for a parameter that the family does
// not read, or for a value that the parameter cannot have.
std::optional<std::vector<Change>> ParseChanges(Family family, std::string_view text);
// The parameters of `to` that `from`, of the same family, sets differently, in table order.
std::vector<Change> ChangesBetween(const Algorithm& from, const Algorithm& to);
Algorithm WithChanges(Algorithm algorithm, std::span<const Change> changes);

const char* Name(Family family);  // "fused_sum"; "no model"
// Every parameter that the algorithm's family reads, with its value, in table order.
std::vector<Change> AlgorithmFields(const Algorithm& algorithm);

// A model beside another one. Most have one change; diagnosis and `infer` also find several.
struct Neighbour {
  std::vector<Change> changes;  // in table order; empty for the other model itself
  Algorithm algorithm;

  // The only change; nullptr if there are several.
  const Change* single() const { return changes.size() == 1 ? &changes.front() : nullptr; }
};
std::string Name(const Neighbour& neighbour);  // of its changes
// With the changes between the algorithms, which are of one family.
Neighbour NeighbourOf(const Algorithm& from, const Algorithm& to);

// Every algorithm that differs in one parameter: numbers one up and down (terms: halved and
// doubled; floor: also none), named values to each other value. Those that no input can distinguish
// from the model (WhyEquivalent) are left out.
std::vector<Neighbour> Neighbours(const Model& model);

// The values beside `value` that a parameter can have, numbers nearest first. All of them; of terms
// only 1..32 and powers of two, of floors -320..128 and none.
std::vector<int> OtherValues(const Parameter& p, int value);

// Every algorithm that differs in one parameter, whatever the distance: Neighbours() first, then
// the others by OtherValues(). Without those that no input can distinguish from the model.
std::vector<Neighbour> SingleChanges(const Model& model);

// A neighbour that is left out, and why no input can distinguish it from the model.
struct EquivalentNeighbour {
  Change change;
  std::string reason;
};
std::vector<EquivalentNeighbour> EquivalentNeighbours(const Model& model);

// "fused_sum(terms=8, fraction_bits=24, ...)": the parameters that the family reads.
std::string Describe(const Algorithm& algorithm);

}  // namespace mmadiff
