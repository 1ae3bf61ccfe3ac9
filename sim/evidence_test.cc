// What the evidence of an operation may claim, stated without the numerics table: its grade from
// what is known of the instruction, its sources from what these cover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "sim/operation.h"
#include "sim/pattern.h"
#include "sim/sources.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

#define OTHERS "sm_{70,75,80,86,89,100,103,120}/"  // GPUs that this project has not run on
struct Rule {
  Grade grade;
  const char* ops;
  const char* why;
};
constexpr Rule kRules[] = {
    {Grade::kMeasured,
     "x86/vdpbf16ps x86/vfmadd231s{s,d} x86/vpdpbusd{,s} x86/vpdpwssd{,s} x86/tdpbf16ps "
     "x86/tdpb{s,u}{s,u}d "
     "sm_90/{fma,wmma}.* sm_90/{mma,wgmma}.m*",
     "recorded by this project"},
    {Grade::kContested,
     "sm_70/wmma.*.{f32,f16}.f16.f16.$1 sm_100/tcgen05.mma.m128n8k64.mxf4nvf4.*.ue4m3.4x "
     "sm_120/mma.*.mxf4.* sm_120/mma.*.mxf4nvf4.*.{ue8m0.2x,ue4m3.4x} x86/tdp*f8ps",
     "two sources contradict each other"},
    {Grade::kAssumed, "sm_86/* sm_103/*", "taken from a relative"},
    {Grade::kAssumed,
     "sm_{70,75,80,86,89,103}/*mma.*.satfinite.* sm_{100,120}/mma.*.satfinite.s32.{s8,u8}.* "
     "sm_100/wmma.*.satfinite.s32.{s8,u8}.*",
     "when the clamp acts is open"},
    {Grade::kAssumed, OTHERS "*mma.*.r{z,m,p}.f64.*", "nobody has measured directed rounding"},
    {Grade::kAssumed, "gfx*/v_mfma_i32_*", "no manual read here says what an overflow does"},
    {Grade::kAssumed,
     "sm_120/*f8f6f4*.{e3m2,e2m3,e2m1}.* sm_103/*f8f6f4*.{e3m2,e2m3,e2m1}.* sm_120/*nvf4*ue8m0.4x",
     "results nowhere stated"},
    {Grade::kAssumed,
     "sm_{80,89,90,120}/mma.sp.*.{f32,f16}.* sm_100/mma.sp.*.{f32,f16}.* "
     "sm_90/wgmma.sp.*.{f32,f16}.* gfx*/v_smfmac_* gfx1200/v_swmmac_{f32,f16,bf16}_*",
     "nobody has published its sums"},
    {Grade::kAssumed, "sm_90/*.sp.*.satfinite.*", "when the clamp acts is open"},
    {Grade::kAssumed, "gfx1151/v_{dot2,wmma}_* gfx1100/v_wmma_i32_* gfx1200/v_dot4_*",
     "no answers of it are stored"},
    {Grade::kAssumed,
     "gfx{942,950}/v_cvt_pk_{fp8,bf8}_f32 gfx1200/v_cvt_pk_bf8_f32 gfx950/v_cvt_pk_bf16_f32 "
     "ocp/cvt.rz.*",
     "no manual read here says what lies beyond the range"},
};
#undef OTHERS

// What a source of a published operation must state: its arithmetic, not only its operands.
constexpr char kOfNamesOnly[] = "ptxas ptxas_12_9 search";
// The manuals whose text decides the arithmetic, and of what.
constexpr struct {
  const char *source, *ops;
} kManuals[] = {
    {"ptx_isa",
     "*/fma.* */{mma,wmma,wgmma,tcgen05.mma,mma.sp,wgmma.sp}.*.s32* */{mma,wmma}.*.f64.* "
     "sm_*/cvt.*"},
    {"amd_isa", "gfx*/v_cvt_*"},
};

const std::set<std::string>& MmaSimOperations() {
  static const auto& ops = *[] {
    auto* names = new std::set<std::string>;
    std::ifstream file("sim/reference/mma_sim_rows.txt");
    for (std::string line; std::getline(file, line);) {
      if (line[0] != '#') names->insert(line);
    }
    return names;
  }();
  return ops;
}

// Computations that versions of ptxas make of the operation; 0 if one is not the model's.
// fuzz/unit/lowerings_test.cc has what they consist of.
int LoweringsOf(const std::string& op) {
  std::ifstream file("corpus/lowerings/" + op.substr(0, op.find('/')) + ".tsv");
  int found = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(op + "\t")) continue;
    if (line.find("\tequals the model on ") == line.npos) return 0;
    ++found;
  }
  return found;
}

// Whether the source states the arithmetic of the operation.
bool States(const Source& source, const std::string& op) {
  const std::string id = source.id;
  if (!MatchesAny(source.covers, op) || MatchesAny(kOfNamesOnly, id)) return false;
  if (id == "mma_sim" || id == "mma_sim_paper") return MmaSimOperations().contains(op);
  if (id == "lowerings") return LoweringsOf(op) == 1;
  for (const auto& manual : kManuals) {
    if (id == manual.source) return MatchesAny(manual.ops, op);
  }
  return true;
}

