// Questions that isolate the nodes of a summation tree: a large term, one next to its last bit, a
// third at any distance below, and terms that cancel the large one before or after it leaves the
// node. Their terms have few bits, so that what joins below does not change them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/operation.h"
#include "triage/infer/masks.h"

namespace mmadiff {

// About `each` questions for every node of structure.tree. The same ones every time.
std::vector<DotProductCase> NodeQuestions(const Operation& op, const Structure& structure,
                                          int each);

// About `each` questions for every leaf: all of its bits, alone or next to terms of few bits.
std::vector<DotProductCase> LeafQuestions(const Operation& op, const Structure& structure,
                                          int each);

// `count` questions about all nodes at once: some terms or all of them, of any number of bits, of
// about one size or far apart, of which some cancel.
std::vector<DotProductCase> MixedQuestions(const Operation& op, const Structure& structure,
                                           int count, uint64_t seed);

}  // namespace mmadiff
