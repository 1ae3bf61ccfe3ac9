#include "sim/products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

using ::testing::HasSubstr;

int BitsOf(const Format& f) { return f.bits <= 8 ? 8 : f.bits; }

// Matrices of random words in memory, with gaps between words, rows and matrices.
class Memory {
 public:
  Memory(const Format& f, int bits, int64_t count, int64_t rows, int64_t columns, int64_t gap,
         std::mt19937_64& random)
      : row_((columns + gap) * (1 + gap)), stride_(rows * row_ + gap), bits_(bits) {
    bytes_.resize((count * stride_ + 1) * (bits / 8));
    for (unsigned char& byte : bytes_) byte = static_cast<unsigned char>(random());
    words_ = {{bytes_.data(), row_, 1 + gap, bits}, stride_};
    for (int64_t e = 0; e < count; ++e) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          Store(words_.At(e), i, j, random() & LowBits(f.bits));
        }
      }
    }
  }
  const Stack<MutableWords>& out() const { return words_; }
  Stack<Words> in() const {
    const MutableWords& w = words_.first;
    return {{w.data, w.row_stride, w.column_stride, w.bits}, stride_};
  }

 private:
  const int64_t row_, stride_;
  const int bits_;
  std::vector<unsigned char> bytes_;
  Stack<MutableWords> words_;
};

struct Layout {
  int64_t count, m, n, gap;
  int threads;
};

// Gives each row of a sparse A metadata, and zeros where they store nothing.
void PruneRows(const Model& m, int64_t count, int64_t rows, Memory& a, Memory& metadata) {
  const Shape shape = {1, 1, m.k, 1, 0, m.groups()};
  for (int64_t i = 0; i < count * rows; ++i) {
    const MutableWords to = a.out().At(i / rows), words = metadata.out().At(i / rows);
    DotProductCase dot;
    for (int k = 0; k < m.k; ++k) dot.a.push_back(Load(a.in().At(i / rows), i % rows, k));
    Prune(shape, i, dot);
    for (int k = 0; k < m.k; ++k) Store(to, i % rows, k, dot.a[k]);
    for (int g = 0; g < m.groups(); ++g) Store(words, i % rows, g, dot.metadata[g]);
  }
}

// All operands of an operation, and its results one dot product at a time.
void Check(const Operation& op, const Layout& l) {
  std::mt19937_64 random(7);
  const Model& m = op.model;
  const auto memory = [&](const Format& f, int64_t rows, int64_t columns) {
    return Memory(f, std::max(BitsOf(f), l.gap > 1 ? 64 : 8), l.count, rows, columns, l.gap,
                  random);
  };
  const bool scaled = m.scale_block != 0;
  const Format& scale = scaled ? m.scale : kU8;
  Memory a = memory(m.a, l.m, m.k), b = memory(m.b, m.k, l.n), c = memory(m.c, l.m, l.n),
         d = memory(m.d, l.m, l.n), scale_a = memory(scale, l.m, m.scales()),
         scale_b = memory(scale, m.scales(), l.n), metadata = memory(kU4, l.m, m.groups());
  PruneRows(m, l.count, l.m, a, metadata);
  const Stack<Words> given = IsSparse(m) && l.gap != 1 ? metadata.in() : Stack<Words>{};
  const Products p = {l.count, l.m,          l.n,          a.in(), b.in(),
                      c.in(),  scale_a.in(), scale_b.in(), given,  d.out()};
  ASSERT_EQ(WhyNotProducts(*op.instruction, p), "");
  Simulate(m, p, l.threads);
  for (int64_t e = 0; e < l.count; ++e) {
    for (int64_t i = 0; i < l.m; ++i) {
      for (int64_t j = 0; j < l.n; ++j) {
        DotProductCase dot;
        for (int k = 0; k < m.k; ++k) dot.a.push_back(Load(a.in().At(e), i, k));
        for (int k = 0; k < m.k; ++k) dot.b.push_back(Load(b.in().At(e), k, j));
        for (int s = 0; s < m.scales(); ++s) dot.a.push_back(Load(scale_a.in().At(e), i, s));
        for (int s = 0; s < m.scales(); ++s) dot.b.push_back(Load(scale_b.in().At(e), s, j));
        for (int g = 0; g < m.groups() && given.first.data != nullptr; ++g) {
          dot.metadata.push_back(Load(metadata.in().At(e), i, g));
        }
        dot.c = Load(c.in().At(e), i, j);
        ASSERT_EQ(Load(d.in().At(e), i, j), Simulate(m, dot))
            << op.name << " [" << e << ", " << i << ", " << j << "]";
      }
    }
  }
}

TEST(Products, EqualDotProducts) {
  for (const char* name :
       {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m16n8k32.s32.s4.s4.s32",
        "sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0", "gfx90a/v_mfma_f64_16x16x4f64",
        "sm_70/mma.m8n8k4.f32.f16.f16.f32", "sm_90/mma.sp.m16n8k16.f32.f16.f16.f32",
        "sm_80/mma.sp.m16n8k16.f32.tf32.tf32.f32", "sm_80/mma.sp.m16n8k64.s32.s4.s4.s32",
        "gfx942/v_smfmac_f32_16x16x32_f16", "sm_100/tcgen05.mma.sp.m64n8k64.f16.e4m3.e4m3"}) {
    const Operation* op = FindOperation(name);
    ASSERT_NE(op, nullptr) << name;
    for (const Layout& l : {Layout{1, 16, 8, 0, 1},
                            {5, 16, 8, 1, 1},
                            {70, 8, 3, 2, 2},
                            {2, 67, 66, 0, 3},
                            {3, 1, 1, 0, 1},
                            {40, 1, 5, 1, 1}}) {
      Check(*op, l);
    }
  }
}

