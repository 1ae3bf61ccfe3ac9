// wmma: one warp; matrices in global memory. The contents of a fragment are neither described nor
// tested here.
#include "device/cuda/wmma_kernel.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/cuda/lane_words.h"
#include "device/cuda/surroundings.h"
#include "sim/layout.h"
#include "sim/layout_wmma.h"

namespace mmadiff {
namespace {

struct MatrixInMemory {
  const char* letter;  // in the names of its registers, its parameter and its load or store
  const Format& format;
  Operand operand;
};

const char* Order(Operand operand) { return ByColumns(operand) ? "col" : "row"; }

// Registers of a lane's fragment, 32 bits each, for f64 64. f16 factors are stored twice (PTX ISA
// 9.0, 9.7.14.4.1).
int Registers(const Instruction& i, const MatrixInMemory& matrix) {
  const bool factor = *matrix.letter == 'a' || *matrix.letter == 'b';
  if (factor && absl::string_view(matrix.format.name) == "f16") return 8;
  const int elements = static_cast<int>(Elements(i, matrix.operand).size()) / 32;
  return matrix.format.bits == 64 ? elements : elements * matrix.format.bits / 32;
}

std::string Fragment(const Instruction& i, const MatrixInMemory& matrix) {
  return Vector(matrix.letter, Registers(i, matrix));
}

// Sets %base from the start of the array to the matrix of this execution.
std::string Base(const Instruction& i, const MatrixInMemory& matrix) {
  return absl::StrCat("  ld.param.u64 %base, [p", matrix.letter,
                      "];\n  mad.wide.u32 %base, %execution, ",
                      4 * ExtentOf(i, matrix.operand).registers, ", %base;\n");
}

// "load.a.sync.aligned.row.m16n16k16.global.f16".
std::string Transfer(const char* verb, const MatrixInMemory& matrix, absl::string_view shape) {
  return absl::StrCat("  wmma.", verb, ".", matrix.letter, ".sync.aligned.", Order(matrix.operand),
                      ".", shape, ".global.", matrix.format.name);
}

}  // namespace

// "wmma.m16n16k16.satfinite.s32.s8.s8.s32" to
// "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite".
std::string WmmaMnemonic(const Instruction& i, const Variant& variant) {
  const VariantOperands operands = OperandsOf(variant);
  std::vector<std::string> parts = absl::StrSplit(i.name, '.');
  parts.erase(parts.begin());
  std::string operation, saturation;
  if (parts.back() == "popc") {
    operation = absl::StrCat(".", parts[parts.size() - 2], ".popc");
    parts.resize(parts.size() - 2);
  }
  const auto satfinite = absl::c_find(parts, "satfinite");
  if (satfinite != parts.end()) {
    saturation = ".satfinite";
    parts.erase(satfinite);
  }
  // For f16, PTX names only the types of D and C.
  if (absl::string_view(i.a->name) == "f16") parts.erase(parts.begin() + 2, parts.begin() + 4);
  return absl::StrCat("wmma.mma", operation, ".sync.aligned.", Order(operands.a), ".",
                      Order(operands.b), ".", absl::StrJoin(parts, "."), saturation);
}

RegisterCounts WmmaRegisters(const Instruction& i) {
  return {Registers(i, {"a", *i.a, Operand::kA}), Registers(i, {"b", *i.b, Operand::kB}),
          Registers(i, {"c", *i.c, Operand::kC}), Registers(i, {"d", *i.d, Operand::kD})};
}

std::string WmmaBody(const Instruction& i, const Variant& variant) {
  const VariantOperands operands = OperandsOf(variant);
  const MatrixInMemory a = {"a", *i.a, operands.a}, b = {"b", *i.b, operands.b},
                       c = {"c", *i.c, operands.c}, d = {"d", *i.d, operands.d};
  const std::string shape = absl::StrCat("m", i.shape.m, "n", i.shape.n, "k", i.shape.k);
  std::string text = absl::StrCat("  .reg .b", i.d->bits == 64 ? 64 : 32,
                                  " %a<8>, %b<8>, %c<8>, %d<8>;\n  .reg .b32 %execution;\n",
                                  "  .reg .b64 %base;\n  mov.u32 %execution, %ctaid.x;\n");
  for (const MatrixInMemory& m : {a, b, c}) {
    absl::StrAppend(&text, Base(i, m), Transfer("load", m, shape), " ", Fragment(i, m),
                    ", [%base], ", LeadingDimension(i, m.operand), ";\n");
  }
  const int bits = i.d->bits == 64 ? 64 : 32;
  const AssignedRegisters assigned = (variant.copied ? CopiedRegisters : AssignRegisters)(
      variant.overlap, WmmaRegisters(i), "", 1, bits);
  const auto instruction = [&](const AssignedRegisters& r) {
    return absl::StrCat(WmmaMnemonic(i, variant), " ", r.d, ", ", r.a, ", ", r.b, ", ", r.c);
  };
  absl::StrAppend(&text, Surrounded(variant.around, assigned, bits, instruction), Base(i, d),
                  Transfer("store", d, shape), " [%base], ", Fragment(i, d), ", ",
                  LeadingDimension(i, d.operand), ";\n");
  return text;
}

}  // namespace mmadiff
