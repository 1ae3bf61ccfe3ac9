// All rows of two architectures against one another, by what they multiply, whatever they are called.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/operation.h"
#include "triage/race/pair.h"

namespace mmadiff {

// Rows of one architecture that compute the same from the same operands, chained to equal k. Emulated rows, which assemblers
// make of other instructions, are apart: they say nothing of the chip.
struct RowClass {
  std::vector<const Operation*> rows;  // in table order
  bool emulated = false;
};

struct ClassPair {
  size_t x = 0, y = 0;  // of the group's classes
  PairRace race;        // of one row of each, the shorter one chained
};

struct FormatGroup {
  std::string a, b;  // formats
  std::string
      d;  // with what else the instruction says: "f32", "s32 (satfinite)", "f32 (ue8m0 scale for 32)"
  std::vector<RowClass> x, y;
  std::vector<ClassPair> pairs;  // each class is in one
  std::string verdict;           // "the same", or what differs in words

  std::string formats() const;  // "f16 to f32", "e4m3 x e5m2 to f32 (rz)"
};

struct ArchitectureRace {
  std::vector<FormatGroup> groups;  // in the order of the rows of x
  std::vector<FormatGroup>
      only_in_one;  // the other architecture has no such formats: x or y is empty
};

// Whether they multiply the same formats, and saturate, round and scale alike: RaceAll() puts them into one group.
bool HaveEqualFormats(const Operation& x, const Operation& y);

// Each row is in one group of these.
absl::StatusOr<ArchitectureRace> RaceAll(std::span<const Operation* const> x,
                                         std::span<const Operation* const> y, Races& races);

// "mma/wgmma", "emulated mma (k = 8)", of one class or several: with k where other classes have the same verbs, with a row where
// they have the same k.
std::string ClassName(const std::vector<RowClass>& classes, std::span<const size_t> indices);

// A line for all groups of one verdict, those of one architecture, then differences last: "{f16, bf16} to f32: the same".
std::string VerdictLines(const ArchitectureRace& race);

}  // namespace mmadiff
