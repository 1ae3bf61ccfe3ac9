#include "fuzz/strategy.h"

#include <vector>

#include "fuzz/boundary.h"

namespace mmadiff {
namespace {

// `count` rows of A or columns of B.
void FillRows(const Tile& t, const Format& f, uint64_t* out, int count, Random& r) {
  for (int i = 0; i < count; ++i, out += t.stride()) {
    for (int k = 0; k < t.k(); ++k) out[k] = r.Bits(f.bits);
    for (int k = t.k(); k < t.stride(); ++k) out[k] = r.Bits(t.instruction.scale->bits);
  }
}

void FillUniform(const Tile& t, Random& r) {
  FillRows(t, *t.instruction.a, t.a, t.rows(), r);
  FillRows(t, *t.instruction.b, t.b, t.columns(), r);
  for (int e = 0; e < t.results(); ++e) t.c[e] = r.Bits(t.instruction.c->bits);
}

constexpr InputClass kUniform = {"bits", "uniform bits in every operand", FillUniform};

const InputClass& Boundary(const Instruction& instruction, uint64_t index) {
  const std::span<const InputClass> classes = BoundaryClasses(instruction);
  return classes[index % classes.size()];
}

const InputClass& Uniform(const Instruction&, uint64_t) { return kUniform; }

// One case in four is uniform bits.
const InputClass& Mixed(const Instruction& instruction, uint64_t index) {
  if (index % 4 == 0) return kUniform;
  return Boundary(instruction, index / 4 * 3 + index % 4 - 1);
}

constexpr Strategy kStrategies[] = {
    {"mixed", "one case in four of `bits`, the others of `boundary`", Mixed},
    {"boundary", "the boundary classes in turn", Boundary},
    {"bits", "uniform random bits in every operand", Uniform},
};

}  // namespace

std::span<const InputClass> BoundaryClasses(const Instruction& instruction) {
  if (IsInteger(*instruction.d)) return IntegerClasses();
  return instruction.scale == nullptr ? FloatClasses() : ScaledClasses();
}

const InputClass& UniformBits() { return kUniform; }

std::span<const Strategy> Strategies() { return kStrategies; }

const Strategy* FindStrategy(std::string_view name) {
  for (const Strategy& s : kStrategies) {
    if (name == s.name) return &s;
  }
  return nullptr;
}

std::vector<const InputClass*> ClassesOf(const Strategy& strategy, const Instruction& instruction) {
  // The classes repeat after at most four times the number of boundary classes.
  std::vector<const InputClass*> classes;
  const uint64_t period = 4 * BoundaryClasses(instruction).size();
  for (uint64_t index = 0; index < period; ++index) {
    const InputClass* c = &strategy.class_of(instruction, index);
    bool seen = false;
    for (const InputClass* known : classes) seen |= known == c;
    if (!seen) classes.push_back(c);
  }
  return classes;
}

}  // namespace mmadiff
