// The functions of HIP that mmadiff calls, for tests: "memory" is host memory, a launch executes
// the kernel's machine code (fake_machine.h), and its matrix instruction runs the simulator on the
// contents of the registers. Errors in a kernel are printed to stderr. A module of the four bytes
// "\177ELF" has no code: its launches do what the kernel of that name should do. Lanes are read as
// in AMD's matrix instruction calculator (sim/testing/amd_layouts.txt), those of gfx950 and scales
// as in the lines below.
// FAKE_HIP_TARGET is the GPU ("gfx942:sramecc+:xnack-"), FAKE_HIP_GPUS the number of GPUs (1).
// FAKE_HIP_FAILS is the name of a function that fails, FAKE_HIP_RESULT the hipError_t that it then
// returns (719), FAKE_HIP_AFTER the number of calls before failures begin.
// FAKE_HIP_SWAPS is the operand (A, B, C, D, k) of which lanes 4 and 5 are exchanged.
// FAKE_HIP_FAULT is a silent fault: "unwritten" (an instruction's kernel writes nothing), "partly"
// (the last quarter of D is not written), "partly_once" (in one launch), "once" (a bit of one
// launch), "alternating" (all results are wrong in every second launch), "hang" (a launch never
// ends).
// FAKE_HIP_OF limits swaps and faults to instructions with this text in their names.
// FAKE_HIP_UUID is the first byte of the GPU's UUID (1).
// FAKE_HIP_PLANTS is a model parameter in which the GPU differs (NAME=VALUE).
// FAKE_HIP_READS_MODE flushes subnormal factors while the bits of MODE say so.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/gpu/elf.h"
#include "device/gpu/testing/fake_hang.h"
#include "device/gpu/testing/fake_model.h"
#include "device/gpu/testing/fake_twins.h"
#include "device/hip/kernel.h"
#include "device/hip/testing/fake_machine.h"
#include "device/hip/testing/opcodes.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/testing/amd_layouts.h"
#include "sim/word.h"

