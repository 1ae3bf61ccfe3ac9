// Simulates batches in lanes: each lane has a row of A and computes its own dot product.
#if defined(MMADIFF_SIM_LANES_SIMULATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_SIMULATION_INL_H_
#undef MMADIFF_SIM_LANES_SIMULATION_INL_H_
#else
#define MMADIFF_SIM_LANES_SIMULATION_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "sim/batch.h"
#include "sim/fused_sum.h"
#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/lanes.h"
#include "sim/words.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// Words that are aligned for vectors.
class LaneWords {
 public:
  explicit LaneWords(size_t count) : blocks_(count / Block::kWords + 1) {}
  Lane* data() { return blocks_.data()->word; }
  const Lane* data() const { return blocks_.data()->word; }

 private:
  struct alignas(64) Block {
    static constexpr int kWords = 64 / sizeof(Lane);
    Lane word[kWords];
  };
  std::vector<Block> blocks_;
};

// Decoded operands. Without separate signs, the top bit of each magnitude is the sign.
struct Operands {
  // A lane has the exponents of that many consecutive operands, 1 or 4, the first in its low bits; 0:
  // there are no exponents.
  Operands(size_t count, int exponents, bool signs)
      : exponents_in_lane(exponents),
        has_signs(signs),
        magnitude(count),
        exponent(exponents == 0 ? 0 : count / exponents),
        sign(has_signs ? count : 0) {}
  const int exponents_in_lane;
  const bool has_signs;
  LaneWords magnitude, exponent, sign;
};

// Operands by position in step order, from `first` on. With kOwn, each operand is a vector, in
// which every lane has its own row; otherwise it is one number of a column that all lanes share.
template <bool kOwn>
class OperandsInOrder {
 public:
  explicit OperandsInOrder(const Operands& x, size_t first = 0)
      : magnitude_(x.magnitude.data() + first),
        exponent_(x.exponent.data() + (x.exponents_in_lane == 4 ? first / 4 : first)),
        sign_(x.has_signs ? x.sign.data() + first : nullptr) {}
  MMADIFF_LANES Lanes Magnitude(size_t p) const { return At(magnitude_, p); }
  MMADIFF_LANES Lanes Exponent(size_t p) const { return At(exponent_, p); }
  MMADIFF_LANES Lanes FourExponents(size_t p) const { return At(exponent_, p / 4); }
  MMADIFF_LANES Lanes Sign(size_t p) const {
    return sign_ != nullptr ? At(sign_, p) : hn::BroadcastSignBit(Magnitude(p));
  }
  MMADIFF_LANES Operand At(size_t p) const { return {Magnitude(p), Exponent(p), Sign(p)}; }

 private:
  static MMADIFF_LANES Lanes At(const Lane* from, size_t p) {
    if constexpr (kOwn) return hn::Load(kLane, from + p * hn::Lanes(kLane));
    return All(from[p]);
  }
  const Lane *magnitude_, *exponent_, *sign_;
};
using RowOfEach = OperandsInOrder<true>;
using ColumnOfAll = OperandsInOrder<false>;

// Stores lanes as bytes, which must hold them.
MMADIFF_LANES void StoreBytes([[maybe_unused]] Lanes x, [[maybe_unused]] int8_t* to) {
#if !defined(MMADIFF_WIDE_LANES)
  constexpr hn::Rebind<int8_t, Signed> kBytes;
  hn::StoreU(hn::DemoteTo(kBytes, x), kBytes, to);
#endif
}

