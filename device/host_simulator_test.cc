// The simulator held against this CPU: every answer of the hardware that the simulator gets wrong
// is a discovery, and belongs into sim/numerics.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "device/host.h"
#include "device/line_protocol.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Words and batches that reach every rule: all kinds of numbers and NaNs, and sums near
// 2^min_exponent.
class Generator {
 public:
  explicit Generator(const Operation& op) : model_(op.model), random_(20240901) {}

  // Every operand on its own, of any kind.
  Batch AnyKinds(int64_t count) {
    Batch batch = Empty(count);
    for (uint64_t& w : batch.a) w = Word(model_.a);
    for (uint64_t& w : batch.b) w = Word(model_.b);
    for (uint64_t& w : batch.c) w = Word(model_.c);
    return batch;
  }

  // Products and addends around the smallest normal number, and an ulp or so of it apart.
  Batch AroundTheSmallestNormal(int64_t count) {
    const Format &f = model_.a, &out = model_.d;
    Batch batch = Empty(count);
    for (size_t i = 0; i < batch.a.size(); ++i) {
      const int far = Chance(2) ? out.fraction_bits : 0;
      const int exponent = out.min_exponent - far + Between(-4, 3);
      const int exponent_a = exponent / 2 + Between(-5, 5);
      batch.a[i] = Chance(4) ? Sign(f) : Number(f, exponent_a);
      batch.b[i] = Number(model_.b, exponent - exponent_a);
    }
    for (uint64_t& w : batch.c) {
      w = Sign(out) | static_cast<uint64_t>(Between(0, 2)) << out.fraction_bits | Fraction(out);
    }
    return batch;
  }

  // Products and addend within a few binades of each other: cancellations, ties, carries.
  Batch Close(int64_t count) {
    Batch batch = Empty(count);
    for (uint64_t& w : batch.a) w = Number(model_.a, Between(-3, 3));
    for (uint64_t& w : batch.b) w = Number(model_.b, Between(-3, 3));
    for (uint64_t& w : batch.c) w = Number(model_.c, Between(-30, 30));
    return batch;
  }

 private:
  Batch Empty(int64_t count) const {
    Batch batch;
    batch.Resize({1, 1, model_.k, 1}, count);
    return batch;
  }
  bool Chance(int n) { return random_() % n == 0; }
  int Between(int low, int high) { return low + static_cast<int>(random_() % (high - low + 1)); }
  uint64_t Sign(const Format& f) { return (random_() & 1) << SignBit(f); }

  // Few or all bits set, or any.
  uint64_t Fraction(const Format& f) {
    if (Chance(2)) return random_() & LowBits(f.fraction_bits);
    const uint64_t near = random_() % 3;
    return Chance(2) ? near : LowBits(f.fraction_bits) - near;
  }

  // A normal number of an exponent inside the range of the format.
  uint64_t Number(const Format& f, int exponent) {
    const uint64_t field = exponent - f.min_exponent + 1;
    return Sign(f) | field << f.fraction_bits | Fraction(f);
  }

  uint64_t Word(const Format& f) {
    if (IsInteger(f)) {
      const uint64_t top = 1ull << SignBit(f);
      const uint64_t edges[] = {0, 1, LowBits(f.bits), top, top - 1};
      return Chance(2) ? random_() & LowBits(f.bits) : edges[random_() % 5];
    }
    const uint64_t all = MaxExponentField(f);
    uint64_t field = random_() % (all + 1), fraction = Fraction(f);
    switch (random_() % 8) {
      case 0:
        field = fraction = 0;
        break;
      case 1:
        field = 0;
        break;
      case 2:
        field = all;
        fraction = 0;
        break;
      case 3:
        field = all;
        fraction = (Chance(2) ? 1ull << (f.fraction_bits - 1) : 0) | (random_() % 4);
        break;
      case 4:
        field = all;
        break;
    }
    return Sign(f) | field << f.fraction_bits | fraction;
  }

  const Model& model_;
  std::mt19937_64 random_;
};

class HostSimulator : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const absl::Status supported = device_->Supports(op());
    if (!supported.ok()) GTEST_SKIP() << supported.message();
  }

  const Operation& op() const { return *FindOperation(GetParam()); }

  // The hardware's results, compared with the simulator's: at most ten differences are shown.
  std::vector<uint64_t> Check(const Batch& batch) {
    const absl::StatusOr<std::vector<uint64_t>> hardware = device_->Run(op(), batch);
    EXPECT_TRUE(hardware.ok()) << hardware.status();
    if (!hardware.ok()) return {};
    std::vector<uint64_t> simulated(batch.dot_products());
    Simulate(op().model, batch, simulated);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      if ((*hardware)[i] == simulated[i] || ++told_ > 10) continue;
      ADD_FAILURE() << FormatLine(*op().instruction, Extract(batch, i)) << "  hardware "
                    << HexWord(op().model.d, (*hardware)[i]) << "  simulator "
                    << HexWord(op().model.d, simulated[i]);
    }
    return *hardware;
  }

  std::unique_ptr<Device> device_ = *OpenHost();
  int told_ = 0;
};

