// A plan: the order in which a kernel multiplies and adds, in one line of text. With the arithmetic
// of its instruction it determines every bit of a matrix product.
//
//   sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: fma (a*b) | bf16
//
//   PLAN     := OPERATION ['unfused'] ['from c'] {'|' STAGE} ['|' RESULT] '|' FORMAT
//   STAGE    := 'residue' N | 'cut' N | 'tail' N ['unfused'] | RANGE ':' JOIN
//   RANGE    := 'every' N ['halved' [U] | 'last' M | 'fit'] | 'into' S 'of' G ['floor' | 'even']
//               | 'strided' S 'of' G ['unrolled' U] | 'at' K...
//   JOIN     := ('add' | 'fma (a*b)' | 'fma a*b' | 'add alpha' | 'fma alpha' | 'tree' | 'pairs' {D})
//               ['from' ('zero' | 'c' | 'beta*c' | 'fma beta*c')] ['as' F] ['held' F]
//   RESULT   := ('sum' | 'alpha*sum' | 'sum + beta*c' | 'fma(beta, c, sum)' | 'alpha*sum + beta*c'
//               | 'fma(alpha, sum, beta*c)' | 'fma(beta, c, alpha*sum)'
//               | '(a*b)*sum' | 'b*(a*sum)' | 'a*(b*sum)') ['+ bias']
//               | 'fma(a*b, sum, bias)' | 'fma(b, a*sum, bias)' | 'fma(a, b*sum, bias)'
// In joins and results, a and b are scales of A and B.
// The operation adds consecutive k, each result being the next addend; the first addend is +0, or C.
// Missing k are +0. Each stage says over which ranges of k the sums before it are taken, and how they
// are joined, the innermost stage first. RESULT makes D of the last sum: each product outside fma()
// is rounded, and so is each addition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/operation.h"
#include "sim/plan/ranges.h"

namespace mmadiff {

// How the sums of the ranges, in order, become one. Multiply-adds take their operands in the order
// that is written here (part * 1 + sum for a sum): it decides which of several NaNs is propagated.
// The scales of a part are those at its first k. Joins with scales or alpha begin with +0, trees and
// "add" with the first part, unless `start` says otherwise.
struct PlanJoin {
  enum class Kind : uint8_t {
    kAdd,            // add: part + sum
    kScaled,         // fma (a*b): (scale of a * scale of b, rounded) * part + sum
    kScaledInTurns,  // fma a*b: (scale of a * part, rounded) * scale of b + sum
    // Strided ranges without products keep their places in both, as lanes of +0 that are not added.
    kTree,        // tree: part i + part (i + half), where half is rounded up, until one is left
    kPairs,       // pairs: part 2 i + part (2 i + 1), until one is left
    kAlpha,       // add alpha: (part * alpha, rounded) + sum
    kFusedAlpha,  // fma alpha: part * alpha + sum
  };
  enum class Start : uint8_t {
    kDefault,
    kZero,        // from zero
    kC,           // from c
    kBetaC,       // from beta*c: C * beta, rounded
    kFusedBetaC,  // from fma beta*c: C * beta + the first part (times alpha, rounded, if kAlpha)
  };
  Kind kind = Kind::kAdd;
  // kPairs of S strided ranges: first those that are distances[0] apart, then distances[1]..., each
  // power of two below S once; empty: 1, 2, 4...
  std::vector<int64_t> distances = {};
  Start start = Start::kDefault;
  const Format* as = nullptr;  // each part is rounded to this format first
  const Format* held =
      nullptr;  // every sum is rounded to this format (the first one too, but not a
                // part of a tree)

  friend bool operator==(const PlanJoin&, const PlanJoin&) = default;
};
inline bool BeginsWithC(const PlanJoin& join) { return join.start > PlanJoin::Start::kZero; }

// A range and its join; or a tail: the operation adds the last K mod `tail` products, in order, to the
// sum of the others.
struct PlanStage {
  PlanRange range;
  PlanJoin join;
  int64_t tail = 0;           // 0: not a tail
  bool tail_unfused = false;  // each product of the tail is rounded before it is added
  friend bool operator==(const PlanStage&, const PlanStage&) = default;
};

// From the sum to D: RESULT, rounded to the format. Multiply-adds take the sum or C, then the factor
// that is written before it, then the addend; an addition x + y is x * 1 + y, and bias * 1 + the rest.
// C counts even if beta is 0: a kernel that does not read it then has a plan without it. Scales of the
// sum are the first along k.
struct Epilogue {
  enum class Fused : uint8_t { kNone, kAlpha, kBeta, kScales };  // the factor in fma()
  enum class Scales : uint8_t { kNone, kTogether, kAThenB, kBThenA };

  bool alpha = false, beta = false, bias = false;
  Fused fused = Fused::kNone;
  Scales scales = Scales::kNone;  // of the sum
  const Format* format = nullptr;

  // RESULT is left out.
  bool is_sum() const { return !alpha && !beta && !bias && scales == Scales::kNone; }
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

// Whether executions read C, alpha, beta.
bool ReadsC(const Plan& plan);
bool IsScaled(const PlanJoin& join);  // by scales of A and B
bool ReadsScales(const Plan& plan);   // in joins or the result
bool ReadsAlpha(const Plan& plan);
bool ReadsBeta(const Plan& plan);

// "alpha*sum + beta*c + bias"
std::string ResultText(const Epilogue& epilogue);

// Whether executions of both compute the same.
bool SameArithmetic(const Plan& x, const Plan& y);

// The multiply-add of joins: fma.rn of the architecture in the format of the operation's results;
// where the tables lack it, one of IEEE 754 with the operation's NaN rule.
Model MultiplyAddOf(const Operation& operation);
// A multiply-add as a multiplication and an addition. NaNs lose their payloads.
Model UnfusedOf(Model multiply_add);

}  // namespace mmadiff
