// The generator: its bits never change unnoticed, and depend on nothing but the name of the case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "corpus/cases/case_name.h"
#include "corpus/cases/generate.h"
#include "fuzz/unit/events.h"
#include "sim/round.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Some operation of the instruction: the architecture decides no bit.
const Operation& OperationOf(const Instruction& instruction) {
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      if (op.instruction == &instruction) return op;
    }
  }
  std::abort();
}
const Operation& OperationOf(const char* instruction) {
  return OperationOf(*FindInstruction(instruction));
}

// One instruction for each kind of formats and shapes.
constexpr const char* kSample[] = {
    "vdpbf16ps",
    "vfmadd231sd",
    "vpdpbusd",
    "vpdpwssds",
    "tmmultf32ps",
    "bfmmla.ebf",
    "mma.m8n8k4.f32.f16.f16.f16",
    "mma.m16n8k16.f16.f16.f16.f16",
    "mma.m16n8k8.f32.tf32.tf32.f32",
    "mma.m16n8k4.rp.f64.f64.f64.f64",
    "mma.m16n8k32.f32.e4m3.e5m2.f32",
    "mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16",
    "mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0",
    "mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0",
    "mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x",
    "mma.m16n8k64.satfinite.s32.s4.u4.s32",
    "mma.m8n8k128.s32.b1.b1.s32.xor.popc",
    "wgmma.m64n8k16.f32.bf16.bf16",
    "v_mfma_f32_4x4x4f16",
    "v_mfma_f32_16x16x32_fp8_bf8",
};

bool SameInputs(const Batch& x, const Batch& y) {
  return x.a == y.a && x.b == y.b && x.c == y.c && x.metadata == y.metadata;
}

// ---- Golden digests

// XXH3-128 over the operand words a, b, c (8 bytes each) of cases 0..199, then of four huge
// indices.
std::string DigestOfCases(const CaseStream& stream) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_128bits_reset(state);
  Batch batch;
  const auto add = [&](uint64_t first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Generate(stream, first + i, 1, batch);
      for (const auto* words : {&batch.a, &batch.b, &batch.c}) {
        XXH3_128bits_update(state, words->data(), 8 * words->size());
      }
    }
  };
  add(0, 200);
  add(0xffffffff, 2);  // both halves of the counter
  add(uint64_t{1} << 63, 1);
  add(~uint64_t{0}, 1);
  const XXH128_hash_t h = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return absl::StrFormat("%016x%016x", h.high64, h.low64);
}

struct Golden {
  const char* instruction;
  const char* strategy;
  const char* digest;
};

