// Compiled once for each kind of vectors: foreach_target.h includes this file again and again.
#include "sim/lanes/lanes.h"

#include <algorithm>
#include <vector>

#include "sim/lanes/vectors.h"

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/lanes.cc"
#include <hwy/foreach_target.h>
// Behind it: these are included once for each.
#include <hwy/highway.h>

#include "sim/fused_sum.h"
#include "sim/integer_dot.h"
#include "sim/lanes/fma_chain-inl.h"
#include "sim/lanes/fused_sum-inl.h"
#include "sim/lanes/integer_dot-inl.h"
#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/pairwise_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {

// Words that begin where vectors do.
class Words {
 public:
  explicit Words(size_t count) : blocks_(count / 16 + 1) {}
  int32_t* data() { return blocks_.data()->word; }
  const int32_t* data() const { return blocks_.data()->word; }

 private:
  struct alignas(64) Block {
    int32_t word[16];
  };
  std::vector<Block> blocks_;
};

// Decoded operands.
struct Operands {
  Operands(size_t count, bool has_exponents)
      : magnitude(count), exponent(has_exponents ? count : 0), sign(has_exponents ? count : 0) {}
  Words magnitude, exponent, sign;
};

// A row of its own in every lane: a vector at each position of the order of the steps.
class RowOfEach {
 public:
  explicit RowOfEach(const Operands& x)
      : magnitude_(x.magnitude.data()), exponent_(x.exponent.data()), sign_(x.sign.data()) {}
  MMADIFF_LANES Lanes Magnitude(size_t p) const { return At(magnitude_, p); }
  MMADIFF_LANES Lanes Exponent(size_t p) const { return At(exponent_, p); }
  MMADIFF_LANES Lanes Sign(size_t p) const { return At(sign_, p); }
  MMADIFF_LANES Operand At(size_t p) const { return {Magnitude(p), Exponent(p), Sign(p)}; }

 private:
  static MMADIFF_LANES Lanes At(const int32_t* from, size_t p) {
    return hn::Load(kLane, from + p * hn::Lanes(kLane));
  }
  const int32_t *magnitude_, *exponent_, *sign_;
};

// One column for all lanes: a number at each position, from `first` on.
class ColumnOfAll {
 public:
  ColumnOfAll(const Operands& x, size_t first)
      : magnitude_(x.magnitude.data() + first),
        exponent_(x.exponent.data() + first),
        sign_(x.sign.data() + first) {}
  MMADIFF_LANES Lanes Magnitude(size_t p) const { return All(magnitude_[p]); }
  MMADIFF_LANES Lanes Exponent(size_t p) const { return All(exponent_[p]); }
  MMADIFF_LANES Lanes Sign(size_t p) const { return All(sign_[p]); }
  MMADIFF_LANES Operand At(size_t p) const { return {Magnitude(p), Exponent(p), Sign(p)}; }

 private:
  const int32_t *magnitude_, *exponent_, *sign_;
};

// Lanes are consecutive rows of A of the whole batch, `kLanes` of them at a time. They share the
// columns of B where the rows of a block fill whole vectors; else every lane has its own.
template <class Family>
class Simulation {
 public:
  Simulation(const Model& m, const Batch& batch, std::span<uint64_t> d)
      : m_(m),
        batch_(batch),
        d_(d),
        lanes_(static_cast<int>(hn::Lanes(kLane))),
        row_(batch.shape.row_words()),
        family_(m),
        format_a_(Family::FormatOfA(m)),
        format_b_(Family::FormatOfB(m)),
        scale_(m.scale_block == 0 ? LaneFormat{}
                                  : LaneFormatOf(m.scale, 0, Subnormals::kKeep, m.d)),
        order_(m.k),
        shares_(batch.shape.m % lanes_ == 0),
        // A column that is shared fills whole vectors.
        column_((m.k + lanes_ - 1) / lanes_ * lanes_),
        words_(std::max(row_ * lanes_, 2 * column_)),
        addends_(batch.shape.n * lanes_),
        a_(m.k * lanes_, Family::kHasExponents),
        b_(shares_ ? batch.shape.n * column_ : m.k * lanes_, Family::kHasExponents),
        block_(lanes_) {
    const bool pairs = m.algorithm.grouping == Grouping::kPairsOfFour;
    for (int p = 0; p < m.k; ++p) order_[p] = pairs ? GroupedK(m, p) : p;
  }