// Two million dot products; fewer, but tens of millions of products, where they are long.
TEST_P(HostSimulator, MillionsOfProducts) {
  constexpr int64_t kAtOnce = 50000;
  Generator generator(op());
  const int rounds = op().model.k > 4 ? 3 : 14;
  for (int i = 0; i < rounds; ++i) {
    Check(generator.AnyKinds(kAtOnce));
    if (IsInteger(op().model.d)) continue;
    Check(generator.AroundTheSmallestNormal(kAtOnce));
    Check(generator.Close(kAtOnce));
  }
  for (int i = 0; IsInteger(op().model.d) && i < 2 * rounds; ++i) {
    Check(generator.AnyKinds(kAtOnce));
  }
}

// Kinds of words, about a dozen of a floating-point format; `place` makes the payload of a NaN show
// where it came from.
std::vector<uint64_t> Kinds(const Format& f, uint64_t place) {
  const uint64_t sign = 1ull << SignBit(f);
  if (IsInteger(f)) return {1, LowBits(f.bits), sign, sign - 1};
  const uint64_t infinity = InfinityWord(f, false), quiet = 1ull << (f.fraction_bits - 1);
  const uint64_t smallest_normal = 1ull << f.fraction_bits;
  const uint64_t near_one = infinity >> 1 & ~LowBits(f.fraction_bits);
  std::vector<uint64_t> kinds = {0,        sign,     1,           smallest_normal | sign,
                                 near_one, infinity, infinity - 1};
  kinds.push_back(infinity | sign);
  for (const uint64_t nan : {infinity, infinity | sign}) {
    kinds.push_back(nan | quiet | place);
    kinds.push_back(nan | place);
  }
  return kinds;
}

// Every combination of kinds over the first operands of a dot product, all of them where it is
// short, and the addend. The other operands are zero.
TEST_P(HostSimulator, EveryCombinationOfKinds) {
  const Model& m = op().model;
  const int varied = std::min(m.k, IsInteger(m.a) ? 4 : 2);
  std::vector<std::vector<uint64_t>> choices;
  for (int k = 0; k < varied; ++k) choices.push_back(Kinds(m.a, 1 + 2 * k));
  for (int k = 0; k < varied; ++k) choices.push_back(Kinds(m.b, 2 + 2 * k));
  choices.push_back(Kinds(m.c, 9));
  int64_t count = 1;
  for (const auto& c : choices) count *= static_cast<int64_t>(c.size());
  Batch batch;
  batch.Resize(DotProductShape(op().shape()), count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;  // one digit for each operand
    const auto next = [&](size_t operand) {
      const std::vector<uint64_t>& c = choices[operand];
      const uint64_t word = c[rest % c.size()];
      rest /= static_cast<int64_t>(c.size());
      return word;
    };
    for (int k = 0; k < varied; ++k) batch.a[i * m.k + k] = next(k);
    for (int k = 0; k < varied; ++k) batch.b[i * m.k + k] = next(varied + k);
    batch.c[i] = next(2 * varied);
  }
  Check(batch);
}

// The comparison has teeth: the hardware refutes every neighbour of the operation, but for those
// that no input can show (a wrapping sum is the same in any number of steps).
TEST_P(HostSimulator, EveryNeighbourIsRefuted) {
  Generator generator(op());
  std::vector<Batch> batches = {generator.AnyKinds(50000)};
  if (!IsInteger(op().model.d)) {
    batches.push_back(generator.AroundTheSmallestNormal(50000));
    batches.push_back(generator.Close(50000));
  }
  for (const Neighbour& n : Neighbours(op().model)) {
    if (Name(n).rfind("terms=", 0) == 0 && op().model.algorithm.overflow == Overflow::kWrap)
      continue;
    int64_t refuted = 0;
    for (const Batch& batch : batches) {
      const std::vector<uint64_t> hardware = *device_->Run(op(), batch);
      std::vector<uint64_t> changed(batch.dot_products());
      Simulate(WithAlgorithm(op(), n.algorithm), batch, changed);
      for (int64_t i = 0; i < batch.dot_products(); ++i) refuted += hardware[i] != changed[i];
    }
    EXPECT_GT(refuted, 20) << Name(n);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, HostSimulator,
                         ::testing::Values("x86/vdpbf16ps", "x86/vfmadd231ss", "x86/vfmadd231sd",
                                           "x86/vpdpbusd", "x86/vpdpbusds", "x86/vpdpwssd",
                                           "x86/vpdpwssds", "x86/tdpbssd", "x86/tdpbsud",
                                           "x86/tdpbusd", "x86/tdpbuud"),
                         [](const auto& info) { return std::string(info.param).substr(4); });

}  // namespace
}  // namespace mmadiff
