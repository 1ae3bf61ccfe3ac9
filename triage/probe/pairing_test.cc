#include "triage/probe/pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "device/line_protocol.h"
#include "sim/sparsity.h"
#include "triage/probe/layout.h"
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

constexpr char kHalves[] = "sm_90/mma.sp.m16n8k16.f32.tf32.tf32.f32";
constexpr char kQuarters[] = "sm_90/mma.sp.m16n8k32.s32.s8.s8.s32";
constexpr char kPairs[] = "sm_90/mma.sp.m16n8k64.s32.s4.s4.s32";

// In one group of one word the elements meet those of B that another word selects.
TEST(Pairing, NamesOneWordOfOneGroup) {
  for (const char* const name : {kHalves, kQuarters, kPairs}) {
    const Model& m = FindOperation(name)->model;
    const int group = m.sparse_group;
    const std::span<const uint64_t> legal = LegalMetadata(group);
    for (size_t i = 0; i < legal.size() * m.groups(); ++i) {
      const int g = static_cast<int>(i / legal.size());
      const uint64_t word = legal[i % legal.size()], read = legal[(i + 1) % legal.size()];
      const auto k_of = [&](uint64_t w, int n) { return g * group + StoredPosition(group, w, n); };
      std::vector<std::string> moved;
      for (int n = 0; n < group / 2; ++n) {
        const int k = k_of(word, n), b = k_of(read, n);
        if (k == b) continue;
        moved.push_back(moved.empty() ? absl::StrCat("k = ", k, " of a meets k = ", b, " of b")
                                      : absl::StrCat(k, " meets ", b));
      }
      EXPECT_EQ(TextOf(name,
                       [&](DotProductCase& dot) {
                         const std::vector<uint64_t> b = dot.b;
                         for (int n = 0; dot.metadata[g] == word && n < group / 2; ++n)
                           dot.b[k_of(word, n)] = b[k_of(read, n)];
                       }),
                absl::StrCat("with metadata ", HexWord(kMetadataFormat, word), ": ",
                             absl::StrJoin(moved, ", ")));
    }
  }
}

TEST(Pairing, NamesAllWordsOfMetadata) {
  EXPECT_EQ(TextOf(kQuarters,
                   [](DotProductCase& dot) {
                     if (dot.metadata[2] == 8 || dot.metadata[2] == 9) dot.b[10] = dot.b[11];
                     if (dot.metadata[3] == 0xe) dot.b[14] = 0;
                   }),
            "with metadata 08 09: k = 10 of a meets k = 11 of b; with metadata 0e: k = 14 of a is "
            "ignored");
  EXPECT_EQ(TextOf(kQuarters, [](DotProductCase& dot) { std::swap(dot.b[0], dot.b[4]); }),
            "k = 0 of a meets k = 4 of b, 4 meets 0");
  EXPECT_EQ(
      TextOf(kQuarters, [](DotProductCase& dot) { std::swap(dot.metadata[0], dot.metadata[1]); }),
      "k = 1 of a is ignored, 5 is ignored; with metadata 04 0c: k = 4 of a is ignored; "
      "with metadata 08 0c: k = 0 of a is ignored; with metadata 08 0e: k = 6 of a is ignored; "
      "with metadata 09 0e: k = 2 of a is ignored; with metadata 0c: k = 7 of a is ignored; "
      "with metadata 0e: k = 3 of a is ignored");
}

// A device that would take too long gets one word in each group.
TEST(Pairing, AsksASlowDeviceLess) {
  class Slow : public ModelDevice {
   public:
    using ModelDevice::ModelDevice;
    bool IsSlow() const override { return true; }
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      absl::SleepFor(pause);
      return ModelDevice::Execute(op, batch, d);
    }
    absl::Duration pause;
  };
  const Operation& op = *FindOperation(kQuarters);
  Slow device(op.model);
  EXPECT_EQ(AskPairing(device, op)->metadata.size(), 6);
  device.pause = absl::Seconds(kMaxSlowSeconds / 11.9);  // twice for each word
  const absl::StatusOr<Pairing> pairing = AskPairing(device, op);
  EXPECT_EQ(pairing->metadata.size(), 1);
  EXPECT_TRUE(pairing->IsOwn());
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
    if (!IsSparse(op->model)) continue;
    EXPECT_TRUE(pairing->IsOwn()) << op->name;
    EXPECT_EQ(pairing->metadata.size(), LegalMetadata(op->model.sparse_group).size()) << op->name;
  }
}

}  // namespace
}  // namespace mmadiff
