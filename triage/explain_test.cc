#include "absl/strings/str_cat.h"
#include "device/plain_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/simulate.h"
#include "sim/stages.h"
#include "triage/divergence.h"
#include "triage/explain_text.h"
#include "triage/testing/device.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
constexpr char kAmpereBf16[] = "sm_80/mma.m16n8k8.f32.bf16.bf16.f32";

DotProductCase Dot(const Operation& op, std::vector<uint64_t> a, std::vector<uint64_t> b,
                   uint64_t c) {
  a.resize(op.model.k);
  b.resize(op.model.k);
  return {a, b, c};
}

Model Changed(const Operation& op, const std::string& change) {
  for (const Neighbour& n : Neighbours(op.model)) {
    if (Name(n) == change) return WithAlgorithm(op, n.algorithm);
  }
  ADD_FAILURE() << op.name << " has no neighbour " << change;
  return op.model;
}

Observed Planted(const Operation& op, const std::string& change, const DotProductCase& dot) {
  const uint64_t d = Simulate(Changed(op, change), dot);
  EXPECT_NE(d, Simulate(op.model, dot)) << change;
  return {dot, d};
}

struct PlantedCase {
  const char* op;
  const char* change;
  std::vector<uint64_t> a, b;
  uint64_t c;
  const char* signature;
};

TEST(Signature, PlantedNeighbours) {
  const PlantedCase cases[] = {
      {kHopper,
       "fraction_bits=24",
       {0x3c00},
       {0x3c00},
       0xb3000000,
       "aligned_term:fraction_bits=24"},
      {kHopper,
       "fraction_bits=26",
       {0x3c00},
       {0x3c00},
       0xb2800000,
       "aligned_term:fraction_bits=26"},
      {kHopper, "output_rounding=up", {0x0001}, {0x3c00}, 0x3f800000, "rounded:output_rounding=up"},
      {kHopper,
       "align_rounding=down",
       {0x3c00},
       {0x3c00},
       0xb2000000,
       "aligned_term:align_rounding=down"},
      {kHopper,
       "product_exponent=normalized",
       {0x0100},
       {0x3c00},
       0xab000000,
       "align_exponent:product_exponent=normalized"},
      {kHopper, "zero_term=raises", {}, {}, 0x24800000, "align_exponent:zero_term=raises"},
      {kHopper,
       "terms=8",
       {1, 0, 0, 0, 0, 0, 0, 0, 0x3c00},
       {0x3c00, 0, 0, 0, 0, 0, 0, 0, 0xbc00},
       0x3f800000,
       "product:terms=8"},
      {kHopper, "nan_rule=quiet_positive", {}, {}, 0x7fc00000, "special:nan_rule=quiet_positive"},
      // Of one dot product at the floor, one exponent less is one fraction bit more, and no floor
      // is no more than rounding down: those are preferred.
      {kAmpereBf16,
       "exponent_floor=-133",
       {0x0001, 0x0001},
       {0x3780, 0xb380},
       0,
       "aligned_term:fraction_bits=25"},
      {kAmpereBf16,
       "exponent_floor=none",
       {0x0001, 0x0001},
       {0x3780, 0xb300},
       0,
       "aligned_term:align_rounding=down"},
      {kAmpereBf16,
       "output_subnormals=flush",
       {},
       {},
       0x00400000,
       "rounded:output_subnormals=flush"},
      {"x86/vdpbf16ps",
       "order=ascending",
       {0x3380, 0x3f80},
       {0x3f80, 0xbf80},
       0x3f800000,
       "product:order=ascending"},
      {"x86/vdpbf16ps",
       "output_subnormals=keep",
       {0x0080},
       {0x3f00},
       0,
       "rounded:output_subnormals=keep"},
      {"x86/vdpbf16ps",
       "input_subnormals=keep",
       {0x0040},
       {0x4000},
       0,
       "product:input_subnormals=keep"},
      {"x86/vpdpbusds", "overflow=wrap", {0x01}, {0xff}, 0x80000000, "rounded:overflow=wrap"},
      {"x86/vpdpbusds", "terms=2", {1, 0, 1}, {0xff, 0, 0x01}, 0x80000000, "product:terms=2"},
  };
  for (const PlantedCase& c : cases) {
    const Operation& op = *FindOperation(c.op);
    const Observed observed = Planted(op, c.change, Dot(op, c.a, c.b, c.c));
    EXPECT_EQ(Name(BucketOf(op, {&observed, 1})), c.signature) << c.op << " " << c.change;
  }
}

