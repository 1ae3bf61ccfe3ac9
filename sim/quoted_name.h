// Names of instructions as people quote them: PTX, SASS, CUTLASS atoms, builtins and intrinsics of compilers, vendors'
// mnemonics in capitals or without what their modifiers choose.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmadiff {

// Names of the operations that `text` may mean, in table order, those without a model last: all of them where `text` leaves
// something open, none if it is not understood. `text` may begin with an architecture as ArchitectureOf() takes it and a slash,
// and what stands behind the name, operands or template arguments, is not read. Names of AllUnknown() are among them.
//   "h100/HGMMA.64x8x16.F32"    sm_90/wgmma.m64n8k16.f32.f16.f16: without an input type SASS means f16
//   "HMMA.16816.F32"            an operation of each architecture that has the instruction
//   "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"    d and c: a and b are f16
std::vector<std::string> QuotedOperations(std::string_view text);

// What of the text the tables do not know, if without it the text would mean some: "cta_group::2"; else "".
std::string NotUnderstood(std::string_view text);

// Formats that a name means: "half", "float16", "fp16" are f16; "fp8" is one of four. Those of the tables mean themselves.
// None if it is no format.
std::vector<std::string> QuotedFormats(std::string_view name);

}  // namespace mmadiff
