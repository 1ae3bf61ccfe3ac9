#include "triage/race/pair.h"

#include <random>

#include "gtest/gtest.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/minimize/simplicity.h"
#include "triage/testing/device.h"
#include "triage/testing/rows.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr char kMma[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

Racer Parse(const std::string& text) {
  absl::StatusOr<Racer> racer = ParseRacer(text);
  EXPECT_TRUE(racer.ok()) << racer.status();
  return *racer;
}

int Terms(const DotProductCase& dot) {
  int terms = dot.c != 0;
  for (size_t k = 0; k < dot.a.size(); ++k) terms += dot.a[k] != 0 || dot.b[k] != 0;
  return terms;
}

// ---- Every case of at most two terms, of an instruction of two products and narrow formats

struct Toy {
  Toy()
      : instruction({.name = "toy",
                     .shape = {1, 1, 2, 1},
                     .d = &kF16,
                     .a = &kE2m1,
                     .b = &kE2m1,
                     .c = &kE5m2,
                     .scale = nullptr,
                     .layout = Layout::kNoLanes,
                     .native_on = "",
                     .source = "",
                     .sizes = {}}) {
    numerics = {.arch = "toy", .instruction = &instruction, .algorithm = {}, .evidence = {}};
    Algorithm algorithm = {.family = Family::kFusedSum};
    algorithm.terms = 2;
    algorithm.fraction_bits = 3;
    algorithm.output_fraction_bits = 10;
    op = {&instruction, &numerics, {kE2m1, kE2m1, kE5m2, kF16, 2, algorithm}, "toy/toy"};
  }
  Instruction instruction;
  Numerics numerics;
  Operation op;
};

// The smallest of all of at most two terms.
std::optional<DotProductCase> SmallestByForce(const Model& x, const Model& y) {
  std::optional<DotProductCase> best;
  DotProductCase dot = {{0, 0}, {0, 0}, 0};
  for (uint64_t products = 0; products < 1 << 16; ++products) {
    dot.a = {products & 15, products >> 8 & 15};
    dot.b = {products >> 4 & 15, products >> 12};
    for (dot.c = 0; dot.c < 256; ++dot.c) {
      if (Terms(dot) > 2) break;  // with any addend but +0
      if (Simulate(x, dot) == Simulate(y, dot)) continue;
      if (best && Terms(*best) < Terms(dot)) continue;
      if (best && Terms(*best) == Terms(dot) &&
          !Simpler(ComplexityOf(x, dot), dot, ComplexityOf(x, *best), *best)) {
        continue;
      }
      best = dot;
    }
  }
  return best;
}

TEST(Race, IsTheSmallestOfAll) {
  const Toy toy;
  ASSERT_EQ(WhyInvalid(toy.op.model), "");
  const Racer x = {"x", &toy.op, toy.op.model};
  int of_terms[4] = {};
  for (const Neighbour& n : Neighbours(toy.op.model)) {
    const Racer y = {"y", &toy.op, WithAlgorithm(toy.op, n.algorithm)};
    const std::optional<DotProductCase> best = SmallestByForce(x.model, y.model);
    const absl::StatusOr<RaceResult> race = FindSmallest(x, y);
    ASSERT_TRUE(race.ok());
    ++of_terms[best ? Terms(*best) : 3];
    if (!best) {
      EXPECT_TRUE(!race->found || race->found->terms == 3) << Name(n);
      continue;
    }
    ASSERT_TRUE(race->found) << Name(n);
    EXPECT_EQ(race->found->dot, *best) << Name(n);
    EXPECT_EQ(race->found->terms, Terms(*best)) << Name(n);
    EXPECT_TRUE(race->FewestTerms()) << Name(n);
    EXPECT_EQ(race->found->x, Simulate(x.model, *best));
    EXPECT_EQ(race->found->y, Simulate(y.model, *best));
  }
  EXPECT_GT(of_terms[1], 0);
  EXPECT_GT(of_terms[2], 0);
}

// ---- Rows

TEST(Race, EveryTwoArchitecturesOfTenInstructions) {
  Races races;
  int told = 0, same = 0;
  for (const char* instruction : kTenInstructions) {
    const std::vector<Racer> rows = RowsNamed(instruction);
    EXPECT_GE(rows.size(), 2u) << instruction;
    for (const Racer& x : rows) {
      for (const Racer& y : rows) {
        const absl::StatusOr<PairRace> pair = races.Find(x, y);
        ASSERT_TRUE(pair.ok()) << pair.status();
        const std::string what = x.name + " " + y.name + ": " + VerdictText(*pair);
        EXPECT_NE(pair->verdict, PairRace::kUndecided) << what;
        EXPECT_EQ(pair->verdict == PairRace::kSame, SameModel(x.model, y.model)) << what;
        same += pair->verdict == PairRace::kSame;
        if (pair->verdict != PairRace::kTold) continue;
        ++told;
        const TellingCase& found = *pair->race.found;
        EXPECT_EQ(found.x, Simulate(x.model, found.dot)) << what;
        EXPECT_EQ(found.y, Simulate(y.model, found.dot)) << what;
        EXPECT_TRUE(Tell(x, found.x, y, found.y)) << what;
        EXPECT_EQ(found.terms, Terms(found.dot)) << what;
        EXPECT_LE(found.terms, 2) << what;
      }
    }
  }
  EXPECT_GT(told, 50);
  EXPECT_GT(same, 50);
}

