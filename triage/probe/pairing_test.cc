#include "triage/probe/pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

std::string TextOf(const char* name, std::function<void(DotProductCase&)> move) {
  const Operation& op = *FindOperation(name);
  ChangedOperands device(op, std::move(move));
  const absl::StatusOr<Pairing> pairing = AskPairing(device, op);
  return pairing.ok() ? pairing->Text() : pairing.status().ToString();
}

constexpr char kHalf[] = "sm_80/mma.m16n8k8.f32.f16.f16.f32";
constexpr char kScaled[] = "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0";

TEST(Pairing, NamesAPermutation) {
  EXPECT_EQ(TextOf(kHalf,
                   [](DotProductCase& dot) {
                     std::swap(dot.b[0], dot.b[2]);
                     std::swap(dot.b[1], dot.b[3]);
                   }),
            "k = 0 of a meets k = 2 of b, 1 meets 3, 2 meets 0, 3 meets 1");
  EXPECT_EQ(TextOf(kHalf, [](DotProductCase& dot) { dot.b[5] = dot.b[4]; }),
            "k = 5 of a meets k = 4 of b");
  EXPECT_THAT(TextOf("x86/vpdpbusd", [](DotProductCase& dot) { std::swap(dot.a[3], dot.a[0]); }),
              StartsWith("k = 0 of a meets k = 3 of b, 3 meets 0"));
}

TEST(Pairing, NamesMetadata) {
  constexpr char kSparse[] = "sm_90/mma.sp.m16n8k32.s32.s8.s8.s32";
  // The elements of B as if word 9 were c, in the last group alone.
  EXPECT_EQ(TextOf(kSparse,
                   [](DotProductCase& dot) {
                     if (dot.metadata[7] != 9) return;
                     dot.b[29] = dot.b[28];
                     dot.b[30] = dot.b[31];
                   }),
            "with metadata e7 = 09: k = 29 of a meets k = 28 of b, 30 meets 31");
  EXPECT_EQ(
      TextOf(kSparse, [](DotProductCase& dot) { std::swap(dot.metadata[0], dot.metadata[1]); }),
      "with metadata e0 = 04, e1 = 08: k = 1 of a is ignored, 6 is ignored");
  EXPECT_EQ(TextOf(kSparse, [](DotProductCase& dot) { std::swap(dot.b[0], dot.b[4]); }),
            "with metadata e0 = 04, e1 = 08: k = 0 of a meets k = 4 of b, 4 meets 0");
}

TEST(Pairing, NamesARule) {
  EXPECT_EQ(
      TextOf(
          kHalf,
          [](DotProductCase& dot) { std::rotate(dot.b.begin(), dot.b.begin() + 1, dot.b.end()); }),
      "k = 0 of a meets k = 1 of b, 1 meets 2, 2 meets 3, 3 meets 4, ...: k meets k + 1, modulo 8");
  EXPECT_EQ(TextOf(kHalf, [](DotProductCase& dot) { std::reverse(dot.b.begin(), dot.b.end()); }),
            "k = 0 of a meets k = 7 of b, 1 meets 6, 2 meets 5, 3 meets 4, ...: k meets k XOR 7");
}

TEST(Pairing, NamesWhatIsIgnored) {
  EXPECT_EQ(TextOf(kHalf, [](DotProductCase& dot) { dot.b[7] = 0; }), "k = 7 of a is ignored");
  EXPECT_EQ(TextOf(kHalf, [](DotProductCase& dot) { dot.b[1] = dot.a[2] = 0; }),
            "k = 1..2 of a is ignored");
}

TEST(Pairing, NamesAConstant) {
  EXPECT_EQ(TextOf(kHalf, [](DotProductCase& dot) { dot.b[3] = 0x3c00; }),
            "k = 3 of a meets a constant");
}

// An element that every other one meets too says nothing about these.
TEST(Pairing, ClaimsNothingUnknown) {
  EXPECT_THAT(TextOf(kHalf, [](DotProductCase& dot) { dot.a[3] |= 0x3c00; }), IsEmpty());
}

TEST(Pairing, NamesTheScales) {
  EXPECT_EQ(TextOf(kScaled, [](DotProductCase& dot) { std::swap(dot.a[64], dot.a[65]); }),
            "k = 0..31 of a has scale 1 of a, 32..63 has 0");
  EXPECT_EQ(TextOf(kScaled, [](DotProductCase& dot) { dot.b[65] = dot.b[64]; }),
            "k = 32..63 of b has scale 0 of b");
}

// A device that reads words otherwise still shows which k meet.
TEST(Pairing, DoesNotNeedTheValueOfOne) {
  EXPECT_THAT(TextOf(kHalf,
                     [](DotProductCase& dot) {
                       for (uint64_t& word : dot.a) word = word == 0x3c00 ? 0x4123 : word;
                     }),
              IsEmpty());
}

TEST(Pairing, OfEveryRowIsRight) {
  for (const Operation* op : DistinctOperations()) {
    ModelDevice device(op->model);
    const absl::StatusOr<Pairing> pairing = AskPairing(device, *op);
    ASSERT_TRUE(pairing.ok()) << op->name;
    EXPECT_THAT(pairing->Text(), IsEmpty()) << op->name;
  }
}

}  // namespace
}  // namespace mmadiff
