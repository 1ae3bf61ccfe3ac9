// Operations that no table has: their formats and k are known, nothing else. Their architecture is
// "unlisted", their name says all of them: "unlisted/kK.D.A.B.C" or "unlisted/kK.D.A.B.C.SCALE.BLOCK",
// BLOCK consecutive k sharing a scale.
#pragma once

#include <string_view>

#include "sim/operation.h"

namespace mmadiff {

// nullptr for a name that is not one of these: K is 1 to kMaxK, BLOCK divides it, the formats are of
// kFormats, integers and floating point do not mix. Two calls return the same operation, which has
// the shape of one dot product and no model. Safe in several threads.
const Operation* FindUnlisted(std::string_view name);

}  // namespace mmadiff
