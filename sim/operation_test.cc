#include "sim/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "sim/parameter.h"
#include "sim/pattern.h"
#include "sim/simulate.h"
#include "sim/stages.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

std::vector<std::string> Names(const std::vector<const Operation*>& ops) {
  std::vector<std::string> names;
  for (const Operation* op : ops) names.push_back(op->name);
  return names;
}

TEST(Instructions, NamesAreUniqueOnAnArchitecture) {
  std::set<std::string> names;
  for (const Instruction& i : Instructions()) {
    const std::vector<std::string> archs = SplitWords(i.native_on);
    for (const std::string& arch : archs) {
      EXPECT_TRUE(names.insert(arch + "/" + i.name).second) << arch << "/" << i.name;
      EXPECT_EQ(FindInstruction(i.name, arch), &i);
      EXPECT_TRUE(IsNativeOn(i, arch));
    }
    EXPECT_TRUE(!archs.empty() || FindInstruction(i.name) == &i) << i.name;
    EXPECT_STRNE(i.source, "");
  }
  EXPECT_EQ(FindInstruction("mma.m16n8k16"), nullptr);
  EXPECT_EQ(FindInstruction("mma.m16n8k16", "sm_90"), nullptr);
}

// AMD's fp8 and bf8 are other formats on other architectures.
TEST(Instructions, OneNameOfTwoInstructions) {
  const char* const name = "v_mfma_f32_16x16x32_fp8_bf8";
  EXPECT_STREQ(FindInstruction(name, "gfx942")->a->name, "e4m3fnuz");
  EXPECT_STREQ(FindInstruction(name, "gfx950")->a->name, "e4m3");
  EXPECT_EQ(FindInstruction(name), FindInstruction(name, "gfx942"));  // the first
  EXPECT_FALSE(IsNativeOn(*FindInstruction(name, "gfx950"), "gfx942"));
  EXPECT_EQ(FindOperation("gfx942/v_mfma_f32_16x16x32_fp8_bf8")->instruction,
            FindInstruction(name, "gfx942"));
  EXPECT_EQ(FindUnmodelled("gfx950/v_mfma_f32_16x16x32_fp8_bf8")->instruction,
            FindInstruction(name, "gfx950"));
}

// NVIDIA's names say shape and formats; the columns must say the same.
TEST(Instructions, NamesOfMmaSayShapeAndFormats) {
  for (const Instruction& i : Instructions()) {
    if (i.name.find("mma.m") == i.name.npos) continue;
    std::ostringstream shape, formats;
    shape << "mma.m" << i.shape.m << 'n' << i.shape.n << 'k' << i.shape.k << '.';
    formats << '.' << i.d->name << '.' << i.a->name << '.' << i.b->name;
    EXPECT_NE(i.name.find(shape.str()), i.name.npos) << i.name;
    const size_t at = i.name.find(formats.str());
    ASSERT_NE(at, i.name.npos) << i.name << formats.str();
    // wgmma and tcgen05 name no addend: it has the result's format.
    const std::string addend = std::string(".") + i.c->name;
    const bool named = i.name.rfind("mma.", 0) == 0 || i.name.rfind("wmma.", 0) == 0;
    EXPECT_EQ(i.name.compare(at + formats.str().size(), addend.size(), addend) == 0 || !named, true)
        << i.name;
    EXPECT_TRUE(named || i.c == i.d) << i.name;
    EXPECT_EQ(i.scale != nullptr, i.shape.scales > 0);
    if (i.scale != nullptr) {
      EXPECT_NE(i.name.find(std::string(".") + i.scale->name), i.name.npos) << i.name;
    }
  }
}

TEST(Instructions, WithSize) {
  const Instruction sized = WithSize(*FindInstruction("wgmma.m64n8k16.f32.f16.f16"), 64, 256);
  EXPECT_EQ(sized.name, "wgmma.m64n256k16.f32.f16.f16");
  EXPECT_EQ(sized.shape, (Shape{64, 256, 16, 1}));
}

