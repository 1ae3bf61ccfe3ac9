#include "sim/plan/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "sim/plan/candidates.h"
#include "sim/plan/order.h"
#include "sim/plan/random_matrix.h"
#include "sim/plan/region_finder.h"

namespace mmadiff {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

Plan PlanOf(const std::string& text) {
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  EXPECT_TRUE(plan) << text << ": " << error;
  return plan.value_or(Plan{});
}

int BitsOf(const Format& f) { return f.bits <= 8 ? 8 : f.bits <= 16 ? 16 : f.bits <= 32 ? 32 : 64; }

// Random operands for a plan, and the plan's result.
class Multiplied {
 public:
  Multiplied(const Plan& plan, int64_t m, int64_t n, int64_t k, uint64_t seed = 1,
             int64_t scale_block = 0, uint64_t beta = 0x3eaaaaab)
      : bits_(BitsOf(*plan.epilogue.format)) {
    const Model& model = plan.operation->model;
    a_ = RandomMatrix(model.a, BitsOf(model.a), seed, m * k);
    b_ = RandomMatrix(model.b, BitsOf(model.b), seed + 1, k * n);
    q.m = m, q.n = n, q.k = k;
    q.a = {a_.data(), k, 1, BitsOf(model.a)};
    q.b = {b_.data(), n, 1, BitsOf(model.b)};
    q.a_format = &plan.operation->model.a;
    q.b_format = &plan.operation->model.b;
    const auto more = [&](const Format& f, int64_t count) {
      more_.push_back(RandomMatrix(f, BitsOf(f), ++seed + 1, count));
      return more_.back().data();
    };
    if (ReadsC(plan)) q.c = {more(model.d, m * n), n, 1, BitsOf(model.d)};
    if (plan.epilogue.bias) q.bias = {more(model.d, n), n, 1, BitsOf(model.d)};
    if (ReadsScales(plan)) {
      const int64_t across = std::max<int64_t>(1, (k + scale_block - 1) / scale_block);
      q.scale_a = {{more(model.d, m * across), across, 1, 32}, 1, scale_block};
      q.scale_b = {{more(model.d, n * across), across, 1, 32}, 1, scale_block};
    }
    if (model.scale_block != 0) {
      const int64_t across = (k + model.scale_block - 1) / model.scale_block;
      q.block_scale_a = {{more(model.scale, m * across), across, 1, 8}, 1, model.scale_block};
      q.block_scale_b = {{more(model.scale, n * across), across, 1, 8}, 1, model.scale_block};
    }
    q.alpha = 0x3fc00000, q.beta = beta;  // 1.5
    d_.resize(m * n * (bits_ / 8));
    Execute(plan, q, out());
  }
  Words d() const { return {d_.data(), q.n, 1, bits_}; }
  MutableWords out() { return {d_.data(), q.n, 1, bits_}; }

  Matrices q;