// Of dot products that one change explains together, the one that shows that change on its own.
TEST(ElementInBucket, IsInTheBucketByItself) {
  const Operation& op = *FindOperation(kHopper);
  const DotProductCase same = Dot(op, {}, {}, 0x3f800000);
  const DotProductCase two_steps = Dot(op, {0x0001, 0, 0, 0, 0, 0, 0, 0, 0x3c00},
                                       {0x3c00, 0, 0, 0, 0, 0, 0, 0, 0xbc00}, 0x3f800000);
  const Observed first = {same, Simulate(op.model, same)};
  const Observed second = Planted(op, "terms=8", two_steps);
  const Observed unexplained = {same, 0x12345678};
  const std::vector<Observed> observed = {first, unexplained, second};
  EXPECT_EQ(
      ElementInBucket(op, observed, ParseBucket(op.model.algorithm.family, "product:terms=8")), 2);
  EXPECT_EQ(ElementInBucket(op, observed, Bucket::Unexplained(DifferenceClass::kUlps)), 1);
  EXPECT_EQ(ElementInBucket(op, observed, Bucket::Unexplained()), 1);  // the first that differs
  EXPECT_EQ(ElementInBucket(op, {&first, 1}, {}), 0);
}

// 1.0 - 2^-25: one fraction bit less, and rounding to nearest or up, all give 1.0.
TEST(ExplainingNeighbours, AllOfThemInOrder) {
  const Operation& op = *FindOperation(kHopper);
  const Observed observed =
      Planted(op, "fraction_bits=24", Dot(op, {0x3c00}, {0x3c00}, 0xb3000000));
  std::vector<std::string> names;
  for (const Neighbour& n : ExplainingNeighbours(op, {&observed, 1})) names.push_back(Name(n));
  EXPECT_EQ(names, (std::vector<std::string>{"fraction_bits=24", "output_rounding=nearest_even",
                                             "output_rounding=up", "addend_joins=last_add"}));
}

// A second observation leaves only the one that explains both.
TEST(ExplainingNeighbours, MustExplainEveryObservation) {
  const Operation& op = *FindOperation(kHopper);
  const DotProductCase both = Dot(op, {0x3c00}, {0x3c00}, 0xb3000000);
  const DotProductCase up_only = Dot(op, {0x0001}, {0x3c00}, 0x3f800000);
  const Observed observed[] = {Planted(op, "output_rounding=up", both),
                               Planted(op, "output_rounding=up", up_only)};
  const std::vector<Neighbour> explaining = ExplainingNeighbours(op, observed);
  ASSERT_EQ(explaining.size(), 1u);
  EXPECT_EQ(Name(explaining[0]), "output_rounding=up");
  EXPECT_EQ(Name(BucketOf(op, observed)), "rounded:output_rounding=up");
}

// Where the operation promises no payload, any NaN is explained by any model that gives a NaN.
TEST(ExplainingNeighbours, FollowTheNanRuleOfTheOperation) {
  Operation op = *FindOperation(kHopper);
  Numerics any = *op.numerics;
  const Observed observed = {Dot(op, {}, {}, 0x7fc00000), 0x7fc12345};
  EXPECT_TRUE(ExplainingNeighbours(op, {&observed, 1}).empty());
  EXPECT_EQ(Name(BucketOf(op, {&observed, 1})), "unexplained:nan_payload");
  any.nan_verdict = NanVerdict::kAnyNan;
  op.numerics = &any;
  EXPECT_FALSE(ExplainingNeighbours(op, {&observed, 1}).empty());
  EXPECT_EQ(BucketOf(op, {&observed, 1}), Bucket());
}

struct ClassCase {
  uint64_t c, device;  // the model's answer is c
  const char* signature;
};

