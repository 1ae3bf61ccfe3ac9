// The lanes give the words of the scalar simulator: every model and every neighbour of it, and toy
// formats exhaustively, in every kind of vectors that this machine has.
#include "sim/lanes/lanes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// The words of one dot product after the other, which lanes never touch.
std::vector<uint64_t> Scalar(const Model& m, const Batch& batch) {
  std::vector<uint64_t> d(batch.dot_products());
  for (int64_t i = 0; i < batch.dot_products(); ++i) d[i] = Simulate(m, Extract(batch, i));
  return d;
}

void ExpectScalarWords(const Model& m, const Batch& batch, const std::string& what) {
  const std::vector<uint64_t> expected = Scalar(m, batch);
  for (const LaneTarget& target : LaneTargets()) {
    std::vector<uint64_t> d(batch.dot_products(), ~0ull);
    target.simulate(m, batch, d);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      ASSERT_EQ(d[i], expected[i]) << what << ", " << target.name << ", dot product " << i;
    }
  }
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
      word = sign | (HasInfinity(f) && random() % 4 == 0 ? InfinityWord(f, false) : fraction);
      break;
    default:
      word = f.exponent_bits < 3 || !f.has_zero
                 ? bits
                 : sign | fraction | (random() % 4 + (1ull << (f.exponent_bits - 1)) - 3) << low;
  }
}

// Rows of m.k elements and their scales. In some, all elements are about the same and large, so that
// sums become as long as they can; in some, all are zeros of one sign.
void FillRows(const Model& m, const Format& f, const Shape& s, std::mt19937_64& random,
              std::vector<uint64_t>& words) {
  const int low = f.fraction_bits + f.ignored_bits;
  const uint64_t full =
      IsInteger(f) ? LowBits(f.bits - 1) : (1ull << (f.exponent_bits - 1) << low) - 1;
  for (size_t row = 0; row < words.size(); row += s.row_words()) {
    const uint64_t kind = random() % 6;
    const uint64_t sign = f.is_signed && random() % 2 == 0 ? 1ull << SignBit(f) : 0;
    for (int k = 0; k < s.row_words(); ++k) {
      uint64_t& word = words[row + k];
      if (kind == 0 && k < m.k) {
        word = sign;
      } else if (kind <= 2 && k < m.k) {
        word = sign | (full - (full != 0 && random() % 4 == 0));
      } else {
        Fill(k < m.k ? f : m.scale, random, word);
      }
    }
  }
}

Batch RandomBatch(const Model& m, const Shape& shape, int64_t executions, std::mt19937_64& random) {
  Batch batch;
  batch.Resize(shape, executions);
  FillRows(m, m.a, shape, random, batch.a);
  FillRows(m, m.b, shape, random, batch.b);
  for (uint64_t& word : batch.c) Fill(m.c, random, word);
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
  int models = 0;
  for (const Operation* op : DistinctOperations()) {
    if (!HasLanes(op->model)) continue;
    families.insert(op->model.algorithm.family);
    const auto check = [&](const Model& m, int64_t words, const std::string& what) {
      ++models;
      const int64_t tall = std::max<int64_t>(1, words / 64), flat = std::max<int64_t>(6, words / 6);
      ExpectScalarWords(m, RandomBatch(m, Shaped(m, op->shape(), 32), tall, random), what);
      ExpectScalarWords(m, RandomBatch(m, Shaped(m, op->shape(), 3), flat, random), what);
    };
    check(op->model, 600, op->name);
    for (const Neighbour& n : Neighbours(op->model)) {
      Model other = op->model;
      other.algorithm = n.algorithm;
      if (HasLanes(other)) check(other, 128, op->name + ":" + n.name);
    }
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_EQ(families, (std::set<Family>{Family::kFmaChain, Family::kPairwiseSum, Family::kFusedSum,
                                        Family::kScaledSum, Family::kIntegerDot}));
  EXPECT_GT(models, 1500);
}

// Every pair of operands beside every addend, with every rounding and treatment of small numbers.
// Products of one format lie about the output's range, those of the other below.
void ExpectToyWords(int min_exponent) {
  const Format kToy = {"toy", 4, 2, 1, min_exponent, 0, Nonfinite::kIeee, true};
  constexpr Format kOut = {"toy_out", 6, 3, 2, -2, 0, Nonfinite::kIeee, true};
  constexpr int kWords = 16, kAddends = 1 << kOut.bits;
  Batch batch;
  batch.Resize({.m = kWords * kWords, .n = kWords, .k = 2, .blocks = 1}, kAddends);
  for (int64_t c = 0, i = 0; c < kAddends; ++c) {
    for (int row = 0; row < kWords * kWords; ++row) {
      batch.a[(c * kWords * kWords + row) * 2] = row / kWords;
      batch.a[(c * kWords * kWords + row) * 2 + 1] = row % kWords;
      for (int j = 0; j < kWords; ++j) batch.c[i++] = c;
    }
    for (int j = 0; j < kWords; ++j) {
      batch.b[(c * kWords + j) * 2] = j;
      batch.b[(c * kWords + j) * 2 + 1] = (j * 7 + c) % kWords;
    }
  }
  for (const Family family : {Family::kFusedSum, Family::kFmaChain, Family::kPairwiseSum}) {
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
        if (family != Family::kFusedSum) {
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

TEST(Lanes, ToyFormatsExhaustively) {
  ExpectToyWords(0);
  ExpectToyWords(-3);
}

}  // namespace
}  // namespace mmadiff
