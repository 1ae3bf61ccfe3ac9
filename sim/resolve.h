// From the lines of the numerics table to operations. Order decides nothing: an instruction that
// two lines match is an error, unless one line is declared an exception to the other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/numerics.h"

namespace mmadiff {

// Some instructions of some architectures that share an algorithm.
struct NumericsEntry {
  const char* archs;         // separated by spaces
  const char* instructions;  // patterns of sim/pattern.h whose choices are shell globs, by spaces
  Algorithm (*algorithm)(const Instruction&);
  Evidence evidence;
  NanVerdict nan_verdict = NanVerdict::kBits;
  // A pattern of another line of the architecture, from which this line takes its instructions out.
  const char* except_from = "";
};

struct NumericsTable {
  std::vector<Numerics> numerics;  // by architecture, then in the order of the instruction table
  // What is wrong with the lines: an instruction that two of them match, an architecture that no
  // table knows, a pattern that gives no instruction its operation (each choice of a pattern
  // counts, on each of its architectures), an exception to nothing, a native instruction without an
  // operation, an instruction or a relative of another architecture without any.
  std::vector<std::string> errors;
};

// The lines of the table of the project (sim/numerics.cc).
std::span<const NumericsEntry> NumericsEntries();

NumericsTable Resolve(std::span<const NumericsEntry> entries,
                      std::span<const Architecture> architectures = Architectures());

}  // namespace mmadiff
