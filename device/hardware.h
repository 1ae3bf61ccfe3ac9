// A piece of hardware: compared by `unit`, printed by Name().
#pragma once

#include <cstdint>
#include <string>

namespace mmadiff {

struct Hardware {
  // The parts that `answered` counts. Numbers are stored (proto Hardware).
  enum Part : uint8_t { kNone, kMultiprocessors, kComputeUnits };

  std::string unit;  // serial number, "GPU-0d1e6a2c-..."; "" if nothing is known
  std::string pci;   // PCI address, "0000:17:00.0"; "" if not known
  Part part = kNone;
  uint32_t answered = 0, of = 0;  // parts that have answered so far, and all

  bool known() const { return !unit.empty(); }
  friend bool operator==(const Hardware&, const Hardware&) = default;
};
inline constexpr int kHardwareParts = Hardware::kComputeUnits + 1;
// "GPU-0d1e... at PCI 0000:17:00.0, 130 of 132 multiprocessors answered"
std::string Name(const Hardware& hardware);

// A computer, and the hardware in it that did a unit of work.
struct Machine {
  std::string host;
  Hardware hardware;

  friend bool operator==(const Machine&, const Machine&) = default;
};
std::string Name(const Machine& machine);  // "node7, GPU-0d1e..."; "" if nothing is known

}  // namespace mmadiff