  void Run() {
    const Shape& s = batch_.shape;
    const int64_t rows = batch_.count * s.blocks * s.m;
    for (int64_t next = 0; next < rows; next += lanes_) {
      const int64_t first = std::min(next, rows - lanes_);  // some rows twice
      GatherRows(first);
      if (shares_) {
        if (first % s.m == 0) DecodeColumns(&batch_.b[first / s.m * s.n * row_]);
        for (int j = 0; j < s.n; ++j) Finish(j, ColumnOfAll(b_, j * column_));
      } else {
        for (int j = 0; j < s.n; ++j) {
          GatherColumns(j);
          Finish(j, RowOfEach(b_));
        }
      }
      Gather(addends_.data(), lanes_, s.n, &d_[first * s.n]);
    }
  }

 private:
  template <class Column>
  MMADIFF_LANES void Finish(int j, const Column& column) {
    int32_t* words = addends_.data() + j * lanes_;
    hn::Store(family_.Result(RowOfEach(a_), column, hn::Load(kLane, words)), kLane, words);
  }

  // Copies of members below: the compiler cannot know that no word that is written is one.
  MMADIFF_LANES void GatherRows(int64_t first) {
    const int m = batch_.shape.m;
    int64_t block = first / m;
    for (int lane = 0, i = static_cast<int>(first % m), lanes = lanes_; lane < lanes; ++lane) {
      block_[lane] = block;
      if (++i == m) ++block, i = 0;
    }
    Scatter(&batch_.a[first * row_], lanes_, row_, words_.data());
    Scatter(&batch_.c[first * batch_.shape.n], lanes_, batch_.shape.n, addends_.data());
    DecodeRows(format_a_, a_);
  }

  MMADIFF_LANES void GatherColumns(int j) {
    const int n = batch_.shape.n;
    for (int lane = 0; lane < lanes_; ++lane) {
      ScatterRow(&batch_.b[(block_[lane] * n + j) * row_], lanes_, row_, words_.data() + lane);
    }
    DecodeRows(format_b_, b_);
  }

  static MMADIFF_LANES void Gather(const int32_t* from, int lanes, int row, uint64_t* to) {
    for (const int32_t* end = from + lanes; from != end; ++from) {
      const int32_t* word = from;
      for (int j = 0; j < row; ++j, word += lanes) *to++ = static_cast<uint32_t>(*word);
    }
  }
  // Rows of words one after the other become vectors of a word of each.
  static MMADIFF_LANES void Scatter(const uint64_t* from, int lanes, int row, int32_t* to) {
    for (int lane = 0; lane < lanes; ++lane, from += row) ScatterRow(from, lanes, row, to + lane);
  }
  static MMADIFF_LANES void ScatterRow(const uint64_t* from, int lanes, int row, int32_t* to) {
    for (const uint64_t* end = from + row; from != end; ++from, to += lanes) {
      *to = static_cast<int32_t>(*from);
    }
  }

  // Of words_: a vector for each k and each scale.
  template <class ElementFormat>
  MMADIFF_LANES void DecodeRows(const ElementFormat& format, Operands& out) {
    for (int p = 0; p < m_.k; ++p) {
      const int k = order_[p];
      Operand x = Family::Decode(format, hn::Load(kLane, words_.data() + k * lanes_));
      if (m_.scale_block != 0) {
        const int scale = m_.k + k / m_.scale_block;
        x = Scaled(x, DecodeLanes(scale_, hn::Load(kLane, words_.data() + scale * lanes_)));
      }
      Store(x, out, p * lanes_);
    }
  }

  // The columns of a block, in the order of the steps.
  MMADIFF_LANES void DecodeColumns(const uint64_t* b) {
    int32_t *words = words_.data(), *scales = words + column_;
    const int* order = order_.data();
    const int count = m_.k;
    for (int j = 0; j < batch_.shape.n; ++j, b += row_) {
      for (int p = 0; p < count; ++p) words[p] = static_cast<int32_t>(b[order[p]]);
      for (int p = 0; m_.scale_block != 0 && p < m_.k; ++p) {
        scales[p] = static_cast<int32_t>(b[m_.k + p / m_.scale_block]);
      }
      for (int p = 0; p < column_; p += lanes_) {
        Operand x = Family::Decode(format_b_, hn::Load(kLane, words + p));
        if (m_.scale_block != 0) {
          x = Scaled(x, DecodeLanes(scale_, hn::Load(kLane, scales + p)));
        }
        Store(x, b_, j * column_ + p);
      }
    }
  }

