// Plans of public kernels, for tests.
#pragma once

namespace mmadiff {

struct KernelPlan {
  const char *kernel, *text;
};

inline constexpr KernelPlan kKernelPlans[] = {
    {"batch-invariant matmul", "sm_90/wgmma.m64n8k16.f32.f16.f16 | sum + bias | f16"},
    {"DeepGEMM FP8 1d2d", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: fma (a*b) | bf16"},
    {"DeepGEMM FP8 1d1d, D +=",
     "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: fma (a*b) | sum + beta*c | f32"},
    {"DeepGEMM bf16", "sm_90/wgmma.m64n8k16.f32.bf16.bf16 | bf16"},
    {"DeepGEMM FP8 sm_100", "sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0 | bf16"},
    {"CUTLASS FP8, slow accumulation",
     "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: add from zero | bf16"},
    {"CUTLASS FP8 blockwise, Triton block FP8",
     "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: fma a*b | bf16"},
    {"PyTorch FP8 by rows", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | b*(a*sum) + bias | bf16"},
    {"PyTorch FP8 by rows, slow accumulation",
     "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: add from zero | b*(a*sum) + bias | bf16"},
    {"vLLM FP8", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | a*(b*sum) | bf16"},
    {"vLLM FP8, bias", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | fma(a, b*sum, bias) | bf16"},
    {"Triton FP8, default", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | f16"},
    {"Triton FP8, promoted", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 64: add | f16"},
    {"CUTLASS 2 split-K serial",
     "sm_80/mma.m16n8k16.f32.f16.f16.f32 | residue 32 | into 3 of 64: add held f16 | alpha*sum | "
     "f16"},
    {"cuBLASLt, parts in the output type",
     "sm_80/mma.m16n8k16.f32.f16.f16.f32 | residue 32 | into 3 of 64: add as f16 | f16"},
    {"CUTLASS split-K parallel",
     "sm_80/mma.m16n8k16.f32.f16.f16.f32 | residue 32 | into 3 of 32 floor: add from zero | "
     "fma(alpha, sum, beta*c) | f16"},
    {"CUTLASS stream-K", "sm_90/wgmma.m64n8k16.f32.f16.f16 | at 64 192: add | f16"},
    {"cuBLASLt nvjet, split", "sm_90/wgmma.m64n8k16.f32.f16.f16 | into 3 of 64: add | f16"},
    {"cuBLASLt nvjet, lost tail",
     "sm_90/wgmma.m64n8k16.f32.f16.f16 | cut 64 | into 3 of 64: add | f16"},
    {"cuBLASLt nvjet FP8", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 | every 128: add | bf16"},
    {"cuBLASLt gemmSN",
     "sm_90/fma.rn.f32 | every 128: add from zero | into 4 of 1: add from zero | f16"},
    {"cuBLASLt gemv, butterfly", "sm_90/fma.rn.f32 | strided 32 of 1: tree | f16"},
    {"cuBLASLt gemv, left to right", "sm_90/fma.rn.f32 | strided 32 of 4: pairs | f16"},
    {"Tensile GSU", "gfx942/v_mfma_f32_16x16x16_f16 | strided 3 of 64: add from zero | f16"},
    {"Tensile GSUC", "gfx942/v_mfma_f32_16x16x16_f16 | into 3 of 64 even: add from zero | f16"},
    {"OpenBLAS", "x86/vfmadd231ss | every 96 halved 16: add | fma(alpha, sum, beta*c) | f32"},
    {"oneDNN AMX", "x86/tdpbf16ps | every 128: add | bf16"},
};

}  // namespace mmadiff