TEST(Numerics, EveryOperationNamesAnInstructionOnce) {
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> instructions;
  for (const Numerics& n : AllNumerics()) {
    EXPECT_TRUE(seen.emplace(n.arch, n.instruction->name).second) << n.arch;
    instructions.insert(n.instruction->name);
  }
  EXPECT_EQ(Operations().size(), AllNumerics().size());
  for (const UnknownNumerics& u : AllUnknown()) {
    instructions.insert(u.instruction);
    EXPECT_TRUE(seen.emplace(u.arch, u.instruction).second) << u.arch << " " << u.instruction;
    EXPECT_EQ(u.evidence.grade, Grade::kUnknown);
    EXPECT_STRNE(u.evidence.text, "");
  }
  for (const Instruction& i : Instructions()) EXPECT_TRUE(instructions.contains(i.name)) << i.name;
}

TEST(Numerics, EveryNativeInstructionHasAOperation) {
  for (const Instruction& i : Instructions()) {
    std::istringstream archs(i.native_on);
    for (std::string arch; archs >> arch;) {
      const Operation* op = FindOperation(arch + "/" + i.name, Models::kOptional);
      ASSERT_NE(op, nullptr) << arch << "/" << i.name;
      EXPECT_EQ(op->instruction, &i) << op->name;
    }
  }
}

TEST(Operation, NativeWhereTheManualSaysSo) {
  EXPECT_TRUE(IsNative(*FindOperation("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32")));
  EXPECT_FALSE(IsNative(*FindOperation("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32")));
  EXPECT_TRUE(IsNative(*FindOperation("sm_90/wgmma.m64n256k16.f32.f16.f16")));
  EXPECT_TRUE(IsNative(*FindOperation("x86/vdpbf16ps")));
  EXPECT_TRUE(IsNative(*FindOperation("sm_80/wmma.m8n8k4.f64.f64.f64.f64")));
  EXPECT_FALSE(IsNative(*FindOperation("sm_90/wmma.m8n8k32.s32.s4.s4.s32")));
  EXPECT_FALSE(IsNative(*FindOperation("sm_80/wmma.m16n16k16.f32.f16.f16.f32")));
  EXPECT_TRUE(IsNative(*FindOperation("sm_103/fma.rm.f64")));
  EXPECT_FALSE(IsNative(*FindOperation("sm_100/mma.m16n8k16.f32.e5m2.e4m3.f32")));
}

TEST(Numerics, UnknownOperationsRefuse) {
  for (const UnknownNumerics& u : AllUnknown()) {
    const std::string name = std::string(u.arch) + "/" + u.instruction;
    EXPECT_EQ(FindOperation(name), nullptr) << name;
    EXPECT_EQ(WhyNoOperation(name),
              "'" + name + "' exists, but cannot be simulated: " + Text(u.evidence));
  }
}

// Of gfx950 5 of f32, 2 of f64, 14 of f16 and bf16, 8 of fp8 and bf8, f8f6f4 in two shapes, scaled or
// not; of gfx1200 4 of fp8 and bf8.
TEST(Unmodelled, WhatADeviceCanBeAsked) {
  constexpr int kCdna4 = 5 + 2 + 14 + 8 + 4 * 25;
  EXPECT_THAT(UnmodelledOperations(), SizeIs(kCdna4 + 4));
  std::set<std::string> unknown;
  for (const UnknownNumerics& u : AllUnknown()) unknown.insert(u.arch + ("/" + u.instruction));
  for (const Operation& op : UnmodelledOperations()) {
    SCOPED_TRACE(op.name);
    EXPECT_TRUE(unknown.contains(op.name));
    EXPECT_FALSE(IsModelled(op));
    EXPECT_EQ(op.numerics->evidence.grade, Grade::kUnknown);
    EXPECT_EQ(op.numerics->nan_verdict, NanVerdict::kAnyNan);
    EXPECT_EQ(FindUnmodelled(op.name), &op);
    EXPECT_EQ(FindOperation(op.name, Models::kOptional), &op);
    EXPECT_EQ(FindOperation(op.name), nullptr);
    EXPECT_THAT(MatchOperations(op.name), IsEmpty());
    EXPECT_STREQ(op.model.d.name, op.instruction->d->name);
    EXPECT_EQ(op.model.k, op.shape().k);
    EXPECT_EQ(WhyInvalid(op.model), "there is no model");
    EXPECT_EQ(Describe(op.model.algorithm), "no model");
    EXPECT_THAT(Neighbours(op.model), IsEmpty());
  }
  for (const Operation& op : Operations()) EXPECT_TRUE(IsModelled(op)) << op.name;
}

