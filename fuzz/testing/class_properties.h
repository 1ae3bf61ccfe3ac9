// What the dot products of a boundary class can have, for its test; and the operations that can
// have it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "corpus/cases/operands.h"
#include "fuzz/testing/class_checks.h"
#include "fuzz/unit/events.h"
#include "sim/simulate.h"
#include "sim/stages.h"

namespace mmadiff {

struct Property {
  std::string name;
  // How often a dot product has it. Empty: EventCounter counts it under `name`.
  std::function<int(const Operation&, const DotProductCase&)> count;
};

inline Property Seen(StageEvent event) { return {std::string("event.") + Name(event), nullptr}; }

// Two models that differ from the operation's by a change give different results.
using Change = void (*)(Model&);
inline void Unchanged(Model&) {}
inline Property Distinguishes(const char* name, Change change, Change from = Unchanged) {
  return {std::string("distinguishes ") + name,
          [change, from](const Operation& op, const DotProductCase& dot) {
            Model x = op.model, y = op.model;
            change(x);
            from(y);
            return Simulate(x, dot) != Simulate(y, dot);
          }};
}

// ---- Words

inline bool IsInfinite(const Format& f, uint64_t word) {
  return Decode(f, word).kind == Kind::kInfinite;
}
inline bool IsFinite(const Format& f, uint64_t word) {
  return Decode(f, word).kind == Kind::kFinite;
}
inline bool IsHuge(const Format& f, uint64_t word) {
  return IsFinite(f, word) && Decode(f, word).exponent == MaxExponent(f);
}
inline bool IsLargest(const Format& f, uint64_t word) {
  return IsHuge(f, word) && Decode(f, word).significand == LowBits(f.fraction_bits + 1);
}
inline bool IsSubnormal(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.significand != 0 && u.significand >> f.fraction_bits == 0;
}

inline const Format& C(const Operation& op) { return *op.instruction->c; }
inline const Format& D(const Operation& op) { return *op.instruction->d; }
inline bool ZeroInA(const Operation& op, const DotProductCase& dot, int k) {
  return IsZero(*op.instruction->a, dot.a[k]);
}
inline bool ZeroInB(const Operation& op, const DotProductCase& dot, int k) {
  return IsZero(*op.instruction->b, dot.b[k]);
}

using WordTest = bool (*)(const Format&, uint64_t);
inline Property Addend(const char* name, WordTest is) {
  return {std::string("addend ") + name,
          [is](const Operation& op, const DotProductCase& dot) { return is(C(op), dot.c); }};
}
inline Property Addend(char sign, const char* name, WordTest is) {
  return {std::string("addend ") + sign + name,
          [=](const Operation& op, const DotProductCase& dot) {
            return is(C(op), dot.c) && Decode(C(op), dot.c).negative == (sign == '-');
          }};
}
inline Property Result(const char* name, WordTest is) {
  return {std::string("result ") + name, [is](const Operation& op, const DotProductCase& dot) {
            return is(D(op), Simulate(op.model, dot));
          }};
}

// ---- Conversions

inline bool IsSpecialWord(const Format& f, uint64_t word) { return !IsFinite(f, word); }
inline bool IsBelowNormal(const Format& f, uint64_t word) {
  return IsFinite(f, word) && Decode(f, word).significand >> f.fraction_bits == 0;
}
inline bool IsHugeOrSpecial(const Format& f, uint64_t word) {
  return !IsFinite(f, word) || IsHuge(f, word);
}
inline bool HasNoOtherOperands(const Operation&, const DotProductCase& dot) {
  return dot.b[0] == 0 && dot.c == 0;
}
inline Property Operand(const char* name, WordTest is) {
  return {std::string("operand ") + name, [is](const Operation& op, const DotProductCase& dot) {
            return is(*op.instruction->a, dot.a[0]);
          }};
}

// ---- Floating point

// The exponent of the highest bit of a nonzero event.
inline int Leading(const Event& e) { return BitWidth(e.magnitude) - 1 + e.lsb_exponent; }

// Some step's sum is zero or at least six bits shorter than its widest term.
inline bool Cancels(const Operation& op, const DotProductCase& dot) {
  const bool aligned = op.model.algorithm.family == Family::kFusedSum;
  const Stage term = aligned ? Stage::kAlignedTerm : Stage::kProduct;
  int widest = -100000, step = 0;
  for (const Event& e : TraceStages(op.model, dot)) {
    if (e.step != step) widest = -100000;
    step = e.step;
    if (e.stage == term && e.magnitude != 0) widest = std::max(widest, Leading(e));
    if (e.stage != Stage::kSum || widest == -100000) continue;
    if (e.magnitude == 0 || widest - Leading(e) >= 6) return true;
  }
  return false;
}

// A power of two and less than itself of the other sign: the sum has one bit less.
inline bool FallsBelowAPowerOfTwo(const Operation& op, const DotProductCase& dot) {
  int widest = -100000;
  for (const Event& e : TraceStages(op.model, dot)) {
    if (e.stage == Stage::kProduct && e.magnitude != 0) widest = std::max(widest, Leading(e));
  }
  const Unpacked c = Decode(C(op), dot.c), d = Decode(D(op), Simulate(op.model, dot));
  if (c.significand != 0) widest = std::max(widest, c.exponent);
  return d.kind == Kind::kFinite && d.exponent == widest - 1;
}

inline bool Overflows(const Operation& op, const DotProductCase& dot) {
  return IsFinite(C(op), dot.c) && IsInfinite(D(op), Simulate(op.model, dot));
}

inline bool ZeroFacesHuge(const Operation& op, const DotProductCase& dot) {
  const Instruction& in = *op.instruction;
  for (int k = 0; k < in.shape.k; ++k) {
    if (ZeroInA(op, dot, k) && IsHuge(*in.b, dot.b[k])) return true;
    if (IsHuge(*in.a, dot.a[k]) && ZeroInB(op, dot, k)) return true;
  }
  return false;
}

// All terms are negative zeros: the one case in which IEEE 754 asks for a negative sum.
inline bool AllMinusZeros(const Operation& op, const DotProductCase& dot) {
  const Instruction& in = *op.instruction;
  bool all = dot.c >> SignBit(*in.c) & 1;
  for (int k = 0; k < in.shape.k; ++k) {
    all &= ((dot.a[k] >> SignBit(*in.a)) ^ (dot.b[k] >> SignBit(*in.b))) & 1;
    all &= ZeroInA(op, dot, k) || ZeroInB(op, dot, k);
  }
  return all;
}

inline bool FirstOfAIsSubnormal(const Operation& op, const DotProductCase& dot) {
  return IsSubnormal(*op.instruction->a, dot.a[0]);
}
inline bool FirstOfBIsSubnormal(const Operation& op, const DotProductCase& dot) {
  return IsSubnormal(*op.instruction->b, dot.b[0]);
}

inline bool HasOneProduct(const Operation& op, const DotProductCase& dot) {
  int products = 0;
  for (int k = 0; k < op.shape().k; ++k) products += !ZeroInA(op, dot, k) && !ZeroInB(op, dot, k);
  return products == 1;
}
inline bool HasZerosOnBothSides(const Operation& op, const DotProductCase& dot) {
  bool a = false, b = false;
  for (int k = 0; k < op.shape().k; ++k) {
    a |= ZeroInA(op, dot, k);
    b |= ZeroInB(op, dot, k);
  }
  return a && b;
}

// The sum of one product and an addend lies below the normal range.
inline bool Vanishes(const Operation& op, const DotProductCase& dot) {
  Model model = op.model;
  Algorithm& keeps = model.algorithm;
  keeps.input_subnormals = keeps.addend_subnormals = keeps.output_subnormals = Subnormals::kKeep;
  return !IsSubnormal(C(op), dot.c) && IsSubnormal(D(op), Simulate(model, dot));
}

// A result without a NaN operand.
inline Property ResultOfNumbers(const char* name, Kind kind) {
  return {std::string("without NaN operands, result ") + name,
          [kind](const Operation& op, const DotProductCase& dot) {
            bool nan = IsNan(C(op), dot.c);
            for (int k = 0; k < op.shape().k; ++k) {
              nan |= IsNan(*op.instruction->a, dot.a[k]) || IsNan(*op.instruction->b, dot.b[k]);
            }
            return !nan && Decode(D(op), Simulate(op.model, dot)).kind == kind;
          }};
}

// ---- Block scales

// Exact sums of the groups of 16 products, without their scales, in units of the least product.
inline std::vector<int64_t> GroupSums(const Instruction& in, const DotProductCase& dot) {
  std::vector<int64_t> sums(in.shape.k / 16);
  const int least = in.a->min_exponent + in.b->min_exponent;
  for (int k = 0; k < in.shape.k; ++k) {
    const Unpacked a = Decode(*in.a, dot.a[k]), b = Decode(*in.b, dot.b[k]);
    const int64_t product = static_cast<int64_t>(a.significand * b.significand)
                            << (a.exponent + b.exponent - least);
    sums[k / 16] += a.negative != b.negative ? -product : product;
  }
  return sums;
}

inline int ScaleSum(const Instruction& in, const DotProductCase& dot, size_t group) {
  const size_t at = in.shape.k + group * 16 / (in.shape.k / in.shape.scales);
  return Decode(*in.scale, dot.a[at]).exponent + Decode(*in.scale, dot.b[at]).exponent;
}

// A group that adds up to zero has scales 8 bits above those of every other.
inline bool ZeroGroupHasTheLargestScales(const Operation& op, const DotProductCase& dot) {
  const std::vector<int64_t> sums = GroupSums(*op.instruction, dot);
  int zero = -100000, other = -100000;
  for (size_t g = 0; g < sums.size(); ++g) {
    int& side = sums[g] == 0 ? zero : other;
    side = std::max(side, ScaleSum(*op.instruction, dot, g));
  }
  return other > -100000 && zero >= other + 8;
}

inline bool GroupsCancel(const Operation& op, const DotProductCase& dot) {
  const Instruction& in = *op.instruction;
  const std::vector<int64_t> sums = GroupSums(in, dot);
  for (size_t g = 0; g < sums.size(); ++g) {
    for (size_t h = 0; h < g; ++h) {
      if (sums[g] == -sums[h] && ScaleSum(in, dot, g) == ScaleSum(in, dot, h)) return true;
    }
  }
  return false;
}

// Counts scales, not dot products.
inline Property ScaleCode(const char* name, uint64_t (*code)(const Format&)) {
  return {std::string("scale ") + name, [code](const Operation& op, const DotProductCase& dot) {
            const uint64_t word = code(*op.instruction->scale);
            const int k = op.shape().k;
            return static_cast<int>(std::count(dot.a.begin() + k, dot.a.end(), word) +
                                    std::count(dot.b.begin() + k, dot.b.end(), word));
          }};
}

inline Property NanScales(const char* name, bool in_a, bool in_b) {
  return {std::string("NaN scales in ") + name,
          [=](const Operation& op, const DotProductCase& dot) {
            bool a = false, b = false;
            for (size_t i = op.shape().k; i < dot.a.size(); ++i) {
              a |= IsNan(*op.instruction->scale, dot.a[i]);
              b |= IsNan(*op.instruction->scale, dot.b[i]);
            }
            return a == in_a && b == in_b;
          }};
}

// ---- Integers

inline Property ResultWord(const char* name, uint64_t word) {
  return {std::string("result ") + name, [word](const Operation& op, const DotProductCase& dot) {
            return Simulate(op.model, dot) == word;
          }};
}

// A word of the operand's format; C is one word.
inline Property Holds(char operand, const char* name, uint64_t (*word)(const Format&)) {
  return {operand + std::string(" holds ") + name,
          [=](const Operation& op, const DotProductCase& dot) {
            const Instruction& in = *op.instruction;
            if (operand == 'C') return dot.c == word(*in.c);
            const auto& words = operand == 'A' ? dot.a : dot.b;
            const uint64_t wanted = word(operand == 'A' ? *in.a : *in.b);
            return std::ranges::find(words, wanted) != words.end();
          }};
}

// All words of a row of A, or all but one.
inline Property MostOfA(const char* name, uint64_t (*word)(const Format&)) {
  return {std::string("most of A is ") + name,
          [word](const Operation& op, const DotProductCase& dot) {
            const uint64_t wanted = word(*op.instruction->a);
            return std::ranges::count(dot.a, wanted) + 1 >= op.shape().k;
          }};
}

}  // namespace mmadiff
