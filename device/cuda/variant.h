// The variants of an instruction, which differ in where its operands come from, and their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/instruction.h"
#include "sim/layout.h"

namespace mmadiff {

// Where an instruction that offers the choice takes A from: wgmma from shared memory or registers,
// tcgen05 from shared or tensor memory.
enum class SourceOfA { kShared, kLanes };

// How an instruction that offers the choice gets its operands. Members for other instructions are
// ignored.
struct Variant {
  SourceOfA a = SourceOfA::kShared;  // wgmma and tcgen05
  // wmma: in memory A, C and D are stored by rows and B by columns, or the reverse. A and B of 4
  // bits and of one bit have no choice (PTX ISA 9.0, 9.7.14.4.3).
  bool a_columns = false, b_rows = false, c_columns = false;  // C and D alike
  // mma and wmma: registers of operands that are also registers of D, as legal PTX may assign them:
  // a list "c3d2+a0d1" (register 3 of C is register 2 of D, ...), or for all registers that D has:
  // "c" (c0d0+c1d1+...: the usual accumulation in place), "a", "b", "c_reversed" (c0dN+...+cNd0),
  // "c_rotated" (c0d1+...+cNd0). The result must not depend on it. Or registers of operands that are also
  // those of operands, which changes the operands: "c1c0" (register 1 of C is register 0 of C),
  // "a_broadcast" (a1a0+...+aNa0), "c_broadcast_d" (c_broadcast+c0d0), "c_is_a" (c0a0+c1a1+...).
  std::string overlap = {};
  // mma and wmma: one of NamedSurroundings() (device/cuda/surroundings.h); "": none. The result must not
  // depend on it.
  std::string around = {};
  // Registers that operands share in `overlap` are copies instead (CopiedRegisters()). For comparison; no
  // suffix gives such a variant.
  bool copied = false;

  friend bool operator==(const Variant&, const Variant&) = default;
};

// Each variant of the instruction without an overlap or surroundings, once; the first is Variant().
std::vector<Variant> VariantsOf(const Instruction& instruction);

// The member of VariantsOf() that the wanted variant amounts to for this instruction.
Variant VariantFor(const Instruction& instruction, const Variant& wanted);

// The operands that a kernel of the variant reads and writes, as in sim/layout.h.
struct VariantOperands {
  Operand a, b, c, d;
};
VariantOperands OperandsOf(const Variant& variant);

// The text after the GPU number in the specification of a device with this variant: "" for
// Variant(), otherwise ",a=registers", ",layout=col.row" (of A and B, as PTX writes it), ",c=col",
// ",overlap=c_reversed" and ",around=loop", as far as they apply: "cuda:0" + SuffixOf(variant) opens it
// (device/cuda/cuda.h).
std::string SuffixOf(const Variant& variant);
// For people: a part of a suffix, "layout", its values, and the operands that it concerns.
struct VariantUsage {
  std::string name, values, what;
};
std::vector<VariantUsage> VariantUsages();
std::string VariantValues();  // all of them
// In any order. nullopt if no variant has the suffix.
std::optional<Variant> VariantWithSuffix(absl::string_view suffix);

}  // namespace mmadiff
