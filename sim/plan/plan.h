// A plan: the order in which a kernel multiplies and adds, in one line of text. With the arithmetic
// of its instruction it determines every bit of a matrix product.
//
//   sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: fma (a*b) | bf16
//
//   PLAN     := OPERATION ['unfused'] ['from c'] {'|' STAGE} '|' EPILOGUE
//   STAGE    := 'residue' N | 'cut' N | 'tail' N ['unfused'] | RANGE ':' JOIN
//   RANGE    := 'every' N ['halved' [U] | 'last' M | 'fit'] | 'into' S 'of' G ['floor' | 'even']
//               | 'strided' S 'of' G ['unrolled' U] | 'at' K...
//   JOIN     := ('add' | 'fma (a*b)' | 'fma a*b' | 'tree' | 'pairs' {D})
//               ['from zero'] ['as' F] ['held' F]
//   EPILOGUE := ['alpha'] ['beta'] ['bias'] FORMAT
// The operation adds consecutive k, each result being the next addend; the first addend is +0, or C.
// Missing k are +0. Each stage says over which ranges of k the sums before it are taken, and how they
// are joined, the innermost stage first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/operation.h"

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

// How the sums of the ranges, in order, become one. Multiply-adds take their operands in the order
// that is written here (part * 1 + sum for a sum): it decides which of several NaNs is propagated.
// The scales of a part are those at its first k.
struct PlanJoin {
  enum class Kind : uint8_t {
    kAdd,            // add: part + sum
    kScaled,         // fma (a*b): (scale of a * scale of b, rounded) * part + sum
    kScaledInTurns,  // fma a*b: (scale of a * part, rounded) * scale of b + sum
    kTree,           // tree: part i + part (i + half), where half is rounded up, until one is left
    kPairs,          // pairs: part 2 i + part (2 i + 1), until one is left
  };
  Kind kind = Kind::kAdd;
  // kPairs of S strided ranges: first those that are distances[0] apart, then distances[1]..., each
  // power of two below S once; empty: 1, 2, 4...
  std::vector<int64_t> distances = {};
  // Begins with +0 instead of the first part: always so if scaled, never in a tree.
  bool from_zero = false;
  const Format* as = nullptr;    // each part is rounded to this format first
  const Format* held = nullptr;  // every sum is rounded to this format (the first part too, but not
                                 // a part of a tree)

  friend bool operator==(const PlanJoin&, const PlanJoin&) = default;
};

// A range and its join; or a tail: the operation adds the last K mod `tail` products, in order, to the
// sum of the others.
struct PlanStage {
  PlanRange range;
  PlanJoin join;
  int64_t tail = 0;           // 0: not a tail
  bool tail_unfused = false;  // each product of the tail is rounded before it is added
  friend bool operator==(const PlanStage&, const PlanStage&) = default;
};

// From the sum to D: sum * alpha + (C * beta, rounded); bias + that; rounded to the format.
struct Epilogue {
  bool alpha = false, beta = false, bias = false;
  const Format* format = nullptr;
  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

struct Plan {
  const Operation* operation = nullptr;
  // A multiply-add rounds its product, then the sum: two instructions. NaNs lose their payloads.
  bool unfused = false;
  bool from_c = false;  // the first addend is C; only without stages that join
  int64_t cut = 0;      // the last K mod `cut` products are lost; 0: none are
  // Executions first take K mod `residue` products of each range (or `residue` if that is 0), then the
  // others; 0: they do not.
  int64_t residue = 0;
  std::vector<PlanStage> stages;
  Epilogue epilogue;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// nullopt and a message of one line if the text is not a plan, or if the operation cannot execute it.
std::optional<Plan> ParsePlan(std::string_view text, std::string* error);

// Parses to the same plan.
std::string PlanText(const Plan& plan);

// Whether executions of both compute the same.
bool SameArithmetic(const Plan& x, const Plan& y);

// Why the plan cannot be executed; empty if it can.
std::string WhyNoPlan(const Plan& plan);

// The parts into which the range divides the pieces; none is empty.
std::vector<Pieces> PartsOf(const PlanRange& range, const Pieces& pieces);
// The pieces from position `first` to `end` - 1 of all their k, 0 <= first <= end <= CountOf(pieces).
Pieces Slice(const Pieces& pieces, int64_t first, int64_t end);
int64_t CountOf(const Pieces& pieces);

// The multiply-add of joins: fma.rn of the architecture in the format of the operation's results;
// where the tables lack it, one of IEEE 754 with the operation's NaN rule.
Model MultiplyAddOf(const Operation& operation);

}  // namespace mmadiff
