// Infers the models of operations from a device or from recorded answers, and files what was asked.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fuzz/console.h"
#include "triage/infer/infer.h"

namespace mmadiff {

// An operation that no table has: its formats and k are known, nothing else.
struct UnlistedOperation {
  Instruction instruction;
  Numerics numerics;
  Operation op;
};

// `formats`: names of those of a, b, c and d, separated by commas. `scale`: "" or "FORMAT:BLOCK", so
// many consecutive k share a scale. The name is "unlisted/kK.D.A.B.C". kInvalidArgument says what is
// wrong.
absl::StatusOr<std::unique_ptr<UnlistedOperation>> MakeUnlisted(const std::string& formats, int k,
                                                                const std::string& scale);

// From everything that a recording has of the operation: what was found gives all of it. Errors as
// ReadRecordings(); kNotFound if it has nothing.
absl::StatusOr<Inference> InferFromRecording(const std::string& path, Device& device,
                                             const Operation& op);

// A file FOLDER/ARCH.INSTRUCTION.txt in the line protocol with every question and answer, and, where
// nothing gives them all and the table has a model, the smallest refuting case. kDataLoss: they
// could not be written.
absl::Status FileInference(const std::string& folder, Device& device, const Operation& op,
                           const Inference& inference);

}  // namespace mmadiff
