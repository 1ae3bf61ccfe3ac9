// Surroundings of an mma or wmma instruction (Variant::around) in PTX, which do not change its result.
#pragma once

#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "device/cuda/overlap.h"
#include "sim/instruction.h"

namespace mmadiff {

// "loop": a loop that ends after its first round; "branch": a predicate that holds; "chain": a second
// instruction takes D as its C, and its result is dropped; "rounds": a loop whose second round takes D
// as C, and whose third and last takes C; "third": the same three times without a loop. All depend on
// %ctaid.y, which is 0 at run time only.
std::span<const absl::string_view> NamedSurroundings();
bool IsSurrounding(absl::string_view text);

// OK for "" and if the instruction can have the surroundings. kNotFound: D becomes C in
// them, and C has another format.
absl::Status CheckSurrounding(absl::string_view around, const Instruction& instruction);

// The text of an instruction, without ";".
using InstructionText = absl::FunctionRef<std::string(const AssignedRegisters&)>;

// Also the moves of `registers`. `bits` of each register of D.
std::string Surrounded(absl::string_view around, const AssignedRegisters& registers, int bits,
                       InstructionText instruction);

}  // namespace mmadiff
