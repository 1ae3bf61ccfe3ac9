// The driver functions that mmadiff calls, for tests: "memory" is the host's, a
// kernel is known by its PTX text, and a launch runs the simulator on what the registers hold.
// FAKE_CUDA_CAPABILITY is the GPU ("9.0"), FAKE_CUDA_FAILS the name of a function that fails,
// FAKE_CUDA_SWAPS the operand (A, B, C, D) of which lanes 4 and 5 are exchanged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <set>
#include <string>

#include "device/cuda/fake_kernel.h"
#include "device/cuda/kernel.h"

namespace {

using namespace mmadiff;  // NOLINT: a test's own library

// Kernels of a module "twin", by name: LaunchTwin() runs them on the host.
std::set<std::string> twins;

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

// The kernel of this GPU with this text.
FakeKernel KernelOfText(const std::string& text) {
  for (const PtxTarget& target : PtxTargets()) {
    if (target.major != Capability(0) || target.minor != Capability(1)) continue;
    if (text.find("wgmma") != text.npos) return target.major == 9 ? FakeWgmma(text) : FakeKernel();
    for (const Row& row : Rows()) {
      if (row.arch() != target.arch || !HasKernel(*row.instruction, target).ok()) continue;
      if (KernelOf(*row.instruction, target).ptx != text) continue;
      return row.instruction->layout == Layout::kNvidiaTcgen05 ? FakeTcgen05(row) : FakeMma(row);
    }
  }
  return {};
}

}  // namespace

extern "C" {
[[gnu::weak]] int LaunchTwin(const char*, void*) { return 500; }
int cuInit(unsigned) { return Fails("cuInit") ? 100 : 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int size, int) { return std::snprintf(name, size, "Fake"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  return *value = attribute == 16 ? 4 : Capability(attribute - 75), 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = context, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuModuleLoadDataEx(void** module, const void* text, unsigned, int*, void**) {
  if (std::strcmp(static_cast<const char*>(text), "twin") == 0) return *module = &twins, 0;
  static std::list<FakeKernel>& kernels = *new std::list<FakeKernel>;
  kernels.push_back(KernelOfText(static_cast<const char*>(text)));
  *module = &kernels.back();
  return kernels.back().row == nullptr || Fails("cuModuleLoadDataEx") ? 218 : 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (module == &twins) {
    *function = const_cast<std::string*>(&*twins.insert(name).first);
    return 0;
  }
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
  for (const std::string& name : twins) {
    if (function == &name) return LaunchTwin(name.c_str(), arguments[0]);
  }
  const FakeKernel& kernel = *static_cast<const FakeKernel*>(function);
  if (Fails("cuLaunchKernel") || block != kernel.threads) return 719;
  uint64_t addresses[4];
  for (int i = 0; i < 4; ++i) addresses[i] = *static_cast<uint64_t*>(arguments[i]);
  for (unsigned x = 0; x < grid; ++x) {
    if (!kernel.execute(x, addresses)) return 719;
  }
  return 0;
}
int cuCtxSynchronize() { return Fails("cuCtxSynchronize") ? 719 : 0; }
int cuGetErrorString(int, const char** text) { return *text = "fake error", 0; }
}
