#include "sim/sparsity.h"

namespace mmadiff {

std::string WhyNotSparse(const Instruction& instruction, std::span<const uint64_t> a) {
  for (size_t w = 0; instruction.sparse && w < a.size(); w += 4) {
    if (StoredPositions(a.subspan(w).first<4>()).has_value()) continue;
    const size_t k = instruction.shape.k, row = w / k, first = w % k;
    return instruction.name + " is sparse: at most two of each group of four elements of A may " +
           "differ from +0; too many differ: a" + std::to_string(first) + " to a" +
           std::to_string(first + 3) + (a.size() == k ? "" : " in row " + std::to_string(row));
  }
  return "";
}

}  // namespace mmadiff
