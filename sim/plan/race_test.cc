#include "sim/plan/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/plan/execute.h"
#include "sim/plan/why_no_plan.h"
#include "sim/testing/plans.h"

namespace mmadiff {
namespace {

Plan PlanOf(const std::string& text) {
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  EXPECT_TRUE(plan) << text << ": " << error;
  return plan.value_or(Plan{});
}

// The result of the plan for the product that was found.
uint64_t ResultOf(const Plan& plan, const TellingProduct& p) {
  Matrices m;
  m.m = m.n = 1;
  m.k = p.k;
  m.a = {reinterpret_cast<const unsigned char*>(p.a.data()), p.k, 1, 64};
  m.b = {reinterpret_cast<const unsigned char*>(p.b.data()), 1, 1, 64};
  m.a_format = &plan.operation->model.a;
  m.b_format = &plan.operation->model.b;
  const int64_t zero = 0;
  return ExecuteAt(plan, m, {&zero, 1}, {&zero, 1})[0];
}

TEST(RacePlans, FindsTheLeastK) {
  const struct {
    const char *x, *y;
    int64_t k;
  } cases[] = {
      {"x86/vfmadd231ss | every 448: add | f32", "x86/vfmadd231ss | every 448 halved 16: add | f32",
       449},
      {"sm_90/fma.rn.f32 | f32", "sm_90/fma.rn.f32 | every 128: add | f32", 129},
      {"x86/vfmadd231ss | f32", "x86/vfmadd231ss unfused | f32", 1},  // the sign of a zero
      {"sm_90/wgmma.m64n8k16.f32.f16.f16 | f32",
       "sm_90/wgmma.m64n8k16.f32.f16.f16 | into 3 of 64: add | f32", 65},
      {"x86/vfmadd231sd | strided 8 of 1: tree | f64",
       "x86/vfmadd231sd | strided 8 of 1: pairs | f64", 3},
      {"x86/vfmadd231ss | cut 8 | f32", "x86/vfmadd231ss | f32", 1},
      {"x86/vfmadd231ss | strided 4 of 1: pairs 2 1 | f32",
       "x86/vfmadd231ss | strided 4 of 1: add | f32", 3},
      // The least k that may tell is 129; a product of less than 141, which a search finds, does.
      {"sm_90/wgmma.m64n8k16.f32.f16.f16 | every 128: add | into 3 of 128: add | f16",
       "sm_90/wgmma.m64n8k16.f32.f16.f16 | f16", 131},
      {"x86/vfmadd231ss | every 5000: add | f32", "x86/vfmadd231ss | f32", 5001},
  };
  for (const auto& [x, y, k] : cases) {
    const PlanRace race = RacePlans(PlanOf(x), PlanOf(y));
    EXPECT_EQ(race.equal, "") << x;
    ASSERT_TRUE(race.found) << x;
    EXPECT_EQ(race.found->k, k) << x;
    EXPECT_EQ(ResultOf(PlanOf(x), *race.found), race.found->x) << x;
    EXPECT_EQ(ResultOf(PlanOf(y), *race.found), race.found->y) << y;
    EXPECT_NE(race.found->x, race.found->y);
  }
}

TEST(RacePlans, ProvesEqualOrders) {
  const std::pair<const char*, const char*> cases[] = {
      {"sm_90/wgmma.m64n8k16.f32.f16.f16 | into 3 of 64: add | f16",
       "sm_90/mma.m16n8k16.f32.f16.f16.f32 | into 3 of 64: add | f16"},
      {"x86/vfmadd231ss | every 1: add from zero | f32",
       "x86/vfmadd231ss | at 1000000: add from zero | f32"},
  };
  const PlanRace same = RacePlans(PlanOf(cases[0].first), PlanOf(cases[0].second));
  EXPECT_NE(same.equal, "");
  EXPECT_FALSE(same.found);
  const PlanRace far =
      RacePlans(PlanOf("x86/vfmadd231ss | at 1000000: add | f32"), PlanOf("x86/vfmadd231ss | f32"));
  EXPECT_THAT(far.equal, testing::HasSubstr("of up to 4096 k"));
  EXPECT_EQ(RacePlans(PlanOf(cases[1].first), PlanOf(cases[1].second)).equal, "");
}

TEST(RacePlans, SaysWhatItCannotCompare) {
  const char* x = "x86/vfmadd231ss | f32";
  for (const char* y :
       {"x86/vfmadd231sd | f64", "x86/vfmadd231ss | f16", "x86/vfmadd231ss | sum + bias | f32",
        "x86/vfmadd231ss | alpha*sum | f32", "x86/vfmadd231ss | every 8: add from c | f32",
        "x86/vfmadd231ss | every 8: fma alpha | f32", "x86/vfmadd231ss | every 8: fma a*b | f32"}) {
    EXPECT_NE(RacePlans(PlanOf(x), PlanOf(y)).not_comparable, "") << y;
  }
}

// The plans with one thing changed.
std::vector<Plan> NeighborsOf(const Plan& plan) {
  std::vector<Plan> neighbors;
  const auto add = [&](const auto& change) {
    Plan other = plan;
    change(other);
    if (!(other == plan) && WhyNoPlan(other).empty()) neighbors.push_back(other);
  };
  for (const int64_t residue : {0, 32, 48}) add([&](Plan& p) { p.residue = residue; });
  for (const int64_t cut : {0, 64}) add([&](Plan& p) { p.cut = cut; });
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanRange& range = plan.stages[s].range;
    add([&](Plan& p) { p.stages.erase(p.stages.begin() + s); });
    if (range.kind != PlanRange::Kind::kAt) {
      add([&](Plan& p) { p.stages[s].range.size *= 2; });
      if (range.size > 1) add([&](Plan& p) { p.stages[s].range.size /= 2; });
    }
    if (range.count > 1) add([&](Plan& p) { ++p.stages[s].range.count; });
    if (range.kind == PlanRange::Kind::kInto) {
      for (const auto share :
           {PlanRange::Share::kCeil, PlanRange::Share::kFloor, PlanRange::Share::kEven}) {
        add([&](Plan& p) { p.stages[s].range.share = share; });
      }
    }
    for (const auto kind : {PlanJoin::Kind::kAdd, PlanJoin::Kind::kTree, PlanJoin::Kind::kPairs}) {
      add([&](Plan& p) { p.stages[s].join.kind = kind; });
    }
    for (const Format* f : {static_cast<const Format*>(nullptr), &kF16, &kBf16}) {
      add([&](Plan& p) { p.stages[s].join.as = f; });
      add([&](Plan& p) { p.stages[s].join.held = f; });
    }
  }
  return neighbors;
}

// Changes that no product of this kind shows: their sums are exact, or differ in the sign of a zero.
TEST(RacePlans, ToldApartFromEveryNeighbor) {
  std::vector<std::string> undecided;
  int told = 0;
  for (const auto& [kernel, text] : kKernelPlans) {
    Plan plan = PlanOf(text);
    plan.epilogue = {.format = plan.epilogue.format};
    for (const Plan& other : NeighborsOf(plan)) {
      const PlanRace race = RacePlans(plan, other);
      if (!race.not_comparable.empty() || !race.equal.empty()) continue;
      told += race.found.has_value();
      if (!race.found) undecided.push_back(PlanText(plan) + "  /  " + PlanText(other));
    }
  }
  EXPECT_GT(told, 100);
  EXPECT_THAT(undecided, testing::IsEmpty());
}

}  // namespace
}  // namespace mmadiff