// Conversions between rows of words, which have 64 bits in a batch, and vectors with one word of
// each row.
#if defined(MMADIFF_WIDE_LANES)
MMADIFF_LANES Lanes LoadWords(const uint64_t* from) {
  return hn::BitCast(kLane, hn::LoadU(kUnsignedLane, from));
}
MMADIFF_LANES void StoreWords(Lanes words, uint64_t* to) {
  hn::StoreU(hn::BitCast(kUnsignedLane, words), kUnsignedLane, to);
}
constexpr bool kMovesFours = false;
template <class Word>
MMADIFF_LANES void ScatterFour(const Word*, int64_t, int64_t, Lane*) {}
template <class Word>
MMADIFF_LANES void GatherFour(const Lane*, int, int64_t, Word*) {}
constexpr bool kWordsInPairs = false;
MMADIFF_LANES void SplitPairs(Lanes&, Lanes&) {}
#else
MMADIFF_LANES Lanes LoadWords(const Lane* from) { return hn::LoadU(kLane, from); }
MMADIFF_LANES Lanes LoadWords(const uint64_t* from) {
  const auto* halves = reinterpret_cast<const int32_t*>(from);
  return hn::ConcatEven(kLane, hn::LoadU(kLane, halves + hn::Lanes(kLane)),
                        hn::LoadU(kLane, halves));
}
MMADIFF_LANES void StoreWords(Lanes words, uint64_t* to) {
  constexpr hn::RepartitionToWide<Unsigned> kWord;
  constexpr hn::Half<Unsigned> kHalf;
  const auto all = hn::BitCast(kUnsignedLane, words);
  hn::StoreU(hn::PromoteTo(kWord, hn::LowerHalf(kHalf, all)), kWord, to);
  hn::StoreU(hn::PromoteTo(kWord, hn::UpperHalf(kHalf, all)), kWord, to + hn::Lanes(kWord));
}

// Splits adjacent pairs of words into even-numbered and odd-numbered pairs.
constexpr bool kWordsInPairs = true;
MMADIFF_LANES void SplitPairs(Lanes& x, Lanes& y) {
  constexpr hn::RepartitionToWide<Signed> kPair;
  const auto low = hn::BitCast(kPair, x), high = hn::BitCast(kPair, y);
  x = hn::BitCast(kLane, hn::ConcatEven(kPair, high, low));
  y = hn::BitCast(kLane, hn::ConcatOdd(kPair, high, low));
}

constexpr bool kMovesFours = true;
constexpr hn::Full128<int32_t> kFour;
using Four = hn::Vec<decltype(kFour)>;

// Transposes rows of four into columns, in each 128 bits.
template <class Tag>
MMADIFF_LANES void Turn(Tag tag, hn::Vec<Tag>& x0, hn::Vec<Tag>& x1, hn::Vec<Tag>& x2,
                        hn::Vec<Tag>& x3) {
  constexpr hn::Repartition<int64_t, Tag> kTwo;
  const auto low01 = hn::BitCast(kTwo, hn::InterleaveLower(tag, x0, x1));
  const auto low23 = hn::BitCast(kTwo, hn::InterleaveLower(tag, x2, x3));
  const auto high01 = hn::BitCast(kTwo, hn::InterleaveUpper(tag, x0, x1));
  const auto high23 = hn::BitCast(kTwo, hn::InterleaveUpper(tag, x2, x3));
  x0 = hn::BitCast(tag, hn::InterleaveLower(kTwo, low01, low23));
  x1 = hn::BitCast(tag, hn::InterleaveUpper(kTwo, low01, low23));
  x2 = hn::BitCast(tag, hn::InterleaveLower(kTwo, high01, high23));
  x3 = hn::BitCast(tag, hn::InterleaveUpper(kTwo, high01, high23));
}

MMADIFF_LANES Four LoadFour(const uint64_t* from) {
  const auto* halves = reinterpret_cast<const int32_t*>(from);
  return hn::ConcatEven(kFour, hn::LoadU(kFour, halves + 4), hn::LoadU(kFour, halves));
}
MMADIFF_LANES Four LoadFour(const uint32_t* from) {
  return hn::LoadU(kFour, reinterpret_cast<const int32_t*>(from));
}
template <class Short>
MMADIFF_LANES Four LoadFour(const Short* from) {
  return hn::PromoteTo(kFour, hn::LoadU(hn::Simd<Short, 4, 0>(), from));
}

