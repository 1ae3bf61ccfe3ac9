// Trees of f32 sums of at most two terms in lanes, by the processor's floats: IsFloatTree().
#if defined(MMADIFF_SIM_LANES_FLOAT_TREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_FLOAT_TREE_INL_H_
#undef MMADIFF_SIM_LANES_FLOAT_TREE_INL_H_
#else
#define MMADIFF_SIM_LANES_FLOAT_TREE_INL_H_
#endif

#include "sim/lanes/fma_chain-inl.h"
#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/tree_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

class FloatTreeLanes : public FloatWordLanes {
 public:
  explicit FloatTreeLanes(const Model& m)
      : FloatWordLanes(m), addend_(FormatOf(m, m.c)), nan_(FloatTreeNan(m)) {}

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    Term stack[kMaxLaneTerms];
    Term* top = stack;
    for (const TreeCode& code : m_.algorithm.tree->code) {
      switch (code.push) {
        case Push::kProduct:
          *top++ = {code.index, hn::Zero(kFloat)};
          break;
        case Push::kAddend:
          *top++ = {-1, AsFloats(Decode(addend_, c).magnitude)};
          break;
        case Push::kZero:
          *top++ = {-1, hn::Zero(kFloat)};
          break;
        case Push::kJoin:
          top -= code.index;
          *top = {-1, code.index == 1 ? ValueOf(*top, a, b) : SumOf(top[0], top[1], a, b)};
          ++top;
          break;
      }
    }
    const Lanes word = hn::BitCast(kLane, stack[0].value);
    return Pick(IsNanWord(word), All(nan_), word);
  }

 private:
  struct Term {
    MMADIFF_LANES Term() {}
    MMADIFF_LANES Term(int of, Floats word) : k(of), value(word) {}
    int k;  // of a product; -1: a word
    Floats value;
  };

  template <class RowA, class RowB>
  static MMADIFF_LANES Floats ValueOf(const Term& t, const RowA& a, const RowB& b) {
    return t.k < 0 ? t.value : AsFloats(a.Magnitude(t.k)) * AsFloats(b.Magnitude(t.k));
  }
  // If both are products, the second is exact.
  template <class RowA, class RowB>
  static MMADIFF_LANES Floats SumOf(const Term& x, const Term& y, const RowA& a, const RowB& b) {
    if (x.k < 0 && y.k < 0) return x.value + y.value;
    const Term &product = x.k < 0 ? y : x, &other = x.k < 0 ? x : y;
    return hn::MulAdd(AsFloats(a.Magnitude(product.k)), AsFloats(b.Magnitude(product.k)),
                      ValueOf(other, a, b));
  }

  const InputFormat addend_;
  const Lane nan_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
