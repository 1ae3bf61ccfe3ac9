#include "sim/sparsity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/operation.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr int kGroups[] = {2, 4, 8};

// PTX ISA, "Sparse matrix storage", written out: the elements that each word stores, in order.
TEST(Sparsity, StoredElementsOfEveryWord) {
  const std::map<uint64_t, std::vector<int>> of_four = {
      {0x4, {0, 1}}, {0x8, {0, 2}}, {0x9, {1, 2}}, {0xc, {0, 3}}, {0xd, {1, 3}}, {0xe, {2, 3}}};
  const std::map<uint64_t, std::vector<int>> of_eight = {{0x4, {0, 1, 2, 3}}, {0x8, {0, 1, 4, 5}},
                                                         {0x9, {2, 3, 4, 5}}, {0xc, {0, 1, 6, 7}},
                                                         {0xd, {2, 3, 6, 7}}, {0xe, {4, 5, 6, 7}}};
  const std::map<uint64_t, std::vector<int>> of_two = {{0x4, {0}}, {0xe, {1}}};
  for (const auto& [group, words] : {std::pair(2, of_two), {4, of_four}, {8, of_eight}}) {
    for (uint64_t metadata = 0; metadata < 16; ++metadata) {
      const auto at = words.find(metadata);
      ASSERT_EQ(IsLegalMetadata(group, metadata), at != words.end()) << group << " " << metadata;
      if (at == words.end()) continue;
      std::vector<int> stored;
      for (int n = 0; n < group / 2; ++n) stored.push_back(StoredPosition(group, metadata, n));
      EXPECT_EQ(stored, at->second) << group << " " << metadata;
      for (int p = 0; p < group; ++p) {
        EXPECT_EQ(IsStored(group, metadata, p), std::ranges::count(stored, p) == 1);
      }
    }
  }
}

// For every choice of elements that are not +0, -0 among them: the least word that stores them all.
TEST(Sparsity, MetadataForZeros) {
  for (const int group : kGroups) {
    for (unsigned choice = 0; choice < 1u << group; ++choice) {
      std::vector<uint64_t> words(group);
      for (int p = 0; p < group; ++p) words[p] = choice >> p & 1 ? 0x8000 : 0;
      uint64_t least = 0;
      for (uint64_t metadata = 15; metadata > 0; --metadata) {
        if (!IsLegalMetadata(group, metadata)) continue;
        bool all = true;
        for (int p = 0; p < group; ++p) all &= words[p] == 0 || IsStored(group, metadata, p);
        if (all) least = metadata;
      }
      EXPECT_EQ(MetadataFor(words), least) << group << " " << choice;
    }
  }
}

TEST(Sparsity, OfRows) {
  const Instruction& sparse = *FindInstruction("v_smfmac_f32_16x16x32_f16");
  std::vector<uint64_t> rows(64);
  rows[36] = rows[39] = rows[63] = 1;
  EXPECT_EQ(WhyNotSparse(sparse, rows), "");
  std::vector<uint64_t> metadata(16, 0xe);
  EXPECT_EQ(WhyNotSparse(sparse, rows, metadata),
            "v_smfmac_f32_16x16x32_f16: a4 in row 1 differs from +0, but metadata word e1 does not "
            "store it");
  metadata[9] = 0xc;
  EXPECT_EQ(WhyNotSparse(sparse, rows, metadata), "");
  metadata[9] = 0;  // not given
  EXPECT_EQ(WhyNotSparse(sparse, rows, metadata), "");
  EXPECT_EQ(WhyUndefined(sparse, metadata),
            "v_smfmac_f32_16x16x32_f16: metadata word e1 is 00, which is undefined; defined are 04 "
            "08 09 0c 0d 0e");
  rows[37] = 1;
  const std::string why =
      "v_smfmac_f32_16x16x32_f16 is sparse: at most two of each group of four elements of A may "
      "differ from +0; too many differ: a4 to a7";
  EXPECT_EQ(WhyNotSparse(sparse, rows), why + " in row 1");
  EXPECT_EQ(WhyNotSparse(sparse, std::span(rows).last(32)), why);
  rows[38] = 0x8000;
  EXPECT_EQ(WhyNotSparse(sparse, rows), why + " in row 1; -0 differs from +0");
  EXPECT_EQ(WhyNotSparse(*FindInstruction("v_mfma_f32_16x16x32_f16"), rows), "");
  rows[37] = 0;
  metadata[9] = 0xc;
  EXPECT_EQ(WhyNotSparse(sparse, rows, metadata),
            "v_smfmac_f32_16x16x32_f16: a6 in row 1 differs from +0, but metadata word e1 does not "
            "store it; -0 differs from +0");
}

