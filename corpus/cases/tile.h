// What the generator fills: the operands of one execution, and the classes that fill them. Headers
// from here to boundary_*.h are one text for the host and for the kernels of resident.cu.
#pragma once

#include <cstdint>

#include "corpus/cases/composer.h"
#include "corpus/cases/random.h"
#include "sim/format.h"
#include "sim/instruction.h"

namespace mmadiff {

// What the generator knows of an instruction: its shape and formats.
struct TileKind {
  Shape shape;
  const Format *d, *a, *b, *c;
  const Format* scale;  // nullptr: no scales

  MMADIFF_HD TileKind(const Shape& s, const Format* fd, const Format* fa, const Format* fb,
                      const Format* fc, const Format* fs)
      : shape(s),
        d(fd),
        a(fa),
        b(fb),
        c(fc),
        scale(fs)
#if !defined(MMADIFF_ON_GPU)
        ,
        a_words_(*fa),
        b_words_(*fb),
        c_words_(*fc)
#endif
  {
  }
  TileKind(const Instruction& i)  // NOLINT: a view of an instruction
      : TileKind(i.shape, i.d, i.a, i.b, i.c, i.scale) {}

#if defined(MMADIFF_ON_GPU)
  MMADIFF_HD const WordFormat& a_words() const { return *a; }
  MMADIFF_HD const WordFormat& b_words() const { return *b; }
  MMADIFF_HD const WordFormat& c_words() const { return *c; }
#else
  const WordFormat& a_words() const { return a_words_; }
  const WordFormat& b_words() const { return b_words_; }
  const WordFormat& c_words() const { return c_words_; }

 private:
  WordFormat a_words_, b_words_, c_words_;
#endif
};

// Tiles lie together in the memory of a GPU, word by word, this many of them: threads that fill
// neighbouring tiles write side by side, and no more is fetched for one tile than two sectors a word.
inline constexpr int kInterleaved = 8;

// Words `step` apart. On a GPU this is always kInterleaved.
class Words {
 public:
  MMADIFF_HD Words(uint64_t* words, int step = 1) : at_(words) {  // NOLINT: words of a batch
#if defined(MMADIFF_ON_GPU)
    (void)step;
#else
    step_ = step;
#endif
  }
  MMADIFF_HD uint64_t& operator[](int i) const { return at_[i * step_]; }
  MMADIFF_HD uint64_t& operator*() const { return *at_; }
  MMADIFF_HD Words operator+(int i) const { return {at_ + i * step_, step_}; }
  MMADIFF_HD Words& operator+=(int i) { return *this = *this + i; }
  MMADIFF_HD int step() const { return step_; }

 private:
  uint64_t* at_;
#if defined(MMADIFF_ON_GPU)
  static constexpr int step_ = kInterleaved;
#else
  int step_;
#endif
};

// One execution, to be filled: a[rows][stride], b[columns][stride], c[results], all blocks of it; a
// row of A and a column of B are k elements and then their scales. The rows of A of all blocks
// share one structure, and so do the columns of B; their values differ.
struct Tile {
#if defined(MMADIFF_ON_GPU)
  TileKind instruction;
#else
  const TileKind& instruction;
#endif
  Words a, b, c;

  MMADIFF_HD int rows() const { return instruction.shape.blocks * instruction.shape.m; }
  MMADIFF_HD int columns() const { return instruction.shape.blocks * instruction.shape.n; }
  MMADIFF_HD int k() const { return instruction.shape.k; }
  MMADIFF_HD int scales() const { return instruction.shape.scales; }
  // Elements that share a scale; there must be scales.
  MMADIFF_HD int scale_block() const { return k() / scales(); }
  MMADIFF_HD int stride() const { return instruction.shape.row_words(); }
  MMADIFF_HD int results() const { return instruction.shape.d_words(); }
};

// Which classes follow each other in a stream (ClassNumber()). From kOneClass on: kOneClass + N has
// class number N alone.
enum class StrategyKind : uint8_t { kMixed, kBoundary, kBits, kOneClass };

// A kind of input with a name, counted in every run. A class that no case of
// a run was of is reported.
struct InputClass {
  const char* name;
  const char* what;
  void (*fill)(const Tile& tile, Random& random);
};

}  // namespace mmadiff
