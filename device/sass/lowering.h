// The computations into which an assembler translates an instruction (device/sass/expressions.h).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "device/sass/kernel_code.h"

namespace mmadiff::sass {

struct Lowering {
  // "low:1f3a9c77": digest of the expressions of all words of D. Equal names: equal results for all
  // inputs. "path:1f3a9c77" if branches depend on inputs: that of the path of the batch.
  std::string name;
  std::string computes;  // for people: the expression of the first word of D
  bool branches_on_data = false;
};

// Follows the first execution of a batch. Errors as Follow().
absl::StatusOr<Lowering> LoweringOf(const KernelCode& code, const mmadiff::Instruction& instruction,
                                    const Natives& natives, const Batch& batch);

}  // namespace mmadiff::sass
