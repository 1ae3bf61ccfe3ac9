// Chains of fused multiply-adds: x86 (VFMADD, VDPBF16PS), AMX (TDPBF16PS, TMMULTF32PS), NVIDIA's
// and AMD's f64 and f32. IEEE 754-2019, 5.4.1, except for the algorithm's flushing and NaN rules.
#include <optional>
#include <vector>

#include "sim/reference/families.h"
#include "sim/reference/step.h"

namespace mmadiff::reference {
namespace {

// x + y, rounded and flushed like a step of the chain.
uint64_t Add(const Model& model, uint64_t x, uint64_t y) {
  const Subnormals kind = model.algorithm.addend_subnormals;
  return IeeeWord(model, {{}, {Flushed(kind, Read(model.d, x)), Flushed(kind, Read(model.d, y))}});
}

// Whether the addend dwarfs the product, and the algorithm has a rule for that.
bool IsDwarfed(const Model& model, const Product& product, const Number& addend) {
  const Dyadic p = product.value(), c = addend.value();
  if (model.algorithm.far_product == FarProduct::kExact || Sign(p) == 0 || Sign(c) == 0)
    return false;
  return FloorLog2(c) - FloorLog2(p) >= model.algorithm.output_fraction_bits + 1;
}

// Words of numbers of one sign ascend with their magnitudes.
uint64_t NextWord(const Model& model, uint64_t word, bool away) {
  const Number next = Read(model.d, away ? word + 1 : word - 1);
  bool zero = false;
  if (next.kind == Class::kZero) return ZeroResult(model.d, model.algorithm, next.negative);
  if (!IsInfinite(next)) return RoundedWord(model.d, model.algorithm, next.value(), &zero);
  const Dyadic beyond = {next.negative ? -1 : 1, LargestExponent(model.d) + 1};
  return RoundedWord(model.d, model.algorithm, beyond, &zero);
}

uint64_t MultiplyAddWord(const Model& model, const Product& product, uint64_t addend) {
  const Number c = Flushed(model.algorithm.addend_subnormals, Read(model.d, addend));
  const Step step = {{product}, {c}};
  if (model.algorithm.multiply_add == MultiplyAdd::kSeparate) {
    return Add(model, IeeeWord(model, {{product}, {}}), addend);
  }
  if (SpecialWord(model, step) || !IsDwarfed(model, product, c)) return IeeeWord(model, step);
  const FarProduct rule = model.algorithm.far_product;
  if (rule == FarProduct::kDropped) return IeeeWord(model, {{}, {c}});
  const bool same = product.negative() == c.negative;
  if (rule == FarProduct::kOppositeOneUlp && same) return IeeeWord(model, step);
  return NextWord(model, addend, same);
}

// The chain over the given k: d = a * b + d, rounded once per step.
uint64_t Chain(const Model& model, const DotProductCase& dot, const std::vector<int>& ks,
               uint64_t d) {
  const Algorithm& algorithm = model.algorithm;
  // `d` may be the addend c, which has the same format.
  for (int k : ks) {
    Product product = ReadProduct(model, dot, k);
    for (Number& x : product.factors) x = Flushed(algorithm.input_subnormals, x);
    d = MultiplyAddWord(model, product, d);
  }
  return d;
}

}  // namespace

uint64_t FmaChain(const Model& model, const DotProductCase& dot) {
  const Algorithm& algorithm = model.algorithm;
  std::vector<int> all, parity[2];
  for (int i = 0; i < model.k; ++i) {
    const int k = algorithm.order == Order::kAscending ? i : model.k - 1 - i;
    all.push_back(k);
    parity[k % 2].push_back(k);
  }
  if (algorithm.addend_joins == AddendJoins::kFirstStep) return Chain(model, dot, all, dot.c);
  const uint64_t zero = ZeroWord(model.d, false);
  if (algorithm.grouping == Grouping::kConsecutive) {
    return Add(model, dot.c, Chain(model, dot, all, zero));
  }
  // The order does not change the parity of k. NaNs of the even chain come before those of the odd
  // chain, and the addend's NaN before both.
  const uint64_t even = Chain(model, dot, parity[0], zero);
  const uint64_t odd = Chain(model, dot, parity[1], zero);
  return Add(model, dot.c, Add(model, even, odd));
}

}  // namespace mmadiff::reference
