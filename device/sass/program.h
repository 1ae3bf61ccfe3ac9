// Parses the machine code of a kernel as nvdisasm prints it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff::sass {

inline constexpr size_t kMaxTextBytes = 64 << 20;
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
    kScoreboard,
    kDescriptor,       // two uniform registers with the descriptor of a matrix in shared memory
    kGroupScoreboard,  // gsb0
    kSpecial,
  };
  Kind kind = kSpecial;
  int index = 0;                  // register, predicate, barrier or scoreboard number; the bank
  int64_t offset = 0;             // immediate; byte of a constant, a memory address
  int base = kZeroRegister;       // for an address
  int uniform = kZeroUniform;     // for an address
  bool pair = false;              // the base has 64 bits
  bool wide = false;              // the uniform register has 64 bits
  int descriptor = kZeroUniform;  // of an address: a pair of uniform registers
  bool negative = false;          // -x
  bool inverted = false;          // ~x, !p
  // A part of a register: a half, or the sign as a condition.
  enum Part : uint8_t { kWhole, kLowHalf, kHighHalf, kSign } part = kWhole;
  char order = 0;         // 'R' or 'C' of \".ROW\", \".COL\"
  std::string text = {};  // for labels and special registers
};

// The scoreboards of an instruction, from its encoding: write barrier (bits 110 to 112), read barrier
// (113 to 115) and the mask of those that it waits for (116 to 121).
struct Control {
  static constexpr int kNone = 7;
  bool known = false;  // the text has encodings
  int write_barrier = kNone, read_barrier = kNone;
  uint32_t waits = 0;
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
  bool commits = false;             // the last matrix instruction of a wgmma group: "gsb0"
  int target = -1;                  // instruction of the label, if there is one
  std::string text;                 // "FADD R7, R7, R6"
  Control control;

  bool uniform() const;  // executed once per warp
};

struct Program {
  std::string name;
  std::string target;  // "sm_90a"; "" if the text does not name it
  std::vector<Instruction> instructions;
};

using Programs = std::map<std::string, Program>;  // by kernel name

// "sm_90a" of the line ".target sm_90a", or in the older format of cubins (ptxas before 13.0) of the
// flags EF_CUDA_SM90 and EF_CUDA_ACCELERATORS; "" if there is neither.
std::string TargetIn(absl::string_view text);

// The names of all kernels of the text, also of those that are not executed.
std::vector<std::string> KernelNamesIn(absl::string_view text);

// All kernels of the text that `nvdisasm -c -hex` prints; without -hex, Control::known is
// false. kInvalidArgument names the line of an
// instruction, modifier or operand that is not executed: none is ignored. Also for more text than
// kMaxTextBytes: all kernels of a build for one target have some 7 MB.
// With `only`, reads that kernel alone.
absl::StatusOr<Programs> ParsePrograms(absl::string_view text, absl::string_view only = "");

}  // namespace mmadiff::sass
