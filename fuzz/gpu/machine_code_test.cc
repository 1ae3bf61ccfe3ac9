// The machine code of resident.cu for sm_90, executed (device/sass): the host's operands and digests,
// and no missing wait. Prints what each kernel executes for a case.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/str_replace.h"
#include "device/cuda/cuda.h"
#include "device/sass/machine.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/waits.h"
#include "fuzz/gpu/gpu_counter.h"
#include "fuzz/gpu/resident.h"
#include "fuzz/unit/unit_runner.h"

namespace mmadiff {
namespace {

constexpr int kMultiprocessors = 1;  // of the grid: shared by all cases, as on a busy GPU
constexpr uint64_t kCases = 32;

const sass::Programs* programs = nullptr;
std::map<std::string, sass::Counts> counts;  // by kernel, of one operation
const CaseStream* current = nullptr;
bool of_many = false;  // nothing is compared

// Lanes of a warp of these take cases of one class if there are enough of them, and all warps have a
// case that is traced: they are counted over more cases than the others.
bool NeedsMany(absl::string_view kernel) { return kernel == "generate" || kernel == "trace"; }

// "generate" made the operands that the host makes.
void ExpectHostOperands(const CaseStream& stream, const ResidentJob& job) {
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
  EXPECT_TRUE(same(right.a, job.a));
  EXPECT_TRUE(same(right.b, job.b));
  EXPECT_TRUE(same(right.c, job.c));
}

class MachineCode : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (access(MMADIFF_RESIDENT_CUBIN, R_OK) != 0) GTEST_SKIP() << "built without a CUDA Toolkit";
    const absl::StatusOr<std::string> tool = sass::FindDisassembler();
    if (!tool.ok()) GTEST_SKIP() << tool.status().message();
    static const absl::StatusOr<sass::Programs> all =
        sass::Disassemble(*tool, MMADIFF_RESIDENT_CUBIN);
    ASSERT_TRUE(all.ok()) << all.status();
    programs = &*all;
    counts.clear();
  }
};

TEST_P(MachineCode, GivesTheHostsOperandsAndDigests) {
  const Operation& op = *FindOperation(GetParam());
  const std::string sm = std::string(op.arch()).substr(3);  // "90", "120"
  setenv("FAKE_CUDA_CAPABILITY", (sm.substr(0, sm.size() - 1) + "." + sm.back()).c_str(), 1);
  setenv("MMADIFF_LIBCUDA", "", 1);
  const auto device = OpenCuda("0");
  ASSERT_TRUE(device.ok()) << device.status();
  const auto counter = GpuCounter::Create(**device, "twin");
  ASSERT_TRUE(counter.ok()) << counter.status();
  const CaseStream stream = {&op, &Strategies().front(), 1};
  current = &stream;
  Counted counted;
  const absl::Status s =
      (*counter)->Count(stream, op.model, 0, kCases, GpuCounter::kMaxCases, counted);
  ASSERT_TRUE(s.ok()) << s;
  UnitResult host;
  const auto ignore = [](const CaseName&, const Mismatch&) { return Next::kGoOn; };
  const auto h = UnitRunner(**device, stream).Run(0, kCases, host, ignore);
  ASSERT_TRUE(h.ok()) << h.status();
  EXPECT_TRUE(counted.model == host.model_digest);
  EXPECT_TRUE(counted.device == host.device_digest);

  EXPECT_GE(counts.size(), 3u);  // "generate", "trace" and a "compare_..."
  const uint64_t many =
      32 * ClassPeriod(stream.strategy->kind, BoundaryClassCount(*op.instruction));
  std::erase_if(counts, [](const auto& kernel) { return NeedsMany(kernel.first); });
  of_many = true;
  (*counter)->Count(stream, op.model, 0, many, GpuCounter::kMaxCases, counted).IgnoreError();
  of_many = false;
  for (const auto& [kernel, c] : counts) {
    EXPECT_GT(c.instructions, 0u) << kernel;
    const auto cases = static_cast<double>(NeedsMany(kernel) ? many : kCases);
    std::printf("%-56s %-20s %7.0f instructions, %5.0f of local memory\n", GetParam(),
                kernel.c_str(), static_cast<double>(c.instructions) / cases,
                static_cast<double>(c.local_accesses) / cases);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, MachineCode,
    testing::Values("sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m16n8k16.f16.f16.f16.f16",
                    "sm_90/mma.m16n8k8.f16.f16.f16.f16", "sm_90/mma.m16n8k8.f32.bf16.bf16.f32",
                    "sm_90/mma.m16n8k8.f32.tf32.tf32.f32", "sm_90/mma.m16n8k4.f32.tf32.tf32.f32",
                    "sm_90/mma.m16n8k4.rp.f64.f64.f64.f64", "sm_90/mma.m16n8k32.s32.s8.s8.s32",
                    "sm_90/mma.m16n8k256.s32.b1.b1.s32.and.popc",
                    "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_80/mma.m16n8k8.f32.tf32.tf32.f32",
                    "sm_75/mma.m16n8k8.f16.f16.f16.f16", "sm_75/mma.m8n8k4.f32.f16.f16.f32",
                    "sm_75/mma.m8n8k16.s32.s8.s8.s32",
                    "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0",
                    "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x"),
    [](const auto& info) {
      return absl::StrReplaceAll(info.param, {{"/", "_"}, {".", "_"}});
    });

}  // namespace

// Executes a kernel for the driver for tests.
extern "C" int LaunchTwin(const char* name, void* argument) {
  const ResidentJob& job = *static_cast<const ResidentJob*>(argument);
  const auto program = programs->find(name);
  if (program == programs->end()) return 500;
  if (of_many && !NeedsMany(name)) return 0;
  const LaunchShape shape = LaunchShapeOf(name, job, kMultiprocessors * kPatchBlocks);
  static const sass::Natives natives("sm_90");
  sass::Waits waits(program->second.target, natives);
  sass::Launch launch = {shape.blocks, shape.threads, shape.shared_bytes, &job, sizeof(job)};
  if (!of_many) launch.observer = &waits;
  const absl::Status s = sass::Execute(program->second, launch, counts[name]);
  EXPECT_TRUE(s.ok()) << s;
  if (program->first == "generate") ExpectHostOperands(*current, job);
  return s.ok() ? 0 : 719;
}

}  // namespace mmadiff