// Four words of every fourth row.
template <class Tag, class Word>
MMADIFF_LANES hn::Vec<Tag> FoursOf(Tag tag, const Word* from, int64_t stride) {
  if constexpr (hn::MaxLanes(tag) == 4) {
    return LoadFour(from);
  } else {
    constexpr hn::Half<Tag> kHalf;
    const int64_t rows = hn::MaxLanes(kHalf);
    return hn::Combine(tag, FoursOf(kHalf, from + rows * stride, stride),
                       FoursOf(kHalf, from, stride));
  }
}
template <class Word>
MMADIFF_LANES void ScatterFour(const Word* from, int64_t stride, int64_t step, Lane* to) {
  Lanes x0 = FoursOf(kLane, from, stride), x1 = FoursOf(kLane, from + stride, stride);
  Lanes x2 = FoursOf(kLane, from + 2 * stride, stride);
  Lanes x3 = FoursOf(kLane, from + 3 * stride, stride);
  Turn(kLane, x0, x1, x2, x3);
  hn::StoreU(x0, kLane, to);
  hn::StoreU(x1, kLane, to + step);
  hn::StoreU(x2, kLane, to + 2 * step);
  hn::StoreU(x3, kLane, to + 3 * step);
}

MMADIFF_LANES void StoreFour(Four words, uint64_t* to) {
  auto* halves = reinterpret_cast<int32_t*>(to);
  hn::StoreU(hn::InterleaveLower(kFour, words, hn::Zero(kFour)), kFour, halves);
  hn::StoreU(hn::InterleaveUpper(kFour, words, hn::Zero(kFour)), kFour, halves + 4);
}
MMADIFF_LANES void StoreFour(Four words, uint32_t* to) {
  hn::StoreU(words, kFour, reinterpret_cast<int32_t*>(to));
}
template <class Short>
MMADIFF_LANES void StoreFour(Four words, Short* to) {
  uint32_t word[4];
  StoreFour(words, word);
  for (int i = 0; i < 4; ++i) to[i] = static_cast<Short>(word[i]);
}
template <class Word>
MMADIFF_LANES void GatherFour(const Lane* from, int lanes, int64_t row, Word* to) {
  for (int lane = 0; lane < lanes; lane += 4, from += 4, to += 4 * row) {
    Four x0 = hn::LoadU(kFour, from), x1 = hn::LoadU(kFour, from + lanes);
    Four x2 = hn::LoadU(kFour, from + 2 * lanes), x3 = hn::LoadU(kFour, from + 3 * lanes);
    Turn(kFour, x0, x1, x2, x3);
    StoreFour(x0, to);
    StoreFour(x1, to + row);
    StoreFour(x2, to + 2 * row);
    StoreFour(x3, to + 3 * row);
  }
}
#endif

#if HWY_TARGET == HWY_AVX3
// Keeps arrays in registers.
#define MMADIFF_ALL_EIGHT _Pragma("GCC unroll 8")
// Eight words of each row become eight vectors, or vice versa.
constexpr bool kMovesEights = true;
constexpr hn::Full512<uint64_t> kEight;
using Eight = hn::Vec<decltype(kEight)>;

