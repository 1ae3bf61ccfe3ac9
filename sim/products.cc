#include "sim/products.h"

#include <algorithm>
#include <vector>

#include "sim/batch.h"
#include "sim/lanes/tile_model.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/word_check.h"

namespace mmadiff {
namespace {

constexpr int64_t kTileRows = 64, kTileColumns = 64;
constexpr int64_t kPortion = 1 << 15;  // words of a part, about: its batch stays in the cache

// Rows and columns of some executions.
struct Part {
  int64_t first, count, row, rows, column, columns;
};

class Parts {
 public:
  Parts(const Model& m, const Products& p)
      : p_(p),
        rows_(std::clamp<int64_t>(p.m, 1, kTileRows)),
        columns_(std::clamp<int64_t>(p.n, 1, kTileColumns)),
        each_(std::max<int64_t>(
            1, kPortion / ((rows_ + columns_) * (m.k + m.scales()) + 2 * rows_ * columns_))),
        down_((p.m + rows_ - 1) / rows_),
        across_((p.n + columns_ - 1) / columns_) {}

  int64_t count() const { return (p_.count + each_ - 1) / each_ * down_ * across_; }
  Part At(int64_t i) const {
    const int64_t first = i / (down_ * across_) * each_;
    const int64_t row = i / across_ % down_ * rows_, column = i % across_ * columns_;
    return {first,  std::min(each_, p_.count - first), row, std::min(rows_, p_.m - row),
            column, std::min(columns_, p_.n - column)};
  }

