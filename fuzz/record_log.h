// Records a device's answers to the first cases of one strategy in one block log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/console.h"
#include "fuzz/engine.h"

namespace mmadiff {

struct RecordLogOptions {
  std::vector<const Operation*> ops;  // the device supports them all
  const Strategy* strategy = nullptr;
  uint64_t seed = 1;
  uint64_t cases = 0;  // executions of each operation
};

struct RecordLogOutcome {
  uint64_t dot_products = 0;          // 0: nothing answered, and there is no file
  std::vector<absl::Status> dropped;  // operations that failed alone; the others went on
};

// kDataLoss when the file could not be written; kCancelled after SIGINT or SIGTERM; else the
// device's error (DeviceError()). On an error after the file was made it is removed.
absl::StatusOr<RecordLogOutcome> RecordLog(const RecordLogOptions& options, Engine& engine,
                                           const std::string& path, Console& console);

}  // namespace mmadiff
