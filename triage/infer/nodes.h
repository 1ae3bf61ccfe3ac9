// How wide each node of a summation tree is, and how it rounds: what no family has is told by its
// nodes. Seen from outside, so through the nodes after it: a width is that of the narrowest of them.
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
  // Bits below the leading one of a large operand that come out; none where that was not seen.
  std::optional<int> kept = {};
  bool at_least = false;      // no smaller operand could be made
  std::string rounding = {};  // of what is below; empty where that was not seen
};

// Asks about every node of structure.tree, of more than `most` questions about some of them.
// Adds x = 1.5 * 2^E in one operand of the node, 2^(E-g) in another and, where a term joins later,
// -x there; then ties and values beside them of both signs (the tests of Fasi et al., PeerJ CS 2021,
// 7:e330, at any node). Errors are the device's.
absl::StatusOr<std::vector<NodeWidth>> MeasureNodes(Asker& asker, const Structure& structure,
                                                    int64_t most);

// "23 bits, to nearest even"; "not seen".
std::string WidthText(const NodeWidth& node);

// WidthText() and the nodes, "23 bits, to nearest even: (c + k0), ...", of the nodes that are alike, a line each.
std::vector<std::string> NodeLines(const std::vector<NodeWidth>& nodes, int k);

}  // namespace mmadiff
