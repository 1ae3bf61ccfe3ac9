// Reduction passes: each proposes simpler relatives of a dot product in a fixed order. A new pass
// is one function and one line of a table. The engine (triage/minimize/minimize.cc) decides which
// proposals to take: those that are simpler (triage/minimize/simplicity.h) and still differ in the
// same way. So a pass may propose anything.
#pragma once

#include <span>

#include "absl/functional/function_ref.h"
#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// Returns true if the pass must stop: a proposal was taken, or the device failed.
using Offer = absl::FunctionRef<bool(const DotProductCase&)>;

struct Pass {
  const char* name;
  void (*propose)(const Model& model, const DotProductCase& current, Offer offer);
  // The proposals do not depend on `current`: once none is taken, none ever will be.
  bool from_scratch = false;
};

// At most some thousand proposals each, in the order in which they are tried.
std::span<const Pass> Passes();

}  // namespace mmadiff
