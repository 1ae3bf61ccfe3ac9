// The ways in which one instruction gets its operands, and their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/instruction.h"
#include "sim/layout.h"

namespace mmadiff {

// Where an instruction that has the choice takes A from: wgmma from shared memory or registers,
// tcgen05 from shared or tensor memory.
enum class SourceOfA { kShared, kLanes };

// How an instruction that has the choice gets its operands. What a variant says of others has no
// meaning to it.
struct Variant {
  SourceOfA a = SourceOfA::kShared;  // wgmma and tcgen05
  // wmma: in memory A, C and D lie by rows and B by columns, or the other way round. A and B of 4
  // bits and of one bit have no choice (PTX ISA 9.0, 9.7.14.4.3).
  bool a_columns = false, b_rows = false, c_columns = false;  // C and D alike

  friend bool operator==(const Variant&, const Variant&) = default;
};

// Each variant that the instruction has, once; the first is Variant().
std::vector<Variant> VariantsOf(const Instruction& instruction);

// The one of VariantsOf() that the wanted one is to the instruction.
Variant VariantFor(const Instruction& instruction, const Variant& wanted);

// What a kernel of the variant reads and writes, as sim/layout.h has it.
struct VariantOperands {
  Operand a, b, c, d;
};
VariantOperands OperandsOf(const Variant& variant);

// What follows the number of a GPU in the specification of a device with this variant: "" for
// Variant(), else ",a=registers", ",layout=col.row" (of A and B, as PTX writes it) and ",c=col", as
// far as they apply, in this order: "cuda:0" + SuffixOf(variant) opens it (device/cuda/cuda.h).
std::string SuffixOf(const Variant& variant);
// Nothing if no variant has the suffix.
std::optional<Variant> VariantWithSuffix(absl::string_view suffix);

}  // namespace mmadiff
