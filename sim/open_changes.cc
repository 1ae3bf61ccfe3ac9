#include "sim/open_changes.h"

#include <string_view>

namespace mmadiff {
namespace {

// As fuzz/replay/refuted_changes_test.cc counts them.
constexpr struct {
  std::string_view operation;
  int changes;
} kOpen[] = {
    {"sm_90/mma.m8n8k4.f32.f16.f16.f16", 5},      {"sm_90/mma.m8n8k4.f16.f16.f16.f16", 4},
    {"sm_90/mma.m16n8k16.f16.e5m2.e4m3.f16", 1},  {"sm_90/mma.m16n8k32.f32.e5m2.e4m3.f32", 1},
    {"sm_90/mma.m16n8k32.f16.e4m3.e5m2.f16", 1},  {"sm_90/mma.m16n8k32.f16.e5m2.e4m3.f16", 1},
    {"sm_90/wmma.m16n16k16.f16.f16.f16.f32", 10}, {"sm_90/wmma.m32n8k16.f16.f16.f16.f32", 9},
    {"sm_90/wmma.m8n32k16.f16.f16.f16.f32", 9},   {"sm_90/wgmma.m64n8k32.f32.e5m2.e5m2", 1},
};

}  // namespace

int OpenChanges(const Operation& op) {
  if (op.numerics->evidence.grade != Grade::kMeasured) return 0;
  for (const auto& open : kOpen) {
    if (open.operation == op.name) return open.changes;
  }
  return 0;
}

}  // namespace mmadiff
