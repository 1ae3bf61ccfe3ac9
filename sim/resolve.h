// From the lines of the numerics table to operations. Order decides nothing: an instruction that
// two lines match is an error, unless one line is declared an exception to the other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/numerics.h"

namespace mmadiff {

struct NumericsTable {
  std::vector<Numerics> numerics;  // by architecture, then in the order of the instruction table
  // What is wrong with the lines: an instruction that two of them match, an architecture that no
  // table knows, a pattern that gives no instruction its operation (each choice of a pattern
  // counts, on each of its architectures), an exception to nothing, a native instruction without an
  // operation, an instruction or a relative of another architecture without any, a measurement of
  // nothing, an operation that was measured twice.
  std::vector<std::string> errors;
};

NumericsTable Resolve(std::span<const NumericsEntry> entries,
                      std::span<const Architecture> architectures = Architectures(),
                      std::span<const Measurement> measurements = {});

}  // namespace mmadiff