namespace {

using namespace mmadiff;

constexpr int kUnits = 14;

// Of what changes: threads have devices of their own, and the GPU in common.
std::mutex& mutex = *new std::mutex;
FakeTwins twins;
FakeHang hang;

const char* Setting(const char* name) { return std::getenv(name); }
int Number(const char* variable, int otherwise) {
  return Setting(variable) == nullptr ? otherwise : std::atoi(Setting(variable));
}
std::string Text(const char* variable, const char* otherwise = "") {
  return Setting(variable) == nullptr ? otherwise : Setting(variable);
}
bool IsSpoiled(const Operation& op) {
  return absl::StrContains(op.instruction->name, Text("FAKE_HIP_OF"));
}
const HipTarget& Gpu() { return *FindHipTarget(Text("FAKE_HIP_TARGET", "gfx942:sramecc+:xnack-")); }

// The hipError_t of a function.
int Result(const char* function) {
  if (Text("FAKE_HIP_FAILS") != function) return 0;
  static int calls = 0;
  return calls++ < Number("FAKE_HIP_AFTER", 0) ? 0 : Number("FAKE_HIP_RESULT", 719);
}

struct At {
  int lane, bit;  // from the first register of the lane on
};

// Runs of neighbours of k, a lane after the other; gfx950 (AMD's blog "Matrix Core Programming on AMD
// CDNA3 and CDNA4"): 8-bit factors of f8f6f4 in two runs of 16, all others in one.
At OfGfx950(const Operation& op, char operand, const Element& e, int bits) {
  const Shape& s = op.shape();
  if (operand == 'D') {
    const int row = s.m == 16 ? e.row % 4 : e.row / 8 * 4 + e.row % 4;
    return {e.column + s.m * (s.m == 16 ? e.row / 4 : e.row / 4 % 2), 32 * row};
  }
  const int line = operand == 'B' ? e.column : e.row, k = operand == 'B' ? e.row : e.column;
  const bool pairs = op.instruction->sparse() && operand != 'B';
  const int in_lane = s.k / (pairs ? 2 : 1) * s.m / 64;
  if (bits == 8 && absl::StrContains(op.name, "f8f6f4")) {
    const int run = k / 16, groups = 64 / s.m;
    return {line + s.m * (run % groups), 8 * (run / groups * 16 + k % 16)};
  }
  return {line + s.m * (k / in_lane), bits * (k % in_lane)};
}

// As the calculator states it; nothing of what it does not have.
const Stated* StatedOf(const Operation& op, char operand) {
  static const std::vector<Stated>& all = *new std::vector<Stated>(ReadStated());
  const std::map<std::string, std::string> same = {{"gfx950", "gfx942"}, {"gfx1151", "gfx1100"}};
  const auto other = same.find(std::string(op.arch()));
  const std::string mnemonic = op.instruction->name.substr(0, op.instruction->name.find('.'));
  for (const Stated& s : all) {
    const bool arch = s.arch == op.arch() || (other != same.end() && s.arch == other->second);
    if (arch && s.instruction == mnemonic && s.operand == std::string(1, operand)) return &s;
  }
  return nullptr;
}

// The elements of an operand: A, B, D (also for C), k (the positions of a sparse A).
class Lanes {
 public:
  Lanes(const Operation& op, char operand, int bits) : bits_(bits) {
    if (operand == 'k' && !op.instruction->sparse()) return;
    const Stated* stated = StatedOf(op, operand);
    const std::string swaps = Text("FAKE_HIP_SWAPS");
    const bool pairs = op.instruction->sparse() && (operand == 'A' || operand == 'k');
    const Shape& s = op.shape();
    const int rows = operand == 'B' ? s.k : s.m;
    const int columns = operand == 'A' || operand == 'k' ? s.k / (pairs ? 2 : 1) : s.n;
    for (int block = 0; block < s.blocks; ++block) {
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
          At at;
          if (stated == nullptr) {
            at = OfGfx950(op, operand, {block, row, column}, bits);
          } else {  // a column of pairs is one of its lines
            const Place p = stated->PlaceOf({block, row, pairs ? column / 2 : column});
            at = {p.lane, 32 * p.reg + p.bit + (pairs ? column % 2 * bits : 0)};
          }
          if (swaps == std::string(1, operand) && IsSpoiled(op) && at.lane / 2 == 2) at.lane ^= 1;
          words_ = std::max(words_, (at.bit + bits + 31) / 32);
          places_.push_back(at);
        }
      }
    }
    if (stated != nullptr && stated->steps.contains("copy"))
      copy_ = stated->steps.at("copy")[0].lane;
  }

  int words() const { return words_; }  // of a lane
  size_t size() const { return places_.size(); }

  // False if an element is not the same in all its places.
  bool Read(const uint32_t* words, std::vector<uint64_t>& elements) const {
    for (const At& at : places_) {
      elements.push_back(Bits(at, words));
      if (copy_ > 0 && Bits({at.lane + copy_, at.bit}, words) != elements.back()) return false;
    }
    return true;
  }
  void Write(const std::vector<uint64_t>& elements, uint32_t* words) const {
    for (size_t i = 0; i < places_.size(); ++i) {
      for (int b = 0; b < std::min(bits_, 64); ++b) {
        const int bit = places_[i].bit + b;
        uint32_t& word = words[places_[i].lane * words_ + bit / 32];
        word = (word & ~(1u << bit % 32)) | uint32_t(elements[i] >> b & 1) << bit % 32;
      }
    }
  }

 private:
  uint64_t Bits(const At& at, const uint32_t* words) const {
    const uint32_t* const word = words + at.lane * words_ + at.bit / 32;
    uint64_t value = word[0];
    if (at.bit % 32 + bits_ > 32) value |= uint64_t{word[1]} << 32;
    return value >> at.bit % 32 & LowBits(bits_);
  }

  const int bits_;
  int copy_ = 0, words_ = 0;
  std::vector<At> places_;
};