// Seed 1, generator version 3. When bits change on purpose: increase kGeneratorVersion, run this
// test, and replace the table by the lines that it prints.
constexpr Golden kGolden[] = {
    {"vdpbf16ps", "mixed", "3c6e921f7975a9402c759b4991fa51ef"},
    {"vdpbf16ps", "boundary", "6fe9f07dc41dbc446b5d26a1f3c210bb"},
    {"vdpbf16ps", "bits", "f1a19a39a3e9d98e51c8d0bfa6ea3f81"},
    {"vfmadd231sd", "mixed", "692d408a635b93c093837526c3b6d3b5"},
    {"vfmadd231sd", "boundary", "fb4f7ce80fa1043fa96e7f78b1e3abd4"},
    {"vfmadd231sd", "bits", "571b74a7cf0caa478d2754753d7717e4"},
    {"vpdpbusd", "mixed", "17423da1f159c29b7f11ccf5e74b7fcd"},
    {"vpdpbusd", "boundary", "e713e415d21a9e5657460bda588c90d1"},
    {"vpdpbusd", "bits", "76cd42a43b90061a874576ac3567ea81"},
    {"vpdpwssds", "mixed", "de979654b43da9666e2b3600a978d96e"},
    {"vpdpwssds", "boundary", "1c397298031f909c933e44cd0d0b27d6"},
    {"vpdpwssds", "bits", "06c281cc4887ea4ba6a0578abbc69738"},
    {"tmmultf32ps", "mixed", "08488d971d8473afdbb1e57bc2e81142"},
    {"tmmultf32ps", "boundary", "3930e4459336e0ac07692bc47f51893f"},
    {"tmmultf32ps", "bits", "762fcf2040fb91ab9c4a9239e283e2c8"},
    {"bfmmla.ebf", "mixed", "2c2feeeeb52e1224312dc12aebdd0e92"},
    {"bfmmla.ebf", "boundary", "946cbe8ccf0dc8c97415fe17e5c16b3a"},
    {"bfmmla.ebf", "bits", "d8ebbaaf8ba574e858d8a2d98d1877af"},
    {"mma.m8n8k4.f32.f16.f16.f16", "mixed", "554ef491cbedcdaf76896e6008ed7856"},
    {"mma.m8n8k4.f32.f16.f16.f16", "boundary", "1874cc93a2ba231503ae0249618fdb0d"},
    {"mma.m8n8k4.f32.f16.f16.f16", "bits", "8812b2f196429c4c43af75fe6a87e1a4"},
    {"mma.m16n8k16.f16.f16.f16.f16", "mixed", "bd8f32bb6a7d3e2745095c1c3a0604e3"},
    {"mma.m16n8k16.f16.f16.f16.f16", "boundary", "d41c672517c26ef5f3aa0c41b3d5c114"},
    {"mma.m16n8k16.f16.f16.f16.f16", "bits", "f8bbe38ab9e08127bcdc380a7570935f"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "mixed", "43dee0fc057f1c2223300bba09ce86ea"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "boundary", "c8a5ce853a8bad1dc4e90b792440ea3b"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "bits", "48d59aa59f27a1c684da890513de313d"},
    {"mma.m16n8k4.rp.f64.f64.f64.f64", "mixed", "7367a4c61b189736872682f956bda9b4"},
    {"mma.m16n8k4.rp.f64.f64.f64.f64", "boundary", "79cc6cfe6cb32d07395a1e6ba048fd37"},
    {"mma.m16n8k4.rp.f64.f64.f64.f64", "bits", "0bccfaf7ae539e9129e587d191f156b4"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "mixed", "994b819235c8890a8787cf34bc1bf625"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "boundary", "a8dc837580cf5828e2a9cacd6c1d2613"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "bits", "3fada866aeb448c476cb92d64adc9eed"},
    {"mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16", "mixed", "dcf269efc67410b04246b7b6189d7008"},
    {"mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16", "boundary", "3bffb74b878a0eeae46e74a1dc8b63ab"},
    {"mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16", "bits", "bf2ead9665a2a71df2caecfb0726540e"},
    {"mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0", "mixed", "85437fbe7042575bbbf044cd11d46080"},
    {"mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0", "boundary",
     "77598f93a990c51fab21da677b2f40b0"},
    {"mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0", "bits", "984c0923a2b4d157fbac4ebb922995eb"},
    {"mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "mixed", "def97a48898fa9167ae8d04e409732f1"},
    {"mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "boundary", "2c9b41588e6d19aa25f6bba51f111186"},
    {"mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "bits", "41d6c9e32bbd2c02fed7ce11db755e05"},
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "mixed",
     "a35d486b2d3050e545e3329d479266aa"},
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "boundary",
     "8b5408c062786cd712d30ae415e7a647"},
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "bits",
     "b859267c8ffe46493f245de5213f7d00"},
    {"mma.m16n8k64.satfinite.s32.s4.u4.s32", "mixed", "0e2f6ea34a7c2723acaf23ace9835703"},
    {"mma.m16n8k64.satfinite.s32.s4.u4.s32", "boundary", "5d8e8decb15fb1900104cfebc9169f65"},
    {"mma.m16n8k64.satfinite.s32.s4.u4.s32", "bits", "9cdab6777d469c5cd0889de8bf0461cf"},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", "mixed", "21d962565305600a349364d0b16568fc"},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", "boundary", "b4856557527254b97e323967bfc399a7"},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", "bits", "ce9df6750156a0e13ae82fbdf1dcb2f1"},
    {"wgmma.m64n8k16.f32.bf16.bf16", "mixed", "c0937a33df8620d2a300cc0a95bf46c8"},
    {"wgmma.m64n8k16.f32.bf16.bf16", "boundary", "c85b9563b99bfd396c85af9a243308b1"},
    {"wgmma.m64n8k16.f32.bf16.bf16", "bits", "91c726ed239793810b62bb39ae9d3db3"},
    {"v_mfma_f32_4x4x4f16", "mixed", "1be23bb4569a4b6faa1f60260b4199af"},
    {"v_mfma_f32_4x4x4f16", "boundary", "3da4e0f05fc78696ec0aeb17fec85118"},
    {"v_mfma_f32_4x4x4f16", "bits", "ae0bf46d10e63894af51354b0f02ba66"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "mixed", "37a05b35dd3e82a5bb9aebb113e15ede"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "boundary", "bdb0ee2a05da452dc60bca6fedda5fc8"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "bits", "6f4f697e7a07be799529a64f08a58521"},
};

