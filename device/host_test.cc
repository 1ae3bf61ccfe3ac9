// Device `host`: named vectors answered by hardware, its environment and its speed. All the rest of
// the arithmetic is in host_simulator_test.cc.
#include "device/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "absl/strings/str_cat.h"
#include "device/host_instruction.h"
#include "device/line_protocol.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Device> Host() { return *OpenHost(); }

#define MMADIFF_SKIP_UNLESS_SUPPORTED(op)                     \
  if (const absl::Status s = Host()->Supports(op); !s.ok()) { \
    GTEST_SKIP() << s.message();                              \
  }

TEST(Host, NamesItself) {
  EXPECT_EQ(Host()->name(), "host");
#ifdef __x86_64__
  EXPECT_THAT(Name(Host()->identity()),
              ::testing::ContainsRegex("family [0-9]+ model [0-9]+ stepping"));
#endif
}

TEST(Host, OtherArchitecturesAreNotFound) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  EXPECT_EQ(Host()->Supports(op).code(), absl::StatusCode::kNotFound);
  Batch batch;
  batch.Resize(op.shape(), 1);
  EXPECT_EQ(Host()->Run(op, batch).status().code(), absl::StatusCode::kNotFound);
}

TEST(Host, EveryInstructionOfTheTableIsAOperation) {
  for (const HostInstruction& i : HostInstructions()) {
    const Operation* op = FindOperation(absl::StrCat("x86/", i.name));
    ASSERT_NE(op, nullptr) << i.name;
    EXPECT_EQ(Host()->Supports(*op).ok(), i.supported()) << i.name;
  }
}

TEST(Host, RefusesOtherShapes) {
  const Operation& op = *FindOperation("x86/vdpbf16ps");
  MMADIFF_SKIP_UNLESS_SUPPORTED(op);
  Batch batch;
  batch.Resize({2, 1, 2, 1}, 1);
  EXPECT_EQ(Host()->Run(op, batch).status().code(), absl::StatusCode::kInvalidArgument);
}

// A vector in the line protocol: a.. b.. c d.
struct Vector {
  const char* name;
  const char* instruction;
  const char* line;

  friend void PrintTo(const Vector& v, std::ostream* out) {
    *out << v.instruction << " " << v.line;
  }
};