TEST(Signature, ClassesOfUnexplainedDifferences) {
  const ClassCase cases[] = {
      {0x3f800000, 0x7fffffff, "unexplained:nan"},
      {0x7f800000, 0x7fffffff, "unexplained:nan"},
      {0x3f800000, 0x7f800000, "unexplained:infinity"},
      {0x7f800000, 0xff800000, "unexplained:infinity"},
      {0x00000000, 0x80000000, "unexplained:zero_sign"},
      {0x3f800000, 0xbf800000, "unexplained:sign"},
      {0x3f800000, 0x80000000, "unexplained:ulps"},
      {0x00000001, 0x80000000, "unexplained:1ulp"},
      {0x3f800000, 0x3f800001, "unexplained:1ulp"},
      {0x3f800000, 0x3f800002, "unexplained:ulps"},
  };
  const Operation& op = *FindOperation(kHopper);
  for (const ClassCase& c : cases) {
    const Observed observed = {Dot(op, {}, {}, c.c), c.device};
    ASSERT_EQ(Simulate(op.model, observed.dot), c.c);
    EXPECT_EQ(Name(BucketOf(op, {&observed, 1})), c.signature) << c.device;
  }
  const Operation& integer = *FindOperation("x86/vpdpbusd");
  const Observed observed = {Dot(integer, {}, {}, 5), 6};
  EXPECT_EQ(Name(BucketOf(integer, {&observed, 1})), "unexplained:integer");
}

// The first stage at which two models part.
std::string PartingStage(const Model& x, const Model& y, const DotProductCase& dot) {
  const std::vector<Event> ex = TraceStages(x, dot), ey = TraceStages(y, dot);
  const Event* event = FirstDivergence(ex, ey);
  return event == nullptr ? "none" : Name(event->stage);
}

TEST(FirstDivergence, OfTracesOfDifferentLength) {
  const Operation& op = *FindOperation(kHopper);
  const Model eight = Changed(op, "terms=8");
  const DotProductCase zero = Dot(op, {}, {}, 0);
  EXPECT_EQ(PartingStage(op.model, op.model, zero), "none");
  // Products of +0 are passed over: a second step has an alignment more, either way round.
  EXPECT_EQ(PartingStage(op.model, eight, zero), "align_exponent");
  EXPECT_EQ(PartingStage(eight, op.model, zero), "align_exponent");
  // Others are not: eight terms reach their alignment where sixteen have one more product.
  const DotProductCase ones =
      Dot(op, std::vector<uint64_t>(16, 0x3c00), std::vector<uint64_t>(16, 0x3c00), 0);
  EXPECT_EQ(PartingStage(op.model, eight, ones), "product");
  EXPECT_EQ(PartingStage(eight, op.model, ones), "product");
  // All of the first trace is in the second, which goes on with a second special step.
  const DotProductCase nan = Dot(op, {0x7e00}, {}, 0);
  EXPECT_EQ(PartingStage(op.model, eight, nan), "special");
  EXPECT_EQ(PartingStage(eight, op.model, nan), "special");
}

TEST(ExplainText, WholeTable) {
  const Operation& op = *FindOperation(kHopper);
  const Observed observed = Planted(op, "terms=8",
                                    Dot(op, {0x1000, 0, 0, 0, 0, 0, 0, 0, 0x3c00},
                                        {0x0800, 0, 0, 0, 0, 0, 0, 0, 0xbc00}, 0x3f800000));
  EXPECT_EQ(ExplainText(op, observed, {}),
            R"(stage                       model                    terms=8
step 0 product k=0          0x100000*2^-44 = 2^-24   =
step 0 product k=1..7       +0                       =
step 0 product k=8          -0x100000*2^-20 = -1.0   -                            <--
step 0 product k=9..15      +0                       -
step 0 align_exponent       2^0                      =
step 0 aligned_term addend  0x2000000*2^-25 = 1.0    =
step 0 aligned_term k=0     0x2*2^-25 = 2^-24        =
step 0 aligned_term k=8     -0x2000000*2^-25 = -1.0  -
step 0 sum                  0x2*2^-25 = 2^-24        0x2000002*2^-25 = 1 + 2^-24
step 0 rounded              0x33800000 = 2^-24       0x3f800000 = 1.0 inexact
step 1 product k=8          -                        -0x100000*2^-20 = -1.0
step 1 product k=9..15      -                        +0
step 1 align_exponent       -                        2^0
step 1 aligned_term addend  -                        0x2000000*2^-25 = 1.0
step 1 aligned_term k=8     -                        -0x2000000*2^-25 = -1.0
step 1 sum                  -                        +0
step 1 rounded              -                        0x00000000 = +0
result of model: 0x33800000 = 2^-24
device's answer: 0x00000000 = +0, same as terms=8
terms=8 reproduces the device's bits; first differing stage: product of k=8, in step 0 only in the model.
)");
}

