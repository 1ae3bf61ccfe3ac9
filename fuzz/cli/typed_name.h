// Names as users type them on a command line: products, PTX, SASS, atoms of CUTLASS, builtins.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "sim/plan/plan.h"
#include "triage/race/racer.h"

namespace mmadiff {

// The tables' name or glob for `text`, printed to stderr if the spelling differs; `text` itself if
// it is a name of the tables, or unknown. Among several operations of one instruction, the one that
// `device` (if not null) supports. kInvalidArgument lists the possible meanings of an ambiguous
// name. kNotFound: the tables have nothing for its architecture.
absl::StatusOr<std::string> TypedName(const std::string& text, const Device* device = nullptr);

// The same, but an architecture alone means all its instructions, and a glob without an
// architecture means all architectures.
absl::StatusOr<std::string> TypedGlob(const std::string& text, const Device* device = nullptr);

// ParsePlan(), whose instruction is a typed name. kInvalidArgument: no plan.
absl::StatusOr<Plan> TypedPlan(const std::string& text);

// ParseRacer() of "NAME[:NAME=VALUE,...]", whose first name is a typed name.
absl::StatusOr<Racer> TypedRacer(const std::string& text);

// The same, but an architecture alone means its row that multiplies the same formats as `like`: if
// there are several, one of the same name or k; a native one if there is any.
absl::StatusOr<Racer> TypedRacer(const std::string& text, const Operation& like);

// The tables' name of an architecture, "" if `text` is not an architecture. kNotFound as above.
absl::StatusOr<std::string> TypedArchitecture(const std::string& text);

}  // namespace mmadiff
