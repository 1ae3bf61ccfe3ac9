// The kernels of resident.cu on the host, for the drivers for tests (device/gpu/testing/fake_twins.h). In a
// program with this file ResidentImage() is the module "twin", or none with FAKE_NO_RESIDENT.
// FAKE_CUDA_FAULT and FAKE_HIP_FAULT are also of these, in launches of more than 64 cases:
// "generate_nothing", "generate_part" (not the first thread), "generate_wrong" (the lowest bit of
// every first operand), "compare_part".
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/gpu/resident.h"
#include "fuzz/gpu/resident_image.h"
#include "fuzz/gpu/resident_trace.h"

namespace mmadiff {
namespace {

bool IsFault(const ResidentJob& job, const char* fault) {
  const auto is_set = [fault](const char* variable) {
    const char* set = std::getenv(variable);
    return set != nullptr && std::string(set) == fault;
  };
  return job.count > 64 && (is_set("FAKE_CUDA_FAULT") || is_set("FAKE_HIP_FAULT"));
}

template <Path kPath>
void Compare(const ResidentJob& job) {
  std::vector<uint64_t> shared(SharedBytes<kPath>(job.shape) / 8 + 1);
  auto* staged = reinterpret_cast<typename Operands<kPath>::Word*>(shared.data());
  std::vector<Tally> tallies(kPatchThreads);
  const int64_t count = job.count / (IsFault(job, "compare_part") ? 2 : 1);
  ForEachPatch(job.shape, [&](Patch patch) {
    const int cases = CasesAtOnce<kPath>(job.shape);
    for (; patch.x < count; patch.x += cases) {
      patch.cases = static_cast<int>(std::min<int64_t>(count - patch.x, cases));
      for (int t = 0; t < kPatchThreads; ++t) {
        StagePatch<kPath>(job, patch, StagePlanOf<kPath>(job.shape, t), staged);
      }
      for (int t = 0; t < kPatchThreads; ++t) {
        CompareResults<kPath>(job, patch, t, staged, tallies[t]);
      }
    }
  });
  auto* limbs = reinterpret_cast<uint32_t*>(shared.data());
  for (int t = 0; t < kPatchThreads; ++t) PutTally(tallies[t], t, kPatchThreads, limbs);
  for (int t = 0; t < kPatchThreads; ++t) AddTallies(job, t, kPatchThreads, limbs);
}

}  // namespace

absl::string_view ResidentImage(absl::string_view) {
  return std::getenv("FAKE_NO_RESIDENT") == nullptr ? "twin" : "";
}

std::string WhyNoResidentImage(absl::string_view) { return "the test has taken them away"; }

extern "C" int LaunchTwin(const char* name, void* argument) {
  const ResidentJob& job = *static_cast<const ResidentJob*>(argument);
  const std::string kernel = name;
  if (kernel == "generate") {
    const bool nothing = IsFault(job, "generate_nothing");
    const int64_t count = nothing ? 0 : job.count;
    for (int64_t x = IsFault(job, "generate_part"); x < count; ++x) {
      GenerateCase(job, x);
      if (IsFault(job, "generate_wrong")) job.a[TileAt(x, job.shape.a_words())] ^= 1;
      PackCase(job, x);
    }
  } else if (kernel == "trace") {
    for (int64_t n = 0; n * int64_t{kTraceEvery} <= job.count; ++n) TraceCase(job, n);
  } else if (kernel == "compare_fma_chain") {
    Compare<Path::kFmaChain>(job);
  } else if (kernel == "compare_fused_sum") {
    Compare<Path::kFusedSum>(job);
  } else if (kernel == "compare_scaled_sum") {
    Compare<Path::kScaledSum>(job);
  } else if (kernel == "compare_two_stage_sum") {
    Compare<Path::kTwoStageSum>(job);
  } else if (kernel == "compare_pairwise_sum") {
    Compare<Path::kPairwiseSum>(job);
  } else if (kernel == "compare_exact_sum") {
    Compare<Path::kExactSum>(job);
  } else if (kernel == "compare_narrow_sum") {
    Compare<Path::kNarrowSum>(job);
  } else if (kernel == "compare_narrow_f32") {
    Compare<Path::kNarrowF32>(job);
  } else if (kernel == "compare_narrow_f16") {
    Compare<Path::kNarrowF16>(job);
  } else if (kernel == "compare_group_sum") {
    Compare<Path::kGroupSum>(job);
  } else if (kernel == "compare_integer_dot") {
    Compare<Path::kInteger>(job);
  } else {
    return 500;
  }
  return 0;
}

}  // namespace mmadiff
