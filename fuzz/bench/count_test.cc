#include "fuzz/bench/count.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>

namespace mmadiff {
namespace {

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
std::optional<InstructionCount> Count(const std::function<void()>& piece) {
  return CountInstructions(piece, 1 << 20, [] { return false; });
}

// How many more `longer` takes than `shorter`.
InstructionCount Difference(void (*longer)(), void (*shorter)()) {
  const auto x = Count(longer), y = Count(shorter);
  if (!x || !y) return {-1, -1};
  return {x->all - y->all, x->vector - y->vector};
}

template <int kTimes>
void Vectors() {
  asm volatile(
      ".rept %c0\n vpaddd %%ymm0, %%ymm0, %%ymm1\n vpsrlvd %%ymm0, %%ymm0, %%ymm8\n"
      "vmovdqa %%ymm0, %%ymm2\n vpbroadcastd %%xmm0, %%ymm2\n .endr" ::"i"(kTimes)
      : "xmm1", "xmm2", "xmm8");
}

template <int kTimes>
void Scalars() {
  asm volatile(
      ".rept %c0\n shlx %%rcx, %%rcx, %%rdx\n rorx $3, %%rcx, %%rdx\n addq %%rcx, %%rdx\n .endr" ::
          "i"(kTimes)
      : "rdx", "cc");
}

template <int kTimes>
void Masks() {
  asm volatile(
      ".rept %c0\n kmovd %%k1, %%ecx\n kandw %%k1, %%k2, %%k3\n kortestw %%k1, %%k1\n"
      "kshiftrw $1, %%k1, %%k2\n vpaddd %%zmm0, %%zmm0, %%zmm1\n"
      "vmovdqa64 %%zmm0, %%zmm2\n vpbroadcastd %%ecx, %%zmm2\n .endr" ::"i"(kTimes)
      : "rcx", "cc", "xmm1", "xmm2");
}

class CountTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Count([] {})) GTEST_SKIP() << "no ptrace here";
    if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "no AVX2 here";
  }
};

// Every instruction, and those on vectors alone as vectors.
TEST_F(CountTest, CountsWhatIsExecuted) {
  const InstructionCount vectors = Difference(Vectors<600>, Vectors<100>);
  const InstructionCount scalars = Difference(Scalars<600>, Scalars<100>);
  EXPECT_EQ(vectors.vector, 1000);
  EXPECT_EQ(vectors.all, 2000);
  EXPECT_EQ(scalars.vector, 0);
  EXPECT_EQ(scalars.all, 1500);
}

TEST_F(CountTest, OfMasksNone) {
  if (!__builtin_cpu_supports("avx512bw")) GTEST_SKIP() << "no AVX-512 here";
  const InstructionCount masks = Difference(Masks<200>, Masks<100>);
  EXPECT_EQ(masks.vector, 100);
  EXPECT_EQ(masks.all, 700);
}

TEST_F(CountTest, APieceThatDiesIsNotCounted) {
  EXPECT_FALSE(Count([] { raise(SIGKILL); }).has_value());
  EXPECT_FALSE(Count([] { __builtin_trap(); }).has_value());
  EXPECT_FALSE(Count([] { _exit(0); }).has_value());
}

TEST_F(CountTest, EndsWhenToldAndAfterSoMany) {
  const auto endless = [] {
    while (true) asm volatile("");
  };
  EXPECT_FALSE(CountInstructions(endless, 5000, [] { return false; }).has_value());
  EXPECT_FALSE(CountInstructions(endless, INT64_MAX, [] { return true; }).has_value());
}

TEST_F(CountTest, AddsTakeTime) {
  EXPECT_GT(VectorAddsPerNanosecond(32), 0);
  EXPECT_EQ(VectorAddsPerNanosecond(64) > 0, __builtin_cpu_supports("avx512f") != 0);
}
#endif

}  // namespace
}  // namespace mmadiff
