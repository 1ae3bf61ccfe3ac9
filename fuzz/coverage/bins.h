// What the inputs of a run should have met inside the arithmetic of a model: crosses of rows and
// columns, each cell a bin.
//
// A cell is in the list if some input is known to reach it, or if it is proved that none does. Where
// neither is known, the cell is no bin: nothing waits for what may not exist.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/algorithm.h"

namespace mmadiff {

struct Bin {
  const char* group;        // of the cross: "pairs"
  std::string row, column;  // `column` is empty where the group is a list
  uint64_t least;           // dot products that must reach it
  std::string unreachable;  // why no input of this model reaches it; empty: it must be reached

  std::string name() const;  // "pairs/nan/zero"
};

enum class BinGroup : uint8_t {
  kA,             // kind of each word of A, by its place in k (at most 16 of them)
  kB,             // of B
  kAddend,        // kind of c
  kScaleA,        // kind of a scale
  kScaleB,        //
  kPairs,         // kind of a against kind of b, at one k
  kNanFrom,       // the one reason for a NaN
  kAlignedBy,     // who set the alignment exponent of a step
  kProductGap,    // exponents of a product below the alignment's, by bits that it lost
  kAddendGap,     // of the addend
  kCarry,         // bits that a sum of aligned terms has more than its widest term
  kCancellation,  // fewer
  kRounding,      // what the rounding of a sum dropped, by its sign
  kResult,        // kind of d
  kCount
};

// Kinds of a word: of floating-point formats, and of integers.
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
  kResultKinds = kWordKinds,   // then, of floating point:
  kOverflowed = kResultKinds,  // an infinity from finite terms
  kResultRows,
  kAboveRange = kIntegerKinds,  // of integers: the sum left the range of d
  kBelowRange,
  kIntegerResultRows
};

class BinTable {
 public:
  explicit BinTable(const Model& model);

  const std::vector<Bin>& bins() const { return bins_; }
  // Number of a cell's bin, -1 if it has none.
  int At(BinGroup cross, int row, int column = 0) const;

  int places() const { return places_; }  // of k in kA, kB and kAlignedBy
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
