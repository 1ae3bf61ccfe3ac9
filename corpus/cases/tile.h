// The operands of one execution, and the input classes that fill them. The host and the kernels of
// resident.cu share the text of the headers from this one to boundary_*.h.
#pragma once

#include <cstdint>

#include "corpus/cases/composer.h"
#include "corpus/cases/random.h"
#include "sim/format.h"
#include "sim/instruction.h"

namespace mmadiff {

// The properties of an instruction that the generator needs: its shape and formats.
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

// On a GPU, this many tiles are interleaved in memory word by word. Threads that fill neighboring
// tiles write to adjacent addresses, and a tile needs at most two sectors per word.
inline constexpr int kInterleaved = 8;

// Words `step` apart. On a GPU this is always kInterleaved.
class TileWords {
 public:
  MMADIFF_HD TileWords(uint64_t* words, int step = 1) : at_(words) {  // NOLINT: words of a batch
#if defined(MMADIFF_ON_GPU)
    (void)step;
#else
    step_ = step;
#endif
  }
  MMADIFF_HD uint64_t& operator[](int i) const { return at_[i * step_]; }
  MMADIFF_HD uint64_t& operator*() const { return *at_; }
  MMADIFF_HD TileWords operator+(int i) const { return {at_ + i * step_, step_}; }
  MMADIFF_HD TileWords& operator+=(int i) { return *this = *this + i; }
  MMADIFF_HD int step() const { return step_; }

 private:
  uint64_t* at_;
#if defined(MMADIFF_ON_GPU)
  static constexpr int step_ = kInterleaved;
#else
  int step_;
#endif
};

// One execution to be filled: a[rows][stride], b[columns][stride], c[results], for all blocks. A
// row of A and a column of B are k elements followed by their scales. The rows of A of all blocks
// share one structure, and so do the columns of B; their values differ.
struct Tile {
#if defined(MMADIFF_ON_GPU)
  TileKind instruction;
#else
  const TileKind& instruction;
#endif
  TileWords a, b, c;

  MMADIFF_HD bool is_conversion() const { return IsAbsent(*instruction.b); }
  MMADIFF_HD int rows() const { return instruction.shape.blocks * instruction.shape.m; }
  MMADIFF_HD int columns() const { return instruction.shape.blocks * instruction.shape.n; }
  MMADIFF_HD int k() const { return instruction.shape.k; }
  MMADIFF_HD int scales() const { return instruction.shape.scales; }
  // Elements that share a scale. Requires scales.
  MMADIFF_HD int scale_block() const { return k() / scales(); }
  MMADIFF_HD int stride() const { return instruction.shape.row_words(); }
  MMADIFF_HD int results() const { return instruction.shape.d_words(); }
};

// The sequence of classes in a stream (ClassNumber()). Values from kOneClass on mean a single
// class: kOneClass + N has only class number N.
enum class StrategyKind : uint8_t { kMixed, kBoundary, kBits, kOneClass };

// A named kind of input, counted in every run. A run reports classes that it had no case of.
struct InputClass {
  const char* name;
  const char* what;
  void (*fill)(const Tile& tile, Random& random);
};

}  // namespace mmadiff
