#include "fuzz/coverage/correlation.h"

#include <sched.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "corpus/cases/strategy.h"
#include "fuzz/coverage/coverage_counter.h"
#include "gtest/gtest.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr char kMma[] = "sm_80/mma.m16n8k8.f32.f16.f16.f32";

// The simulator; where `wrong` says so, another bit.
class Wrong : public Device {
 public:
  using Where = std::function<bool(const DotProductCase& dot, int64_t element, uint64_t before)>;
  explicit Wrong(Where where) : where_(std::move(where)) {}
  std::string name() const override { return "wrong"; }
  Identity identity() const override { return Identity::Named("wrong"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    Simulate(op.model, batch, d);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      const DotProductCase dot = Extract(batch, i);
      if (where_(dot, i % op.shape().d_words(), before_++)) d[i] ^= 1;
    }
    return absl::OkStatus();
  }

 private:
  const Where where_;
  uint64_t before_ = 0;
};

std::string Shared(Wrong::Where where) {
  Wrong device(std::move(where));
  const CaseStream stream = {FindOperation(kMma), &Strategies().front(), 1};
  const auto found = Correlate(device, stream, 0, absl::InfiniteDuration());
  EXPECT_TRUE(found.ok()) << found.status();
  return !found.ok() || !found->has_value() ? "" : (*found)->Text();
}

bool Subnormal(uint64_t f16) { return (f16 & 0x7c00) == 0 && (f16 & 0x3ff) != 0; }
bool Any(const std::vector<uint64_t>& words, bool (*is)(uint64_t)) {
  for (size_t i = 0; i < 8; ++i) {
    if (is(words[i])) return true;
  }
  return false;
}

TEST(Correlation, NamesWhatAllThatDifferHave) {
  const std::string a =
      Shared([](const DotProductCase& dot, int64_t, uint64_t) { return Any(dot.a, Subnormal); });
  EXPECT_TRUE(a.starts_with("a subnormal in a: ")) << a;
  EXPECT_TRUE(a.find(" differ, and 0 of the other ") != a.npos) << a;
  const std::string both = Shared([](const DotProductCase& dot, int64_t element, uint64_t) {
    return Any(dot.b, Subnormal) && element / 8 == 5;
  });
  EXPECT_TRUE(both.starts_with("row 5 and a subnormal in b: ")) << both;
}

// Of several bins of one group.
TEST(Correlation, NamesTheLeastCarry) {
  CoverageCounter counter(FindOperation(kMma)->model);
  const std::string carry = Shared([&counter](const DotProductCase& dot, int64_t, uint64_t) {
    counter.Count(dot);
    return std::ranges::any_of(counter.reached(), [&](uint16_t reached) {
      const std::string name = counter.bins()[reached].name();
      return name.starts_with("carry/") && name >= "carry/2";
    });
  });
  EXPECT_TRUE(carry.starts_with("a carry of at least 2 bits: ")) << carry;
}

TEST(Correlation, NamesHowManyWereAskedBefore) {
  const std::string late = Shared([](const DotProductCase& dot, int64_t, uint64_t before) {
    return before >= 40000 && dot.c % 2;
  });
  EXPECT_TRUE(late.starts_with("at least 32,768 asked before: ")) << late;
}

TEST(Correlation, NamesTheCore) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one core";
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &all)) last = core;
  }
  const std::string core = Shared([last](const DotProductCase& dot, int64_t, uint64_t) {
    return sched_getcpu() == last && dot.c % 8 == 0;
  });
  EXPECT_TRUE(core.starts_with("core " + std::to_string(last) + ": ")) << core;
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&all, &after));
}

TEST(Correlation, IsNotSaidOfFewOrOfAllOrOfChance) {
  EXPECT_EQ(Shared([](const DotProductCase&, int64_t, uint64_t) { return true; }), "");
  EXPECT_EQ(Shared([](const DotProductCase&, int64_t, uint64_t before) { return before == 7; }),
            "");
  EXPECT_EQ(
      Shared([](const DotProductCase&, int64_t, uint64_t before) { return before % 97 == 5; }), "");
}

}  // namespace
}  // namespace mmadiff
