// The parameters of an algorithm as a table, and its one-parameter neighbors. Faulty devices
// (`faulty:NAME=VALUE`), `explain` and mutants all use it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/algorithm.h"
#include "sim/trace.h"

namespace mmadiff {

struct NodeField;

struct Parameter {
  const char* name;
  Stage stage;        // where it acts
  unsigned families;  // bit 1 << Family for each family that reads it
  std::function<int(const Algorithm&)> get;
  std::function<void(Algorithm&, int)> set;
  std::span<const char* const> values;  // names of the values 0, 1, ...; empty for a number
  int min, max;                         // range of a number
  bool structural;                      // determines which products are added together
  unsigned unusual;   // families, like `families`, in which every row of the tables has the value 0
  unsigned operands;  // of a reading: those whose words it changes (ReadingMember); 0 for others
  const NodeField* field = nullptr;  // of a node (sim/tree/tree.h); the name is "NODE.FIELD"
};

// Without those of nodes, in the order in which neighbors are preferred as explanations. The first
// neighbor of every model is the fault that each run plants and must find.
std::span<const Parameter> Parameters();

// Those that the algorithm's family reads, in that order. The fields of a tree's nodes come first.
std::vector<const Parameter*> ParametersOf(const Algorithm& algorithm);

inline bool IsReading(const Parameter& p) { return p.operands != 0; }

// nullptr if the family has no parameter of that name. A tree has "NODE.FIELD" for any NODE; to set
// that of a missing node changes nothing.
const Parameter* FindParameter(Family family, std::string_view name);

// False for a field of a node that the algorithm's tree does not have.
bool Reads(const Algorithm& algorithm, const Parameter& parameter);

// "25", "toward_zero", "none" (exponent_floor).
std::string ValueText(const Parameter& p, int value);
// False if `text` is not a value of the parameter.
bool ParseValue(const Parameter& p, std::string_view text, int* value);

// Empty if the model can be simulated; otherwise the reason. Models from a table operation or from
// `Neighbours()` are valid; check models that are built from a user's NAME=VALUE.
std::string WhyInvalid(const Model& model);

// One parameter and its value.
struct Change {
  const Parameter* parameter = nullptr;  // an entry of Parameters()
  int value = 0;

  friend bool operator==(const Change&, const Change&) = default;
};
std::string Name(const Change& change);             // "fraction_bits=24"
std::string Name(std::span<const Change> changes);  // "terms=8 fraction_bits=24"; "" for none
// Parses exactly the output of Name(). nullopt for other text, for a parameter that the family does
// not read, or for a value that the parameter cannot have.
std::optional<std::vector<Change>> ParseChanges(Family family, std::string_view text);
// The parameters whose values differ, with their values in `to`, in table order. nullopt if more
// than parameters differs: the family, or the shape of a tree, or the formats or NaNs of its nodes.
std::optional<std::vector<Change>> ChangesBetween(const Algorithm& from, const Algorithm& to);
Algorithm WithChanges(Algorithm algorithm, std::span<const Change> changes);

const char* Name(Family family);  // "fused_sum"; "no model"
// The family of that name among those with parameters.
std::optional<Family> FindFamily(std::string_view name);
// The parameters that the algorithm's family reads, with their values, in table order; without
// unusual ones whose value is 0.
std::vector<Change> AlgorithmFields(const Algorithm& algorithm);

// Whether an unusual parameter is not 0. No kernel for GPUs simulates such a model (kSimulatesUnusual).
bool HasUnusual(const Algorithm& algorithm);

// AlgorithmFields() with the unusual ones, but without readings that are as_is.
std::vector<Change> SearchedFields(const Algorithm& algorithm);

// A model with changed parameters. Most have one change; diagnosis and `infer` also find several.
struct Neighbour {
  std::vector<Change> changes;  // in table order; empty for the unchanged model
  Algorithm algorithm;

  // The only change; nullptr if there are several.
  const Change* single() const { return changes.size() == 1 ? &changes.front() : nullptr; }
};
std::string Name(const Neighbour& neighbour);  // the name of its changes
// `to` as a neighbor of `from`; both must be of one family.
Neighbour NeighbourOf(const Algorithm& from, const Algorithm& to);

// Every algorithm with one changed parameter of the sum: numbers move one up or down (terms are halved
// or doubled; a floor can also become none), named values take each other value. Leaves out algorithms
// that no input can distinguish from the model (WhyEquivalent).
std::vector<Neighbour> Neighbours(const Model& model);
// The same for readings, apart because one of them reproduces almost any single answer. `near`: a rule
// with a number of bits is there once, with the least that applies.
std::vector<Neighbour> Misreadings(const Model& model, bool near);
std::vector<Neighbour> AllNeighbours(const Model& model);  // both, in this order, the readings near

// All values other than `value` that a parameter can have, numbers nearest first. For terms only
// 1..32 and powers of two; for floors only -320..128 and none.
std::vector<int> OtherValues(const Parameter& p, int value);

// Every algorithm with one changed parameter, at any distance: `AllNeighbours()` first, then the
// others by OtherValues(). Leaves out algorithms that no input can distinguish from the model.
std::vector<Neighbour> SingleChanges(const Model& model);

// A neighbor that `AllNeighbours()` leaves out, and why no input can distinguish it from the model.
struct EquivalentNeighbour {
  Change change;
  std::string reason;
};
std::vector<EquivalentNeighbour> EquivalentNeighbours(const Model& model);

// "fused_sum(terms=8, fraction_bits=24, ...)": the parameters that the family reads.
std::string Describe(const Algorithm& algorithm);

}  // namespace mmadiff
