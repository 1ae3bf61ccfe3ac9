// The AMX instructions of device `host`: where the elements lie in the tiles, and vectors of their
// arithmetic as answered by hardware. The integer ones are in host_simulator_test.cc, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/host.h"
#include "device/line_protocol.h"

namespace mmadiff {
namespace {

std::unique_ptr<Device> Host() { return *OpenHost(); }

const Operation& OperationOf(const std::string& instruction) {
  return *FindOperation(absl::StrCat("x86/", instruction));
}

#define MMADIFF_SKIP_UNLESS_SUPPORTED(op)                     \
  if (const absl::Status s = Host()->Supports(op); !s.ok()) { \
    GTEST_SKIP() << s.message();                              \
  }

#ifdef __x86_64__
// Linux refuses the tiles while an alternative signal stack cannot hold them (xstate.rst). The
// child process starts anew, without the permission of this one.
TEST(HostAmxDeathTest, RefusedPermissionIsNotFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask = [] {
    static char memory[8192];  // a frame with tile data takes more
    const stack_t small = {.ss_sp = memory, .ss_flags = 0, .ss_size = sizeof(memory)};
    if (sigaltstack(&small, nullptr) != 0) exit(2);
    const absl::Status status = Host()->Supports(OperationOf("tdpbf16ps"));
    std::cerr << status;
    exit(absl::IsNotFound(status) ? 0 : 1);
  };
  EXPECT_EXIT(ask(), ::testing::ExitedWithCode(0), "x86/tdpbf16ps needs the CPU feature AMX_BF16");
}

// A thread without tiles in use switches faster.
TEST(HostAmxRelease, TilesAreReleased) {
  const Operation& op = OperationOf("tdpbf16ps");
  MMADIFF_SKIP_UNLESS_SUPPORTED(op);
  Batch batch;
  batch.Resize(op.shape(), 1);
  ASSERT_TRUE(Host()->Run(op, batch).ok());
  uint8_t configuration[64];  // byte 0 is the palette; 0 means none (SDM vol. 2, STTILECFG)
  asm volatile("sttilecfg %0" : "=m"(configuration));
  EXPECT_EQ(configuration[0], 0);
}
#endif

class HostAmx : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { MMADIFF_SKIP_UNLESS_SUPPORTED(op()); }

  const Operation& op() const { return OperationOf(GetParam()); }
  std::vector<uint64_t> Run(const Batch& batch) { return *device_->Run(op(), batch); }

  // Any bits at all, NaNs included.
  Batch RandomBatch(const Shape& shape, int64_t count) const {
    std::mt19937_64 random(1);
    Batch batch;
    batch.Resize(shape, count);
    for (uint64_t& w : batch.a) w = random() & LowBits(op().model.a.bits);
    for (uint64_t& w : batch.b) w = random() & LowBits(op().model.b.bits);
    for (uint64_t& w : batch.c) w = random() & LowBits(op().model.c.bits);
    return batch;
  }