// Of version 2, which recordings name; of instructions without scales.
constexpr Golden kGoldenOfVersion2[] = {
    {"vdpbf16ps", "mixed", "e00b304c251e91e41e45588f5cdf0f75"},
    {"vfmadd231sd", "mixed", "642030af6b7994d806a47c4757fbbf96"},
    {"vpdpbusd", "mixed", "4ede2409fdc9fb2c80795fec591e0cde"},
    {"vpdpwssds", "mixed", "db8fddf7b2f339788228ad574709656a"},
    {"tmmultf32ps", "mixed", "e31b1e3617922660b5a33e729394b1ea"},
    {"bfmmla.ebf", "mixed", "2d22010beea5f11c1fa3eb9f90adc92a"},
    {"mma.m8n8k4.f32.f16.f16.f16", "mixed", "e8e727d118ba1fb335361da26afb378c"},
    {"mma.m16n8k16.f16.f16.f16.f16", "mixed", "310acfa14ab1c4f202f9bd0ec06c9481"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "mixed", "3b97fbbb77a5082a92244ef99877f4ba"},
    {"mma.m16n8k4.rp.f64.f64.f64.f64", "mixed", "9f8b727557cc9da33a256187f112b1ae"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "mixed", "0db7c0b801e9c04f1a98d5067ae894fd"},
    {"mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16", "mixed", "0b67f9a1579d05da24e5d13aba0ca25e"},
    {"mma.m16n8k64.satfinite.s32.s4.u4.s32", "mixed", "0b0bc1d8f3cd8a0737d846704c494e1a"},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", "mixed", "47d0aeac11089bca445cbaad8d034b2a"},
    {"wgmma.m64n8k16.f32.bf16.bf16", "mixed", "941d547daec05a80e35dc83e35286c1f"},
    {"v_mfma_f32_4x4x4f16", "mixed", "1574fea306f5c9a7e8b9e15ebd64f344"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "mixed", "1698806a7f24c1cdae65b6177fe054a9"},
};

TEST(Generator, GoldenDigests) {
  ASSERT_EQ(kGeneratorVersion, 3) << "the table is of another version: replace it";
  std::map<std::pair<std::string, std::string>, std::string> golden;
  for (const Golden& g : kGolden) golden[{g.instruction, g.strategy}] = g.digest;
  std::string lines;
  bool same = true;
  for (const char* name : kSample) {
    for (const Strategy& s : Strategies()) {
      const std::string digest = DigestOfCases({&OperationOf(name), &s, 1});
      same &= golden[{name, s.name}] == digest;
      lines += absl::StrFormat("    {\"%s\", \"%s\", \"%s\"},\n", name, s.name, digest);
    }
  }
  EXPECT_TRUE(same) << "the bits of cases changed; if on purpose, increase kGeneratorVersion, and "
                       "this is the new table:\n"
                    << lines;
  EXPECT_EQ(golden.size(), std::size(kSample) * Strategies().size());
}

