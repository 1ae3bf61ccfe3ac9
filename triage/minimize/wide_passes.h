// Reduction passes with very many proposals.
#pragma once

#include <span>

#include "triage/minimize/passes.h"

namespace mmadiff {

// Up to some hundred thousand proposals each, which leave a local minimum with two changes at once
// or start from the simplest possible cases. A device whose answers no neighbor predicts is not
// asked about all of them.
std::span<const Pass> WidePasses();

}  // namespace mmadiff