// What questions start from can be simulated; each line is of somebody, and no two of one. There is
// none for products of 8 bits on RDNA4.
TEST(Unmodelled, Hypotheses) {
  std::set<const Hypothesis*> used;
  for (const Operation& op : UnmodelledOperations()) {
    SCOPED_TRACE(op.name);
    const Hypothesis* const h = HypothesisOf(op);
    const auto of_it = std::ranges::count_if(Hypotheses(), [&](const Hypothesis& other) {
      return MatchesAny(other.archs, std::string(op.arch())) &&
             MatchesAny(other.instructions, op.instruction->name);
    });
    EXPECT_EQ(of_it, op.arch() == "gfx1200" ? 0 : 1);
    if (h == nullptr) continue;
    used.insert(h);
    EXPECT_EQ(WhyInvalid(WithAlgorithm(op, h->algorithm(*op.instruction))), "");
    EXPECT_STRNE(h->text, "");
  }
  EXPECT_THAT(used, SizeIs(Hypotheses().size()));
  EXPECT_EQ(HypothesisOf(*FindOperation(kHopper)), nullptr);
}

TEST(Unmodelled, AliasesAndGlobs) {
  EXPECT_EQ(FindUnmodelled("rdna4/v_wmma_f32_16x16x16_fp8_fp8"),
            FindUnmodelled("gfx1200/v_wmma_f32_16x16x16_fp8_fp8"));
  EXPECT_NE(FindUnmodelled("rdna4/v_wmma_f32_16x16x16_fp8_fp8"), nullptr);
  EXPECT_EQ(FindUnmodelled(kHopper), nullptr);
  EXPECT_EQ(FindOperation(kHopper, Models::kOptional), FindOperation(kHopper));
  EXPECT_THAT(
      Names(MatchOperations("gfx1200/v_wmma_f32_16x16x16_[bf]*", Models::kOptional)),
      ElementsAre("gfx1200/v_wmma_f32_16x16x16_f16", "gfx1200/v_wmma_f32_16x16x16_bf16",
                  "gfx1200/v_wmma_f32_16x16x16_f16.wave64",
                  "gfx1200/v_wmma_f32_16x16x16_bf16.wave64", "gfx1200/v_wmma_f32_16x16x16_fp8_fp8",
                  "gfx1200/v_wmma_f32_16x16x16_fp8_bf8", "gfx1200/v_wmma_f32_16x16x16_bf8_fp8",
                  "gfx1200/v_wmma_f32_16x16x16_bf8_bf8"));
}

// What has no line has no shape.
TEST(Unmodelled, NotWithoutALineOfTheArchitecture) {
  for (const char* name : {"gfx950/v_mfma_f32_16x16x8_xf32", "tpu_v2/mxu.f32.bf16.bf16.f32",
                           "sm_80/mma.sp.m16n8k32.f32.f16.f16.f32", "sm_90/none", "nowhere"}) {
    EXPECT_EQ(FindUnmodelled(name), nullptr) << name;
  }
}

TEST(UnmodelledDeathTest, NothingIsSimulated) {
  const Operation& op = *FindUnmodelled("gfx1200/v_wmma_f32_16x16x16_fp8_fp8");
  const DotProductCase dot = {std::vector<uint64_t>(op.shape().k),
                              std::vector<uint64_t>(op.shape().k), 0};
  const Batch batch = MakeDotProductBatch(op.shape(), {dot});
  std::vector<uint64_t> d(1);
  const char* const why = "an operation without a model cannot be simulated";
  EXPECT_DEATH(Simulate(op.model, batch, d), why);
  EXPECT_DEATH(Simulate(op.model, dot), why);
  EXPECT_DEATH(TraceStages(op.model, dot), why);
}

