// Stochastic rounding is recognized and measured; no deterministic rounding and no noise is.
#include "triage/infer/stochastic_rounding.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "sim/parameter.h"
#include "sim/tree/tree_text.h"
#include "sim/unlisted.h"
#include "triage/infer/infer.h"
#include "triage/infer/inference_text.h"
#include "triage/model_device.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMost = 10000;

// Whether to round away from zero, by the position between the neighbors and the sign.
using Choice = std::function<bool(long double position, bool negative)>;

// +-significand of bits + 1 bits, in the range of f32.
long double Rounded(long double x, int bits, const Choice& choose) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int last = std::max(std::ilogb(x), -126) - bits;
  const long double scaled = std::ldexp(std::abs(x), -last), low = std::floor(scaled);
  const bool up = scaled > low && choose(scaled - low, x < 0);
  return std::copysign(std::ldexp(low + (up ? 1 : 0), last), x);
}

bool IsNearestEven(long double position, bool) { return position > 0.5L; }

// Sums of k products in f32. `word` and the dot product choose random numbers in [0, 1).
struct Arithmetic {
  const char* op;
  enum Form { kChain, kFused, kRoundedProducts, kRoundedResult } form = kChain;
  bool by_hash = false;
  // The probability to round away from zero.
  double (*rate)(double position, bool negative) = [](double p, bool) { return p; };
};

class StochasticDevice : public ModelDevice {
 public:
  explicit StochasticDevice(const Arithmetic& arithmetic)
      : ModelDevice(FindUnlisted(arithmetic.op)->model), arithmetic_(arithmetic) {}

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      d.push_back(Sum(op.model, Extract(batch, i)));
    }
    return absl::OkStatus();
  }

 private:
  uint64_t Sum(const Model& m, const DotProductCase& dot) {
    if (arithmetic_.by_hash) random_.seed(HashOf(dot));
    const Choice choose = [this](long double position, bool negative) {
      const double x = std::ldexp(static_cast<double>(random_() >> 11), -53);
      return x < arithmetic_.rate(static_cast<double>(position), negative);
    };
    const auto form = arithmetic_.form;
    long double sum = NumberOf(m.c, dot.c);
    for (int k = 0; k < m.k; ++k) {
      long double product = NumberOf(m.a, dot.a[k]) * NumberOf(m.b, dot.b[k]);
      if (form == Arithmetic::kRoundedProducts) product = Rounded(product, 23, choose);
      sum += product;
      if (form != Arithmetic::kFused) {
        sum = Rounded(sum, 23, form == Arithmetic::kChain ? choose : Choice(IsNearestEven));
      }
    }
    sum = Rounded(sum, m.d.fraction_bits, choose);
    return std::bit_cast<uint32_t>(static_cast<float>(sum)) >> (32 - m.d.bits);
  }

  static uint64_t HashOf(const DotProductCase& dot) {
    uint64_t hash = dot.c;
    for (const auto* words : {&dot.a, &dot.b}) {
      for (const uint64_t word : *words) hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    }
    return hash >> 16;
  }

  const Arithmetic arithmetic_;
  std::mt19937_64 random_{7};
};

std::vector<StochasticRounding> Ask(Device& device, const Operation& op) {
  Asker asker(device, op, 2 * kMost);
  const auto found = AskStochasticRounding(asker, kMost);
  EXPECT_TRUE(found.ok()) << found.status();
  EXPECT_LE(asker.asked(), kMost);
  return *found;
}

std::vector<StochasticRounding> Ask(const Arithmetic& arithmetic) {
  StochasticDevice device(arithmetic);
  return Ask(device, *FindUnlisted(arithmetic.op));
}

constexpr char kHalf[] = "unlisted/k8.f32.f16.f16.f32", kFloat[] = "unlisted/k4.f32.f32.f32.f32";

// The rates are those of the device, within five standard deviations.
void ExpectRates(const StochasticRounding& r, const Arithmetic& arithmetic) {
  for (const bool negative : {false, true}) {
    for (const RoundingRate& rate : negative ? r.negative : r.positive) {
      ASSERT_GT(rate.answers, 0);
      const auto count = static_cast<double>(rate.answers);
      const double wanted = count * arithmetic.rate(rate.positions / count, negative);
      const double deviation = std::sqrt(wanted * (1 - wanted / count));
      EXPECT_NEAR(static_cast<double>(rate.farther), wanted, 5 * deviation);
    }
  }
}