 private:
  const Products& p_;
  const int64_t rows_, columns_, each_, down_, across_;
};

// Whether rows follow one another without gaps, and matrices too.
template <class Matrix>
bool IsDense(const Stack<Matrix>& s, int64_t rows, int64_t columns) {
  return s.first.column_stride == 1 && (rows == 1 || s.first.row_stride == columns);
}

// `count` words, `step` apart. A constant step is a loop that compilers make vectors of.
template <class Word, class To>
[[gnu::always_inline]] inline void WidenBy(int64_t step, const unsigned char* from, int64_t count,
                                           To* to) {
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, from + i * step * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    to[i] = static_cast<To>(word);
  }
}
template <class Word, class To>
void Widen(const unsigned char* from, int64_t step, int64_t count, To* to) {
  step == 1 ? WidenBy<Word>(1, from, count, to) : WidenBy<Word>(step, from, count, to);
}

// `rows` x `columns` words of each of `count` matrices, to rows that begin `row_words` apart.
template <class To>
void Read(const Stack<Words>& from, int64_t count, int64_t rows, int64_t columns, int64_t row_words,
          To* to) {
  WithWord(from.first.bits, [&]<class Word>() {
    const bool dense = IsDense(from, rows, columns) && row_words == columns;
    const bool all = dense && (count == 1 || from.stride == rows * columns);
    const int64_t matrices = all ? 1 : count, runs = dense ? 1 : rows;
    const int64_t words = all ? count * rows * columns : dense ? rows * columns : columns;
    for (int64_t e = 0; e < matrices; ++e) {
      const Words matrix = from.At(e);
      for (int64_t i = 0; i < runs; ++i) {
        Widen<Word>(matrix.At(i, 0), matrix.column_stride, words, to + (e * rows + i) * row_words);
      }
    }
  });
}

void Write(const uint64_t* from, int64_t count, int64_t rows, int64_t columns,
           const Stack<MutableWords>& to) {
  WithWord(to.first.bits, [&]<class Word>() {
    for (int64_t e = 0; e < count; ++e) {
      const MutableWords matrix = to.At(e);
      for (int64_t i = 0; i < rows; ++i, from += columns) {
        unsigned char* at = matrix.At(i, 0);
        const int64_t step = matrix.column_stride * static_cast<int64_t>(sizeof(Word));
        for (int64_t j = 0; j < columns; ++j, at += step) {
          const Word word = static_cast<Word>(from[j]);
          std::memcpy(at, &word, sizeof(Word));
        }
      }
    }
  });
}

template <class Matrix>
Stack<Matrix> From(const Stack<Matrix>& s, int64_t first, int64_t i, int64_t j) {
  return {s.At(first).From(i, j), s.stride};
}
Stack<Words> Transposed(const Stack<Words>& s) { return {s.first.Transposed(), s.stride}; }

// `columns` columns of B from `column` on, of `count` executions, then their scales.
template <class To>
void ReadColumns(const Model& m, const Products& p, int64_t first, int64_t count, int64_t column,
                 int64_t columns, To* to) {
  const int row = m.k + m.scales();
  if (IsAbsent(m.b)) return std::fill_n(to, count * columns * row, 0), void();
  const auto read = [&](const Stack<Words>& b, int64_t words, To* at) {
    Read(From(Transposed(b), first, column, 0), count, columns, words, row, at);
  };
  read(p.b, m.k, to);
  if (m.scale_block != 0) read(p.scale_b, m.scales(), to + m.k);
}

// The same of one execution, in lanes of the model.
void TurnColumns(const TileModel& model, const Products& p, int64_t e, int64_t column, int columns,
                 LaneArray& to) {
  const Model& m = model.model();
  const int lanes = model.lanes();
  if (p.b.first.column_stride != 1 || m.k % lanes != 0 || m.scale_block != 0) {
    return model.bits() == 32 ? ReadColumns(m, p, e, 1, column, columns, to.As<uint32_t>())
                              : ReadColumns(m, p, e, 1, column, columns, to.As<uint64_t>());
  }
  for (int k = 0; k < m.k; k += lanes) {
    model.Turn(p.b.At(e).From(k, column), columns, m.k,
               static_cast<unsigned char*>(to.data()) + k * (model.bits() / 8));
  }
}

// As a batch.
void RunBatch(const Model& m, const Products& p, const Part& part) {
  Batch batch;
  const int row = m.k + m.scales();
  batch.Resize(Shape{static_cast<int>(part.rows), static_cast<int>(part.columns), m.k, 1,
                     m.scales(), m.groups()},
               part.count);
  const auto read = [&](const Stack<Words>& from, int64_t column, int64_t columns,
                        int64_t row_words, uint64_t* to) {
    Read(From(from, part.first, part.row, column), part.count, part.rows, columns, row_words, to);
  };
  read(p.a, 0, m.k, row, batch.a.data());
  if (m.scale_block != 0) read(p.scale_a, 0, m.scales(), row, batch.a.data() + m.k);
  ReadColumns(m, p, part.first, part.count, part.column, part.columns, batch.b.data());
  if (p.c.first.data != nullptr) {
    read(p.c, part.column, part.columns, part.columns, batch.c.data());
  }
  if (p.metadata.first.data != nullptr && IsSparse(m)) {
    read(p.metadata, 0, m.groups(), m.groups(), batch.metadata.data());
  }
  std::vector<uint64_t> d(batch.dot_products());
  Simulate(m, batch, d);
  Write(d.data(), part.count, part.rows, part.columns,
        From(p.d, part.first, part.row, part.column));
}

// Whether the rows of the part fill panels, and their words follow one another.
bool AreTiles(const TileModel& model, const Products& p, const Part& part) {
  const auto follow = [](const auto& s) {
    return s.first.data == nullptr || s.first.column_stride == 1;
  };
  return model.lanes() > 1 && part.rows % model.lanes() == 0 && follow(p.a) && follow(p.c) &&
         follow(p.d) && follow(p.scale_a);
}

// Without a copy that has 64 bits for each word.
void RunTiles(const TileModel& model, const Products& p, const Part& part) {
  const Model& m = model.model();
  const int lanes = model.lanes(), row = m.k + m.scales(), bytes = model.bits() / 8;
  const int panels = static_cast<int>(part.rows / lanes), columns = static_cast<int>(part.columns);
  LaneArray a(part.rows * row, model.bits()), sums(part.rows * columns, model.bits());
  LaneArray b(part.columns * row, model.bits());
  const auto tiles = model.Tiles(m.k, panels, columns, false);
  const auto panel_of = [&](LaneArray& of, int panel, int words, int word) {
    return static_cast<unsigned char*>(of.data()) + (panel * words + word) * lanes * bytes;
  };
  for (int64_t e = part.first; e < part.first + part.count; ++e) {
    if (p.c.first.data == nullptr) sums.Fill(0);
    for (int i = 0; i < panels; ++i) {
      const int64_t first = part.row + i * lanes;
      model.Turn(p.a.At(e).From(first, 0), m.k, lanes, panel_of(a, i, row, 0));
      if (m.scale_block != 0) {
        model.Turn(p.scale_a.At(e).From(first, 0), m.scales(), lanes, panel_of(a, i, row, m.k));
      }
      if (p.c.first.data == nullptr) continue;
      model.Turn(p.c.At(e).From(first, part.column), columns, lanes, panel_of(sums, i, columns, 0));
    }
    TurnColumns(model, p, e, part.column, columns, b);
    tiles->Add({.a = a.data(), .b = b.data(), .sums = sums.data()});
    for (int i = 0; i < panels; ++i) {
      model.TurnBack(panel_of(sums, i, columns, 0), columns,
                     p.d.At(e).From(part.row + i * lanes, part.column));
    }
  }
}

// WhyNotWords() of each of `count` matrices.
std::string WhyNotStack(const char* name, const Format& format, const Stack<Words>& words,
                        int64_t count, int64_t rows, int64_t columns) {
  if (words.stride == 0 || words.first.bits == format.bits) count = std::min<int64_t>(count, 1);
  for (int64_t e = 0; e < count; ++e) {
    const std::string why = WhyNotWords(name, format, words.At(e), rows, columns);
    if (!why.empty()) return why + (count > 1 ? " of product " + std::to_string(e) : "");
  }
  return "";
}

std::string WhyNotSparseRows(const Instruction& instruction, const Products& p) {
  if (!instruction.sparse()) return "";
  const Shape& s = instruction.shape;
  const bool given = p.metadata.first.data != nullptr;
  if (given) {
    const std::string why = WhyNotBits("metadata", kU4, true, p.metadata.first.bits);
    if (!why.empty()) return why;
  }
  const auto read = [](const Words& row, int64_t words, uint64_t* to) {
    Read({row, 0}, 1, 1, words, words, to);
  };
  std::vector<uint64_t> row(s.row_words()), metadata(given ? s.groups : 0);
  for (int64_t e = 0; e < p.count; ++e) {
    for (int64_t i = 0; i < p.m; ++i) {
      read(p.a.At(e).From(i, 0), s.k, row.data());
      if (given) read(p.metadata.At(e).From(i, 0), s.groups, metadata.data());
      std::string why = WhyUndefined(instruction, metadata);
      if (why.empty()) why = WhyNotSparse(instruction, row, metadata);
      if (why.empty()) continue;
      return "row " + std::to_string(i) + " of A" +
             (p.count > 1 ? " of product " + std::to_string(e) : "") + ": " + why;
    }
  }
  return "";
}

}  // namespace