TEST(Numerics, EvidenceIsGiven) {
  for (const Numerics& n : AllNumerics()) {
    SCOPED_TRACE(std::string(n.arch) + "/" + n.instruction->name);
    EXPECT_STRNE(n.evidence.text, "");
    EXPECT_STRNE(Name(n.evidence.grade), "?");
    const bool has_file = *n.evidence.file != '\0';
    EXPECT_TRUE(has_file || n.evidence.grade != Grade::kMeasured);
    // Tests run in the repository root.
    EXPECT_TRUE(!has_file || std::filesystem::exists(n.evidence.file)) << n.evidence.file;
  }
}

TEST(Operations, ModelsAreValid) {
  for (const Operation& op : Operations()) {
    SCOPED_TRACE(op.name);
    EXPECT_EQ(WhyInvalid(op.model), "");
    EXPECT_EQ(op.model.k, op.instruction->shape.k);
    const int terms = op.model.algorithm.terms;
    EXPECT_TRUE(op.model.k % terms == 0 || op.model.k < terms);
    const bool integer = op.model.algorithm.family == Family::kIntegerDot;
    for (const Format* f : {&op.model.a, &op.model.b, &op.model.c, &op.model.d}) {
      EXPECT_TRUE(IsAbsent(*f) || IsInteger(*f) == integer) << f->name;
    }
    // A chain starts from the addend as if it were a result.
    if (op.model.algorithm.family == Family::kFmaChain) {
      EXPECT_STREQ(op.model.c.name, op.model.d.name);
    }
    // Results need an infinity, except those of conversions; integer results a sign.
    if (integer) {
      EXPECT_TRUE(op.model.d.is_signed);
    } else if (!op.instruction->is_conversion()) {
      EXPECT_EQ(op.model.d.nonfinite, Nonfinite::kIeee);
    }
  }
}

TEST(Operations, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const Operation& op : Operations()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_EQ(FindOperation(op.name), &op);
    EXPECT_EQ(op.name, std::string(op.arch()) + "/" + op.instruction->name);
  }
  EXPECT_EQ(FindOperation("sm_90"), nullptr);
  EXPECT_EQ(FindOperation(""), nullptr);
  EXPECT_EQ(FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f3"), nullptr);
}

TEST(Operations, Aliases) {
  const std::pair<const char*, const char*> aliases[] = {
      {"volta", "sm_70"},  {"turing", "sm_75"},     {"ampere", "sm_80"},         {"ada", "sm_89"},
      {"hopper", "sm_90"}, {"blackwell", "sm_100"}, {"rtx_blackwell", "sm_120"},
  };
  EXPECT_EQ(ResolveAlias("cdna3/x"), "gfx942/x");
  for (const auto& [alias, arch] : aliases) {
    EXPECT_EQ(ResolveAlias(alias), arch);
    EXPECT_EQ(ResolveAlias(std::string(alias) + "/x"), std::string(arch) + "/x");
    EXPECT_EQ(Names(MatchOperations(std::string(alias) + "/*")),
              Names(MatchOperations(std::string(arch) + "/*")));
    EXPECT_FALSE(MatchOperations(std::string(alias) + "/*").empty());
  }
  for (const char* other : {"", "hoppe/x", "hopper2/x", "x86", "x/hopper", "Hopper/x"}) {
    EXPECT_EQ(ResolveAlias(other), other);
  }
  ASSERT_NE(FindOperation(kHopper), nullptr);
  EXPECT_EQ(FindOperation("hopper/mma.m16n8k16.f32.f16.f16.f32"), FindOperation(kHopper));
}

