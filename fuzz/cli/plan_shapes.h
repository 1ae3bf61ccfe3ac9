// The part of `plan` that asks a device that multiplies matrices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/cli/cli.h"
#include "triage/plan/shape_plans.h"

namespace mmadiff {

struct ShapeFlags {
  std::string device;
  std::vector<std::string> m, n, k;  // "1-64", "512": all combinations; if none: random shapes
  uint64_t seed = 1;
  int cases = 20;      // random shapes
  int largest = 1024;  // m, n or k of these
};
void AddShapeFlags(CLI::App& command, ShapeFlags& flags);

// A plan and the elements that follow it.
struct PlanOfElements {
  std::string plan, where;
};
Fields<PlanOfElements> FieldsOf(const PlanOfElements*);
std::vector<PlanOfElements> PlansOf(const Regions& regions);
std::string ElementsText(const std::vector<PlanOfElements>& plans);  // a line for each

// The operations of which a plan for these formats is possible. kInvalidArgument: none.
absl::StatusOr<std::vector<const Operation*>> PossibleOperations(
    const std::vector<const Operation*>& ops, const MatrixFormats& formats);

// Asks the device for every shape, prints which plans it follows, and where they change. `formats`
// are those of A, B and D, or three nullptr.
absl::Status AskShapes(const ShapeFlags& flags, const std::vector<const Format*>& formats,
                       const std::vector<std::string>& instr, int threads, Call& call);

// The schema of its JSON.
Schema SchemaOfShapes();

}  // namespace mmadiff