TEST(ExplainText, NamesTheTermAndTheOtherExplanations) {
  const Operation& op = *FindOperation(kHopper);
  const std::string text =
      ExplainText(op, Planted(op, "fraction_bits=24", Dot(op, {0x3c00}, {0x3c00}, 0xb3000000)), {});
  EXPECT_THAT(
      text,
      HasSubstr(
          "fraction_bits=24 reproduces the device's bits; first differing stage: "
          "aligned_term of the addend.\n"
          "So do output_rounding=nearest_even, output_rounding=up, addend_joins=last_add.\n"));
  EXPECT_THAT(text, HasSubstr("aligned_term addend  -0x1*2^-25 = -2^-25             -0 inexact"));
}

// On 80 columns only the first change is beside the model.
TEST(ExplainText, NarrowTerminal) {
  const Operation& op = *FindOperation(kHopper);
  const Observed observed =
      Planted(op, "fraction_bits=24", Dot(op, {0x3c00}, {0x3c00}, 0xb3000000));
  EXPECT_THAT(ExplainText(op, observed, {.width = 80}),
              testing::StartsWith(
                  R"(stage                model                           fraction_bits=24
product k=0          0x100000*2^-20 = 1.0            =
product k=1..15      +0                              =
align_exponent       2^0                             =
aligned_term addend  -0x1*2^-25 = -2^-25             -0 inexact             <--
aligned_term k=0     0x2000000*2^-25 = 1.0           0x1000000*2^-24 = 1.0
sum                  0x1ffffff*2^-25 = 1 - 2^-25     0x1000000*2^-24 = 1.0
rounded              0x3f7fffff = 1 - 2^-24 inexact  0x3f800000 = 1.0
result of model: 0x3f7fffff = 1 - 2^-24
device's answer: 0x3f800000 = 1.0, same as fraction_bits=24,
  output_rounding=nearest_even, output_rounding=up and 1 more
)"));
}

// Equal stages of products that are not zero are one line too.
TEST(ExplainText, WhatAllHaveIsThereOnce) {
  const Operation& op = *FindOperation(kHopper);
  const std::vector<uint64_t> ones(16, 0x3c00);
  const std::string text =
      ExplainText(op, Planted(op, "fraction_bits=24", Dot(op, ones, ones, 0xb3000001)), {});
  EXPECT_THAT(text, HasSubstr("product k=0..15      (not shown)"));
  EXPECT_THAT(text, Not(HasSubstr("product k=3")));
}

TEST(ExplainText, IntegersInDecimal) {
  const Operation& op = *FindOperation("x86/vpdpbusds");
  EXPECT_EQ(ExplainText(op, Planted(op, "overflow=wrap", Dot(op, {1}, {0xff}, 0x80000000)), {}),
            R"(stage           model                             overflow=wrap
product k=0     -0x1 = -1                         =
product k=1..3  +0                                =
sum             -0x80000001 = -2147483649         =
rounded         0x80000000 = -2147483648 inexact  0x7fffffff = 2147483647 inexact  <--
result of model: 0x80000000 = -2147483648
device's answer: 0x7fffffff = 2147483647, same as overflow=wrap
overflow=wrap reproduces the device's bits; first differing stage: rounded.
)");
}

// A group of products has the range of its k, its value is that of the sum times the scales.
TEST(ExplainText, GroupsOfScaledSums) {
  const Operation& op = *FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  DotProductCase dot = {std::vector<uint64_t>(68, 0x38), std::vector<uint64_t>(68, 0x38),
                        0xae000000};
  std::fill_n(dot.a.begin(), 64, 0);
  std::fill_n(dot.b.begin(), 64, 0);
  dot.a[17] = dot.b[17] = 2;  // 1.0, in the second group
  dot.a[65] = 0x40;           // whose scale of A is 2.0, of B 0.5
  dot.b[65] = 0x30;
  EXPECT_EQ(
      ExplainText(op, Planted(op, "fraction_bits=34", dot), {}),
      R"(stage                          model                           fraction_bits=34         output_rounding=nearest_even  output_rounding=up
product k=0..15                +0                              =                        =                             =
product k=16..31               0x100*2^-8 = 1.0                =                        =                             =
product k=32..47 ... k=48..63  +0                              =                        =                             =
align_exponent                 2^0                             =                        =                             =
aligned_term addend            -0x1*2^-35 = -2^-35             -0 inexact               =                             =                         <--
aligned_term k=16..31          0x800000000*2^-35 = 1.0         0x400000000*2^-34 = 1.0  =                             =
sum                            0x7ffffffff*2^-35 = 1 - 2^-35   0x400000000*2^-34 = 1.0  =                             =
rounded                        0x3f7fffff = 1 - 2^-24 inexact  0x3f800000 = 1.0         0x3f800000 = 1.0 inexact      0x3f800000 = 1.0 inexact
result of model: 0x3f7fffff = 1 - 2^-24
device's answer: 0x3f800000 = 1.0, same as fraction_bits=34, output_rounding=nearest_even, output_rounding=up
fraction_bits=34 reproduces the device's bits; first differing stage: aligned_term of the addend.
So do output_rounding=nearest_even, output_rounding=up.
)");
}

// Both sums of a two-stage sum have their names, and the addend comes after the first.
TEST(ExplainText, TwoStageSums) {
  const Operation& op = *FindOperation("gfx942/v_mfma_f32_32x32x4_2b_f16");
  const Observed observed =
      Planted(op, "small_addend=dropped", Dot(op, {0x3c00}, {0x3c00}, 0xb2000000));
  EXPECT_EQ(
      ExplainText(op, observed, {}),
      R"(stage                model                         fraction_bits=25              sum_rounding=nearest_even  sum_rounding=toward_zero
product k=0          0x100000*2^-20 = 1.0          =                             =                          =
product k=1..3       +0                            =                             =                          =
aligned_term k=0     0x1000000*2^-24 = 1.0         0x2000000*2^-25 = 1.0         =                          =
sum of products      0x1000000*2^-24 = 1.0         0x2000000*2^-25 = 1.0         =                          =
align_exponent       2^0                           =                             =                          =
aligned_term addend  -0x1*2^-24 = -2^-24 inexact   -0x1*2^-25 = -2^-25 inexact   -0 inexact                 -0 inexact                <--
sum with addend      0xffffff00*2^-32 = 1 - 2^-24  0xffffff80*2^-32 = 1 - 2^-25  0x80000000*2^-31 = 1.0     0x80000000*2^-31 = 1.0
rounded              0x3f7fffff = 1 - 2^-24        0x3f800000 = 1.0 inexact      0x3f800000 = 1.0           0x3f800000 = 1.0
result of model: 0x3f7fffff = 1 - 2^-24
device's answer: 0x3f800000 = 1.0, same as fraction_bits=25, sum_rounding=nearest_even, sum_rounding=toward_zero and 3 more
fraction_bits=25 reproduces the device's bits; first differing stage: aligned_term of the addend.
So do sum_rounding=nearest_even, sum_rounding=toward_zero, sum_rounding=up, output_fraction_bits=22, small_addend=dropped.
)");
}

// The additions of a tree of pairs are numbered within their step.
TEST(ExplainText, PairwiseSums) {
  const Operation& op = *FindOperation("arm/bfmmla");
  const Observed observed =
      Planted(op, "output_rounding=toward_zero", Dot(op, {0x3f80}, {0x3f80}, 0x33000000));
  EXPECT_THAT(ExplainText(op, observed, {}),
              AllOf(ContainsRegex("step 0 sum +0x2000000000000000.2.-61 = 1.0 "),
                    ContainsRegex("step 0 summand #2 +0x800000.2.-48 = 2.-25 "),
                    ContainsRegex("step 0 sum #2 +0x2000001000000000.2.-61 = 1 . 2.-25 "),
                    ContainsRegex("step 0 rounded #2 +0x3f800001 = 1 . 2.-23 inexact [^\n]*<--\n"),
                    HasSubstr("first differing stage: rounded #2.\n")));
}

TEST(ExplainText, WithoutExplanationShowsTheModelsStages) {
  const Operation& op = *FindOperation(kHopper);
  const std::string text = ExplainText(op, {Dot(op, {0x3c00}, {0x3c00}, 0xb3000000), 0x12345}, {});
  EXPECT_THAT(text,
              AllOf(HasSubstr("reproduces the device's bits; the stages shown are the model's"),
                    HasSubstr("0x3f7fffff = 1 - 2^-24 inexact"),
                    HasSubstr("device's answer: 0x00012345"), Not(HasSubstr("<--"))));
}

// Of a half of the products a fold has not all between its first and last.
TEST(ExplainText, FoldsSayWhetherAllAreInThem) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.e4m3.e4m3.f32");
  const std::string text = ExplainText(op, {Dot(op, {0x38}, {0x38}, 0), 0x3f800000}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("step 0 product k=1 ... k=13 (7)"),
                          HasSubstr("step 1 product k=2 ... k=15 (8)"), Not(HasSubstr("..13"))));
}