TEST(Operations, Globs) {
  EXPECT_THAT(MatchOperations("*"), SizeIs(Operations().size()));
  EXPECT_THAT(Names(MatchOperations("x86/vdpbf*s")), ElementsAre("x86/vdpbf16ps"));
  EXPECT_THAT(Names(MatchOperations("*6/[vt]*dpbusd")), ElementsAre("x86/vpdpbusd", "x86/tdpbusd"));
  EXPECT_THAT(Names(MatchOperations("sm_7[05]/mma.m8n8k4.f16*")),
              ElementsAre("sm_70/mma.m8n8k4.f16.f16.f16.f16", "sm_75/mma.m8n8k4.f16.f16.f16.f16"));
  EXPECT_THAT(Names(MatchOperations(kHopper)), ElementsAre(kHopper));
  EXPECT_THAT(MatchOperations("sm_9"), IsEmpty());
  EXPECT_THAT(MatchOperations(""), IsEmpty());
}

TEST(Operations, EveryLegalSizeIsFoundByName) {
  const Operation* table = FindOperation("sm_90/wgmma.m64n8k16.f32.f16.f16");
  ASSERT_NE(table, nullptr);
  for (int n = 0; n <= 264; ++n) {
    const std::string name = "sm_90/wgmma.m64n" + std::to_string(n) + "k16.f32.f16.f16";
    const Operation* op = FindOperation(name);
    ASSERT_EQ(op != nullptr, n >= 8 && n <= 256 && n % 8 == 0) << name;
    if (op == nullptr) continue;
    EXPECT_EQ(op, FindOperation("hopper" + name.substr(5)));
    EXPECT_EQ(op->name, name);
    EXPECT_EQ(op->shape(), (Shape{64, n, 16, 1}));
    EXPECT_TRUE(SameModel(op->model, table->model));
    EXPECT_THAT(MatchOperations(name), ElementsAre(op));
  }
  // Blackwell: m = 128 only with n a multiple of 16; integers skip some n.
  EXPECT_NE(FindOperation("sm_100/tcgen05.mma.m128n16k16.f32.f16.f16"), nullptr);
  EXPECT_EQ(FindOperation("sm_100/tcgen05.mma.m128n8k16.f32.f16.f16"), nullptr);
  EXPECT_NE(FindOperation("sm_90/wgmma.m64n24k32.s32.s8.s8"), nullptr);
  EXPECT_EQ(FindOperation("sm_90/wgmma.m64n40k32.s32.s8.s8"), nullptr);
  EXPECT_EQ(FindOperation("sm_90/wgmma.m064n8k16.f32.f16.f16"), nullptr);
  EXPECT_EQ(FindOperation("sm_90/mma.m16n16k16.f32.f16.f16.f32"), nullptr);
}

TEST(Operations, WhyThereIsNone) {
  EXPECT_THAT(WhyNoOperation("sm_75/mma.m16n8k16.f32.f16.f16.f32"),
              testing::ContainsRegex(
                  "; it exists on sm_80, (sm_[0-9]+, )*sm_90, (sm_[0-9]+, )*sm_120[,;]"));
  EXPECT_EQ(WhyNoOperation("hopper/wgmma.m64n12k16.f32.f16.f16"),
            "'sm_90/wgmma.m64n12k16.f32.f16.f16' has no such size; it has m = 64 and n = 8..256 in "
            "steps of 8");
  EXPECT_THAT(WhyNoOperation("cdna4/v_mfma_f32_16x16x16_f16"),
              testing::HasSubstr("exists, but cannot be simulated: CDNA4's arithmetic"));
  EXPECT_THAT(WhyNoOperation("sm_90/mma.m16n8k16.f32.f16.f16.f23"),
              testing::HasSubstr(std::string("nearest names: ") + kHopper));
  EXPECT_THAT(WhyNoOperation("unlisted/k4.f32.f32.f32.-"),
              testing::HasSubstr("is not in the tables and has no model"));
  EXPECT_THAT(WhyNoOperation("x86/vfma"), testing::HasSubstr("nearest names: x86/"));
  EXPECT_THAT(WhyNoOperation("x87/vdpbf16ps"), testing::HasSubstr("nearest names: x86/vdpbf16ps"));
  EXPECT_EQ(WhyNoOperation("A100/*"),
            "no instruction 'A100/*'; A100 is sm_80 (mmadiff list instructions)");
  EXPECT_EQ(WhyNoOperation("hoper/*"),
            "no instruction 'hoper/*'; nearest architectures: hopper (mmadiff list instructions)");
  EXPECT_EQ(WhyNoOperation("bf16"), "no instruction 'bf16'; '*bf16*' matches " +
                                        std::to_string(MatchOperations("*bf16*").size()) +
                                        " (mmadiff list instructions)");
  for (const char* name : {"", "xyzzy", "sm_90/none"}) {
    EXPECT_EQ(WhyNoOperation(name),
              std::string("no instruction '") + name + "' (mmadiff list instructions)");
  }
}

