// Measures how wide each node of a summation tree is and how it rounds. This describes arithmetic
// that no family has. It is observed from outside, through all later nodes: a measured width is
// that of the narrowest node on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "triage/infer/asker.h"
#include "triage/infer/masks.h"

namespace mmadiff {

struct NodeWidth {
  SummationTree node;
  // Bits below the leading one of a large operand that reach the result; none if not observed.
  std::optional<int> kept = {};
  bool at_least = false;          // the formats have no smaller operand to try
  bool unknown_rounding = false;  // observed, but it fits no rounding mode
  std::string rounding = {};      // applied to the bits below; empty if not observed
};

// Measures every node of structure.tree, or only some of them if that takes more than `most`
// questions. Puts x = 1.5 * 2^E in one operand of the node, 2^(E-g) in another and, if a term joins
// later, -x there; then ties and values next to ties of both signs (the tests of Fasi et al., PeerJ
// CS 2021, 7:e330, at any node). Errors are the device's.
absl::StatusOr<std::vector<NodeWidth>> MeasureNodes(Asker& asker, const Structure& structure,
                                                    int64_t most);

// "23 bits, to nearest even"; "not observed".
std::string WidthText(const NodeWidth& node);

// WidthText() and its nodes, "23 bits, to nearest even: (c + k0), ...": one line for all nodes that
// are alike.
std::vector<std::string> NodeLines(const std::vector<NodeWidth>& nodes, int k);

}  // namespace mmadiff
