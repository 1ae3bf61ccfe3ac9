// Reduction passes that leave a local minimum with two changes at once, or at random.
#pragma once

#include <span>

#include "triage/minimize/passes.h"

namespace mmadiff {

// Each makes some thousand proposals that leave a local minimum with two changes at once, mostly to
// fewer terms. Few enough for a device whose answers no neighbor predicts.
std::span<const Pass> LeapPasses();

// Tens of thousands of randomly drawn proposals, the same ones each time, for cases that the other
// passes miss.
std::span<const Pass> DrawPasses();

}  // namespace mmadiff
