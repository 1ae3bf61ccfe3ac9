#include "sim/instruction.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "sim/described_format.h"
#include "sim/pattern.h"

namespace mmadiff {
namespace {

constexpr char kSdm[] = "Intel SDM vol. 2";
constexpr char kIse[] = "Intel Architecture Instruction Set Extensions, AMX";
constexpr char kIseFp8[] = "Intel Architecture Instruction Set Extensions (319433-057), AMX-FP8";
constexpr char kArm[] = "Arm ARM (DDI 0487), A64 SIMD&FP instructions";
constexpr char kFmaPage[] = "PTX ISA 9.0, 9.7.3 and 9.7.4 fma";
constexpr char kMmaPage[] = "PTX ISA 9.0, 9.7.14.5 mma";
constexpr char kMmaSpPage[] = "PTX ISA 9.0, 9.7.14.6 mma.sp";
constexpr char kWgmmaSpPage[] = "PTX ISA 9.0, 9.7.15.6 wgmma.mma_async.sp";
constexpr char kTcgen05SpPage[] = "PTX ISA 9.0, 9.7.16.10 tcgen05.mma.sp";
constexpr char kWmmaPage[] = "PTX ISA 9.0, 9.7.14.4 wmma";
constexpr char kWgmmaPage[] = "PTX ISA 9.0, 9.7.15 wgmma";
constexpr char kTcgen05Page[] = "PTX ISA 9.0, 9.7.16 tcgen05";
constexpr char kCvtPage[] = "PTX ISA 9.0, 9.7.9.21 cvt; ptxas 13.0 accepts it";
constexpr char kCvtPage91[] = "PTX ISA 9.1, 9.7.9.21 cvt; ptxas 13.0 rejects it";
constexpr char kCdna1[] = "AMD CDNA1 ISA, MFMA";
constexpr char kCdna2[] = "AMD CDNA2 ISA, MFMA";
constexpr char kCdna3[] = "AMD CDNA3 ISA, MFMA";
constexpr char kCdna4[] = "AMD CDNA4 ISA, MFMA";
constexpr char kCdna3Sparse[] = "AMD CDNA3 ISA, SMFMAC";
constexpr char kCdna4Sparse[] = "AMD CDNA4 ISA, SMFMAC";
constexpr char kRdna3[] = "AMD RDNA3 ISA, WMMA";
constexpr char kRdna4[] = "AMD RDNA4 ISA, WMMA";
constexpr char kRdna4Sparse[] = "AMD RDNA4 ISA, SWMMAC";
constexpr char kAmdVop1[] = "AMD CDNA3 ISA, VOP1";
constexpr char kAmdFp8[] = "AMD CDNA3 and CDNA4 ISA, 8-bit formats; RDNA4 ISA";
constexpr char kOfp8[] = "OCP 8-bit Floating Point 1.0";
constexpr char kMx[] = "OCP Microscaling Formats 1.0";

// Native: one instruction in the machine code that ptxas 13.0 emits (device/cuda/native_test.cc).
constexpr char kCuda[] = "sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120";
constexpr char kVolta[] = "sm_70 sm_75";  // emulated with FFMA from sm_80 on
constexpr char kFromTuring[] = "sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120";
constexpr char kFromAmpere[] = "sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120";
constexpr char kFp8[] = "sm_89 sm_120";  // on others from sm_90 on, ptxas compiles it to f16 steps
constexpr char kHopper[] = "sm_90";
constexpr char kBlackwell[] = "sm_100 sm_103";
constexpr char kRtxBlackwell[] = "sm_120";
constexpr char kTuringToAda[] = "sm_75 sm_80 sm_86 sm_89";
constexpr char kAmpereToAda[] = "sm_80 sm_86 sm_89";
constexpr char kAmpereToHopper[] = "sm_80 sm_86 sm_89 sm_90";
// Conversions: where ptxas accepts them; their machine code was not examined.
constexpr char kFromAda[] = "sm_89 sm_90 sm_100 sm_103 sm_120";
constexpr char kFromHopper[] = "sm_90 sm_100 sm_103 sm_120";
constexpr char kBlackwells[] = "sm_100 sm_103 sm_120";
constexpr char kAmd[] = "gfx908 gfx90a gfx942 gfx950 gfx1100 gfx1151 gfx1200";
constexpr char kNone[] = "";  // wmma that ptxas splits into several matrix instructions
constexpr char kGfx908Up[] = "gfx908 gfx90a";
constexpr char kGfx942Up[] = "gfx942 gfx950";
constexpr char kGfx11[] = "gfx1100 gfx1151";

constexpr Layout kLanes = Layout::kVectorLanes;
constexpr Layout kMma = Layout::kNvidiaMma;
constexpr Layout kMmaBytes = Layout::kNvidiaMmaBytes;
constexpr Layout kMatrices = Layout::kNvidiaWmma;
constexpr Layout kWarpgroup = Layout::kNvidiaWgmma;
constexpr Layout k884 = Layout::kNvidiaMma884;
constexpr Layout kWave = Layout::kAmdMfma;
constexpr Layout kHalves = Layout::kAmdWmma11;
constexpr Layout kWave32 = Layout::kAmdWmma12;
constexpr Layout kTensorMemory = Layout::kNvidiaTcgen05;
constexpr Layout kNoLanes = Layout::kNoLanes;

// PTX ISA, wgmma and tcgen05 shapes; CUTLASS asserts the same for tcgen05 (cta_group::1).
constexpr Sizes kWgmma[] = {{64, 8, 256, 8}};
constexpr Sizes kWgmmaInteger[] = {{64, 8, 24, 8}, {64, 32, 256, 16}};
constexpr Sizes kTcgen05[] = {{64, 8, 256, 8}, {128, 16, 256, 16}};
constexpr Sizes kTcgen05Integer[] = {{64, 8, 24, 8}, {64, 32, 256, 16}, {128, 16, 256, 16}};
constexpr Sizes kTcgen05Scaled[] = {{128, 8, 256, 8}};

struct Entry {
  const char* name;     // pattern of sim/pattern.h
  Shape shape;          // m == 0: the name gives m, n and k
  const char* formats;  // d a b c [scale]
  Layout layout;
  const char* native_on;
  const char* source;
  std::span<const Sizes> sizes = {};
  bool sparse = false;
};

constexpr Shape kNamed = {0, 0, 0, 1};
constexpr Shape kOne = {1, 1, 1, 1};  // a conversion
constexpr Shape kTwo = {1, 1, 1, 2};  // of two elements: block 0 is the low half of the result
constexpr Shape Scaled(int scales) { return {0, 0, 0, 1, scales}; }

// clang-format off
#define MMADIFF_F8F6F4 "{e4m3,e5m2,e3m2,e2m3,e2m1}"
constexpr Entry kEntries[] = {
    {"vdpbf16ps", {1, 1, 2, 16}, "f32 bf16 bf16 f32", kLanes, "x86", kSdm},
    {"vfmadd231ss", {1, 1, 1, 1}, "f32 f32 f32 f32", kLanes, "x86", kSdm},
    {"vfmadd231sd", {1, 1, 1, 1}, "f64 f64 f64 f64", kLanes, "x86", kSdm},
    {"vpdpbusd{,s}", {1, 1, 4, 16}, "s32 u8 s8 s32", kLanes, "x86", kSdm},
    {"vpdpwssd{,s}", {1, 1, 2, 16}, "s32 s16 s16 s32", kLanes, "x86", kSdm},
    {"tdpbf16ps", {16, 16, 32, 1}, "f32 bf16 bf16 f32", kNoLanes, "x86", kSdm},
    {"tdpfp16ps", {16, 16, 32, 1}, "f32 f16 f16 f32", kNoLanes, "x86", kSdm},
    {"tmmultf32ps", {16, 16, 16, 1}, "f32 tf32_amx tf32_amx f32", kNoLanes, "x86", kIse},
    {"tdpbf8ps", {16, 16, 64, 1}, "f32 bf8 bf8 f32", kNoLanes, "x86", kIseFp8},
    {"tdpbhf8ps", {16, 16, 64, 1}, "f32 bf8 fp8 f32", kNoLanes, "x86", kIseFp8},
    {"tdphbf8ps", {16, 16, 64, 1}, "f32 fp8 bf8 f32", kNoLanes, "x86", kIseFp8},
    {"tdphf8ps", {16, 16, 64, 1}, "f32 fp8 fp8 f32", kNoLanes, "x86", kIseFp8},
    {"tdpb{s,u}{s,u}d", {16, 16, 64, 1}, "s32 $18 $28 s32", kNoLanes, "x86", kSdm},

    {"bfdot{,.ebf}", {1, 1, 2, 4}, "f32 bf16 bf16 f32", kLanes, "arm", kArm},
    {"bfmmla{,.ebf}", {2, 2, 4, 1}, "f32 bf16 bf16 f32", kNoLanes, "arm", kArm},
    {"{s,u}dot", {1, 1, 4, 4}, "s32 $18 $18 s32", kLanes, "arm", kArm},
    {"usdot", {1, 1, 4, 4}, "s32 u8 s8 s32", kLanes, "arm", kArm},
    {"{s,u}mmla", {2, 2, 8, 1}, "s32 $18 $18 s32", kNoLanes, "arm", kArm},
    {"usmmla", {2, 2, 8, 1}, "s32 u8 s8 s32", kNoLanes, "arm", kArm},

    {"fma{.rn,.rz,.rm,.rp}.{f32,f64}", {1, 1, 1, 32}, "$2 $2 $2 $2", kLanes, kCuda, kFmaPage},
    {"mma.m8n8k4.f32.f16.f16.{f32,f16}", {8, 8, 4, 4}, "f32 f16 f16 $1", k884, kVolta, kMmaPage},
    {"mma.m8n8k4.f16.f16.f16.f16", {8, 8, 4, 4}, "f16 f16 f16 f16", k884, kVolta, kMmaPage},
    {"mma.m16n8k8.{f32,f16}.f16.f16.$1", kNamed, "$1 f16 f16 $1", kMma, kFromTuring, kMmaPage},
    {"mma.m16n8k16.{f32,f16}.f16.f16.$1", kNamed, "$1 f16 f16 $1", kMma, kFromAmpere, kMmaPage},
    {"mma.m16n8k{8,16}.f32.bf16.bf16.f32", kNamed, "f32 bf16 bf16 f32", kMma, kFromAmpere, kMmaPage},
    {"mma.m16n8k{4,8}.f32.tf32.tf32.f32", kNamed, "f32 tf32 tf32 f32", kMma, kFromAmpere, kMmaPage},
    {"mma.m8n8k4{,.rz,.rm,.rp}.f64.f64.f64.f64", kNamed, "f64 f64 f64 f64", kMma, kFromAmpere, kMmaPage},
    {"mma.m16n8k{4,8,16}{,.rz,.rm,.rp}.f64.f64.f64.f64", kNamed, "f64 f64 f64 f64", kMma, kHopper, kMmaPage},
    {"mma.m16n8k{16,32}.{f32,f16}.{e4m3,e5m2}.{e4m3,e5m2}.$2", kNamed, "$2 $3 $4 $2", kMma, kFp8, kMmaPage},
    {"mma.m16n8k32.f8f6f4.{f32,f16}." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4 ".$1", kNamed, "$1 $2 $3 $1", kMmaBytes, kRtxBlackwell, kMmaPage},
    {"mma.m16n8k32.mxf8f6f4.f32." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4 ".f32.ue8m0", Scaled(1), "f32 $1 $2 f32 ue8m0", kMmaBytes, kRtxBlackwell, kMmaPage},
    {"mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", Scaled(2), "f32 e2m1 e2m1 f32 ue8m0", kMma, kRtxBlackwell, kMmaPage},
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue8m0.2x", Scaled(2), "f32 e2m1 e2m1 f32 ue8m0", kMma, kRtxBlackwell, kMmaPage},
    // ue8m0.4x is new in PTX ISA 9.1: ptxas 13.0 rejects it, so this project has not seen its
    // machine code.
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.{ue8m0,ue4m3}.4x", Scaled(4), "f32 e2m1 e2m1 f32 $1", kMma, kRtxBlackwell, kMmaPage},
    {"mma.m8n8k16{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32", kNamed, "s32 $2 $3 s32", kMma, kFromTuring, kMmaPage},
    {"mma.m16n8k{16,32}{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32", kNamed, "s32 $3 $4 s32", kMma, kFromAmpere, kMmaPage},
    {"mma.m8n8k32{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32", kNamed, "s32 $2 $3 s32", kMma, kTuringToAda, kMmaPage},
    {"mma.m16n8k{32,64}{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32", kNamed, "s32 $3 $4 s32", kMma, kAmpereToAda, kMmaPage},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", kNamed, "s32 b1 b1 s32", kMma, kTuringToAda, kMmaPage},
    {"mma.m8n8k128.s32.b1.b1.s32.and.popc", kNamed, "s32 b1 b1 s32", kMma, kAmpereToHopper, kMmaPage},
    {"mma.m16n8k{128,256}.s32.b1.b1.s32.xor.popc", kNamed, "s32 b1 b1 s32", kMma, kAmpereToAda, kMmaPage},
    {"mma.m16n8k{128,256}.s32.b1.b1.s32.and.popc", kNamed, "s32 b1 b1 s32", kMma, kAmpereToHopper, kMmaPage},

    // k is that of B; half as many elements of A are stored.
    {"mma.sp.m16n8k{16,32}.{f32,f16}.f16.f16.$2", kNamed, "$2 f16 f16 $2", kMma, kFromAmpere, kMmaSpPage, {}, true},
    {"mma.sp.m16n8k{16,32}.f32.bf16.bf16.f32", kNamed, "f32 bf16 bf16 f32", kMma, kFromAmpere, kMmaSpPage, {}, true},
    {"mma.sp.m16n8k{8,16}.f32.tf32.tf32.f32", kNamed, "f32 tf32 tf32 f32", kMma, kFromAmpere, kMmaSpPage, {}, true},
    {"mma.sp.m16n8k64.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32", kNamed, "f32 $1 $2 f32", kMma, kFp8, kMmaSpPage, {}, true},
    {"mma.sp.m16n8k64.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16", kNamed, "f16 $1 $2 f16", kMma, kRtxBlackwell, kMmaSpPage, {}, true},
    {"mma.sp.m16n8k{32,64}{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32", kNamed, "s32 $3 $4 s32", kMma, kFromAmpere, kMmaSpPage, {}, true},
    {"mma.sp.m16n8k{64,128}{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32", kNamed, "s32 $3 $4 s32", kMma, kAmpereToAda, kMmaSpPage, {}, true},

    {"wmma.{m16n16,m32n8,m8n32}k16.{f32,f16}.f16.f16.$2", kNamed, "$2 f16 f16 $2", kMatrices, kNone, kWmmaPage},
    {"wmma.{m16n16,m32n8,m8n32}k16.f32.f16.f16.f16", kNamed, "f32 f16 f16 f16", kMatrices, kNone, kWmmaPage},
    {"wmma.{m16n16,m32n8,m8n32}k16.f16.f16.f16.f32", kNamed, "f16 f16 f16 f32", kMatrices, kNone, kWmmaPage},
    {"wmma.{m16n16,m32n8,m8n32}k16.f32.bf16.bf16.f32", kNamed, "f32 bf16 bf16 f32", kMatrices, kNone, kWmmaPage},
    {"wmma.m16n16k8.f32.tf32.tf32.f32", kNamed, "f32 tf32 tf32 f32", kMatrices, kNone, kWmmaPage},
    {"wmma.m8n8k4{,.rz,.rm,.rp}.f64.f64.f64.f64", kNamed, "f64 f64 f64 f64", kMatrices, kFromAmpere, kWmmaPage},
    {"wmma.{m16n16,m32n8,m8n32}k16{,.satfinite}.s32.{s8,u8}.$3.s32", kNamed, "s32 $3 $3 s32", kMatrices, kNone, kWmmaPage},
    {"wmma.m8n8k32{,.satfinite}.s32.{s4,u4}.$2.s32", kNamed, "s32 $2 $2 s32", kMatrices, kTuringToAda, kWmmaPage},
    {"wmma.m8n8k128.s32.b1.b1.s32.xor.popc", kNamed, "s32 b1 b1 s32", kMatrices, kTuringToAda, kWmmaPage},
    {"wmma.m8n8k128.s32.b1.b1.s32.and.popc", kNamed, "s32 b1 b1 s32", kMatrices, kAmpereToHopper, kWmmaPage},

    {"wgmma.m64n8k16.{f32,f16}.f16.f16", kNamed, "$1 f16 f16 $1", kWarpgroup, kHopper, kWgmmaPage, kWgmma},
    {"wgmma.m64n8k16.f32.bf16.bf16", kNamed, "f32 bf16 bf16 f32", kWarpgroup, kHopper, kWgmmaPage, kWgmma},
    {"wgmma.m64n8k8.f32.tf32.tf32", kNamed, "f32 tf32 tf32 f32", kWarpgroup, kHopper, kWgmmaPage, kWgmma},
    {"wgmma.m64n8k32.{f32,f16}.{e4m3,e5m2}.{e4m3,e5m2}", kNamed, "$1 $2 $3 $1", kWarpgroup, kHopper, kWgmmaPage, kWgmma},
    {"wgmma.m64n8k32{,.satfinite}.s32.{s8,u8}.{s8,u8}", kNamed, "s32 $2 $3 s32", kWarpgroup, kHopper, kWgmmaPage, kWgmmaInteger},
    {"wgmma.m64n8k256.s32.b1.b1.and.popc", kNamed, "s32 b1 b1 s32", kWarpgroup, kHopper, kWgmmaPage, kWgmmaInteger},

    {"wgmma.sp.m64n8k32.{f32,f16}.f16.f16", kNamed, "$1 f16 f16 $1", kWarpgroup, kHopper, kWgmmaSpPage, kWgmma, true},
    {"wgmma.sp.m64n8k32.f32.bf16.bf16", kNamed, "f32 bf16 bf16 f32", kWarpgroup, kHopper, kWgmmaSpPage, kWgmma, true},
    {"wgmma.sp.m64n8k16.f32.tf32.tf32", kNamed, "f32 tf32 tf32 f32", kWarpgroup, kHopper, kWgmmaSpPage, kWgmma, true},
    {"wgmma.sp.m64n8k64.{f32,f16}.{e4m3,e5m2}.{e4m3,e5m2}", kNamed, "$1 $2 $3 $1", kWarpgroup, kHopper, kWgmmaSpPage, kWgmma, true},
    {"wgmma.sp.m64n8k64{,.satfinite}.s32.{s8,u8}.{s8,u8}", kNamed, "s32 $2 $3 s32", kWarpgroup, kHopper, kWgmmaSpPage, kWgmmaInteger, true},

    {"tcgen05.mma.m64n8k16.f32.{f16,bf16}.{f16,bf16}", kNamed, "f32 $1 $2 f32", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05},
    {"tcgen05.mma.m64n8k16.f16.f16.f16", kNamed, "f16 f16 f16 f16", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05},
    {"tcgen05.mma.m64n8k8.f32.tf32.tf32", kNamed, "f32 tf32 tf32 f32", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05},
    {"tcgen05.mma.m64n8k32.{f32,f16}." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4, kNamed, "$1 $2 $3 $1", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05},
    {"tcgen05.mma.m64n8k32{,.satfinite}.s32.{s8,u8}.{s8,u8}", kNamed, "s32 $2 $3 s32", kTensorMemory, "sm_100", kTcgen05Page, kTcgen05Integer},
    {"tcgen05.mma.m128n8k32.mxf8f6f4.f32." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4 ".ue8m0", Scaled(1), "f32 $1 $2 f32 ue8m0", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05Scaled},
    {"tcgen05.mma.m128n8k64.mxf4.f32.e2m1.e2m1.ue8m0", Scaled(2), "f32 e2m1 e2m1 f32 ue8m0", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05Scaled},
    {"tcgen05.mma.m128n8k64.mxf4nvf4.f32.e2m1.e2m1.ue8m0.2x", Scaled(2), "f32 e2m1 e2m1 f32 ue8m0", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05Scaled},
    {"tcgen05.mma.m128n8k64.mxf4nvf4.f32.e2m1.e2m1.{ue8m0,ue4m3}.4x", Scaled(4), "f32 e2m1 e2m1 f32 $1", kTensorMemory, kBlackwell, kTcgen05Page, kTcgen05Scaled},

    {"tcgen05.mma.sp.m64n8k32.f32.{f16,bf16}.$1", kNamed, "f32 $1 $1 f32", kTensorMemory, kBlackwell, kTcgen05SpPage, kTcgen05, true},
    {"tcgen05.mma.sp.m64n8k16.f32.tf32.tf32", kNamed, "f32 tf32 tf32 f32", kTensorMemory, kBlackwell, kTcgen05SpPage, kTcgen05, true},
    {"tcgen05.mma.sp.m64n8k64.{f32,f16}.{e4m3,e5m2}.{e4m3,e5m2}", kNamed, "$1 $2 $3 $1", kTensorMemory, kBlackwell, kTcgen05SpPage, kTcgen05, true},

    // In the x2 forms with two operands, block 0 is the second, b, and block 1 the first, a.
    {"cvt.{rn,rz,rm,rp}.f16.f32", kOne, "f16 f32 - -", kNoLanes, kCuda, kCvtPage},
    {"cvt.{rn,rz}.satfinite.f16.f32", kOne, "f16 f32 - -", kNoLanes, kFromTuring, kCvtPage},
    {"cvt.{rn,rz}.relu{,.satfinite}.f16.f32", kOne, "f16 f32 - -", kNoLanes, kFromAmpere, kCvtPage},
    {"cvt.{rn,rz,rm,rp}.bf16.f32", kOne, "bf16 f32 - -", kNoLanes, kFromAmpere, kCvtPage},
    {"cvt.{rn,rz}{.satfinite,.relu,.relu.satfinite}.bf16.f32", kOne, "bf16 f32 - -", kNoLanes, kFromAmpere, kCvtPage},
    {"cvt.{rn,rz}{,.satfinite,.relu,.relu.satfinite}.{f16,bf16}x2.f32", kTwo, "$3 f32 - -", kNoLanes, kFromAmpere, kCvtPage},
    {"cvt.rna{,.satfinite}.tf32.f32", kOne, "tf32 f32 - -", kNoLanes, kFromAmpere, kCvtPage},
    {"cvt.{rn,rz}{,.relu}.tf32.f32", kOne, "tf32 f32 - -", kNoLanes, kFromHopper, kCvtPage},
    {"cvt.{rn,rz}.satfinite{,.relu}.tf32.f32", kOne, "tf32 f32 - -", kNoLanes, kBlackwells, kCvtPage},
    {"cvt.{rn,rz,rm,rp}.bf16.f16", kOne, "bf16 f16 - -", kNoLanes, kFromHopper, kCvtPage},
    {"cvt.{rn,rz,rm,rp}.f16.bf16", kOne, "f16 bf16 - -", kNoLanes, kFromHopper, kCvtPage},
    {"cvt.f32.f16", kOne, "f32 f16 - -", kNoLanes, kCuda, kCvtPage},
    {"cvt.f32.bf16", kOne, "f32 bf16 - -", kNoLanes, kFromAmpere, kCvtPage},
    {"cvt.rn.satfinite{,.relu}.{e4m3,e5m2}x2.f32", kTwo, "$2 f32 - -", kNoLanes, kFromAda, kCvtPage},
    {"cvt.rn.satfinite{,.relu}.{e4m3,e5m2}x2.f16x2", kTwo, "$2 f16 - -", kNoLanes, kFromAda, kCvtPage},
    {"cvt.rn.satfinite{,.relu}.{e4m3,e5m2}x2.bf16x2", kTwo, "$2 bf16 - -", kNoLanes, kBlackwells, kCvtPage91},
    {"cvt.rn{,.relu}.f16x2.{e4m3,e5m2}x2", kTwo, "f16 $2 - -", kNoLanes, kFromAda, kCvtPage},
    {"cvt.rn.satfinite{,.relu}.{e2m3,e3m2,e2m1}x2.f32", kTwo, "$2 f32 - -", kNoLanes, kBlackwells, kCvtPage},
    {"cvt.rn.satfinite{,.relu}.{e2m3,e3m2,e2m1}x2.f16x2", kTwo, "$2 f16 - -", kNoLanes, kBlackwells, kCvtPage91},
    {"cvt.rn.satfinite{,.relu}.{e2m3,e3m2,e2m1}x2.bf16x2", kTwo, "$2 bf16 - -", kNoLanes, kBlackwells, kCvtPage91},
    {"cvt.rn{,.relu}.f16x2.{e2m3,e3m2,e2m1}x2", kTwo, "f16 $2 - -", kNoLanes, kBlackwells, kCvtPage},
    {"cvt.{rz,rp}{,.satfinite}.ue8m0x2.f32", kTwo, "ue8m0 f32 - -", kNoLanes, kBlackwells, kCvtPage},
    {"cvt.{rz,rp}{,.satfinite}.ue8m0x2.bf16x2", kTwo, "ue8m0 bf16 - -", kNoLanes, kBlackwells, kCvtPage},
    {"cvt.rn.bf16x2.ue8m0x2", kTwo, "bf16 ue8m0 - -", kNoLanes, kBlackwells, kCvtPage},

    {"v_mfma_f32_32x32x1f32", {32, 32, 1, 2}, "f32 f32 f32 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_16x16x1f32", {16, 16, 1, 4}, "f32 f32 f32 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_4x4x1f32", {4, 4, 1, 16}, "f32 f32 f32 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_32x32x2f32", {32, 32, 2, 1}, "f32 f32 f32 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_16x16x4f32", {16, 16, 4, 1}, "f32 f32 f32 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_32x32x4f16", {32, 32, 4, 2}, "f32 f16 f16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_16x16x4f16", {16, 16, 4, 4}, "f32 f16 f16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_4x4x4f16", {4, 4, 4, 16}, "f32 f16 f16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_32x32x8f16", {32, 32, 8, 1}, "f32 f16 f16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_16x16x16f16", {16, 16, 16, 1}, "f32 f16 f16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_32x32x2bf16", {32, 32, 2, 2}, "f32 bf16 bf16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_16x16x2bf16", {16, 16, 2, 4}, "f32 bf16 bf16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_4x4x2bf16", {4, 4, 2, 16}, "f32 bf16 bf16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_32x32x4bf16", {32, 32, 4, 1}, "f32 bf16 bf16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_16x16x8bf16", {16, 16, 8, 1}, "f32 bf16 bf16 f32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_i32_32x32x4i8", {32, 32, 4, 2}, "s32 s8 s8 s32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_i32_16x16x4i8", {16, 16, 4, 4}, "s32 s8 s8 s32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_i32_4x4x4i8", {4, 4, 4, 16}, "s32 s8 s8 s32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_i32_32x32x8i8", {32, 32, 8, 1}, "s32 s8 s8 s32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_i32_16x16x16i8", {16, 16, 16, 1}, "s32 s8 s8 s32", kWave, kGfx908Up, kCdna1},
    {"v_mfma_f32_32x32x4bf16_1k", {32, 32, 4, 2}, "f32 bf16 bf16 f32", kWave, "gfx90a", kCdna2},
    {"v_mfma_f32_16x16x4bf16_1k", {16, 16, 4, 4}, "f32 bf16 bf16 f32", kWave, "gfx90a", kCdna2},
    {"v_mfma_f32_4x4x4bf16_1k", {4, 4, 4, 16}, "f32 bf16 bf16 f32", kWave, "gfx90a", kCdna2},
    {"v_mfma_f32_32x32x8bf16_1k", {32, 32, 8, 1}, "f32 bf16 bf16 f32", kWave, "gfx90a", kCdna2},
    {"v_mfma_f32_16x16x16bf16_1k", {16, 16, 16, 1}, "f32 bf16 bf16 f32", kWave, "gfx90a", kCdna2},
    {"v_mfma_f64_16x16x4f64", {16, 16, 4, 1}, "f64 f64 f64 f64", kWave, "gfx90a", kCdna2},
    {"v_mfma_f64_4x4x4f64", {4, 4, 4, 4}, "f64 f64 f64 f64", kWave, "gfx90a", kCdna2},

    {"v_mfma_f32_32x32x1_2b_f32", {32, 32, 1, 2}, "f32 f32 f32 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_16x16x1_4b_f32", {16, 16, 1, 4}, "f32 f32 f32 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_4x4x1_16b_f32", {4, 4, 1, 16}, "f32 f32 f32 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_32x32x2_f32", {32, 32, 2, 1}, "f32 f32 f32 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_16x16x4_f32", {16, 16, 4, 1}, "f32 f32 f32 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_32x32x4_2b_{f16,bf16}", {32, 32, 4, 2}, "f32 $1 $1 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_16x16x4_4b_{f16,bf16}", {16, 16, 4, 4}, "f32 $1 $1 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_4x4x4_16b_{f16,bf16}", {4, 4, 4, 16}, "f32 $1 $1 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_32x32x8_{f16,bf16}", {32, 32, 8, 1}, "f32 $1 $1 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_16x16x16_{f16,bf16}", {16, 16, 16, 1}, "f32 $1 $1 f32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f32_32x32x4_xf32", {32, 32, 4, 1}, "f32 tf32 tf32 f32", kWave, "gfx942", kCdna3},
    {"v_mfma_f32_16x16x8_xf32", {16, 16, 8, 1}, "f32 tf32 tf32 f32", kWave, "gfx942", kCdna3},
    // fp8 is e4m3fnuz, bf8 is e5m2fnuz
    {"v_mfma_f32_{16x16x32,32x32x16}_fp8_fp8", kNamed, "f32 e4m3fnuz e4m3fnuz f32", kWave, "gfx942", kCdna3},
    {"v_mfma_f32_{16x16x32,32x32x16}_fp8_bf8", kNamed, "f32 e4m3fnuz e5m2fnuz f32", kWave, "gfx942", kCdna3},
    {"v_mfma_f32_{16x16x32,32x32x16}_bf8_fp8", kNamed, "f32 e5m2fnuz e4m3fnuz f32", kWave, "gfx942", kCdna3},
    {"v_mfma_f32_{16x16x32,32x32x16}_bf8_bf8", kNamed, "f32 e5m2fnuz e5m2fnuz f32", kWave, "gfx942", kCdna3},
    {"v_mfma_f64_16x16x4_f64", {16, 16, 4, 1}, "f64 f64 f64 f64", kWave, kGfx942Up, kCdna3},
    {"v_mfma_f64_4x4x4_4b_f64", {4, 4, 4, 4}, "f64 f64 f64 f64", kWave, kGfx942Up, kCdna3},
    {"v_mfma_i32_32x32x4_2b_i8", {32, 32, 4, 2}, "s32 s8 s8 s32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_i32_16x16x4_4b_i8", {16, 16, 4, 4}, "s32 s8 s8 s32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_i32_4x4x4_16b_i8", {4, 4, 4, 16}, "s32 s8 s8 s32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_i32_{32x32x16,16x16x32}_i8", kNamed, "s32 s8 s8 s32", kWave, kGfx942Up, kCdna3},
    {"v_mfma_i32_{32x32x32,16x16x64}_i8", kNamed, "s32 s8 s8 s32", kWave, "gfx950", kCdna4},
    {"v_mfma_f32_{16x16x32,32x32x16}_{f16,bf16}", kNamed, "f32 $2 $2 f32", kWave, "gfx950", kCdna4},
    {"v_mfma_f32_{16x16x32,32x32x16}_{fp8,bf8}_{fp8,bf8}", kNamed, "f32 $2 $3 f32", kWave, "gfx950", kCdna4},
    // cbsz and blgp select the formats of A and B.
    {"v_mfma_f32_{16x16x128,32x32x64}_f8f6f4." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4, kNamed, "f32 $2 $3 f32", kWave, "gfx950", kCdna4},
    {"v_mfma_scale_f32_16x16x128_f8f6f4." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4 ".ue8m0", Scaled(4), "f32 $1 $2 f32 ue8m0", kWave, "gfx950", kCdna4},
    {"v_mfma_scale_f32_32x32x64_f8f6f4." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4 ".ue8m0", Scaled(2), "f32 $1 $2 f32 ue8m0", kWave, "gfx950", kCdna4},

    // neg_lo selects whether elements of A and B are signed; 16-bit results are in the half that
    // OPSEL = 0 selects.
    {"v_wmma_f32_16x16x16_{f16,bf16}", kNamed, "f32 $1 $1 f32", kHalves, kGfx11, kRdna3},
    {"v_wmma_{f16,bf16}_16x16x16_$1", kNamed, "$1 $1 $1 $1", kHalves, kGfx11, kRdna3},
    {"v_wmma_i32_16x16x16_iu8.{s8,u8}.{s8,u8}", kNamed, "s32 $1 $2 s32", kHalves, kGfx11, kRdna3},
    {"v_wmma_i32_16x16x16_iu4.{s4,u4}.{s4,u4}", kNamed, "s32 $1 $2 s32", kHalves, kGfx11, kRdna3},
    {"v_wmma_f32_16x16x16_{f16,bf16}", kNamed, "f32 $1 $1 f32", kWave32, "gfx1200", kRdna4},
    {"v_wmma_{f16,bf16}_16x16x16_$1", kNamed, "$1 $1 $1 $1", kWave32, "gfx1200", kRdna4},
    {"v_wmma_i32_16x16x16_iu8.{s8,u8}.{s8,u8}", kNamed, "s32 $1 $2 s32", kWave32, "gfx1200", kRdna4},
    {"v_wmma_i32_16x16x16_iu4.{s4,u4}.{s4,u4}", kNamed, "s32 $1 $2 s32", kWave32, "gfx1200", kRdna4},
    {"v_wmma_i32_16x16x32_iu4.{s4,u4}.{s4,u4}", kNamed, "s32 $1 $2 s32", kWave32, "gfx1200", kRdna4},
    {"v_wmma_f32_16x16x16_{fp8,bf8}_{fp8,bf8}", kNamed, "f32 $1 $2 f32", kWave32, "gfx1200", kRdna4},
    // Variants that give other bits: FP16_OVFL of MODE, a wave of 64 lanes, the bit CLAMP.
    {"v_wmma_f16_16x16x16_f16.ovfl", kNamed, "f16 f16 f16 f16", kNoLanes, "gfx1100 gfx1151 gfx1200", kRdna3},
    {"v_wmma_f16_16x16x16_f16.wave64.ovfl", kNamed, "f16 f16 f16 f16", kNoLanes, "gfx1200", kRdna4},
    {"v_wmma_f32_16x16x16_{f16,bf16}.wave64", kNamed, "f32 $1 $1 f32", kNoLanes, "gfx1200", kRdna4},
    {"v_wmma_{f16,bf16}_16x16x16_$1.wave64", kNamed, "$1 $1 $1 $1", kNoLanes, "gfx1200", kRdna4},
    {"v_wmma_i32_16x16x16_iu8.{s8,u8}.{s8,u8}.clamp", kNamed, "s32 $1 $2 s32", kWave32, "gfx1200", kRdna4},
    {"v_wmma_i32_{16x16x16,16x16x32}_iu4.{s4,u4}.{s4,u4}.clamp", kNamed, "s32 $2 $3 s32", kWave32, "gfx1200", kRdna4},
    {"v_dot2_f32_{f16,bf16}", {1, 1, 2, 1}, "f32 $1 $1 f32", kNoLanes, "gfx1100 gfx1151 gfx1200", "AMD RDNA3 ISA, VOP3P"},
    {"v_dot4_f32_{fp8,bf8}_{fp8,bf8}", {1, 1, 4, 1}, "f32 $1 $2 f32", kNoLanes, "gfx1200", "AMD RDNA4 ISA, VOP3P"},

    // k is that of B; half as many elements of A are stored.
    {"v_smfmac_f32_{16x16x32,32x32x16}_{f16,bf16}", kNamed, "f32 $2 $2 f32", kWave, kGfx942Up, kCdna3Sparse, {}, true},
    {"v_smfmac_i32_{16x16x64,32x32x32}_i8", kNamed, "s32 s8 s8 s32", kWave, kGfx942Up, kCdna3Sparse, {}, true},
    {"v_smfmac_f32_{16x16x64,32x32x32}_{fp8,bf8}_{fp8,bf8}", kNamed, "f32 $2fnuz $3fnuz f32", kWave, "gfx942", kCdna3Sparse, {}, true},
    {"v_smfmac_f32_{16x16x64,32x32x32,16x16x128,32x32x64}_{fp8,bf8}_{fp8,bf8}", kNamed, "f32 $2 $3 f32", kWave, "gfx950", kCdna4Sparse, {}, true},
    {"v_smfmac_f32_{16x16x64,32x32x32}_{f16,bf16}", kNamed, "f32 $2 $2 f32", kWave, "gfx950", kCdna4Sparse, {}, true},
    {"v_smfmac_i32_{16x16x128,32x32x64}_i8", kNamed, "s32 s8 s8 s32", kWave, "gfx950", kCdna4Sparse, {}, true},
    {"v_swmmac_f32_16x16x32_{f16,bf16}", kNamed, "f32 $1 $1 f32", kWave32, "gfx1200", kRdna4Sparse, {}, true},
    {"v_swmmac_{f16,bf16}_16x16x32_$1", kNamed, "$1 $1 $1 $1", kWave32, "gfx1200", kRdna4Sparse, {}, true},
    {"v_swmmac_f32_16x16x32_{fp8,bf8}_{fp8,bf8}", kNamed, "f32 $1 $2 f32", kWave32, "gfx1200", kRdna4Sparse, {}, true},
    {"v_swmmac_i32_16x16x32_iu8.{s8,u8}.{s8,u8}", kNamed, "s32 $1 $2 s32", kWave32, "gfx1200", kRdna4Sparse, {}, true},
    {"v_swmmac_i32_{16x16x32,16x16x64}_iu4.{s4,u4}.{s4,u4}", kNamed, "s32 $2 $3 s32", kWave32, "gfx1200", kRdna4Sparse, {}, true},
    {"v_swmmac_i32_16x16x32_iu8.{s8,u8}.{s8,u8}.clamp", kNamed, "s32 $1 $2 s32", kWave32, "gfx1200", kRdna4Sparse, {}, true},
    {"v_swmmac_i32_{16x16x32,16x16x64}_iu4.{s4,u4}.{s4,u4}.clamp", kNamed, "s32 $2 $3 s32", kWave32, "gfx1200", kRdna4Sparse, {}, true},

    // Block 0 is the first operand and the low half of the result.
    {"v_cvt_f16_f32", kOne, "f16 f32 - -", kNoLanes, kAmd, kAmdVop1},
    {"v_cvt_f32_f16", kOne, "f32 f16 - -", kNoLanes, kAmd, kAmdVop1},
    {"v_cvt_pk_{fp8,bf8}_f32", kTwo, "$1fnuz f32 - -", kNoLanes, "gfx942", kAmdFp8},
    {"v_cvt_f32_{fp8,bf8}", kOne, "f32 $1fnuz - -", kNoLanes, "gfx942", kAmdFp8},
    {"v_cvt_pk_f32_{fp8,bf8}", kTwo, "f32 $1fnuz - -", kNoLanes, "gfx942", kAmdFp8},
    {"v_cvt_pk_{fp8,bf8}_f32", kTwo, "$1 f32 - -", kNoLanes, "gfx950 gfx1200", kAmdFp8},
    {"v_cvt_f32_{fp8,bf8}", kOne, "f32 $1 - -", kNoLanes, "gfx950 gfx1200", kAmdFp8},
    {"v_cvt_pk_f32_{fp8,bf8}", kTwo, "f32 $1 - -", kNoLanes, "gfx950 gfx1200", kAmdFp8},
    {"v_cvt_pk_bf16_f32", kTwo, "bf16 f32 - -", kNoLanes, "gfx950", "AMD CDNA4 ISA, VOP3"},

    // The two low bits of the immediate select the rounding mode; the third is 0.
    {"vcvtps2ph.{rn,rm,rp,rz}", {1, 1, 1, 8}, "f16 f32 - -", kNoLanes, "x86", kSdm},
    {"vcvtph2ps", {1, 1, 1, 8}, "f32 f16 - -", kNoLanes, "x86", kSdm},
    {"vcvtneps2bf16", {1, 1, 1, 16}, "bf16 f32 - -", kNoLanes, "x86", kSdm},

    {"cvt.rn{,.satfinite}.{e4m3,e5m2}.f32", kOne, "$2 f32 - -", kNoLanes, "ocp", kOfp8},
    {"cvt.rn.satfinite.{e3m2,e2m3,e2m1}.f32", kOne, "$1 f32 - -", kNoLanes, "ocp", kMx},
    {"cvt.rz{,.satfinite}.ue8m0.f32", kOne, "ue8m0 f32 - -", kNoLanes, "ocp", kMx},
    {"cvt.f32.{e4m3,e5m2,e3m2,e2m3,e2m1,ue8m0}", kOne, "f32 $1 - -", kNoLanes, "ocp", kMx},
};
#undef MMADIFF_F8F6F4
// clang-format on

// AMD's fp8 is e4m3 and its bf8 is e5m2, on gfx942 the fnuz variants.
const Format* FormatNamed(std::string name) {
  if (name.starts_with("fp8")) name.replace(0, 3, "e4m3");
  if (name.starts_with("bf8")) name.replace(0, 3, "e5m2");
  const Format* format = FindFormat(name);
  if (format == nullptr) std::abort();  // a table names an unknown format: programmer error
  return format;
}

// Elements of A that a metadata word is about. NVIDIA's selects two of four elements, of four pairs
// of 4-bit elements, or one of two elements of 32 bits (PTX ISA, "Sparse matrix storage"); AMD's
// selects two of four elements of any width.
int GroupOf(const Format& a, Layout layout) {
  const bool amd = layout == Layout::kAmdMfma || layout == Layout::kAmdWmma12;
  return amd ? 4 : a.bits == 32 ? 2 : a.bits == 4 ? 8 : 4;
}

// m, n and k from "m16n8k32" or "16x16x32" in a name.
Shape NamedShape(const std::string& name, Shape shape) {
  for (size_t i = 0; i < name.size(); ++i) {
    const char* form = name[i] == 'm' ? "m%dn%dk%d" : name[i] == '_' ? "_%dx%dx%d_" : nullptr;
    if (form != nullptr && std::sscanf(&name[i], form, &shape.m, &shape.n, &shape.k) == 3) {
      return shape;
    }
  }
  std::abort();  // a table's name has no shape: programmer error
}

std::vector<Instruction> MakeInstructions() {
  std::vector<Instruction> all;
  for (const Entry& entry : kEntries) {
    for (const Expansion& e : Expand(entry.name)) {
      const std::vector<std::string> formats = SplitWords(Substitute(entry.formats, e.choices));
      if (formats.size() != (entry.shape.scales == 0 ? 4 : 5)) std::abort();  // programmer error
      all.push_back({e.text, entry.shape.m == 0 ? NamedShape(e.text, entry.shape) : entry.shape,
                     FormatNamed(formats[0]), FormatNamed(formats[1]), FormatNamed(formats[2]),
                     FormatNamed(formats[3]),
                     formats.size() == 5 ? FormatNamed(formats[4]) : nullptr, entry.layout,
                     entry.native_on, entry.source, entry.sizes});
      if (entry.sparse) {
        Shape& shape = all.back().shape;
        shape.groups = shape.k / GroupOf(*all.back().a, entry.layout);
      }
    }
  }
  return all;
}

}  // namespace

std::span<const Instruction> Instructions() {
  static const std::vector<Instruction>& all = *new std::vector<Instruction>(MakeInstructions());
  return all;
}

const Instruction* FindInstruction(std::string_view name, std::string_view arch) {
  static const auto& by_name = *[] {
    auto* map = new std::multimap<std::string, const Instruction*, std::less<>>;
    for (const Instruction& i : Instructions()) map->emplace(i.name, &i);
    return map;
  }();
  const auto [first, last] = by_name.equal_range(name);
  const auto found = std::find_if(
      first, last, [arch](const auto& entry) { return IsNativeOn(*entry.second, arch); });
  if (found != last) return found->second;
  return first == last ? nullptr : first->second;
}

InstructionType TypeOf(const Instruction& instruction) {
  const Shape& s = instruction.shape;
  if (instruction.is_conversion()) return InstructionType::kConversion;
  if (s.m > 1 || s.n > 1) return InstructionType::kMatrix;
  return s.k > 1 ? InstructionType::kDotProduct : InstructionType::kMultiplyAdd;
}

const char* Name(InstructionType type) {
  constexpr const char* kNames[] = {"matrix", "dot_product", "multiply_add", "conversion"};
  static_assert(std::size(kNames) == kInstructionTypes);
  return kNames[static_cast<int>(type)];
}

const Format* FindFormat(std::string_view name) {
  if (name == kAbsent.name) return &kAbsent;
  const auto* const found = std::ranges::find(kFormats, name, &Format::name);
  if (found != std::end(kFormats)) return *found;
  const Format* const described = DescribedFormat(name);
  return described != nullptr && described->name == name ? described : nullptr;
}

bool IsNativeOn(const Instruction& instruction, std::string_view arch) {
  const std::vector<std::string> native_on = SplitWords(instruction.native_on);
  return std::ranges::find(native_on, arch) != native_on.end();
}

Instruction WithSize(const Instruction& instruction, int m, int n) {
  const auto size = [](int rows, int columns) {
    return "m" + std::to_string(rows) + "n" + std::to_string(columns) + "k";
  };
  Instruction other = instruction;
  const std::string old = size(instruction.shape.m, instruction.shape.n);
  other.name.replace(other.name.find(old), old.size(), size(m, n));
  other.shape.m = m;
  other.shape.n = n;
  return other;
}

}  // namespace mmadiff
