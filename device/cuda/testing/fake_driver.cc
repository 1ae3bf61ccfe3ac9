// The driver functions that mmadiff calls, for tests: "memory" is host memory, a kernel is
// recognized by its PTX text, and a launch runs the simulator on the contents of the registers. An
// ELF file is assumed to contain every kernel that a build makes for this GPU, recognized by name.
// FAKE_CUDA_CAPABILITY is the GPU ("9.0"), FAKE_CUDA_NAME its name, FAKE_CUDA_DRIVER the driver
// version (13000), FAKE_CUDA_GPUS the number of GPUs (1), FAKE_CUDA_FREE the number of bytes of
// memory reported as free, FAKE_CUDA_ROOM the number of bytes that an allocation can have.
// FAKE_CUDA_FAILS is the name of a function that fails, FAKE_CUDA_RESULT the CUresult that it then
// returns (719), FAKE_CUDA_AFTER the number of calls before failures begin.
// FAKE_CUDA_SWAPS is the operand of mma, fma and wmma (A, B, C, D) of which lanes 4 and 5 (for
// wmma, rows or columns) are exchanged.
// With FAKE_CUDA_NO_JIT the part of the driver that assembles PTX is missing.
// FAKE_CUDA_FAULT is a silent fault: "unwritten" (an instruction's kernel writes nothing),
// "unwritten_d" (no results), "large" (all results are wrong in launches of more than 64
// executions), "multiprocessor" (number 5 flips a bit of each first word), "once" (a bit of one
// launch), "alternating" (all results are wrong in every second launch), "counters" (copies of
// counters copy nothing).
// FAKE_CUDA_OF limits swaps and faults to instructions with this text in their names.
// FAKE_CUDA_ROWS gives faults of single instructions, "FAULT@TEXT,...": "trap" (the launch fails
// and so does every later call of the process), "trap_large" (in launches of more than 64
// executions), "crash" (the process), "hang", "lies" (the lowest bit of each word is 0), "mislaid"
// (the first two words of each execution are swapped), "lost" (like trap, and no process opens the
// GPU from then on: the file FAKE_CUDA_LOST exists).
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "device/cuda/kernel.h"
#include "device/cuda/testing/fake_fma.h"
#include "device/cuda/testing/fake_kernel.h"
#include "device/cuda/testing/fake_mma.h"
#include "device/cuda/testing/fake_tcgen05.h"
#include "device/cuda/testing/fake_wgmma.h"
#include "device/cuda/testing/fake_wmma.h"
#include "device/gpu/testing/fake_hang.h"
#include "device/gpu/testing/fake_twins.h"

