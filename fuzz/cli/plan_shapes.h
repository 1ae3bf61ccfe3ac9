// The part of `plan` that asks a device that multiplies matrices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/matrix_device.h"
#include "fuzz/cli/cli.h"
#include "triage/plan/shape_plans.h"

namespace mmadiff {

struct ShapeFlags {
  std::string device;
  std::vector<std::string> m, n, k;  // "1-64", "512": all combinations; if none: random shapes
  uint64_t seed = 1;
  int cases = 20;      // random shapes
  int largest = 1024;  // m, n or k of these
  std::string out, expect;
};
// `seed`: the flag of ShapeFlags::seed.
void AddShapeFlags(CLI::App& command, ShapeFlags& flags, const Flag& seed);

// A plan and the elements that follow it.
struct PlanOfElements {
  std::string plan, where;
  friend bool operator==(const PlanOfElements&, const PlanOfElements&) = default;
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

inline constexpr int kProducts = 6;  // that the regions of a shape are learned from

// Opens a device that multiplies matrices. `formats`: those of A, B and D of a program, or three
// nullptr. kInvalidArgument: it is none.
absl::StatusOr<std::unique_ptr<MatrixDevice>> OpenMatrixDevice(
    absl::string_view device, const std::vector<const Format*>& formats);
// The instructions that its plans may have, entered as compared. If `instr` is "*", a library has
// only this CPU's multiply-add of its format.
absl::StatusOr<std::vector<const Operation*>> OperationsOf(const MatrixDevice& device,
                                                           const std::vector<std::string>& instr,
                                                           Ledger& ledger);

std::vector<PlanOfElements> PlansOf(const ShapePlans& s);
// Whether its plans give every element, those of one more product too.
bool Explained(const ShapePlans& s);

}  // namespace mmadiff
