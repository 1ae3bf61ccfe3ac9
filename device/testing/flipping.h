// For tests: a device whose answers do not all repeat.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "device/device.h"
#include "sim/simulate.h"

namespace mmadiff {

// The simulator, with a random bit flipped in about one of `of` answers.
class FlippingDevice : public Device {
 public:
  FlippingDevice(uint64_t seed, uint64_t of) : random_(seed), of_(of) {}
  std::string name() const override { return "flipping"; }
  Identity identity() const override { return Identity::Named("flipping"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    Simulate(op.model, batch, d);
    for (uint64_t& word : d) {
      if (random_() % of_ == 0) word ^= uint64_t{1} << random_() % op.model.d.bits;
    }
    return absl::OkStatus();
  }

 private:
  std::mt19937_64 random_;
  const uint64_t of_;
};

}  // namespace mmadiff
