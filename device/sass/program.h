// Parses the machine code of a kernel as nvdisasm prints it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff::sass {

inline constexpr int64_t kConstantBytes = 1 << 16;                       // of a bank
inline constexpr int kZeroRegister = 255, kZeroUniform = 63, kTrue = 7;  // RZ, URZ, PT

struct Operand {
  enum Kind : uint8_t {
    kRegister,
    kUniform,
    kPredicate,
    kUniformPredicate,
    kImmediate,
    kConstant,  // c[bank][base + uniform + offset]
    kMemory,    // [base + uniform + offset]
    kLabel,
    kBarrier,
    kSpecial,
  };
  Kind kind = kSpecial;
  int index = 0;               // register, predicate or barrier number; the bank
  int64_t offset = 0;          // immediate; byte of a constant, a memory address
  int base = kZeroRegister;    // for an address
  int uniform = kZeroUniform;  // for an address
  bool pair = false;           // the base has 64 bits
  bool wide = false;           // the uniform register has 64 bits
  bool negative = false;       // -x
  bool inverted = false;       // ~x, !p
  // A part of a register: a half, or the sign as a condition.
  enum Part : uint8_t { kWhole, kLowHalf, kHighHalf, kSign } part = kWhole;
  char order = 0;    // 'R' or 'C' of \".ROW\", \".COL\"
  std::string text;  // for labels and special registers
};

struct Instruction {
  int64_t address = 0;  // byte in the kernel
  int guard = kTrue;
  bool guard_inverted = false, guard_uniform = false;
  std::string name;                 // "IADD3"
  std::string form;                 // "IADD3.X"
  std::vector<Operand> results;     // registers written
  std::vector<Operand> flags;       // predicates written
  std::vector<Operand> sources;     // all but predicates
  std::vector<Operand> conditions;  // predicates read
  int opcode = 0;                   // index in Opcodes()
  uint64_t has = 0;                 // the bits of its modifiers, "X" (ModifierBit())
  int target = -1;                  // instruction of the label, if there is one

  bool uniform() const;  // executed once per warp
};

struct Program {
  std::string name;
  std::string target;  // "sm_90a"; "" if the text does not name it
  std::vector<Instruction> instructions;
};

using Programs = std::map<std::string, Program>;  // by kernel name

// All kernels of the text that `nvdisasm -c` prints. kInvalidArgument names the line of an
// instruction, modifier or operand that is not executed: none is ignored.
// With `only`, reads that kernel alone.
absl::StatusOr<Programs> ParsePrograms(absl::string_view text, absl::string_view only = "");

}  // namespace mmadiff::sass
