// The driver functions that mmadiff calls, for tests: "memory" is the host's, a
// kernel is known by its PTX text, and a launch runs the simulator on what the registers hold.
// FAKE_CUDA_CAPABILITY is the GPU ("9.0"), FAKE_CUDA_NAME its name, FAKE_CUDA_DRIVER the version of
// the driver (13000), FAKE_CUDA_GPUS how many GPUs there are (1). FAKE_CUDA_FAILS is the name of a
// function that fails, FAKE_CUDA_RESULT the CUresult that it gives then (719).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "device/cuda/kernel.h"
#include "sim/layout.h"
#include "sim/row.h"
#include "sim/simulate.h"

namespace {

using namespace mmadiff;  // NOLINT: a test's own library

int Number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// The CUresult of a function.
int Result(const char* function) {
  const char* name = std::getenv("FAKE_CUDA_FAILS");
  if (name == nullptr || std::string(name) != function) return 0;
  return Number("FAKE_CUDA_RESULT", 719);
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

uint64_t Element(const Row& row, Operand operand, const Format& f, int registers, const Element& e,
                 const uint32_t* lanes) {
  const Place p = PlaceOf(*row.instruction, operand, e);
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
  for (const mmadiff::Element& e : Elements(*row.instruction, Operand::kD)) {
    DotProductCase dot;
    for (int k = 0; k < s.k; ++k) {
      dot.a.push_back(Element(row, Operand::kA, row.model.a, regs.a, {e.block, e.row, k}, a));
      dot.b.push_back(Element(row, Operand::kB, row.model.b, regs.b, {e.block, k, e.column}, b));
    }
    dot.c = Element(row, Operand::kC, row.model.c, regs.c, e, c);
    const uint64_t word = Simulate(row.model, dot);
    const Place p = PlaceOf(*row.instruction, Operand::kD, e);
    uint32_t* at = d + p.lane * regs.d + p.reg;
    at[0] |= static_cast<uint32_t>(word) << p.bit;
    if (row.model.d.bits == 64) at[1] |= static_cast<uint32_t>(word >> 32);
  }
}

}  // namespace

extern "C" {
int cuInit(unsigned) { return Result("cuInit"); }
int cuDriverGetVersion(int* version) { return *version = Number("FAKE_CUDA_DRIVER", 13000), 0; }
int cuDeviceGetCount(int* count) {
  return *count = Number("FAKE_CUDA_GPUS", 1), Result("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int size, int) {
  const char* text = std::getenv("FAKE_CUDA_NAME");
  return std::snprintf(name, size, "%s", text == nullptr ? "Fake" : text), 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMultiprocessorCount = 16;
  return *value = attribute == kMultiprocessorCount ? 14 : Capability(attribute - 75), 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = context, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuModuleLoadDataEx(void** module, const void* text, unsigned, int*, void**) {
  const Row* row = RowOf(static_cast<const char*>(text));
  *module = const_cast<Row*>(row);
  return row == nullptr ? 218 : Result("cuModuleLoadDataEx");
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return *function = module, std::strcmp(name, "execute") == 0 ? 0 : 500;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  *address = reinterpret_cast<uint64_t>(std::malloc(bytes));
  return Result("cuMemAlloc_v2");
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
  if (const int result = Result("cuLaunchKernel"); result != 0) return result;
  if (block != 32) return 1;  // CUDA_ERROR_INVALID_VALUE
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
int cuCtxSynchronize() { return Result("cuCtxSynchronize"); }
int cuGetErrorString(int, const char** text) { return *text = "fake error", 0; }
}
