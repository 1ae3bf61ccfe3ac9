// Batches in lanes: rows of A beside each other, each dot product in a lane of its own.
#if defined(MMADIFF_SIM_LANES_SIMULATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_SIMULATION_INL_H_
#undef MMADIFF_SIM_LANES_SIMULATION_INL_H_
#else
#define MMADIFF_SIM_LANES_SIMULATION_INL_H_
#endif

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "sim/batch.h"
#include "sim/fused_sum.h"
#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// Words that begin where vectors do.
class Words {
 public:
  explicit Words(size_t count) : blocks_(count / Block::kWords + 1) {}
  Lane* data() { return blocks_.data()->word; }
  const Lane* data() const { return blocks_.data()->word; }

 private:
  struct alignas(64) Block {
    static constexpr int kWords = 64 / sizeof(Lane);
    Lane word[kWords];
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
  static MMADIFF_LANES Lanes At(const Lane* from, size_t p) {
    return hn::Load(kLane, from + p * hn::Lanes(kLane));
  }
  const Lane *magnitude_, *exponent_, *sign_;
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
  const Lane *magnitude_, *exponent_, *sign_;
};

// Between rows of words, which have 64 bits in a batch, and vectors of a word of each row: where lanes
// have 32 bits and come in fours, four words of four rows at a time.
#if !defined(MMADIFF_WIDE_LANES) && HWY_TARGET != HWY_SCALAR
constexpr hn::Full128<int32_t> kFour;
using Four = hn::Vec<decltype(kFour)>;

MMADIFF_LANES Four LoadNarrow(const uint64_t* from) {
  const auto* halves = reinterpret_cast<const int32_t*>(from);
  return hn::ConcatEven(kFour, hn::LoadU(kFour, halves + 4), hn::LoadU(kFour, halves));
}
MMADIFF_LANES void StoreWide(Four words, uint64_t* to) {
  auto* halves = reinterpret_cast<int32_t*>(to);
  hn::StoreU(hn::InterleaveLower(kFour, words, hn::Zero(kFour)), kFour, halves);
  hn::StoreU(hn::InterleaveUpper(kFour, words, hn::Zero(kFour)), kFour, halves + 4);
}
// Rows become columns.
MMADIFF_LANES void Turn(Four& x0, Four& x1, Four& x2, Four& x3) {
  const Four low01 = hn::InterleaveLower(kFour, x0, x1);
  const Four low23 = hn::InterleaveLower(kFour, x2, x3);
  const Four high01 = hn::InterleaveUpper(kFour, x0, x1);
  const Four high23 = hn::InterleaveUpper(kFour, x2, x3);
  x0 = hn::ConcatLowerLower(kFour, low23, low01);
  x1 = hn::ConcatUpperUpper(kFour, low23, low01);
  x2 = hn::ConcatLowerLower(kFour, high23, high01);
  x3 = hn::ConcatUpperUpper(kFour, high23, high01);
}

// Both return how many words of each row they moved.
MMADIFF_LANES int ScatterFours(const uint64_t* from, int lanes, int row, Lane* to) {
  const int words = row / 4 * 4;
  for (int j = 0; j < words; j += 4) {
    for (int lane = 0; lane < lanes; lane += 4) {
      const uint64_t* words = from + lane * row + j;
      Four x0 = LoadNarrow(words), x1 = LoadNarrow(words + row);
      Four x2 = LoadNarrow(words + 2 * row), x3 = LoadNarrow(words + 3 * row);
      Turn(x0, x1, x2, x3);
      Lane* first = to + j * lanes + lane;
      hn::StoreU(x0, kFour, first);
      hn::StoreU(x1, kFour, first + lanes);
      hn::StoreU(x2, kFour, first + 2 * lanes);
      hn::StoreU(x3, kFour, first + 3 * lanes);
    }
  }
  return words;
}
MMADIFF_LANES int GatherFours(const Lane* from, int lanes, int row, uint64_t* to) {
  const int words = row / 4 * 4;
  for (int j = 0; j < words; j += 4) {
    for (int lane = 0; lane < lanes; lane += 4) {
      const Lane* first = from + j * lanes + lane;
      Four x0 = hn::LoadU(kFour, first), x1 = hn::LoadU(kFour, first + lanes);
      Four x2 = hn::LoadU(kFour, first + 2 * lanes), x3 = hn::LoadU(kFour, first + 3 * lanes);
      Turn(x0, x1, x2, x3);
      uint64_t* words = to + lane * row + j;
      StoreWide(x0, words);
      StoreWide(x1, words + row);
      StoreWide(x2, words + 2 * row);
      StoreWide(x3, words + 3 * row);
    }
  }
  return words;
}
MMADIFF_LANES int NarrowFours(const uint64_t* from, int count, Lane* to) {
  const int words = count / 4 * 4;
  for (int i = 0; i < words; i += 4) hn::StoreU(LoadNarrow(from + i), kFour, to + i);
  return words;
}
#else
MMADIFF_LANES int ScatterFours(const uint64_t*, int, int, Lane*) { return 0; }
MMADIFF_LANES int GatherFours(const Lane*, int, int, uint64_t*) { return 0; }
MMADIFF_LANES int NarrowFours(const uint64_t*, int, Lane*) { return 0; }
#endif

MMADIFF_LANES void ScatterRow(const uint64_t* from, int lanes, int row, Lane* to) {
  for (const uint64_t* end = from + row; from != end; ++from, to += lanes) {
    *to = static_cast<Lane>(*from);
  }
}
// Rows of words one after the other become vectors of a word of each.
MMADIFF_LANES void Scatter(const uint64_t* from, int lanes, int row, Lane* to) {
  const int done = ScatterFours(from, lanes, row, to);
  for (int lane = 0; done != row && lane < lanes; ++lane) {
    ScatterRow(from + lane * row + done, lanes, row - done, to + done * lanes + lane);
  }
}
MMADIFF_LANES void Gather(const Lane* from, int lanes, int row, uint64_t* to) {
  const int done = GatherFours(from, lanes, row, to);
  for (int lane = 0; done != row && lane < lanes; ++lane) {
    for (int j = done; j < row; ++j) {
      to[lane * row + j] = static_cast<std::make_unsigned_t<Lane>>(from[j * lanes + lane]);
    }
  }
}
// `count` words side by side.
MMADIFF_LANES void Narrow(const uint64_t* from, int count, Lane* to) {
  for (int i = NarrowFours(from, count, to); i < count; ++i) to[i] = static_cast<Lane>(from[i]);
}

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
        scales_at_(WholeVectors(m.k)),
        // A column that is shared fills whole vectors.
        column_(scales_at_ + (kScalesApart ? WholeVectors(m.scales()) : 0)),
        words_(std::max(row_ * lanes_, 2 * column_)),
        addends_(batch.shape.n * lanes_),
        a_(column_ * lanes_, Family::kHasExponents),
        b_((shares_ ? batch.shape.n : lanes_) * column_, Family::kHasExponents),
        block_(lanes_) {
    const bool pairs = m.algorithm.grouping == Grouping::kPairsOfFour;
    for (int p = 0; p < m.k; ++p) order_[p] = pairs ? GroupedK(m, p) : p;
  }

