// The result of inferring an operation, as `infer` and `probe` print it with --json.
#pragma once

#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "fuzz/output/fields.h"
#include "fuzz/verdict/ending.h"
#include "sim/operation.h"
#include "triage/infer/infer.h"

namespace mmadiff {

// The result for an instruction: an algorithm, or the nearest one.
struct InferredInstruction {
  const Operation& op;
  const Inference& inference;
};

// The verdicts of an inference. An error does not invalidate earlier answers; its own verdict comes
// from the drop.
void SayInferred(const Operation& op, const Inference& inference, Ending& ending);

// The path in a --device=recorded:PATH; "" for other devices.
std::string RecordingOf(absl::string_view device);

// A command line that infers the operations, or the first ones of many.
std::string InferCommand(const std::string& device, std::span<const Operation* const> ops);

Fields<InferredInstruction> FieldsOf(const InferredInstruction*);

}  // namespace mmadiff
