// A tree as steps for lanes, with bounds of all sums.
#pragma once

#include <memory>
#include <vector>

#include "sim/algorithm.h"
#include "sim/tree/tree.h"

namespace mmadiff {

// How lanes of 64 bits add the terms of a node.
enum class LaneSum : uint8_t {
  kAligned,  // all cut below the alignment exponent
  kOne,      // one term
  kTwo,      // exactly, rounded to odd: two terms of at most 53 bits
  kLimbs,    // exactly, rounded to odd: any number of terms, sim/lanes/limbs-inl.h
};

struct TreeLaneStep {
  Push push;
  int index;                   // as TreeCode
  const Node* node = nullptr;  // kJoin
  LaneSum sum = LaneSum::kAligned;
  int bits = 0;             // kAligned: most bits that a term keeps below the alignment exponent
  Algorithm rounding = {};  // RoundingOf(), unless the result is a partial sum
  bool zero_offers =
      false;  // kAddend, kJoin: the word's exponent, to the node that it is a term of
  const Format* format = nullptr;  // of the word; nullptr: a partial sum
};

inline constexpr int kMaxLaneTerms = kMaxK + kMaxTreeNodes;  // on the stack

struct TreeLanePlan {
  std::vector<TreeLaneStep> steps;
  bool zero_products_offer = false;
  int depth = 0;  // most terms on the stack, at most kMaxLaneTerms
};

// nullptr if lanes of 64 bits cannot evaluate the model's tree. They hold operands of at most 32
// bits of significand, aligned sums of at most 61 bits, and exact sums of two terms or, for words of
// at most 27 fraction bits, of any. They have no integers, scales, or products aligned as in f16.
std::shared_ptr<const TreeLanePlan> MakeTreeLanePlan(const Model& m);

// Whether lanes of 32 bits can evaluate the tree by floats. Each node adds at most two terms exactly and
// rounds to nearest even to f32. Lanes of 64 bits can evaluate it too.
bool IsFloatTree(const Model& m);

// The only NaN of such a tree.
uint32_t FloatTreeNan(const Model& m);

}  // namespace mmadiff