namespace {

using namespace mmadiff;

constexpr int kMultiprocessors = 14;

FakeTwins twins;
FakeHang hang;

int Number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool trapped = false;  // this process can do nothing more on the GPU

// The CUresult of a function.
int Result(const char* function) {
  if (trapped) return 719;
  const char* name = std::getenv("FAKE_CUDA_FAILS");
  if (name == nullptr || std::string(name) != function) return 0;
  static int calls = 0;
  if (calls++ < Number("FAKE_CUDA_AFTER", 0)) return 0;
  return Number("FAKE_CUDA_RESULT", 719);
}

int Capability(int part) {
  const char* text = std::getenv("FAKE_CUDA_CAPABILITY");
  int numbers[2] = {9, 0};
  if (text != nullptr) std::sscanf(text, "%d.%d", &numbers[0], &numbers[1]);
  return numbers[part];
}

const PtxTarget& Gpu() {
  for (const PtxTarget& target : PtxTargets()) {
    if (target.major == Capability(0) && target.minor == Capability(1)) return target;
  }
  std::abort();  // refused before a kernel is loaded
}

// The operation of a KernelName(), whatever the variant.
const Operation* OperationOf(absl::string_view name) {
  const absl::string_view instruction = name.substr(0, name.find("__"));
  return FindOperation(
      absl::StrCat(Gpu().arch, "/", absl::StrReplaceAll(instruction, {{"_", "."}})),
      Models::kOptional);
}

// The variant of a KernelName().
std::optional<Variant> VariantOf(const Instruction& instruction, absl::string_view name) {
  for (const Variant& v : VariantsOf(instruction)) {
    if (KernelName(instruction, v) == name) return v;
  }
  return std::nullopt;
}

std::string Fault() {
  const char* fault = std::getenv("FAKE_CUDA_FAULT");
  return fault == nullptr ? "" : fault;
}

// What FAKE_CUDA_FAULT does to the results of a launch.
void Spoil(const Operation& op, unsigned grid, int words, const std::vector<uint32_t>& before,
           uint32_t* d) {
  static unsigned launches = 0;
  const std::string fault = IsSpoiled(op) ? Fault() : "";
  ++launches;
  if (fault == "unwritten_d") std::ranges::copy(before, d);
  const bool all = (fault == "large" && grid > 64) || (fault == "alternating" && launches % 2 == 0);
  for (size_t w = 0; all && w < before.size(); ++w) d[w] ^= 1;
  for (unsigned x = 5; fault == "multiprocessor" && x < grid; x += kMultiprocessors) {
    d[static_cast<size_t>(x) * words] ^= 1;
  }
  if (fault == "once" && grid > 64) {
    d[words] ^= 1;
    unsetenv("FAKE_CUDA_FAULT");
  }
}

// The fault of FAKE_CUDA_ROWS that the instruction has; empty if it has none.
std::string RowFault(const Operation& op) {
  const char* rows = std::getenv("FAKE_CUDA_ROWS");
  for (const absl::string_view row : absl::StrSplit(rows == nullptr ? "" : rows, ',')) {
    const std::vector<std::string> parts = absl::StrSplit(row, '@');
    if (parts.size() == 2 && absl::StrContains(op.instruction->name, parts[1])) return parts[0];
  }
  return "";
}

// What it does before a launch; whether this fails.
bool Traps(const std::string& fault, unsigned grid) {
  if (fault == "crash") std::raise(SIGSEGV);
  if (fault == "hang") hang.Begin();
  if (fault == "lost") {
    std::FILE* file = std::fopen(std::getenv("FAKE_CUDA_LOST"), "w");
    if (file != nullptr) std::fclose(file);
  }
  trapped |= fault == "trap" || fault == "lost" || (fault == "trap_large" && grid > 64);
  return trapped;
}

// And after it.
void SpoilRow(const std::string& fault, unsigned grid, int words, uint32_t* d) {
  for (unsigned x = 0; fault == "mislaid" && x < grid; ++x) {
    std::swap(d[size_t{x} * words], d[size_t{x} * words + 1]);
  }
  for (size_t w = 0; fault == "lies" && w < size_t{grid} * words; ++w) d[w] &= ~1u;
}

struct Entry {
  std::string name;
  FakeKernel kernel;
};

FakeKernel KernelOfText(const Operation& op, const Variant& variant, const std::string& text) {
  switch (op.instruction->layout) {
    case Layout::kNvidiaTcgen05:
      return FakeTcgen05(op, variant.a);
    case Layout::kNvidiaWgmma:
      return FakeWgmma(text);
    case Layout::kNvidiaWmma:
      return FakeWmma(op, text);
    case Layout::kVectorLanes:
      return FakeFma(op);
    default:
      return FakeMma(op);
  }
}

// The kernel of this GPU with this text.
Entry EntryOfText(const std::string& text) {
  const size_t start = text.find(".entry ") + 7;
  const std::string name = text.substr(start, text.find('(') - start);
  const Operation* op = OperationOf(name);
  if (op == nullptr || !HasKernel(*op->instruction, Gpu()).ok()) return {};
  const std::optional<Variant> variant = VariantOf(*op->instruction, name);
  if (!variant.has_value()) return {};
  const Kernel kernel = KernelOf(*op->instruction, Gpu(), *variant);
  if (kernel.text != text) return {};
  Entry entry = {name, KernelOfText(*op, *variant, text)};
  entry.kernel.d_words = kernel.d.words;
  return entry;
}

Entry EntryOfMachineCode(absl::string_view name) {
  const Operation* op = OperationOf(name);
  if (op == nullptr || !IsBuiltEntry(*op->instruction)) return {};
  const std::optional<Variant> variant = VariantOf(*op->instruction, name);
  if (!variant.has_value()) return {};
  return EntryOfText(KernelOf(*op->instruction, Gpu(), *variant).text);
}

char machine_code;  // the module of ELF files
std::list<Entry> loaded;

}  // namespace

