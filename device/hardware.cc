#include "device/hardware.h"

#include "absl/strings/str_cat.h"

namespace mmadiff {

std::string Name(const Hardware& hardware) {
  constexpr const char* kParts[kHardwareParts] = {"", "multiprocessors", "compute units"};
  std::string name = hardware.unit;
  if (!hardware.pci.empty()) absl::StrAppend(&name, " at PCI ", hardware.pci);
  if (hardware.part == Hardware::kNone) return name;
  return absl::StrCat(name, ", ", hardware.answered, " of ", hardware.of, " ",
                      kParts[hardware.part], " answered");
}

std::string Name(const Machine& machine) {
  if (!machine.hardware.known()) return machine.host;
  return absl::StrCat(machine.host, ", ", Name(machine.hardware));
}

}  // namespace mmadiff
