// Names as people type them on a command line: products, PTX, SASS, atoms of CUTLASS, builtins.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/race/racer.h"

namespace mmadiff {

// The tables' name or glob for `text`, printed to stderr if it is a different spelling; `text` itself if it is a name of the
// tables, or nothing known. Of several operations of one instruction the one that `device`, if there is one, supports.
// kInvalidArgument lists what it may mean; kNotFound: of its architecture the tables have nothing.
absl::StatusOr<std::string> TypedName(const std::string& text, const Device* device = nullptr);

// The same, but an architecture alone means all its instructions, and a glob without an architecture all architectures.
absl::StatusOr<std::string> TypedGlob(const std::string& text, const Device* device = nullptr);

// ParseRacer() of "NAME[:NAME=VALUE,...]", whose first name is as people type it.
absl::StatusOr<Racer> TypedRacer(const std::string& text);

// The same, but an architecture alone means its row that multiplies the same formats as `like`, of the same name or k if it
// has several, a native one if it has any.
absl::StatusOr<Racer> TypedRacer(const std::string& text, const Operation& like);

// The tables' name of an architecture, "" if `text` is none. kNotFound as above.
absl::StatusOr<std::string> TypedArchitecture(const std::string& text);

}  // namespace mmadiff
