// Situations inside the arithmetic of a model that the inputs of a run should exercise: crosses of
// rows and columns, each cell a bin.
//
// A cell is in the list if some input is known to reach it, or if it is proved that none does.
// Otherwise the cell is not a bin, so that nothing waits for an input that may not exist.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/algorithm.h"

namespace mmadiff {

struct Bin {
  const char* group;        // name of the cross: "pairs"
  std::string row, column;  // `column` is empty if the group is a list
  uint64_t least;           // dot products that must reach it
  std::string
      unreachable;  // reason why no input of this model reaches it; empty if it must be reached

  std::string name() const;  // "pairs/nan/zero"
};

enum class BinGroup : uint8_t {
  kA,             // kind of each word of A, by its place in k (at most 16 of them)
  kB,             // the same for B
  kAddend,        // kind of c
  kScaleA,        // kind of a scale
  kScaleB,        //
  kPairs,         // kind of a against kind of b, at one k
  kNanFrom,       // the only reason for a NaN
  kAlignedBy,     // the term that set the alignment exponent of a step
  kProductGap,    // exponents of a product below the alignment's, by lost bits
  kAddendGap,     // the same for the addend
  kCarry,         // bits by which a sum of aligned terms is wider than its widest term
  kCancellation,  // bits by which it is narrower
  kRounding,      // the bits that rounding a sum dropped, by its sign
  kResult,        // kind of d
  kCount
};

// Kinds of words of floating-point formats and of integers.
enum WordKind { kPlusZero, kMinusZero, kSubnormal, kNormal, kInf, kNaN, kWordKinds };
enum IntegerKind { kZero, kPositive, kNegative, kLowest, kHighest, kIntegerKinds };
int KindOf(const Format& format, uint64_t word);

// Buckets of exponents and of bits: 0, 1, 2..3, 4..7, 8..15, 16..31, 32..63, 64 and more.
inline constexpr int kBuckets = 8;
int BucketOf(int n);  // n >= 0

// Rows of kNanFrom, kRounding and kResult.
enum NanReason {
  kNanInA,
  kNanInB,
  kNanInAddend,
  kNanInScale,
  kInfTimesZero,
  kInfMinusInf,
  kNanReasons
};
enum RoundedOff { kNothing, kBelowHalf, kHalfOverEven, kHalfOverOdd, kAboveHalf, kRoundedOffKinds };
enum ResultRow {
  kResultKinds = kWordKinds,   // then, for floating point:
  kOverflowed = kResultKinds,  // an infinity from finite terms
  kResultRows,
  kAboveRange = kIntegerKinds,  // for integers: the sum left the range of d
  kBelowRange,
  kIntegerResultRows
};

class BinTable {
 public:
  explicit BinTable(const Model& model);

  const std::vector<Bin>& bins() const { return bins_; }
  // Number of a cell's bin, -1 if it has no bin.
  int At(BinGroup cross, int row, int column = 0) const;

  int places() const { return places_; }  // places of k in kA, kB and kAlignedBy
  int PlaceOf(int k) const { return k * places_ / k_; }

 private:
  friend class BinLister;
  struct Grid {
    int columns = 0;
    std::vector<int16_t> bins;
  };

  int k_, places_;
  std::vector<Bin> bins_;
  std::array<Grid, static_cast<size_t>(BinGroup::kCount)> grids_;
};

// BinTable(model).bins(): in the order of UnitResult::coverage, the same for equal models.
std::vector<Bin> BinsOf(const Model& model);

}  // namespace mmadiff