  void Run() {
    const Shape& s = batch_.shape;
    const int64_t rows = batch_.count * s.blocks * s.m;
    const Family family = family_;
    for (int64_t next = 0; next < rows; next += lanes_) {
      const int64_t first = std::min(next, rows - lanes_);  // some rows twice
      GatherRows(first);
      if (shares_) {
        if (first % s.m == 0) DecodeColumns(&batch_.b[first / s.m * s.n * row_]);
        int j = 0;
        if constexpr (requires { &Family::template ResultOfTwo<RowOfEach, ColumnOfAll>; }) {
          for (; j + 1 < s.n; j += 2) FinishTwo(family, j);
        }
        for (; j < s.n; ++j) Finish(family, j, ColumnOfAll(b_, j * column_));
      } else {
        for (int j = 0; j < s.n; ++j) {
          GatherColumns(j);
          Finish(family, j, RowOfEach(b_));
        }
      }
      Gather(addends_.data(), lanes_, s.n, &d_[first * s.n]);
    }
  }

 private:
  // Scales that do not join their elements lie behind them.
  static constexpr bool kScalesApart = requires { Family::kScalesApart; };

  template <class Column>
  MMADIFF_LANES void Finish(const Family& family, int j, const Column& column) {
    Lane* words = addends_.data() + j * lanes_;
    hn::Store(family.Result(RowOfEach(a_), column, hn::Load(kLane, words)), kLane, words);
  }

