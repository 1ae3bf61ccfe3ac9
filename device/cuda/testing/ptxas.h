// The assembler of the CUDA Toolkit, for tests of machine code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/kernel.h"

namespace mmadiff {

// Of MatrixOpcodes().
using Opcodes = std::map<std::string, int>;

// Those that the ptxas of CUDA 13 knows: it has no sm_70.
std::vector<PtxTarget> TargetsOfPtxas();

std::string NameOf(const ModuleEntry& entry);

// Path of ptxas; "" if there is none.
std::string Ptxas();

// The machine code of a module; nothing if ptxas refuses it, and its messages then.
std::optional<std::string> Cubin(const PtxTarget& target, const std::string& text,
                                 std::string* messages = nullptr);

// What ptxas makes of each entry; nothing where it refuses the text. They make one module, for a
// start of ptxas costs more than a kernel; what it refuses is taken out until the rest assembles.
std::vector<std::optional<Opcodes>> Assemble(const PtxTarget& target,
                                             const std::vector<ModuleEntry>& entries);

}  // namespace mmadiff