TEST(Operations, DistinctOperationsStandForAll) {
  const std::vector<const Operation*> distinct = DistinctOperations();
  EXPECT_LT(distinct.size(), Operations().size());
  for (const Operation& op : Operations()) {
    int same = 0;
    for (const Operation* other : distinct) same += SameModel(op.model, other->model);
    EXPECT_EQ(same, 1) << op.name;
  }
}

size_t PlainEditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, substituted});
    }
  }
  return row.back();
}

TEST(Operations, NearestIsByEditDistance) {
  std::mt19937 random(1);
  const auto text = [&random](size_t longest) {
    std::string s(random() % (longest + 1), ' ');
    for (char& c : s) c = "abc"[random() % 3];
    return s;
  };
  int near_ones = 0, far_ones = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = text(128);
    std::string edited = name;
    for (size_t edits = random() % (name.size() / 2 + 1); edits > 0; --edits) {
      edited[random() % edited.size()] = 'd';
    }
    const std::vector<std::string> two = {text(160), edited};
    const bool second = PlainEditDistance(name, two[1]) < PlainEditDistance(name, two[0]);
    const std::string& near = two[second];
    if (PlainEditDistance(name, near) <= std::max<size_t>(2, name.size() / 3)) {
      EXPECT_THAT(Nearest(name, two, 1), ElementsAre(near)) << name;
      ++near_ones;
    } else if (name.empty() || (two[0].rfind(name, 0) != 0 && two[1].rfind(name, 0) != 0)) {
      EXPECT_THAT(Nearest(name, two, 1), IsEmpty()) << name;
      ++far_ones;
    }
  }
  EXPECT_GT(near_ones, 100);
  EXPECT_GT(far_ones, 100);
}

// Steps that grow with both lengths would take hours here.
TEST(Operations, NearestToALongName) {
  const std::vector<std::string> names(1000, std::string(1000, 'y'));
  EXPECT_THAT(Nearest(std::string(10'000'000, 'x'), names, 1), IsEmpty());
}

TEST(Operations, Nearest) {
  const std::vector<std::string> names = {"kitten", "mitten", "sitting", "kit"};
  EXPECT_THAT(Nearest("kitten", names, 2), ElementsAre("kitten", "mitten"));
  EXPECT_THAT(Nearest("sittin", names, 4), ElementsAre("sitting", "kitten", "mitten"));
  EXPECT_THAT(Nearest("ki", names, 4), ElementsAre("kit", "kitten"));
  EXPECT_THAT(Nearest("xyzzy", names, 4), IsEmpty());
  EXPECT_THAT(Nearest("x", std::vector<std::string>{"y"}, 3), ElementsAre("y"));
  EXPECT_THAT(Nearest("x", {}, 3), IsEmpty());
}

TEST(Operations, WithAlgorithmKeepsTheRest) {
  const Operation& op = *FindOperation(kHopper);
  Algorithm changed = op.model.algorithm;
  changed.fraction_bits = 7;
  const Model model = WithAlgorithm(op, changed);
  EXPECT_EQ(model.algorithm, changed);
  EXPECT_EQ(model.k, 16);
  EXPECT_STREQ(model.a.name, "f16");
  EXPECT_STREQ(model.d.name, "f32");
  EXPECT_EQ(op.model.algorithm.fraction_bits, 25);
}

}  // namespace
}  // namespace mmadiff
