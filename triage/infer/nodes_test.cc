// Width and rounding of the nodes of devices whose nodes are known.
#include "triage/infer/nodes.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

enum class Rule { kTowardZero, kAway, kDown, kUp, kEven, kTiesAway, kTiesToZero, kCut };

// Adds (c + k0..3) to `kept` bits under a rule, then that and the rest to `last` bits toward zero.
class TwoNodes : public Device {
 public:
  TwoNodes(int kept, Rule rule, int last) : kept_(kept), rule_(rule), last_(last) {}

  std::string name() const override { return "nodes"; }
  Identity identity() const override { return Identity::Named("test"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const Model& m = op.model;
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      const DotProductCase dot = Extract(batch, i);
      std::vector<double> first = {Number(m.c, dot.c)}, second;
      for (int k = 0; k < m.k; ++k) {
        (k < 4 ? first : second).push_back(Number(m.a, dot.a[k]) * Number(m.b, dot.b[k]));
      }
      second.push_back(Add(first, kept_, rule_));
      d.push_back(
          std::bit_cast<uint32_t>(static_cast<float>(Add(second, last_, Rule::kTowardZero))));
    }
    return absl::OkStatus();
  }

 private:
  static double Number(const Format& f, uint64_t word) {
    const Unpacked u = Decode(f, word);
    const double x = std::ldexp(static_cast<double>(u.significand), u.exponent - f.fraction_bits);
    return u.negative ? -x : x;
  }

  static double Add(const std::vector<double>& terms, int kept, Rule rule) {
    double largest = 0;
    for (const double x : terms) largest = std::max(largest, std::fabs(x));
    if (largest == 0) return 0;
    const double unit = std::ldexp(1.0, std::ilogb(largest) - kept);
    __float128 sum = 0;
    for (const double x : terms) sum += rule == Rule::kCut ? std::trunc(x / unit) : x / unit;
    auto down = static_cast<__int128>(sum);
    if (down > sum) --down;
    const double part = static_cast<double>(sum - down);
    const bool negative = sum < 0, odd = (down & 1) != 0;
    bool up = false;
    switch (rule) {
      case Rule::kTowardZero:
      case Rule::kCut:
        up = negative;
        break;
      case Rule::kAway:
        up = !negative;
        break;
      case Rule::kDown:
        break;
      case Rule::kUp:
        up = true;
        break;
      case Rule::kEven:
        up = part > 0.5 || (part == 0.5 && odd);
        break;
      case Rule::kTiesAway:
        up = part > 0.5 || (part == 0.5 && !negative);
        break;
      case Rule::kTiesToZero:
        up = part > 0.5 || (part == 0.5 && negative);
        break;
    }
    return static_cast<double>(down + (up && part != 0)) * unit;
  }

  const int kept_;
  const Rule rule_;
  const int last_;
};

std::string Lines(Device& device, int64_t most = 1000) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Asker asker(device, op, 100000);
  const absl::StatusOr<Structure> structure = FindStructure(asker);
  EXPECT_TRUE(structure.ok() && structure->tree);
  const auto nodes = MeasureNodes(asker, *structure, most);
  EXPECT_TRUE(nodes.ok()) << nodes.status();
  std::string text;
  for (const std::string& line : NodeLines(*nodes, op.model.k)) text += line + "\n";
  return text;
}

TEST(NodesTest, WidthAndRounding) {
  const std::pair<Rule, const char*> kRules[] = {
      {Rule::kTowardZero, "toward zero"},
      {Rule::kAway, "away from zero"},
      {Rule::kDown, "downward"},
      {Rule::kUp, "upward"},
      {Rule::kEven, "to nearest even"},
      {Rule::kTiesAway, "to nearest, ties away"},
      {Rule::kTiesToZero, "to nearest, ties toward zero"},
      {Rule::kCut, "operands cut toward zero"},
  };
  for (const auto& [rule, name] : kRules) {
    for (const int kept : {7, 16, 20}) {
      TwoNodes device(kept, rule, 21);
      EXPECT_EQ(Lines(device), absl::StrCat(kept, " bits, ", name,
                                            ": (c + k0..3)\n21 bits, toward "
                                            "zero: ((c + k0..3) + k4..15)\n"));
    }
  }
}

// A width is that of the narrowest of a node and those after it.
TEST(NodesTest, SeenThroughLaterNodes) {
  TwoNodes device(20, Rule::kEven, 12);
  EXPECT_EQ(Lines(device).substr(0, 7), "12 bits");
}

TEST(NodesTest, FewQuestionsStillSeeTheRoot) {
  TwoNodes device(12, Rule::kUp, 21);
  EXPECT_EQ(Lines(device, 1), "21 bits, toward zero: ((c + k0..3) + k4..15)\n");
}

}  // namespace
}  // namespace mmadiff
