// The part of `plan` that prints a plan as a model file.
#pragma once

#include <string>

#include "fuzz/cli/matrices.h"
#include "fuzz/cli/plan_shapes.h"

namespace mmadiff {

// Prints the tree of one element of D for --k products; factors that are not given are 1.
// kInvalidArgument: the text is not a plan, --k is not one number, or why no tree gives the bits.
absl::Status PrintPlanTree(const std::string& plan, const MatrixFlags& matrices,
                           const ShapeFlags& shapes, Call& call);
Schema SchemaOfPlanTree();

}  // namespace mmadiff
