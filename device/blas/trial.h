// Foreign code is tried in a child process first: libraries that miss a file or a kernel end the
// process.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace mmadiff::blas {

// Calls `use` in a copy of this process. kFailedPrecondition if that process ends by itself or does
// not return within a minute: the message has what it printed, as one line. kUnavailable: no
// process can be created.
absl::Status TryInChild(absl::FunctionRef<void()> use);

}  // namespace mmadiff::blas