extern "C" {
[[gnu::weak]] int LaunchTwin(const char*, void*);
int cuInit(unsigned) {
  const char* lost = std::getenv("FAKE_CUDA_LOST");
  return lost != nullptr && access(lost, F_OK) == 0 ? 100 : Result("cuInit");
}
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
  constexpr int kMultiprocessorCount = 16, kClockRate = 13;
  *value = attribute == kMultiprocessorCount ? kMultiprocessors
           : attribute == kClockRate         ? 1000000
                                             : Capability(attribute - 75);
  return 0;
}
int cuDeviceGetUuid_v2(void* uuid, int) {
  for (int i = 0; i < 16; ++i) static_cast<unsigned char*>(uuid)[i] = i + 1;
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int size, int) {
  return std::snprintf(text, size, "0000:17:00.0"), 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = context, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuModuleLoadDataEx(void** module, const void* text, unsigned, int*, void**) {
  if (FakeTwins::IsImage(text)) return *module = &twins, 0;
  if (std::memcmp(text, "\177ELF", 4) == 0) {
    return *module = &machine_code, Result("cuModuleLoadDataEx");
  }
  if (std::getenv("FAKE_CUDA_NO_JIT") != nullptr) return 221;
  loaded.push_back(EntryOfText(static_cast<const char*>(text)));
  *module = &loaded.back();
  return loaded.back().kernel.op == nullptr ? 218 : Result("cuModuleLoadDataEx");
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (module == &twins) {
    *function = twins.Named(name);
    return 0;
  }
  if (module == &machine_code) {
    loaded.push_back(EntryOfMachineCode(name));
    module = &loaded.back();
  }
  const Entry& entry = *static_cast<const Entry*>(module);
  *function = const_cast<FakeKernel*>(&entry.kernel);
  return entry.name == name ? 0 : 500;
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  const char* bytes = std::getenv("FAKE_CUDA_FREE");
  *total = size_t{1} << 32;
  *free = bytes == nullptr ? *total : std::strtoull(bytes, nullptr, 10);
  return Result("cuMemGetInfo_v2");
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  const char* room = std::getenv("FAKE_CUDA_ROOM");
  if (room != nullptr && bytes > std::strtoull(room, nullptr, 10)) return 2;
  *address = reinterpret_cast<uint64_t>(std::malloc(bytes));
  std::memset(reinterpret_cast<void*>(*address), 0xa5, bytes);  // never what was there before
  return Result("cuMemAlloc_v2");
}
int cuMemFree_v2(uint64_t address) {
  return hang.Wait(), std::free(reinterpret_cast<void*>(address)), 0;
}
int cuMemsetD32_v2(uint64_t to, unsigned word, size_t count) {
  return std::fill_n(reinterpret_cast<uint32_t*>(to), count, word), 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  hang.Wait();
  if (Fault() == "counters" && bytes > 24576 && bytes < 27000) return 0;
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0;
}
int cuLaunchKernel(void* function, unsigned grid, unsigned, unsigned, unsigned block, unsigned,
                   unsigned, unsigned, void*, void** arguments, void**) {
  if (const char* twin = twins.NameOf(function)) return LaunchTwin(twin, arguments[0]);
  if (const int result = Result("cuLaunchKernel"); result != 0) return result;
  const FakeKernel& kernel = *static_cast<const FakeKernel*>(function);
  if (block != kernel.threads) return 1;  // CUDA_ERROR_INVALID_VALUE
  if (Fault() == "unwritten" && IsSpoiled(*kernel.op)) return 0;
  const std::string row_fault = RowFault(*kernel.op);
  if (Traps(row_fault, grid)) return 719;
  uint64_t addresses[5];
  for (int i = 0; i < 5; ++i) addresses[i] = *static_cast<uint64_t*>(arguments[i]);
  const int words = kernel.d_words;
  uint32_t* const d = reinterpret_cast<uint32_t*>(addresses[3]);
  const std::vector<uint32_t> before(d, d + static_cast<size_t>(grid) * words);
  for (unsigned x = 0; x < grid; ++x) {
    if (!kernel.execute(x, addresses)) return 719;
    reinterpret_cast<uint32_t*>(addresses[4])[x] = x % kMultiprocessors;
  }
  Spoil(*kernel.op, grid, words, before, d);
  SpoilRow(row_fault, grid, words, d);
  return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) {
  return *blocks = 4, 0;
}
int cuStreamQuery(void*) { return hang.hangs() ? 600 : 0; }
int cuCtxSynchronize() { return hang.Wait(), Result("cuCtxSynchronize"); }
int cuGetErrorString(int, const char** text) { return *text = "fake error", 0; }
}
