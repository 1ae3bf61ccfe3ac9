// Where the bits of a case come from.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/random.h"
#include "sim/instruction.h"

namespace mmadiff {

// One execution, to be filled: a[rows][stride], b[columns][stride], c[results], all blocks of it; a
// row of A and a column of B are k elements and then their scales. The rows of A of all blocks
// share one structure, and so do the columns of B; their values differ.
struct Tile {
  const Instruction& instruction;
  uint64_t* a;
  uint64_t* b;
  uint64_t* c;

  int rows() const { return instruction.shape.blocks * instruction.shape.m; }
  int columns() const { return instruction.shape.blocks * instruction.shape.n; }
  int k() const { return instruction.shape.k; }
  int scales() const { return instruction.shape.scales; }
  int scale_block() const { return k() / scales(); }  // elements that share one; needs scales
  int stride() const { return instruction.shape.row_words(); }
  int results() const { return instruction.shape.d_words(); }
};

// A kind of input with a name, counted in every run. A class that stays empty makes a run
// incomplete.
struct InputClass {
  const char* name;
  const char* what;
  void (*fill)(const Tile& tile, Random& random);
};

// The boundary classes for an instruction's formats, in the order that numbers them.
std::span<const InputClass> BoundaryClasses(const Instruction& instruction);

// Uniform bits in every operand.
const InputClass& UniformBits();

struct Strategy {
  const char* name;
  const char* what;
  // Class of case `index`; a pure function, so every class has its share of any range of indices.
  const InputClass& (*class_of)(const Instruction& instruction, uint64_t index);
};

std::span<const Strategy> Strategies();               // the default one first
const Strategy* FindStrategy(std::string_view name);  // nullptr when there is none

// Every class that the strategy uses on the instruction.
std::vector<const InputClass*> ClassesOf(const Strategy& strategy, const Instruction& instruction);

}  // namespace mmadiff