// All of them as answered by hardware: Intel, family 6 model 167, AVX512_BF16 and AVX512_VNNI. The
// X distinguish VDPBF16PS from the other bf16 dot products (AMX, Arm BFDOT, NVIDIA), which differ
// on some of them; what the SDM's pseudo-code says came true on every line.
constexpr Vector kVectors[] = {
    {"X1_each_product_rounds_alone", "vdpbf16ps", "3f80 3f80 3f80 3f80 4b800000 4b800000"},
    {"X2_high_element_first", "vdpbf16ps", "3f80 cb80 3f80 3f80 4b800000 3f800000"},
    {"X3_tie_to_even", "vdpbf16ps", "3f80 0000 3f80 0000 4b800000 4b800000"},
    {"X5_tie_below_a_power_of_two", "vdpbf16ps", "bf00 0000 3f80 0000 4b800000 4b800000"},
    {"X7_subnormal_result_flushed", "vdpbf16ps", "0d80 0000 3080 0000 00000000 00000000"},
    {"X8_half_ulp_above_one", "vdpbf16ps", "3f80 3380 3f80 3f80 00000000 3f800000"},
    {"X9_quarter_ulp_below_one", "vdpbf16ps", "3f80 b300 3f80 3f80 00000000 3f800000"},
    {"X10_subnormal_operand_is_zero", "vdpbf16ps", "8080 0000 3f00 0000 00800000 00000000"},
    // 2^-126 - 2^-151 rounds to 2^-126 at 24 digits: not tiny. 2^-126 - 2^-150 has 24 digits, and
    // so is tiny, although the subnormal grid would round it to 2^-126.
    {"tiny_after_rounding_kept", "vdpbf16ps", "9a00 0000 1980 0000 00800000 00800000"},
    {"tiny_after_rounding_flushed", "vdpbf16ps", "9a00 0000 1a00 0000 00800000 00000000"},
    {"tiny_high_element_too", "vdpbf16ps", "0000 9a00 0000 1980 00800000 00800000"},
    {"tiny_negative_keeps_sign", "vdpbf16ps", "1a00 0000 1a00 0000 80800000 80000000"},
    {"tiny_intermediate_is_flushed", "vdpbf16ps", "1a00 9a00 1a00 1a00 00800000 00000000"},
    {"negative_subnormal_addend_is_minus_zero", "vdpbf16ps",
     "8000 8000 0000 0000 80000001 80000000"},
    {"negative_subnormal_times_one_is_minus_zero", "vdpbf16ps",
     "8001 8001 3f80 3f80 80000000 80000000"},
    {"cancellation_is_plus_zero", "vdpbf16ps", "3f80 0000 bf80 0000 3f800000 00000000"},
    {"overflow_of_the_first_step_stays", "vdpbf16ps", "ff7f 7f7f 7f7f 7f7f 00000000 7f800000"},
    {"opposite_infinities", "vdpbf16ps", "ff80 7f80 3f80 3f80 00000000 ffc00000"},
    {"infinity_times_zero", "vdpbf16ps", "7f80 0000 0000 0000 00000000 ffc00000"},
    {"infinity_times_subnormal", "vdpbf16ps", "7f80 0000 0001 0000 00000000 ffc00000"},
    {"infinity_times_zero_with_nan_addend", "vdpbf16ps", "0000 7f80 0000 0000 7f800005 7fc00005"},
    {"low_invalid_with_nan_of_high", "vdpbf16ps", "7f80 7fc2 0000 3f80 00000000 7fc20000"},
    {"low_nan_with_invalid_high", "vdpbf16ps", "7fc1 7f80 3f80 0000 00000000 7fc10000"},
    {"nan_order_1_a_low", "vdpbf16ps", "7f81 7fc2 7fc3 7fc4 7fc00005 7fc10000"},
    {"nan_order_2_b_low", "vdpbf16ps", "3f80 7fc2 7f83 7fc4 7fc00005 7fc30000"},
    {"nan_order_3_a_high", "vdpbf16ps", "3f80 7f82 3f80 7fc4 7fc00005 7fc20000"},
    {"nan_order_4_b_high", "vdpbf16ps", "3f80 3f80 3f80 7f84 7fc00005 7fc40000"},
    {"nan_order_5_c", "vdpbf16ps", "3f80 3f80 3f80 3f80 7f800005 7fc00005"},
    {"nan_signalling_does_not_win", "vdpbf16ps", "7fc1 7f82 7f83 7f84 7f800005 7fc10000"},
    {"nan_keeps_sign", "vdpbf16ps", "3f80 ffff 3f80 3f80 00000000 ffff0000"},

    {"fused", "vfmadd231ss", "3f800001 3f7fffff bf800000 337ffffe"},
    {"subnormals_kept", "vfmadd231ss", "00000001 3f800000 00000001 00000002"},
    {"subnormal_product_tie_to_even", "vfmadd231ss", "00000003 3f000000 00000000 00000002"},
    {"minus_zero_of_minus_zeros", "vfmadd231ss", "80000000 3f800000 80000000 80000000"},
    {"negative_underflow_is_minus_zero", "vfmadd231ss", "80000001 00000001 00000000 80000000"},
    {"cancellation_is_plus_zero", "vfmadd231ss", "3f800000 bf800000 3f800000 00000000"},
    {"overflow", "vfmadd231ss", "7f7fffff 40000000 ff7fffff 7f7fffff"},
    {"infinity_times_zero", "vfmadd231ss", "7f800000 80000000 3f800000 ffc00000"},
    {"infinity_minus_infinity", "vfmadd231ss", "7f800000 3f800000 ff800000 ffc00000"},
    {"infinity_times_subnormal", "vfmadd231ss", "7f800000 80000001 00000000 ff800000"},
    {"infinity_times_zero_with_nan_addend", "vfmadd231ss", "7f800000 00000000 7f800007 7fc00007"},
    {"nan_order_1_a", "vfmadd231ss", "7f800001 7fc00002 7fc00003 7fc00001"},
    {"nan_order_2_b", "vfmadd231ss", "3f800000 7f800002 7fc00003 7fc00002"},
    {"nan_order_3_c", "vfmadd231ss", "3f800000 3f800000 ff800003 ffc00003"},
    {"nan_signalling_does_not_win", "vfmadd231ss", "ffc00001 7f800002 7f800003 ffc00001"},
    {"nan_b_with_invalid_operands", "vfmadd231ss", "7f800000 7fc00002 ff800000 7fc00002"},

    {"fused", "vfmadd231sd", "3ff0000000000001 3fefffffffffffff bff0000000000000 3c9ffffffffffffe"},
    {"subnormals_kept", "vfmadd231sd",
     "0000000000000001 3ff0000000000000 0000000000000001 0000000000000002"},
    {"infinity_times_zero", "vfmadd231sd",
     "0000000000000000 7ff0000000000000 3ff0000000000000 fff8000000000000"},
    {"infinity_times_zero_with_nan_addend", "vfmadd231sd",
     "7ff0000000000000 0000000000000000 7ff0000000000007 7ff8000000000007"},
    {"nan_order_1_a", "vfmadd231sd",
     "7ff0000000000001 7ff8000000000002 7ff8000000000003 7ff8000000000001"},
    {"nan_order_2_b", "vfmadd231sd",
     "3ff0000000000000 7ff0000000000002 7ff8000000000003 7ff8000000000002"},
    {"nan_order_3_c", "vfmadd231sd",
     "3ff0000000000000 3ff0000000000000 fff0000000000003 fff8000000000003"},

    // a is unsigned, b signed. Saturation looks at the whole sum only.
    {"a_unsigned_b_signed", "vpdpbusd", "ff 00 00 00 80 00 00 00 00000000 ffff8080"},
    {"wraps_up", "vpdpbusd", "ff ff ff ff 7f 7f 7f 7f 7fffffff 8001fa03"},
    {"wraps_down", "vpdpbusd", "ff ff ff ff 80 80 80 80 80000000 7ffe0200"},
    {"saturates_up", "vpdpbusds", "ff ff ff ff 7f 7f 7f 7f 7fffffff 7fffffff"},
    {"saturates_down", "vpdpbusds", "ff ff ff ff 80 80 80 80 80000000 80000000"},
    {"saturates_once", "vpdpbusds", "ff ff 00 00 7f 80 00 00 7fffffff 7fffff00"},
    {"wraps_up", "vpdpwssd", "8000 8000 8000 8000 00000000 80000000"},
    {"saturates_up", "vpdpwssds", "8000 8000 8000 8000 00000000 7fffffff"},
    {"pair_sum_beyond_32_bits_is_exact", "vpdpwssds", "8000 8000 8000 8000 ffffffff 7fffffff"},
    {"pair_sum_and_lowest_addend", "vpdpwssds", "8000 8000 8000 8000 80000000 00000000"},
    {"saturates_down", "vpdpwssds", "8000 8000 7fff 7fff 80000000 80000000"},
};

