// The lanes give the words of the scalar simulator: every model and every neighbour of it, and toy
// formats exhaustively, in every kind of vectors that this machine has.
#include "sim/lanes/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reading.h"
#include "sim/round.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// The words of one dot product after the other, which lanes never touch.
std::vector<uint64_t> Scalar(const Model& m, const Batch& batch) {
  std::vector<uint64_t> d(batch.dot_products());
  for (int64_t i = 0; i < batch.dot_products(); ++i) d[i] = Simulate(m, Extract(batch, i));
  return d;
}

bool HasTarget(const Model& m) {
  return std::ranges::any_of(LaneTargets(),
                             [&](const LaneTarget& t) { return t.LanesFor(t.WidthFor(m)) > 0; });
}

// Simulate() replaces a sparse model by one of the products that it adds, before lanes are chosen.
std::vector<const Operation*> DenseOperations() {
  std::vector<const Operation*> ops = DistinctOperations();
  std::erase_if(ops, [](const Operation* op) { return op->instruction->sparse(); });
  return ops;
}

void ExpectScalarWords(const Model& m, const Batch& batch, const std::string& what) {
  if (!HasTarget(m)) return;
  const std::vector<uint64_t> expected = Scalar(m, batch);
  for (const LaneTarget& target : LaneTargets()) {
    if (target.LanesFor(target.WidthFor(m)) == 0) continue;
    std::vector<uint64_t> d(batch.dot_products(), ~0ull);
    target.Simulate(m, batch, d);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      ASSERT_EQ(d[i], expected[i]) << what << ", " << target.name << ", dot product " << i;
    }
  }
}

// Magnitudes so far apart that little of one is seen beside the other, with fractions of which sums are
// exact, or half way between two results.
uint64_t FarAndPlain(const Format& f, std::mt19937_64& random) {
  const uint64_t ones = LowBits(f.fraction_bits);
  // The last two have a product just above a power of two.
  const uint64_t root = 1ull << (f.fraction_bits / 2);
  const uint64_t fractions[] = {
      0, 0, 1, ones, ones - 1, ones / 2 + 1, random() & ones, root, (ones - 2 * root + 3) & ones};
  const int field = f.exponent_bits == 0 ? 0 : 1 << (f.exponent_bits - 1);
  const int spread = std::min(field, 2 * f.fraction_bits + 4);
  const uint64_t exponent = field + random() % (2 * spread + 1) - spread;
  return std::min(exponent << f.fraction_bits | fractions[random() % std::size(fractions)],
                  MaxFiniteWord(f) >> f.ignored_bits);
}

// Words that meet: few exponents, zeros, subnormals, specials, and any bits.
void Fill(const Format& f, std::mt19937_64& random, uint64_t& word) {
  const uint64_t bits = random() & LowBits(f.bits);
  const uint64_t sign = f.is_signed ? bits & 1ull << SignBit(f) : 0;
  const int low = f.fraction_bits + f.ignored_bits;
  const uint64_t fraction = bits & LowBits(low);
  if (IsInteger(f)) {
    word = random() % 2 == 0 ? bits : sign | (random() % 2 == 0 ? LowBits(f.bits - 1) : 0);
    return;
  }
  switch (random() % 16) {
    case 0:
      word = sign;
      break;
    case 1:
      word = bits;
      break;
    case 2:
      word = sign | fraction;
      break;
    case 3:
      word = sign | (random() % 2 == 0 ? fraction : 0);
      if (HasInfinity(f) && random() % 4 == 0) word |= InfinityWord(f, false);
      if (random() % 2 == 0) word |= bits & LowBits(f.ignored_bits);
      break;
    case 4:
    case 5:
    case 6:
      word = sign | FarAndPlain(f, random) << f.ignored_bits;
      break;
    default:
      word = f.exponent_bits < 3 || !f.has_zero
                 ? bits
                 : sign | fraction | (random() % 4 + (1ull << (f.exponent_bits - 1)) - 3) << low;
  }
}

// Rows of A (or columns of B) of m.k elements and their scales. In some, all elements are about the same
// and large, so that sums become as long as they can; in some, all are zeros of one sign; in some, the
// products of the first half cancel; in some, scales are the least.
void FillRows(const Model& m, const Format& f, const Shape& s, bool of_a, std::mt19937_64& random,
              std::vector<uint64_t>& words) {
  const int low = f.fraction_bits + f.ignored_bits;
  const uint64_t full =
      IsInteger(f) ? LowBits(f.bits - 1) : (1ull << (f.exponent_bits - 1) << low) - 1;
  for (size_t row = 0; row < words.size(); row += s.row_words()) {
    const uint64_t kind = random() % 8;
    const uint64_t minus = f.is_signed ? 1ull << SignBit(f) : 0;
    const uint64_t sign = random() % 2 == 0 ? minus : 0;
    for (int k = 0; k < s.row_words(); ++k) {
      uint64_t& word = words[row + k];
      if (kind == 0 && k < m.k) {
        word = sign;
      } else if (kind <= 2 && k < m.k) {
        word = sign | (full - (full != 0 && random() % 4 == 0));
      } else if (kind <= 4 && k % 2 == 1 && k < m.k / 2) {
        word = words[row + k - 1] ^ (of_a ? minus : 0);
      } else if (kind == 5 && k >= m.k) {
        word = random() % 2;
      } else {
        Fill(k < m.k ? f : m.scale, random, word);
      }
    }
  }
}

