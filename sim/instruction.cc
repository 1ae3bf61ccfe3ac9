#include "sim/instruction.h"

namespace mmadiff {
namespace {

constexpr char kSdm[] = "Intel SDM vol. 2";
constexpr char kPtx[] = "PTX ISA 9.0, 9.7.14.5 mma";
constexpr char kAmpereOn[] = "sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120";
constexpr char kTuringOn[] = "sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120";
constexpr char kVoltaOn[] = "sm_70 sm_75";  // emulated with FFMA from sm_80 on
constexpr char kFp8On[] = "sm_89 sm_120";   // elsewhere from sm_90 on ptxas makes f16 steps of it
constexpr Layout kLanes = Layout::kVectorLanes;
constexpr Layout kMma = Layout::kNvidiaMma;
constexpr Layout k884 = Layout::kNvidiaMma884;

// One row a line: name, {m, n, k, blocks}, d, a, b, c, layout, native on, source.
// clang-format off
constexpr Instruction kInstructions[] = {
    {"vdpbf16ps", {1, 1, 2, 16}, &kF32, &kBf16, &kBf16, &kF32, kLanes, "x86", kSdm},
    {"vfmadd231ss", {1, 1, 1, 1}, &kF32, &kF32, &kF32, &kF32, kLanes, "x86", kSdm},
    {"vfmadd231sd", {1, 1, 1, 1}, &kF64, &kF64, &kF64, &kF64, kLanes, "x86", kSdm},
    {"vpdpbusd", {1, 1, 4, 16}, &kS32, &kU8, &kS8, &kS32, kLanes, "x86", kSdm},
    {"vpdpbusds", {1, 1, 4, 16}, &kS32, &kU8, &kS8, &kS32, kLanes, "x86", kSdm},
    {"vpdpwssd", {1, 1, 2, 16}, &kS32, &kS16, &kS16, &kS32, kLanes, "x86", kSdm},
    {"vpdpwssds", {1, 1, 2, 16}, &kS32, &kS16, &kS16, &kS32, kLanes, "x86", kSdm},
    {"mma.m8n8k4.f32.f16.f16.f32", {8, 8, 4, 4}, &kF32, &kF16, &kF16, &kF32, k884, kVoltaOn, kPtx},
    {"mma.m8n8k4.f32.f16.f16.f16", {8, 8, 4, 4}, &kF32, &kF16, &kF16, &kF16, k884, kVoltaOn, kPtx},
    {"mma.m8n8k4.f16.f16.f16.f16", {8, 8, 4, 4}, &kF16, &kF16, &kF16, &kF16, k884, kVoltaOn, kPtx},
    {"mma.m16n8k8.f32.f16.f16.f32", {16, 8, 8, 1}, &kF32, &kF16, &kF16, &kF32, kMma, kTuringOn, kPtx},
    {"mma.m16n8k8.f16.f16.f16.f16", {16, 8, 8, 1}, &kF16, &kF16, &kF16, &kF16, kMma, kTuringOn, kPtx},
    {"mma.m16n8k16.f32.f16.f16.f32", {16, 8, 16, 1}, &kF32, &kF16, &kF16, &kF32, kMma, kAmpereOn, kPtx},
    {"mma.m16n8k16.f16.f16.f16.f16", {16, 8, 16, 1}, &kF16, &kF16, &kF16, &kF16, kMma, kAmpereOn, kPtx},
    {"mma.m16n8k8.f32.bf16.bf16.f32", {16, 8, 8, 1}, &kF32, &kBf16, &kBf16, &kF32, kMma, kAmpereOn, kPtx},
    {"mma.m16n8k16.f32.bf16.bf16.f32", {16, 8, 16, 1}, &kF32, &kBf16, &kBf16, &kF32, kMma, kAmpereOn, kPtx},
    {"mma.m16n8k4.f32.tf32.tf32.f32", {16, 8, 4, 1}, &kF32, &kTf32, &kTf32, &kF32, kMma, kAmpereOn, kPtx},
    {"mma.m16n8k8.f32.tf32.tf32.f32", {16, 8, 8, 1}, &kF32, &kTf32, &kTf32, &kF32, kMma, kAmpereOn, kPtx},
    {"mma.m16n8k32.f32.e4m3.e4m3.f32", {16, 8, 32, 1}, &kF32, &kE4m3, &kE4m3, &kF32, kMma, kFp8On, kPtx},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", {16, 8, 32, 1}, &kF32, &kE4m3, &kE5m2, &kF32, kMma, kFp8On, kPtx},
    {"mma.m16n8k32.f32.e5m2.e4m3.f32", {16, 8, 32, 1}, &kF32, &kE5m2, &kE4m3, &kF32, kMma, kFp8On, kPtx},
    {"mma.m16n8k32.f32.e5m2.e5m2.f32", {16, 8, 32, 1}, &kF32, &kE5m2, &kE5m2, &kF32, kMma, kFp8On, kPtx},
    {"mma.m16n8k32.f16.e4m3.e4m3.f16", {16, 8, 32, 1}, &kF16, &kE4m3, &kE4m3, &kF16, kMma, kFp8On, kPtx},
    {"mma.m16n8k32.f16.e4m3.e5m2.f16", {16, 8, 32, 1}, &kF16, &kE4m3, &kE5m2, &kF16, kMma, kFp8On, kPtx},
    {"mma.m16n8k32.f16.e5m2.e4m3.f16", {16, 8, 32, 1}, &kF16, &kE5m2, &kE4m3, &kF16, kMma, kFp8On, kPtx},
    {"mma.m16n8k32.f16.e5m2.e5m2.f16", {16, 8, 32, 1}, &kF16, &kE5m2, &kE5m2, &kF16, kMma, kFp8On, kPtx},
};
// clang-format on

}  // namespace

std::span<const Instruction> Instructions() { return kInstructions; }

const Instruction* FindInstruction(std::string_view name) {
  for (const Instruction& i : kInstructions) {
    if (name == i.name) return &i;
  }
  return nullptr;
}

}  // namespace mmadiff
