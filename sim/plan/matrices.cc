#include "sim/plan/matrices.h"

#include <algorithm>

#include "sim/plan/convert.h"
#include "sim/plan/ranges.h"
#include "sim/word_check.h"

namespace mmadiff {
namespace {

std::string WhyNotFormat(const char* name, const Format& from, const Format& to) {
  if (HasWordsOf(to, from) || Holds(to, from)) return "";
  const std::string both =
      std::string(name) + " has the format " + from.name + ", but the operation takes " + to.name;
  if (IsInteger(from) != IsInteger(to)) return both + ": convert it first";
  return both + ", which lacks some of its numbers: round it first";
}

// Checks the operands that the plan reads.
std::string WhyNotOperands(const Plan& plan, const Matrices& p) {
  const Model& m = plan.operation->model;
  const bool scaled = ReadsScales(plan);
  const bool blocks = m.scale_block != 0, c = ReadsC(plan);
  const struct {
    bool read;
    const char* name;
    const Words& words;
    const Format& format;
  } operands[] = {
      {p.m > 0 && p.k > 0, "A", p.a, *p.a_format},
      {p.n > 0 && p.k > 0, "B", p.b, *p.b_format},
      {scaled, "scales of A (scale_a)", p.scale_a.words, m.d},
      {scaled, "scales of B (scale_b)", p.scale_b.words, m.d},
      {blocks, "block scales of A (block_scale_a)", p.block_scale_a.words, m.scale},
      {blocks, "block scales of B (block_scale_b)", p.block_scale_b.words, m.scale},
      {c && p.m > 0 && p.n > 0, "C", p.c, m.d},
      {plan.epilogue.bias && p.n > 0, "a bias", p.bias, m.d},
  };
  for (const auto& [read, name, words, format] : operands) {
    if (!read) continue;
    std::string why = WhyNotBits(name, format, words.data != nullptr, words.bits);
    if (!why.empty()) return words.data == nullptr ? why + ", which the plan reads" : why;
  }
  return "";
}

std::vector<Pieces> InnerParts(const PlanRange& range, const std::vector<Pieces>& outer) {
  std::vector<Pieces> inner;
  for (const Pieces& part : outer) {
    for (Pieces& one : PartsOf(range, part)) inner.push_back(std::move(one));
  }
  return inner;
}

// Whether the part is inside one block of so many k.
bool IsIn(const Pieces& part, int64_t block) {
  const int64_t first = part.front().first / block;
  return std::ranges::all_of(part, [&](const Piece& piece) {
    return piece.first / block == first && (piece.end - 1) / block == first;
  });
}

std::string HasScaleForEach(bool is_a, const ScaleMatrix& scales) {
  return std::string(is_a ? "A" : "B") + " has a scale for each " + std::to_string(scales.k_each) +
         " k";
}

// Scales of the operation must be those of whole blocks.
std::string WhyNotBlockScales(const Plan& plan, const Matrices& p) {
  const int64_t block = plan.operation->model.scale_block;
  if (block == 0) return "";
  for (const ScaleMatrix* scales : {&p.block_scale_a, &p.block_scale_b}) {
    if (scales->k_each >= p.k || scales->k_each % block == 0) continue;
    return HasScaleForEach(scales == &p.block_scale_a, *scales) + ", but " + plan.operation->name +
           " has one for each " + std::to_string(block);
  }
  return "";
}

}  // namespace

int64_t ScaleBlock(int64_t size, int64_t blocks) {
  if (blocks == 1) return std::max<int64_t>(size, 1);
  for (int64_t each = 1; blocks > 0 && each <= size; each *= 2) {
    if ((size + each - 1) / each == blocks) return each;
  }
  return 0;
}

std::string WhyNotFormats(const Operation& operation, const Format& a, const Format& b) {
  std::string why = WhyNotFormat("A", a, operation.model.a);
  return why.empty() ? WhyNotFormat("B", b, operation.model.b) : why;
}

std::string WhyNotMatrices(const Plan& plan, const Matrices& p) {
  if (p.m < 0 || p.n < 0 || p.k < 0) return "m, n and k must not be negative";
  if (std::string why = WhyNotFormats(*plan.operation, *p.a_format, *p.b_format); !why.empty()) {
    return why;
  }
  if (std::string why = WhyNotOperands(plan, p); !why.empty()) return why;
  for (const ScaleMatrix* s : {&p.scale_a, &p.scale_b, &p.block_scale_a, &p.block_scale_b}) {
    if (s->rows_each < 1 || s->k_each < 1) return "a scale is for at least one row and one k";
  }
  return "";
}

std::string WhyNotScales(const Plan& plan, const Matrices& p) {
  if (p.k == 0) return "";
  if (std::string why = WhyNotBlockScales(plan, p); !why.empty()) return why;
  if (plan.epilogue.scales != Epilogue::Scales::kNone) {
    for (const ScaleMatrix* scales : {&p.scale_a, &p.scale_b}) {
      if (scales->k_each >= p.k) continue;
      return HasScaleForEach(scales == &p.scale_a, *scales) + ", but the plan scales whole sums";
    }
  }
  std::vector<Pieces> parts = {{{0, p.k}}};
  for (size_t s = plan.stages.size(); s-- > 0;) {
    if (plan.stages[s].tail != 0) continue;
    parts = InnerParts(plan.stages[s].range, parts);
    if (!IsScaled(plan.stages[s].join)) continue;
    for (const ScaleMatrix* scales : {&p.scale_a, &p.scale_b}) {
      const bool is_a = scales == &p.scale_a;
      const int64_t each = scales->k_each, blocks = (p.k + each - 1) / each;
      const int64_t rows = is_a ? p.m : p.n;
      const int64_t across = (rows + scales->rows_each - 1) / scales->rows_each;
      if (!std::ranges::all_of(parts, [&](const Pieces& part) { return IsIn(part, each); })) {
        return HasScaleForEach(is_a, *scales) +
               ", but the plan scales sums over ranges that have several of these";
      }
      // Scales with the layout of the transposed matrix would be taken for those of larger blocks.
      const int64_t ranges = std::ssize(parts);
      if (blocks == 1 || blocks == ranges || across != ranges) continue;
      return std::string(is_a ? "A" : "B") + " has " + std::to_string(blocks) +
             " scales along k and " + std::to_string(across) + " along its " +
             (is_a ? "rows" : "columns") + ", but the plan has " + std::to_string(ranges) +
             " ranges of k: transpose the scales";
    }
  }
  return "";
}

}  // namespace mmadiff