TEST(StochasticRoundingTest, FreeProportional) {
  for (const auto form : {Arithmetic::kChain, Arithmetic::kFused}) {
    const Arithmetic arithmetic = {kHalf, form};
    const auto found = Ask(arithmetic);
    ASSERT_EQ(found.size(), 1u);  // products of f16 are exact
    EXPECT_EQ(found[0].of, "c plus one product");
    EXPECT_EQ(found[0].fraction_bits, 23);
    ExpectRates(found[0], arithmetic);
    const RoundingRate all = TotalOf(found[0].positive);
    EXPECT_GT(found[0].exact, 0);
    EXPECT_GT(found[0].changed, all.answers / 4);
    EXPECT_THAT(
        StochasticLines(found[0])[0],
        AllOf(HasSubstr("c plus one product (k0, k1, k4, k7) is rounded to 23 fraction bits"),
              HasSubstr("representable results are exact")));
    EXPECT_THAT(StochasticLines(found[0])[1], HasSubstr("gave the other neighbor"));
    EXPECT_THAT(StochasticLines(found[0])[2], HasSubstr("probability equal to the position"));
  }
}

TEST(StochasticRoundingTest, HashOfOperands) {
  const Arithmetic arithmetic = {kHalf, Arithmetic::kChain, true};
  const auto found = Ask(arithmetic);
  ASSERT_EQ(found.size(), 1u);
  ExpectRates(found[0], arithmetic);
  EXPECT_EQ(found[0].changed, 0);
  EXPECT_GT(found[0].without_rule, TotalOf(found[0].positive).answers / 8);
  EXPECT_THAT(StochasticLines(found[0])[1], HasSubstr("repeated questions give the same neighbor"));
}

TEST(StochasticRoundingTest, ConstantRates) {
  Arithmetic arithmetic = {kHalf, Arithmetic::kChain, false, [](double, bool) { return 0.25; }};
  auto found = Ask(arithmetic);
  ASSERT_EQ(found.size(), 1u);
  ExpectRates(found[0], arithmetic);
  EXPECT_THAT(StochasticLines(found[0])[2], HasSubstr("same probability at every position"));
  // Toward +infinity: the rates of the signs differ, and so there is a line for each.
  arithmetic.rate = [](double, bool negative) { return negative ? 0.75 : 0.25; };
  found = Ask(arithmetic);
  ASSERT_EQ(found.size(), 1u);
  ExpectRates(found[0], arithmetic);
  ASSERT_EQ(StochasticLines(found[0]).size(), 4u);
  EXPECT_THAT(StochasticLines(found[0])[3],
              AllOf(HasSubstr("negative results"), HasSubstr("same probability")));
}

// Only where the rounding is stochastic: in the products, or in the result of fewer bits.
TEST(StochasticRoundingTest, Places) {
  auto found = Ask({kFloat, Arithmetic::kRoundedProducts});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].of, "one product alone");
  EXPECT_EQ(found[0].fraction_bits, 23);
  found = Ask({kFloat, Arithmetic::kChain});
  ASSERT_EQ(found.size(), 2u);
  found = Ask({"unlisted/k8.bf16.bf16.bf16.f32", Arithmetic::kRoundedResult});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].fraction_bits, 7);
  EXPECT_EQ(found[1].fraction_bits, 7);
}

// Words of f32 whose results have 13 fraction bits.
TEST(StochasticRoundingTest, NarrowerThanTheFormat) {
  class Narrow : public StochasticDevice {
   public:
    Narrow() : StochasticDevice({kHalf}) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      for (int64_t i = 0; i < batch.dot_products(); ++i) {
        const DotProductCase dot = Extract(batch, i);
        long double sum = NumberOf(op.model.c, dot.c);
        for (int k = 0; k < op.model.k; ++k) {
          sum += NumberOf(op.model.a, dot.a[k]) * NumberOf(op.model.b, dot.b[k]);
        }
        sum = Rounded(sum, 13, [this](long double position, bool) {
          return std::ldexp(static_cast<long double>(random_()), -64) < position;
        });
        d.push_back(std::bit_cast<uint32_t>(static_cast<float>(sum)));
      }
      return absl::OkStatus();
    }
    std::mt19937_64 random_{3};
  } device;
  const auto found = Ask(device, *FindUnlisted(kHalf));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].fraction_bits, 13);
}

