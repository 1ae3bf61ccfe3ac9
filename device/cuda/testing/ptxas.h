// The assembler of the CUDA Toolkit, for tests of machine code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/kernel.h"

namespace mmadiff {

// From MatrixOpcodes().
using Opcodes = std::map<std::string, int>;

// The targets that the ptxas of CUDA 13 supports: it has no sm_70.
std::vector<PtxTarget> TargetsOfPtxas();

std::string NameOf(const ModuleEntry& entry);

// Path of ptxas; "" if not found.
std::string Ptxas();

// The machine code of a module; nullopt if ptxas rejects it, and then `messages` receives its
// messages.
std::optional<std::string> Cubin(const PtxTarget& target, const std::string& text,
                                 std::string* messages = nullptr);

// ptxas's result for each entry; nothing for text that it rejects. All entries form one module,
// because a start of ptxas costs more than a kernel; rejected entries are removed until the rest
// assembles.
std::vector<std::optional<Opcodes>> Assemble(const PtxTarget& target,
                                             const std::vector<ModuleEntry>& entries);

}  // namespace mmadiff
