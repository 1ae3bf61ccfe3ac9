// The part of `plan` that compares a device that multiplies matrices with a recording of one.
#pragma once

#include <string>
#include <vector>

#include "fuzz/cli/cli.h"
#include "fuzz/cli/plan_shapes.h"

namespace mmadiff {

// Asks the device for the last product of every shape of the recording --expect, compares digests,
// and asks for the plans of the shapes whose digests differ. `formats` as in AskShapes(); a program
// has those of the recording if they are nullptr.
absl::Status ExpectRecording(const ShapeFlags& flags, const std::vector<const Format*>& formats,
                             const std::vector<std::string>& instr, int threads, Call& call);

// The schema of its JSON.
Schema SchemaOfExpectation();

}  // namespace mmadiff
