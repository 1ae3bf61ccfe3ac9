// Trees of rounded additions: AMD CDNA 2 (products rounded to f32, in twos or fours) and Arm BFDOT
// (products are rounded without FPCR.EBF, exact with it).
#include <vector>

#include "sim/reference/families.h"
#include "sim/reference/step.h"

namespace mmadiff::reference {
namespace {

// The leaves of the tree: rounded products, or rounded sums of two exact products.
std::vector<uint64_t> Leaves(const Model& model, const DotProductCase& dot, int start) {
  const Algorithm& algorithm = model.algorithm;
  // a0 * b0 + a1 * b1 rounded once; the products are exact at any size.
  const int width = algorithm.product_rounding == ProductRounding::kExact ? 2 : 1;
  std::vector<uint64_t> leaves;
  for (int first = 0; first < algorithm.terms; first += width) {
    Step leaf;
    for (int i = 0; i < width; ++i) {
      Product product = ReadProduct(model, dot, start + first + i);
      for (Number& x : product.factors) x = Flushed(algorithm.input_subnormals, x);
      leaf.products.push_back(product);
    }
    leaves.push_back(IeeeWord(model, leaf));
  }
  return leaves;
}

}  // namespace

uint64_t PairwiseSum(const Model& model, const DotProductCase& dot) {
  // The sums of the tree and of the steps are results: output_subnormals has flushed them after
  // rounding.
  const Subnormals flush = model.algorithm.addend_subnormals;
  Number addend = Flushed(flush, Read(model.d, dot.c));
  uint64_t d = dot.c;
  for (int start = 0; start < model.k; start += model.algorithm.terms) {
    std::vector<uint64_t> level = Leaves(model, dot, start);
    while (level.size() > 1) {
      std::vector<uint64_t> next;
      for (size_t i = 0; i < level.size(); i += 2) {
        next.push_back(
            IeeeWord(model, {{}, {Read(model.d, level[i]), Read(model.d, level[i + 1])}}));
      }
      level = next;
    }
    d = IeeeWord(model, {{}, {addend, Read(model.d, level[0])}});
    addend = Read(model.d, d);
    if (model.algorithm.addend_flush == AddendFlush::kEveryStep) addend = Flushed(flush, addend);
  }
  return d;
}

}  // namespace mmadiff::reference