TEST(Sparsity, FittingMetadata) {
  const Shape shape = {1, 1, 8, 1, 0, 2};
  DotProductCase dot = {std::vector<uint64_t>(8), std::vector<uint64_t>(8), 0, {0xd, 0x4}};
  dot.a[1] = dot.a[7] = 1;
  ASSERT_TRUE(FitMetadata(shape, dot));
  EXPECT_EQ(dot.metadata, (std::vector<uint64_t>{0xd, 0xc}));
  dot.metadata.clear();
  ASSERT_TRUE(FitMetadata(shape, dot));
  EXPECT_EQ(dot.metadata, (std::vector<uint64_t>{0x4, 0xc}));
  dot.a[4] = dot.a[5] = 1;
  EXPECT_FALSE(FitMetadata(shape, dot));
}

// An infinity of b counts if its element of a is stored, even as a zero.
TEST(Sparsity, MetadataSelectWhatIsMultiplied) {
  const Operation& op = *FindOperation("sm_90/mma.sp.m16n8k16.f32.f16.f16.f32");
  DotProductCase dot = {std::vector<uint64_t>(16), std::vector<uint64_t>(16), 0, {4, 4, 4, 4}};
  dot.a[0] = dot.b[0] = 0x3c00;
  dot.b[6] = 0x7c00;
  EXPECT_EQ(Simulate(op.model, dot), 0x3f800000u);
  dot.metadata[1] = 0x8;  // a4 and a6
  EXPECT_EQ(Simulate(op.model, dot), 0x7fffffffu);
  Model in_place = op.model;
  in_place.algorithm.selection = Selection::kInPlace;
  dot.metadata[1] = 0x4;
  EXPECT_EQ(Simulate(in_place, dot), 0x7fffffffu);
  in_place.algorithm.selection = Selection::kZerosInPlace;
  EXPECT_EQ(Simulate(in_place, dot), 0x3f800000u);
}

// 10^6 dot products of the sparse instructions for integers, all metadata legal, against a loop over the
// stored elements in 64-bit arithmetic.
TEST(Sparsity, IntegersAgainstALoop) {
  constexpr int kExecutions = 8192;
  int64_t dot_products = 0;
  std::mt19937_64 random(1);
  for (const Operation& op : Operations()) {
    const Instruction& in = *op.instruction;
    if (!in.sparse() || !IsInteger(*in.d) || in.name.find("clamp") != in.name.npos) continue;
    if (op.arch() != "sm_80" && op.arch() != "sm_90" && op.arch() != "gfx942" &&
        op.arch() != "gfx1200") {
      continue;  // the others have these models
    }
    const bool saturates = in.name.find("satfinite") != in.name.npos;
    const int k = in.shape.k, group = k / in.shape.groups, per_row = in.shape.groups;
    const auto value = [](const Format& f, uint64_t word) {
      return f.is_signed && word >> (f.bits - 1) ? static_cast<int64_t>(word) - (1ll << f.bits)
                                                 : static_cast<int64_t>(word);
    };
    for (int batches = 0; batches < 2; ++batches) {
      Batch batch;
      batch.Resize(DotProductShape(in.shape), kExecutions);
      std::vector<int64_t> sums(kExecutions);
      for (int i = 0; i < kExecutions; ++i) {
        batch.c[i] = random() & 0xffffffff;
        sums[i] = static_cast<int32_t>(batch.c[i]);
        for (int g = 0; g < per_row; ++g) {
          uint64_t first = random() % 3, second = first + 1 + random() % (3 - first);
          batch.metadata[i * per_row + g] = first + 4 * second;
          for (int p = 0; p < group; ++p) {
            const int at = i * k + g * group + p;
            const uint64_t quarter = p / (group / 4);
            batch.b[at] = random() & LowBits(in.b->bits);
            if (quarter != first && quarter != second) continue;
            batch.a[at] = random() & LowBits(in.a->bits);
            sums[i] += value(*in.a, batch.a[at]) * value(*in.b, batch.b[at]);
          }
        }
        if (saturates) sums[i] = std::clamp<int64_t>(sums[i], INT32_MIN, INT32_MAX);
      }
      std::vector<uint64_t> d(kExecutions);
      Simulate(op.model, batch, d);
      dot_products += kExecutions;
      for (int i = 0; i < kExecutions; ++i) {
        ASSERT_EQ(d[i], static_cast<uint32_t>(sums[i])) << op.name;
      }
    }
  }
  EXPECT_GE(dot_products, 1'000'000);
}

}  // namespace
}  // namespace mmadiff
