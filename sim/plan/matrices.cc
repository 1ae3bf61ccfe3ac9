#include "sim/plan/matrices.h"

#include <algorithm>

#include "sim/plan/convert.h"

namespace mmadiff {
namespace {

std::string WhyNotFormat(const char* name, const Format& from, const Format& to) {
  if (HasWordsOf(to, from) || Holds(to, from)) return "";
  return std::string(name) + " has the format " + from.name + ", but the operation takes " +
         to.name + ", which lacks some of its numbers";
}

// For an operand that the plan reads.
std::string WhyNotWords(const std::string& name, const Words& words, const Format& format) {
  if (words.data == nullptr) return "the plan reads " + name + ": give it";
  for (const int bits : {8, 16, 32, 64}) {
    if (words.bits == bits && bits >= format.bits) return "";
  }
  return name + ": words of " + format.name + " have 8, 16, 32 or 64 bits, at least " +
         std::to_string(format.bits) + ", not " + std::to_string(words.bits);
}

// Checks the operands that the plan reads.
std::string WhyNotOperands(const Plan& plan, const Matrices& p) {
  const Model& m = plan.operation->model;
  const bool scaled = std::ranges::any_of(plan.stages, [](const PlanStage& s) {
    return s.join.kind == PlanJoin::Kind::kScaled || s.join.kind == PlanJoin::Kind::kScaledInTurns;
  });
  const bool blocks = m.scale_block != 0, c = ReadsC(plan);
  const struct {
    bool read;
    const char* name;
    const Words& words;
    const Format& format;
  } operands[] = {
      {p.m > 0 && p.k > 0, "A", p.a, *p.a_format},
      {p.n > 0 && p.k > 0, "B", p.b, *p.b_format},
      {scaled, "scales of A", p.scale_a.words, m.d},
      {scaled, "scales of B", p.scale_b.words, m.d},
      {blocks, "block scales of A", p.block_scale_a.words, m.scale},
      {blocks, "block scales of B", p.block_scale_b.words, m.scale},
      {c && p.m > 0 && p.n > 0, "C", p.c, m.d},
      {plan.epilogue.bias && p.n > 0, "a bias", p.bias, m.d},
  };
  for (const auto& [read, name, words, format] : operands) {
    if (!read) continue;
    if (std::string why = WhyNotWords(name, words, format); !why.empty()) return why;
  }
  return "";
}

}  // namespace

std::string WhyNotMatrices(const Plan& plan, const Matrices& p) {
  const Model& m = plan.operation->model;
  if (p.m < 0 || p.n < 0 || p.k < 0) return "m, n and k must not be negative";
  if (std::string why = WhyNotFormat("A", *p.a_format, m.a); !why.empty()) return why;
  if (std::string why = WhyNotFormat("B", *p.b_format, m.b); !why.empty()) return why;
  if (std::string why = WhyNotOperands(plan, p); !why.empty()) return why;
  for (const ScaleMatrix* s : {&p.scale_a, &p.scale_b, &p.block_scale_a, &p.block_scale_b}) {
    if (s->rows_each < 1 || s->k_each < 1) return "a scale is for at least one row and one k";
  }
  return "";
}

}  // namespace mmadiff