TEST(Products, NothingToDo) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  for (const auto& [count, m, n] : {std::array{0, 16, 8}, {1, 0, 0}}) {
    const Products p = {.count = count, .m = m, .n = n};
    EXPECT_EQ(WhyNotProducts(*op.instruction, p), "");
    Simulate(op.model, p);
  }
  EXPECT_THAT(WhyNotProducts(*op.instruction, {.count = 1, .m = 1, .n = 1}),
              HasSubstr("missing: A"));
}

// What the tables do not have yet: an instruction with two stored elements of each four.
TEST(Products, SparseRows) {
  Instruction sparse = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")->instruction;
  sparse.shape.groups = sparse.shape.k / 4;
  std::vector<uint16_t> a(16 * 16), b(16 * 8);
  std::vector<uint32_t> d(16 * 8);
  const auto bytes = [](auto& words) { return reinterpret_cast<unsigned char*>(words.data()); };
  const Products p = {.count = 1,
                      .m = 16,
                      .n = 8,
                      .a = {{bytes(a), 16, 1, 16}, 0},
                      .b = {{bytes(b), 8, 1, 16}, 0},
                      .d = {{bytes(d), 8, 1, 32}, 0}};
  a[3 * 16] = a[3 * 16 + 2] = 1;
  EXPECT_EQ(WhyNotProducts(sparse, p), "");
  a[3 * 16 + 3] = 1;
  EXPECT_THAT(WhyNotProducts(sparse, p), HasSubstr("row 3 of A"));
}

TEST(Products, MetadataOfSparseRows) {
  const Instruction& sparse = *FindInstruction("mma.sp.m16n8k16.f32.f16.f16.f32");
  uint16_t a[4 * 16] = {}, b[16] = {};
  uint32_t d[4] = {};
  uint8_t metadata[4 * 4];
  std::ranges::fill(metadata, 0xd);  // elements 1 and 3 of each four
  const auto bytes = [](auto* words) { return reinterpret_cast<unsigned char*>(words); };
  Products p = {.count = 2,
                .m = 2,
                .n = 1,
                .a = {{bytes(a), 16, 1, 16}, 32},
                .b = {{bytes(b), 1, 1, 16}, 0},
                .metadata = {{metadata, 4, 1, 8}, 8},
                .d = {{bytes(d), 1, 1, 32}, 2}};
  a[3 * 16 + 9] = a[3 * 16 + 11] = 1;
  EXPECT_EQ(WhyNotProducts(sparse, p), "");
  a[3 * 16 + 8] = 1;
  EXPECT_EQ(WhyNotProducts(sparse, p),
            "row 1 of A of product 1: " + sparse.name +
                ": a8 differs from +0, but metadata word e2 does not store it");
  a[3 * 16 + 8] = 0, metadata[7] = 0x5;
  EXPECT_THAT(
      WhyNotProducts(sparse, p),
      HasSubstr("metadata word e3 is 05, which is undefined; defined are 04 08 09 0c 0d 0e"));
  metadata[7] = 0;
  EXPECT_THAT(WhyNotProducts(sparse, p), HasSubstr("row 1 of A of product 0: "));
  p.metadata.first.bits = 12;
  EXPECT_THAT(WhyNotProducts(sparse, p), HasSubstr("metadata: words"));
  // Those of the zeros: the least words.
  p.metadata = {};
  PutMetadata(sparse, p, {{metadata, 4, 1, 8}, 8});
  const std::vector<uint8_t> least = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0xd, 4};
  EXPECT_EQ(std::vector<uint8_t>(metadata, metadata + 16), least);
}

TEST(Parts, EndWithWhatIsThrown) {
  for (const int threads : {1, 3}) {
    std::atomic<int> done = 0;
    EXPECT_THROW(ForEachPart(100, threads,
                             [&](int64_t i, const Poll&) {
                               if (i == 5) throw std::runtime_error("part 5");
                               ++done;
                             }),
                 std::runtime_error);
    EXPECT_LT(done, 100);
    if (threads == 1) {  // others may do all parts before the calling thread polls
      EXPECT_THROW(
          ForEachPart(1000, {1, [] { return true; }}, [&](int64_t, const Poll&) { ++done; }),
          Stopped);
    }
    // A part that polls ends before it is done.
    EXPECT_THROW(ForEachPart(threads, {threads, [&] { return done > 3000; }},
                             [&](int64_t, const Poll& poll) {
                               for (;; ++done) poll();
                             }),
                 Stopped);
    done = 0;
    ForEachPart(1000, {threads, [] { return false; }}, [&](int64_t, const Poll&) { ++done; });
    EXPECT_EQ(done, 1000);
  }
}

}  // namespace
}  // namespace mmadiff