// Transposes four rows of 128 bits into columns.
MMADIFF_LANES void TurnFour(Eight& x0, Eight& x1, Eight& x2, Eight& x3) {
  const __m512i low01 = _mm512_shuffle_i64x2(x0.raw, x1.raw, 0x44);
  const __m512i high01 = _mm512_shuffle_i64x2(x0.raw, x1.raw, 0xee);
  const __m512i low23 = _mm512_shuffle_i64x2(x2.raw, x3.raw, 0x44);
  const __m512i high23 = _mm512_shuffle_i64x2(x2.raw, x3.raw, 0xee);
  x0.raw = _mm512_shuffle_i64x2(low01, low23, 0x88);
  x1.raw = _mm512_shuffle_i64x2(low01, low23, 0xdd);
  x2.raw = _mm512_shuffle_i64x2(high01, high23, 0x88);
  x3.raw = _mm512_shuffle_i64x2(high01, high23, 0xdd);
}
// Transposes rows of eight into columns.
MMADIFF_LANES void Turn(Eight (&x)[8]) {
  const auto two = [](Eight& x0, Eight& x1) {
    const Eight low = hn::InterleaveLower(kEight, x0, x1);
    x1 = hn::InterleaveUpper(kEight, x0, x1);
    x0 = low;
  };
  two(x[0], x[1]), two(x[2], x[3]), two(x[4], x[5]), two(x[6], x[7]);
  TurnFour(x[0], x[2], x[4], x[6]);
  TurnFour(x[1], x[3], x[5], x[7]);
}
constexpr hn::Full256<uint32_t> kEightHalves;
template <class Word>
MMADIFF_LANES Eight LoadEight(const Word* from) {
  if constexpr (sizeof(Word) == 8) {
    return hn::LoadU(kEight, from);
  } else if constexpr (sizeof(Word) == 4) {
    return hn::PromoteTo(kEight, hn::LoadU(kEightHalves, from));
  } else {
    const auto eight = hn::LoadU(hn::Simd<Word, 8, 0>(), from);
    return hn::PromoteTo(kEight, hn::PromoteTo(kEightHalves, eight));
  }
}
template <class Word>
MMADIFF_LANES void StoreEight(Eight words, Word* to) {
  if constexpr (sizeof(Word) == 8) {
    hn::StoreU(words, kEight, to);
  } else {
    constexpr hn::Simd<Word, 8, 0> kWords;
    hn::StoreU(hn::TruncateTo(kWords, words), kWords, to);
  }
}
template <class Word>
MMADIFF_LANES void ScatterEight(const Word* from, int64_t stride, int64_t step, Lane* to) {
  Eight x[8];
  MMADIFF_ALL_EIGHT
  for (Eight& row : x) {
    row = LoadEight(from);
    from += stride;
    if (sizeof(Lane) == 8) continue;
    row = hn::Or(hn::And(row, hn::Set(kEight, 0xffffffffu)),  // two rows
                 hn::ShiftLeft<32>(LoadEight(from)));
    from += stride;
  }
  Turn(x);
  MMADIFF_ALL_EIGHT
  for (int i = 0; i < 8; ++i) {
    hn::StoreU(x[i], kEight, reinterpret_cast<uint64_t*>(to + i * step));
  }
}
template <class Word>
MMADIFF_LANES void GatherEight(const Lane* from, int lanes, int64_t row, Word* to) {
  Eight x[8];
  MMADIFF_ALL_EIGHT
  for (int i = 0; i < 8; ++i) {
    x[i] = hn::Load(kEight, reinterpret_cast<const uint64_t*>(from + i * lanes));
  }
  Turn(x);
  MMADIFF_ALL_EIGHT
  for (const Eight& words : x) {
    if (sizeof(Lane) == 8) {
      StoreEight(words, to);
    } else {
      StoreEight(hn::And(words, hn::Set(kEight, 0xffffffffu)), to);
      to += row;
      StoreEight(hn::ShiftRight<32>(words), to);
    }
    to += row;
  }
}
#undef MMADIFF_ALL_EIGHT
#else
constexpr bool kMovesEights = false;
template <class Word>
MMADIFF_LANES void ScatterEight(const Word*, int64_t, int64_t, Lane*) {}
template <class Word>
MMADIFF_LANES void GatherEight(const Lane*, int, int64_t, Word*) {}
#endif

// Narrows `count` adjacent words.
template <class Word>
MMADIFF_LANES void Narrow(const Word* from, int count, Lane* to) {
  const int lanes = static_cast<int>(hn::Lanes(kLane));
  int i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(LoadWords(from + i), kLane, to + i);
  for (; i < count; ++i) to[i] = static_cast<Lane>(from[i]);
}
// Rows of two words become two vectors.
MMADIFF_LANES void ScatterTwo(const uint64_t* from, int lanes, Lane* to) {
  const Lanes low = LoadWords(from), high = LoadWords(from + lanes);
  hn::Store(hn::ConcatEven(kLane, high, low), kLane, to);
  hn::Store(hn::ConcatOdd(kLane, high, low), kLane, to + lanes);
}

