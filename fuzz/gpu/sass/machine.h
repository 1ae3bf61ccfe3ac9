// Executes machine code of a kernel, 32 lanes in step, and counts what a multiprocessor would have
// to do for it. Addresses of global memory are the host's.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fuzz/gpu/sass/opcodes.h"
#include "fuzz/gpu/sass/program.h"

namespace mmadiff::sass {

// Of all warps of all launches. A wavefront is what the memory unit does in a cycle: 32 banks of
// 4 bytes of shared memory (64-bit accesses: half a warp at a time, 128-bit: a quarter), or one
// 128-byte line of global or local memory.
struct Counts {
  uint64_t warps = 0;
  uint64_t instructions[static_cast<int>(Unit::kCount)] = {};
  uint64_t wide_multiplies = 0;  // of these, IMAD.WIDE and IMAD.HI: taken to need two slots
  uint64_t shared_wavefronts = 0, global_lines = 0, local_lines = 0;
  uint64_t global_sectors = 0;  // of 32 bytes
  uint64_t atomics = 0;         // lanes

  Counts& operator+=(const Counts& other);
  uint64_t issued() const;
  // Cycles of one multiprocessor that is always busy: the busiest of its units.
  double cycles() const;
  const char* busiest() const;
  double CyclesOf(Unit unit) const;
};

struct Launch {
  int64_t blocks;
  int threads;
  size_t shared_bytes;
  const void* parameters;
  size_t parameter_bytes;
};

// kUnimplemented: an instruction that is not understood. kInternal: the code went astray. Adds to
// `counts`, and to `executed` (by instruction), which may be null.
absl::Status Execute(const Program& program, const Launch& launch, Counts& counts,
                     std::vector<uint64_t>* executed);

}  // namespace mmadiff::sass