std::vector<std::string> BrokenClaims(const std::string& op, const Evidence& e) {
  std::vector<std::string> broken;
  const auto claim = [&](bool holds, const std::string& what) {
    if (!holds) broken.push_back(op + ": " + what);
  };
  for (const Rule& rule : kRules) {
    claim(!MatchesAny(rule.ops, op) || e.grade == rule.grade,
          std::string(Name(e.grade)) + ", but " + rule.why);
  }
  claim(e.grade != Grade::kMeasured || MatchesAny(kRules[0].ops, op), "measured by nobody here");
  claim(e.grade != Grade::kContested || MatchesAny(kRules[1].ops, op), "contested by nobody");
  const bool of_relative = e.grade == Grade::kAssumed;
  int state = 0;
  for (const Source* source : SourcesOf(e.sources)) {
    const std::string id = source->id;
    const bool mma_sim = id == "mma_sim" || id == "mma_sim_paper";
    claim(of_relative || MatchesAny(source->covers, op), id + " does not cover it");
    claim(of_relative || !mma_sim || MmaSimOperations().contains(op), id + " does not have it");
    claim((e.grade == Grade::kMeasured) == (id.rfind("own_", 0) == 0) || id == "ptxas",
          id + ": a measurement by others, or a publication by this project");
    claim(id != "lowerings" || LoweringsOf(op) == 1, "no machine code, or not that of the model");
    claim(id != "lowerings" || *e.open != '\0',
          "the open questions of its instructions are its own");
    state += States(*source, op);
  }
  claim(e.grade != Grade::kPublished || state > 0, "published nowhere");
  claim(e.grade != Grade::kContested || state > 1, "contested by nobody else");
  return broken;
}

TEST(Evidence, ClaimsNoMoreThanItsSources) {
  ASSERT_EQ(MmaSimOperations().size(), 326);
  for (const std::string& name : MmaSimOperations())
    EXPECT_NE(FindOperation(name), nullptr) << name;
  for (const Operation& op : Operations()) {
    EXPECT_THAT(BrokenClaims(op.name, op.numerics->evidence), IsEmpty());
  }
}

// What a GPU does not have is what ptxas makes of it: a source, too.
TEST(Evidence, MeasuredEmulationCitesItsCompiler) {
  for (const Operation& op : Operations()) {
    const Evidence& e = op.numerics->evidence;
    if (e.grade != Grade::kMeasured) continue;
    const std::vector<std::string> native = SplitWords(op.instruction->native_on),
                                   sources = SplitWords(e.sources);
    EXPECT_EQ(std::ranges::count(sources, "ptxas"), std::ranges::count(native, op.arch()) == 0)
        << op.name;
  }
}

// That nobody has published something was searched for, once, on a day.
TEST(Evidence, WhatIsUnpublishedWasSearched) {
  for (const UnknownNumerics& u : AllUnknown()) {
    EXPECT_THAT(SplitWords(u.evidence.sources), Contains("search")) << u.instruction;
  }
  EXPECT_STRNE(FindSource("search")->date, "");
}

TEST(Sources, AreWellFormed) {
  std::set<std::string> ids;
  for (const Source& s : Sources()) {
    EXPECT_TRUE(ids.insert(s.id).second) << s.id;
    EXPECT_THAT(s.date, testing::MatchesRegex("|[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")) << s.id;
    EXPECT_STRNE(s.says, "") << s.id;
    for (const std::string& word : SplitWords(s.covers)) {
      const auto covers = [&](const Operation& op) { return MatchesAny(word.c_str(), op.name); };
      const auto covers_unknown = [&](const UnknownNumerics& u) {
        return MatchesAny(word.c_str(), u.arch + ("/" + u.instruction));
      };
      EXPECT_TRUE(std::ranges::any_of(Operations(), covers) ||
                  std::ranges::any_of(AllUnknown(), covers_unknown))
          << s.id << ": " << word;
    }
  }
  EXPECT_EQ(FindSource("none"), nullptr);
  EXPECT_EQ(Citation(*FindSource("mma_sim"), false), "MMA-Sim 2.1.1 (2026-10-22)");
  EXPECT_EQ(Citation(*FindSource("tpu_bfloat16"), true), "Google Cloud, page on bfloat16");
  EXPECT_EQ(Citation(*FindSource("qemu_7_2"), true), "QEMU 7.2 (its answers are not stored)");
}

// A measurement of this project does not hide that others recorded answers of another GPU.
TEST(Evidence, WhatOthersRecordedIsSaid) {
  int recordings = 0;
  for (const auto& file :
       std::filesystem::directory_iterator("corpus/observations/khattak_mikaitis")) {
    std::string name = file.path().filename().string();
    constexpr std::string_view kPrefix = "sm_90.H100.", kSuffix = ".txt.gz";
    if (!name.starts_with(kPrefix)) continue;
    ++recordings;
    name = "sm_90/" + name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
    const Operation* op = FindOperation(name);
    ASSERT_NE(op, nullptr) << name;
    const Evidence* others = op->numerics->evidence.others;
    ASSERT_NE(others, nullptr) << name;
    EXPECT_THAT(SplitWords(others->sources), Contains("khattak_mikaitis")) << name;
    EXPECT_THAT(others->gpus, HasSubstr("H100")) << name;
  }
  EXPECT_GE(recordings, 8);
}

