#include "corpus/cases/strategy.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "corpus/cases/generate.h"

namespace mmadiff {
namespace {

template <StrategyKind kKind>
const InputClass& ClassOf(const Instruction& instruction, int boundary, uint64_t index) {
  const int number = ClassNumber(kKind, boundary, index);
  return number == 0 ? kUniformBits : BoundaryClasses(instruction)[number - 1];
}

// BoundaryClassCount() omits the last class if all bits of a scale are read.
static_assert(std::end(scaled_classes::kClasses)[-1].name == std::string_view("unread_bits"));

std::vector<InputClass> ScaledClasses() {
  std::vector<InputClass> all(std::begin(float_classes::kClasses),
                              std::end(float_classes::kClasses));
  all.insert(all.end(), std::begin(scaled_classes::kClasses), std::end(scaled_classes::kClasses));
  return all;
}

struct Numbered {
  int number = 0;  // as from ClassNumber(); 0: the instruction has no such class
  const InputClass* input_class = nullptr;
};

Numbered ClassNamed(const Instruction& instruction, std::string_view name) {
  const std::span<const InputClass> classes = BoundaryClasses(instruction);
  for (size_t i = 0; i < classes.size(); ++i) {
    if (name == classes[i].name) return {static_cast<int>(i) + 1, &classes[i]};
  }
  const bool late = !IsInteger(*instruction.d) && !instruction.is_conversion();
  for (size_t i = 0; late && i < LateClasses().size(); ++i) {
    if (name == LateClasses()[i].name) {
      return {kFirstLateClass + static_cast<int>(i), &LateClasses()[i]};
    }
  }
  return {};
}

template <const auto& kTable, size_t kClass>
const InputClass& OnlyClass(const Instruction& instruction, int, uint64_t) {
  const Numbered named = ClassNamed(instruction, kTable[kClass].name);
  if (named.number == 0) std::abort();  // the caller must check HasClasses()
  return *named.input_class;
}

template <const auto& kTable, size_t... kClass>
void AddClasses(std::index_sequence<kClass...>, std::vector<Strategy>& all) {
  const auto add = [&all](const InputClass& c, auto class_of) {
    for (const Strategy& known : all) {
      if (std::string_view(known.name) == c.name) return;
    }
    all.push_back({c.name, c.what, StrategyKind::kOneClass, class_of});
  };
  (add(kTable[kClass], OnlyClass<kTable, kClass>), ...);
}

template <const auto& kTable>
void AddClasses(std::vector<Strategy>& all) {
  AddClasses<kTable>(std::make_index_sequence<std::size(kTable)>(), all);
}

std::vector<Strategy> MakeClassStrategies() {
  std::vector<Strategy> all;
  AddClasses<float_classes::kClasses>(all);
  AddClasses<scaled_classes::kClasses>(all);
  AddClasses<integer_classes::kClasses>(all);
  AddClasses<float_classes::kLateClasses>(all);
  AddClasses<conversion_classes::kClasses>(all);
  return all;
}

constexpr Strategy kStrategies[] = {
    {"mixed", "one case in four from `bits`, the others from `boundary`", StrategyKind::kMixed,
     ClassOf<StrategyKind::kMixed>},
    {"boundary", "the boundary classes in turn", StrategyKind::kBoundary,
     ClassOf<StrategyKind::kBoundary>},
    {"bits", "uniform random bits in every operand", StrategyKind::kBits,
     ClassOf<StrategyKind::kBits>},
};

}  // namespace

std::span<const InputClass> BoundaryClasses(const Instruction& instruction) {
  static const std::vector<InputClass>& scaled = *new std::vector<InputClass>(ScaledClasses());
  if (instruction.is_conversion()) return conversion_classes::kClasses;
  if (IsInteger(*instruction.d)) return integer_classes::kClasses;
  if (instruction.scale != nullptr) {
    return std::span(scaled).first(BoundaryClassCount(instruction));
  }
  return float_classes::kClasses;
}

std::span<const InputClass> LateClasses() { return float_classes::kLateClasses; }

const InputClass& UniformBits() { return kUniformBits; }

std::span<const Strategy> Strategies() { return kStrategies; }

std::span<const Strategy> ClassStrategies() {
  static const std::vector<Strategy>& all = *new std::vector<Strategy>(MakeClassStrategies());
  return all;
}

const Strategy* FindStrategy(std::string_view name) {
  for (const std::span<const Strategy> some : {Strategies(), ClassStrategies()}) {
    for (const Strategy& s : some) {
      if (name == s.name) return &s;
    }
  }
  return nullptr;
}

bool HasClasses(const Strategy& strategy, const Instruction& instruction) {
  return strategy.kind != StrategyKind::kOneClass ||
         ClassNamed(instruction, strategy.name).number > 0;
}

StrategyKind KindOn(const Strategy& strategy, const Instruction& instruction) {
  if (strategy.kind != StrategyKind::kOneClass) return strategy.kind;
  return static_cast<StrategyKind>(static_cast<int>(StrategyKind::kOneClass) +
                                   ClassNamed(instruction, strategy.name).number);
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
