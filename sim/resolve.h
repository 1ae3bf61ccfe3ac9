// Resolves the lines of the numerics table to operations. The order of lines does not matter: it is
// an error if two lines match an instruction, unless one is declared an exception to the other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/numerics.h"

namespace mmadiff {

struct NumericsTable {
  std::vector<Numerics> numerics;  // by architecture, then in the order of the instruction table
  // Errors in the lines:
  // - two lines match an instruction
  // - an unknown architecture
  // - a pattern that gives no instruction its operation (each choice of the pattern is checked, on
  //   each of its architectures)
  // - an exception to nothing
  // - a native instruction without an operation
  // - an instruction without any operation, or an architecture with a relative but without any
  // - a measurement of nothing
  // - an operation that was measured twice, or a grade of kPublished that replaces one that is not
  //   kAssumed
  std::vector<std::string> errors;
};

NumericsTable Resolve(std::span<const NumericsEntry> entries,
                      std::span<const Architecture> architectures = Architectures(),
                      std::span<const Measurement> measurements = {});

}  // namespace mmadiff
