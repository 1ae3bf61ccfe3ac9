// What a dot product costs on this machine, part by part: the generator, the simulator, a device, the
// digest, and a whole unit of a run.
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

// Nanoseconds a dot product in one thread: the least of several rounds, because what disturbs only
// adds. A round goes through all parts, so that they meet the same disturbance.
struct BenchRow {
  const Operation* op = nullptr;
  double generator = 0, simulator = 0, digest = 0;
  std::optional<double> device;        // of a device that has the operation
  bool agrees = true;                  // all its answers that were timed are the model's
  std::optional<KernelCosts> kernels;  // of the device, where cases stay on it
  // A unit as `run` does it, with what the device says already known: all but the device's time.
  double unit = 0;
  // Times of the slowest round: smaller differences mean nothing.
  double simulator_most = 0, unit_most = 0;
  // Instructions of the simulator a dot product, counted, and the time of those on vectors if each
  // were an addition and nothing else took any: 0 where they are not counted, because nobody asked,
  // this machine forbids it, or there are more than four million.
  double instructions = 0, vector_instructions = 0, bound = 0;
};

struct BenchOptions {
  std::vector<const Operation*> ops;  // with models
  const Strategy* strategy = nullptr;
  absl::Duration part = absl::Milliseconds(50);  // of a part in a round, at least one batch
  int rounds = 3;
  bool bound = false;  // seconds a row
};

// Rows of every family that are measured unless others are named; names of the table.
std::vector<std::string> BenchedRows();

struct BenchRows {
  std::vector<BenchRow> rows;
  absl::Status status;  // the device's, of the row behind the last
};

// `device` may be null. Ends early, with the rows so far, when `stop` says so or the device fails.
BenchRows Bench(const BenchOptions& options, Device* device, absl::FunctionRef<bool()> stop,
                absl::FunctionRef<void(const Operation&)> progress);

}  // namespace mmadiff
