// Kernels of single instructions, of any vendor: words in, one instruction, words out. A kernel
// knows no layout; the maps beside it say where the elements lie in the words.
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
  // A of sparse instructions: `slots` are of the elements that are stored, two of each four, and
  // these, as many, of their positions of two bits (sim/sparsity.h).
  std::vector<Slot> positions;
  // Words that must be the same, where an instruction wants elements twice.
  struct Copy {
    int from, to;
    friend auto operator<=>(const Copy&, const Copy&) = default;
  };
  std::vector<Copy> copies;
};

// The words of an operand as the layout (sim/layout.h) has them, lane after lane: A and B are
// followed by their scales, or by the positions of a sparse A.
OperandWords WordsOf(const Instruction& instruction, Operand operand);

struct Kernel {
  std::string entry;  // its name in modules
  // A module with that entry, for the vendor's assembler. Its parameters are the addresses of the
  // words of all executions of the grid, [execution][word]: a, b, c, d; and of [execution] words
  // that receive last of all the number of the processor where it ran. Execution x is done by block
  // x.
  std::string text;
  int threads = 32;  // of a block
  OperandWords a, b, c, d;
};

}  // namespace mmadiff
