// Conversions of this CPU against the simulator: every 16-bit operand, and f32 operands of every
// exponent with fractions of every kind.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "device/host.h"
#include "device/line_protocol.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr uint64_t kF32Step = 65521, kUpperStep = 5;  // primes: all exponents, any fractions

// Every word of 16 bits; of 32 bits some, with all words around halves of the results.
std::vector<uint64_t> Operands(const Format& f) {
  std::vector<uint64_t> words;
  const uint64_t step = f.bits > 16 ? kF32Step : 1;
  for (uint64_t word = 0; word >> f.bits == 0; word += step) words.push_back(word);
  if (f.bits == 16) return words;
  std::mt19937_64 random(1);
  for (uint64_t high = 0; high >> 16 == 0; high += kUpperStep) {
    for (const uint64_t low : {0x0, 0x1, 0x7fff, 0x8000, 0x8001, 0xffff}) {
      words.push_back(high << 16 | low);
    }
    const uint64_t kept = random() & LowBits(19);  // of f16's results
    for (const uint64_t low : {0x0, 0x1, 0xfff, 0x1000, 0x1001, 0x1fff}) {
      words.push_back(kept << 13 | low);
    }
  }
  return words;
}

Batch BatchOf(const std::vector<uint64_t>& words) {
  Batch batch;
  batch.Resize({1, 1, 1, 1}, static_cast<int64_t>(words.size()));
  batch.a = words;
  return batch;
}

class HostConversion : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const absl::Status supported = device_->Supports(op());
    if (!supported.ok()) GTEST_SKIP() << supported.message();
  }
  const Operation& op() const { return *FindOperation(GetParam()); }

  std::unique_ptr<Device> device_ = *OpenHost();
};

TEST_P(HostConversion, AgreesWithTheSimulator) {
  const Batch batch = BatchOf(Operands(op().model.a));
  const absl::StatusOr<std::vector<uint64_t>> hardware = device_->Run(op(), batch);
  ASSERT_TRUE(hardware.ok()) << hardware.status();
  std::vector<uint64_t> simulated(batch.dot_products());
  Simulate(op().model, batch, simulated);
  int differing = 0;
  for (int64_t i = 0; i < batch.dot_products(); ++i) {
    if ((*hardware)[i] == simulated[i] || ++differing > 10) continue;
    ADD_FAILURE() << FormatLine(*op().instruction, Extract(batch, i)) << "  hardware "
                  << HexWord(op().model.d, (*hardware)[i]) << "  simulator "
                  << HexWord(op().model.d, simulated[i]);
  }
}

// Numbers of executions that fill no register.
TEST_P(HostConversion, ConvertsAnyNumberOfOperands) {
  const std::vector<uint64_t> all = Operands(op().model.a);
  for (const size_t count : {1, 7, 9, 17}) {
    const Batch batch = BatchOf({all.end() - count, all.end()});
    std::vector<uint64_t> simulated(count);
    Simulate(op().model, batch, simulated);
    EXPECT_EQ(*device_->Run(op(), batch), simulated) << count;
  }
}

// The comparison has teeth: this CPU refutes every neighbor.
TEST_P(HostConversion, EveryNeighbourIsRefuted) {
  const Batch batch = BatchOf(Operands(op().model.a));
  const std::vector<uint64_t> hardware = *device_->Run(op(), batch);
  for (const Neighbour& n : Neighbours(op().model)) {
    std::vector<uint64_t> changed(batch.dot_products());
    Simulate(WithAlgorithm(op(), n.algorithm), batch, changed);
    EXPECT_NE(hardware, changed) << Name(n);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, HostConversion,
                         testing::Values("x86/vcvtps2ph.rn", "x86/vcvtps2ph.rm", "x86/vcvtps2ph.rp",
                                         "x86/vcvtps2ph.rz", "x86/vcvtph2ps", "x86/vcvtneps2bf16"),
                         [](const auto& info) {
                           std::string name = std::string(info.param).substr(4);
                           if (const size_t dot = name.find('.'); dot != name.npos) name[dot] = '_';
                           return name;
                         });

}  // namespace
}  // namespace mmadiff