template <class Word>
MMADIFF_LANES void ScatterRow(const Word* from, int64_t step, int row, Lane* to) {
  for (const Word* end = from + row; from != end; ++from, to += step) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    *to = static_cast<Lane>(word);
  }
}
// `lanes` rows of words, `stride` apart, become vectors with one word of each row, `step` apart.
template <class Word>
MMADIFF_LANES void Scatter(const Word* from, int64_t stride, int lanes, int row, int64_t step,
                           Lane* to) {
  int done = 0;
  for (; kMovesEights && done + 8 <= row; done += 8) {
    ScatterEight(from + done, stride, step, to + done * step);
  }
  for (; kMovesFours && done + 4 <= row; done += 4) {
    ScatterFour(from + done, stride, step, to + done * step);
  }
  for (int lane = 0; done != row && lane < lanes; ++lane) {
    ScatterRow(from + lane * stride + done, step, row - done, to + done * step + lane);
  }
}
// The same of a batch, whose vectors follow one another.
MMADIFF_LANES void Scatter(const uint64_t* from, int64_t stride, int lanes, int row, Lane* to) {
  if (row == 1 && stride == 1) return Narrow(from, lanes, to);
  if (row == 2 && stride == 2) return ScatterTwo(from, lanes, to);
  Scatter(from, stride, lanes, row, lanes, to);
}
// Vectors become rows of words, `stride` apart.
template <class Word>
MMADIFF_LANES void Gather(const Lane* from, int lanes, int row, int64_t stride, Word* to) {
  if constexpr (sizeof(Word) == 8) {
    if (row == 1 && stride == 1) return StoreWords(hn::Load(kLane, from), to);
  }
  int done = 0;
  for (; kMovesEights && done + 8 <= row; done += 8) {
    GatherEight(from + done * lanes, lanes, stride, to + done);
  }
  for (; kMovesFours && done + 4 <= row; done += 4) {
    GatherFour(from + done * lanes, lanes, stride, to + done);
  }
  for (int lane = 0; done != row && lane < lanes; ++lane) {
    for (int j = done; j < row; ++j) {
      const auto word = static_cast<std::make_unsigned_t<Lane>>(from[j * lanes + lane]);
      const Word narrow = static_cast<Word>(word);
      std::memcpy(&to[lane * stride + j], &narrow, sizeof(narrow));
    }
  }
}

// The same for rows of any words in memory, which need not be aligned; see LaneTarget.
inline void TurnWords(const Words& rows, int count, int64_t step, void* to) {
  WithWord(rows.bits, [&]<class Word>() {
    Scatter(reinterpret_cast<const Word*>(rows.data), rows.row_stride,
            static_cast<int>(hn::Lanes(kLane)), count, step, static_cast<Lane*>(to));
  });
}
inline void TurnBack(const void* from, int count, const MutableWords& rows) {
  WithWord(rows.bits, [&]<class Word>() {
    Gather(static_cast<const Lane*>(from), static_cast<int>(hn::Lanes(kLane)), count,
           rows.row_stride, reinterpret_cast<Word*>(rows.data));
  });
}

// Lanes take consecutive rows of A from the whole batch, `lanes_` at a time. They share the columns
// of B if the rows of a block fill whole vectors; otherwise every lane has its own columns. A tile is
// one block.
template <class Family>
class Simulation final : public LaneTiles {
 public:
  static void Run(const Model& m, const Batch& batch, std::span<uint64_t> d) {
    const Shape& s = batch.shape;
    const FloatRounding rounding(m.algorithm.output_rounding);
    Simulation simulation(m, s, batch.count * s.blocks * s.m, false);
    simulation.batch_ = &batch;
    simulation.d_ = d;
    simulation.Run();
  }
  static std::unique_ptr<LaneTiles> Tiles(const Model& m, int panels, int columns, bool own) {
    const int rows = panels * static_cast<int>(hn::Lanes(kLane));
    return std::make_unique<Simulation>(m, Shape{rows, columns, m.k, 1, m.scales()}, rows, own);
  }
  void Add(const LaneTile& tile) override {
    const FloatRounding rounding(m_.algorithm.output_rounding);
    tile_ = &tile;
    Run();
  }

