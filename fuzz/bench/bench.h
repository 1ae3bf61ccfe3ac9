// Measures the cost of a dot product on this machine, part by part: the generator, the simulator, a
// device, the digest, and a whole unit of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/cases/case_name.h"
#include "device/device.h"
#include "fuzz/bench/kernels.h"

namespace mmadiff {

// Nanoseconds per dot product in one thread: the minimum of several rounds, because disturbances
// only add time. A round goes through all parts, so that they are disturbed alike.
struct BenchRow {
  const Operation* op = nullptr;
  double generator = 0, simulator = 0, digest = 0;
  std::optional<double> device;        // for a device that supports the operation
  bool agrees = true;                  // all timed answers of the device equal the model's
  std::optional<KernelCosts> kernels;  // kernels of the device, if cases stay on it
  // A unit as in `run`, with the device's answers already known: everything except the device's
  // time.
  double unit = 0;
  // Times of the slowest round; smaller differences are noise.
  double simulator_most = 0, unit_most = 0;
  // Counted instructions of the simulator per dot product, and the time of the vector instructions
  // if each were an addition and nothing else took time. 0 if they were not counted: not requested,
  // forbidden on this machine, or more than four million.
  double instructions = 0, vector_instructions = 0, bound = 0;
};

struct BenchOptions {
  std::vector<const Operation*> ops;  // with models
  const Strategy* strategy = nullptr;
  absl::Duration part =
      absl::Milliseconds(50);  // time for each part in a round; at least one batch runs
  int rounds = 3;
  bool bound = false;  // takes seconds per row
};

// The names of the rows that are measured by default, some of every family.
std::vector<std::string> BenchedRows();

struct BenchRows {
  std::vector<BenchRow> rows;
  absl::Status status;  // the device's error for the row after the last one
};

// `device` may be null. Ends early, with the rows so far, when `stop` returns true or the device
// fails.
BenchRows Bench(const BenchOptions& options, Device* device, absl::FunctionRef<bool()> stop,
                absl::FunctionRef<void(const Operation&)> progress);

}  // namespace mmadiff
