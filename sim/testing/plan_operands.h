// Operands of plans for tests: rows of different kinds, products that cancel, scales, C; alpha and
// beta are 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "sim/batch.h"
#include "sim/plan/matrices.h"
#include "sim/reference/random_word.h"

namespace mmadiff {

// What the words of a row of A or of a column of B are.
enum class Fill { kNearOne, kWide, kAny, kSpecials, kZeros, kSubnormals, kPowers };

inline uint64_t WordFor(const Format& f, Fill fill, reference::Random& random) {
  if (IsInteger(f)) return reference::RandomInteger(f, random);
  switch (fill) {
    case Fill::kNearOne:
      return reference::WordOfExponent(f, reference::Between(random, -2, 2), random(), random);
    case Fill::kWide:
      return reference::WordOfExponent(
          f, reference::Between(random, f.min_exponent - 4, MaxExponent(f)),
          reference::RandomFraction(f, random), random);
    case Fill::kAny:
      return reference::RandomWord(f, random);
    case Fill::kSpecials:
      return reference::OneIn(random, 100) ? reference::SpecialWord(f, random)
                                           : WordFor(f, Fill::kNearOne, random);
    case Fill::kZeros:
      return reference::OneIn(random, 64) ? WordFor(f, Fill::kWide, random)
                                          : reference::ZeroOfSign(f, reference::OneIn(random, 2));
    case Fill::kSubnormals:
      return reference::WordOfExponent(f, f.min_exponent - reference::Between(random, 0, 4),
                                       random(), random);
    case Fill::kPowers:
      return reference::WordOfExponent(f, reference::Between(random, -12, 12), 0, random);
  }
  return 0;
}

// Few lines are of any bits, which hold NaNs.
inline Fill RandomFill(reference::Random& random) {
  constexpr Fill kFills[] = {Fill::kNearOne, Fill::kNearOne,    Fill::kWide,   Fill::kNearOne,
                             Fill::kZeros,   Fill::kSubnormals, Fill::kPowers, Fill::kSpecials};
  return reference::OneIn(random, 16) ? Fill::kAny : kFills[random() % std::size(kFills)];
}

// Row after row of 64-bit words.
struct Table {
  Table(int64_t rows, int64_t columns) : columns(columns), words(rows * columns) {}
  uint64_t& at(int64_t i, int64_t j) { return words[i * columns + j]; }
  uint64_t at(int64_t i, int64_t j) const { return words[i * columns + j]; }
  Words view() const {
    return {reinterpret_cast<const unsigned char*>(words.data()), columns, 1, 64};
  }
  int64_t columns;
  std::vector<uint64_t> words;
};

inline Table RandomRows(int64_t rows, int64_t columns, const Format& f, reference::Random& random) {
  Table table(rows, columns);
  for (int64_t i = 0; i < rows; ++i) {
    const Fill fill = RandomFill(random);
    for (int64_t j = 0; j < columns; ++j) table.at(i, j) = WordFor(f, fill, random);
  }
  return table;
}

inline uint64_t OneOf(const Format& f) {
  return IsInteger(f) ? 1 : static_cast<uint64_t>(-f.min_exponent + 1) << f.fraction_bits;
}

// A product of `rows` rows and columns; alpha and beta are 1.
struct Operands {
  Operands(const Plan& plan, int64_t rows, int64_t k, reference::Random& random)
      : m(plan.operation->model),
        size(rows),
        k(k),
        a(RandomRows(rows, k, m.a, random)),
        b(RandomRows(rows, k, m.b, random)),
        c(RandomRows(rows, rows, m.d, random)),
        scale_a(RandomRows(rows, Blocks(), Scale(), random)),
        scale_b(RandomRows(rows, Blocks(), Scale(), random)) {
    if (reference::OneIn(random, 2)) Cancel(random);
    q.m = q.n = rows;
    q.k = k;
    q.a = a.view();
    q.b = b.view().Transposed();
    q.c = c.view();
    q.a_format = &m.a;
    q.b_format = &m.b;
    q.alpha = q.beta = OneOf(m.d);
    q.block_scale_a = {scale_a.view(), 1, std::max(m.scale_block, 1)};
    q.block_scale_b = {scale_b.view(), 1, std::max(m.scale_block, 1)};
  }

  int64_t Blocks() const {
    return m.scale_block == 0 ? 1 : (k + m.scale_block - 1) / m.scale_block;
  }
  const Format& Scale() const { return m.scale_block == 0 ? kUe8m0 : m.scale; }

  // Some products get the opposite of another one.
  void Cancel(reference::Random& random) {
    if (!m.a.is_signed || IsInteger(m.a)) return;
    for (int64_t n = 0; n < k / 2; ++n) {
      const int64_t from = random() % k, to = random() % k;
      for (int64_t i = 0; i < size; ++i) {
        a.at(i, to) = reference::Negate(m.a, a.at(i, from));
        b.at(i, to) = b.at(i, from);
      }
    }
  }

  // The same as executions of a model of its first products.
  Batch BatchFor(const Model& model) const {
    const int rows = static_cast<int>(size);
    Batch batch;
    batch.Resize({rows, rows, model.k, 1, model.scales()}, 1);
    const auto copy = [&](const Table& from, const Table& scales, std::vector<uint64_t>& to) {
      for (int64_t i = 0; i < size; ++i) {
        uint64_t* const row = to.data() + i * (model.k + model.scales());
        for (int64_t p = 0; p < model.k; ++p) row[p] = from.at(i, p);
        for (int64_t p = 0; p < model.scales(); ++p) row[model.k + p] = scales.at(i, p);
      }
    };
    copy(a, scale_a, batch.a);
    copy(b, scale_b, batch.b);
    batch.c = IsAbsent(model.c) ? std::vector<uint64_t>(c.words.size()) : c.words;
    return batch;
  }

  const Model& m;
  int64_t size, k;
  Table a, b, c, scale_a, scale_b;
  Matrices q;
};

}  // namespace mmadiff