// Recordings name cases of version 2, so these keep their bits too.
TEST(Generator, CasesOfVersion2AreStillMade) {
  for (const Golden& g : kGoldenOfVersion2) {
    CaseStream stream = {&OperationOf(g.instruction), FindStrategy(g.strategy), 1};
    stream.version = 2;
    EXPECT_EQ(DigestOfCases(stream), g.digest) << stream.name();
    const absl::StatusOr<CaseStream> parsed = ParseStreamName(stream.name());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->version, 2);
    EXPECT_EQ(parsed->name(), stream.name());
  }
}

// ---- What the bits depend on

TEST(Generator, BatchBoundariesAndOrderDoNotMatter) {
  for (const char* name : kSample) {
    for (const Strategy& s : Strategies()) {
      const CaseStream stream = {&OperationOf(name), &s, 5};
      // Of small cases more than two periods of the classes: their first blocks are made together.
      const int cases = OperationOf(name).shape().d_words() > 32 ? 60 : 400;
      Batch whole, part;
      Generate(stream, 1000, cases, whole);
      for (int i = cases - 1; i >= 0; --i) {  // one by one, backwards
        Generate(stream, 1000 + i, 1, part);
        ASSERT_TRUE(SameInputs(part, Slice(whole, i))) << stream.name() << " " << i;
      }
      for (int first = 0; first < cases; first += 7) {  // other boundaries, into a used batch
        const int count = std::min(7, cases - first);
        Generate(stream, 1000 + first, count, part);
        ASSERT_EQ(part.count, count);
        ASSERT_EQ(part.first, 1000u + first);
        ASSERT_EQ(part.stream, stream.name());
        for (int i = 0; i < count; ++i) {
          ASSERT_TRUE(SameInputs(Slice(part, i), Slice(whole, first + i))) << stream.name();
        }
      }
    }
  }
}

TEST(Generator, TheArchitectureDecidesNoBit) {
  int pairs = 0;
  for (const Operation& op : Operations()) {
    const Operation& other = OperationOf(*op.instruction);
    if (&other == &op) continue;
    Batch x, y;
    Generate({&op, &Strategies().front(), 1}, pairs, 2, x);
    Generate({&other, &Strategies().front(), 1}, pairs, 2, y);
    EXPECT_TRUE(SameInputs(x, y)) << op.name << " " << other.name;
    ++pairs;
  }
  EXPECT_GT(pairs, 900);
}

TEST(Generator, SeedStrategyInstructionAndIndexDecideBits) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  const Operation& bf16 = *FindOperation("sm_80/mma.m16n8k8.f32.bf16.bf16.f32");
  const Strategy& bits = *FindStrategy("bits");
  Batch base, other;
  Generate({&op, &bits, 1}, 4, 1, base);
  Generate({&op, &bits, 2}, 4, 1, other);
  EXPECT_FALSE(SameInputs(base, other));
  Generate({&op, &bits, 1}, 5, 1, other);
  EXPECT_FALSE(SameInputs(base, other));
  Generate({&bf16, &bits, 1}, 4, 1, other);  // same shape and widths
  EXPECT_FALSE(SameInputs(base, other));
  Generate({&op, &Strategies().front(), 1}, 4, 1, other);  // index 4 is uniform bits there too
  EXPECT_FALSE(SameInputs(base, other));
}

// Whether every word is a pattern of its format; format_of(index of a word in its row).
bool Fit(const std::vector<uint64_t>& words, int row_words, auto format_of) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] & ~LowBits(format_of(static_cast<int>(i) % row_words).bits)) return false;
  }
  return true;
}

TEST(Generator, EveryWordFitsItsFormat) {
  for (const Instruction& in : Instructions()) {
    const int row = in.shape.row_words();
    for (const Strategy& s : Strategies()) {
      Batch batch;
      Generate({&OperationOf(in), &s, 3}, 0, std::string_view(s.name) == "bits" ? 2 : 60, batch);
      EXPECT_EQ(batch.shape, in.shape);
      EXPECT_TRUE(Fit(batch.a, row, [&](int i) { return in.a_format(i); })) << in.name;
      EXPECT_TRUE(Fit(batch.b, row, [&](int i) { return in.b_format(i); })) << in.name;
      EXPECT_TRUE(Fit(batch.c, 1, [&](int) { return *in.c; })) << in.name;
    }
  }
}