TEST(ExplainText, NansThatAreNotPromisedAgree) {
  const Operation& op = *FindOperation("sm_80/mma.m8n8k4.f64.f64.f64.f64");
  const DotProductCase dot = Dot(op, {0x7ff8000000000001}, {0}, 0);
  EXPECT_THAT(ExplainText(op, {dot, 0xfff8000000000000}, {}),
              HasSubstr("agrees with the model: the table does not promise NaN bits.\n"));
  EXPECT_THAT(ExplainText(op, {dot, Simulate(op.model, dot)}, {}),
              HasSubstr("agrees with the model.\n"));
}

TEST(ExplainText, AgreementIsSaid) {
  const Operation& op = *FindOperation(kHopper);
  const std::string text = ExplainText(op, {Dot(op, {}, {}, 0x3f800000), 0x3f800000}, {});
  EXPECT_THAT(text, HasSubstr("The device agrees with the model."));
}

TEST(ExplainText, ColorMarksTheLine) {
  const Operation& op = *FindOperation("x86/vpdpbusds");
  const Observed observed = Planted(op, "overflow=wrap", Dot(op, {1}, {0xff}, 0x80000000));
  EXPECT_THAT(ExplainText(op, observed, {.color = true}),
              HasSubstr(absl::StrCat(kMarkBegin, "rounded ")));
  EXPECT_THAT(ExplainText(op, observed, {}), Not(HasSubstr(kMarkBegin)));
}

// Exactly one line is marked whenever a neighbour explains, of every model and neighbour.
TEST(ExplainText, OneMarkOfEveryModel) {
  std::mt19937_64 random(3);
  int seen = 0;
  for (const Operation* pointer : DistinctOperations()) {
    const Operation& op = *pointer;
    const Batch tile = RandomTile(op, DotProductShape(op.shape()), random);
    const DotProductCase dot = Extract(tile, 0);
    for (const Neighbour& n : Neighbours(op.model)) {
      const uint64_t d = Simulate(WithAlgorithm(op, n.algorithm), dot);
      if (SameResult(op, Simulate(op.model, dot), d)) continue;
      const std::string text = ExplainText(op, {dot, d}, {});
      ++seen;
      const size_t mark = text.find("<--");
      ASSERT_NE(mark, std::string::npos) << text;
      EXPECT_EQ(text.find("<--", mark + 1), std::string::npos) << text;
      EXPECT_THAT(text, Not(HasSubstr("No change")));
    }
  }
  EXPECT_GT(seen, 500);
}

}  // namespace
}  // namespace mmadiff
