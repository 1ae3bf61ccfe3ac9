// Operations outside the tables: only their formats and k are known. Their architecture is
// "unlisted"; their name spells out the rest: "unlisted/kK.D.A.B.C" or
// "unlisted/kK.D.A.B.C.SCALE.BLOCK", where BLOCK consecutive k share a scale. If A is sparse
// (sim/sparsity.h), ".sparseG" follows: G elements share a metadata word.
#pragma once

#include <string_view>

#include "sim/operation.h"

namespace mmadiff {

// nullptr if the name does not have that form: K is 1 to kMaxK, BLOCK divides K, formats are from
// kFormats or described (sim/described_format.h), and integers and floating point do not mix. C may
// be "-": there is no addend (sim/absent_addend.h). Or both B and C are "-" and K is 1: a conversion
// between floating-point formats, without scales. The operation has the shape of one dot
// product and no model. Calls with the same name return the same operation. Thread-safe.
const Operation* FindUnlisted(std::string_view name);

}  // namespace mmadiff