std::string WhyNotProducts(const Instruction& instruction, const Products& p) {
  const int64_t k = instruction.shape.k, scales = instruction.shape.scales;
  if (p.count < 0 || p.m < 0 || p.n < 0) return "count, m and n must not be negative";
  const Format& scale = instruction.scale == nullptr ? kAbsent : *instruction.scale;
  const struct {
    bool read;
    const char* name;
    const Format& format;
    const Stack<Words>& words;
    int64_t rows, columns;
  } operands[] = {
      {true, "A", *instruction.a, p.a, p.m, k},
      {!IsAbsent(*instruction.b), "B", *instruction.b, p.b, k, p.n},
      {p.c.first.data != nullptr, "C", *instruction.c, p.c, p.m, p.n},
      {scales > 0, "scale_a", scale, p.scale_a, p.m, scales},
      {scales > 0, "scale_b", scale, p.scale_b, scales, p.n},
  };
  for (const auto& [read, name, format, words, rows, columns] : operands) {
    const std::string why = read ? WhyNotStack(name, format, words, p.count, rows, columns) : "";
    if (!why.empty()) return why;
  }
  const MutableWords& d = p.d.first;
  const bool writes = p.count > 0 && p.m > 0 && p.n > 0;
  const std::string why =
      writes ? WhyNotBits("D", *instruction.d, d.data != nullptr, d.bits) : std::string();
  return why.empty() ? WhyNotSparseRows(instruction, p) : why;
}

std::string WhyNotSparseA(const Instruction& instruction, const Products& p) {
  const std::string why = WhyNotStack("A", *instruction.a, p.a, p.count, p.m, instruction.shape.k);
  return why.empty() ? WhyNotSparseRows(instruction, p) : why;
}

void PutMetadata(const Instruction& instruction, const Products& p, const Stack<MutableWords>& to) {
  const Shape& s = instruction.shape;
  DotProductCase row;
  row.a.resize(s.row_words());
  for (int64_t e = 0; e < p.count; ++e) {
    for (int64_t i = 0; i < p.m; ++i) {
      Read({p.a.At(e).From(i, 0), 0}, 1, 1, s.k, s.k, row.a.data());
      Write(StoredMetadata(s, row).data(), 1, 1, s.groups, {to.At(e).From(i, 0), 0});
    }
  }
}

void Simulate(const Model& model, const Products& products, const Threads& threads) {
  RequireModel(model);
  const Parts parts(model, products);
  const TileModel tiles(model, true);
  ForEachPart(parts.count(), threads, [&](int64_t i, const Poll&) {
    const Part part = parts.At(i);
    AreTiles(tiles, products, part) ? RunTiles(tiles, products, part)
                                    : RunBatch(model, products, part);
  });
}

}  // namespace mmadiff