  // `own`: each row of A has its own columns of B, even if whole vectors could share them.
  Simulation(const Model& m, const Shape& shape, int64_t rows, bool own)
      : m_(m),
        shape_(shape),
        rows_(rows),
        lanes_(static_cast<int>(hn::Lanes(kLane))),
        row_(shape.row_words()),
        family_(m),
        format_a_(Family::FormatOf(m, m.a)),
        format_b_(Family::FormatOf(m, m.b)),
        scale_(m.scale_block == 0 ? LaneFormat{} : LaneFormatOf(m.scale, m.d)),
        order_(m.k),
        shares_(shape.m % lanes_ == 0 && !own),
        scales_at_(WholeVectors(m.k)),
        column_(m.scale_block == 0 ? m.k
                                   : scales_at_ + (kScalesApart ? WholeVectors(m.scales()) : 0)),
        words_(std::max(row_ * lanes_, std::max(2 * column_, WholeVectors(shape.n * m.k)))),
        addends_(shape.n * lanes_),
        a_(column_ * lanes_, kExponents, kHasSigns),
        b_(shares_ ? WholeVectors(shape.n * column_) : lanes_ * column_, kExponents, kHasSigns) {
    if constexpr (requires { Family::kMovesUp; }) format_a_.up = NarrowUp(m);
    const bool pairs = m.algorithm.grouping == Grouping::kPairsOfFour;
    for (int p = 0; p < m.k; ++p) order_[p] = pairs ? GroupedK(m, p) : p;
  }

 private:
  void Run() {
    const Shape& s = shape_;
    const Family family = family_;
    for (int64_t next = 0; next < rows_; next += lanes_) {
      const int64_t first = std::min(next, rows_ - lanes_);  // some rows twice
      Lane* addends = GatherRows(first);
      if (shares_) {
        if (first % s.m == 0) DecodeColumnsOf(first / s.m);
        int j = 0;
        if constexpr (requires { &Family::template ResultOfFour<RowOfEach, ColumnOfAll>; }) {
          for (; j + 3 < s.n; j += 4) FinishFour(family, j, addends);
        }
        if constexpr (requires { &Family::template ResultOfTwo<RowOfEach, ColumnOfAll>; }) {
          for (; j + 1 < s.n; j += 2) FinishTwo(family, j, addends);
        }
        for (; j < s.n; ++j) Finish(family, ColumnOfAll(b_, j * column_), addends + j * lanes_);
      } else {
        for (int j = 0; j < s.n; ++j) {
          GatherColumns(first, j);
          Finish(family, RowOfEach(b_), addends + j * lanes_);
        }
      }
      if (tile_ == nullptr) Gather(addends, lanes_, s.n, s.n, &d_[first * s.n]);
    }
  }

  // Whether scales are not combined with their elements but stored after them.
  static constexpr bool kScalesApart = requires { Family::kScalesApart; };
  static constexpr bool kHasFours = requires { Family::kFourExponents; };
  static constexpr int kExponents = kHasFours ? 4 : Family::kHasExponents;
  static constexpr bool kHasSigns = Family::kHasExponents && !requires {
    Family::kSignedMagnitudes;
  };

  template <class Column>
  MMADIFF_LANES void Finish(const Family& family, const Column& column, Lane* words) {
    hn::Store(family.Result(RowOfEach(a_), column, hn::Load(kLane, words)), kLane, words);
  }

  MMADIFF_LANES void FinishFour(const Family& family, int j, Lane* addends) {
    Lane* words = addends + j * lanes_;
    Lanes c0 = hn::Load(kLane, words), c1 = hn::Load(kLane, words + lanes_);
    Lanes c2 = hn::Load(kLane, words + 2 * lanes_), c3 = hn::Load(kLane, words + 3 * lanes_);
    family.ResultOfFour(RowOfEach(a_), ColumnOfAll(b_, j * column_),
                        ColumnOfAll(b_, (j + 1) * column_), ColumnOfAll(b_, (j + 2) * column_),
                        ColumnOfAll(b_, (j + 3) * column_), c0, c1, c2, c3);
    hn::Store(c0, kLane, words);
    hn::Store(c1, kLane, words + lanes_);
    hn::Store(c2, kLane, words + 2 * lanes_);
    hn::Store(c3, kLane, words + 3 * lanes_);
  }

