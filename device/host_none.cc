// A CPU architecture without matrix-multiply instructions known here.
#include "device/host_instruction.h"

namespace mmadiff {

std::span<const HostInstruction> HostInstructions() { return {}; }

std::string HostIdentity() { return "a CPU without instructions known here"; }

}  // namespace mmadiff
