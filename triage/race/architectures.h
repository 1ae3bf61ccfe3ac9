// Races all rows of two architectures against one another, matched by operand formats, not by name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/operation.h"
#include "triage/race/pair.h"

namespace mmadiff {

// Rows of one architecture that compute the same from the same operands, chained to equal k.
// Emulated rows, which assemblers make from other instructions, are in classes of their own: they
// show nothing about the chip.
struct RowClass {
  std::vector<const Operation*> rows;  // in table order
  bool emulated = false;
};

struct ClassPair {
  size_t x = 0, y = 0;  // indices of the group's classes
  PairRace race;        // between one row of each class, the shorter one chained
};

struct FormatGroup {
  std::string a, b;  // formats
  std::string d;
  // with the rest of the request: "f32", "s32 (satfinite)", "f32 (ue8m0 scale for 32)"
  std::vector<RowClass> x, y;
  std::vector<ClassPair> pairs;  // every class is in a pair
  std::string verdict;           // "the same", or the difference in words

  std::string formats() const;  // "f16 to f32", "e4m3 x e5m2 to f32 (rz)"
};

struct ArchitectureRace {
  std::vector<FormatGroup> groups;  // in the order of the rows of x
  std::vector<FormatGroup>
      only_in_one;  // x or y is empty: the other architecture has no such formats
};

// Whether they multiply the same formats, sparse or not, and saturate, round and scale alike;
// RaceAll() then puts them into one group.
bool HaveEqualFormats(const Operation& x, const Operation& y);

// Puts each row into one group.
absl::StatusOr<ArchitectureRace> RaceAll(std::span<const Operation* const> x,
                                         std::span<const Operation* const> y, Races& races);

// "mma/wgmma", "emulated mma (k = 8)", for one class or several. The name includes k if other
// classes have the same verbs, and a row if they also have the same k.
std::string ClassName(const std::vector<RowClass>& classes, std::span<const size_t> indices);

// One line for all groups with the same verdict: equal ones first, then formats of one architecture
// only, then differences. "{f16, bf16} to f32: the same".
std::string VerdictLines(const ArchitectureRace& race);

}  // namespace mmadiff