TEST(Evidence, EveryRuleIsForAOperation) {
  for (const Rule& rule : kRules) {
    for (const std::string& word : SplitWords(rule.ops)) {
      const auto matches = [&](const Operation& op) { return MatchesAny(word.c_str(), op.name); };
      EXPECT_TRUE(std::any_of(Operations().begin(), Operations().end(), matches)) << word;
    }
  }
}

TEST(Evidence, PlantedOverclaimsAreFound) {
  const auto claims = [](const char* op, Grade grade, const char* sources, const char* open = "") {
    return BrokenClaims(op, {grade, sources, "", open});
  };
  const Grade published = Grade::kPublished;
  EXPECT_THAT(claims("sm_100/mma.m16n8k4.rz.f64.f64.f64.f64", published, "ptx_isa"),
              Contains(HasSubstr("directed rounding")));
  EXPECT_THAT(claims("gfx90a/v_mfma_i32_4x4x4i8", published, "amd_isa"),
              Contains(HasSubstr("overflow")));
  EXPECT_THAT(claims("gfx90a/v_mfma_i32_4x4x4i8", published, "amd_isa"),
              Contains(HasSubstr("published nowhere")));
  EXPECT_THAT(claims("sm_100/wmma.m16n16k16.f32.f16.f16.f32", published, "mma_sim"),
              Contains(HasSubstr("does not have it")));
  EXPECT_THAT(claims("sm_90/mma.m16n8k16.f32.f16.f16.f32", published, "sf_tensor"),
              Contains(HasSubstr("does not cover it")));
  EXPECT_THAT(claims("sm_90/mma.m16n8k16.f32.f16.f16.f32", Grade::kMeasured, "mma_sim"),
              Contains(HasSubstr("by others")));
  EXPECT_THAT(claims("sm_80/mma.m16n8k16.f32.f16.f16.f32", published, "own_h200"),
              Contains(HasSubstr("by this project")));
  EXPECT_THAT(claims("sm_70/wmma.m16n16k16.f32.f16.f16.f32", Grade::kAssumed, ""),
              Contains(HasSubstr("contradict")));
  EXPECT_THAT(claims("sm_70/wmma.m16n16k16.f32.f16.f16.f32", Grade::kContested, "hickmann_2019"),
              Contains(HasSubstr("nobody else")));
  EXPECT_THAT(claims("sm_86/mma.m16n8k16.f32.f16.f16.f32", published, "mma_sim"),
              Contains(HasSubstr("relative")));
  EXPECT_THAT(claims("sm_100/mma.m16n8k16.f32.f16.f16.f32", Grade::kMeasured, ""),
              Contains(HasSubstr("measured by nobody")));
  EXPECT_THAT(claims("sm_120/mma.m16n8k32.f8f6f4.f32.e2m1.e4m3.f32", published, "mma_sim"),
              Contains(HasSubstr("nowhere stated")));
  for (const char* sources : {"ptx_isa", "ptxas", "search", ""}) {
    EXPECT_THAT(claims("sm_100/mma.m16n8k16.f32.e4m3.e4m3.f32", published, sources),
                Contains(HasSubstr("published nowhere")));
  }
  for (const char* op :
       {"sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_103/mma.m8n8k4.f32.f16.f16.f32"}) {
    EXPECT_THAT(claims(op, published, "lowerings", "much"), Contains(HasSubstr("no machine code")));
  }
  EXPECT_THAT(claims("sm_80/mma.m8n8k4.f32.f16.f16.f32", published, "lowerings"),
              Contains(HasSubstr("its own")));
}

// That nobody can simulate them is a claim too.
TEST(Evidence, UnknownInstructions) {
  std::set<std::string> names;
  for (const UnknownNumerics& u : AllUnknown()) names.insert(u.arch + ("/" + u.instruction));
  EXPECT_EQ(names.size(), AllUnknown().size());  // each once; counts_test has their number
  for (const char* name :
       {"tpu_v3/mxu.f32.bf16.bf16.f32", "gfx950/v_mfma_f32_16x16x128_f8f6f4.e4m3.e2m1",
        "gfx950/v_mfma_scale_f32_32x32x64_f8f6f4.e2m3.e2m3.ue8m0",
        "gfx1200/v_wmma_f32_16x16x16_fp8_bf8",
        "sm_103/tcgen05.mma.m128n8k96.mxf4.f32.e2m1.e2m1.ue8m0",
        "sm_100/cvt.rs.relu.satfinite.e4m3x4.f32", "gfx942/v_cvt_sr_fp8_f32"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace mmadiff