// 1 - 2^-25 is below 1; with one fraction bit less it is not.
TEST(Race, PlantedChanges) {
  Races races;
  const absl::StatusOr<PairRace> pair =
      races.Find(Parse(kMma), Parse(std::string(kMma) + ":fraction_bits=24"));
  ASSERT_TRUE(pair.ok());
  ASSERT_EQ(pair->verdict, PairRace::kTold);
  DotProductCase dot = NeutralDotProduct(pair->x.model);
  dot.a[0] = dot.b[0] = 0x3c00;
  dot.c = 0xb3000000;
  EXPECT_EQ(pair->race.found->dot, dot);
  EXPECT_EQ(Name(pair->changes), "fraction_bits=24");
  EXPECT_EQ(pair->stage, "aligned_term of the addend");
  const std::string text = PairText(*pair, {});
  for (const char* part : {"-2^-25", "x gives 0x3f7fffff", "y gives 0x3f800000", "<--"}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
  }
}

// Every neighbour that some input tells from the model is told from it.
TEST(Race, FindsEveryNeighbour) {
  Races races;
  for (const char* row : {kMma, "x86/vdpbf16ps", "sm_80/mma.m8n8k4.f64.f64.f64.f64"}) {
    const Racer x = Parse(row);
    const bool any_nan = x.op->numerics->nan_verdict == NanVerdict::kAnyNan;
    EXPECT_EQ(any_nan, std::string(row) == "sm_80/mma.m8n8k4.f64.f64.f64.f64");
    for (const Neighbour& n : Neighbours(x.model)) {
      const absl::StatusOr<PairRace> pair = races.Find(x, Parse(std::string(row) + ":" + Name(n)));
      ASSERT_TRUE(pair.ok());
      const bool hidden = any_nan && Name(n).starts_with("nan_rule=");
      EXPECT_EQ(pair->verdict, hidden ? PairRace::kProved : PairRace::kTold)
          << row << ":" << Name(n);
    }
  }
}

// ---- Proofs

TEST(Race, ProvesChainsOfChanges) {
  const Racer x = Parse(kMma);
  const Racer y = Parse(std::string(kMma) + ":exponent_floor=-140,tininess=before_rounding");
  const std::optional<std::vector<ProofStep>> proof = WhySame(x.model, y.model);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->size(), 2u);
  EXPECT_EQ(WhySame(x.model, x.model)->size(), 0u);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const Batch inputs = RandomTile(*x.op, DotProductShape(x.op->shape()), random);
    const DotProductCase dot = Extract(inputs, 0);
    ASSERT_EQ(Simulate(x.model, dot), Simulate(y.model, dot));
  }
  // One more change that shows: no proof.
  const Racer z =
      Parse(std::string(kMma) + ":exponent_floor=-140,tininess=before_rounding,fraction_bits=24");
  EXPECT_FALSE(WhySame(x.model, z.model));
  EXPECT_FALSE(WhySame(x.model, Parse("x86/vdpbf16ps").model));
}

TEST(Race, ProvesNoNeighbour) {
  for (const char* row : {kMma, "x86/vdpbf16ps", "gfx942/v_mfma_f32_16x16x16_f16"}) {
    const Racer x = Parse(row);
    for (const Neighbour& n : Neighbours(x.model)) {
      EXPECT_FALSE(WhySame(x.model, WithAlgorithm(*x.op, n.algorithm))) << row << ":" << Name(n);
    }
  }
}

// ---- What is refused

TEST(Race, SaysWhatIsWrong) {
  const auto says = [](const std::string& text, const char* what,
                       absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    const absl::StatusOr<Racer> racer = ParseRacer(text);
    EXPECT_EQ(racer.status().code(), code) << text;
    EXPECT_NE(racer.status().message().find(what), std::string::npos) << racer.status();
  };
  says("sm_90/none", "no instruction");
  says(std::string(kMma) + ":nonsense=1", "no parameter 'nonsense'");
  says(std::string(kMma) + ":terms", "terms=VALUE");
  says(std::string(kMma) + ":terms=many", "allowed: a number");
  says(std::string(kMma) + ":", "no parameter ''");
  says("gfx950/v_mfma_f32_16x16x32_f16", "no model", absl::StatusCode::kNotFound);
  says("\x1b[31m/x", "\\x1b[31m");
  const std::string why = WhyNotComparable(Parse(kMma).model, Parse("x86/vdpbf16ps").model);
  EXPECT_NE(why.find("k=16"), why.npos) << why;
  EXPECT_NE(why.find("bf16 x bf16"), why.npos) << why;
  EXPECT_EQ(WhyNotComparable(Parse(kMma).model, Parse(std::string(kMma) + ":terms=8").model), "");
}

TEST(Race, AliasesOfArchitectures) {
  EXPECT_EQ(Parse("hopper/mma.m16n8k16.f32.f16.f16.f32:terms=8").name,
            std::string(kMma) + ":terms=8");
}

}  // namespace
}  // namespace mmadiff