  MMADIFF_LANES void FinishTwo(const Family& family, int j, Lane* addends) {
    Lane *words0 = addends + j * lanes_, *words1 = words0 + lanes_;
    Lanes c0 = hn::Load(kLane, words0), c1 = hn::Load(kLane, words1);
    family.ResultOfTwo(RowOfEach(a_), ColumnOfAll(b_, j * column_),
                       ColumnOfAll(b_, (j + 1) * column_), c0, c1);
    hn::Store(c0, kLane, words0);
    hn::Store(c1, kLane, words1);
  }

  void DecodeColumnsOf(int64_t block) {
    // Words of 64 bits are those of a batch: the code is the same.
    using Word = std::conditional_t<sizeof(Lane) == 8, uint64_t, Lane>;
    if (tile_ != nullptr) return DecodeColumns(static_cast<const Word*>(tile_->b));
    DecodeColumns(&batch_->b[block * shape_.n * row_]);
  }

  // Decodes rows of A; returns their addends, [n][lane]. Copies members into locals: the compiler
  // cannot rule out that writing words changes the members.
  MMADIFF_LANES Lane* GatherRows(int64_t first) {
    const int n = shape_.n;
    if (tile_ != nullptr) {
      DecodeRows(static_cast<const Lane*>(tile_->a) + first * row_, format_a_, a_);
      return static_cast<Lane*>(tile_->sums) + first * n;
    }
    Scatter(&batch_->a[first * row_], row_, lanes_, row_, words_.data());
    Scatter(&batch_->c[first * n], n, lanes_, n, addends_.data());
    DecodeRows(words_.data(), format_a_, a_);
    return addends_.data();
  }

  MMADIFF_LANES void GatherColumns(int64_t first, int j) {
    if (tile_ != nullptr) {
      return DecodeRows(static_cast<const Lane*>(tile_->own_b) + first * row_, format_b_, b_);
    }
    const int m = shape_.m, n = shape_.n, row = row_, lanes = lanes_;
    Lane* words = words_.data();
    const uint64_t* b = &batch_->b[(first / m * n + j) * row];
    if (m == 1) {
      Scatter(b, n * row, lanes, row, words);
    } else {
      for (int lane = 0, i = static_cast<int>(first % m); lane < lanes; ++lane) {
        ScatterRow(b, lanes, row, words + lane);
        if (++i == m) b += n * row, i = 0;
      }
    }
    DecodeRows(words, format_b_, b_);
  }

  // Decodes `words`, one vector for each k and each scale.
  template <class ElementFormat>
  MMADIFF_LANES void DecodeRows(const Lane* words, const ElementFormat of, Operands& out) {
    const ElementFormat format = of;
    const int* order = order_.data();
    const int count = m_.k, block = kScalesApart ? 0 : m_.scale_block, lanes = lanes_;
    Lane *magnitude = out.magnitude.data(), *exponent = out.exponent.data(),
         *sign = out.sign.data();
    [[maybe_unused]] Lanes four = Zero();
    for (int p = 0; p < count; ++p) {
      const int k = order[p];
      Operand x = Family::Decode(format, hn::Load(kLane, words + k * lanes));
      if (block != 0) x = Scaled(x, ScaleAt(words, k / block));
      hn::Store(x.magnitude, kLane, magnitude + p * lanes);
      if constexpr (kHasFours) {
        four = Down(four, 8) | Up(x.exponent, 24);
        if (p % 4 == 3) hn::Store(four, kLane, exponent + p / 4 * lanes);
      } else if constexpr (Family::kHasExponents) {
        hn::Store(x.exponent, kLane, exponent + p * lanes);
      }
      if constexpr (kHasSigns) hn::Store(x.sign, kLane, sign + p * lanes);
    }
    for (int i = 0; kScalesApart && i < m_.scales(); ++i) {
      Store(ScaleAt(words, i), out, (scales_at_ + i) * lanes_);
    }
  }
  MMADIFF_LANES Operand ScaleAt(const Lane* words, int i) const {
    return DecodeLanes(scale_, hn::Load(kLane, words + (m_.k + i) * lanes_));
  }

