// A device that simulates a different model of an operation.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "sim/simulate.h"

namespace mmadiff {

// Its operations must have the model's formats, k and scales.
class ModelDevice : public Device {
 public:
  explicit ModelDevice(const Model& model) : model_(model) {}

  std::string name() const override { return "model"; }
  Identity identity() const override { return Identity::Named("simulator"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation&, const Batch& batch, std::vector<uint64_t>& d) override {
    executions += batch.count;
    d.resize(batch.dot_products());
    Simulate(model_, batch, d);
    return absl::OkStatus();
  }

  int64_t executions = 0;

 private:
  const Model model_;
};

}  // namespace mmadiff