struct FakeKernel {
  const Operation* op;
  Model model;
  Lanes a, b, c, d, positions;
  std::optional<FakeCode> code;

  int lanes() const { return Gpu().wave; }
  int words(const Lanes& l) const { return lanes() * l.words(); }
  int more() const {  // words behind those of A and B
    return lanes() * (op->instruction->scale != nullptr || op->instruction->sparse() ? 1 : 0);
  }
  int a_words() const { return words(a) + more(); }
  int b_words() const { return words(b) + (op->instruction->scale != nullptr ? more() : 0); }

  // Rows of a batch: A, and behind each row its scales; and the metadata of a sparse A.
  bool ReadA(const uint32_t* from, std::vector<uint64_t>& rows,
             std::vector<uint64_t>& metadata) const {
    std::vector<uint64_t> elements, indexes;
    if (!a.Read(from, elements)) return false;
    const Shape& s = op->shape();
    if (op->instruction->sparse()) {
      positions.Read(from + words(a), indexes);
      for (size_t i = 0; i < indexes.size(); i += 2) {
        metadata.push_back(indexes[i] | indexes[i + 1] << 2);
      }
      std::vector<uint64_t> dense(elements.size() * 2);
      for (size_t i = 0; i < elements.size(); ++i) dense[i / 2 * 4 + indexes[i]] |= elements[i];
      elements = dense;
    }
    AddRows(elements, from + words(a), s.m, rows);
    return true;
  }
  bool ReadB(const uint32_t* from, std::vector<uint64_t>& rows) const {
    std::vector<uint64_t> elements, columns;
    if (!b.Read(from, elements)) return false;
    const Shape& s = op->shape();
    for (int block = 0; block < s.blocks; ++block) {  // [block][k][n] to [block][n][k]
      for (int j = 0; j < s.n; ++j) {
        for (int k = 0; k < s.k; ++k) columns.push_back(elements[(block * s.k + k) * s.n + j]);
      }
    }
    AddRows(columns, from + words(b), s.n, rows);
    return true;
  }
  // The scale of elements 32 g to 32 g + 31 of line x is the low byte of lane x + m g.
  void AddRows(const std::vector<uint64_t>& elements, const uint32_t* scales, int lines,
               std::vector<uint64_t>& rows) const {
    const Shape& s = op->shape();
    for (size_t line = 0; line * s.k < elements.size(); ++line) {
      rows.insert(rows.end(), &elements[line * s.k], &elements[line * s.k] + s.k);
      for (int g = 0; g < s.scales; ++g) rows.push_back(scales[line + lines * g] & 0xff);
    }
  }
};

Model ModelOf(const Operation& op) {
  Model model = FakeModel(op);
  const std::vector<std::string> plant = absl::StrSplit(Text("FAKE_HIP_PLANTS", "="), '=');
  if (plant[0].empty() || !IsSpoiled(op)) return model;
  const Parameter* p = FindParameter(model.algorithm.family, plant[0]);
  Algorithm algorithm = model.algorithm;
  int value;
  if (p == nullptr || !ParseValue(*p, plant[1], &value)) return model;
  p->set(algorithm, value);
  return WithAlgorithm(op, algorithm);
}

// The machine code of a kernel of an image; nothing if the image has none or not this kernel.
std::optional<FakeCode> CodeOf(const char* image, const std::string& kernel) {
  if (image[EI_CLASS] == 0) return std::nullopt;
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));  // section headers are the last of a code object
  const size_t bytes = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
  absl::StatusOr<FakeCode> code = DecodeFake({image, bytes}, kernel, Gpu());
  if (code.ok()) return *std::move(code);
  std::fprintf(stderr, "fake HIP: %s\n", code.status().ToString().c_str());
  return std::nullopt;
}

