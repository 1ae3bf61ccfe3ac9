// The matrix instructions and fused multiply-adds of an architecture: each is a row of the tables that
// the architecture executes as one machine instruction.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "device/gpu/kernel.h"
#include "device/sass/group_matrix.h"
#include "device/sass/lanes.h"
#include "sim/operation.h"

namespace mmadiff::sass {

// "HMMA.16816.F32.BF16" for a native mma, wgmma or fma of the table, as nvdisasm prints it; "" for
// others.
// `arch`: "sm_90".
std::string FormOf(const mmadiff::Instruction& instruction, std::string_view arch);

// Whether any of these is a matrix instruction.
bool HasMatrixNatives(std::string_view arch);

class Natives {
 public:
  explicit Natives(std::string_view arch);

  // Numbers of registers in a lane, 32 bits each. `lanes`: each lane computes on its own.
  struct Registers {
    bool lanes;
    int a, b, c, d;
    bool c_as_d;  // register i of C holds the elements of register i of D
    int more =
        0;  // sources from 3 on, a register each: the scales of A and B, or the metadata of A
  };
  // nullopt if no row has the form.
  std::optional<Registers> RegistersOf(const std::string& form) const;
  // "HGMMA.64x40x16.F32": also for numbers of columns that the table does not have.
  std::optional<GroupMatrix> GroupMatrixOf(const std::string& form) const;

  // Executes `in` with the row's model. kUnimplemented: no row has the form, the instruction has
  // scales or an operand outside of registers, or some lane takes no part in a matrix instruction.
  absl::Status Execute(const Instruction& in, uint32_t lanes, Lanes& warp) const;

 private:
  struct Native {
    const Operation* op = nullptr;
    bool lanes = false;                           // an fma: each lane on its own
    OperandWords a = {}, b = {}, c = {}, d = {};  // of a matrix instruction
    int registers[4] = {};                        // of a lane: a, b, c, d
  };
  std::map<std::string, Native, std::less<>> natives_;           // by form
  std::map<std::string, const Operation*, std::less<>> groups_;  // with "64x8x" in the form
};

}  // namespace mmadiff::sass
