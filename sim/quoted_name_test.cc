#include "sim/quoted_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "sim/operation.h"
#include "sim/product.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Quote {
  const char *text, *meaning;
};

// As in reports, documentation and disassemblies.
constexpr Quote kOne[] = {
    {"h100/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     "sm_90/mma.m16n8k16.f32.f16.f16.f32"},
    {"A100/mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}",
     "sm_80/mma.m16n8k8.f32.tf32.tf32.f32"},
    {"t4/mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32",
     "sm_75/mma.m8n8k16.satfinite.s32.s8.u8.s32"},
    {"sm_80/mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
     "sm_80/mma.m16n8k256.s32.b1.b1.s32.xor.popc"},
    {"sm_80/mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "sm_80/mma.m8n8k4.f64.f64.f64.f64"},
    {"l40s/mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
     "sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32"},
    {"rtx5090/mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32",
     "sm_120/mma.m16n8k32.f8f6f4.f32.e3m2.e2m1.f32"},
    {"sm_120a/"
     "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32."
     "ue4m3",
     "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x"},
    {"RTX "
     "5090/"
     "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e5m2.f32."
     "ue8m0",
     "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e5m2.f32.ue8m0"},
    {"sm_90/mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
     "sm_90/mma.sp.m16n8k32.f32.f16.f16.f32"},
    {"v100/wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
     "sm_70/wmma.m16n16k16.f32.f16.f16.f32"},
    {"sm_80/wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32",
     "sm_80/wmma.m16n16k16.f32.bf16.bf16.f32"},
    {"sm_80/wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
     "sm_80/wmma.m8n8k128.s32.b1.b1.s32.xor.popc"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "sm_90/wgmma.m64n8k16.f32.f16.f16"},
    {"wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {%0}, %1, %2, p, 1, 1;",
     "sm_90/wgmma.m64n128k32.f32.e4m3.e4m3"},
    {"wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8.satfinite",
     "sm_90/wgmma.m64n32k32.satfinite.s32.s8.s8"},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "sm_90/wgmma.sp.m64n8k32.f32.f16.f16"},
    {"b200/tcgen05.mma.cta_group::1.kind::tf32", "sm_100/tcgen05.mma.m64n8k8.f32.tf32.tf32"},
    {"b200/tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X",
     "sm_100/tcgen05.mma.m128n8k64.mxf4.f32.e2m1.e2m1.ue8m0"},
    {"h100/fma.rn.f32", "sm_90/fma.rn.f32"},

    {"a100/HMMA.16816.F32", "sm_80/mma.m16n8k16.f32.f16.f16.f32"},
    {"a100/HMMA.16816.F32.BF16 R4, R8, R12, R4", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"},
    {"a100/HMMA.1688.F32.TF32", "sm_80/mma.m16n8k8.f32.tf32.tf32.f32"},
    {"rtx3090/HMMA.16816.F16", "sm_86/mma.m16n8k16.f16.f16.f16.f16"},
    {"v100/HMMA.884.F32.F32.STEP0", "sm_70/mma.m8n8k4.f32.f16.f16.f32"},
    {"v100/HMMA.884.F32.F16.STEP1", "sm_70/mma.m8n8k4.f32.f16.f16.f16"},
    {"v100/hmma.884.f16.f16.step0", "sm_70/mma.m8n8k4.f16.f16.f16.f16"},
    {"HGMMA.64x8x16.F32", "sm_90/wgmma.m64n8k16.f32.f16.f16"},
    {"HGMMA.64x256x16.F32.BF16 R24, gdesc[UR4], R24, gsb0", "sm_90/wgmma.m64n256k16.f32.bf16.bf16"},
    {"HGMMA.64x128x8.F32.TF32", "sm_90/wgmma.m64n128k8.f32.tf32.tf32"},
    {"QGMMA.64x8x32.F32.E4M3.E5M2", "sm_90/wgmma.m64n8k32.f32.e4m3.e5m2"},
    {"IGMMA.64x32x32.U8.S8.SAT", "sm_90/wgmma.m64n32k32.satfinite.s32.u8.s8"},
    {"BGMMA.64x8x256.AND.POPC", "sm_90/wgmma.m64n8k256.s32.b1.b1.and.popc"},
    {"a100/IMMA.16832.S8.S8.SAT", "sm_80/mma.m16n8k32.satfinite.s32.s8.s8.s32"},
    {"t4/IMMA.8816.S8.U8", "sm_75/mma.m8n8k16.s32.s8.u8.s32"},
    {"a100/BMMA.168256.XOR.POPC", "sm_80/mma.m16n8k256.s32.b1.b1.s32.xor.popc"},
    {"a100/DMMA.884", "sm_80/mma.m8n8k4.f64.f64.f64.f64"},
    {"h100/DMMA.16x8x16", "sm_90/mma.m16n8k16.f64.f64.f64.f64"},
    {"rtx4090/QMMA.16832.F32.E4M3.E4M3", "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32"},
    {"QMMA.SF.16832.F32.E4M3.E4M3.E8", "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0"},
    {"OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X",
     "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x"},
    {"h100/FFMA", "sm_90/fma.rn.f32"},

    {"SM80_16x8x16_F32F16F16F32_TN", "sm_80/mma.m16n8k16.f32.f16.f16.f32"},
    {"MMA_Atom<SM80_16x8x8_F32TF32TF32F32_TN>", "sm_80/mma.m16n8k8.f32.tf32.tf32.f32"},
    {"SM70_8x8x4_F32F16F16F32_NT", "sm_70/mma.m8n8k4.f32.f16.f16.f32"},
    {"SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "sm_80/mma.m16n8k256.s32.b1.b1.s32.xor.popc"},
    {"SM80_16x8x32_S32S8S8S32_TN_SATURATE", "sm_80/mma.m16n8k32.satfinite.s32.s8.s8.s32"},
    {"cute::SM90_64x128x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>",
     "sm_90/wgmma.m64n128k16.f32.f16.f16"},
    {"SM90_64x8x32_F32E4M3E4M3_RS_TN", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3"},
    {"SM90_16x8x4_F64F64F64F64_TN", "sm_90/mma.m16n8k4.f64.f64.f64.f64"},
    {"SM120_16x8x32_TN<float_e4m3_t, float_e5m2_t, float>",
     "sm_120/mma.m16n8k32.f8f6f4.f32.e4m3.e5m2.f32"},
    {"SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<float_e4m3_t, float_e4m3_t, float, float_ue8m0_t, "
     "32>",
     "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0"},
    {"SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, "
     "16>",
     "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x"},
    {"cute::SM90::GMMA::MMA_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>",
     "sm_90/wgmma.m64n64k16.f32.f16.f16"},
    {"SM100_MMA_F16BF16_SS<cutlass::half_t, cutlass::half_t, float, 128, 256, UMMA::Major::K>",
     "sm_100/tcgen05.mma.m128n256k16.f32.f16.f16"},
    {"b200/SM100_MMA_F8F6F4_SS<float_e4m3_t, float_e5m2_t, float, 128, 64>",
     "sm_100/tcgen05.mma.m128n64k32.f32.e4m3.e5m2"},
    {"a100/llvm.nvvm.mma.m16n8k32.row.col.s8.u8", "sm_80/mma.m16n8k32.s32.s8.u8.s32"},
    {"a100/llvm.nvvm.mma.m16n8k16.row.col.bf16", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"},
    {"a100/llvm.nvvm.mma.m16n8k16.row.col.f32.f32", "sm_80/mma.m16n8k16.f32.f16.f16.f32"},
    {"v100/__hmma_m16n16k16_mma_f32f16", "sm_70/wmma.m16n16k16.f32.f16.f16.f16"},

    {"mi300x/V_MFMA_F32_16X16X16_F16", "gfx942/v_mfma_f32_16x16x16_f16"},
    {"MI300X/v_mfma_f32_16x16x16f16", "gfx942/v_mfma_f32_16x16x16_f16"},
    {"mi250x/v_mfma_f32_16x16x16_f16", "gfx90a/v_mfma_f32_16x16x16f16"},
    {"mi250x/__builtin_amdgcn_mfma_f32_32x32x8bf16_1k", "gfx90a/v_mfma_f32_32x32x8bf16_1k"},
    {"mi300x/__builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, 0, 0, 0)",
     "gfx942/v_mfma_f32_32x32x8_bf16"},
    {"mi300x/v_mfma_f32_32x32x4f16", "gfx942/v_mfma_f32_32x32x4_2b_f16"},
    {"mi300x/__builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8", "gfx942/v_mfma_f32_16x16x32_fp8_bf8"},
    {"mi300x/v_mfma_f32_32x32x4bf16_1k", "gfx942/v_mfma_f32_32x32x4_2b_bf16"},
    {"mi250x/v_mfma_f32_32x32x4bf16", "gfx90a/v_mfma_f32_32x32x4bf16"},
    {"rx9060xt/__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12",
     "gfx1200/v_wmma_f32_16x16x16_f16"},
    {"mi100/mfma_f32_32x32x8f16", "gfx908/v_mfma_f32_32x32x8f16"},
    {"mi300x/V_MFMA_F32_32X32X8_F16_e64", "gfx942/v_mfma_f32_32x32x8_f16"},
    {"mi100/llvm.amdgcn.mfma.f32.16x16x4f32", "gfx908/v_mfma_f32_16x16x4f32"},
    {"w7900/__builtin_amdgcn_wmma_f32_16x16x16_f16_w32", "gfx1100/v_wmma_f32_16x16x16_f16"},

    {"VDPBF16PS zmm0, zmm1, zmm2", "x86/vdpbf16ps"},
    {"_mm512_dpbf16_ps", "x86/vdpbf16ps"},
    {"_mm256_dpbusds_epi32", "x86/vpdpbusds"},
    {"_mm256_dpbusd_avx_epi32", "x86/vpdpbusd"},
    {"_mm512_mask_dpbf16_ps", "x86/vdpbf16ps"},
    {"vusdot_laneq_s32", "arm/usdot"},
    {"vfmadd213ss", "x86/vfmadd231ss"},
    {"_tile_dpbf16ps", "x86/tdpbf16ps"},
    {"vbfdotq_f32", "arm/bfdot"},
    {"vdotq_u32", "arm/udot"},
    {"vusmmlaq_s32", "arm/usmmla"},
};

TEST(QuotedName, MeansOneOperation) {
  for (const Quote& q : kOne)
    EXPECT_THAT(QuotedOperations(q.text), ElementsAre(q.meaning)) << q.text;
}

// What a name leaves open: an architecture, formats that a descriptor or a modifier chooses.
TEST(QuotedName, MeansSeveral) {
  const Quote several[] = {
      {"HMMA.16816.F32", "sm_90/mma.m16n8k16.f32.f16.f16.f32"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90/mma.m16n8k16.f32.f16.f16.f32"},
      {"__builtin_amdgcn_mfma_f32_16x16x16f16", "gfx942/v_mfma_f32_16x16x16_f16"},
      {"__builtin_amdgcn_mfma_f32_32x32x8bf16_1k", "gfx942/v_mfma_f32_32x32x8_bf16"},
      {"b200/UTCHMMA", "sm_100/tcgen05.mma.m64n8k16.f32.bf16.bf16"},
      {"b200/tcgen05.mma.cta_group::1.kind::f16", "sm_100/tcgen05.mma.m64n8k16.f16.f16.f16"},
      {"SM100_MMA_F8F6F4_SS", "sm_100/tcgen05.mma.m64n8k32.f32.e4m3.e2m1"},
      {"mi355x/v_mfma_scale_f32_16x16x128_f8f6f4",
       "gfx950/v_mfma_scale_f32_16x16x128_f8f6f4.e2m1.e2m1.ue8m0"},
      {"w7900/v_wmma_i32_16x16x16_iu4", "gfx1100/v_wmma_i32_16x16x16_iu4.u4.s4"},
  };
  for (const Quote& q : several) {
    EXPECT_THAT(QuotedOperations(q.text),
                testing::AllOf(testing::Contains(q.meaning), testing::SizeIs(testing::Gt(1u))))
        << q.text;
  }
}

// SASS names machine code, which an emulated operation has not.
TEST(QuotedName, MachineCodeIsNative) {
  for (const std::string& name : QuotedOperations("QMMA.16832.F32.E4M3.E4M3")) {
    EXPECT_TRUE(IsNative(*FindOperation(name))) << name;
  }
  EXPECT_THAT(QuotedOperations("h100/QMMA.16832.F32.E4M3.E4M3"), IsEmpty());
}

// A word that is not understood may change what is computed.
TEST(QuotedName, NothingIsGuessed) {
  // Two CTAs, weights that stay, sparse operands: other instructions than the dense one.
  for (const char* text :
       {"b200/tcgen05.mma.cta_group::2.kind::tf32", "b200/tcgen05.mma.ws.cta_group::1.kind::tf32",
        // What gfx908 has is not what gfx90a added as _1k, nor that what gfx942 made of it.
        "mi100/v_mfma_f32_32x32x4bf16_1k", "mi300x/v_mfma_f32_32x32x4bf16",
        "w7900/__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12", "a100/HMMA.16816.F32.SP",
        "SM90_64x8x16_F32F16F16_SS_SPARSE", "SM100_MMA_TF32_2x1SM_SS"}) {
    EXPECT_THAT(QuotedOperations(text), IsEmpty()) << text;
  }
  for (const Quote& q : kOne) {
    const std::string text = q.text, name = text.substr(0, text.find_first_of(" {<("));
    for (const char* more : {".ftz", ".bogus", ".f33"}) {
      EXPECT_THAT(QuotedOperations(name + more), IsEmpty()) << name << more;
    }
  }
  for (const char* text : {"", "/", "h100", "h100/", "sm_90/x", "nobody/HMMA.16816.F32",
                           "mma.m16n8k16", "a100/HMMA.16832.F32", "HGMMA.64x12x16.F32",
                           "mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32", "v_mfma_"}) {
    for (const std::string& name : QuotedOperations(text))
      EXPECT_TRUE(name.find("m16n8k16.") != name.npos) << text << name;
  }
}

TEST(QuotedName, SaysWhatIsNotUnderstood) {
  const Quote names[] = {{"b200/tcgen05.mma.cta_group::2.kind::tf32", "cta_group::2"},
                         {"SM100_MMA_TF32_2x1SM_SS", "2x1sm"},
                         {"h100/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.ftz", "ftz"},
                         {"h100/HMMA.16816.F32", ""},
                         {"h100/nothing", ""},
                         {"x", ""}};
  for (const Quote& q : names) EXPECT_EQ(NotUnderstood(q.text), q.meaning) << q.text;
}

// Every name of the tables, in capitals, means itself.
TEST(QuotedName, NamesOfTheTablesMeanThemselves) {
  const auto expect_itself = [](const std::string& name) {
    std::string capitals = name;
    for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<uint8_t>(c)));
    EXPECT_THAT(QuotedOperations(capitals), ElementsAre(name));
  };
  for (const Operation& op : Operations()) expect_itself(op.name);
  for (const Operation& op : UnmodelledOperations()) expect_itself(op.name);
  for (const std::string& name : MatchUnknown("*")) expect_itself(name);
}

// The tables' names of mma and wgmma, as PTX writes them.
TEST(QuotedName, PtxOfTheTables) {
  for (const Operation& op : Operations()) {
    std::string ptx = op.name;
    const size_t shape = ptx.find(".m") + 1;
    const bool group = ptx.find("/wgmma.") != ptx.npos;
    if (!group && ptx.find("/mma.") == ptx.npos) continue;
    ptx.insert(std::min(ptx.find('.', shape), ptx.size()), ".row.col");
    ptx.insert(shape, group ? "mma_async.sync.aligned." : "sync.aligned.");
    EXPECT_THAT(QuotedOperations(ptx), ElementsAre(op.name)) << ptx;
  }
}

TEST(QuotedName, Formats) {
  EXPECT_THAT(QuotedFormats("f16"), ElementsAre("f16"));
  for (const char* name : {"half", "FP16", "float16"})
    EXPECT_THAT(QuotedFormats(name), ElementsAre("f16"));
  EXPECT_THAT(QuotedFormats("bfloat16"), ElementsAre("bf16"));
  EXPECT_THAT(QuotedFormats("fp8"), ElementsAre("e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"));
  EXPECT_THAT(QuotedFormats("posit16"), IsEmpty());
}

TEST(Product, ArchitecturesAsPeopleWriteThem) {
  const Quote names[] = {{"h100", "sm_90"},
                         {"H100", "sm_90"},
                         {"RTX 4090", "sm_89"},
                         {"Hopper", "sm_90"},
                         {"sm90", "sm_90"},
                         {"SM_90a", "sm_90"},
                         {"sm_100f", "sm_100"},
                         {"GFX942", "gfx942"},
                         {"MI300X", "gfx942"},
                         {"r9700", "gfx1201"},
                         {"gb10", "sm_121"},
                         {"", ""},
                         {"NVIDIA H100 80GB HBM3", "sm_90"},
                         {"A100-SXM4-80GB", "sm_80"},
                         {"Tesla T4", "sm_75"},
                         {"NVIDIA GeForce RTX 4090 Laptop GPU", "sm_89"},
                         {"AMD Instinct MI300X", "gfx942"},
                         {"compute_90", "sm_90"},
                         {"gfx942:sramecc+:xnack-", "gfx942"},
                         {"gb", ""},
                         {"nvidia", ""},
                         {"h100 h200", ""},
                         {"h100 8", ""},
                         {"sm", ""},
                         {"sm_", ""},
                         {"sm_99", ""},
                         {"h101", ""}};
  for (const Quote& q : names) EXPECT_EQ(ArchitectureOf(q.text), q.meaning) << q.text;
  for (const Architecture& a : Architectures()) EXPECT_EQ(ArchitectureOf(a.name), a.name);
}

TEST(Product, EachIsNamedOnce) {
  for (const Product& p : Products()) {
    EXPECT_EQ(ArchitectureOf(p.name), p.arch);
    EXPECT_EQ(std::ranges::count(Products(), std::string_view(p.name), &Product::name), 1)
        << p.name;
  }
}

}  // namespace
}  // namespace mmadiff
