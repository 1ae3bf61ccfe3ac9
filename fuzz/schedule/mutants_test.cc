// Mutants die in the first case whose answer differs. The neighbours that are left out because no
// input distinguishes them: on no operation does the generator find one that does. (`mmadiff
// mutants` shows that it finds one for each of the others.)
#include "fuzz/schedule/mutants.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "corpus/cases/case_name.h"
#include "fuzz/testing/operations.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::Not;

// Mutants of this operation die in 1 to 56 cases.
const Operation& Bf16() {
  static const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.bf16.bf16.f32");
  return op;
}

MutantsOptions Options(uint64_t cases) { return {.ops = {&Bf16()}, .cases = cases, .threads = 1}; }

MutantsOutcome Killed(const MutantsOptions& options) {
  Console console(Color::kNever, /*quiet=*/true);
  absl::StatusOr<MutantsOutcome> outcome = KillMutants(options, console);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? *std::move(outcome) : MutantsOutcome();
}

// The cases until the first mutant of that name died.
uint64_t DeathOf(const MutantsOutcome& outcome, const std::string& change) {
  for (const OperationMutants& of : outcome.ops) {
    for (const Mutant& m : of.mutants) {
      if (m.name() == change) return m.cases;
    }
  }
  ADD_FAILURE() << "no mutant " << change;
  return UINT64_MAX;
}

// "OPERATION CHANGE CASES" of every mutant, in order.
std::vector<std::string> Deaths(const MutantsOutcome& outcome) {
  std::vector<std::string> deaths;
  for (const OperationMutants& of : outcome.ops) {
    for (const Mutant& m : of.mutants) {
      deaths.push_back(of.op->name + " " + m.name() + " " + std::to_string(m.cases));
    }
  }
  return deaths;
}

// The first of so many cases, numbered from 1, to which the models answer otherwise; 0: none.
uint64_t FirstThatDiffers(const Operation& op, const Model& mutant, uint64_t cases) {
  Batch batch;
  for (uint64_t i = 0; i < cases; ++i) {
    Generate({&op, &Strategies().front(), 1}, i, 1, batch);
    std::vector<uint64_t> right(batch.dot_products()), wrong(batch.dot_products());
    Simulate(op.model, batch, right);
    Simulate(mutant, batch, wrong);
    if (!Differences(op, wrong, right).empty()) return i + 1;
  }
  return 0;
}

TEST(KillMutants, SaysTheFirstCaseThatTells) {
  const MutantsOutcome outcome = Killed(Options(100));
  EXPECT_EQ(outcome.survivors(), 0u);
  EXPECT_GT(outcome.killed.back(), 32u);  // beyond the first portions of cases
  for (const OperationMutants& of : outcome.ops) {
    for (const Mutant& m : of.mutants) {
      EXPECT_EQ(m.cases, FirstThatDiffers(*of.op, m.model, 100)) << m.name();
    }
  }
}

TEST(KillMutants, OneMoreCaseKills) {
  const std::string change = "zero_sign=ieee";
  EXPECT_EQ(DeathOf(Killed(Options(51)), change), 0u);
  EXPECT_EQ(DeathOf(Killed(Options(52)), change), 52u);
}

TEST(KillMutants, FewCasesLeaveSurvivors) {
  const MutantsOutcome outcome = Killed(Options(1));
  EXPECT_GT(outcome.survivors(), 0u);
  EXPECT_THAT(outcome.killed, AllOf(Not(IsEmpty()), Each(1u)));
  EXPECT_EQ(DeathOf(outcome, "fraction_bits=23"), 1u);
  EXPECT_EQ(DeathOf(outcome, "zero_term=raises"), 0u);
}

TEST(KillMutants, SeedsAndStrategiesMakeOtherCases) {
  const std::vector<std::string> deaths = Deaths(Killed(Options(100)));
  MutantsOptions other = Options(100);
  other.seed = 2;
  EXPECT_THAT(Deaths(Killed(other)), Not(ElementsAreArray(deaths)));
  other = Options(100);
  other.strategy = FindStrategy("bits");
  EXPECT_THAT(Deaths(Killed(other)), Not(ElementsAreArray(deaths)));
}

TEST(KillMutants, RunsAndThreadsGiveTheSame) {
  MutantsOptions options = Options(200);
  for (const Operation& op : Operations()) {
    if (op.arch() == "x86" || op.arch() == "arm") options.ops.push_back(&op);
  }
  const std::vector<std::string> deaths = Deaths(Killed(options));
  EXPECT_GT(deaths.size(), 100u);
  EXPECT_THAT(Deaths(Killed(options)), ElementsAreArray(deaths));
  options.threads = 5;
  EXPECT_THAT(Deaths(Killed(options)), ElementsAreArray(deaths));
}

TEST(KillMutants, CountsModelsPairsAndEquivalents) {
  MutantsOptions options = Options(100);
  options.ops.push_back(FindOperation("sm_86/mma.m16n8k8.f32.bf16.bf16.f32"));  // the same model
  const MutantsOutcome outcome = Killed(options);
  ASSERT_EQ(outcome.models, 1u);
  const OperationMutants& of = outcome.ops.front();
  EXPECT_EQ(of.stands_for, 2u);
  EXPECT_EQ(outcome.equivalent, of.equivalent.size());
  for (const EquivalentNeighbour& e : of.equivalent) EXPECT_THAT(e.reason, Not(IsEmpty()));
  EXPECT_EQ(outcome.mutants, of.mutants.size() + outcome.pairs);
  ASSERT_EQ(outcome.pairs, 1u);  // sm_90 and later keep another bit
  const Mutant& pair = outcome.ops.back().mutants.front();
  ASSERT_NE(pair.other, nullptr);
  EXPECT_EQ(pair.name(), "arch=" + std::string(pair.other->arch()));
  EXPECT_GT(outcome.equal_pairs, 0u);
  EXPECT_TRUE(std::is_sorted(outcome.killed.begin(), outcome.killed.end()));
}

TEST(KillMutants, NoMutantsAreNoPass) {
  Console console(Color::kNever, /*quiet=*/true);
  EXPECT_TRUE(absl::IsOutOfRange(KillMutants({}, console).status()));
}

TEST(EquivalentNeighbours, AreToldByNoCase) {
  int tried = 0;
  for (const Operation* op : SmallestOperations()) {
    Batch batch;
    const int cases = std::clamp(30000 / op->shape().d_words(), 48, 512);
    Generate({op, &Strategies().front(), 1}, 0, cases, batch);
    std::vector<uint64_t> model(batch.dot_products()), changed(batch.dot_products());
    Simulate(op->model, batch, model);
    for (const EquivalentNeighbour& e : EquivalentNeighbours(op->model)) {
      Simulate(WithAlgorithm(*op, WithChanges(op->model.algorithm, {&e.change, 1})), batch,
               changed);
      EXPECT_TRUE(model == changed) << op->name << " " << Name(e.change) << ": " << e.reason;
      ++tried;
    }
  }
  EXPECT_GT(tried, 1000);
}

}  // namespace
}  // namespace mmadiff
