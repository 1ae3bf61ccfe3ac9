// Reduction passes that leave a local minimum by two changes at once, or at random.
#pragma once

#include <span>

#include "triage/minimize/passes.h"

namespace mmadiff {

// Some thousand proposals each, which leave a local minimum by two changes at once, mostly to fewer
// terms. Few enough for a device whose answers no neighbour predicts.
std::span<const Pass> LeapPasses();

// Tens of thousands of proposals drawn at random, the same ones each time, for what the others
// overlook.
std::span<const Pass> DrawPasses();

}  // namespace mmadiff
