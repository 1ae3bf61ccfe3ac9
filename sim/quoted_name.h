// Names of instructions as people quote them: PTX, SASS, CUTLASS atoms, compiler builtins and
// intrinsics, vendors' mnemonics in capitals or without the formats that their modifiers select.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmadiff {

// Names of the operations that `text` may mean, in table order, those without a model last. Returns
// several if `text` is ambiguous, none if it is not understood. Names of AllUnknown() are included.
// `text` may begin with an architecture, as ArchitectureOf() accepts it, and a slash. Operands
// after the name are not read.
//   "h100/HGMMA.64x8x16.F32"    sm_90/wgmma.m64n8k16.f32.f16.f16: without an input type, SASS means f16
//   "HMMA.16816.F32"            one operation for each architecture that has the instruction
//   "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"    types of d and c; a and b are f16
std::vector<std::string> QuotedOperations(std::string_view text);

// The part of the text, such as "cta_group::2", that is not in the tables, if the text without it
// would name an operation; else "".
std::string NotUnderstood(std::string_view text);

// Formats that a name means: "half", "float16" and "fp16" mean f16; "fp8" may be any of four. Names
// of the tables mean themselves. None if the name is not a format.
std::vector<std::string> QuotedFormats(std::string_view name);

}  // namespace mmadiff
