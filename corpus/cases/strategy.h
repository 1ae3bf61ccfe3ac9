// Where the bits of a case come from.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "corpus/cases/tile.h"
#include "sim/instruction.h"

namespace mmadiff {

// The boundary classes for an instruction's formats, in the order that numbers them.
std::span<const InputClass> BoundaryClasses(const Instruction& instruction);

// Classes that only strategies of their own and schedules have, of floating-point instructions.
std::span<const InputClass> LateClasses();

// Uniform bits in every operand, those that a scale has no meaning for aside.
const InputClass& UniformBits();

struct Strategy {
  const char* name;
  const char* what;
  StrategyKind kind;  // for GPUs as KindOn()
  // Class of case `index`, where the first `boundary` boundary classes are used.
  const InputClass& (*class_of)(const Instruction& instruction, int boundary, uint64_t index);
};

std::span<const Strategy> Strategies();  // the default one first
// One for each boundary class that some instruction has, of its name: nothing but that class.
std::span<const Strategy> ClassStrategies();
const Strategy* FindStrategy(std::string_view name);  // of both; nullptr when there is none

// Whether the instruction has the classes: false for another one's boundary class alone. Nothing
// else may be asked of a strategy on such an instruction.
bool HasClasses(const Strategy& strategy, const Instruction& instruction);
// As ClassNumber() takes it.
StrategyKind KindOn(const Strategy& strategy, const Instruction& instruction);

// Every class that the strategy uses on the instruction.
std::vector<const InputClass*> ClassesOf(const Strategy& strategy, const Instruction& instruction);

}  // namespace mmadiff