  MMADIFF_LANES void FinishTwo(const Family& family, int j) {
    Lane *words0 = addends_.data() + j * lanes_, *words1 = words0 + lanes_;
    Lanes c0 = hn::Load(kLane, words0), c1 = hn::Load(kLane, words1);
    family.ResultOfTwo(RowOfEach(a_), ColumnOfAll(b_, j * column_),
                       ColumnOfAll(b_, (j + 1) * column_), c0, c1);
    hn::Store(c0, kLane, words0);
    hn::Store(c1, kLane, words1);
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

  // Of words_: a vector for each k and each scale.
  template <class ElementFormat>
  MMADIFF_LANES void DecodeRows(const ElementFormat of, Operands& out) {
    const ElementFormat format = of;
    const Lane* words = words_.data();
    const int* order = order_.data();
    const int count = m_.k, block = kScalesApart ? 0 : m_.scale_block, lanes = lanes_;
    Lane *magnitude = out.magnitude.data(), *exponent = out.exponent.data(),
         *sign = out.sign.data();
    for (int p = 0; p < count; ++p) {
      const int k = order[p];
      Operand x = Family::Decode(format, hn::Load(kLane, words + k * lanes));
      if (block != 0) x = Scaled(x, ScaleAt(k / block));
      hn::Store(x.magnitude, kLane, magnitude + p * lanes);
      if constexpr (Family::kHasExponents) {
        hn::Store(x.exponent, kLane, exponent + p * lanes);
        hn::Store(x.sign, kLane, sign + p * lanes);
      }
    }
    for (int i = 0; kScalesApart && i < m_.scales(); ++i) {
      Store(ScaleAt(i), out, (scales_at_ + i) * lanes_);
    }
  }
  MMADIFF_LANES Operand ScaleAt(int i) const {
    return DecodeLanes(scale_, hn::Load(kLane, words_.data() + (m_.k + i) * lanes_));
  }

  // The columns of a block, in the order of the steps.
  MMADIFF_LANES void DecodeColumns(const uint64_t* b) {
    Lane *words = words_.data(), *scales = words + column_;
    const int* order = order_.data();
    const int count = m_.k;
    // Scales that join their elements stand beside each of them.
    const int block = kScalesApart ? 1 : m_.scale_block, scale_count = m_.scales() * block;
    const bool in_order = m_.algorithm.grouping != Grouping::kPairsOfFour;
    const auto format = format_b_;
    for (int j = 0; j < batch_.shape.n; ++j, b += row_) {
      if (in_order) {
        Narrow(b, count, words);
      } else {
        for (int p = 0; p < count; ++p) words[p] = static_cast<Lane>(b[order[p]]);
      }
      for (int p = 0; p < scale_count; ++p) scales[p] = static_cast<Lane>(b[count + p / block]);
      for (int p = 0; p < scales_at_; p += lanes_) {
        Operand x = Family::Decode(format, hn::Load(kLane, words + p));
        if (m_.scale_block != 0 && !kScalesApart) {
          x = Scaled(x, DecodeLanes(scale_, hn::Load(kLane, scales + p)));
        }
        Store(x, b_, j * column_ + p);
      }
      for (int p = scales_at_; p < column_; p += lanes_) {
        const Operand scale = DecodeLanes(scale_, hn::Load(kLane, scales + p - scales_at_));
        Store(scale, b_, j * column_ + p);
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
  const int scales_at_;  // of scales behind their elements
  const int column_;     // operands of a column
  Words words_;          // [row_][lane]; of shared columns, those of one and its scales
  Words addends_;        // [n][lane]; then the results
  Operands a_;           // [k][lane]
  Operands b_;           // [k][lane]; shared: [n][column_]
  std::vector<int64_t> block_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
