// The ranges of k of a plan's steps (sim/plan/plan.h).
#pragma once

#include <cstdint>
#include <vector>

namespace mmadiff {

// From `first` to `end` - 1.
struct Piece {
  int64_t first = 0, end = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};
// The k of one sum, in the order in which they are added.
using Pieces = std::vector<Piece>;

// How the k of a sum are divided. Ranges count along these: inside "strided 8 of 1", "every 4" takes
// k, k + 8, k + 16 and k + 24.
struct PlanRange {
  enum class Kind : uint8_t {
    kEvery,    // every N: N at a time, the last fewer
    kInto,     // into S of G: S ranges of whole blocks of G
    kStrided,  // strided S of G: range i has the blocks i, i + S, ... of G
    kAt,       // at K...: ranges begin at 0 and at each K
  };
  // kInto: ceil(ceil(K / G) / S) blocks in each; floor(floor(K / G) / S), the rest of K in the last;
  // or the whole blocks as equally as possible, the longer ranges first, and K mod G in the last
  // range, or in a range of its own if there are fewer than S.
  enum class Share : uint8_t { kCeil, kFloor, kEven };

  Kind kind = Kind::kEvery;
  int64_t size = 1;   // N or G
  int64_t count = 1;  // S
  Share share = Share::kCeil;
  bool fit = false;  // kEvery: half of K, rounded down, replaces N if N < K < 2 N
  int64_t last = 0;  // kEvery: the last range may have this many k; 0: at most N
  // kEvery: the rest, if more than N but less than 2 N, is halved. The first half is rounded up; or it
  // is rounded down, and up to a multiple of `unit` if that is not 0.
  bool halved = false;
  int64_t unit = 0;
  // kStrided: only whole groups of this many k are dealt to the ranges; the rest, fewer, goes to the
  // first range, after its blocks; 0: all are dealt.
  int64_t unrolled = 0;
  std::vector<int64_t> at;

  friend bool operator==(const PlanRange&, const PlanRange&) = default;
};

// The parts into which the range divides the pieces; none is empty.
std::vector<Pieces> PartsOf(const PlanRange& range, const Pieces& pieces);
// The pieces from position `first` to `end` - 1 of all their k, 0 <= first <= end <= CountOf(pieces).
Pieces Slice(const Pieces& pieces, int64_t first, int64_t end);
int64_t CountOf(const Pieces& pieces);

}  // namespace mmadiff
