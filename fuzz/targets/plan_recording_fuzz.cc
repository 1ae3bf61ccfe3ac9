// ParsePlanRecording() survives any bytes: a recording that it returns has sizes that fit, and its
// errors have one line.
#include <algorithm>

#include "fuzz/targets/input.h"
#include "triage/plan/recording.h"

using namespace mmadiff;
using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<PlanRecording> recording = ParsePlanRecording(Text(data, size));
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  Check(std::ranges::none_of(recording.status().message(), is_control));
  if (!recording.ok()) return 0;
  for (const RecordedShape& s : recording->shapes) {
    const auto [m, n, k] = s.shape;
    Check(m > 0 && n > 0 && k > 0 && std::max({m * n, m * k, k * n}) <= kMaxRecordedElements);
    const int64_t work = m * n * k * static_cast<int64_t>(s.plans.size());
    if (m <= 64 && n <= 64 && k <= 64 && work <= 20000) {
      (void)PredictedDigest(s.shape, recording->kind, s.seed, s.plans);
    }
  }
  return 0;
}
