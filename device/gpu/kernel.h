// Kernels of single instructions, for any vendor: words in, one instruction, words out. A kernel
// contains no layout; the maps beside it give the places of the elements in the words.
#pragma once

#include <string>
#include <vector>

#include "device/gpu/slot.h"
#include "sim/instruction.h"
#include "sim/layout.h"

namespace mmadiff {

// The words of one execution that hold an operand, and its elements in the order of a Batch: rows
// of A and columns of B with their scales, C and D row by row.
struct OperandWords {
  int words = 0;
  std::vector<Slot> slots;
  // For A of sparse instructions, `slots` are for the stored elements, and these for the metadata
  // (sim/sparsity.h).
  std::vector<Slot> metadata;
  // Words that must be equal because the instruction needs elements twice.
  struct Copy {
    int from, to;
    friend auto operator<=>(const Copy&, const Copy&) = default;
  };
  std::vector<Copy> copies;
};

// The words of an operand in the layout's order (sim/layout.h), lane after lane: A and B are
// followed by their scales, or by the metadata of a sparse A.
OperandWords WordsOf(const Instruction& instruction, Operand operand);

struct Kernel {
  std::string entry;  // its name in modules
  // A module with that entry, for the vendor's assembler. Its parameters are the addresses of the
  // words of all executions of the grid, [execution][word]: a, b, c, d; and of [execution] words
  // that receive, last of all, the number of the processor that ran the execution. Block x does
  // execution x.
  std::string text;
  int threads = 32;  // per block
  OperandWords a, b, c, d;
};

}  // namespace mmadiff
