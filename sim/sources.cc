#include "sim/sources.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sim/pattern.h"

namespace mmadiff {
namespace {

// clang-format off
constexpr Source kSources[] = {
    {"ptx_isa", "PTX ISA", "9.0", "2025-08-04", "sm_*",
     "names, shapes and operands; the arithmetic of fma, f64 mma, integers and conversions"},
    {"cuda_guide", "CUDA Programming Guide", "", "", "sm_*/fma.*", "NaN operands of fma.*.f32 give 7fffffff"},
    {"cuda_fp8_h", "cuda_fp8.h of CUDA", "13.0", "2025-08-04", "sm_*/cvt.*.ue8m0*", "conversions to ue8m0: signs, small numbers"},
    {"ptxas", "ptxas of CUDA", "13.0.88", "2025-08-20", "sm_*", "the machine code of an instruction, read"},
    {"ptxas_12_9", "ptxas of CUDA", "12.9", "", "sm_70/wmma.*", "wmma of sm_70 as mma steps, read"},
    {"lowerings", "executed machine code of ptxas", "12.4 to 13.5", "2026-11-29", "sm_*",
     "the instructions that ptxas makes of one that is not native (corpus/lowerings)",
     "not what the native instructions give"},
    {"intel_sdm", "Intel SDM, volume 2", "", "", "x86/*", "pseudo-code"},
    {"intel_ise", "Intel ISE, AMX", "before 319433-062", "", "x86/tdpfp16ps x86/tmmultf32ps", "pseudo-code", "",
     "AMX-TF32 by intel_ise_062"},
    {"intel_ise_062", "Intel ISE", "319433-062", "2026", "x86/tmmultf32ps", "withdraws AMX-TF32",
     "read by others, not by this project"},
    {"intel_ise_057", "Intel ISE", "319433-057", "", "x86/tdp*f8ps",
     "AMX-FP8: the exact sum of all products, one rounding, then the addition", "read by others, not by this project"},
    {"amx_fp8_emulators", "two emulators, whose repositories are not identified", "", "", "x86/tdp*f8ps",
     "how they read ISE 319433-057 and -062"},
    {"bochs", "Bochs", "783b58fd", "2026-08-22", "x86/tdp*f8ps", "AMX-FP8 in other steps than ISE 319433-057"},
    {"arm_arm", "Arm ARM (DDI 0487)", "", "", "arm/*", "pseudo-code"},
    {"qemu_7_2", "QEMU", "7.2", "", "arm/{bfdot,bfmmla,sdot,udot,usdot,smmla,ummla,usmmla}",
     "1e6 dot products of each, executed", "its answers are not stored"},
    {"qemu_10_0_2", "QEMU", "10.0.2", "2025-05-29", "arm/*.ebf", "the steps of BFDotAdd", "read, not executed"},
    {"amd_isa", "AMD's ISA documents of CDNA1 to CDNA4, RDNA3, RDNA3.5 and RDNA4", "", "", "gfx*", "names, operands, conversions"},
    {"hip_headers", "HIP headers", "", "", "gfx942/v_cvt_pk_*", "the conversion of FP8 on the host"},
    {"gfx1201_conversions", "a public project with a gfx1201", "", "", "gfx1200/v_cvt_pk_*", "conversions of all operands", "its answers are not stored"},
    {"ofp8", "OCP OFP8", "1.0", "", "ocp/*", "formats, conversions to E4M3 and E5M2"},
    {"mx", "OCP MX", "1.0", "", "ocp/*", "formats, conversions to 4 and 6 bits"},
    {"tpu_bfloat16", "Google Cloud, page on bfloat16", "", "", "tpu_*", "formats; bf16 subnormals are flushed"},
    {"fasi_2021", "Fasi, Higham, Mikaitis, Pranesh, PeerJ CS 7:e330", "", "2021", "sm_{70,75,80}/*mma.*",
     "features of V100, T4 and A100"},
    {"hickmann_2019", "Hickmann, Bradford", "", "2019", "sm_70/wmma.*", "features of V100"},
    {"khattak_mikaitis", "Khattak, Mikaitis: MATLAB-tensor-core", "b12b5a70", "2026-08-19",
     "sm_{70,80,86,89,90,100}/{mma,wmma,wgmma}.*", "answers of V100, A100, A2, RTX 1000 Ada, L40S, H100, H200 and B200",
     "values like N(0, 1), one step of k"},
    {"khattak_mikaitis_paper", "Khattak, Mikaitis, arXiv 2512.07004", "", "2025-12-07", "sm_* gfx908/v_mfma_*", "models"},
    {"mma_sim_1", "MMA-Sim", "1, c785138", "2026-01-29", "sm_*/*mma.* gfx*/v_mfma_*", "models", "", "by version 2, mma_sim"},
    {"mma_sim", "MMA-Sim", "2.1.1", "2026-10-22", "sm_{70,75,80,89,90,100,120}/*mma.* gfx{908,90a,942}/v_mfma_*", "models",
     "its hardware test skips results that the hardware made NaN"},
    {"mma_sim_paper", "MMA-Sim, arXiv 2511.10909v2", "", "2026-04-14", "sm_{70,75,80,89,90,100,120}/*mma.* gfx{908,90a,942}/v_mfma_*",
     "models, which equal hardware on 1e6 random bit patterns, according to the authors",
     "random patterns reach neither floors nor zero sums"},
    {"mi300x_notebook", "MMA-Sim, notebook with answers of an MI300X", "0cb7846", "", "gfx942/v_mfma_f32_16x16x32_fp8_fp8",
     "answers (corpus/vectors/mi300x_notebook.txt)"},
    {"deepgemm_176", "DeepGEMM, issue 176", "", "2025-08-28", "sm_100/tcgen05.mma.*.{mxf4,mxf4nvf4}.*", "34 to 37 fraction bits on a B200"},
    {"huweim", "huweim/emulation_sys", "a80531aa", "2026-04-15", "sm_120/mma.*.{mxf4,mxf4nvf4}.*", "25 fraction bits on an RTX 5090"},
    {"sf_tensor", "sf-tensor/tcgen05", "8fce64d", "2026-07-11",
     "sm_100/tcgen05.mma.{,sp.}m64n8k*.f32.{tf32,f16,bf16,e4m3,e5m2,e3m2,e2m3,e2m1}.$2 "
     "sm_100/tcgen05.mma.m64n8k32.{f32.e4m3.e2m1,f16.e2m1.e4m3,s32.*,satfinite.*} "
     "sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.{e4m3,e5m2,e3m2,e2m3,e2m1}.$1.* sm_100/tcgen05.mma.m128n8k64.*",
     "models, which equal a B200 on 1e6 cases each, according to the author", "71 of its dense answers are published; this project compared them once (2026-11-30) and does not store them"},
    {"rocjitsu", "AMD's emulator rocjitsu and its captured cases", "read 2026-11", "", "gfx{1100,1200}/v_*",
     "models; answers of a Radeon Pro W7900 and a Radeon AI Pro R9700 (gfx1201)"},
    {"rocm_12056", "rocm-systems, issue 12056", "", "2026-09-22", "gfx1151/v_*", "a user's model of gfx1151", "its answers are not stored"},
    {"rocm_10330", "rocm-systems, issues 10330 and 10344", "", "2026-08", "gfx950/*", "CDNA4's arithmetic is called unknown"},
    {"goc", "bjacob/goc", "", "2026-10-09", "gfx1200/v_{wmma,swmmac}_i32_*", "digests of matrices of a gfx1201"},
    {"own_xeon", "this project: an Intel Xeon with AVX512_BF16 and AMX, model 167 according to its virtual machine", "", "2026-11-20",
     "x86/*", "answers"},
    {"own_zen3", "this project: AMD EPYC, Zen 3", "", "2026-11-21", "x86/vfmadd231s{s,d}", "answers"},
    {"own_zen4", "this project: AMD EPYC, Zen 4", "", "2026-11-22",
     "x86/{vdpbf16ps,vfmadd231ss,vfmadd231sd,vpdpbusd,vpdpbusds,vpdpwssd,vpdpwssds}", "answers"},
    {"own_h200", "this project: H200, driver 580.159.04", "", "2026-11-26", "sm_90/*", "answers, digests, a survey"},
    {"own_h100", "this project: H100 80GB HBM3, driver 580.159.04", "", "2026-11-27", "sm_90/*", "answers, digests, a survey"},
    {"search", "a search of public repositories, documents and issues", "", "2026-11-30", "*", "found no arithmetic of the instruction"},
};
// clang-format on

}  // namespace

std::span<const Source> Sources() { return kSources; }

const Source* FindSource(std::string_view id) {
  const auto* found = std::ranges::find(kSources, id, &Source::id);
  return found == std::end(kSources) ? nullptr : found;
}

std::vector<const Source*> SourcesOf(std::string_view ids) {
  std::vector<const Source*> all;
  for (const std::string& id : SplitWords(ids)) {
    all.push_back(FindSource(id));
    if (all.back() != nullptr) continue;
    std::fprintf(stderr, "no source '%s'\n", id.c_str());
    std::abort();
  }
  return all;
}

std::string Citation(const Source& s, bool with_limits) {
  std::string text = s.name;
  if (*s.revision != '\0') text += std::string(" ") + s.revision;
  const bool limits = with_limits && *s.limits != '\0';
  if (*s.date == '\0' && !limits) return text;
  text += std::string(" (") + s.date;
  if (*s.date != '\0' && limits) text += "; ";
  if (limits) text += s.limits;
  return text + ")";
}

}  // namespace mmadiff