// What a sparse instruction can store, with every legal metadata word.
TEST(Generator, SparseOperandsCanBeStored) {
  int seen = 0;
  for (const Instruction& in : Instructions()) {
    if (!in.sparse()) continue;
    ++seen;
    Batch batch;
    Generate({&OperationOf(in), &Strategies().front(), 3}, 0, 60, batch);
    EXPECT_EQ(WhyNotSparse(in, batch.a, batch.metadata), "");
    EXPECT_EQ(WhyUndefined(in, batch.metadata), "");
    const std::set<uint64_t> metadata(batch.metadata.begin(), batch.metadata.end());
    EXPECT_EQ(metadata.size(), LegalMetadata(in.shape.k / in.shape.groups).size()) << in.name;
    // Rows whose groups all have the same word: a quarter, and few by chance.
    if (in.shape.groups < 4) continue;
    const size_t groups = in.shape.groups, rows = batch.metadata.size() / groups;
    size_t same = 0;
    for (size_t row = 0; row < rows; ++row) {
      const std::span words = std::span(batch.metadata).subspan(row * groups, groups);
      same += std::ranges::count(words, words[0]) == std::ssize(words);
    }
    EXPECT_GT(same * 5, rows) << in.name;
    EXPECT_LT(same * 2, rows) << in.name;
  }
  EXPECT_GE(seen, 140);
}