// The kernel of that name of this GPU; nothing if there is none.
const FakeKernel* KernelNamed(const char* image, const std::string& name) {
  static auto& loaded = *new std::list<FakeKernel>;
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      if (op.arch() != Gpu().arch || HipKernelName(*op.instruction) != name) continue;
      const Instruction& i = *op.instruction;
      std::optional<FakeCode> code = CodeOf(image, name);
      if (!code && image[EI_CLASS] != 0) return nullptr;
      const std::lock_guard lock(mutex);
      loaded.push_back({&op, ModelOf(op), Lanes(op, 'A', i.a->bits), Lanes(op, 'B', i.b->bits),
                        Lanes(op, 'D', i.c->bits), Lanes(op, 'D', i.d->bits), Lanes(op, 'k', 2),
                        std::move(code)});
      return &loaded.back();
    }
  }
  return nullptr;
}

// Subnormal factors to zeros, as a GPU would whose instruction reads MODE.
void FlushIf(bool flush, const Format& f, std::vector<uint64_t>& words) {
  if (!flush || IsInteger(f)) return;
  for (uint64_t& w : words) {
    if ((w >> f.fraction_bits & LowBits(f.exponent_bits)) == 0) w = 0;
  }
}

// Of the words of one execution; false if they cannot be.
bool Execute(const FakeKernel& k, const uint32_t* a, const uint32_t* b, const uint32_t* c,
             uint32_t* d, uint32_t mode) {
  Batch batch;
  batch.Resize(k.op->shape(), 1);
  batch.a.clear(), batch.b.clear(), batch.c.clear(), batch.metadata.clear();
  if (!k.ReadA(a, batch.a, batch.metadata) || !k.ReadB(b, batch.b) || !k.c.Read(c, batch.c))
    return false;
  const bool flush = Setting("FAKE_HIP_READS_MODE") != nullptr && (mode & 0xf0) != 0xf0;
  FlushIf(flush, *k.op->instruction->a, batch.a);
  std::vector<uint64_t> results(k.op->shape().d_words());
  Simulate(k.model, batch, results);
  k.d.Write(results, d);
  return true;
}

// Of a word that says how an instruction takes A and B, what it must be: formats of f8f6f4
// (rocjitsu of rocm-systems, mma_exec.h), signs of integers (GFX11, GFX12).
bool HasFormats(const Instruction& i, const FakeMatrix& m) {
  constexpr const char* kFormats[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};
  const auto same = [&](int code, const Format& f) {
    return absl::StrContains(i.name, "f8f6f4")
               ? code < 5 && f.name == absl::string_view(kFormats[code])
               : code == 0;
  };
  const auto has_sign = [](const Format& f) { return IsInteger(f) && f.name[0] == 's'; };
  const int signs = Gpu().wave == 32 ? has_sign(*i.a) | has_sign(*i.b) << 1 : 0;
  return same(m.a_format, *i.a) && same(m.b_format, *i.b) && m.negated == signs;
}

// The matrix instruction of a kernel that was launched for a mode.
absl::Status Multiply(const FakeKernel& k, uint32_t wanted_mode, const FakeMatrix& m, uint32_t mode,
                      FakeRegisters& registers) {
  const Instruction& i = *k.op->instruction;
  const uint32_t in_use = GenerationOf(Gpu()) == 12 ? 0x8000ff : 0x8003ff;
  if (((mode ^ wanted_mode) & in_use) != 0) {
    return absl::InternalError(absl::StrCat("MODE is ", absl::Hex(mode)));
  }
  if (m.opcode != OpcodeOf(Gpu(), i) || !HasFormats(i, m) ||
      (i.scale != nullptr) != (m.scale_a >= 0)) {
    return absl::InternalError(absl::StrCat("the instruction is not ", i.name));
  }
  std::vector<uint32_t> a, b, c, d(k.words(k.d));
  registers.Read(m.a, k.a.words(), a);
  registers.Read(m.b, k.b.words(), b);
  registers.Read(i.sparse() ? m.d : m.c, k.c.words(), c);
  if (i.sparse()) registers.Read(m.c, 1, a);
  if (i.scale != nullptr) registers.Read(m.scale_a, 1, a), registers.Read(m.scale_b, 1, b);
  if (!Execute(k, a.data(), b.data(), c.data(), d.data(), mode)) {
    return absl::InternalError("elements that must be the same twice are not");
  }
  registers.Write(m.d, k.d.words(), d.data());
  return absl::OkStatus();
}

