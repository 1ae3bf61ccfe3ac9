// Executes the machine code of a kernel, 32 lanes in lockstep, one warp after the other. Global memory
// addresses are host addresses.
//
//   const auto programs = sass::Disassemble(nvdisasm, "kernels.cubin");  // or ParsePrograms(text)
//   sass::Counts counts;
//   absl::Status s = sass::Execute(programs->at("kernel"), {.blocks = 1, ...}, counts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// Counts of executed instructions; an instruction counts once for all lanes of a warp that execute
// it together.
struct Counts {
  uint64_t instructions = 0;
  uint64_t local_accesses = 0;  // loads and stores of local memory among them
};

class Lanes;
class Natives;

// Sees every instruction of every warp.
class Observer {
 public:
  virtual ~Observer() = default;
  // `active`: the lanes that are at the instruction; `guarded`: those of them that execute it. An
  // error ends the execution.
  virtual absl::Status Before(const Instruction& in, uint32_t active, uint32_t guarded,
                              Lanes& warp) = 0;
  // Once its results are written.
  virtual absl::Status After(const Instruction& in, Lanes& warp) = 0;
};

struct MemoryRange {
  const void* begin;
  size_t bytes;
};

struct Launch {
  int64_t blocks;
  int threads;          // per block
  size_t shared_bytes;  // per block
  const void* parameters;
  size_t parameter_bytes;
  const Natives* natives = nullptr;  // nullptr: no matrix instruction is executed
  // The host memory that the code may access; empty: all of it.
  std::span<const MemoryRange> memory = {};
  uint64_t most_instructions = ~uint64_t{0};  // of all warps; then kResourceExhausted
  Observer* observer = nullptr;
};

// Adds to `counts`. kUnimplemented: an unsupported instruction. kInternal: the code misbehaved.
// kResourceExhausted: Launch::most_instructions.
absl::Status Execute(const Program& program, const Launch& launch, Counts& counts);

}  // namespace mmadiff::sass
