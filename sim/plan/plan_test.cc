#include "sim/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/plan/why_no_plan.h"
#include "sim/testing/plans.h"

namespace mmadiff {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string ErrorOf(const std::string& text) {
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  EXPECT_EQ(plan.has_value(), error.empty()) << text;
  return error;
}

Plan PlanOf(const std::string& text) {
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  EXPECT_TRUE(plan) << text << ": " << error;
  return plan.value_or(Plan());
}

TEST(PlanText, ParsesToTheSamePlan) {
  for (const auto& [kernel, text] : kKernelPlans) {
    const Plan plan = PlanOf(text);
    EXPECT_EQ(PlanText(plan), text) << kernel;
    EXPECT_EQ(PlanOf(PlanText(plan)), plan) << kernel;
  }
}

TEST(PlanText, OfEveryWord) {
  for (const std::string stages : {"every 3: add",
                                   "every 9 halved: add",
                                   "strided 4 of 1 unrolled 8: tree",
                                   "every 96 halved 16: add as bf16",
                                   "into 3 of 8: add held f16",
                                   "into 3 of 8 floor: tree",
                                   "into 3 of 8 even: pairs as f16 held bf16",
                                   "strided 4 of 2: fma (a*b)",
                                   "every 9 last 12: add",
                                   "every 9 fit: add",
                                   "strided 8 of 1: pairs 2 4 1 | tail 8 unfused",
                                   "tail 4",
                                   "at 1 5 70: fma a*b from zero as f64 held f32",
                                   "cut 8 | residue 3",
                                   "every 2: add from zero | every 8: add | into 2 of 8: tree",
                                   "every 2: fma alpha | every 8: add from c | tail 3",
                                   "every 8: add alpha from zero held f16",
                                   "every 8: fma alpha from beta*c",
                                   "every 8: add alpha from fma beta*c as bf16",
                                   "every 8: add from fma beta*c"}) {
    for (const std::string epilogue :
         {"f64", "alpha*sum | f32", "fma(alpha, sum, beta*c) + bias | bf16", "sum + beta*c | f16",
          "fma(beta, c, sum) | f32", "alpha*sum + beta*c | f32", "sum + bias | f32",
          "fma(beta, c, alpha*sum) + bias | f64", "(a*b)*sum | bf16", "b*(a*sum) + bias | bf16",
          "fma(a, b*sum, bias) | f16"}) {
      const std::string text = "sm_90/fma.rn.f32 | " + stages + " | " + epilogue;
      EXPECT_EQ(PlanText(PlanOf(text)), text);
    }
  }
  EXPECT_EQ(PlanText(PlanOf("sm_90/fma.rn.f32 from c | alpha*sum | f32")),
            "sm_90/fma.rn.f32 from c | alpha*sum | f32");
}

// Spaces, the order of options and of cut and residue, and aliases do not matter.
TEST(PlanText, IsOneOfSeveral) {
  const std::string text =
      "sm_90/fma.rn.f32 | cut 8 | residue 3 | every 4: add as f16 held f16 | f32";
  EXPECT_EQ(
      PlanText(PlanOf("  hopper/fma.rn.f32|residue 3|\tcut  8|every 4 :add held f16 as f16|f32 ")),
      text);
}

TEST(ParsePlan, FillsTheStruct) {
  const Plan plan = PlanOf(
      "sm_90/fma.rn.f32 | cut 8 | residue 3 | every 96 halved 16: add from zero | into 2 of 8 "
      "even: "
      "fma a*b as f16 held bf16 | alpha*sum + bias | f16");
  EXPECT_EQ(plan.operation, FindOperation("sm_90/fma.rn.f32"));
  EXPECT_EQ(plan.cut, 8);
  EXPECT_EQ(plan.residue, 3);
  EXPECT_FALSE(plan.from_c);
  ASSERT_EQ(plan.stages.size(), 2u);
  EXPECT_EQ(
      plan.stages[0].range,
      (PlanRange{
          .kind = PlanRange::Kind::kEvery, .size = 96, .halved = true, .unit = 16, .at = {}}));
  EXPECT_EQ(plan.stages[0].join,
            (PlanJoin{.kind = PlanJoin::Kind::kAdd, .start = PlanJoin::Start::kZero}));
  EXPECT_EQ(plan.stages[1].range, (PlanRange{.kind = PlanRange::Kind::kInto,
                                             .size = 8,
                                             .count = 2,
                                             .share = PlanRange::Share::kEven,
                                             .at = {}}));
  EXPECT_EQ(plan.stages[1].join,
            (PlanJoin{.kind = PlanJoin::Kind::kScaledInTurns, .as = &kF16, .held = &kBf16}));
  EXPECT_EQ(plan.epilogue, (Epilogue{.alpha = true, .bias = true, .format = &kF16}));
  const Plan other = PlanOf(
      "sm_90/fma.rn.f32 | every 8: add alpha from fma beta*c | fma ( beta,c,sum )+bias | f32");
  EXPECT_EQ(other.stages[0].join,
            (PlanJoin{.kind = PlanJoin::Kind::kAlpha, .start = PlanJoin::Start::kFusedBetaC}));
  EXPECT_EQ(
      other.epilogue,
      (Epilogue{.beta = true, .bias = true, .fused = Epilogue::Fused::kBeta, .format = &kF32}));
  EXPECT_EQ(PlanOf("sm_90/fma.rn.f32 | sum | f32"), PlanOf("sm_90/fma.rn.f32 | f32"));
}

// A leading $ is an operation.
struct Wrong {
  const char *text, *message;
};
constexpr Wrong kWrong[] = {
    {"", "a plan has an instruction and the format of D"},
    {"sm_90/fma.rn.f32", "a plan has an instruction and the format of D"},
    {"| f32", "no instruction ''"},
    {"sm_90/fma.rn.f33 | f32", "nearest names: sm_90/fma.rn.f32"},
    {"fma.rn.f32 | f32", "no instruction 'fma.rn.f32'"},
    {"$ from | f32", "$ begins with +0, or \"from c\""},
    {"$ from zero | f32", "$ begins with +0, or \"from c\""},
    {"$ c | f32", "nothing may follow the operation but \"unfused\" and"},
    {"$ from c c | f32", "nothing may follow the operation but \"unfused\" and"},
    {"$ | | f32", "every 128: add"},
    {"$ | every 128 | f32", "every 128: add"},
    {"$ | : add | f32", "every, into, strided or at"},
    {"$ | tail | f32", "a positive integer must follow \"tail\""},
    {"$ | tail 4 fused | f32", "nothing may follow \"tail N\" but \"unfused\""},
    {"$ | every 8 last 8: add | f32", "M is more than N"},
    {"$ | every 8: pairs 1 2 | f32", "each power of two below S once"},
    {"$ | each 128: add | f32", "\"each\" is not a range: every, into, strided or at"},
    {"$ | every: add | f32", "a positive integer must follow \"every\""},
    {"$ | every 0: add | f32", "a positive integer must follow \"every\", not \"0\""},
    {"$ | every -1: add | f32", "not \"-1\""},
    {"$ | every 1.5: add | f32", "not \"1.5\""},
    {"$ | every 12k: add | f32", "not \"12k\""},
    {"$ | every 2000000000000: add | f32", "not \"2000000000000\""},
    {"$ | every 99999999999999999999: add | f32", "not \"99999999999999999999\""},
    {"$ | every 8 halved no: add | f32", "a positive integer must follow \"halved\""},
    {"$ | every 8 floor: add | f32", "\"floor\" is not expected in a range"},
    {"$ | every 8 8: add | f32", "\"8\" is not expected in a range"},
    {"$ | into 3: add | f32", "the form is \"into S of G\""},
    {"$ | into 3 of: add | f32", "a positive integer must follow \"of\""},
    {"$ | into of 3: add | f32", "a positive integer must follow \"into\""},
    {"$ | into 1048577 of 1: add | f32", "at most 1048576 ranges"},
    {"$ | into 3 of 8 floor even: add | f32", "\"even\" is not expected in a range"},
    {"$ | strided 3: add | f32", "the form is \"strided S of G\""},
    {"$ | strided 3 of 8 even: add | f32", "\"even\" is not expected in a range"},
    {"$ | at: add | f32", "a positive integer must follow \"at\""},
    {"$ | at 0: add | f32", "a positive integer must follow \"at\", not \"0\""},
    {"$ | at 8 x: add | f32", "a positive integer must follow \"at\", not \"x\""},
    {"$ | at 8 8: add | f32", "the k after \"at\" must increase"},
    {"$ | every 8: | f32", "add, fma (a*b), fma a*b, add alpha, fma alpha, tree, pairs"},
    {"$ | every 8: sum | f32", "\"sum\" is not a join: add, fma (a*b), fma a*b, add alpha"},
    {"$ | every 8: fma | f32", "the factor of fma is (a*b), a*b or alpha"},
    {"$ | every 8: fma b*a | f32", "the factor of fma is (a*b), a*b or alpha"},
    {"$ | every 8: fma beta | f32", "the factor of fma is (a*b), a*b or alpha"},
    {"$ | every 8: add from | f32", "a join begins \"from zero\", \"from c\", \"from beta*c\" or"},
    {"$ | every 8: add from fma c | f32", "a join begins \"from zero\", \"from c\""},
    {"$ | every 8: add from fma zero | f32", "a join begins \"from zero\", \"from c\""},
    {"$ | every 8: add in f16 | f32", "\"in\" is not an option of a join: from, as, held"},
    {"$ | every 8: add as | f32",
     "a format must follow \"as\": f64, f32, f16, bf16, e4m3, e5m2 or s32"},
    {"$ | every 8: add held e2m1 | f32", "a format must follow \"held\": f64, f32, f16, bf16"},
    {"$ | every 8: add as s32 | f32", "sums in f32 cannot be rounded to s32"},
    {"$ | every 8: add as f16 as bf16 | f32", "\"as\" may stand once"},
    {"$ | every 8: add held f16 held f16 | f32", "\"held\" may stand once"},
    {"$ | every 8: add from zero from c | f32", "\"from\" may stand once"},
    {"$ | every 8: tree from zero | f32", "a tree has no first sum: leave out \"from\""},
    {"$ | every 8: pairs from c | f32", "a tree has no first sum: leave out \"from\""},
    {"$ | every 8: fma alpha from fma beta*c | f32", "is for add and add alpha"},
    {"$ | every 8: fma a*b from fma beta*c | f32", "is for add and add alpha"},
    {"$ | every 8: add from c | every 64: add | f32", "only the last join may begin with C"},
    {"$ | every 8: add from beta*c | tail 4 | every 64: add | f32", "only the last join may"},
    {"$ | fma(beta, c, sum) | every 8: add | f32", "a result is before the format"},
    {"$ | sum + bias | alpha*sum | f32", "a result is before the format"},
    {"$ | beta*sum | f32", "nor a result: sum; alpha*sum; sum + beta*c; fma("},
    {"$ | sum + bias + bias | f32", "\"sum + bias + bias\" is neither a stage"},
    {"$ | beta*c + sum | f32", "nor a result"},
    {"$ | alpha | f32", "\"alpha\" is neither a stage, a range"},
    {"$ | alpha*sum", "the last part is the format of D"},
    {"sm_80/mma.m16n8k16.s32.s8.s8.s32 | every 8: add from c | s32", "can only be added"},
    {"$ | residue | f32", "a positive integer must follow \"residue\""},
    {"$ | residue 3 4 | f32", "nothing may follow \"residue N\""},
    {"$ | residue 3 | residue 3 | f32", "\"residue\" may stand once"},
    {"$ | cut x | f32", "a positive integer must follow \"cut\", not \"x\""},
    {"$ | cut 8 | cut 8 | f32", "\"cut\" may stand once"},
    {"$ | cut 8: add | f32", "a positive integer must follow \"cut\", not \"8:\""},
    {"$ |", "the last part is the format of D; a format must follow"},
    {"$ | every 8: add", "the last part is the format of D"},
    {"$ | e2m1", "f64, f32, f16, bf16, e4m3, e5m2 or s32, not \"e2m1\""},
    {"$ | alpha f32", "the last part is the format of D"},
    {"$ | f32 f32", "nothing may follow the format of D"},
    {"$ | f32 |", "every 128: add"},
    // What no row executes.
    {"$ from c | every 8: add | f32", "\"from c\" allows no stage that joins"},
    {"$ | s32", "sums in f32 do not become integers"},
    {"sm_70/mma.m8n8k4.f32.f16.f16.f16 | f32",
     "cannot be chained along k: its result is f32, but its addend is f16"},
    {"gfx942/v_smfmac_f32_16x16x32_f16 | f32", "v_smfmac_f32_16x16x32_f16"},
    {"sm_80/mma.m16n8k16.s32.s8.s8.s32 | f32", "integer sums keep their format s32"},
    {"sm_80/mma.m16n8k16.s32.s8.s8.s32 | f64", "integer sums keep their format s32"},
    {"sm_80/mma.m16n8k16.s32.s8.s8.s32 | alpha*sum | s32", "integer sums keep their format s32"},
    {"sm_80/mma.m16n8k16.s32.s8.s8.s32 | every 8: tree | s32", "integer sums can only be added"},
    {"sm_80/mma.m16n8k16.s32.s8.s8.s32 | every 8: add as s32 | s32",
     "integer sums can only be added"},
    {"sm_80/mma.m16n8k16.f16.f16.f16.f16 | every 8: add | f32",
     "sums in f16 must keep that format"},
    {"sm_80/mma.m16n8k16.f16.f16.f16.f16 | sum + bias | bf16", "sums in f16 must keep that format"},
};

// The message names what is wrong, and what would be right.
TEST(ParsePlan, Errors) {
  for (const Wrong& w : kWrong) {
    std::string text = w.text, message = w.message;
    if (text.starts_with('$')) text.replace(0, 1, "sm_90/fma.rn.f32");
    if (message.starts_with('$')) message.replace(0, 1, "an operation");
    const std::string error = ErrorOf(text);
    EXPECT_THAT(error, HasSubstr(message)) << text;
    EXPECT_THAT(error, Not(HasSubstr("\n"))) << text;
  }
}

TEST(WhyNoPlan, IsEmptyFor) {
  for (const char* text :
       {"sm_80/mma.m16n8k16.s32.s8.s8.s32 | every 8: add | s32", "x86/vpdpbusd from c | s32",
        "sm_80/mma.m16n8k256.s32.b1.b1.s32.xor.popc | s32",
        "sm_80/mma.m16n8k16.f16.f16.f16.f16 | every 8: add | fma(alpha, sum, beta*c) + bias | f16",
        "sm_80/mma.m16n8k16.f16.f16.f16.f16 | f32", "sm_90/fma.rn.f64 | every 8: add as f32 | f16",
        "sm_90/fma.rn.f32 from c | residue 3 | cut 4 | alpha*sum + bias | f64"}) {
    EXPECT_EQ(ErrorOf(text), "") << text;
  }
}

// "0-16 24-32; 16-24": parts and their pieces, each from its first k to the one after its last.
std::string TextOf(const std::vector<Pieces>& parts) {
  std::string text;
  for (const Pieces& part : parts) {
    if (!text.empty()) text += ';';
    EXPECT_FALSE(part.empty());
    for (const Piece& p : part) {
      text += (text.empty() ? "" : " ") + std::to_string(p.first) + '-' + std::to_string(p.end);
    }
  }
  return text;
}

PlanRange RangeOf(const std::string& range) {
  return PlanOf("sm_90/fma.rn.f32 | " + range + ": add | f32").stages.at(0).range;
}

struct Division {
  const char* range;
  int64_t k;
  const char* parts;
};
constexpr Division kDivisions[] = {
    {"every 4", 0, ""},
    {"every 4", 1, "0-1"},
    {"every 4", 4, "0-4"},
    {"every 4", 9, "0-4; 4-8; 8-9"},
    {"every 1099511627776", 5, "0-5"},
    // 33 = 16 + 17: half of 33 is 16, which is a multiple.
    {"every 32 last 40", 40, "0-40"},
    {"every 32 last 40", 41, "0-32; 32-41"},
    {"every 32 last 40", 72, "0-32; 32-72"},
    {"every 32 fit", 32, "0-32"},
    {"every 32 fit", 33, "0-16; 16-32; 32-33"},
    {"every 32 fit", 40, "0-20; 20-40"},
    {"every 32 fit", 64, "0-32; 32-64"},
    {"every 32 halved", 32, "0-32"},
    {"every 32 halved", 37, "0-19; 19-37"},
    {"every 32 halved", 100, "0-32; 32-64; 64-82; 82-100"},
    {"strided 2 of 1 unrolled 4", 7, "0-1 2-3 4-7; 1-2 3-4"},
    {"strided 2 of 1 unrolled 4", 3, "0-3"},
    {"every 32 halved 16", 32, "0-32"},
    {"every 32 halved 16", 33, "0-16; 16-33"},
    {"every 32 halved 16", 40, "0-32; 32-40"},
    {"every 32 halved 16", 63, "0-32; 32-63"},
    {"every 32 halved 16", 64, "0-32; 32-64"},
    {"every 32 halved 16", 65, "0-32; 32-48; 48-65"},
    {"every 32 halved 16", 100, "0-32; 32-64; 64-96; 96-100"},
    {"every 448 halved 16", 1000, "0-448; 448-736; 736-1000"},
    {"every 4 halved 16", 7, "0-7"},
    {"every 10 halved 8", 11, "0-8; 8-11"},
    {"every 10 halved 8", 17, "0-8; 8-17"},
    {"every 10 halved 8", 19, "0-16; 16-19"},
    {"into 3 of 8", 0, ""},
    {"into 3 of 8", 7, "0-7"},
    {"into 3 of 8", 24, "0-8; 8-16; 16-24"},
    {"into 3 of 8", 25, "0-16; 16-25"},
    {"into 3 of 8", 49, "0-24; 24-48; 48-49"},
    {"into 4 of 1", 9, "0-3; 3-6; 6-9"},
    {"into 1 of 8", 49, "0-49"},
    {"into 3 of 8 floor", 0, ""},
    {"into 3 of 8 floor", 23, "0-23"},
    {"into 3 of 8 floor", 24, "0-8; 8-16; 16-24"},
    {"into 3 of 8 floor", 47, "0-8; 8-16; 16-47"},
    {"into 3 of 8 floor", 49, "0-16; 16-32; 32-49"},
    {"into 3 of 8 even", 0, ""},
    {"into 3 of 8 even", 5, "0-5"},
    {"into 3 of 8 even", 12, "0-8; 8-12"},
    {"into 3 of 8 even", 16, "0-8; 8-16"},
    {"into 3 of 8 even", 20, "0-8; 8-16; 16-20"},
    {"into 3 of 8 even", 30, "0-8; 8-16; 16-30"},
    {"into 3 of 8 even", 33, "0-16; 16-24; 24-33"},
    {"into 3 of 8 even", 41, "0-16; 16-32; 32-41"},
    {"strided 3 of 8", 0, ""},
    {"strided 3 of 8", 9, "0-8; 8-9"},
    {"strided 3 of 8", 41, "0-8 24-32; 8-16 32-40; 16-24 40-41"},
    {"strided 2 of 1", 5, "0-1 2-3 4-5; 1-2 3-4"},
    {"strided 1 of 4", 6, "0-4 4-6"},
    {"at 4", 4, "0-4"},
    {"at 4", 0, ""},
    {"at 4 6", 5, "0-4; 4-5"},
    {"at 1 4 6", 9, "0-1; 1-4; 4-6; 6-9"},
};

TEST(PartsOf, Ranges) {
  for (const auto& c : kDivisions) {
    Pieces all;
    if (c.k > 0) all.push_back({0, c.k});
    EXPECT_EQ(TextOf(PartsOf(RangeOf(c.range), all)), c.parts) << c.range << ", " << c.k;
  }
}

// Ranges count along the pieces.
TEST(PartsOf, Pieces) {
  const Pieces odd = {{0, 4}, {10, 16}, {20, 21}};  // 11 k
  EXPECT_EQ(TextOf(PartsOf(RangeOf("every 3"), odd)), "0-3; 3-4 10-12; 12-15; 15-16 20-21");
  EXPECT_EQ(TextOf(PartsOf(RangeOf("strided 2 of 3"), odd)), "0-3 12-15; 3-4 10-12 15-16 20-21");
  EXPECT_EQ(TextOf(PartsOf(RangeOf("at 4 10"), odd)), "0-4; 10-16; 20-21");
  EXPECT_EQ(TextOf(PartsOf(RangeOf("into 2 of 4 even"), odd)), "0-4; 10-16 20-21");
  EXPECT_EQ(TextOf(PartsOf(RangeOf("every 20"), odd)), "0-4 10-16 20-21");
  EXPECT_EQ(TextOf(PartsOf(RangeOf("every 2"), PartsOf(RangeOf("strided 8 of 1"), {{0, 30}})[3])),
            "3-4 11-12; 19-20 27-28");
}

TEST(PartsOf, Slices) {
  const Pieces odd = {{0, 4}, {10, 16}, {20, 21}};
  EXPECT_EQ(CountOf(odd), 11);
  EXPECT_EQ(CountOf({}), 0);
  EXPECT_EQ(Slice(odd, 0, 11), odd);
  EXPECT_THAT(Slice(odd, 2, 5), ElementsAre(Piece{2, 4}, Piece{10, 11}));
  EXPECT_THAT(Slice(odd, 10, 11), ElementsAre(Piece{20, 21}));
  EXPECT_THAT(Slice(odd, 4, 4), IsEmpty());
  EXPECT_THAT(Slice({}, 0, 0), IsEmpty());
}

// In time proportional to the number of ranges and of pieces.
TEST(PartsOf, HugeCounts) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(PartsOf(RangeOf("every 1099511627776"), {{0, huge}}).size(), 1u);
  EXPECT_EQ(PartsOf(RangeOf("every 1099511627775 halved 1099511627776"), {{0, huge}}).size(), 1u);
  for (const char* share : {"", " floor", " even"}) {
    const PlanRange range = RangeOf(std::string("into 1048576 of 1") + share);
    EXPECT_EQ(PartsOf(range, {{0, huge}}).size(), 1048576u);
    const size_t parts = *share == ' ' && share[1] == 'f' ? 1 : 5;
    EXPECT_EQ(PartsOf(range, {{0, 5}}).size(), parts);
  }
  for (const char* share : {"", " floor", " even"}) {
    const PlanRange range = RangeOf(std::string("into 1048576 of 1099511627776") + share);
    EXPECT_EQ(PartsOf(range, {{0, huge - 1}}).size(), 1u);
  }
  EXPECT_EQ(PartsOf(RangeOf("strided 1048576 of 1099511627776"), {{0, huge}}).size(), 1u);
  const std::vector<Pieces> lanes = PartsOf(RangeOf("strided 2 of 1"), {{0, 1 << 20}});
  EXPECT_EQ(PartsOf(RangeOf("every 4"), lanes.at(0)).size(), size_t{1} << 17);
}

