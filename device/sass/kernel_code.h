// The machine code of an instruction's kernel (device/cuda/kernel.h), executed on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/kernel.h"
#include "device/sass/natives.h"
#include "device/sass/origins.h"
#include "device/sass/program.h"
#include "sim/batch.h"

namespace mmadiff::sass {

struct KernelCode {
  Kernel kernel;
  Program program;
  size_t shared_bytes = 0;  // of a block
};

// The targets whose machine code is executed: "sm_75, sm_80, ...".
std::string TargetNames();
// Also without its letter: "sm_90". kInvalidArgument, with the names: no such target.
absl::StatusOr<const PtxTarget*> FindTarget(absl::string_view name);

// NVIDIA's assembler for one target, with the disassembler that reads its output.
struct Toolchain {
  const PtxTarget* target = nullptr;
  std::string ptxas, nvdisasm;  // paths
  std::string version;          // of ptxas: "13.0.88"
  std::string options;          // "-O3 -arch=sm_90a"
};
// `ptxas`, and in the result the disassembler, are found as in device/sass/nvdisasm.h. `level`: "0" to
// "3". kInvalidArgument: no such target or level.
absl::StatusOr<Toolchain> FindToolchain(absl::string_view target, const std::string& ptxas,
                                        absl::string_view level);

// The disassembler's text of a module of kernels, each of which HasKernel(). kUnimplemented: the
// assembler rejects it.
absl::StatusOr<std::string> AssembledText(const Toolchain& tools,
                                          std::span<const ModuleEntry> entries);
// The kernel in the disassembler's text. kNotFound: it is not there.
absl::StatusOr<KernelCode> Find(absl::string_view text, const PtxTarget& target,
                                const mmadiff::Instruction& instruction, const Variant& variant);

// Executes a batch of the instruction; the results as of Device::Run(). kCancelled once `stop` returns
// true.
absl::Status Run(const KernelCode& code, const mmadiff::Instruction& instruction,
                 const Natives& natives, const Batch& batch, absl::FunctionRef<bool()> stop,
                 std::vector<uint64_t>& d);

// Whether the code waits for registers in the first execution of a batch (device/sass/waits.h):
// kInternal names the first use without a wait.
absl::Status CheckWaits(const KernelCode& code, const mmadiff::Instruction& instruction,
                        const Natives& natives, const Batch& batch);

// The expression of each word of D in the first execution of a batch, in the layout's order
// (OperandWords). The operands are arrays "a", "b" and "c".
struct Followed {
  std::unique_ptr<Origins> origins;
  std::vector<int> d;  // -1 for a word that holds no element
};
absl::StatusOr<Followed> Follow(const KernelCode& code, const mmadiff::Instruction& instruction,
                                const Natives& natives, const Batch& batch, Expressions& pool);

}  // namespace mmadiff::sass
