// Strategies: the sources of a case's bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "corpus/cases/tile.h"
#include "sim/instruction.h"

namespace mmadiff {

// The boundary classes for an instruction's formats, in order of their numbers.
std::span<const InputClass> BoundaryClasses(const Instruction& instruction);

// Classes that only their own strategies and schedules use, for floating-point dot products.
std::span<const InputClass> LateClasses();

// Uniform bits in every operand, except scale bits without a meaning.
const InputClass& UniformBits();

struct Strategy {
  const char* name;
  const char* what;
  StrategyKind kind;  // KindOn() gives the kind for GPUs
  // The class of case `index` if the first `boundary` boundary classes are used.
  const InputClass& (*class_of)(const Instruction& instruction, int boundary, uint64_t index);
};

std::span<const Strategy> Strategies();  // default first
// One strategy per boundary class of any instruction, named after the class: it uses only that
// class.
std::span<const Strategy> ClassStrategies();
const Strategy* FindStrategy(std::string_view name);  // in both lists; nullptr if not found

// Whether the instruction has the classes. False only for the boundary class of a different
// instruction; then no other function may be called with this pair.
bool HasClasses(const Strategy& strategy, const Instruction& instruction);
// The kind, as ClassNumber() takes it.
StrategyKind KindOn(const Strategy& strategy, const Instruction& instruction);

// All classes that the strategy uses on the instruction.
std::vector<const InputClass*> ClassesOf(const Strategy& strategy, const Instruction& instruction);

}  // namespace mmadiff