Batch RandomBatch(const Model& m, const Shape& shape, int64_t executions, std::mt19937_64& random) {
  Batch batch;
  batch.Resize(shape, executions);
  FillRows(m, m.a, shape, true, random, batch.a);
  FillRows(m, m.b, shape, false, random, batch.b);
  for (uint64_t& word : batch.c) Fill(m.c, random, word);
  return batch;
}

// Exponent of the leading one.
int LeadingExponent(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.exponent - f.fraction_bits + std::bit_width(u.significand) - 1;
}

// One product and an addend: half an ulp and a straggler, or any distance apart. Of a product of
// subnormals too.
void FillPair(const Model& m, std::mt19937_64& random, uint64_t& a, uint64_t& b, uint64_t& c) {
  const auto factor = [&](const Format& f) {
    const uint64_t ones = LowBits(f.fraction_bits), fraction = FarAndPlain(f, random) & ones;
    const uint64_t field = random() % (1ull << f.exponent_bits);
    const uint64_t word =
        random() % 3 == 0 ? std::max<uint64_t>(fraction, 1) : field << f.fraction_bits | fraction;
    return std::min(word, MaxFiniteWord(f) >> f.ignored_bits) << f.ignored_bits;
  };
  a = factor(m.a);
  b = factor(m.b);
  if (random() % 2 == 0) a |= 1ull << SignBit(m.a);
  const Format& f = m.c;
  const int digits = f.fraction_bits, far = 2 * digits + 8;
  const int near = digits + static_cast<int>(random() % 4) - 1;
  const int any = static_cast<int>(random() % (2 * far + 1)) - far;
  const int field = LeadingExponent(m.a, a) + LeadingExponent(m.b, b) + 1 - f.min_exponent +
                    (random() % 2 == 0   ? any
                     : random() % 2 == 0 ? near
                                         : -near);
  c = (FarAndPlain(f, random) & LowBits(digits));
  if (field > 0) c |= static_cast<uint64_t>(field) << digits;
  c = std::min(c, MaxFiniteWord(f));
  if (random() % 2 == 0) c |= 1ull << SignBit(f);
}

Batch PairBatch(const Model& m, const Shape& shape, int64_t executions, std::mt19937_64& random) {
  Batch batch;
  batch.Resize(shape, executions);
  for (int64_t i = 0; i < executions; ++i) {
    const int64_t k = random() % m.k;
    FillPair(m, random, batch.a[i * shape.a_words() + k], batch.b[i * shape.b_words() + k],
             batch.c[i * shape.d_words()]);
  }
  return batch;
}

// Finite, nearest to this exponent; below all normal ones, subnormal. Few fractions, so that sums meet.
uint64_t Near(const Format& f, int exponent, std::mt19937_64& random) {
  const uint64_t ones = LowBits(f.fraction_bits);
  const uint64_t fractions[] = {0, 0, 1, ones, ones - 1, random() & ones};
  const int field = std::clamp(exponent, f.min_exponent - 1, MaxExponent(f)) - f.min_exponent + 1;
  return static_cast<uint64_t>(field) << f.fraction_bits | fractions[random() % 6];
}

// A dot product whose products lie anywhere in their range. Some cancel, with each other or with the
// addend; some are half an ulp of it, with stragglers far below; it is the largest or subnormal.
void FillExact(const Model& m, std::mt19937_64& random, uint64_t* a, uint64_t* b, uint64_t& c) {
  const auto some = [&](unsigned one_in) { return random() % one_in == 0; };
  const auto any = [&](const Format& f) {
    const int count = MaxExponent(f) - f.min_exponent + 2;
    return f.min_exponent - 1 + static_cast<int>(random() % count);
  };
  const auto sign = [&](const Format& f) { return some(2) ? 1ull << SignBit(f) : 0; };
  const uint64_t minus = 1ull << SignBit(m.a);
  const bool short_tail = some(2), together = some(3);
  const int ea = any(m.a), eb = any(m.b);
  for (int k = 0; k < m.k; ++k) {
    a[k] = Near(m.a, together ? ea : any(m.a), random) | sign(m.a);
    b[k] = Near(m.b, together ? eb : any(m.b), random) | sign(m.b);
    if (k > 0 && some(3)) {
      a[k] = a[k - 1] ^ minus;
      b[k] = b[k - 1];
    } else if (short_tail && k > 1) {
      a[k] = sign(m.a);
    }
    if (some(128)) a[k] = InfinityWord(m.a, some(2)) | some(2);
  }
  if (m.k > 1 && some(16)) {  // as far apart as they can be
    a[0] = MaxFiniteWord(m.a) | sign(m.a);
    b[0] = MaxFiniteWord(m.b);
    a[1] = b[1] = 1;
  }
  c = sign(m.c);
  const int digits = m.c.fraction_bits;
  switch (random() % 4) {
    case 0:
      c |= Near(m.c, any(m.c), random);
      break;
    case 1: {  // the first product with the other sign, if it fits
      const Unpacked x = Decode(m.a, a[0]), y = Decode(m.b, b[0]);
      Algorithm alg = m.algorithm;
      alg.output_fraction_bits = digits;
      alg.output_rounding = Rounding::kTowardZero;
      bool inexact;
      c = RoundPack<uint64_t>(m.c, alg, x.negative == y.negative, x.significand * y.significand,
                              x.exponent + y.exponent - m.a.fraction_bits - m.b.fraction_bits,
                              &inexact);
      break;
    }
    case 2: {  // the first product is about half an ulp
      const int exponent = some(4) ? MaxExponent(m.c) : some(4) ? m.c.min_exponent - 1 : any(m.c);
      c |= some(4) ? MaxFiniteWord(m.c) : Near(m.c, exponent, random);
      const int ulp = LeadingExponent(m.c, c | 1) - digits;
      const int half = std::max(ulp, m.c.min_exponent - digits) - static_cast<int>(random() % 3);
      a[0] = Near(m.a, half / 2, random) >> m.a.fraction_bits << m.a.fraction_bits | sign(m.a);
      b[0] = Near(m.b, half - half / 2, random) >> m.b.fraction_bits << m.b.fraction_bits;
      break;
    }
    default:
      break;
  }
}

