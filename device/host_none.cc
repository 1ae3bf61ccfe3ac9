// For CPU architectures without supported matrix-multiply instructions.
#include "device/host_instruction.h"

namespace mmadiff {

std::span<const HostInstruction> HostInstructions() { return {}; }

uint32_t FloatingPointControl() { return 0; }
void SetFloatingPointControl(uint32_t) {}
uint32_t DefaultFloatingPointControl() { return 0; }
std::span<const Mode> HostModes() { return {}; }

Identity HostIdentity() {
  return Identity().Add("hardware", "a CPU without instructions known here");
}

}  // namespace mmadiff