// Uniform bits reach every pattern of a narrow format, legal scales included.
TEST(Generator, UniformBitsReachEveryPattern) {
  const Operation& op = OperationOf("mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  Batch batch;
  Generate({&op, FindStrategy("bits"), 1}, 0, 100, batch);
  std::set<uint64_t> elements, scales;
  for (size_t i = 0; i < batch.a.size(); ++i) {
    (i % op.shape().row_words() < 64 ? elements : scales).insert(batch.a[i]);
  }
  EXPECT_EQ(elements.size(), 16u);
  EXPECT_EQ(scales.size(), 128u);  // the top bit of a scale has no meaning
}

TEST(Generator, EveryClassHasItsShareOfAnyRange) {
  for (const char* name : {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "x86/vpdpbusd",
                           "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0"}) {
    const CaseStream stream = {FindOperation(name), &Strategies().front()};
    const Instruction& in = *stream.op->instruction;
    const size_t boundary = BoundaryClasses(in).size();
    EXPECT_EQ(ClassesOf(*FindStrategy("mixed"), in).size(), boundary + 1);
    EXPECT_EQ(ClassesOf(*FindStrategy("boundary"), in).size(), boundary);
    EXPECT_THAT(ClassesOf(*FindStrategy("bits"), in), ElementsAre(&UniformBits()));
    for (const uint64_t first : {uint64_t{0}, uint64_t{12345}, ~uint64_t{0} - 4000}) {
      std::map<const InputClass*, int> count;
      for (int i = 0; i < 4000; ++i) ++count[&stream.class_of(first + i)];
      EXPECT_EQ(count.size(), boundary + 1) << name << " " << first;
      for (const auto& [c, n] : count) {
        const double share = c == &UniformBits() ? 1000 : 3000.0 / boundary;
        EXPECT_NEAR(n, share, 4) << name << " " << c->name << " from " << first;
      }
    }
  }
}

TEST(Generator, ClassNamesAreDistinct) {
  for (const std::span<const InputClass> classes :
       {std::span<const InputClass>(float_classes::kClasses),
        std::span<const InputClass>(scaled_classes::kClasses),
        std::span<const InputClass>(integer_classes::kClasses),
        std::span<const InputClass>(conversion_classes::kClasses)}) {
    std::set<std::string> names = {UniformBits().name};
    for (const InputClass& c : classes) EXPECT_TRUE(names.insert(c.name).second) << c.name;
  }
}

// ---- Names

TEST(CaseName, RoundTrip) {
  for (const Operation& op : Operations()) {
    for (const Strategy& s : Strategies()) {
      for (const uint64_t number : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
        const CaseName name = {{&op, &s, number}, ~number};
        const absl::StatusOr<CaseName> parsed = ParseCaseName(FormatCaseName(name));
        ASSERT_TRUE(parsed.ok()) << parsed.status();
        EXPECT_EQ(parsed->stream.op, &op);
        EXPECT_EQ(parsed->stream.strategy, &s);
        EXPECT_EQ(parsed->stream.seed, number);
        EXPECT_EQ(parsed->index, ~number);
      }
    }
  }
}

TEST(CaseName, Text) {
  const Operation& op = *FindOperation("x86/vdpbf16ps");
  EXPECT_EQ(FormatCaseName({{&op, &Strategies().front(), 7}, 42}), "x86/vdpbf16ps@g3:7:42");
  EXPECT_EQ(FormatCaseName({{&op, FindStrategy("bits"), 7}, 42}), "x86/vdpbf16ps@g3:bits.7:42");
  const absl::StatusOr<CaseName> alias = ParseCaseName("hopper/mma.m16n8k8.f32.f16.f16.f32@g3:1:2");
  ASSERT_TRUE(alias.ok());
  EXPECT_EQ(FormatCaseName(*alias), "sm_90/mma.m16n8k8.f32.f16.f16.f32@g3:1:2");
}

TEST(CaseName, MalformedNamesSayWhatIsWrong) {
  constexpr std::pair<const char*, const char*> kBad[] = {
      {"", "the index is missing"},
      {"x86/vdpbf16ps", "the index is missing"},
      {"x86/vdpbf16ps@g3", "the index is missing"},
      {"x86/vdpbf16ps:1", "expected one '@'"},
      {"x86/vdpbf16ps@@g3:1:2", "expected one '@'"},
      {"x86/vdpbf16ps@g3:1", "the version and the seed must follow '@'"},
      {"x86/vdpbf16ps@g3:1:2:3", "the version and the seed must follow '@'"},
      {"x86/vdpbf16p@g3:1:2", "no instruction 'x86/vdpbf16p'; nearest names: x86/vdpbf16ps"},
      {"@g3:1:2", "no instruction ''"},
      {"x86/vdpbf16ps@g1:1:2", "generator version 'g1' is not supported"},
      {"sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0@g2:1:2", "generator version 'g2'"},
      {"x86/vdpbf16ps@1:1:2", "generator version '1' is not supported"},
      {"x86/vdpbf16ps@g01:1:2", "generator version 'g01'"},
      {"x86/vdpbf16ps@g3:mixd.1:2", "no strategy 'mixd'; the strategies are mixed, boundary, bits"},
      {"x86/vdpbf16ps@g3:.1:2", "no strategy ''"},
      {"x86/vdpbf16ps@g3::2", "seed '' is not a number"},
      {"x86/vdpbf16ps@g3:bits.:2", "seed '' is not a number"},
      {"x86/vdpbf16ps@g3:one:2", "seed 'one' is not a number"},
      {"x86/vdpbf16ps@g3:-1:2", "seed '-1' is not a number"},
      {"x86/vdpbf16ps@g3:+1:2", "seed '+1' is not a number"},
      {"x86/vdpbf16ps@g3: 1:2", "seed ' 1' is not a number"},
      {"x86/vdpbf16ps@g3:18446744073709551616:2", "is not a number below 2^64"},
      {"x86/vdpbf16ps@g3:1:", "index '' is not a number"},
      {"x86/vdpbf16ps@g3:1:-2", "index '-2' is not a number"},
      {"x86/vdpbf16ps@g3:1:2 ", "index '2 ' is not a number"},
      {"x86/vdpbf16ps@g3:1:0x2", "index '0x2' is not a number"},
      {"x86/vdpbf16ps@g3:1:18446744073709551616", "is not a number below 2^64"},
  };
  for (const auto& [text, what] : kBad) {
    const absl::StatusOr<CaseName> parsed = ParseCaseName(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(what)) << text;
  }
}

}  // namespace
}  // namespace mmadiff