  static MMADIFF_LANES void Store(const Operand& x, Operands& out, size_t at) {
    hn::Store(x.magnitude, kLane, out.magnitude.data() + at);
    if constexpr (Family::kHasExponents) {
      hn::Store(x.exponent, kLane, out.exponent.data() + at);
      hn::Store(x.sign, kLane, out.sign.data() + at);
    }
  }

  // A scale is a power of two or a NaN.
  static MMADIFF_LANES Operand Scaled(Operand x, const Operand& scale) {
    const Mask plain = hn::Lt(hn::Abs(x.exponent), All(-kNarrowZero / 2));
    x.exponent = x.exponent + hn::IfThenElseZero(plain, scale.exponent);
    x.exponent = Pick(IsNan(scale), All(kNarrowNan), x.exponent);
    return x;
  }

  const Model m_;
  const Batch& batch_;
  const std::span<uint64_t> d_;
  const int lanes_;
  const int row_;  // words of a row of A, a column of B
  const Family family_;
  const decltype(Family::FormatOfA(Model())) format_a_, format_b_;
  const LaneFormat scale_;
  std::vector<int> order_;
  const bool shares_;
  const int column_;  // operands of a shared column
  Words words_;       // [row_][lane]; of shared columns, those of one and its scales
  Words addends_;     // [n][lane]; then the results
  Operands a_;        // [k][lane]
  Operands b_;        // [k][lane]; shared: [n][column_]
  std::vector<int64_t> block_;
};

void SimulateWith(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  switch (m.algorithm.family) {
    case Family::kFmaChain:
      return Simulation<FmaChainLanes>(m, batch, d).Run();
    case Family::kPairwiseSum:
      return Simulation<PairwiseSumLanes>(m, batch, d).Run();
    case Family::kIntegerDot:
      return Simulation<IntegerDotLanes>(m, batch, d).Run();
    default:
      return Simulation<FusedSumLanes>(m, batch, d).Run();
  }
}

int CountLanes() { return static_cast<int>(hn::Lanes(kLane)); }

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmadiff {
namespace {

// Formats of addends and results in lanes.
bool IsLaneResult(const Format& f) {
  return f.nonfinite == Nonfinite::kIeee && f.bits <= 32 && f.ignored_bits == 0 &&
         f.fraction_bits <= kNarrowFraction;
}

std::vector<LaneTarget> FindLaneTargets() {
  std::vector<LaneTarget> found;
#define MMADIFF_ADD(target) \
  if (Has##target())        \
    found.push_back({#target, N_##target::CountLanes(), &N_##target::SimulateWith});
  MMADIFF_EACH_VECTOR(MMADIFF_ADD)
#undef MMADIFF_ADD
  return found;
}

}  // namespace

bool HasLanes(const Model& m) {
  const Algorithm& alg = m.algorithm;
  if (alg.family == Family::kIntegerDot) {
    return HasNarrowIntegers(m) && m.c.bits == 32 && m.d.bits == 32;
  }
  if (!IsLaneResult(m.c) || !IsLaneResult(m.d)) return false;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  switch (alg.family) {
    case Family::kFmaChain:
    case Family::kPairwiseSum:
      return product_bits + 2 <= 24 && m.a.bits <= 32 && m.b.bits <= 32;
    case Family::kFusedSum:
    case Family::kScaledSum: {
      // The sum of a step has at most 36 bits.
      const int64_t terms = std::min(alg.terms, m.k);
      return HasNarrowRows(m) && terms << std::max(product_bits, alg.fraction_bits) <= 1ll << 33;
    }
    default:
      return false;
  }
}

std::span<const LaneTarget> LaneTargets() {
  static const std::vector<LaneTarget> targets = FindLaneTargets();
  return targets;
}

}  // namespace mmadiff
#endif  // HWY_ONCE

#else  // no Highway

namespace mmadiff {

bool HasLanes(const Model&) { return false; }
std::span<const LaneTarget> LaneTargets() { return {}; }

}  // namespace mmadiff
#endif
