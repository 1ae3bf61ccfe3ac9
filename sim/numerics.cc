#include "sim/numerics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sim/algorithms.h"
#include "sim/pattern.h"
#include "sim/resolve.h"

namespace mmadiff {
namespace {

constexpr Grade kMeasured = Grade::kMeasured, kPublished = Grade::kPublished,
                kAssumed = Grade::kAssumed, kUnknown = Grade::kUnknown;

// From `mmadiff run`, strategy mixed, seed 1, 2026-11-20. Each operation's file holds recorded
// answers; the others were compared when they were made.
#define MMADIFF_INTEL(instruction) \
  "corpus/observations/intel_avx512_bf16_model167/x86." instruction ".txt.gz"
constexpr Evidence OnX86(const char* sources, const char* text, const char* file) {
  return {kMeasured, sources, text, "", file};
}
constexpr char kXeon[] = "own_xeon", kXeonAndZen4[] = "own_xeon own_zen4",
               kXeonAndZens[] = "own_xeon own_zen3 own_zen4";
constexpr char kDots[] =
    "0 of 1.6e9 dot products differ on the Xeon, 0 of 1.6e8 on a Zen 4 "
    "(corpus/observations/amd_epyc_zen4)";
constexpr char kFmas[] =
    "0 of 2e7 dot products differ on the Xeon, 0 of 3.0e7 on a Zen 3 "
    "(corpus/observations/amd_epyc_zen3), 0 of 6.2e7 on a Zen 4 "
    "(corpus/observations/amd_epyc_zen4)";
constexpr char kIntegers[] =
    "0 of 3.2e8 dot products differ on the Xeon, 0 of 1.2e8 on a Zen 4 "
    "(corpus/observations/amd_epyc_zen4)";
constexpr char kTiles[] = "0 of 2.56e8 dot products differ";

constexpr Evidence kAmxText = {
    kPublished, "intel_ise",
    "pseudo-code; the chains, order, NaN rule and flushing were measured for TDPBF16PS",
    "whether they are the same for this instruction"};
constexpr Evidence kAmxTf32 = {
    kPublished, "intel_ise intel_ise_062",
    "withdrawn; pseudo-code; the chains, order, NaN rule and flushing were measured for TDPBF16PS",
    "no processor has it"};
constexpr Evidence kAmxFp8 = {
    Grade::kContested, "intel_ise_057 amx_fp8_emulators bochs search",
    "ISE 319433-057 as the two emulators read it: the exact sum of all products is rounded once to "
    "nearest even, then added to the addend; results are flushed, addends not. Bochs has other "
    "steps",
    "addends flushed or not, on which the text contradicts itself; the payload of a NaN addend; no "
    "processor has it"};
constexpr Evidence kArmText = {
    kPublished, "arm_arm qemu_7_2",
    "BFDotAdd with FPCR.EBF = 0: round to odd, flushed, default NaN; QEMU gives the same"};
constexpr Evidence kArmExtended = {
    kPublished, "arm_arm qemu_10_0_2",
    "BFDotAdd with FPCR.EBF = 1, RMode nearest, FZ = FIZ = AH = 0; QEMU has the same steps"};
constexpr Evidence kArmInteger = {kPublished, "arm_arm qemu_7_2",
                                  "exact, modulo 2^32; QEMU gives the same"};

constexpr Evidence kFmaF32 = {
    kPublished, "ptx_isa cuda_guide",
    "one rounding in the named mode, subnormals kept; NaN operands give 7fffffff",
    "the NaN of an invalid operation"};
constexpr Evidence kFmaF64 = {kPublished, "ptx_isa",
                              "one rounding in the named mode, subnormals kept; NaNs as on an H200",
                              "NaN payload on this architecture"};
// Recordings by Khattak & Mikaitis (MATLAB-tensor-core, model_validation). The folder's README
// explains what they decide. The f16, bf16 and tf32 recordings were made through wmma and use no
// more of k than one step has.
constexpr Evidence Recorded(Evidence evidence, const char* gpus = "") {
  evidence.file = "corpus/observations/khattak_mikaitis";
  evidence.gpus = gpus;
  return evidence;
}
constexpr char kAdaAndL40s[] = "RTX 1000 Ada, L40S", kHoppers[] = "H100, H200";
constexpr Evidence kAnswers = {kPublished, "khattak_mikaitis mma_sim",
                               "all match; the rest as MMA-Sim"};
constexpr Evidence kWgmmaAnswers = {
    kPublished, "khattak_mikaitis mma_sim",
    "all match (assumed to be through this instruction, because the addends are zero); the rest as "
    "MMA-Sim"};
constexpr Evidence kStep = {kPublished, "mma_sim mma_sim_paper khattak_mikaitis",
                            "its step, through wmma: all match; the rest as MMA-Sim"};
constexpr Evidence kLikeMma = {kPublished, "khattak_mikaitis ptxas",
                               "all match; the rest as mma, which is the same machine instruction"};
constexpr Evidence kLikeAmpere = {kAssumed, "khattak_mikaitis mma_sim",
                                  "its step, through wmma: all match; the rest as sm_80"};

// Its README describes the sources of the answers.
constexpr char kRdnaFolder[] = "corpus/observations/amd_rdna";
constexpr char kOpenRdna[] = "the changes of a parameter that changes.tsv lists";
constexpr Evidence kRdna3Captured = {
    kPublished, "rocjitsu",
    "the emulator's model, which reproduces all captured answers of a "
    "Radeon Pro W7900",
    kOpenRdna, kRdnaFolder};
constexpr Evidence kRdna35 = {
    kAssumed, "rocm_12056",
    "as gfx1100; a user's model of it agreed with his gfx1151 on 1.2e7 cases"};
constexpr Evidence kRdna4Captured = {
    kPublished, "rocjitsu",
    "the emulator's model, which reproduces all captured answers of a Radeon AI Pro R9700 "
    "(gfx1201)",
    "f16 results rounded once or through f32; the changes of a parameter that changes.tsv lists",
    kRdnaFolder};
constexpr Evidence kRdna4Dot4 = {
    kAssumed, "rocjitsu", "the emulator's model, which its source calls characterized on hardware",
    "no answers are stored"};
constexpr Evidence kRdna4Integer = {
    kPublished, "goc",
    "all match; signed, unsigned, dense, sparse, with clamp (saturated after each half of the "
    "lanes) and without",
    "", kRdnaFolder};
constexpr Evidence kRdna3Integer = {kAssumed, "amd_isa",
                                    "exact products and sums that wrap, as on gfx1201", "overflow"};

constexpr Evidence kWmmaFirst = {
    kAssumed, "khattak_mikaitis mma_sim",
    "the architecture's mma steps in ascending k; of these the first was recorded",
    "the order of k"};
// Each operation with f16, bf16 or tf32 inputs matches MMA-Sim 2.1.1 on at least 40,960 dot
// products of all classes, each native FP8 operation on 16,384 (`mmadiff run --device=exec:`,
// 2026-11-20). Two models agree there; no hardware was involved.
constexpr Evidence kMmaSim = {
    kPublished, "mma_sim mma_sim_paper",
    "as MMA-Sim (the paper has different f16 floors); this project replayed no recording"};
constexpr Evidence kMmaSimLike = {
    kAssumed, "mma_sim",
    "modeled like FP8, with a kernel for hardware but no stated result; padding bits of the "
    "containers are ignored"};
constexpr Evidence kLikeB200 = {
    kPublished, "sf_tensor",
    "as sf-tensor, MMA-Sim and the published words of a B200; padding bits of the containers are "
    "ignored"};
constexpr Evidence kMixedTypes = {kAssumed, "ptx_isa search",
                                  "f16 and bf16 may be mixed; as the forms with one type",
                                  "no published tests"};
constexpr Evidence kMixedAddend = {
    kPublished, "mma_sim",
    "an f16 addend is aligned with its own exponent (version 1 first widened it to f32; the two "
    "differ for subnormal addends); this project replayed no recording"};
constexpr Evidence kTuring884 = {kPublished, "mma_sim",
                                 "Turing runs m8n8k4 with Volta's numbers (version 1 had F=24); "
                                 "this project replayed no recording"};
// ptxas emulates, not the chip: recordings and recipe hold for one version of ptxas.
constexpr Evidence kEmulated = {kPublished, "khattak_mikaitis ptxas",
                                "f16 steps made by ptxas: all match; the rest as the f16 steps"};
// kMeasurements has the evidence on every architecture.
constexpr Evidence kCompiled = {kAssumed, "ptxas", "made of other instructions by ptxas"};
constexpr Evidence kF64 = {kPublished, "ptx_isa mma_sim",
                           "as fma.rn; NaNs and order of k as on an H200",
                           "both on this architecture"};
constexpr Evidence kWmmaF64 = {kPublished, "ptx_isa",
                               "as fma.rn; NaNs and order of k as on an H200",
                               "both on this architecture"};
constexpr Evidence kWmmaF64OfA100 = {
    kPublished, "ptx_isa fasi_2021",
    "as fma.rn; an A100 rounds to nearest even after each addition; NaNs and order of k as on an "
    "H200",
    "both on this architecture"};
constexpr Evidence kF64Rounded = {
    kAssumed, "ptx_isa",
    "rounding modes exist; on an H200 they apply to each fma, with IEEE 754's overflow",
    "never measured on this architecture"};
constexpr Evidence kIntegerText = {
    kPublished, "ptx_isa",
    "exact products and 32-bit sums that wrap; neither order nor rounding can differ"};
constexpr Evidence kIntegerLike = {kAssumed, "ptx_isa", "exact products and sums that wrap, as mma",
                                   "its own page does not state that sums wrap"};
constexpr Evidence kIntegerB200 = {
    kPublished, "ptx_isa sf_tensor",
    "exact products and sums that wrap, or are clamped once, as in the published words of a B200"};
constexpr char kOpenSparse[] =
    "which products share a step; whether infinities and NaNs beside unstored elements show";
constexpr Evidence kSparse = {
    kAssumed, "search mma_sim sf_tensor",
    "the dense instruction's sum, as MMA-Sim has it, over the products that the metadata select, "
    "as sf-tensor reports for tcgen05.mma.sp; this instruction's sum is unpublished",
    kOpenSparse};
constexpr Evidence kSparseB200 = {
    kPublished, "sf_tensor",
    "the dense sum over the products that the metadata select, in one step; this project replayed "
    "no answers"};
constexpr Evidence kSparseAmd = {
    kAssumed, "search",
    "the dense instruction's sum over the products that the metadata select; the arithmetic of "
    "AMD's sparse instructions is unpublished",
    kOpenSparse};
constexpr Evidence kSparseRdna4 = {kAssumed, "search rocjitsu",
                                   "the sum of dense WMMA, as the emulator has it, over the "
                                   "products that the metadata select; the "
                                   "arithmetic of AMD's sparse instructions is unpublished",
                                   kOpenSparse};
constexpr Evidence kSparseRdna4Fp8 = {kAssumed, "search rocjitsu",
                                      "the emulator's steps of v_dot4_f32 over the products that "
                                      "the metadata select; the arithmetic of this "
                                      "instruction and of dense 8-bit WMMA is unpublished",
                                      kOpenSparse};
constexpr Evidence kSparseCdna4 = {kAssumed, "search",
                                   "as gfx942; the arithmetic of AMD's sparse instructions, and "
                                   "CDNA4's, is unpublished",
                                   kOpenSparse};
constexpr Evidence kSparseCompiled = {
    kAssumed, "ptxas search",
    "two sparse f16 instructions and an addition, whose own sums are assumed", kOpenSparse};
constexpr Evidence kSparseInteger = {
    kPublished, "ptx_isa",
    "exact products of the elements that the metadata select, and 32-bit sums that wrap; neither "
    "order nor rounding can differ"};
constexpr Evidence kSaturated = {kAssumed, "ptx_isa",
                                 "the accumulated value is clamped; assumed to be clamped once",
                                 "hardware, or ptxas where it emulates, may clamp after each step"};
constexpr Evidence kWmmaVolta = {
    Grade::kContested, "ptxas_12_9 hickmann_2019 khattak_mikaitis fasi_2021",
    "the mma steps start from C, in ascending k, as ptxas chains them. Hickmann & Bradford report "
    "for m16n16k16: the order (C + (T0 + T1)) + (T2 + T3); C added to nearest even; f32 subnormals "
    "flushed. Recordings of one step and Fasi et al. refute the last two",
    "the order of the four steps"};
constexpr Evidence kWmmaMixedVolta = {
    kAssumed, "ptxas_12_9", "the architecture's mma steps, the first with the f16 addend"};
constexpr Evidence kScaledLike = {
    kAssumed, "mma_sim",
    "modeled, with a kernel for hardware but no stated result; width as the others"};
constexpr Evidence kScaledGroups = {
    Grade::kContested, "mma_sim mma_sim_paper huweim",
    "35 fraction bits, as MMA-Sim; huweim says 25 (`mmadiff list differences`)",
    "which of the two"};
constexpr Evidence kScaledGroupsB200 = {
    kPublished, "mma_sim mma_sim_paper sf_tensor deepgemm_176",
    "both models agree, and with the published words of a B200"};
constexpr Evidence kContestedGroups = {
    Grade::kContested, "mma_sim mma_sim_paper sf_tensor",
    "sums of 16 products, as MMA-Sim; sf-tensor adds 4 at a time, and cuts an addend between the "
    "scales' exponent and the largest product elsewhere (`mmadiff list differences`); the "
    "published words of a B200 agree with both",
    "which of the two"};
constexpr Evidence kChained = {kPublished, "mma_sim mma_sim_paper",
                               "chain of fma in ascending k, subnormals kept; 1e6 random tests",
                               "MODE register"};
constexpr Evidence kCdna1 = {kPublished, "mma_sim khattak_mikaitis_paper",
                             "exact sum, rounded once", "zero sign"};
constexpr Evidence kCdna2 = {
    kPublished, "mma_sim mma_sim_paper",
    "operands and addend are flushed to +0 once; f32 products and pairwise sums are flushed to "
    "zeros of their sign"};
constexpr Evidence kCdna3 = {kPublished, "mma_sim mma_sim_paper", "TR-FDPA",
                             "exponent of a zero addend, zero sign"};
constexpr Evidence kCdna3Fp8 = {kPublished, "mma_sim mma_sim_paper", "GTR-FDPA"};
constexpr Evidence kCdna3Recorded = {kPublished, "mma_sim mma_sim_paper mi300x_notebook",
                                     "GTR-FDPA; all recorded answers match"};
constexpr Evidence kCdna3Bf8 = {
    kPublished, "mma_sim mma_sim_paper",
    "GTR-FDPA, except that MMA-Sim drops an infinite or NaN addend beside products above 2^24 "
    "(`mmadiff list differences`)"};
constexpr Evidence kAmdInteger = {kAssumed, "amd_isa", "exact, sums modulo 2^32",
                                  "no manual read here describes overflow"};

#define MMADIFF_CVT                                                                       \
  "one rounding in the named mode, subnormals kept, .satfinite gives the largest number " \
  "also for infinity"
constexpr Evidence kCvt = {kPublished, "ptx_isa", MMADIFF_CVT, "NaN bits"};
constexpr Evidence kCvtRelu = {kPublished, "ptx_isa",
                               MMADIFF_CVT ", .relu makes negative results 0",
                               "the sign of that zero, which is taken to be +; NaN bits"};
#undef MMADIFF_CVT
constexpr Evidence kCvtNoNan = {
    kPublished, "ptx_isa",
    "rounded to nearest even, NaN becomes the largest positive number, other numbers beyond the "
    "range the largest of their sign"};
constexpr Evidence kCvtNoNanRelu = {
    kPublished, "ptx_isa",
    "rounded to nearest even, NaN becomes the largest positive number, negative results become 0",
    "the sign of that zero, which is taken to be +"};
constexpr Evidence kCvtScale = {
    kPublished, "ptx_isa cuda_fp8_h",
    "rounding and .satfinite by the ISA; that the sign is ignored and that small numbers become "
    "2^-127 by the header"};
constexpr Evidence kCvtExact = {kPublished, "ptx_isa", "every operand is represented", "NaN bits"};
constexpr Evidence kAmdCvt = {
    kPublished, "amd_isa",
    "rounding and subnormals by MODE, here to nearest even and kept, and FP16_OVFL = 0",
    "NaN bits"};
constexpr Evidence kAmdFnuz = {kAssumed, "hip_headers",
                               "to nearest even; beyond the range NaN, as the host conversion "
                               "without clipping, with FP16_OVFL "
                               "= 0; NaN is 80, the only one",
                               "hardware"};
constexpr Evidence kAmdOcp = {
    kAssumed, "gfx1201_conversions",
    "as RDNA4's instruction of that name, for which NaN beyond the range (e4m3) is reported",
    "hardware, NaN bits, e5m2"};
constexpr Evidence kRdna4Fp8 = {kPublished, "gfx1201_conversions",
                                "all 2^32 operands compared: to nearest even, e4m3 gives NaN "
                                "beyond the range with FP16_OVFL = 0",
                                "NaN bits"};
constexpr Evidence kRdna4Bf8 = {kAssumed, "gfx1201_conversions",
                                "as v_cvt_pk_fp8_f32; e5m2 has an infinity", "hardware, NaN bits"};
constexpr Evidence kAmdBf16 = {kAssumed, "amd_isa",
                               "to nearest even, subnormals kept (the name and the compiler's use)",
                               "hardware, NaN bits"};
constexpr Evidence kX86Cvt = {
    kPublished, "intel_sdm",
    "rounding by the immediate, MXCSR.FTZ is ignored, a NaN is quieted and loses its low payload "
    "bits; with MXCSR.DAZ = 0"};
constexpr Evidence kX86Neps = {kPublished, "intel_sdm",
                               "to nearest even, subnormals are zeros, a NaN is quieted"};
constexpr Evidence kOfp8 = {
    kPublished, "ofp8",
    "table 3: saturating conversions give the largest number for larger ones and for infinity, "
    "others infinity, or NaN in E4M3",
    "the sign of a NaN"};
constexpr Evidence kMxElement = {
    kPublished, "mx", "to nearest even, larger numbers become the largest",
    "NaN operands, which the specification leaves to the implementation; here the largest positive "
    "number, as in PTX"};
constexpr Evidence kMxScale = {
    kAssumed, "mx ptx_isa",
    "MX takes the exponent of the largest magnitude, rounded down; it describes no conversion. "
    "Negative numbers, small numbers and .satfinite are as in PTX"};
constexpr Evidence kOcpExact = {kPublished, "ofp8 mx", "every operand is represented"};

constexpr char kCuda[] = "sm_70 sm_75 sm_80 sm_89 sm_90 sm_100 sm_120";
constexpr char kFromTuring[] = "sm_75 sm_80 sm_89 sm_90 sm_100 sm_120";
constexpr char kFromAmpere[] = "sm_80 sm_89 sm_90 sm_100 sm_120";
constexpr char kFromHopper[] = "sm_90 sm_100 sm_120";
constexpr char kFromAda[] = "sm_89 sm_90 sm_100 sm_120";
constexpr char kBlackwells[] = "sm_100 sm_120";
constexpr NanVerdict kNanBits = NanVerdict::kBits, kAnyNan = NanVerdict::kAnyNan;
constexpr auto kNearest = FmaRounded<Rounding::kNearestEven>;
constexpr auto kF64Nearest = CudaF64<Rounding::kNearestEven>;
constexpr auto kF64TowardZero = CudaF64<Rounding::kTowardZero>;
constexpr auto kF64Down = CudaF64<Rounding::kDown>;
constexpr auto kF64Up = CudaF64<Rounding::kUp>;
constexpr auto kWrap = Integer<Overflow::kWrap>;
constexpr auto kXor = Integer<Overflow::kWrap, BitOperation::kXor>;
constexpr auto kSaturate = Integer<Overflow::kSaturate>;
constexpr Saturation kIeee = Saturation::kNone, kFinite = Saturation::kAll;
constexpr auto kRn = Cvt<Rounding::kNearestEven>, kRz = Cvt<Rounding::kTowardZero>;
constexpr auto kRm = Cvt<Rounding::kDown>, kRp = Cvt<Rounding::kUp>;
constexpr auto kRnFinite = Cvt<Rounding::kNearestEven, kFinite>;
constexpr auto kRzFinite = Cvt<Rounding::kTowardZero, kFinite>;
constexpr auto kRpFinite = Cvt<Rounding::kUp, kFinite>;
constexpr auto kRnRelu = Cvt<Rounding::kNearestEven, kIeee, Relu::kClamp>;
constexpr auto kRzRelu = Cvt<Rounding::kTowardZero, kIeee, Relu::kClamp>;
constexpr auto kRnFiniteRelu = Cvt<Rounding::kNearestEven, kFinite, Relu::kClamp>;
constexpr auto kRzFiniteRelu = Cvt<Rounding::kTowardZero, kFinite, Relu::kClamp>;
constexpr auto kRna = Cvt<Rounding::kNearestEven, kIeee, Relu::kNone, Ties::kAway>;
constexpr auto kRnaFinite = Cvt<Rounding::kNearestEven, kFinite, Relu::kNone, Ties::kAway>;
constexpr auto kConverted = Converted<>;
constexpr auto kConvertedFinite = Converted<Rounding::kNearestEven, kFinite>;

#define MMADIFF_HALF "{f32.f16.f16.f32,f16.f16.f16.f16,f32.bf16.bf16.f32}"
#define MMADIFF_FP8 "{e4m3,e5m2}"
#define MMADIFF_F8F6F4 "{e4m3,e5m2,e3m2,e2m3,e2m1}"
#define MMADIFF_MIXED_FP8 "{e4m3.e5m2,e5m2.e4m3}"

// clang-format off
constexpr NumericsEntry kEntries[] = {
    {"x86", "vdpbf16ps", X86Dot, OnX86(kXeonAndZen4, kDots, MMADIFF_INTEL("vdpbf16ps"))},
    {"x86", "vfmadd231ss", X86Fma, OnX86(kXeonAndZens, kFmas, MMADIFF_INTEL("vfmadd231ss"))},
    {"x86", "vfmadd231sd", X86Fma, OnX86(kXeonAndZens, kFmas, MMADIFF_INTEL("vfmadd231sd"))},
    {"x86", "vpdpbusd", kWrap, OnX86(kXeonAndZen4, kIntegers, MMADIFF_INTEL("vpdpbusd"))},
    {"x86", "vpdpbusds", kSaturate, OnX86(kXeonAndZen4, kIntegers, MMADIFF_INTEL("vpdpbusds"))},
    {"x86", "vpdpwssd", kWrap, OnX86(kXeonAndZen4, kIntegers, MMADIFF_INTEL("vpdpwssd"))},
    {"x86", "vpdpwssds", kSaturate, OnX86(kXeonAndZen4, kIntegers, MMADIFF_INTEL("vpdpwssds"))},
    {"x86", "tdpbf16ps", AmxDot, OnX86(kXeon, kTiles, MMADIFF_INTEL("tdpbf16ps"))},
    {"x86", "tdpbssd", kWrap, OnX86(kXeon, kTiles, MMADIFF_INTEL("tdpbssd"))},
    {"x86", "tdpbsud", kWrap, OnX86(kXeon, kTiles, MMADIFF_INTEL("tdpbsud"))},
    {"x86", "tdpbusd", kWrap, OnX86(kXeon, kTiles, MMADIFF_INTEL("tdpbusd"))},
    {"x86", "tdpbuud", kWrap, OnX86(kXeon, kTiles, MMADIFF_INTEL("tdpbuud"))},
    {"x86", "tdpfp16ps", AmxF16, kAmxText},
    {"x86", "tmmultf32ps", AmxTf32, kAmxTf32},
    {"x86", "tdpbf8ps tdpbhf8ps tdphbf8ps tdphf8ps", AmxFp8, kAmxFp8},
    {"arm", "bfdot bfmmla", ArmBfdot, kArmText},
    {"arm", "bfdot.ebf bfmmla.ebf", ArmExtendedBfdot, kArmExtended},
    {"arm", "{s,u,us}{dot,mmla}", kWrap, kArmInteger},

    {kCuda, "fma.rn.f32", CudaFma<Rounding::kNearestEven>, kFmaF32},
    {kCuda, "fma.rz.f32", CudaFma<Rounding::kTowardZero>, kFmaF32},
    {kCuda, "fma.rm.f32", CudaFma<Rounding::kDown>, kFmaF32},
    {kCuda, "fma.rp.f32", CudaFma<Rounding::kUp>, kFmaF32},
    {kCuda, "fma.rn.f64", kF64Nearest, kFmaF64, kAnyNan},
    {kCuda, "fma.rz.f64", kF64TowardZero, kFmaF64, kAnyNan},
    {kCuda, "fma.rm.f64", kF64Down, kFmaF64, kAnyNan},
    {kCuda, "fma.rp.f64", kF64Up, kFmaF64, kAnyNan},

    {"sm_70", "mma.m8n8k4.{f32,f16}.f16.f16.$1", TruncatedFusedSum<4, 23>, Recorded(kStep, "V100")},
    {"sm_75", "mma.m8n8k4.{f32,f16}.f16.f16.$1", TruncatedFusedSum<4, 23>, kTuring884},
    {"sm_70 sm_75", "mma.m8n8k4.f32.f16.f16.f16", TruncatedFusedSum<4, 23>, kMixedAddend},
    {kFromAmpere, "mma.m8n8k4.f32.f16.f16.f32", EmulatedFfma, kCompiled},
    {kFromAmpere, "mma.m8n8k4.f32.f16.f16.f16", EmulatedFfmaOfF16, kCompiled},
    {kFromAmpere, "mma.m8n8k4.f16.f16.f16.f16", EmulatedFfmaToF16, kCompiled},
    {"sm_75", "mma.m16n8k8.{f32,f16}.f16.f16.$1", TruncatedFusedSum<8, 24>, kMmaSim},
    {"sm_80", "mma.m16n8k8." MMADIFF_HALF, TruncatedFusedSum<8, 24>, Recorded(kStep, "A100")},
    {"sm_86", "mma.m16n8k8." MMADIFF_HALF, TruncatedFusedSum<8, 24>, Recorded(kLikeAmpere, "A2")},
    {"sm_89", "mma.m16n8k8." MMADIFF_HALF, TruncatedFusedSum<8, 24>, Recorded(kStep, kAdaAndL40s)},
    {"sm_80", "mma.m16n8k4.f32.tf32.tf32.f32", TruncatedFusedSum<4, 24>, Recorded(kStep, "A100")},
    {"sm_86", "mma.m16n8k4.f32.tf32.tf32.f32", TruncatedFusedSum<4, 24>, Recorded(kLikeAmpere, "A2")},
    {"sm_89", "mma.m16n8k4.f32.tf32.tf32.f32", TruncatedFusedSum<4, 24>, Recorded(kStep, kAdaAndL40s)},
    {"sm_80 sm_89", "mma.m16n8k16." MMADIFF_HALF, TruncatedFusedSum<8, 24>, kMmaSim},
    {"sm_80 sm_89", "mma.m16n8k8.f32.tf32.tf32.f32", TruncatedFusedSum<4, 24>, kMmaSim},
    {kFromHopper, "mma.m16n8k8." MMADIFF_HALF, TruncatedFusedSum<8, 25>, kMmaSim},
    {"sm_90", "mma.m16n8k16." MMADIFF_HALF, TruncatedFusedSum<16, 25>, Recorded(kStep, kHoppers)},
    {"sm_100", "mma.m16n8k16." MMADIFF_HALF, TruncatedFusedSum<16, 25>, Recorded(kStep, "B200")},
    {"sm_120", "mma.m16n8k16." MMADIFF_HALF, TruncatedFusedSum<16, 25>, kMmaSim},
    {"sm_90", "mma.m16n8k4.f32.tf32.tf32.f32", TruncatedFusedSum<4, 25>, Recorded(kStep, kHoppers)},
    {"sm_100", "mma.m16n8k4.f32.tf32.tf32.f32", TruncatedFusedSum<4, 25>, Recorded(kStep, "B200")},
    {"sm_120", "mma.m16n8k4.f32.tf32.tf32.f32", TruncatedFusedSum<4, 25>, kMmaSim},
    {kFromHopper, "mma.m16n8k8.f32.tf32.tf32.f32", TruncatedFusedSum<8, 25>, kMmaSim},

    {"sm_89", "mma.m16n8k32.f32." MMADIFF_FP8 ".$1.f32", NarrowFp8<16, 24>, Recorded(kAnswers, kAdaAndL40s)},
    {"sm_89", "mma.m16n8k32.f16." MMADIFF_FP8 ".$1.f16", NarrowFp8<16, 24>, Recorded(kAnswers, "RTX 1000 Ada")},
    {"sm_89", "mma.m16n8k32.{f32,f16}." MMADIFF_MIXED_FP8 ".$1", NarrowFp8<16, 24>, kMmaSim},
    {"sm_89", "mma.m16n8k16.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1", NarrowFp8<16, 24>, kMmaSim},
    {"sm_90", "mma.m16n8k32.f16." MMADIFF_FP8 ".$1.f16", EmulatedFp8, Recorded(kEmulated, kHoppers)},
    {"sm_100", "mma.m16n8k32.{f32,f16}." MMADIFF_FP8 ".$2.$1", EmulatedFp8, Recorded(kEmulated, "B200")},
    {"sm_90", "mma.m16n8k32.f32." MMADIFF_FP8 ".$1.f32", EmulatedFp8, kCompiled},
    {"sm_90 sm_100", "mma.m16n8k32.{f32,f16}." MMADIFF_MIXED_FP8 ".$1", EmulatedFp8, kCompiled},
    {"sm_90 sm_100", "mma.m16n8k16.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1", EmulatedFp8, kCompiled},
    {"sm_100", "mma.m16n8k32.f8f6f4.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1", EmulatedFp8, kCompiled},
    {"sm_120", "mma.m16n8k32.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1", TruncatedFusedSum<32, 25>, kMmaSim},
    {"sm_120", "mma.m16n8k16.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1", TruncatedFusedSum<16, 25>, kMmaSim},
    {"sm_120", "mma.m16n8k32.f8f6f4.*", TruncatedFusedSum<32, 25>, kMmaSimLike},
    {"sm_120", "mma.m16n8k32.mxf8f6f4.*", ScaledProducts, kMmaSimLike},
    {"sm_120", "mma.m16n8k32.mxf8f6f4.f32." MMADIFF_FP8 ".$1.*", ScaledProducts, kMmaSim, kNanBits, "mma.m16n8k32.mxf8f6f4.*"},
    {"sm_120", "mma.m16n8k64.mxf4.* mma.m16n8k64.mxf4nvf4.*.{ue8m0.2x,ue4m3.4x}", ScaledGroups, kScaledGroups},
    {"sm_120", "mma.m16n8k64.mxf4nvf4.*.ue8m0.4x", ScaledGroups, kScaledLike},

    {kFromAmpere, "mma.m8n8k4.f64.*", kF64Nearest, kF64, kAnyNan},
    {"sm_80", "wmma.m8n8k4.f64.*", kF64Nearest, kWmmaF64OfA100, kAnyNan},
    {"sm_89 sm_90 sm_100 sm_120", "wmma.m8n8k4.f64.*", kF64Nearest, kWmmaF64, kAnyNan},
    {kFromAmpere, "{mma,wmma}.m8n8k4.rz.*", kF64TowardZero, kF64Rounded, kAnyNan},
    {kFromAmpere, "{mma,wmma}.m8n8k4.rm.*", kF64Down, kF64Rounded, kAnyNan},
    {kFromAmpere, "{mma,wmma}.m8n8k4.rp.*", kF64Up, kF64Rounded, kAnyNan},
    {"sm_90", "mma.m16n8k{4,8,16}.f64.*", kF64Nearest, kF64, kAnyNan},
    {"sm_100 sm_120", "mma.m16n8k{4,8,16}.f64.*", kF64Nearest, kCompiled, kAnyNan},
    {kFromHopper, "mma.m16n8k{4,8,16}.rz.*", kF64TowardZero, kF64Rounded, kAnyNan},
    {kFromHopper, "mma.m16n8k{4,8,16}.rm.*", kF64Down, kF64Rounded, kAnyNan},
    {kFromHopper, "mma.m16n8k{4,8,16}.rp.*", kF64Up, kF64Rounded, kAnyNan},

    {kFromTuring, "mma.{m8n8k16,m8n8k32}.s32.*", kWrap, kIntegerText},
    {kFromTuring, "mma.{m8n8k16,m8n8k32}.satfinite.*", kSaturate, kSaturated},
    {kFromAmpere, "mma.{m16n8k16,m16n8k32,m16n8k64}.s32.*", kWrap, kIntegerText},
    {kFromAmpere, "mma.{m16n8k16,m16n8k32,m16n8k64}.satfinite.*", kSaturate, kSaturated},
    {kFromTuring, "wmma.{m16n16k16,m32n8k16,m8n32k16,m8n8k32}.s32.*", kWrap, kIntegerLike},
    {kFromTuring, "wmma.{m16n16k16,m32n8k16,m8n32k16,m8n8k32}.satfinite.*", kSaturate, kSaturated},
    {kFromTuring, "mma.m8n8k128.*.xor.popc", kXor, kIntegerText},
    {kFromTuring, "wmma.m8n8k128.*.xor.popc", kXor, kIntegerLike},
    {kFromAmpere, "mma.m8n8k128.*.and.popc", kWrap, kIntegerText},
    {kFromAmpere, "wmma.m8n8k128.*.and.popc", kWrap, kIntegerLike},
    {kFromAmpere, "mma.m16n8k{128,256}.*.xor.popc", kXor, kIntegerText},
    {kFromAmpere, "mma.m16n8k{128,256}.*.and.popc", kWrap, kIntegerText},

    {"sm_80 sm_89", "mma.sp.*." MMADIFF_HALF, TruncatedFusedSum<8, 24>, kSparse},
    {"sm_80 sm_89", "mma.sp.*.f32.tf32.tf32.f32", TruncatedFusedSum<4, 24>, kSparse},
    {kFromHopper, "mma.sp.*." MMADIFF_HALF, TruncatedFusedSum<16, 25>, kSparse},
    {kFromHopper, "mma.sp.*.f32.tf32.tf32.f32", TruncatedFusedSum<8, 25>, kSparse},
    {"sm_89", "mma.sp.m16n8k64.f32." MMADIFF_FP8 "." MMADIFF_FP8 ".f32", NarrowFp8<16, 24>, kSparse},
    {"sm_90 sm_100", "mma.sp.m16n8k64.f32." MMADIFF_FP8 "." MMADIFF_FP8 ".f32", EmulatedFp8, kSparseCompiled},
    {"sm_120", "mma.sp.m16n8k64.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1", TruncatedFusedSum<32, 25>, kSparse},
    {kFromAmpere, "mma.sp.*.{s8,u8,s4,u4}.s32", kWrap, kSparseInteger},
    {kFromAmpere, "mma.sp.*.satfinite.s32.*", kSaturate, kSaturated, kNanBits, "mma.sp.*.{s8,u8,s4,u4}.s32"},

    {"sm_70", "wmma.*.{f32,f16}.f16.f16.$1", TruncatedFusedSum<4, 23>, kWmmaVolta},
    {"sm_75", "wmma.*.{f32,f16}.f16.f16.$1", TruncatedFusedSum<8, 24>, kCompiled},
    {"sm_80 sm_86 sm_89", "wmma.m16n16k16." MMADIFF_HALF, TruncatedFusedSum<8, 24>, Recorded(kWmmaFirst)},
    {"sm_80 sm_89", "wmma.{m32n8k16,m8n32k16}." MMADIFF_HALF, TruncatedFusedSum<8, 24>, kCompiled},
    {"sm_90", "wmma.m16n16k16." MMADIFF_HALF, TruncatedFusedSum<16, 25>, Recorded(kLikeMma, kHoppers)},
    {"sm_100", "wmma.m16n16k16." MMADIFF_HALF, TruncatedFusedSum<16, 25>, Recorded(kLikeMma, "B200")},
    {"sm_120", "wmma.m16n16k16." MMADIFF_HALF, TruncatedFusedSum<16, 25>, kCompiled},
    {kFromHopper, "wmma.{m32n8k16,m8n32k16}." MMADIFF_HALF, TruncatedFusedSum<16, 25>, kCompiled},
    {"sm_80 sm_86 sm_89", "wmma.m16n16k8.f32.tf32.tf32.f32", TruncatedFusedSum<4, 24>, Recorded(kWmmaFirst)},
    {"sm_90 sm_100", "wmma.m16n16k8.f32.tf32.tf32.f32", TruncatedFusedSum<4, 25>, Recorded(kWmmaFirst)},
    {"sm_120", "wmma.m16n16k8.f32.tf32.tf32.f32", TruncatedFusedSum<4, 25>, kCompiled},
    {"sm_70", "wmma.*.f32.f16.f16.f16", TruncatedFusedSum<4, 23>, kWmmaMixedVolta},
    {"sm_75 sm_80 sm_89", "wmma.*.f32.f16.f16.f16", WidenedAddend<8, 24>, kCompiled},
    {kFromHopper, "wmma.*.f32.f16.f16.f16", WidenedAddend<16, 25>, kCompiled},
    {"sm_70", "wmma.*.f16.f16.f16.f32", ThenConverted<TruncatedFusedSum<4, 23>>, kWmmaMixedVolta},
    {"sm_75 sm_80 sm_89", "wmma.*.f16.f16.f16.f32", ThenConverted<TruncatedFusedSum<8, 24>>, kCompiled},
    {kFromHopper, "wmma.*.f16.f16.f16.f32", ThenConverted<TruncatedFusedSum<16, 25>>, kCompiled},

    {"sm_90", "wgmma.m64n8k16.{f32.f16.f16,f16.f16.f16,f32.bf16.bf16}", TruncatedFusedSum<16, 25>, kMmaSim},
    {"sm_90", "wgmma.m64n8k8.f32.tf32.tf32", TruncatedFusedSum<8, 25>, kMmaSim},
    {"sm_90", "wgmma.m64n8k32.f32." MMADIFF_FP8 ".$1", NarrowFp8<32, 25>, Recorded(kWgmmaAnswers, kHoppers)},
    {"sm_90", "wgmma.m64n8k32.f32." MMADIFF_MIXED_FP8, NarrowFp8<32, 25>, kMmaSim},
    {"sm_90", "wgmma.m64n8k32.f16." MMADIFF_FP8 "." MMADIFF_FP8, NarrowFp8<32, 25>, kMmaSim},
    {"sm_90", "wgmma.m64n8k{32,256}.s32.*", kWrap, kIntegerText},
    {"sm_90", "wgmma.m64n8k32.satfinite.*", kSaturate, kSaturated},

    {"sm_90", "wgmma.sp.*.{f32.f16.f16,f16.f16.f16,f32.bf16.bf16}", TruncatedFusedSum<16, 25>, kSparse},
    {"sm_90", "wgmma.sp.*.f32.tf32.tf32", TruncatedFusedSum<8, 25>, kSparse},
    {"sm_90", "wgmma.sp.*.e?m?.e?m?", NarrowFp8<32, 25>, kSparse},
    {"sm_90", "wgmma.sp.m64n8k64.s32.*", kWrap, kSparseInteger},
    {"sm_90", "wgmma.sp.m64n8k64.satfinite.*", kSaturate, kSaturated},

    {"sm_100", "tcgen05.mma.m64n8k16.{f32.f16.f16,f16.f16.f16,f32.bf16.bf16}", TruncatedFusedSum<16, 25>, kMmaSim},
    {"sm_100", "tcgen05.mma.m64n8k16.f32.{f16.bf16,bf16.f16}", TruncatedFusedSum<16, 25>, kMixedTypes},
    {"sm_100", "tcgen05.mma.m64n8k8.f32.tf32.tf32", TruncatedFusedSum<8, 25>, kMmaSim},
    {"sm_100", "tcgen05.mma.m64n8k32.{f32,f16}.e?m?.e?m?", TruncatedFusedSum<32, 25>, kMmaSimLike},
    {"sm_100", "tcgen05.mma.m64n8k32.f32.{e3m2,e2m3,e2m1}.$1 tcgen05.mma.m64n8k32.{f32.e4m3.e2m1,f16.e2m1.e4m3}", TruncatedFusedSum<32, 25>, kLikeB200, kNanBits, "tcgen05.mma.m64n8k32.{f32,f16}.e?m?.e?m?"},
    {"sm_100", "tcgen05.mma.m64n8k32.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8, TruncatedFusedSum<32, 25>, kMmaSim, kNanBits, "tcgen05.mma.m64n8k32.{f32,f16}.e?m?.e?m?"},
    {"sm_100", "tcgen05.mma.m128n8k32.mxf8f6f4.*", ScaledProducts, kMmaSimLike},
    {"sm_100", "tcgen05.mma.m128n8k32.mxf8f6f4.f32.{e3m2,e2m3,e2m1}.$1.*", ScaledProducts, kLikeB200, kNanBits, "tcgen05.mma.m128n8k32.mxf8f6f4.*"},
    {"sm_100", "tcgen05.mma.m128n8k32.mxf8f6f4.f32." MMADIFF_FP8 ".$1.*", ScaledProducts, kMmaSim, kNanBits, "tcgen05.mma.m128n8k32.mxf8f6f4.*"},
    {"sm_100", "tcgen05.mma.m128n8k64.{mxf4,mxf4nvf4}.*.ue8m0*", ScaledGroups, kScaledGroupsB200},
    {"sm_100", "tcgen05.mma.m128n8k64.mxf4nvf4.*.ue4m3.4x", ScaledGroups, kContestedGroups},
    {"sm_100", "tcgen05.mma.sp.*.f32.{f16.f16,bf16.bf16}", TruncatedFusedSum<16, 25>, kSparseB200},
    {"sm_100", "tcgen05.mma.sp.*.f32.tf32.tf32", TruncatedFusedSum<8, 25>, kSparseB200},
    {"sm_100", "tcgen05.mma.sp.*.e?m?.e?m?", TruncatedFusedSum<32, 25>, kSparse},
    {"sm_100", "tcgen05.mma.sp.*.f32.{e4m3,e5m2}.$1", TruncatedFusedSum<32, 25>, kSparseB200, kNanBits, "tcgen05.mma.sp.*.e?m?.e?m?"},
    {"sm_100", "tcgen05.mma.m64n8k32.s32.*", kWrap, kIntegerB200},
    {"sm_100", "tcgen05.mma.m64n8k32.satfinite.*", kSaturate, kIntegerB200},

    {"gfx908 gfx90a", "v_mfma_f32_*x{1,2,4}f32", kNearest, kChained, kAnyNan},
    {"gfx90a", "v_mfma_f64_*f64", kNearest, kChained, kAnyNan},
    {"gfx908", "v_mfma_f32_*x{2,4,8}bf16", Exact<2>, kCdna1, kAnyNan},
    {"gfx908", "v_mfma_f32_*x{4,8,16}f16", Exact<4>, kCdna1, kAnyNan},
    {"gfx90a", "v_mfma_f32_*x{2,4,8}bf16", Pairwise<2>, kCdna2, kAnyNan},
    {"gfx90a", "v_mfma_f32_*x{4,8,16}{f16,bf16_1k}", Pairwise<4>, kCdna2, kAnyNan},
    {"gfx942", "v_mfma_{f32_*_f32,f64_*_f64}", kNearest, kChained, kAnyNan},
    {"gfx942", "v_mfma_f32_*_xf32", TwoStage<4>, kCdna3, kAnyNan},
    {"gfx942", "v_mfma_f32_*_{f16,bf16}", TwoStage<8>, kCdna3, kAnyNan},
    {"gfx942", "v_mfma_f32_16x16x32_fp8_fp8", TwoStageFp8, kCdna3Recorded, kAnyNan},
    {"gfx942", "v_mfma_f32_32x32x16_fp8_fp8 v_mfma_f32_*_{fp8_bf8,bf8_fp8}", TwoStageFp8, kCdna3Fp8, kAnyNan},
    {"gfx942", "v_mfma_f32_*_bf8_bf8", TwoStageFp8, kCdna3Bf8, kAnyNan},
    {"gfx908 gfx90a gfx942 gfx950", "v_mfma_i32_*", kWrap, kAmdInteger},
    {"gfx942", "v_smfmac_f32_*_{f16,bf16}", TwoStage<8>, kSparseAmd, kAnyNan},
    {"gfx942", "v_smfmac_f32_*_{fp8,bf8}_{fp8,bf8}", TwoStageFp8, kSparseAmd, kAnyNan},
    {"gfx950", "v_smfmac_f32_*_{f16,bf16}", TwoStage<8>, kSparseCdna4, kAnyNan},
    {"gfx950", "v_smfmac_f32_*_{fp8,bf8}_{fp8,bf8}", TwoStageFp8, kSparseCdna4, kAnyNan},
    {"gfx942 gfx950", "v_smfmac_i32_*", kWrap, kAmdInteger},
    {"gfx1100", "v_dot2_f32_* v_wmma_{f32,f16,bf16}_*", Rdna3, kRdna3Captured},
    {"gfx1151", "v_dot2_f32_* v_wmma_{f32,f16,bf16}_*", Rdna3, kRdna35},
    {"gfx1200", "v_dot2_f32_* v_wmma_f32_16x16x16_{f16,bf16}* v_wmma_{f16,bf16}_16x16x16_$1*", Rdna4, kRdna4Captured},
    {"gfx1200", "v_dot4_f32_*", Rdna4, kRdna4Dot4},
    {"gfx1200", "v_swmmac_f32_16x16x32_{f16,bf16} v_swmmac_{f16,bf16}_16x16x32_$1", Rdna4, kSparseRdna4},
    {"gfx1200", "v_swmmac_f32_16x16x32_{fp8,bf8}_{fp8,bf8}", Rdna4, kSparseRdna4Fp8},
    {"gfx1200", "v_{wmma,swmmac}_i32_*.??.??", kWrap, kRdna4Integer},
    {"gfx1200", "v_{wmma,swmmac}_i32_*.clamp", Rdna4Clamp, kRdna4Integer},
    {"gfx1100 gfx1151", "v_wmma_i32_*.??.??", kWrap, kRdna3Integer},

    {kCuda, "cvt.rn.f16.f32", kRn, kCvt, kAnyNan},
    {kCuda, "cvt.rz.f16.f32", kRz, kCvt, kAnyNan},
    {kCuda, "cvt.rm.f16.f32", kRm, kCvt, kAnyNan},
    {kCuda, "cvt.rp.f16.f32", kRp, kCvt, kAnyNan},
    {kFromTuring, "cvt.rn.satfinite.f16.f32", kRnFinite, kCvt, kAnyNan},
    {kFromTuring, "cvt.rz.satfinite.f16.f32", kRzFinite, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rn.{bf16,f16x2,bf16x2}.f32", kRn, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rz.{bf16,f16x2,bf16x2}.f32", kRz, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rm.bf16.f32", kRm, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rp.bf16.f32", kRp, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rn.satfinite.{bf16,f16x2,bf16x2}.f32", kRnFinite, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rz.satfinite.{bf16,f16x2,bf16x2}.f32", kRzFinite, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rn.relu.{f16,bf16,f16x2,bf16x2}.f32", kRnRelu, kCvtRelu, kAnyNan},
    {kFromAmpere, "cvt.rz.relu.{f16,bf16,f16x2,bf16x2}.f32", kRzRelu, kCvtRelu, kAnyNan},
    {kFromAmpere, "cvt.rn.relu.satfinite.{f16,bf16,f16x2,bf16x2}.f32", kRnFiniteRelu, kCvtRelu, kAnyNan},
    {kFromAmpere, "cvt.rz.relu.satfinite.{f16,bf16,f16x2,bf16x2}.f32", kRzFiniteRelu, kCvtRelu, kAnyNan},
    {kFromAmpere, "cvt.rna.tf32.f32", kRna, kCvt, kAnyNan},
    {kFromAmpere, "cvt.rna.satfinite.tf32.f32", kRnaFinite, kCvt, kAnyNan},
    {kFromHopper, "cvt.rn.{tf32.f32,bf16.f16,f16.bf16}", kRn, kCvt, kAnyNan},
    {kFromHopper, "cvt.rz.{tf32.f32,bf16.f16,f16.bf16}", kRz, kCvt, kAnyNan},
    {kFromHopper, "cvt.rm.{bf16.f16,f16.bf16}", kRm, kCvt, kAnyNan},
    {kFromHopper, "cvt.rp.{bf16.f16,f16.bf16}", kRp, kCvt, kAnyNan},
    {kFromHopper, "cvt.rn.relu.tf32.f32", kRnRelu, kCvtRelu, kAnyNan},
    {kFromHopper, "cvt.rz.relu.tf32.f32", kRzRelu, kCvtRelu, kAnyNan},
    {kBlackwells, "cvt.rn.satfinite.tf32.f32", kRnFinite, kCvt, kAnyNan},
    {kBlackwells, "cvt.rz.satfinite.tf32.f32", kRzFinite, kCvt, kAnyNan},
    {kBlackwells, "cvt.rn.satfinite.relu.tf32.f32", kRnFiniteRelu, kCvtRelu, kAnyNan},
    {kBlackwells, "cvt.rz.satfinite.relu.tf32.f32", kRzFiniteRelu, kCvtRelu, kAnyNan},
    {kCuda, "cvt.f32.f16", kRn, kCvtExact, kAnyNan},
    {kFromAmpere, "cvt.f32.bf16", kRn, kCvtExact, kAnyNan},
    {kFromAda, "cvt.rn.f16x2." MMADIFF_FP8 "x2", kRn, kCvtExact, kAnyNan},
    {kFromAda, "cvt.rn.relu.f16x2." MMADIFF_FP8 "x2", kRnRelu, kCvtRelu, kAnyNan},
    {kFromAda, "cvt.rn.satfinite." MMADIFF_FP8 "x2.{f32,f16x2}", kRnFinite, kCvt, kAnyNan},
    {kFromAda, "cvt.rn.satfinite.relu." MMADIFF_FP8 "x2.{f32,f16x2}", kRnFiniteRelu, kCvtRelu, kAnyNan},
    {kBlackwells, "cvt.rn.satfinite." MMADIFF_FP8 "x2.bf16x2", kRnFinite, kCvt, kAnyNan},
    {kBlackwells, "cvt.rn.satfinite.relu." MMADIFF_FP8 "x2.bf16x2", kRnFiniteRelu, kCvtRelu, kAnyNan},
    {kBlackwells, "cvt.rn.satfinite.{e2m3,e3m2,e2m1}x2.{f32,f16x2,bf16x2}", kRnFinite, kCvtNoNan},
    {kBlackwells, "cvt.rn.satfinite.relu.{e2m3,e3m2,e2m1}x2.{f32,f16x2,bf16x2}", kRnFiniteRelu, kCvtNoNanRelu},
    {kBlackwells, "cvt.rn.f16x2.{e2m3,e3m2,e2m1}x2", kRn, kCvtExact, kAnyNan},
    {kBlackwells, "cvt.rn.relu.f16x2.{e2m3,e3m2,e2m1}x2", kRnRelu, kCvtRelu, kAnyNan},
    {kBlackwells, "cvt.rz.ue8m0x2.{f32,bf16x2}", kRz, kCvtScale},
    {kBlackwells, "cvt.rp.ue8m0x2.{f32,bf16x2}", kRp, kCvtScale},
    {kBlackwells, "cvt.rz.satfinite.ue8m0x2.{f32,bf16x2}", kRzFinite, kCvtScale},
    {kBlackwells, "cvt.rp.satfinite.ue8m0x2.{f32,bf16x2}", kRpFinite, kCvtScale},
    {kBlackwells, "cvt.rn.bf16x2.ue8m0x2", kRn, kCvtExact, kAnyNan},

    {"gfx908 gfx90a gfx942 gfx950 gfx1100 gfx1151 gfx1200", "v_cvt_{f16_f32,f32_f16}", kConverted, kAmdCvt, kAnyNan},
    {"gfx942", "v_cvt_pk_{fp8,bf8}_f32", kConverted, kAmdFnuz},
    {"gfx950", "v_cvt_pk_{fp8,bf8}_f32", kConverted, kAmdOcp, kAnyNan},
    {"gfx1200", "v_cvt_pk_fp8_f32", kConverted, kRdna4Fp8, kAnyNan},
    {"gfx1200", "v_cvt_pk_bf8_f32", kConverted, kRdna4Bf8, kAnyNan},
    {"gfx942 gfx950 gfx1200", "v_cvt_f32_{fp8,bf8} v_cvt_pk_f32_{fp8,bf8}", kConverted, kAmdCvt, kAnyNan},
    {"gfx950", "v_cvt_pk_bf16_f32", kConverted, kAmdBf16, kAnyNan},

    {"x86", "vcvtps2ph.rn", X86Converted<Rounding::kNearestEven>, kX86Cvt},
    {"x86", "vcvtps2ph.rm", X86Converted<Rounding::kDown>, kX86Cvt},
    {"x86", "vcvtps2ph.rp", X86Converted<Rounding::kUp>, kX86Cvt},
    {"x86", "vcvtps2ph.rz", X86Converted<Rounding::kTowardZero>, kX86Cvt},
    {"x86", "vcvtph2ps", X86Converted<Rounding::kNearestEven>, kX86Cvt},
    {"x86", "vcvtneps2bf16", X86Bf16, kX86Neps},

    {"ocp", "cvt.rn." MMADIFF_FP8 ".f32", kConverted, kOfp8, kAnyNan},
    {"ocp", "cvt.rn.satfinite." MMADIFF_FP8 ".f32", kConvertedFinite, kOfp8, kAnyNan},
    {"ocp", "cvt.rn.satfinite.{e3m2,e2m3,e2m1}.f32", kConvertedFinite, kMxElement},
    {"ocp", "cvt.rz.ue8m0.f32", kRz, kMxScale},
    {"ocp", "cvt.rz.satfinite.ue8m0.f32", kRzFinite, kMxScale},
    {"ocp", "cvt.f32.{e4m3,e5m2,e3m2,e2m3,e2m1,ue8m0}", kConverted, kOcpExact, kAnyNan},
};
#undef MMADIFF_HALF

// From `mmadiff run`, strategy mixed, seed 1; each answer was compared when it was made. 7.2e11 dot
// products on an H200, 2026-11-26; 1e9 of each operation on an H100, 2026-11-27. The folder holds
// answers and digests from a `mmadiff survey` of the H200; nvidia_h100 holds the H100's.
constexpr char kHopperText[] = "0 of at least 8e8 dot products differ on the H200, 0 of 1e9 on the H100; some of their answers and digests are stored";
constexpr char kH200[] = "corpus/observations/nvidia_h200", kBoth[] = "own_h200 own_h100", kBothCompiled[] = "own_h200 own_h100 ptxas";
constexpr Evidence kOnHopper = {kMeasured, kBoth, kHopperText, "", kH200};
constexpr Evidence kFp8OnHopper = {kMeasured, kBothCompiled, "two f16 steps, each with half the k, and an addition, made by ptxas: 0 of at least 8e8 dot products differ on the H200, 0 of 1e9 on the H100; some of their answers and digests are stored", "", kH200};
constexpr Evidence kCompiledOnHopper = {kMeasured, kBothCompiled, kHopperText, "", kH200};
constexpr Evidence kStoredOnHopper = {kMeasured, kBothCompiled, "all stored answers and digests match", "", kH200};
// mmadiff lowerings, 2026-11-29: the folder has what the machine code of each version of ptxas computes.
constexpr Evidence kLowered = {kPublished, "lowerings", "every ptxas tried makes it of instructions of this architecture with published results, combined as in the model", "the open questions of these instructions", "corpus/lowerings"};
constexpr Measurement kMeasurements[] = {
    {"sm_80 sm_89 sm_100 sm_120", "mma.m8n8k4.f32.f16.f16.f32", kLowered},
    {"sm_100", "mma.m16n8k16.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1 mma.m16n8k32.{f32,f16}." MMADIFF_MIXED_FP8 ".$1", kLowered},
    {"sm_100 sm_120", "mma.m16n8k32.f8f6f4.{f32,f16}." MMADIFF_FP8 "." MMADIFF_FP8 ".$1 mma.m16n8k{4,8,16}.f64.* {mma,wmma}.m*.satfinite.s32.{s4,u4}.{s4,u4}.s32", kLowered},
    {"sm_75 sm_80 sm_89 sm_100 sm_120", "wmma.{m32n8k16,m8n32k16}.{f32,f16}.f16.f16.$2 wmma.*.f32.f16.f16.f16 wmma.{m16n16k16,m32n8k16,m8n32k16}.s32.* wmma.m8n8k32.s32.*", kLowered},
    {"sm_80 sm_89 sm_100 sm_120", "wmma.{m32n8k16,m8n32k16}.f32.bf16.* wmma.*.f32.tf32.*", kLowered},
    {"sm_75 sm_80 sm_89 sm_120", "wmma.m16n16k16.{f32,f16}.f16.f16.$1", kLowered},
    {"sm_80 sm_89 sm_120", "wmma.m16n16k16.f32.bf16.*", kLowered},
    {"sm_75 sm_80 sm_89", "wmma.*.b1.*.xor.popc", kLowered},
    {"sm_80 sm_89", "wmma.*.b1.*.and.popc", kLowered},
    {"sm_90", "fma.* wgmma.m* mma.m16n8k{4,8,16}.{f32,f16}.{f16,bf16,tf32}.* {mma,wmma}.*.f64.* mma.m*.{s8,u8}.{s8,u8}.s32 {mma,wmma}.*.and.popc", kOnHopper},
    {"sm_90", "mma.m*.e?m?.e?m?.*", kFp8OnHopper},
    {"sm_90", "mma.m8n8k4.f32.f16.f16.f32 mma.m*.{s4,u4}.* {mma,wmma}.*.xor.popc wmma.*.f32.* wmma.*.f16.f16.f16.f16 wmma.{m16n16k16,m32n8k16,m8n32k16,m8n8k32}.{s32,satfinite}.*", kCompiledOnHopper},
    {"sm_90", "mma.m8n8k4.{f32,f16}.f16.f16.f16 wmma.*.f16.f16.f16.f32", kStoredOnHopper},
};
#undef MMADIFF_MIXED_FP8

struct UnknownEntry {
  const char* archs;
  const char* instructions;  // patterns of sim/pattern.h, separated by spaces
  Evidence evidence;
};

constexpr char kCdna4Text[] = "CDNA4's arithmetic is unpublished; AMD's own emulator tickets call it unknown";
constexpr char kRdnaText[] = "RDNA's arithmetic is unpublished except for parts of a user's model of gfx1151: two products and the addend on one grid, "
    "terms that oppose the addend's sign as one's complement, subnormal bf16 factors flushed; the grid's width and the order of k are in files that its text only names";
constexpr char kStochastic[] = "rounds by random bits, which a second operand or the hardware supplies";
constexpr char kTpuText[] = "bf16 operands, f32 sums, bf16 subnormals flushed; rounding, order and width are undocumented";
constexpr UnknownEntry kUnknowns[] = {
    {"sm_103", "tcgen05.mma.m128n8k96.{mxf4,mxf4nvf4}.f32.e2m1.e2m1.ue8m0 tcgen05.mma.m128n8k96.mxf4nvf4.f32.e2m1.e2m1.ue4m3",
     {kUnknown, "search", "k = 96 exists only on sm_103a; its steps are unpublished"}},
    {"gfx950", "v_mfma_f32_{32x32x1_2b,16x16x1_4b,4x4x1_16b,32x32x2,16x16x4}_f32 v_mfma_f64_{16x16x4,4x4x4_4b}_f64 "
     "v_mfma_f32_{32x32x4_2b,16x16x4_4b,4x4x4_16b,32x32x8,16x16x16,16x16x32,32x32x16}_{f16,bf16} "
     "v_mfma_f32_{16x16x32,32x32x16}_{fp8,bf8}_{fp8,bf8} "
     "v_mfma_f32_{16x16x128,32x32x64}_f8f6f4." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4 " "
     "v_mfma_scale_f32_{16x16x128,32x32x64}_f8f6f4." MMADIFF_F8F6F4 "." MMADIFF_F8F6F4 ".ue8m0", {kUnknown, "search rocm_10330", kCdna4Text}},
    {"gfx1200", "v_wmma_f32_16x16x16_{fp8,bf8}_{fp8,bf8}", {kUnknown, "search rocm_12056", kRdnaText}},
    {"tpu_v2 tpu_v3", "mxu.f32.bf16.bf16.f32", {kUnknown, "tpu_bfloat16 search", kTpuText}},
    {"sm_100 sm_103", "cvt.rs{,.relu}{,.satfinite}.{f16,bf16}x2.f32 cvt.rs{,.relu}.satfinite.{e4m3,e5m2,e2m3,e3m2,e2m1}x4.f32",
     {kUnknown, "search", kStochastic}},
    {"gfx942 gfx950 gfx1200", "v_cvt_sr_{fp8,bf8}_f32", {kUnknown, "search", kStochastic}},
};

constexpr char kAsCdna3[] = "as CDNA3";
constexpr char kScaledText[] = "each product is aligned by its own and its scales' exponents, as published for NVIDIA; AMD's blog describes a scale after the sum of 32";
constexpr Hypothesis kHypotheses[] = {
    {"gfx950", "v_mfma_f32_*_f32 v_mfma_f64_*_f64", kNearest, kAsCdna3},
    {"gfx950", "v_mfma_f32_*_{f16,bf16}", TwoStage<8>, kAsCdna3},
    {"gfx950", "v_mfma_f32_*_{fp8,bf8}_{fp8,bf8} v_mfma_f32_*_f8f6f4.*", TwoStageFp8, kAsCdna3},
    {"gfx950", "v_mfma_scale_*", ScaledProducts, kScaledText},
};
#undef MMADIFF_FP8
#undef MMADIFF_F8F6F4
// clang-format on

constexpr Architecture kArchitectures[] = {
    {"x86"},
    {"arm"},
    {"sm_70", "volta", true},
    {"sm_75", "turing", true},
    {"sm_80", "ampere", true},
    {"sm_86",
     "",
     true,
     "sm_80",
     {kAssumed, "ptx_isa", "as sm_80 (GA10x shares its tensor core ISA)"}},
    {"sm_89", "ada", true},
    {"sm_90", "hopper", true},
    {"sm_100", "blackwell", true},
    {"sm_103",
     "",
     true,
     "sm_100",
     {kAssumed, "search", "as sm_100; the arithmetic of sm_103 is unpublished"}},
    {"sm_120", "rtx_blackwell", true},
    {"gfx908", "cdna1"},
    {"gfx90a", "cdna2"},
    {"gfx942", "cdna3"},
    {"gfx950", "cdna4"},
    {"gfx1100", "rdna3"},
    {"gfx1151", "rdna3.5"},
    {"gfx1200", "rdna4 gfx1201"},
    {"tpu_v2"},
    {"tpu_v3"},
    {"ocp"},
};

// Aborts if the table has errors (programmer error).
std::vector<Numerics> MakeNumerics() {
  NumericsTable table = Resolve(kEntries, kArchitectures, kMeasurements);
  for (const std::string& error : table.errors) std::fprintf(stderr, "%s\n", error.c_str());
  if (!table.errors.empty()) std::abort();
  return std::move(table.numerics);
}

std::vector<UnknownNumerics> MakeUnknown() {
  std::vector<UnknownNumerics> all;
  for (const UnknownEntry& entry : kUnknowns) {
    for (const std::string& arch : SplitWords(entry.archs)) {
      const auto* known = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                       [&](const Architecture& a) { return a.name == arch; });
      if (known == std::end(kArchitectures)) {  // programmer error
        std::fprintf(stderr, "unknown '%s': no table has the architecture '%s'\n",
                     entry.instructions, arch.c_str());
        std::abort();
      }
      for (const std::string& pattern : SplitWords(entry.instructions)) {
        for (const Expansion& e : Expand(pattern)) {
          all.push_back({known->name, e.text, entry.evidence});
        }
      }
    }
  }
  return all;
}

}  // namespace

std::span<const Numerics> AllNumerics() {
  static const std::vector<Numerics>& all = *new std::vector<Numerics>(MakeNumerics());
  return all;
}

std::span<const UnknownNumerics> AllUnknown() {
  static const std::vector<UnknownNumerics>& all = *new std::vector<UnknownNumerics>(MakeUnknown());
  return all;
}

std::span<const Measurement> Measurements() { return kMeasurements; }

std::span<const NumericsEntry> NumericsEntries() { return kEntries; }

std::span<const Hypothesis> Hypotheses() { return kHypotheses; }

bool IsAlias(const Architecture& a, std::string_view name) {
  if (std::string_view(a.aliases).find(name) == std::string_view::npos) return false;
  const std::vector<std::string> aliases = SplitWords(a.aliases);
  return std::ranges::find(aliases, name) != aliases.end();
}

std::span<const Architecture> Architectures() { return kArchitectures; }

std::string TextOfClaims(const Evidence& e) {
  return (*e.gpus == '\0' ? "" : std::string("recorded on ") + e.gpus + ": ") + e.text;
}

std::string Text(const Evidence& e) {
  std::string text = TextOfClaims(e);
  if (*e.open != '\0') text += std::string(". Open: ") + e.open;
  return text;
}

const char* Name(Grade grade) {
  switch (grade) {
    case Grade::kMeasured:
      return "measured";
    case Grade::kPublished:
      return "published";
    case Grade::kAssumed:
      return "assumed";
    case Grade::kContested:
      return "contested";
    case Grade::kUnknown:
      return "unknown";
    case Grade::kOwn:
      return "own";
  }
  return "?";
}

}  // namespace mmadiff
