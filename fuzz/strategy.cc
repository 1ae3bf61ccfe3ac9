#include "fuzz/strategy.h"

#include <vector>

#include "fuzz/boundary.h"

namespace mmadiff {
namespace {

void FillUniform(const Tile& t, Random& r) {
  for (int x = 0; x < t.rows() * t.k(); ++x) t.a[x] = r.Bits(t.instruction.a->bits);
  for (int x = 0; x < t.columns() * t.k(); ++x) t.b[x] = r.Bits(t.instruction.b->bits);
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
  return IsInteger(*instruction.d) ? IntegerClasses() : FloatClasses();
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
