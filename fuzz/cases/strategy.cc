#include "fuzz/cases/strategy.h"

#include <vector>

#include "fuzz/cases/generate.h"

namespace mmadiff {
namespace {

template <StrategyKind kKind>
const InputClass& ClassOf(const Instruction& instruction, int boundary, uint64_t index) {
  const int number = ClassNumber(kKind, boundary, index);
  return number == 0 ? kUniformBits : BoundaryClasses(instruction)[number - 1];
}

// BoundaryClassCount() leaves the last one out where all bits of a scale are read.
static_assert(std::end(scaled_classes::kClasses)[-1].name == std::string_view("unread_bits"));

std::vector<InputClass> ScaledClasses() {
  std::vector<InputClass> all(std::begin(float_classes::kClasses),
                              std::end(float_classes::kClasses));
  all.insert(all.end(), std::begin(scaled_classes::kClasses), std::end(scaled_classes::kClasses));
  return all;
}

constexpr Strategy kStrategies[] = {
    {"mixed", "one case in four of `bits`, the others of `boundary`", StrategyKind::kMixed,
     ClassOf<StrategyKind::kMixed>},
    {"boundary", "the boundary classes in turn", StrategyKind::kBoundary,
     ClassOf<StrategyKind::kBoundary>},
    {"bits", "uniform random bits in every operand", StrategyKind::kBits,
     ClassOf<StrategyKind::kBits>},
};

}  // namespace

std::span<const InputClass> BoundaryClasses(const Instruction& instruction) {
  static const std::vector<InputClass>& scaled = *new std::vector<InputClass>(ScaledClasses());
  if (IsInteger(*instruction.d)) return integer_classes::kClasses;
  if (instruction.scale != nullptr) {
    return std::span(scaled).first(BoundaryClassCount(instruction));
  }
  return float_classes::kClasses;
}

const InputClass& UniformBits() { return kUniformBits; }

std::span<const Strategy> Strategies() { return kStrategies; }

const Strategy* FindStrategy(std::string_view name) {
  for (const Strategy& s : kStrategies) {
    if (name == s.name) return &s;
  }
  return nullptr;
}

std::vector<const InputClass*> ClassesOf(const Strategy& strategy, const Instruction& instruction) {
  std::vector<const InputClass*> classes;
  const int boundary = BoundaryClassCount(instruction);
  for (int index = 0; index < ClassPeriod(strategy.kind, boundary); ++index) {
    const InputClass* c = &strategy.class_of(instruction, boundary, index);
    bool seen = false;
    for (const InputClass* known : classes) seen |= known == c;
    if (!seen) classes.push_back(c);
  }
  return classes;
}

}  // namespace mmadiff
