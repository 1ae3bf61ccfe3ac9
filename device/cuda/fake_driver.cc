// The driver functions that mmadiff calls, for tests: "memory" is the host's, a
// kernel is known by its PTX text, and a launch runs the simulator on what the registers hold.
// FAKE_CUDA_CAPABILITY is the GPU ("9.0"), FAKE_CUDA_FAILS the name of a function that fails,
// FAKE_CUDA_SWAPS the operand (A, B, C, D) of which lanes 4 and 5 are exchanged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
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

// Of every element, in the order of Elements().
const std::vector<Place>& Places(const Row& row, Operand operand) {
  const char* set = std::getenv("FAKE_CUDA_SWAPS");
  const bool swaps = set != nullptr && std::string(set) == Name(operand);
  static auto& known = *new std::map<std::tuple<const Row*, Operand, bool>, std::vector<Place>>;
  const auto [at, unknown] = known.try_emplace({&row, operand, swaps});
  if (!unknown) return at->second;
  for (const Element& e : Elements(*row.instruction, operand)) {
    Place p = PlaceOf(*row.instruction, operand, e);
    if (swaps && p.lane / 2 == 2) p.lane ^= 1;
    at->second.push_back(p);
  }
  return at->second;
}

std::vector<uint64_t> Read(const Row& row, Operand operand, const Format& f, int registers,
                           const uint32_t* lanes) {
  std::vector<uint64_t> words;
  for (const Place& p : Places(row, operand)) {
    const uint32_t* at = lanes + p.lane * registers + p.reg;
    uint64_t word = at[0] >> p.bit;
    if (f.bits == 64) word |= static_cast<uint64_t>(at[1]) << 32;
    words.push_back(word & LowBits(f.bits));
  }
  return words;
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
  Batch batch;
  batch.Resize(s, 1);
  batch.a = Read(row, Operand::kA, row.model.a, regs.a, a);
  const std::vector<uint64_t> b_rows = Read(row, Operand::kB, row.model.b, regs.b, b);
  for (int i = 0; i < s.b_words(); ++i) {  // [block][k][n] to [block][n][k]
    const int block = i / (s.k * s.n), k = i / s.n % s.k, j = i % s.n;
    batch.b[(block * s.n + j) * s.k + k] = b_rows[i];
  }
  batch.c = Read(row, Operand::kC, row.model.c, regs.c, c);
  std::vector<uint64_t> words(s.d_words());
  Simulate(row.model, batch, words);
  std::memset(d, 0, 4 * 32 * regs.d);
  const std::vector<Place>& places = Places(row, Operand::kD);
  for (size_t i = 0; i < words.size(); ++i) {
    uint32_t* at = d + places[i].lane * regs.d + places[i].reg;
    at[0] |= static_cast<uint32_t>(words[i]) << places[i].bit;
    if (row.model.d.bits == 64) at[1] |= static_cast<uint32_t>(words[i] >> 32);
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