 private:
  int bits_;
  std::vector<unsigned char> a_, b_, d_;
  std::vector<std::vector<unsigned char>> more_;
};

// Finds a plan from its own result.
FoundPlans Found(const Plan& plan, int64_t m, int64_t n, int64_t k,
                 const std::vector<std::string>& instructions) {
  const Multiplied made(plan, m, n, k);
  std::vector<const Operation*> ops;
  for (const std::string& name : instructions) ops.push_back(FindOperation(name));
  const Format& format = *plan.epilogue.format;
  return FindPlans(made.q, made.d(), format, CandidatePlans(ops, k, format));
}

constexpr char kF16[] = "sm_90/wgmma.m64n8k16.f32.f16.f16";
constexpr char kFp8[] = "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3";
constexpr char kFma[] = "x86/vfmadd231ss";

TEST(FindPlans, NamesThePlan) {
  const struct {
    std::string plan;
    int64_t m, n, k;
  } cases[] = {
      {std::string(kF16) + " | f16", 64, 64, 1000},
      {std::string(kF16) + " | into 3 of 64: add | f16", 64, 64, 2048},
      {std::string(kF16) + " | into 5 of 64 even: add | f32", 32, 32, 2048},
      {std::string(kF16) + " | strided 4 of 64: add | f16", 64, 64, 2048},
      {std::string(kF16) + " | residue 32 | into 4 of 64: add held f16 | f16", 64, 64, 2056},
      {std::string(kFp8) + " | every 128: add | bf16", 96, 96, 4096},
      {std::string(kFma) + " | every 448 halved 16: add | f32", 40, 40, 1000},
      {std::string(kFma) + " | strided 2 of 1 unrolled 8: add | every 320 halved 8: add | f32", 24,
       24, 1000},
      {std::string(kFma) + " unfused | every 256: add | f32", 24, 24, 1000},
      {std::string(kFma) + " | strided 16 of 1: tree | f32", 16, 16, 1000},
      {"x86/vfmadd231sd | every 256 halved 4: add | f64", 16, 16, 1000},
  };
  for (const auto& [text, m, n, k] : cases) {
    const Plan plan = PlanOf(text);
    const FoundPlans found = Found(plan, m, n, k, {plan.operation->name});
    EXPECT_GE(found.tried, plan.epilogue.format->bits == 16 ? 286 : 100) << text;
    ASSERT_THAT(found.plans, SizeIs(1)) << text;
    // Perhaps by another name: "into 3 of 32" and "into 3 of 64" are one for some k.
    EXPECT_EQ(OrderAt(found.plans[0], k), OrderAt(plan, k)) << text;
    EXPECT_EQ(found.plans[0].unfused, plan.unfused);
  }
}

// A 16-bit result tells plans apart in few elements; those nearest to a rounding boundary are enough.
TEST(FindPlans, FewElementsOfSixteenBitsDecide) {
  const std::string text = std::string(kF16) + " | into 3 of 64: add | bf16";
  const FoundPlans found =
      Found(PlanOf(text), 128, 128, 4096,
            {kF16, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "gfx942/v_mfma_f32_16x16x16_f16"});
  ASSERT_THAT(found.plans, SizeIs(1));
  EXPECT_EQ(PlanText(found.plans[0]), text);
  int64_t rejected = 0;
  for (const Witness& w : found.witnesses) rejected += w.rejected;
  EXPECT_EQ(rejected, found.tried - 1);
}

// A 16-bit D, too, where wrong elements are compared first and most plans give nearly all others.
TEST(FindPlans, SeesOneWrongElementOfSixteenBits) {
  const std::string rows[] = {" | f16", " | into 3 of 64: add | f16"};
  for (const std::string& rest : rows) {
    for (const uint64_t seed : {1, 2, 3, 4}) {
      const Plan plan = PlanOf(kF16 + rest);
      Multiplied made(plan, 128, 100, 512, seed);
      Store(made.out(), 77, 88, Load(made.d(), 77, 88) + 1);
      const FoundPlans found = FindPlans(made.q, made.d(), mmadiff::kF16,
                                         CandidatePlans({&plan.operation, 1}, 512, mmadiff::kF16));
      EXPECT_THAT(found.plans, SizeIs(0));
      EXPECT_EQ(OrderAt(found.nearest, 512), OrderAt(plan, 512))
          << PlanText(found.nearest) << ' ' << found.differing;
      EXPECT_EQ(found.differing, 1);
      EXPECT_EQ(found.first, (MatrixElement{77, 88}));
    }
  }
}

// Without products, scales decide the signs of zeros.
TEST(FindPlans, ScalesRowsWithoutProducts) {
  const Plan plan = PlanOf(std::string(kFma) + " | (a*b)*sum | f32");
  Multiplied made(plan, 4, 3, 0, 1, 1);
  const float signs[] = {1, -1, 1, -1}, ones[] = {1, 1, -1};
  made.q.scale_a = {{reinterpret_cast<const unsigned char*>(signs), 1, 1, 32}, 1, 1};
  made.q.scale_b = {{reinterpret_cast<const unsigned char*>(ones), 1, 1, 32}, 1, 1};
  Execute(plan, made.q, made.out());
  EXPECT_EQ(Load(made.d(), 1, 0), 0x80000000u);
  const std::vector<Plan> candidates =
      CandidatePlans({&plan.operation, 1}, 0, kF32, {.scale_block = 1});
  EXPECT_THAT(FindPlans(made.q, made.d(), kF32, candidates).plans, testing::Contains(plan));
}

// Products with scales, a bias, C and alpha, as kernels of FP8 use them.
TEST(FindPlans, NamesThePlanWithOperands) {
  const std::string mx = "sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0";
  constexpr uint64_t kOne = 0x3f800000, kThird = 0x3eaaaaab;
  const struct {
    std::string plan;
    int64_t k, scale_block;
    uint64_t beta = kThird;
  } cases[] = {
      {std::string(kFp8) + " | every 128: fma (a*b) | f32", 1024, 128},  // DeepGEMM
      {std::string(kFp8) + " | every 128: fma a*b | f32", 1024, 128},    // vLLM with Triton
      {std::string(kFp8) + " | every 32: add | every 128: fma a*b | f32", 1024, 128},
      {std::string(kFp8) + " | every 128: fma (a*b) | into 2 of 128: add | f32", 1024, 128},
      {std::string(kFp8) + " | every 128: fma (a*b) | sum + beta*c | f32", 512, 128, kOne},
      {std::string(kFp8) + " | b*(a*sum) + bias | f32", 512, 512},  // PyTorch, by rows
      {std::string(kFp8) + " | every 128: add | fma(a, b*sum, bias) | f32", 512, 512},  // vLLM
      {std::string(kFp8) + " | every 128: add | (a*b)*sum | f32", 500, 500},
      {std::string(kFp8) + " | every 128: fma (a*b) | f32", 500, 500},
      {mx + " | f32", 1024, 0},
      {mx + " | every 256: add | sum + bias | f32", 1024, 0},
      {std::string(kF16) + " from c | f32", 1024, 0, kOne},
      {std::string(kF16) + " | into 3 of 64: add | alpha*sum + beta*c | f32", 1024, 0},
  };
  for (const auto& [text, k, scale_block, beta] : cases) {
    const Plan plan = PlanOf(text);
    const Multiplied made(plan, 72, 56, k, 1, scale_block, beta);
    const Model& model = plan.operation->model;
    const UsedOperands used = {.alpha = ReadsAlpha(plan),
                               .beta = ReadsC(plan),
                               .adds_c = beta == kOne,
                               .bias = plan.epilogue.bias,
                               .scale_block = scale_block,
                               .block_scale = model.scale_block == 0 ? nullptr : &model.scale};
    const Format& format = *plan.epilogue.format;
    const std::vector<const Operation*> ops =
        OperationsFor({&plan.operation, 1}, model.a, model.b, format, &model.d, used);
    ASSERT_THAT(ops, SizeIs(1)) << text;
    std::vector<Plan> candidates = CandidatePlans(ops, k, format, used);
    std::erase_if(candidates, [&](const Plan& p) { return !WhyNotScales(p, made.q).empty(); });
    for (const Plan& p : candidates) {
      EXPECT_EQ(ReadsC(p), ReadsC(plan)) << PlanText(p);
      EXPECT_EQ(ReadsScales(p), scale_block != 0) << PlanText(p);
      EXPECT_EQ(p.epilogue.bias, plan.epilogue.bias) << PlanText(p);
    }
    const FoundPlans found = FindPlans(made.q, made.d(), format, candidates);
    ASSERT_EQ(std::ssize(found.plans), 1) << text << ", of " << found.tried;
    EXPECT_EQ(OrderAt(found.plans[0], k), OrderAt(plan, k)) << PlanText(found.plans[0]);
    // So do all operands again for other rows and columns.
    const std::vector<DecidingElements> decided = WouldDecide(made.q, format, candidates);
    ASSERT_FALSE(decided.empty()) << text;
    EXPECT_LT(decided.back().plans, std::ssize(candidates)) << text;
  }
}

// Of a block-scaled operation or of whole sums, one scale for less is not read in silence.
TEST(WhyNotScales, SaysWhichScalesAreNotRead) {
  const Plan mx = PlanOf("sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0 | f32");
  Multiplied made(mx, 2, 2, 256);
  EXPECT_EQ(WhyNotScales(mx, made.q), "");
  made.q.block_scale_b.k_each = 16;
  EXPECT_EQ(WhyNotScales(mx, made.q),
            "B has a scale for each 16 k, but " + mx.operation->name + " has one for each 32");
  const Plan whole = PlanOf(std::string(kFp8) + " | a*(b*sum) | bf16");
  Multiplied scaled(whole, 2, 2, 256, 1, 256);
  EXPECT_EQ(WhyNotScales(whole, scaled.q), "");
  scaled.q.scale_a.k_each = 128;
  EXPECT_EQ(WhyNotScales(whole, scaled.q),
            "A has a scale for each 128 k, but the plan scales whole sums");
}

// Where D is not the plan's; then where the sums are nearest to another result.
TEST(WitnessesOf, AreTheElementsThatDecide) {
  const Plan plan = PlanOf(std::string(kF16) + " | into 3 of 64: add | bf16");
  Multiplied made(plan, 200, 150, 1024);
  Store(made.out(), 17, 31, Load(made.d(), 17, 31) ^ 1);
  const std::vector<MatrixElement> elements = WitnessesOf(plan, made.q, made.d(), 40, 1, true);
  ASSERT_THAT(elements, SizeIs(40));
  EXPECT_EQ(elements[0], (MatrixElement{17, 31}));
  // Another plan differs there much more often than elsewhere.
  const Multiplied other(PlanOf(std::string(kF16) + " | bf16"), 200, 150, 1024);
  const auto differs = [&](const MatrixElement& e) {
    return Load(other.d(), e.row, e.column) != Load(made.d(), e.row, e.column);
  };
  const MatrixDifference all = CompareWords(kBf16, 200, 150, other.d(), made.d());
  EXPECT_LT(all.count * 10, 200 * 150);
  EXPECT_GT(std::ranges::count_if(elements, differs) * 10, 40);
  EXPECT_THAT(WitnessesOf(plan, made.q, {}, 1 << 20, 1, true), SizeIs(200 * 150));
}

TEST(FindPlans, SaysThatNoneFits) {
  const Plan truth = PlanOf("x86/vfmadd231ss | every 100: add | f32");  // not a candidate
  const Multiplied made(truth, 16, 16, 1000);
  const Operation* op = FindOperation(kFma);
  const FoundPlans found = FindPlans(made.q, made.d(), kF32, CandidatePlans({&op, 1}, 1000, kF32));
  EXPECT_THAT(found.plans, SizeIs(0));
  EXPECT_GT(found.differing, 0);
  const Multiplied near(found.nearest, 16, 16, 1000);
  EXPECT_NE(Load(near.d(), found.first.row, found.first.column),
            Load(made.d(), found.first.row, found.first.column));
}

// One word is enough to refute a plan.
TEST(FindPlans, SeesOneWrongElement) {
  const Plan plan = PlanOf("x86/vfmadd231ss | every 384: add | f32");
  Multiplied made(plan, 30, 30, 1000);
  Store(made.out(), 29, 17, Load(made.d(), 29, 17) ^ 1);
  const Operation* op = FindOperation(kFma);
  const FoundPlans found = FindPlans(made.q, made.d(), kF32, CandidatePlans({&op, 1}, 1000, kF32));
  EXPECT_THAT(found.plans, SizeIs(0));
  EXPECT_EQ(PlanText(found.nearest), PlanText(plan));
  EXPECT_EQ(found.differing, 1);
  EXPECT_EQ(found.first, (MatrixElement{29, 17}));
}

// Candidates have all factors of a product, each in its forms.
TEST(CandidatePlans, HaveTheFactors) {
  const Operation* op = FindOperation(kFma);
  for (const UsedOperands& used : {UsedOperands{true, false}, {false, true}, {true, true}}) {
    std::set<std::string> texts;
    for (const Plan& plan : CandidatePlans({&op, 1}, 1000, kF32, used)) {
      texts.insert(PlanText(plan).substr(std::string(kFma).size()));
      EXPECT_EQ(ReadsAlpha(plan), used.alpha) << PlanText(plan);
      EXPECT_EQ(ReadsC(plan), used.beta) << PlanText(plan);
      EXPECT_EQ(ReadsBeta(plan), used.beta) << PlanText(plan);
    }
    const std::pair<const char*, UsedOperands> wanted[] = {
        {" | every 320: add | alpha*sum | f32", {true, false}},
        {" | every 320: fma alpha | f32", {true, false}},
        {" | fma(beta, c, sum) | f32", {false, true}},
        {" | every 320: add from fma beta*c | f32", {false, true}},
        {" | every 320 halved 8: add | fma(alpha, sum, beta*c) | f32", {true, true}},
        {" | every 320 halved 8: fma alpha from beta*c | f32", {true, true}},
        {" | every 256: add alpha from fma beta*c | f32", {true, true}}};
    for (const auto& [text, of] : wanted) {
      const bool same = of.alpha == used.alpha && of.beta == used.beta;
      EXPECT_EQ(texts.contains(text), same) << text;
    }
  }
}

TEST(OrderAt, IsEqualForEqualOrders) {
  const struct {
    const char *x, *y;
    int64_t k;
    bool equal;
  } cases[] = {
      {"| every 448: add", "", 448, true},
      {"| every 448: add", "", 449, false},
      {"| every 8: add", "| every 8: tree", 16, true},  // one addition
      {"| every 8: add", "| every 8: tree", 24, false},
      {"| every 8: add", "| into 2 of 8: add", 16, true},
      {"| strided 2 of 1 unrolled 8: add", "| strided 2 of 1: add", 8, true},
      {"| strided 2 of 1 unrolled 8: add", "| strided 2 of 1: add", 9, true},
      {"| strided 2 of 1 unrolled 8: add", "| strided 2 of 1: add", 10, false},
      {"| every 8: add from zero", "| every 8: add", 16, false},  // the sign of zero
      {"| every 16: add as f16", "", 16, true},                   // D is rounded to f16 in any case
      {"| every 16: add as f16", "", 17, false},
      {"| every 16: fma alpha from beta*c", "| fma(alpha, sum, beta*c)", 16, true},
      {"| every 16: fma alpha from beta*c", "| fma(alpha, sum, beta*c)", 17, false},
      {"| every 16: add alpha from fma beta*c", "| fma(beta, c, alpha*sum)", 16, true},
      {"| every 16: add from beta*c", "| sum + beta*c", 16, true},
      {"| every 16: add from c", "| sum + beta*c", 16, false},
      {"| every 16: add from beta*c held f16", "| sum + beta*c", 16, false},
      {"| every 16: fma alpha from beta*c | sum + bias", "| fma(alpha, sum, beta*c) + bias", 16,
       true},
      {"| every 16: add | alpha*sum", "| alpha*sum", 16, true},
      {"| every 16: add | alpha*sum", "| every 16: fma alpha", 16, false},
  };
  for (const auto& [x, y, k, equal] : cases) {
    const auto order = [k = k](const std::string& stages) {
      return OrderAt(PlanOf(std::string(kFma) + stages + " | f16"), k);
    };
    EXPECT_EQ(order(x) == order(y), equal) << x << ", " << y << ", " << k;
  }
}

TEST(SetText, ShortensRegularRuns) {
  EXPECT_EQ(SetText({0}), "0");
  EXPECT_EQ(SetText({0, 1, 2, 7}), "0-2,7");
  EXPECT_EQ(SetText({0, 1, 12, 13}), "0-1,12-13");
  EXPECT_EQ(SetText({0, 1, 12, 13, 24, 25, 40}), "0-1+12<26,40");
  EXPECT_EQ(SetText({}), "");
}

TEST(ElementsOf, ReadsRegions) {
  const auto count = [](const char* text) -> int64_t {
    const auto elements = ElementsOf(text, 30, 40);
    return elements ? std::ranges::count(*elements, true) : -1;
  };
  EXPECT_EQ(count(""), 1200);
  EXPECT_EQ(count("rows 0-3+8<20 of columns 24-31; rows 20-23"), 12 * 8 + 4 * 40);
  EXPECT_EQ(count("columns 0,39"), 60);
  EXPECT_EQ(count("rows 29"), 40);
  for (const char* bad :
       {"rows", "rows ", "rows 30", "rows 3-2", "rows 0-3+2<20", "rows 1 of", "row 1", "rows 1;",
        "rows 1; ", "columns 40", "rows 0+8<31", "rows -1", "rows 1 x"}) {
    EXPECT_EQ(count(bad), bad == std::string_view("rows 1; ") ? 40 : -1) << bad;
  }
}

// D by two plans: rows 20 to 23, and rows 0 to 3, 8 to 11, 16 to 19 of columns 24 to 31.
TEST(RegionFinder, FindsRowsAndColumns) {
  const Plan most = PlanOf("x86/vfmadd231ss | every 320: add | f32");
  const Plan edge =
      PlanOf("x86/vfmadd231ss | strided 2 of 1 unrolled 8: add | every 320: add | f32");
  const Operation* op = FindOperation(kFma);
  RegionFinder finder(26, 40, kF32, CandidatePlans({&op, 1}, 1005, kF32));
  std::vector<std::unique_ptr<Multiplied>> kept;
  for (uint64_t seed = 10; seed < 14; ++seed) {
    Multiplied& made = *kept.emplace_back(std::make_unique<Multiplied>(most, 26, 40, 1005, seed));
    const Multiplied other(edge, 26, 40, 1005, seed);
    for (int64_t i = 0; i < 24; ++i) {
      for (int64_t j = 0; j < 40; ++j) {
        if (i >= 20 || (i % 8 < 4 && j >= 24 && j < 32))
          Store(made.out(), i, j, Load(other.d(), i, j));
      }
    }
    ASSERT_TRUE(finder.Add(made.q, made.d()));
  }
  const std::optional<Regions> regions = finder.Find();
  ASSERT_TRUE(regions);
  std::vector<std::string> texts;
  for (size_t p = 0; p < regions->plans.size(); ++p) {
    texts.push_back(PlanText(regions->plans[p]) + " [" + RegionText(*regions, p) + "]");
  }
  EXPECT_THAT(texts,
              testing::UnorderedElementsAre(
                  PlanText(edge) + " [rows 0-3+8<20 of columns 24-31; rows 20-23]",
                  PlanText(most) + " [rows 0-3+8<20 of columns 0-23,32-39; rows 4-7,12-15,24-25]"));
}

// One result is enough where a row needs another plan, and not for a few elements.
TEST(FindRegions, OfOneResult) {
  const Plan most = PlanOf("x86/vfmadd231ss | every 320: add | f32");
  const Plan edge = PlanOf("x86/vfmadd231ss | strided 2 of 1 unrolled 8: add | f32");
  const Operation* op = FindOperation(kFma);
  const std::vector<Plan> candidates = CandidatePlans({&op, 1}, 1005, kF32);
  const Multiplied other(edge, 40, 48, 1005, 1);
  for (const int64_t elements : {1, 8, 48, 4 * 48}) {
    Multiplied made(most, 40, 48, 1005, 1);
    for (int64_t i = 0; i < elements; ++i) {
      Store(made.out(), i / 48, i % 48, Load(other.d(), i / 48, i % 48));
    }
    const auto regions = FindRegions(made.q, made.d(), kF32, candidates);
    ASSERT_EQ(regions.has_value(), elements >= 48) << elements;
    if (!regions) continue;
    EXPECT_EQ(regions->plans.size(), 2u);
    EXPECT_EQ(PlanText(regions->plans[regions->PlanAt(elements / 48 - 1, 9)]), PlanText(edge));
    EXPECT_EQ(PlanText(regions->plans[regions->PlanAt(elements / 48, 9)]), PlanText(most));
  }
}

TEST(FindPlans, SaysHowManyElementsWouldDecide) {
  const Operation* op = FindOperation(kFma);
  const std::vector<Plan> candidates = CandidatePlans({&op, 1}, 300, kF32);
  Multiplied made(candidates[0], 4, 4, 300, 1);
  const unsigned char zero[4] = {};
  made.q.a = {zero, 0, 0, 32};  // D is 0 in every order
  Execute(candidates[0], made.q, made.out());
  const FoundPlans found = FindPlans(made.q, made.d(), kF32, candidates);
  EXPECT_EQ(found.plans.size(), kMaxFoundPlans);
  EXPECT_EQ(std::ssize(found.Left()), found.tried);
  const std::vector<DecidingElements> decided = WouldDecide(made.q, kF32, candidates);
  ASSERT_FALSE(decided.empty());
  EXPECT_EQ(decided.back().plans, 1);
}

TEST(RegionFinder, RefusesWhatNoClassesExplain) {
  // Each element has one of two plans, without any pattern.
  const Plan plans[] = {PlanOf("x86/vfmadd231ss | f32"),
                        PlanOf("x86/vfmadd231ss | every 320: add | f32")};
  const Operation* op = FindOperation(kFma);
  RegionFinder finder(16, 16, kF32, CandidatePlans({&op, 1}, 1000, kF32));
  std::vector<std::unique_ptr<Multiplied>> kept;
  for (uint64_t seed = 1; seed < 5; ++seed) {
    Multiplied& made =
        *kept.emplace_back(std::make_unique<Multiplied>(plans[0], 16, 16, 1000, seed));
    const Multiplied other(plans[1], 16, 16, 1000, seed);
    for (int64_t i = 0; i < 256; ++i) {
      const uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15;
      if ((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9 >> 40 & 1)
        Store(made.out(), i / 16, i % 16, Load(other.d(), i / 16, i % 16));
    }
    ASSERT_TRUE(finder.Add(made.q, made.d()));
  }
  EXPECT_FALSE(finder.Find());
}

TEST(RegionFinder, RefusesElementsWithoutAPlan) {
  const Plan truth = PlanOf("x86/vfmadd231ss | every 70: add | f32");
  const Operation* op = FindOperation(kFma);
  RegionFinder finder(8, 8, kF32, CandidatePlans({&op, 1}, 200, kF32));
  const Multiplied made(truth, 8, 8, 200);
  std::vector<std::unique_ptr<Multiplied>> kept;
  bool explained = true;
  for (int i = 0; i < 4 && explained; ++i) {
    kept.push_back(std::make_unique<Multiplied>(truth, 8, 8, 200, 100 + i));
    explained = finder.Add(kept.back()->q, kept.back()->d());
  }
  EXPECT_FALSE(explained && finder.Find());
}

}  // namespace
}  // namespace mmadiff