// `infer` names it, and says neither that an algorithm fits nor which answer refutes one.
TEST(StochasticRoundingTest, Inference) {
  for (const bool by_hash : {false, true}) {
    const Arithmetic arithmetic = {kHalf, Arithmetic::kChain, by_hash};
    const Operation& op = *FindUnlisted(kHalf);
    StochasticDevice device(arithmetic);
    const Inference inference = Infer(device, op, {20000, 20000, {}});
    ASSERT_TRUE(inference.status.ok()) << inference.status;
    EXPECT_FALSE(inference.algorithm);
    EXPECT_FALSE(inference.refuting);
    EXPECT_TRUE(inference.refuted.empty());
    ASSERT_EQ(inference.stochastic.size(), 1u);
    EXPECT_TRUE(inference.shared_exponents.empty());
    EXPECT_EQ(inference.flaky > 0, !by_hash);
    const std::string text = InferenceText(op, inference, {});
    EXPECT_THAT(text,
                HasSubstr(by_hash ? "\nrounding stochastic, or by an unknown rule: c plus one"
                                  : "\nrounding stochastic: c plus one product (k0, k1, k4, k7)"));
    EXPECT_THAT(text, HasSubstr("row      none: no family of algorithms rounds like this"));
  }
}

TEST(StochasticRoundingTest, Clue) {
  Inference inference;
  inference.stochastic.emplace_back();
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  EXPECT_EQ(InferenceClue(op, inference), "the rounding is stochastic or follows an unknown rule");
  inference.stochastic[0].changed = 1;
  EXPECT_EQ(InferenceClue(op, inference), "the rounding is stochastic");
}

// ---- What is not stochastic.

TEST(StochasticRoundingTest, NoRowOfTheTables) {
  for (const Operation* op : DistinctOperations()) {
    ModelDevice device(op->model);
    EXPECT_TRUE(Ask(device, *op).empty()) << op->name;
  }
}

// Every rounding of every field of a node that aligns, or rounds, or both.
TEST(StochasticRoundingTest, NoTree) {
  const Operation& op = *FindUnlisted(kHalf);
  for (const char* to : {"f32", "bf16", "tf32"}) {
    for (const char* rounding :
         {"nearest_even", "nearest_away", "to_odd", "down", "up", "toward_zero"}) {
      for (const char* align : {"", " fraction_bits=24", " fraction_bits=25 align_rounding=down",
                                " fraction_bits=26 ones_complement=yes"}) {
        const std::string node = absl::StrCat("node n to=", to, align,
                                              " output_rounding=", rounding, "\nnode out to=f32\n");
        const Tree tree =
            TreeFromText(node + "tree out(fold n(_ @) over k0..7 from c)", op.model.k);
        Model model = op.model;
        model.algorithm = {.family = Family::kTree, .tree = &tree};
        ModelDevice device(model);
        EXPECT_TRUE(Ask(device, op).empty()) << node;
      }
    }
  }
}

// The model, but answers get noise: every n-th, or all.
class NoisyDevice : public ModelDevice {
 public:
  NoisyDevice(const Model& model, uint64_t every, int bit)
      : ModelDevice(model), every_(every), bit_(bit) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ModelDevice::Execute(op, batch, d);
    for (uint64_t& word : d) word ^= (random_() % every_ == 0 ? 1ull : 0ull) << bit_;
    return status;
  }

 private:
  const uint64_t every_;
  const int bit_;
  std::mt19937_64 random_{5};
};

TEST(StochasticRoundingTest, NoNoise) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  for (const uint64_t every : {2, 40, 1000}) {
    for (const int bit : {0, 1, 20}) {
      NoisyDevice device(op.model, every, bit);
      EXPECT_TRUE(Ask(device, op).empty()) << every << " " << bit;
    }
  }
}

TEST(StochasticRoundingTest, NoInferenceOfNoise) {
  const Operation& op = *FindUnlisted(kHalf);
  Algorithm chain = {.family = Family::kFmaChain, .output_fraction_bits = 23};
  NoisyDevice device(WithAlgorithm(op, chain), 3, 0);
  const Inference inference = Infer(device, op, {20000, 20000, {}});
  EXPECT_TRUE(inference.stochastic.empty());
  EXPECT_GT(inference.flaky, 0u);
  EXPECT_THAT(InferenceText(op, inference, {}), Not(HasSubstr("stochastic")));
}

}  // namespace
}  // namespace mmadiff