// The arguments as a kernel takes them (Kernel::text, HipKernelOf).
struct Arguments {
  uint64_t addresses[5];
  uint32_t mode, unused = 0xa5a5a5a5;
};

FakeMemory& allocations = *new FakeMemory;

FakeMemory Allocations() {
  const std::lock_guard lock(mutex);
  return allocations;
}

absl::Status Launch(const FakeKernel& k, unsigned grid, const Arguments& arguments) {
  const uint32_t mode = arguments.mode;
  if (k.code) {
    const auto matrix = [&](const FakeMatrix& m, uint32_t now, FakeRegisters& registers) {
      return Multiply(k, mode, m, now, registers);
    };
    return RunFake(*k.code, grid, {reinterpret_cast<const char*>(&arguments), sizeof(arguments)},
                   Allocations(), kUnits, matrix);
  }
  const auto words = [&](int i) { return reinterpret_cast<uint32_t*>(arguments.addresses[i]); };
  for (size_t x = 0; x < grid; ++x) {
    if (!Execute(k, words(0) + x * k.a_words(), words(1) + x * k.b_words(),
                 words(2) + x * k.words(k.c), words(3) + x * k.words(k.d), mode)) {
      return absl::InternalError("elements that must be the same twice are not");
    }
    words(4)[x] = x % kUnits;
  }
  return absl::OkStatus();
}

// What FAKE_HIP_FAULT does to the results of a launch.
void Spoil(const FakeKernel& k, unsigned grid, const std::vector<uint32_t>& before, uint32_t* d) {
  static unsigned launches = 0;
  const std::string fault = IsSpoiled(*k.op) ? Text("FAKE_HIP_FAULT") : "";
  const size_t words = k.words(k.d);
  ++launches;
  if (fault == "alternating" && launches % 2 == 0) {
    for (size_t w = 0; w < grid * words; ++w) d[w] ^= 1;
  }
  if (fault.starts_with("partly")) {
    for (size_t w = 0; w < grid * words; ++w) d[w] = w % words < words / 4 * 3 ? d[w] : before[w];
  }
  if (fault == "partly_once") unsetenv("FAKE_HIP_FAULT");
  if (fault == "once" && grid >= 32) d[words] ^= 1, unsetenv("FAKE_HIP_FAULT");
}

}  // namespace