Batch ExactBatch(const Model& m, int64_t executions, std::mt19937_64& random) {
  Batch batch;
  batch.Resize({.m = 1, .n = 1, .k = m.k, .blocks = 1}, executions);
  for (int64_t i = 0; i < executions; ++i) {
    FillExact(m, random, &batch.a[i * m.k], &batch.b[i * m.k], batch.c[i]);
  }
  return batch;
}

// Every width shares columns for one of them, and has rows left over for another.
Shape Shaped(const Model& m, const Shape& like, int rows) {
  Shape shape = like;
  shape.m = rows;
  shape.n = 2;
  shape.blocks = 1;
  shape.k = m.k;
  return shape;
}

TEST(Lanes, EveryModelAndNeighbour) {
  std::mt19937_64 random(1);
  std::set<Family> families;
  int models = 0, wide = 0;
  for (const Operation* op : DenseOperations()) {
    if (!HasLanes(op->model) || HasReadings(op->model)) continue;
    families.insert(op->model.algorithm.family);
    const auto check = [&](const Model& m, int64_t words, const std::string& what) {
      ++models;
      wide += LaneWidthOf(m) == LaneWidth::k64;
      const int64_t tall = std::max<int64_t>(1, words / 64), flat = std::max<int64_t>(6, words / 6);
      ExpectScalarWords(m, RandomBatch(m, Shaped(m, op->shape(), 32), tall, random), what);
      ExpectScalarWords(m, RandomBatch(m, Shaped(m, op->shape(), 3), flat, random), what);
      ExpectScalarWords(m, RandomBatch(m, Shaped(m, op->shape(), 1), flat, random), what);
      const bool pairs =
          m.algorithm.family == Family::kFmaChain || m.algorithm.family == Family::kTwoStageSum ||
          m.algorithm.family == Family::kTree || m.algorithm.family == Family::kExactSum;
      if (pairs && m.a.has_zero && m.b.has_zero) {
        const Shape one = {.m = 1, .n = 1, .k = m.k, .blocks = 1};
        ExpectScalarWords(m, PairBatch(m, one, 2 * words, random), what + ", pair");
      }
    };
    check(op->model, 600, op->name);
    for (const Neighbour& n : Neighbours(op->model)) {
      Model other = op->model;
      other.algorithm = n.algorithm;
      if (HasLanes(other) && !HasReadings(other)) check(other, 128, op->name + ":" + Name(n));
    }
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_EQ(families, (std::set<Family>{Family::kFmaChain, Family::kPairwiseSum, Family::kFusedSum,
                                        Family::kScaledSum, Family::kExactSum, Family::kTwoStageSum,
                                        Family::kIntegerDot, Family::kTree}));
  EXPECT_GT(models, 1500);
  EXPECT_GT(wide, 300);
}

#if defined(MMADIFF_EXPECTED_VECTORS)  // .ci/neon; QEMU takes a minute for all addends
constexpr int kToyStep = 7;
#else
constexpr int kToyStep = 1;
#endif

// Every pair of operands beside every addend, with every rounding and treatment of small numbers.
// Products of one format lie about the output's range, those of the other below.
void ExpectToyWords(int min_exponent) {
  const Format kToy = {"toy", 4, 2, 1, min_exponent, 0, Nonfinite::kIeee, true};
  constexpr Format kOut = {"toy_out", 6, 3, 2, -2, 0, Nonfinite::kIeee, true};
  constexpr int kWords = 16, kAddends = (1 << kOut.bits) / kToyStep;
  Batch batch;
  batch.Resize({.m = kWords * kWords, .n = kWords, .k = 2, .blocks = 1}, kAddends);
  for (int64_t c = 0, i = 0; c < kAddends; ++c) {
    for (int row = 0; row < kWords * kWords; ++row) {
      batch.a[(c * kWords * kWords + row) * 2] = row / kWords;
      batch.a[(c * kWords * kWords + row) * 2 + 1] = row % kWords;
      for (int j = 0; j < kWords; ++j) batch.c[i++] = c * kToyStep;
    }
    for (int j = 0; j < kWords; ++j) {
      batch.b[(c * kWords + j) * 2] = j;
      batch.b[(c * kWords + j) * 2 + 1] = (j * 7 + c) % kWords;
    }
  }
  struct Case {
    Family family;
    Tininess tininess = Tininess::kAfterRounding;
  };
  for (const auto& [family, tininess] :
       std::initializer_list<Case>{{Family::kFusedSum},
                                   {Family::kExactSum},
                                   {Family::kTwoStageSum},
                                   {Family::kFmaChain},
                                   {Family::kFmaChain, Tininess::kBeforeRounding},
                                   {Family::kPairwiseSum}}) {
    for (const Rounding rounding : {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kDown,
                                    Rounding::kUp, Rounding::kToOdd}) {
      for (const Subnormals small :
           {Subnormals::kKeep, Subnormals::kFlush, Subnormals::kFlushPositive}) {
        Algorithm alg = {.family = family,
                         .terms = 2,
                         .fraction_bits = 3,
                         .exponent_floor = min_exponent < 0 ? kNoFloor : -3,
                         .output_rounding = rounding,
                         .output_fraction_bits = kOut.fraction_bits};
        alg.output_subnormals = small;
        alg.tininess = tininess;
        if (family == Family::kTwoStageSum) {
          // Fewer fraction bits than a product has, or more.
          alg.fraction_bits = min_exponent < 0 ? 3 : 1;
          alg.sum_fraction_bits = 4;
          alg.sum_rounding = small == Subnormals::kKeep ? rounding : Rounding::kDown;
          alg.zero_sign = small == Subnormals::kKeep ? ZeroSign::kIeee : ZeroSign::kSumPositive;
          alg.product_overflow = ProductOverflow::kInfinity;
        } else if (family == Family::kExactSum) {
          alg.zero_sign = small == Subnormals::kKeep    ? ZeroSign::kIeee
                          : small == Subnormals::kFlush ? ZeroSign::kSumPositive
                                                        : ZeroSign::kPositive;
        } else if (family != Family::kFusedSum) {
          alg.terms = family == Family::kFmaChain ? 1 : 2;
          if (small != Subnormals::kFlush) alg.product_rounding = ProductRounding::kExact;
          alg.fraction_bits = 0;
          alg.exponent_floor = kNoFloor;
          alg.input_subnormals = alg.addend_subnormals = small;
        }
        const Model m = {kToy, kToy, kOut, kOut, 2, alg};
        ASSERT_TRUE(HasLanes(m));
        ExpectScalarWords(m, batch,
                          "family " + std::to_string(static_cast<int>(family)) + ", rounding " +
                              std::to_string(static_cast<int>(rounding)) + ", small " +
                              std::to_string(static_cast<int>(small)));
      }
    }
  }
}

TEST(Lanes, ExactSumsThatMeet) {
  std::mt19937_64 random(2);
  int rows = 0;
  for (const Operation* op : DenseOperations()) {
    Model m = op->model;
    if (m.algorithm.family != Family::kExactSum || !HasLanes(m)) continue;
    ++rows;
    ExpectScalarWords(m, ExactBatch(m, 40000, random), op->name);
    for (const Neighbour& n : Neighbours(op->model)) {
      m.algorithm = n.algorithm;
      if (HasReadings(m)) continue;
      ExpectScalarWords(m, ExactBatch(m, 8000, random), op->name + ":" + Name(n));
    }
    // Addends of another format than results.
    m = op->model;
    m.c = m.a;
    ASSERT_TRUE(HasLanes(m)) << op->name;
    ExpectScalarWords(m, ExactBatch(m, 8000, random), op->name + ", short addends");
    // As many products a step as 62 bits hold, all of them the largest.
    m = op->model;
    m.k = m.algorithm.terms = 100;
    ASSERT_TRUE(HasLanes(m)) << op->name;
    ExpectScalarWords(m, ExactBatch(m, 400, random), op->name + ", 100 terms");
    Batch batch = ExactBatch(m, 400, random);
    for (int64_t i = 0; i < 400; ++i) {
      // Moved up by anything.
      const uint64_t down = static_cast<uint64_t>(i % 25) << m.a.fraction_bits;
      for (int k = 0; k < m.k; ++k) {
        batch.a[i * m.k + k] = (MaxFiniteWord(m.a) - down) | (i / 25 % 2 << SignBit(m.a));
        batch.b[i * m.k + k] = MaxFiniteWord(m.b);
      }
    }
    ExpectScalarWords(m, batch, op->name + ", 100 large terms");
    // Steps of several products with a rest, which has no more terms than are left: all are -0.
    m.k = 10;
    m.algorithm.terms = 4;
    m.algorithm.zero_sign = ZeroSign::kIeee;
    batch = ExactBatch(m, 2000, random);
    ExpectScalarWords(m, batch, op->name + ", a rest");
    std::ranges::fill(batch.a, 1ull << SignBit(m.a));
    std::ranges::fill(batch.b, 0);
    std::ranges::fill(batch.c, 1ull << SignBit(m.c));
    ExpectScalarWords(m, batch, op->name + ", a rest of zeros");
    m.k = m.algorithm.terms = 200;
    EXPECT_FALSE(HasLanes(m)) << op->name;
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(rows, 3);
}

// Fractions of any length that lanes take, products that are moved up by anything.
TEST(Lanes, FusedSumsOfEveryWidth) {
  std::mt19937_64 random(3);
  constexpr Format kOut = {"out", 32, 8, 23, -126, 0, Nonfinite::kIeee, true};
  const auto format = [](int fraction_bits) {
    return Format{"operand", 6 + fraction_bits, 5, fraction_bits, -14, 0, Nonfinite::kIeee, true};
  };
  int models = 0;
  for (int of_a = 1; of_a <= 15; ++of_a) {
    for (int of_b = 1; of_b <= 15; ++of_b) {
      for (int bits = 1; bits <= 28; ++bits) {
        const Algorithm alg = {.family = Family::kFusedSum,
                               .terms = 8,
                               .fraction_bits = bits,
                               .output_rounding = Rounding::kTowardZero,
                               .output_fraction_bits = 23};
        const Model m = {format(of_a), format(of_b), kOut, kOut, 8, alg};
        ASSERT_EQ(HasLanes(m), !LaneTargets().empty() && of_a + of_b <= 22 && bits <= 27);
        if (!HasLanes(m)) continue;
        ++models;
        const Shape shape = {.m = 16, .n = 2, .k = 8, .blocks = 1};
        ExpectScalarWords(m, RandomBatch(m, shape, 2, random),
                          "fractions of " + std::to_string(of_a) + " and " + std::to_string(of_b) +
                              " bits in " + std::to_string(bits));
      }
    }
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(models, 5000);
}

// NaNs in the place of -0 keep the sign that zeros lose.
TEST(Lanes, NanInThePlaceOfMinusZero) {
  std::mt19937_64 random(4);
  constexpr Format kOut = {"out", 32, 8, 23, -126, 0, Nonfinite::kIeee, true};
  const Format fnuz = {"fnuz", 8, 4, 3, -7, 0, Nonfinite::kNanMinusZero, true};
  for (const Family family : {Family::kFmaChain, Family::kPairwiseSum}) {
    for (const Subnormals small :
         {Subnormals::kKeep, Subnormals::kFlush, Subnormals::kFlushPositive}) {
      Algorithm alg = {.family = family,
                       .terms = family == Family::kFmaChain ? 1 : 2,
                       .output_rounding = Rounding::kNearestEven,
                       .output_fraction_bits = 23};
      alg.input_subnormals = small;
      alg.nan_rule = NanRule::kPropagate;
      const Model m = {fnuz, fnuz, kOut, kOut, 2, alg};
      if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
      ASSERT_TRUE(HasLanes(m));
      const Shape shape = {.m = 16, .n = 2, .k = 2, .blocks = 1};
      ExpectScalarWords(m, RandomBatch(m, shape, 100, random), "fnuz");
    }
  }
}

// Fused sums that differ from those of the table in several parameters: steps with a rest, floors far
// above the addend, addends that are subnormal or alone.
TEST(Lanes, FusedSumsOfManyParameters) {
  std::mt19937_64 random(5);
  const auto pick = [&](auto... choices) {
    const std::common_type_t<decltype(choices)...> all[] = {choices...};
    return all[random() % sizeof...(choices)];
  };
  const auto ops = DenseOperations();
  int models = 0;
  for (int round = 0; round < 3000; ++round) {
    Model m = ops[random() % ops.size()]->model;
    Algorithm& alg = m.algorithm;
    if (alg.family != Family::kFusedSum || !HasLanes(m)) continue;
    m.k = pick(1, 3, 8, 10, 16, 17);
    alg.terms = pick(1, 3, 4, 8, 16, 32);
    alg.fraction_bits = pick(2, 8, 13, alg.fraction_bits, 27);
    alg.exponent_floor = pick(kNoFloor, alg.exponent_floor, -133, 20, 100);
    alg.zero_sign = pick(ZeroSign::kIeee, ZeroSign::kPositive, ZeroSign::kSumPositive);
    alg.addend_exponent = pick(AddendExponent::kOwnFormat, AddendExponent::kOutputFormat);
    if (alg.grouping != Grouping::kConsecutive || !HasLanes(m)) continue;
    ++models;
    const Shape shape = {.m = 16, .n = 2, .k = m.k, .blocks = 1};
    Batch batch = RandomBatch(m, shape, 4, random);
    // Of some rows no product is left, and the addend is small.
    for (size_t row = 0; row < batch.a.size(); row += m.k) {
      if (random() % 2 == 0) continue;
      std::fill_n(&batch.a[row], m.k, random() % 2 << SignBit(m.a));
      for (int j = 0; j < 2; ++j) {
        uint64_t& c = batch.c[row / m.k * 2 + j];
        c = random() & LowBits(m.c.bits);
        if (random() % 2 == 0) c &= 1ull << SignBit(m.c) | LowBits(m.c.fraction_bits);
      }
    }
    for (size_t column = 0; column < batch.b.size(); column += m.k) {
      if (random() % 2 == 0) std::fill_n(&batch.b[column], m.k, 0);
    }
    ExpectScalarWords(m, batch, "fused sum " + std::to_string(round));
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(models, 500);
}

// Fused sums of formats that no row has: any exponents, and what is not finite or missing. Both kinds of float
// products, and formats at the limit between them.
TEST(Lanes, FusedSumsOfAnyFormats) {
  std::mt19937_64 random(8);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % (high - low + 1));
  };
  const auto pick = [&](auto... choices) {
    const std::common_type_t<decltype(choices)...> all[] = {choices...};
    return all[random() % sizeof...(choices)];
  };
  const auto format = [&] {
    const int exponent = between(1, 8), fraction = between(1, 11);
    const int least = between(0, 3) == 0 ? between(-140, 20) : 2 - (1 << (exponent - 1));
    const Nonfinite nonfinite = exponent < 2
                                    ? Nonfinite::kNone
                                    : pick(Nonfinite::kIeee, Nonfinite::kNone,
                                           Nonfinite::kNanAllOnes, Nonfinite::kNanMinusZero);
    const int ignored = between(0, 7) == 0 ? between(1, 12) : 0, bits = 1 + exponent + fraction;
    Format f = {"any", bits + ignored, exponent, fraction, least, ignored, nonfinite, true};
    f.has_zero = between(0, 7) != 0;
    return f;
  };
  const Format single = {"f32", 32, 8, 23, -126, 0, Nonfinite::kIeee, true};
  const Format half = {"f16", 16, 5, 10, -14, 0, Nonfinite::kIeee, true};
  int models = 0;
  for (int round = 0; round < 1500; ++round) {
    const Format d = pick(single, half);
    Algorithm alg = {
        .family = Family::kFusedSum,
        .terms = 1 << between(0, 5),
        .addend_joins =
            pick(AddendJoins::kFirstStep, AddendJoins::kFirstStep, AddendJoins::kLastAdd),
        .fraction_bits = between(1, 27),
        .exponent_floor = pick(kNoFloor, -300, -133, -60, -20, 0, 30, 100, 130, 300),
        .product_exponent =
            pick(ProductExponent::kRaw, ProductExponent::kRaw, ProductExponent::kAsF16),
        .addend_exponent = pick(AddendExponent::kOwnFormat, AddendExponent::kOutputFormat),
        .output_rounding = pick(Rounding::kTowardZero, Rounding::kNearestEven, Rounding::kDown,
                                Rounding::kUp, Rounding::kToOdd),
        .output_fraction_bits = d.fraction_bits,
        .zero_sign = pick(ZeroSign::kIeee, ZeroSign::kPositive, ZeroSign::kSumPositive)};
    alg.nan_rule = pick(NanRule::kAllOnes, NanRule::kQuietPositive, NanRule::kPropagate);
    if (between(0, 3) == 0) alg.output_fraction_bits = between(1, d.fraction_bits);
    const Model m = {format(), format(), pick(single, half), d, between(1, 33), alg};
    if (!HasLanes(m)) continue;
    ++models;
    const Shape shape = {.m = 16, .n = 2, .k = m.k, .blocks = 1};
    ExpectScalarWords(m, RandomBatch(m, shape, 4, random), "any formats " + std::to_string(round));
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(models, 700);
}

// Scaled rows without a floor, of which the scales may be the least: ue8m0 has no zero.
TEST(Lanes, ScaledSumsWithoutFloor) {
  std::mt19937_64 random(9);
  int models = 0;
  for (const Operation* op : DenseOperations()) {
    Model m = op->model;
    if (m.algorithm.family != Family::kScaledSum) continue;
    m.algorithm.exponent_floor = kNoFloor;
    for (const int bits : {1, 8, m.algorithm.fraction_bits}) {
      for (const Rounding rounding : {Rounding::kDown, Rounding::kNearestEven}) {
        m.algorithm.fraction_bits = bits;
        m.algorithm.output_rounding = rounding;
        if (!HasLanes(m)) continue;
        ++models;
        Batch batch = RandomBatch(m, Shaped(m, op->shape(), 16), 2, random);
        // All but one product of some rows are zeros.
        for (size_t row = 0; row < batch.a.size(); row += op->shape().row_words()) {
          if (random() % 2 == 0) std::fill_n(&batch.a[row + 1], m.k - 1, 0);
          for (int i = 0; i < m.scales(); ++i) batch.a[row + m.k + i] &= random() % 2;
        }
        ExpectScalarWords(m, batch, op->name + " without a floor");
      }
    }
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(models, 100);
}

// Sums of 32 bits, whose last bit says whether there is something left.
TEST(Lanes, FusedSumsOf32Bits) {
  std::mt19937_64 random(10);
  Model m = FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")->model;
  for (const Rounding rounding : {Rounding::kTowardZero, Rounding::kNearestEven, Rounding::kDown,
                                  Rounding::kUp, Rounding::kToOdd}) {
    m.algorithm.output_rounding = rounding;
    Batch batch;
    batch.Resize({.m = 16, .n = 2, .k = m.k, .blocks = 1}, 200);
    for (size_t row = 0; row < batch.a.size(); row += m.k) {
      std::fill_n(&batch.a[row], m.k, 0x7bff | (random() % 2 << 15));
      for (int few = static_cast<int>(random() % 3); few > 0; --few) {
        batch.a[row + random() % m.k] -= random() % 64;
      }
    }
    std::ranges::fill(batch.b, 0x7bff);
    for (uint64_t& c : batch.c) c = (random() & 0x807fffff) | (110 + random() % 50) << 23;
    ExpectScalarWords(m, batch, "32 bits");
  }
}

// Chains of f32 and f64 from numbers whose products and sums are near the least normal number, the largest one
// and each other, with every rule for subnormal numbers and NaNs.
Batch ChainBatch(const Model& m, std::mt19937_64& random) {
  Batch batch = RandomBatch(m, {.m = 16, .n = 2, .k = m.k, .blocks = 1}, 8, random);
  const auto some = [&](int n) { return random() % n == 0; };
  const auto of = [&](const Format& f, int exponent) {
    exponent = std::clamp(exponent + static_cast<int>(random() % 5) - 2,
                          f.min_exponent - f.fraction_bits, MaxExponent(f));
    const uint64_t fraction = some(3) ? ~0ull : some(2) ? random() : 0;
    const uint64_t word = Near(f, exponent, random);
    const uint64_t low = LowBits(f.fraction_bits);
    return (exponent < f.min_exponent ? word : (word & ~low) | (fraction & low)) |
           (some(2) ? 1ull << SignBit(f) : 0);
  };
  // In one execution NaNs of any payload meet, and infinities and zeros.
  const auto specials = [&](const Format& f, std::vector<uint64_t>& words, int64_t first,
                            int count) {
    const uint64_t sign = 1ull << SignBit(f), payload = LowBits(f.fraction_bits + f.ignored_bits);
    for (int i = 0; i < count; ++i) {
      uint64_t& word = words[first + i];
      if (some(3)) word = (random() & (payload | sign)) | InfinityWord(f, false);
      if (some(6)) word = InfinityWord(f, false) | (random() & sign);
      if (some(6)) word = random() & sign;
    }
  };
  if (HasInfinity(m.a) && HasInfinity(m.b)) {
    specials(m.a, batch.a, 16 * m.k, 16 * m.k);
    specials(m.b, batch.b, 2 * m.k, 2 * m.k);
    specials(m.c, batch.c, 32, 32);
  }
  for (int64_t execution = 0; execution < batch.count; execution += 2) {
    const bool tiny = some(4) || execution % 4 == 0;
    const int sum = tiny ? m.d.min_exponent : MaxExponent(m.d);
    const int of_a = std::clamp(sum / 2, m.a.min_exponent, MaxExponent(m.a));
    for (int x = 0; x < 16 * m.k; ++x) {
      if (!some(8)) batch.a[execution * 16 * m.k + x] = of(m.a, of_a);
    }
    for (int x = 0; x < 2 * m.k; ++x) {
      if (!some(8)) batch.b[execution * 2 * m.k + x] = of(m.b, sum - of_a);
    }
    for (int x = 0; x < 32; ++x) {
      if (!some(4)) batch.c[execution * 32 + x] = of(m.c, sum - static_cast<int>(random() % 3));
    }
  }
  return batch;
}

// Of an operation of this family with results of f32 or f64, and some parameters changed.
std::vector<Model> Changed(Family family, int count, std::mt19937_64& random) {
  std::vector<Model> models, found;
  for (const Operation* op : DenseOperations()) {
    const Model& m = op->model;
    const bool floats = m.d.fraction_bits == 23 || m.d.fraction_bits == 52;
    if (m.algorithm.family == family && floats && HasLanes(m)) found.push_back(m);
  }
  const auto pick = [&](auto... choices) {
    const std::common_type_t<decltype(choices)...> all[] = {choices...};
    return all[random() % sizeof...(choices)];
  };
  const auto small = [&] {
    return pick(Subnormals::kKeep, Subnormals::kFlush, Subnormals::kFlushPositive);
  };
  while (!found.empty() && static_cast<int>(models.size()) < count) {
    Model m = found[random() % found.size()];
    Algorithm& alg = m.algorithm;
    m.k = pick(1, 2, 3, 4, 9);
    if (family == Family::kPairwiseSum) {
      alg.terms = pick(1, 2, 4, 8);
      m.k = alg.terms * pick(1, 2, 3);
      alg.product_rounding = alg.terms == 1
                                 ? ProductRounding::kRounded
                                 : pick(ProductRounding::kRounded, ProductRounding::kExact);
      alg.addend_flush = pick(AddendFlush::kAtEntry, AddendFlush::kEveryStep);
      // Products of up to 24 bits.
      for (Format* f : {&m.a, &m.b}) {
        const int bits = pick(9, 10, 11);
        if (random() % 2 == 0) *f = {"any", 9 + bits, 8, bits, -126, 0, Nonfinite::kIeee, true};
      }
    }
    alg.input_subnormals = small();
    alg.addend_subnormals = small();
    alg.output_subnormals = small();
    alg.tininess = pick(Tininess::kBeforeRounding, Tininess::kAfterRounding);
    alg.output_rounding =
        pick(Rounding::kNearestEven, Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kDown,
             Rounding::kUp, Rounding::kToOdd);
    alg.nan_rule = pick(NanRule::kAllOnes, NanRule::kQuietPositive, NanRule::kPropagate,
                        NanRule::kPropagateBca);
    alg.range_overflow = pick(RangeOverflow::kInfinity, RangeOverflow::kIeee);
    if (family == Family::kFmaChain) {
      alg.order = pick(Order::kAscending, Order::kDescending);
      alg.addend_joins = pick(AddendJoins::kFirstStep, AddendJoins::kLastAdd);
      alg.grouping = alg.addend_joins == AddendJoins::kLastAdd
                         ? pick(Grouping::kConsecutive, Grouping::kEvenOdd)
                         : Grouping::kConsecutive;
    }
    if (HasLanes(m)) models.push_back(m);
  }
  return models;
}

void ExpectWordsOfManyParameters(Family family, int seed) {
  std::mt19937_64 random(seed);
  const std::vector<Model> models = Changed(family, 2500, random);
  for (size_t i = 0; i < models.size(); ++i) {
    ExpectScalarWords(models[i], ChainBatch(models[i], random), "model " + std::to_string(i));
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_EQ(models.size(), 2500u);
}
TEST(Lanes, ChainsOfManyParameters) { ExpectWordsOfManyParameters(Family::kFmaChain, 6); }
TEST(Lanes, PairwiseSumsOfManyParameters) { ExpectWordsOfManyParameters(Family::kPairwiseSum, 11); }

// Their least word is a power of two, below all normal floats.
TEST(Lanes, FactorsWithoutAZero) {
  std::mt19937_64 random(13);
  int tried = 0;
  for (const Family family : {Family::kFmaChain, Family::kPairwiseSum}) {
    for (Model m : Changed(family, 400, random)) {
      (random() % 2 == 0 ? m.a : m.b) = kUe8m0;
      if (!WhyInvalid(m).empty() || !HasLanes(m)) continue;
      Batch batch = RandomBatch(m, Shaped(m, {}, 16), 8, random);
      for (uint64_t& word : m.a.has_zero ? batch.b : batch.a) word &= -(random() % 4 != 0);
      ExpectScalarWords(m, batch, "model " + std::to_string(tried++));
    }
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(tried, 300);
}

// A caller may have changed how floats are rounded, and on x86 that subnormal ones are dropped.
TEST(Lanes, WhatAnyCallerSays) {
  std::mt19937_64 random(7);
  std::vector<Model> models = Changed(Family::kFmaChain, 60, random);
  std::ranges::copy(Changed(Family::kPairwiseSum, 60, random), std::back_inserter(models));
  for (const Operation* op : DenseOperations()) {
    if (op->model.algorithm.family == Family::kFusedSum) models.push_back(op->model);
  }
  for (const Model& m : models) {
    const Batch batch = m.algorithm.family == Family::kFusedSum
                            ? RandomBatch(m, Shaped(m, {}, 16), 4, random)
                            : ChainBatch(m, random);
    const std::vector<uint64_t> expected = Scalar(m, batch);
    const auto expect = [&](const std::string& what) {
      for (const LaneTarget& target : LaneTargets()) {
        if (target.LanesFor(target.WidthFor(m)) == 0) continue;
        std::vector<uint64_t> d(batch.dot_products());
        const int rounding = std::fegetround();
        target.Simulate(m, batch, d);
        ASSERT_EQ(std::fegetround(), rounding) << what << ", " << target.name;
        ASSERT_EQ(d, expected) << what << ", " << target.name;
      }
    };
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      expect("rounding " + std::to_string(mode));
      std::fesetround(FE_TONEAREST);
    }
#if defined(__x86_64__)
    constexpr unsigned kZerosOfSubnormals[] = {1 << 15, 1 << 6};  // of results, of operands
    const unsigned before = __builtin_ia32_stmxcsr();
    for (const unsigned bit : kZerosOfSubnormals) {
      __builtin_ia32_ldmxcsr(before | bit);
      expect("MXCSR bit " + std::to_string(bit));
      __builtin_ia32_ldmxcsr(before);
    }
#endif
  }
}

TEST(Lanes, ToyFormatsExhaustively) {
  ExpectToyWords(0);
  ExpectToyWords(-3);
}

#if defined(MMADIFF_EXPECTED_VECTORS)  // .ci/neon
TEST(Lanes, AreThoseExpected) {
  ASSERT_FALSE(LaneTargets().empty());
  EXPECT_EQ(LaneTargets()[0].name, std::string(MMADIFF_EXPECTED_VECTORS));
}
#endif

}  // namespace
}  // namespace mmadiff
