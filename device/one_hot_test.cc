// The layout probe against planted misplacements: every pair of elements and of bytes of small
// instructions, random permutations of large ones.
#include "device/one_hot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "device/faulty.h"
#include "device/testing/operations.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/unlisted.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::HasSubstr;
using Words = std::vector<uint64_t>;
using Permutation = std::vector<int>;

// The simulator with the elements of one execution moved: `in` before it, `out` after it.
class Misplacing : public Device {
 public:
  using Move = std::function<void(Batch& execution)>;
  Misplacing(Move in, std::function<void(Words& d)> out)
      : in_(std::move(in)), out_(std::move(out)) {}

  std::string name() const override { return "misplacing"; }
  Identity identity() const override { return Identity::Named("test"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, Words& all) override {
    for (int64_t i = 0; i < batch.count; ++i) {
      Batch one = Slice(batch, i);
      if (in_) in_(one);
      Words d(one.dot_products());
      Model model = op.model;
      if (one.shape.groups == 0) model.sparse_group = 0;
      Simulate(model, one, d);
      if (out_) out_(d);
      all.insert(all.end(), d.begin(), d.end());
    }
    return absl::OkStatus();
  }

 private:
  const Move in_;
  const std::function<void(Words&)> out_;
};

void Permute(const Permutation& from, Words& words) {
  const Words before = words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = before[from[i]];
}

absl::Status ProbeWith(const Operation& op, Misplacing::Move in,
                       std::function<void(Words&)> out = nullptr) {
  Misplacing device(std::move(in), std::move(out));
  return ProbeLayout(device, op);
}

// With words moved of a, b, c (0 to 2), or of d (3).
absl::Status ProbePermuted(const Operation& op, int operand, const Permutation& from) {
  const auto move = [&from](Words& words) { Permute(from, words); };
  if (operand == 3) return ProbeWith(op, nullptr, move);
  return ProbeWith(op, [&](Batch& b) { move(operand == 0 ? b.a : operand == 1 ? b.b : b.c); });
}

int WordsOf(const Operation& op, int operand) {
  const Shape& s = op.shape();
  return operand == 0 ? s.a_words() : operand == 1 ? s.b_words() : s.d_words();
}

Permutation Identity(int size) {
  Permutation from(size);
  std::iota(from.begin(), from.end(), 0);
  return from;
}

TEST(CodeWord, ItsBytesDiffer) {
  for (const Format* f : kFormats) {
    if (!f->has_zero) continue;  // scales are powers of two: 1 and 2
    // A number of 32 bits has a register of its own: its low byte need not count.
    const int skipped = f->bits == 32 && !IsInteger(*f) ? 1 : 0;
    const uint64_t word = IntegerWord(*f, CodeWord(*f)) >> 8 * skipped;
    std::set<uint64_t> bytes;
    const int count = (f->bits + 7) / 8 - skipped;
    for (int i = 0; i < count; ++i) bytes.insert(word >> 8 * i & 255);
    EXPECT_EQ(bytes.size(), static_cast<size_t>(count)) << f->name << " " << std::hex << word;
    EXPECT_FALSE(bytes.count(0)) << f->name;
  }
}

// The results are exact in every model: the probe says nothing about arithmetic.
TEST(ProbeLayout, ModelsPass) {
  const auto device = OpenFaulty("none=0");
  ASSERT_TRUE(device.ok());
  for (const Operation* op : DistinctOperations()) {
    const Shape& s = op->shape();
    if (s.d_words() * s.k > 8192) continue;  // for the test's time
    EXPECT_TRUE(ProbeLayout(**device, *op).ok()) << ProbeLayout(**device, *op);
  }
}

// Without an addend, no code is put where no device reads it.
TEST(ProbeLayout, WithoutAnAddend) {
  Operation op = *FindUnlisted("unlisted/k8.f32.f16.f16.-");
  op.model.algorithm = {.family = Family::kFmaChain, .output_fraction_bits = 23};
  const absl::Status probed = ProbeWith(op, [](Batch& one) { EXPECT_EQ(one.c, Words{0}); });
  EXPECT_TRUE(probed.ok()) << probed;
}

// A device of a sparse instruction: stores two of each four words of A with their positions, moves
// these, and multiplies what they mean.
absl::Status ProbeSparse(const Operation& op, const std::function<void(Words&)>& move_stored,
                         const std::function<void(Words&)>& move_positions) {
  const auto sparse = [&](Batch& one) {
    Words stored, positions;
    for (size_t i = 0; i < one.a.size(); i += 4) {
      const uint64_t metadata = StoredMetadata(one)[i / 4];
      for (const uint64_t p : {metadata & 3, metadata >> 2}) {
        positions.push_back(p);
        stored.push_back(std::exchange(one.a[i + p], 0));
      }
    }
    one.metadata.clear();
    one.shape.groups = 0;
    move_stored(stored);
    move_positions(positions);
    for (size_t i = 0; i < stored.size(); ++i) one.a[i / 2 * 4 + positions[i]] += stored[i];
  };
  return ProbeWith(op, sparse);
}

// The stored elements of A under `before`, where the metadata now put them.
void MoveStored(const Words& before, Batch& one) {
  const int group = one.shape.k / one.shape.groups;
  const Words a = std::exchange(one.a, Words(one.a.size()));
  for (size_t g = 0; g < before.size(); ++g) {
    for (int n = 0; n < group / 2; ++n) {
      one.a[g * group + StoredPosition(group, one.metadata[g], n)] =
          a[g * group + StoredPosition(group, before[g], n)];
    }
  }
}

TEST(ProbeLayout, SparseInstructions) {
  for (const char* name :
       {"gfx1200/v_swmmac_i32_16x16x32_iu8.s8.u8", "sm_80/mma.sp.m16n8k32.s32.s8.u8.s32"}) {
    const Operation& op = *FindOperation(name);
    const auto none = [](Words&) {};
    EXPECT_TRUE(ProbeSparse(op, none, none).ok()) << ProbeSparse(op, none, none);
    std::mt19937 random(1);
    for (int i = 0; i < 60; ++i) {
      const int size = op.shape().a_words() / 2, x = random() % size;
      const int y = i < 20 ? x ^ 1 : (x + 1 + random() % (size - 1)) % size;
      const auto swap = [x, y](Words& words) { std::swap(words[x], words[y]); };
      EXPECT_EQ(ProbeSparse(op, swap, none).code(), StatusCode::kFailedPrecondition)
          << x << " " << y;
      EXPECT_EQ(ProbeSparse(op, none, swap).code(), StatusCode::kFailedPrecondition)
          << x << " " << y;
    }
  }
}

// Two metadata words exchanged, in groups of 2, 4 and 8 elements.
TEST(ProbeLayout, ExchangedMetadata) {
  for (const char* name :
       {"sm_80/mma.sp.m16n8k8.f32.tf32.tf32.f32", "sm_90/mma.sp.m16n8k32.f32.f16.f16.f32",
        "sm_80/mma.sp.m16n8k64.s32.s4.u4.s32"}) {
    const Operation& op = *FindOperation(name);
    EXPECT_TRUE(ProbeWith(op, nullptr).ok()) << name;
    const int size = op.shape().metadata_words();
    for (int x = 0; x < size; x += 3) {
      const int y = (x + 1) % size;
      const auto swap = [&](Batch& one) {
        const Words before = one.metadata = StoredMetadata(one);
        std::swap(one.metadata[x], one.metadata[y]);
        MoveStored(before, one);
      };
      EXPECT_EQ(ProbeWith(op, swap).code(), StatusCode::kFailedPrecondition) << name << " " << x;
    }
  }
}

// Bit `bit` of the positions of a pair (0 and 1: of the first) read from bit `from`, or, with 4, 0.
TEST(ProbeLayout, BitsOfPositions) {
  const Operation& op = *FindOperation("gfx1200/v_swmmac_i32_16x16x32_iu8.s8.u8");
  for (const int pair : {0, 5, 127}) {
    for (int bit = 0; bit < 4; ++bit) {
      for (int from = 0; from <= 4; ++from) {
        const auto move = [&](Words& positions) {
          uint64_t* const p = &positions[2 * pair];
          const uint64_t bits = p[0] | p[1] << 2;
          const uint64_t moved = (bits & ~(1ull << bit)) | (bits >> from & 1) << bit;
          p[0] = moved & 3;
          p[1] = moved >> 2;
        };
        EXPECT_EQ(ProbeSparse(
                      op, [](Words&) {}, move)
                      .ok(),
                  bit == from)
            << bit << " " << from;
      }
    }
  }
}

class SmallOperations : public testing::TestWithParam<const char*> {};

TEST_P(SmallOperations, EveryTransposition) {
  ASSERT_NE(FindOperation(GetParam()), nullptr) << WhyNoOperation(GetParam());
  const Operation& op = *FindOperation(GetParam());
  for (int operand = 0; operand < 4; ++operand) {
    const int size = WordsOf(op, operand), stride = op.shape().row_words();
    const auto is_scale = [&](int i) { return operand < 2 && i % stride >= op.shape().k; };
    for (int x = 0; x < size; ++x) {
      for (int y = x + 1; y < size; ++y) {
        if (is_scale(x) != is_scale(y)) continue;  // of other formats and places
        Permutation from = Identity(size);
        std::swap(from[x], from[y]);
        EXPECT_EQ(ProbePermuted(op, operand, from).code(), StatusCode::kFailedPrecondition)
            << "operand " << operand << ", words " << x << " and " << y;
      }
    }
  }
}

// Every element read from another element's place, one at a time: copies, not only exchanges.
TEST_P(SmallOperations, EveryShift) {
  ASSERT_NE(FindOperation(GetParam()), nullptr) << WhyNoOperation(GetParam());
  const Operation& op = *FindOperation(GetParam());
  if (op.shape().scales > 0) return;
  for (int operand = 0; operand < 4; ++operand) {
    const int size = WordsOf(op, operand);
    for (int x = 0; x < size && size > 1; ++x) {
      Permutation from = Identity(size);
      from[x] = (x + 1) % size;
      EXPECT_EQ(ProbePermuted(op, operand, from).code(), StatusCode::kFailedPrecondition);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, SmallOperations,
                         testing::Values("sm_80/mma.m8n8k4.f64.f64.f64.f64", "x86/vdpbf16ps",
                                         "x86/vpdpbusd", "arm/bfmmla", "arm/smmla"));

TEST(ProbeLayout, RandomPermutationsAndScales) {
  std::mt19937_64 random(1);
  for (const char* name :
       {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/wgmma.m64n16k16.f32.bf16.bf16",
        "sm_80/mma.m8n8k128.s32.b1.b1.s32.xor.popc", "sm_80/mma.m16n8k64.s32.s4.u4.s32",
        "sm_80/mma.m16n8k256.s32.b1.b1.s32.and.popc", "x86/tdpbf16ps",
        "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x",
        "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0"}) {
    const Operation* op = FindOperation(name);
    ASSERT_NE(op, nullptr) << name << ": " << WhyNoOperation(name);
    const int stride = op->shape().row_words(), k = op->shape().k;
    for (int operand = 0; operand < 4; ++operand) {
      for (const bool scales : {false, true}) {
        Permutation some;  // words that may trade places
        for (int i = 0; i < WordsOf(*op, operand); ++i) {
          if ((operand < 2 && i % stride >= k) == scales) some.push_back(i);
        }
        for (int trial = 0; trial < 6 && some.size() > 1; ++trial) {
          Permutation from = Identity(WordsOf(*op, operand)), shuffled = some;
          if (trial < 3) {  // two words, or all
            std::shuffle(some.begin(), some.end(), random);
            std::swap(from[some[0]], from[some[1]]);
          } else {
            std::shuffle(shuffled.begin(), shuffled.end(), random);
            for (size_t i = 0; i < some.size(); ++i) from[some[i]] = shuffled[i];
          }
          EXPECT_EQ(ProbePermuted(*op, operand, from).code(), StatusCode::kFailedPrecondition)
              << name << ", operand " << operand;
        }
      }
    }
  }
}

// Bytes of two elements, or of one, that trade places.
TEST(ProbeLayout, WrongBytes) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  const auto swap_bytes = [](uint64_t& x, int i, uint64_t& y, int j) {
    const uint64_t u = x >> 8 * i & 255, v = y >> 8 * j & 255;
    x = (x & ~(uint64_t{255} << 8 * i)) | v << 8 * i;
    y = (y & ~(uint64_t{255} << 8 * j)) | u << 8 * j;
  };
  for (const int other : {1, 7, 16, 100}) {
    for (const int byte : {0, 1}) {
      EXPECT_FALSE(
          ProbeWith(op, [&](Batch& b) { swap_bytes(b.a[0], byte, b.a[other], byte); }).ok());
      EXPECT_FALSE(
          ProbeWith(op, [&](Batch& b) { swap_bytes(b.b[0], byte, b.b[other], byte); }).ok());
      EXPECT_FALSE(ProbeWith(op, [&](Batch& b) {
                     swap_bytes(b.c[0], byte + 1, b.c[other], byte + 1);
                   }).ok());
    }
  }
  EXPECT_FALSE(ProbeWith(op, [&](Batch& b) { swap_bytes(b.a[5], 0, b.a[5], 1); }).ok());
}

TEST(ProbeLayout, TransposedAndCommonPermutations) {
  const Operation& op = *FindOperation("sm_80/mma.m8n8k4.f64.f64.f64.f64");
  // k 0 and 1 exchanged in A, in B, in both.
  const auto swap_k = [](Words& words) {
    for (size_t i = 0; i < words.size(); i += 4) std::swap(words[i], words[i + 1]);
  };
  EXPECT_FALSE(ProbeWith(op, [&](Batch& b) { swap_k(b.a); }).ok());
  EXPECT_FALSE(ProbeWith(op, [&](Batch& b) { swap_k(b.b); }).ok());
  // The same product of matrices: what one_hot.h says cannot be seen.
  EXPECT_TRUE(ProbeWith(op, [&](Batch& b) { swap_k(b.a), swap_k(b.b); }).ok());
  const auto transpose = [](Words& d) {
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < i; ++j) std::swap(d[8 * i + j], d[8 * j + i]);
    }
  };
  EXPECT_FALSE(ProbeWith(op, nullptr, transpose).ok());
  EXPECT_FALSE(ProbeWith(op, [&](Batch& b) { transpose(b.c); }).ok());
  EXPECT_FALSE(ProbeWith(
                   op, [&](Batch& b) { transpose(b.c); }, transpose)
                   .ok());
  EXPECT_FALSE(ProbeWith(op, [&](Batch& b) { std::swap(b.a, b.b); }).ok());
}