extern "C" {
[[gnu::weak]] int LaunchTwin(const char*, void*);
int hipInit(unsigned) { return Result("hipInit"); }
int hipRuntimeGetVersion(int* version) { return *version = 60342134, 0; }
int hipGetDeviceCount(int* count) {
  return *count = Number("FAKE_HIP_GPUS", 1), Result("hipGetDeviceCount");
}
int hipSetDevice(int) { return Result("hipSetDevice"); }
int hipDeviceGetName(char* name, int size, int) { return std::snprintf(name, size, "Fake"), 0; }
int hipDeviceGetAttribute(int* value, int attribute, int) {
  return *value = attribute == 63 ? kUnits : 2100000, 0;
}
int hipDeviceGetUuid(void* uuid, int) {
  for (int i = 0; i < 16; ++i)
    static_cast<unsigned char*>(uuid)[i] = i + Number("FAKE_HIP_UUID", 1);
  return 0;
}
int hipDeviceGetPCIBusId(char* text, int size, int) {
  return std::snprintf(text, size, "0000:c1:00.0"), 0;
}
int hipGetDevicePropertiesR0600(void* properties, int) {
  std::memset(properties, 0, 1472);
  std::snprintf(static_cast<char*>(properties) + 1160, 256, "%s",
                Text("FAKE_HIP_TARGET", "gfx942:sramecc+:xnack-").c_str());
  return 0;
}
int hipModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  if (FakeTwins::IsImage(image)) return *module = &twins, 0;
  return std::memcmp(image, "\177ELF", 4) == 0 ? Result("hipModuleLoadData") : 200;
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  if (module == &twins) {
    const std::lock_guard lock(mutex);
    return *function = twins.Named(name), 0;
  }
  *function = const_cast<FakeKernel*>(KernelNamed(static_cast<const char*>(module), name));
  return *function == nullptr ? 500 : Result("hipModuleGetFunction");
}
int hipMemGetInfo(size_t* free, size_t* total) {
  *free = *total = size_t{1} << 32;
  return Result("hipMemGetInfo");
}
int hipMalloc(void** address, size_t bytes) {
  *address = std::malloc(bytes);
  std::memset(*address, 0xa5, bytes);  // never what was there before
  const std::lock_guard lock(mutex);
  allocations[reinterpret_cast<uint64_t>(*address)] = bytes;
  return Result("hipMalloc");
}
int hipFree(void* address) {
  hang.Wait();
  const std::lock_guard lock(mutex);  // before another thread gets the address
  allocations.erase(reinterpret_cast<uint64_t>(address));
  return std::free(address), 0;
}
int hipMemsetD32(void* to, int word, size_t count) {
  return std::fill_n(static_cast<int*>(to), count, word), 0;
}
int hipMemcpyHtoD(void* to, void* from, size_t bytes) { return std::memcpy(to, from, bytes), 0; }
int hipMemcpyDtoH(void* to, void* from, size_t bytes) {
  return hang.Wait(), std::memcpy(to, from, bytes), 0;
}
int hipModuleLaunchKernel(void* function, unsigned grid, unsigned, unsigned, unsigned block,
                          unsigned, unsigned, unsigned, void*, void** arguments, void**) {
  if (const char* twin = twins.NameOf(function)) return LaunchTwin(twin, arguments[0]);
  if (const int result = Result("hipModuleLaunchKernel"); result != 0) return result;
  const FakeKernel& k = *static_cast<const FakeKernel*>(function);
  if (block != static_cast<unsigned>(k.lanes())) return 1;  // hipErrorInvalidValue
  if (Text("FAKE_HIP_FAULT") == "unwritten" && IsSpoiled(*k.op)) return 0;
  if (Text("FAKE_HIP_FAULT") == "hang" && IsSpoiled(*k.op)) return hang.Begin(), 0;
  Arguments all;
  for (int i = 0; i < 5; ++i) all.addresses[i] = *static_cast<uint64_t*>(arguments[i]);
  all.mode = *static_cast<uint32_t*>(arguments[5]);
  auto* const d = reinterpret_cast<uint32_t*>(all.addresses[3]);
  const std::vector<uint32_t> before(d, d + grid * k.words(k.d));
  if (absl::Status launched = Launch(k, grid, all); !launched.ok()) {
    std::fprintf(stderr, "fake HIP: %s\n", std::string(launched.message()).c_str());
    return 719;
  }
  Spoil(k, grid, before, d);
  return 0;
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) {
  return *blocks = 4, 0;
}
int hipStreamQuery(void*) { return hang.hangs() ? 600 : 0; }
int hipDeviceSynchronize() { return hang.Wait(), Result("hipDeviceSynchronize"); }
const char* hipGetErrorString(int) { return "fake error"; }
}