  std::unique_ptr<Device> device_ = Host();
};

struct Known {
  uint64_t a, b, product;  // words
};
// 2 * 3 = 6, in both formats.
Known KnownProduct(const Operation& op) {
  return IsInteger(op.model.a) ? Known{2, 3, 6} : Known{0x4000, 0x4040, 0x40c00000};
}

// One element of A and one of B are not zero. For every row, column and k: they meet in one result.
TEST_P(HostAmx, OneHotOperandsMeetInOneResult) {
  const Shape s = op().shape();
  const Known known = KnownProduct(op());
  for (int k = 0; k < s.k; ++k) {
    Batch batch;
    batch.Resize(s, s.d_words());
    std::vector<uint64_t> expected(batch.dot_products());
    for (int i = 0; i < s.d_words(); ++i) {
      const int m = i / s.n, n = i % s.n;
      batch.a[i * s.a_words() + m * s.k + k] = known.a;
      batch.b[i * s.b_words() + n * s.k + k] = known.b;
      expected[i * s.d_words() + i] = known.product;
    }
    ASSERT_EQ(Run(batch), expected) << "k = " << k;
  }
}

// The elements differ in k: nothing meets.
TEST_P(HostAmx, DifferentKNeverMeet) {
  const Shape s = op().shape();
  const Known known = KnownProduct(op());
  Batch batch;
  batch.Resize(s, s.k * s.k);
  for (int i = 0; i < s.k * s.k; ++i) {
    if (i / s.k == i % s.k) continue;
    for (int m = 0; m < s.m; ++m) batch.a[i * s.a_words() + m * s.k + i / s.k] = known.a;
    for (int n = 0; n < s.n; ++n) batch.b[i * s.b_words() + n * s.k + i % s.k] = known.b;
  }
  EXPECT_EQ(Run(batch), std::vector<uint64_t>(batch.dot_products()));
}

TEST_P(HostAmx, AddendStaysInItsPlace) {
  Batch batch;
  batch.Resize(op().shape(), 2);
  for (size_t i = 0; i < batch.c.size(); ++i) batch.c[i] = 0x40000000 + i;
  EXPECT_EQ(Run(batch), batch.c);
}

// Off the diagonal of a tile of single dot products there are other sums; no result shows them.
TEST_P(HostAmx, TilesAndSingleDotProductsAgree) {
  const Batch tiles = RandomBatch(op().shape(), 50);
  std::vector<DotProductCase> dots;
  for (int64_t i = 0; i < tiles.dot_products(); ++i) dots.push_back(Extract(tiles, i));
  const std::vector<uint64_t> expected = Run(tiles);
  EXPECT_EQ(Run(MakeDotProductBatch(op().shape(), dots)), expected);
  dots.resize(37);  // two full tiles and 5
  EXPECT_EQ(Run(MakeDotProductBatch(op().shape(), dots)),
            std::vector<uint64_t>(expected.begin(), expected.begin() + 37));
}

// The shape of the tiles is configured for each thread anew, and two at once do not meet.
TEST_P(HostAmx, OtherThreads) {
  const Batch batch = RandomBatch(op().shape(), 200);
  const std::vector<uint64_t> expected = Run(batch);
  int equal[2] = {};
  std::vector<std::thread> threads;
  for (int& e : equal) {
    threads.emplace_back([&] {
      const std::unique_ptr<Device> host = Host();
      for (int i = 0; i < 50; ++i) e += *host->Run(op(), batch) == expected;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(equal, ::testing::ElementsAre(50, 50));
}

INSTANTIATE_TEST_SUITE_P(Operations, HostAmx,
                         ::testing::Values("tdpbf16ps", "tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud"),
                         [](const auto& info) { return std::string(info.param); });

// "k a b" for each product, in hexadecimal but for k; all other elements are zero. The only k may
// be
// "*", for all of them.
struct Vector {
  const char* name;
  const char* instruction;
  const char* products;
  uint64_t c, d;

  friend void PrintTo(const Vector& v, std::ostream* out) {
    *out << v.instruction << " " << v.products;
  }
};

// Named for what they distinguish. TDPBF16PS is two chains of fused steps, one for the even k and
// one for the odd; their sum is rounded, then added to c (SDM vol. 2). That, and all that the SDM
// leaves open (NaNs, tininess), as answered by hardware: Intel, family 6 model 167, AMX_BF16 and
// AMX_INT8.
constexpr Vector kVectors[] = {
    // 2^24 and -2^24 cancel in the even chain; the 1 of the odd chain is not absorbed by 2^24 (one
    // chain: 0).
    {"even_and_odd_chains_are_apart", "tdpbf16ps", "0 4b80 3f80 1 3f80 3f80 2 cb80 3f80",
     0x00000000, 0x3f800000},
    // 2^24 + 1 is a tie to even inside the odd chain: the 1 is lost.
    {"odd_chain_absorbs_in_itself", "tdpbf16ps", "1 4b80 3f80 3 3f80 3f80 5 cb80 3f80", 0x00000000,
     0x00000000},
    {"ascending_k", "tdpbf16ps", "0 3f80 3f80 2 4b80 3f80 4 cb80 3f80 6 4000 3f80", 0x00000000,
     0x40000000},
    // 2^-126 + 2^-148: a product flushed on its own would be lost.
    {"product_is_fused", "tdpbf16ps", "0 2000 2000 2 1a00 1b00", 0x00000000, 0x00800002},
    // -2^127 + 2^128: the product does not overflow on its own.
    {"product_overflow_is_fused", "tdpbf16ps", "0 ff00 3f80 2 7f00 4000", 0x00000000, 0x7f000000},
    // 2^24 + (1 + 1): a chain that starts at c would lose both ones.
    {"addend_joins_last", "tdpbf16ps", "0 3f80 3f80 1 3f80 3f80", 0x4b800000, 0x4b800001},
    // t = 2^24 + 1 rounds to 2^24 before c = -2^24 joins: 0, not 1.
    {"t_is_rounded_before_addend", "tdpbf16ps", "0 4b80 3f80 1 3f80 3f80", 0xcb800000, 0x00000000},
    // 2^24 + 3 is a tie, to even: 2^24 + 4.
    {"rounding_to_even_up", "tdpbf16ps", "0 4b80 3f80 2 4040 3f80", 0x00000000, 0x4b800002},
    {"subnormal_operand_a_is_zero", "tdpbf16ps", "0 007f 7f00", 0x00000000, 0x00000000},
    {"subnormal_operand_b_is_zero", "tdpbf16ps", "0 7f00 007f", 0x00000000, 0x00000000},
    {"subnormal_addend_is_zero", "tdpbf16ps", "0 2000 2000", 0x807fffff, 0x00800000},
    // 2^-126 - 1.5 * 2^-126 is subnormal and negative: -0.
    {"subnormal_final_result_is_zero", "tdpbf16ps", "0 2000 2000", 0x80c00000, 0x80000000},
    // 2^-127 twice: each step is flushed, the sum would be 2^-126.
    {"subnormal_intermediate_is_zero", "tdpbf16ps", "0 1f80 2000 2 1f80 2000", 0x00000000,
     0x00000000},
    // 2^-126 - 2^-151 rounds to 2^-126 at 24 digits with unbounded exponent: not tiny.
    {"tiny_after_rounding_kept", "tdpbf16ps", "0 2000 2000 2 9a00 1980", 0x00000000, 0x00800000},
    // 2^-126 - 2^-150 has 24 digits and so is tiny, although the subnormal grid would round it to
    // 2^-126.
    {"tiny_after_rounding_flushed", "tdpbf16ps", "0 2000 2000 2 9a00 1a00", 0x00000000, 0x00000000},
    {"all_products_minus_zero", "tdpbf16ps", "* 8000 3f80", 0x80000000, 0x00000000},
    // Both last steps underflow to -0, and -0 + -0 + -0 = -0: a result can be -0.
    {"minus_zero_by_underflow", "tdpbf16ps", "30 9a00 1a00 31 9a00 1a00", 0x80000000, 0x80000000},
    // E = +Inf, O = -Inf: default NaN, although all operands are finite.
    {"overflow_of_both_chains_is_invalid", "tdpbf16ps", "0 7f7f 7f7f 1 ff7f 7f7f", 0x00000000,
     0xffc00000},
    {"overflow_by_rounding", "tdpbf16ps", "0 7f7f 3f80 2 7b7f 3f80 4 777f 3f80 6 7300 3f80",
     0x00000000, 0x7f800000},
    {"infinity_times_zero", "tdpbf16ps", "0 7f80 0000", 0x3f800000, 0xffc00000},
    {"nan_a_before_b", "tdpbf16ps", "0 7f81 7fc2", 0x00000000, 0x7fc10000},
    {"nan_b_before_accumulator", "tdpbf16ps", "0 7f81 3f80 2 3f80 7f84", 0x00000000, 0x7fc40000},
    {"nan_accumulator_before_invalid", "tdpbf16ps", "0 7f81 3f80 2 7f80 0000", 0x00000000,
     0x7fc10000},
    {"nan_even_late_before_odd_early", "tdpbf16ps", "1 7f82 3f80 30 7f81 3f80", 0x00000000,
     0x7fc10000},
    {"nan_addend_before_chains", "tdpbf16ps", "0 7f81 3f80 1 7f82 3f80", 0xff800005, 0xffc00005},
    {"a_signed_b_unsigned", "tdpbsud", "0 ff 80", 0x00000000, 0xffffff80},
    {"a_unsigned_b_signed", "tdpbusd", "0 ff 80", 0x00000000, 0xffff8080},
    {"both_signed", "tdpbssd", "0 ff 80", 0x00000000, 0x00000080},
    {"both_unsigned", "tdpbuud", "0 ff 80", 0x00000000, 0x00007f80},
    {"wraps_up", "tdpbssd", "* 80 80", 0x7fffffff, 0x800fffff},
    {"wraps_down", "tdpbusd", "* ff 80", 0x80000000, 0x7fe02000},
    {"wraps_down", "tdpbsud", "* 80 ff", 0x80000000, 0x7fe02000},
    {"wraps_up", "tdpbuud", "* ff ff", 0xffffffff, 0x003f803f},
    {"no_saturation_of_signed_range", "tdpbuud", "* ff ff", 0x7fffffff, 0x803f803f},
};

DotProductCase DotProduct(const Vector& v, int k_of_instruction) {
  DotProductCase dot = {std::vector<uint64_t>(k_of_instruction),
                        std::vector<uint64_t>(k_of_instruction), v.c};
  std::istringstream products(v.products);
  std::string k;
  for (uint64_t a, b; products >> k >> std::hex >> a >> b;) {
    if (k == "*") {
      dot.a.assign(k_of_instruction, a);
      dot.b.assign(k_of_instruction, b);
    } else {
      dot.a[std::stoi(k)] = a;
      dot.b[std::stoi(k)] = b;
    }
  }
  return dot;
}

class HostAmxVector : public ::testing::TestWithParam<Vector> {};

TEST_P(HostAmxVector, HardwareAnswers) {
  const Vector& v = GetParam();
  const Operation& op = OperationOf(v.instruction);
  MMADIFF_SKIP_UNLESS_SUPPORTED(op);
  const DotProductCase dot = DotProduct(v, op.shape().k);
  // In every lane: 17 on diagonals, and a whole tile.
  const Batch singles = MakeDotProductBatch(op.shape(), std::vector(17, dot));
  Batch tile;
  tile.Resize(op.shape(), 1);
  for (int i = 0; i < 256; ++i) Insert(dot, 0, PositionOf(op.shape(), i), tile);
  for (const Batch& batch : {singles, tile}) {
    const auto d = Host()->Run(op, batch);
    ASSERT_TRUE(d.ok()) << d.status();
    for (const uint64_t word : *d) EXPECT_EQ(HexWord(op.model.d, word), HexWord(op.model.d, v.d));
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, HostAmxVector, ::testing::ValuesIn(kVectors),
                         [](const auto& info) {
                           return absl::StrCat(info.param.instruction, "_", info.param.name);
                         });

}  // namespace
}  // namespace mmadiff
