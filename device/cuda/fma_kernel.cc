// fma: 32 lanes, each with one product and its addend.
#include "device/cuda/fma_kernel.h"

#include "absl/strings/str_cat.h"

namespace mmadiff {

std::string FmaBody(const Instruction& i) {
  const int bits = i.d->bits;
  // Sets %base to this lane's word in the array of one operand.
  const auto base = [bits](const char* operand) {
    return absl::StrCat("  ld.param.u64 %base, [p", operand, "];\n  mad.wide.u32 %base, %index, ",
                        bits / 8, ", %base;\n");
  };
  std::string text =
      absl::StrCat("  .reg .b32 %lane, %index;\n  .reg .b", bits, " %a, %b, %c, %d;\n",
                   "  .reg .b64 %base;\n  mov.u32 %index, %ctaid.x;\n  mov.u32 %lane, %tid.x;\n",
                   "  mad.lo.u32 %index, %index, 32, %lane;\n");
  for (const char* operand : {"a", "b", "c"}) {
    absl::StrAppend(&text, base(operand), "  ld.global.b", bits, " %", operand, ", [%base+0];\n");
  }
  absl::StrAppend(&text, "  ", i.name, " %d, %a, %b, %c;\n", base("d"), "  st.global.b", bits,
                  " [%base+0], %d;\n");
  return text;
}

}  // namespace mmadiff
