// Executes machine code of a kernel for sm_90, 32 lanes in step. Addresses of global memory are the
// host's.
//
//   const auto programs = sass::Disassemble(nvdisasm, "kernels.cubin");  // or ParsePrograms(text)
//   sass::Counts counts;
//   absl::Status s = sass::Execute(programs->at("kernel"), {.blocks = 1, ...}, counts);
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// What the warps executed; an instruction counts once for all lanes of a warp that execute it
// together.
struct Counts {
  uint64_t instructions = 0;
  uint64_t local_accesses = 0;  // of these, loads and stores of local memory
};

struct Launch {
  int64_t blocks;
  int threads;          // of a block
  size_t shared_bytes;  // of a block
  const void* parameters;
  size_t parameter_bytes;
};

// Adds to `counts`. kUnimplemented: an instruction that is not understood. kInternal: the code went
// astray.
absl::Status Execute(const Program& program, const Launch& launch, Counts& counts);

}  // namespace mmadiff::sass
