// What a multiprocessor has to do for a case in each kernel of a run on a GPU, counted by executing
// the kernels' machine code (sass/) on the same jobs that a GPU is given. Digests are checked: a
// count of something else than the kernels would be worth nothing.
//
//   kernel_cycles NVDISASM CUBIN [CASES [OPERATION [LISTING]]]
//   kernel_cycles gpu [CASES [CUBIN]]
//
// "gpu": what the GPU here takes for the same, one kernel after the other, in cycles of the clock
// rate that its driver states. CUBIN: other kernels than this program's, to compare two texts.
// OPERATION: rows with this text alone, or any operation of this name. LISTING: how often each instruction of this kernel was
// executed goes to the standard error. CUBIN is for sm_90 (build/fuzz/resident.90.cubin). Cycles are of one multiprocessor that always
// has a warp to issue from, and whose slowest unit is always busy: a bound, not a forecast. Rates
// of units: CUDA C++ Programming Guide, "Arithmetic Instructions", capability 9.0; those of the
// uniform unit and of IMAD.WIDE are not documented and taken from published measurements.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/cuda/cuda.h"
#include "fuzz/gpu/counter.h"
#include "fuzz/gpu/resident_image.h"
#include "fuzz/gpu/sass/machine.h"
#include "fuzz/unit_runner.h"

