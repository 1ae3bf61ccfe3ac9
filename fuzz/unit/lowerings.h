// The lowerings (device/sass/lowering.h) of operations by versions of ptxas, compared with the model and
// with each other.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/kernel.h"
#include "device/sass/lowering.h"
#include "sim/operation.h"

namespace mmadiff {

struct FoundLowering {
  sass::Lowering lowering;
  std::vector<std::string> versions;  // of ptxas, in the order asked
  std::string ptxas;                  // the first of these, as asked
  uint64_t dot_products = 0;          // compared
  std::string differs = {};  // name of the first case that differs from the model; "": none
  std::vector<uint64_t> answers = {};  // to the cases
};

struct FailedLowering {
  std::string why;
  bool rejected;  // by the assembler; otherwise its machine code is not executed
};

struct OperationLowerings {
  const Operation* op;
  std::vector<FoundLowering> found = {};
  std::map<std::string, FailedLowering> failed = {};  // by version
  // For each after the first: name of the first case in which it differs from the first; "": in none
  // of the cases.
  std::vector<std::string> from_first = {};
};

struct LoweringOptions {
  std::vector<std::string> ptxas =
      {};  // as sass::FindAssembler() takes them; empty: the default one
  std::string level = "3";
  uint64_t cases = 100;  // executions of each lowering, of the default strategy
};

// Adds the lowerings of the operations, each of which HasKernel() on the target. Rejections by an
// assembler and code that is not executed are in `failed`. kNotFound: no such assembler.
absl::Status FindLowerings(const LoweringOptions& options, const PtxTarget& target,
                           std::span<OperationLowerings> operations);

}  // namespace mmadiff
