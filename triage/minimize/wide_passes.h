// Reduction passes of very many proposals.
#pragma once

#include <span>

#include "triage/minimize/passes.h"

namespace mmadiff {

// Up to some hundred thousand proposals each, which leave a local minimum by two changes at once or
// start from the simplest cases there are. A device whose answers no neighbour predicts is not
// asked about all of them.
std::span<const Pass> WidePasses();

}  // namespace mmadiff