namespace mmadiff {
namespace {

constexpr int kMultiprocessors = 1;  // of the grid: shared by all cases, as on a busy GPU

constexpr const char* kOperations[] = {
    "sm_90/mma.m16n8k16.f32.f16.f16.f32",
    "sm_90/mma.m16n8k16.f16.f16.f16.f16",
    "sm_90/mma.m16n8k8.f16.f16.f16.f16",
    "sm_90/mma.m16n8k8.f32.bf16.bf16.f32",
    "sm_90/mma.m16n8k8.f32.tf32.tf32.f32",
    "sm_90/mma.m16n8k4.f32.tf32.tf32.f32",
    "sm_90/mma.m16n8k4.rp.f64.f64.f64.f64",
    "sm_90/mma.m16n8k32.s32.s8.s8.s32",
    "sm_90/mma.m16n8k256.s32.b1.b1.s32.and.popc",
    "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "sm_80/mma.m16n8k8.f32.tf32.tf32.f32",
    "sm_75/mma.m16n8k8.f16.f16.f16.f16",
    "sm_75/mma.m8n8k4.f32.f16.f16.f32",
    "sm_75/mma.m8n8k16.s32.s8.s8.s32",
    "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0",
    "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x",
};

std::map<std::string, sass::Program> programs;
std::map<std::string, sass::Counts> counts;
std::string listing;  // a kernel
std::vector<uint64_t> executed;
const CaseStream* current = nullptr;
bool many_cases = false, wrong_operands = false;

// Kernels whose cost is counted over more cases than the others', and alone.
constexpr const char* kOfManyCases[] = {"generate", "trace"};
bool NeedsManyCases(const std::string& kernel) {
  return std::count(std::begin(kOfManyCases), std::end(kOfManyCases), kernel) != 0;
}

std::string Disassembly(const std::string& nvdisasm, const std::string& cubin) {
  std::string text;
  FILE* pipe = popen(absl::StrCat(nvdisasm, " -c ", cubin).c_str(), "r");
  char buffer[1 << 16];
  while (pipe != nullptr && std::fgets(buffer, sizeof(buffer), pipe) != nullptr) text += buffer;
  if (pipe == nullptr || pclose(pipe) != 0) text.clear();
  return text;
}

void PrintRow(const std::string& operation, const std::string& kernel, const sass::Counts& c,
              double cases) {
  using sass::Unit;
  std::printf("%-46s %-20s", operation.c_str(), kernel.c_str());
  for (int u = 0; u < static_cast<int>(Unit::kControl); ++u) {
    std::printf(" %7.0f", c.CyclesOf(static_cast<Unit>(u)) / cases);
  }
  std::printf(" %7.0f %7.0f %7.0f %7.2f %8.0f %s\n", c.CyclesOf(Unit::kControl) / cases,
              static_cast<double>(c.shared_wavefronts) / cases,
              static_cast<double>(c.global_sectors) / cases, static_cast<double>(c.atomics) / cases,
              c.cycles() / cases, c.busiest());
}

// Work of a case, in that of m16n8k16.
double TilesOf(const Operation& op) { return op.shape().d_words() / 128.0 * (op.shape().k / 16.0); }

// Launches of "generate" for `stream` give the operands that the host makes.
bool SameOperands(const CaseStream& stream, const ResidentJob& job) {
  Batch right;
  Generate(stream, job.first, job.count, right);
  const auto same = [&job](const std::vector<uint64_t>& words, const uint64_t* tiles) {
    const int64_t tile_words = static_cast<int64_t>(words.size()) / job.count;
    for (int64_t place = 0; place < job.count; ++place) {
      const uint64_t* const tile = tiles + TileAt(place, static_cast<int>(tile_words));
      const uint64_t* const right =
          &words[CaseAt(job.places, static_cast<uint32_t>(place)) * tile_words];
      for (int i = 0; i < tile_words; ++i) {
        if (WordAt(tile, i) != right[i]) return false;
      }
    }
    return true;
  };
  return same(right.a, job.a) && same(right.b, job.b) && same(right.c, job.c);
}

// Whether the digests of `cases` cases are the host's. Fills in `counts`.
bool Measure(const Operation& op, int64_t cases) {
  const absl::string_view number(op.arch().data() + 3, op.arch().size() - 3);
  const std::string capability =
      absl::StrCat(number.substr(0, number.size() - 1), ".", number.substr(number.size() - 1));
  setenv("FAKE_CUDA_CAPABILITY", capability.c_str(), 1);
  auto device = OpenCuda("0");
  if (!device.ok()) return std::printf("%s\n", device.status().ToString().c_str()), false;
  const auto counter = GpuCounter::Create(**device, "twin");
  const CaseStream stream = {&op, &Strategies().front(), 1};
  counts.clear();
  current = &stream;
  Counted counted;
  const absl::Status s =
      (*counter)->Count(stream, op.model, 0, cases, GpuCounter::kMostCases, counted);
  // Lanes of a warp take cases of one class if there are enough of them, and all have a traced one.
  const int64_t many = 32 * ClassPeriod(stream.strategy->kind, BoundaryClassCount(*op.instruction));
  for (const char* kernel : kOfManyCases) counts[kernel] = {};
  many_cases = true;
  Counted nothing;
  (*counter)->Count(stream, op.model, 0, many, GpuCounter::kMostCases, nothing).IgnoreError();
  many_cases = false;
  UnitResult host;
  const auto ignore = [](const CaseName&, const Mismatch&) { return Next::kGoOn; };
  const absl::Status h = UnitRunner(**device, stream).Run(0, cases, host, ignore).status();
  const bool same = s.ok() && h.ok() && counted.model == host.model_digest &&
                    counted.device == host.device_digest && !wrong_operands;
  double cycles = 0;
  for (const auto& [kernel, c] : counts) {
    const double of = TilesOf(op) * static_cast<double>(NeedsManyCases(kernel) ? many : cases);
    PrintRow(op.name, kernel, c, of);
    cycles += c.cycles() / of;
  }
  std::printf("%-46s %-20s %*.0f%s\n", op.name.c_str(), "all", 81, cycles,
              same ? "" : "  WRONG RESULTS");
  if (!s.ok()) std::printf("%s\n", s.ToString().c_str());
  return same;
}

absl::Status MeasureOnGpu(int64_t cases, const std::string& image) {
  const auto device = OpenCuda("0");
  if (!device.ok()) return device.status();
  const auto counter = GpuCounter::Create(
      **device, image.empty() ? ResidentImage((*device)->target()) : absl::string_view(image));
  if (!counter.ok()) return counter.status();
  int kilohertz = 0;
  constexpr int kClockRate = 13;
  (*device)->driver().device_attribute(&kilohertz, kClockRate, 0);
  for (const char* name : kOperations) {
    const Operation& op = *FindOperation(name);
    if (absl::Status s = (*device)->Supports(op); !s.ok()) continue;
    const CaseStream stream = {&op, &Strategies().front(), 1};
    std::map<std::string, double> seconds;
    Counted counted;
    const auto count = [&] {
      return (*counter)->Count(stream, op.model, 0, cases, GpuCounter::kMostCases, counted);
    };
    absl::Status s = count();  // memory, modules and the layout are there after the first
    (*counter)->set_seconds(&seconds);
    if (s.ok()) s = count();
    (*counter)->set_seconds(nullptr);
    if (!s.ok()) return s;
    seconds.erase("before");
    double all = 0;
    for (const auto& [kernel, passed] : seconds) {
      const double cycles = passed * kilohertz * 1e3 * (*device)->processors() /
                            (TilesOf(op) * static_cast<double>(cases));
      std::printf("%-46s %-20s %8.0f\n", name, kernel.c_str(), cycles);
      all += cycles;
    }
    std::printf("%-46s %-20s %8.0f\n", name, "all", all);
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "gpu") {
    std::string image;
    if (argc > 3) {
      std::ifstream cubin(argv[3], std::ios::binary);
      image.assign(std::istreambuf_iterator<char>(cubin), {});
    }
    const absl::Status s = MeasureOnGpu(argc > 2 ? std::atoll(argv[2]) : 4 << 20, image);
    if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
    return s.ok() ? 0 : 4;
  }
  if (argc < 3)
    return std::fprintf(stderr, "kernel_cycles NVDISASM CUBIN [CASES [OPERATION [LISTING]]]\n"), 2;
  const std::string text = Disassembly(argv[1], argv[2]);
  auto parsed = sass::ParsePrograms(text);
  if (!parsed.ok() || parsed->empty()) {
    return std::fprintf(stderr, "%s\n", parsed.status().ToString().c_str()), 2;
  }
  programs = *std::move(parsed);
  setenv("MMADIFF_LIBCUDA", "", 1);
  if (argc > 5) listing = argv[5];
  const int64_t cases = argc > 3 ? std::atoll(argv[3]) : 64;
  std::printf("%-46s %-20s %7s %7s %7s %7s %7s %7s %7s %7s %7s %8s\n",
              "cycles for 16 x 8 x 16 products", "kernel", "alu", "imad", "slow", "uniform",
              "memory", "issue", "shared", "sectors", "atomics", "bound");
  int wrong = 0;
  bool last = false;
  for (const char* name : kOperations) {
    if (last) break;
    if (argc > 4 && FindOperation(argv[4]) != nullptr) name = argv[4], last = true;
    if (argc > 4 && std::string(name).find(argv[4]) == std::string::npos) continue;
    const Operation* op = FindOperation(name);
    if (op == nullptr) {
      std::fprintf(stderr, "no operation %s\n", name);
      wrong = 1;
      continue;
    }
    wrong |= !Measure(*op, cases);
  }
  for (size_t i = 0; i < executed.size(); ++i) {
    std::fprintf(stderr, "%llx %llu\n",
                 static_cast<unsigned long long>(programs[listing].instructions[i].address),
                 static_cast<unsigned long long>(executed[i]));
  }
  return wrong;
}

}  // namespace

extern "C" int LaunchTwin(const char* name, void* argument) {
  const ResidentJob& job = *static_cast<const ResidentJob*>(argument);
  const auto program = programs.find(name);
  if (program == programs.end()) return 500;
  if (many_cases && !NeedsManyCases(name)) return 0;
  const LaunchShape shape = LaunchShapeOf(name, job, kMultiprocessors * kPatchBlocks);
  const absl::Status s = sass::Execute(
      program->second, {shape.blocks, shape.threads, shape.shared_bytes, &job, sizeof(job)},
      counts[name], listing == name ? &executed : nullptr);
  if (!s.ok()) std::printf("%s\n", s.ToString().c_str());
  if (program->first == "generate") wrong_operands |= !SameOperands(*current, job);
  return s.ok() ? 0 : 719;
}

}  // namespace mmadiff

int main(int argc, char** argv) { return mmadiff::Main(argc, argv); }