  // Decodes the columns of a block, in step order.
  template <class Word>
  HWY_NOINLINE void DecodeColumns(const Word* b) {
    if (m_.scale_block == 0) return DecodeElements(b);
    Lane *words = words_.data(), *scales = words + column_;
    const int* order = order_.data();
    const int count = m_.k;
    // Scales that are combined with elements are repeated for each element.
    const int block = kScalesApart ? 1 : m_.scale_block, scale_count = m_.scales() * block;
    const auto format = format_b_;
    for (int j = 0; j < shape_.n; ++j, b += row_) {
      for (int p = 0; p < count; ++p) words[p] = static_cast<Lane>(b[order[p]]);
      for (int p = 0; p < scale_count; ++p) scales[p] = static_cast<Lane>(b[count + p / block]);
      for (int p = 0; p < scales_at_; p += lanes_) {
        Operand x = Family::Decode(format, hn::Load(kLane, words + p));
        if (!kScalesApart) {
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

  // The same without scales: all columns are contiguous.
  template <class Word>
  MMADIFF_LANES void DecodeElements(const Word* b) {
    Lane* words = words_.data();
    const int lanes = lanes_, count = m_.k, all = shape_.n * count;
    const auto format = format_b_;
    const auto decode = [&](Lanes word, int p) { Store(Family::Decode(format, word), b_, p); };
    int done = 0;
    if (m_.algorithm.grouping != Grouping::kPairsOfFour) {
      for (; done + lanes <= all; done += lanes) decode(LoadWords(b + done), done);
      Narrow(b + done, all - done, words + done);
    } else if (kWordsInPairs && count % (2 * lanes) == 0) {
      for (; done < all; done += count / 2) {
        for (const Word* end = b + count; b != end; b += 2 * lanes, done += lanes) {
          Lanes even = LoadWords(b), odd = LoadWords(b + lanes);
          SplitPairs(even, odd);
          decode(even, done), decode(odd, done + count / 2);
        }
      }
    } else {
      const int* order = order_.data();
      for (Lane* to = words; to != words + all; to += count, b += count) {
        for (int p = 0; p < count; ++p) to[p] = static_cast<Lane>(b[order[p]]);
      }
    }
    for (; done < all; done += lanes) decode(hn::Load(kLane, words + done), done);
  }

  static MMADIFF_LANES void Store(const Operand& x, Operands& out, size_t at) {
    hn::Store(x.magnitude, kLane, out.magnitude.data() + at);
    if constexpr (kHasFours) {
      StoreBytes(x.exponent, reinterpret_cast<int8_t*>(out.exponent.data()) + at);
    } else if constexpr (Family::kHasExponents) {
      hn::Store(x.exponent, kLane, out.exponent.data() + at);
    }
    if constexpr (kHasSigns) hn::Store(x.sign, kLane, out.sign.data() + at);
  }

  // A scale is a power of two or a NaN.
  static MMADIFF_LANES Operand Scaled(Operand x, const Operand& scale) {
    const Mask plain = hn::Lt(hn::Abs(x.exponent), All(-kNarrowZero / 2));
    x.exponent = x.exponent + hn::IfThenElseZero(plain, scale.exponent);
    x.exponent = Pick(IsNan(scale), All(kNarrowNan), x.exponent);
    return x;
  }

  const Model m_;
  const Shape shape_;
  const int64_t rows_;            // of A in all blocks
  const Batch* batch_ = nullptr;  // or
  const LaneTile* tile_ = nullptr;
  std::span<uint64_t> d_;
  const int lanes_;
  const int row_;  // words of a row of A, a column of B
  const Family family_;
  decltype(Family::FormatOf(Model(), Format())) format_a_, format_b_;
  const LaneFormat scale_;
  std::vector<int> order_;
  const bool shares_;
  const int scales_at_;  // index of the first scale, after the elements
  const int column_;     // operands per column
  LaneWords words_;      // [row_][lane]; for shared columns, one column and its scales
  LaneWords addends_;    // [n][lane]; then the results
  Operands a_;           // [k][lane]
  Operands b_;           // [k][lane]; shared: [n][column_]
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