TEST(MultiplyAddOf, IsThatOfTheArchitecture) {
  const auto of = [](const char* name) { return MultiplyAddOf(*FindOperation(name)); };
  const auto same = [](const Model& m, const char* name) {
    return SameModel(m, FindOperation(name)->model);
  };
  EXPECT_TRUE(same(of("sm_90/wgmma.m64n8k16.f32.f16.f16"), "sm_90/fma.rn.f32"));
  EXPECT_TRUE(same(of("sm_90/mma.m8n8k4.f64.f64.f64.f64"), "sm_90/fma.rn.f64"));
  EXPECT_TRUE(same(of("x86/tdpbf16ps"), "x86/vfmadd231ss"));
  EXPECT_TRUE(same(of("x86/vfmadd231sd"), "x86/vfmadd231sd"));
  for (const char* name :
       {"sm_80/mma.m16n8k16.f16.f16.f16.f16", "gfx942/v_mfma_f32_16x16x16_f16", "arm/bfdot"}) {
    const Model m = of(name), &op = FindOperation(name)->model;
    for (const Format* f : {&m.a, &m.b, &m.c, &m.d}) EXPECT_STREQ(f->name, op.d.name) << name;
    EXPECT_EQ(m.algorithm.family, Family::kFmaChain) << name;
    EXPECT_EQ(m.algorithm.output_rounding, Rounding::kNearestEven) << name;
    EXPECT_EQ(m.algorithm.nan_rule, op.algorithm.nan_rule) << name;
    EXPECT_EQ(m.k, 1) << name;
  }
}

}  // namespace
}  // namespace mmadiff
