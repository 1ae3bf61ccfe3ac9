// The driver functions that mmadiff calls, for tests: "memory" is the host's, a
// kernel is known by its PTX text, and a launch runs the simulator on what the registers hold.
// FAKE_CUDA_CAPABILITY is the GPU ("9.0"), FAKE_CUDA_FAILS the name of a function that fails,
// FAKE_CUDA_SWAPS the operand (A, B, C, D) of which lanes 4 and 5 are exchanged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "device/cuda/kernel.h"
#include "sim/layout.h"
#include "sim/row.h"
#include "sim/simulate.h"

namespace {

using namespace mmadiff;  // NOLINT: a test's own library

bool Fails(const char* function) {
  const char* name = std::getenv("FAKE_CUDA_FAILS");
  return name != nullptr && std::string(name) == function;
}

int Capability(int part) {
  const char* text = std::getenv("FAKE_CUDA_CAPABILITY");
  int numbers[2] = {9, 0};
  if (text != nullptr) std::sscanf(text, "%d.%d", &numbers[0], &numbers[1]);
  return numbers[part];
}

// The row whose kernel for this GPU is the text.
const Row* RowOf(const char* text) {
  for (const PtxTarget& target : PtxTargets()) {
    if (target.major != Capability(0) || target.minor != Capability(1)) continue;
    for (const Row& row : Rows()) {
      if (row.arch() != target.arch) continue;
      const bool has = HasKernel(*row.instruction, target).ok();
      if (has && MmaKernel(*row.instruction, target) == text) return &row;
    }
  }
  return nullptr;
}

Place FakePlaceOf(const Row& row, Operand operand, const Element& e) {
  Place p = PlaceOf(*row.instruction, operand, e);
  const char* swaps = std::getenv("FAKE_CUDA_SWAPS");
  if (swaps != nullptr && std::string(swaps) == Name(operand) && p.lane / 2 == 2) p.lane ^= 1;
  return p;
}

uint64_t Element(const Row& row, Operand operand, const Format& f, int registers, const Element& e,
                 const uint32_t* lanes) {
  const Place p = FakePlaceOf(row, operand, e);
  const uint32_t* at = lanes + p.lane * registers + p.reg;
  uint64_t word = at[0] >> p.bit;
  if (f.bits == 64) word |= static_cast<uint64_t>(at[1]) << 32;
  return word & LowBits(f.bits);
}

struct Registers {
  int a, b, c, d;
};

Registers RegistersOf(const Row& row) {
  const auto of = [&row](Operand operand) { return ExtentOf(*row.instruction, operand).registers; };
  return {of(Operand::kA), of(Operand::kB), of(Operand::kC), of(Operand::kD)};
}

void Execute(const Row& row, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d) {
  const Shape& s = row.shape();
  const Registers regs = RegistersOf(row);
  std::memset(d, 0, 4 * 32 * regs.d);
  // Elements of all blocks, row by row.
  const auto read = [&row](Operand operand, const Format& f, int registers, const uint32_t* lanes) {
    std::vector<uint64_t> words;
    for (const mmadiff::Element& e : Elements(*row.instruction, operand)) {
      words.push_back(Element(row, operand, f, registers, e, lanes));
    }
    return words;
  };
  const std::vector<uint64_t> all_a = read(Operand::kA, row.model.a, regs.a, a);
  const std::vector<uint64_t> all_b = read(Operand::kB, row.model.b, regs.b, b);
  for (const mmadiff::Element& e : Elements(*row.instruction, Operand::kD)) {
    DotProductCase dot;
    for (int k = 0; k < s.k; ++k) {
      dot.a.push_back(all_a[(e.block * s.m + e.row) * s.k + k]);
      dot.b.push_back(all_b[(e.block * s.k + k) * s.n + e.column]);
    }
    dot.c = Element(row, Operand::kC, row.model.c, regs.c, e, c);
    const uint64_t word = Simulate(row.model, dot);
    const Place p = FakePlaceOf(row, Operand::kD, e);
    uint32_t* at = d + p.lane * regs.d + p.reg;
    at[0] |= static_cast<uint32_t>(word) << p.bit;
    if (row.model.d.bits == 64) at[1] |= static_cast<uint32_t>(word >> 32);
  }
}

}  // namespace

extern "C" {
int cuInit(unsigned) { return Fails("cuInit") ? 100 : 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int size, int) { return std::snprintf(name, size, "Fake"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  return *value = Capability(attribute - 75), 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = context, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuModuleLoadDataEx(void** module, const void* text, unsigned, int*, void**) {
  const Row* row = RowOf(static_cast<const char*>(text));
  *module = const_cast<Row*>(row);
  return row == nullptr || Fails("cuModuleLoadDataEx") ? 218 : 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return *function = module, std::strcmp(name, "execute") == 0 ? 0 : 500;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  *address = reinterpret_cast<uint64_t>(std::malloc(bytes));
  return Fails("cuMemAlloc_v2") ? 2 : 0;
}
int cuMemFree_v2(uint64_t address) { return std::free(reinterpret_cast<void*>(address)), 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0;
}
int cuLaunchKernel(void* function, unsigned grid, unsigned, unsigned, unsigned block, unsigned,
                   unsigned, unsigned, void*, void** arguments, void**) {
  if (Fails("cuLaunchKernel") || block != 32) return 719;
  const Row& row = *static_cast<const Row*>(function);
  const Registers regs = RegistersOf(row);
  const auto words = [arguments](int i) {
    return reinterpret_cast<uint32_t*>(*static_cast<uint64_t*>(arguments[i]));
  };
  for (unsigned x = 0; x < grid; ++x) {
    Execute(row, words(0) + x * 32 * regs.a, words(1) + x * 32 * regs.b, words(2) + x * 32 * regs.c,
            words(3) + x * 32 * regs.d);
  }
  return 0;
}
int cuCtxSynchronize() { return Fails("cuCtxSynchronize") ? 719 : 0; }
int cuGetErrorString(int, const char** text) { return *text = "fake error", 0; }
}