TEST(ProbeLayout, SaysWhere) {
  const Operation& op = *FindOperation("sm_80/mma.m8n8k4.f64.f64.f64.f64");
  Permutation from = Identity(32);
  std::swap(from[0], from[5]);
  const absl::Status s = ProbePermuted(op, 0, from);
  for (const char* part :
       {"sm_80/mma.m8n8k4.f64.f64.f64.f64", "values in A", "block 0, row", "disabled"}) {
    EXPECT_THAT(std::string(s.message()), HasSubstr(part));
  }
}

TEST(ProbeDotProduct, EveryTransposition) {
  for (const char* name : {"sm_80/mma.m16n8k8.f32.bf16.bf16.f32", "x86/vpdpbusd",
                           "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0"}) {
    const Operation& op = *FindOperation(name);
    for (const auto words : {&Batch::a, &Batch::b}) {
      const auto probe = [&](int x, int y) {
        Misplacing device([&](Batch& one) { std::swap((one.*words)[x], (one.*words)[y]); },
                          nullptr);
        return ProbeDotProduct(device, op);
      };
      EXPECT_TRUE(probe(0, 0).ok()) << probe(0, 0);
      for (int x = 0; x < op.shape().k; ++x) {
        for (int y = x + 1; y < op.shape().k; ++y) {
          EXPECT_EQ(probe(x, y).code(), StatusCode::kFailedPrecondition) << x << " and " << y;
        }
      }
    }
  }
}

TEST(LayoutDotProducts, AreThoseThatAreAsked) {
  for (const char* name : {"sm_80/mma.m16n8k8.f32.bf16.bf16.f32", "x86/vfmadd231ss"}) {
    const Operation& op = *FindOperation(name);
    int64_t asked = 0;
    Misplacing device([&](Batch& one) { asked += one.dot_products(); }, nullptr);
    EXPECT_TRUE(ProbeLayout(device, op).ok());
    EXPECT_EQ(LayoutDotProducts(op, op.shape()), std::exchange(asked, 0));
    EXPECT_TRUE(ProbeDotProduct(device, op).ok());
    EXPECT_EQ(LayoutDotProducts(op, DotProductShape(op.shape())), asked);
  }
}

TEST(ProbeLayout, AFailingDeviceIsNoWrongLayout) {
  const auto device = OpenFaulty("dead=3");
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(ProbeLayout(**device, *FindOperation("x86/vdpbf16ps")).code(),
            StatusCode::kUnavailable);
}

}  // namespace
}  // namespace mmadiff
