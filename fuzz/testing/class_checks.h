// Dot products of the boundary classes and the operations that stand for all, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/cases/case_name.h"
#include "corpus/cases/generate.h"
#include "sim/operation.h"

namespace mmadiff {

inline constexpr int kTiles = 256, kPerTile = 12;
inline constexpr int kDotProducts = kTiles * kPerTile;  // that are looked at of a class: 3072

// Calls `visit` for kPerTile dot products of kTiles cases of the class.
inline void ForDotProducts(const Instruction& instruction, const InputClass& input_class,
                           const std::function<void(const DotProductCase&)>& visit) {
  Batch batch;
  batch.Resize(instruction.shape, 1);
  const Tile tile = {instruction, batch.a.data(), batch.b.data(), batch.c.data()};
  for (int i = 0; i < kTiles; ++i) {
    Random random(1, 7, i);
    input_class.fill(tile, random);
    for (int j = 0; j < kPerTile; ++j) {
      visit(Extract(batch, (i * 5 + j * 11) % batch.dot_products()));
    }
  }
}

// Aborts, with a failure of the test, when the instruction has no such class.
inline const InputClass& ClassNamed(const Instruction& instruction, std::string_view name) {
  for (const InputClass& c : BoundaryClasses(instruction)) {
    if (name == c.name) return c;
  }
  ADD_FAILURE() << instruction.name << " has no class " << name;
  std::abort();
}

inline bool IsZero(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.significand == 0;
}

// ---- Operations

using Condition = std::function<bool(const Operation&)>;

inline bool Always(const Operation&) { return true; }
inline bool IsIntegral(const Operation& op) { return IsInteger(*op.instruction->d); }
inline bool IsConversion(const Operation& op) { return op.instruction->is_conversion(); }
// Operands of more than 8 bits.
inline bool IsWide(const Operation& op) {
  return !IsIntegral(op) && !IsConversion(op) && op.instruction->a->bits > 8;
}
// Of the many pairs of narrow formats those of a format with itself, and any with scales for e2m1.
inline bool IsFloat(const Operation& op) {
  return !IsIntegral(op) && (IsWide(op) || op.instruction->a == op.instruction->b);
}
inline bool IsScaled(const Operation& op) {
  return op.instruction->scale != nullptr && IsFloat(op);
}

// One operation for each set of formats of a family, the one with the fewest dot products.
inline std::vector<const Operation*> OperationsWhere(const Condition& wanted) {
  std::map<std::string, const Operation*> ops;
  for (const Operation& op : Operations()) {
    if (!wanted(op)) continue;
    const Instruction& in = *op.instruction;
    std::string key = std::to_string(static_cast<int>(op.model.algorithm.family));
    for (const Format* f : {in.a, in.b, in.c, in.d}) key += std::string(" ") + f->name;
    if (in.scale != nullptr) key += std::to_string(in.shape.scales) + in.scale->name;
    if (IsInteger(*in.d)) key += std::to_string(static_cast<int>(op.model.algorithm.overflow));
    const Operation*& kept = ops[key];
    if (kept == nullptr || op.shape().d_words() < kept->shape().d_words()) kept = &op;
  }
  std::vector<const Operation*> all;
  for (const auto& [key, op] : ops) all.push_back(op);
  return all;
}

inline std::string ParameterName(const testing::TestParamInfo<const Operation*>& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

}  // namespace mmadiff