std::string TestName(std::string name) {
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

class HostVector : public ::testing::TestWithParam<Vector> {};

TEST_P(HostVector, HardwareAndSimulatorAgreeOn) {
  const Operation& op = *FindOperation(absl::StrCat("x86/", GetParam().instruction));
  const absl::StatusOr<ProtocolLine> line = ParseLine(*op.instruction, GetParam().line);
  ASSERT_TRUE(line.ok() && line->d.has_value()) << line.status();
  EXPECT_EQ(HexWord(kF64, Simulate(op.model, line->dot)), HexWord(kF64, *line->d)) << "simulator";
  MMADIFF_SKIP_UNLESS_SUPPORTED(op);
  // In every lane.
  const Batch batch = MakeDotProductBatch(op.shape(), std::vector(16, line->dot));
  const auto d = Host()->Run(op, batch);
  ASSERT_TRUE(d.ok()) << d.status();
  for (const uint64_t word : *d) EXPECT_EQ(HexWord(kF64, word), HexWord(kF64, *line->d));
}

INSTANTIATE_TEST_SUITE_P(Vectors, HostVector, ::testing::ValuesIn(kVectors), [](const auto& info) {
  return TestName(absl::StrCat(info.param.instruction, "_", info.param.name));
});

class HostOperation : public ::testing::TestWithParam<const char*> {
 protected:
  const Operation& op() const { return *FindOperation(GetParam()); }

  Batch RandomBatch(int64_t count) const {
    std::mt19937_64 random(1);
    Batch batch;
    batch.Resize(DotProductShape(op().shape()), count);
    for (uint64_t& w : batch.a) w = random() & LowBits(op().model.a.bits);
    for (uint64_t& w : batch.b) w = random() & LowBits(op().model.b.bits);
    for (uint64_t& w : batch.c) w = random() & LowBits(op().model.c.bits);
    return batch;
  }

  std::unique_ptr<Device> device_ = Host();
};

#ifdef __x86_64__
// Rounding and flushing set by the caller change nothing, and stay set.
TEST_P(HostOperation, CallersMxcsrIsIgnoredAndRestored) {
  MMADIFF_SKIP_UNLESS_SUPPORTED(op());
  Batch batch = RandomBatch(1000);
  if (!IsInteger(op().model.a)) {  // also subnormal operands and results
    const uint64_t fraction = LowBits(op().model.a.fraction_bits);
    for (size_t i = 0; i < batch.a.size(); i += 3) batch.a[i] &= fraction;
  }
  const std::vector<uint64_t> expected = *device_->Run(op(), batch);
  const unsigned saved = _mm_getcsr();
  // Exceptions masked; toward zero, flush to zero, denormals are zero (SDM vol. 1, 10.2.3).
  constexpr unsigned kOdd = 0x1f80 | 0x6000 | 0x8000 | 0x40;
  _mm_setcsr(kOdd);
  const std::vector<uint64_t> again = *device_->Run(op(), batch);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(again, expected);
  EXPECT_EQ(after, kOdd);
}
#endif

INSTANTIATE_TEST_SUITE_P(Operations, HostOperation,
                         ::testing::Values("x86/vdpbf16ps", "x86/vfmadd231ss", "x86/vfmadd231sd",
                                           "x86/vpdpbusd", "x86/vpdpbusds", "x86/vpdpwssd",
                                           "x86/vpdpwssds", "x86/tdpbf16ps", "x86/tdpbssd",
                                           "x86/tdpbsud", "x86/tdpbusd", "x86/tdpbuud"),
                         [](const auto& info) { return TestName(info.param); });

}  // namespace
}  // namespace mmadiff
