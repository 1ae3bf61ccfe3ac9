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
#include "fuzz/case_name.h"
#include "fuzz/events.h"
#include "fuzz/generate.h"
#include "sim/round.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Some row of the instruction: the architecture decides no bit.
const Row& RowOf(const Instruction& instruction) {
  for (const Row& row : Rows()) {
    if (row.instruction == &instruction) return row;
  }
  std::abort();
}
const Row& RowOf(const char* instruction) { return RowOf(*FindInstruction(instruction)); }

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

bool SameInputs(const Batch& x, const Batch& y) { return x.a == y.a && x.b == y.b && x.c == y.c; }

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

// Seed 1, generator version 2. When bits change on purpose: increase kGeneratorVersion, run this
// test, and replace the table by the lines that it prints.
constexpr Golden kGolden[] = {
    {"vdpbf16ps", "mixed", "e00b304c251e91e41e45588f5cdf0f75"},
    {"vdpbf16ps", "boundary", "320a3ff43d8b4e108fae8e7d27c80722"},
    {"vdpbf16ps", "bits", "f1a19a39a3e9d98e51c8d0bfa6ea3f81"},
    {"vfmadd231sd", "mixed", "642030af6b7994d806a47c4757fbbf96"},
    {"vfmadd231sd", "boundary", "b0ecbf4c94a2614ab9344f35ae8acc46"},
    {"vfmadd231sd", "bits", "571b74a7cf0caa478d2754753d7717e4"},
    {"vpdpbusd", "mixed", "4ede2409fdc9fb2c80795fec591e0cde"},
    {"vpdpbusd", "boundary", "abb9e6bf2d0b1de36342524dfa810265"},
    {"vpdpbusd", "bits", "76cd42a43b90061a874576ac3567ea81"},
    {"vpdpwssds", "mixed", "db8fddf7b2f339788228ad574709656a"},
    {"vpdpwssds", "boundary", "4b3d324045d100c821cae1bdfd490074"},
    {"vpdpwssds", "bits", "06c281cc4887ea4ba6a0578abbc69738"},
    {"tmmultf32ps", "mixed", "e31b1e3617922660b5a33e729394b1ea"},
    {"tmmultf32ps", "boundary", "c8f64e11dc49a350da2c13c8c122ed47"},
    {"tmmultf32ps", "bits", "762fcf2040fb91ab9c4a9239e283e2c8"},
    {"bfmmla.ebf", "mixed", "2d22010beea5f11c1fa3eb9f90adc92a"},
    {"bfmmla.ebf", "boundary", "3685db2efa601ac41d7b74e7e9b9dc6c"},
    {"bfmmla.ebf", "bits", "d8ebbaaf8ba574e858d8a2d98d1877af"},
    {"mma.m8n8k4.f32.f16.f16.f16", "mixed", "e8e727d118ba1fb335361da26afb378c"},
    {"mma.m8n8k4.f32.f16.f16.f16", "boundary", "1d406af2c7b1d08781e3ce913dd0687c"},
    {"mma.m8n8k4.f32.f16.f16.f16", "bits", "8812b2f196429c4c43af75fe6a87e1a4"},
    {"mma.m16n8k16.f16.f16.f16.f16", "mixed", "310acfa14ab1c4f202f9bd0ec06c9481"},
    {"mma.m16n8k16.f16.f16.f16.f16", "boundary", "f8aef9bede3882d37231fa91a63b82a0"},
    {"mma.m16n8k16.f16.f16.f16.f16", "bits", "f8bbe38ab9e08127bcdc380a7570935f"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "mixed", "3b97fbbb77a5082a92244ef99877f4ba"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "boundary", "8b3731dfea35dd6f05c635ae5e306d7b"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "bits", "48d59aa59f27a1c684da890513de313d"},
    {"mma.m16n8k4.rp.f64.f64.f64.f64", "mixed", "9f8b727557cc9da33a256187f112b1ae"},
    {"mma.m16n8k4.rp.f64.f64.f64.f64", "boundary", "10821ac5e3c9c6276083347e656570ca"},
    {"mma.m16n8k4.rp.f64.f64.f64.f64", "bits", "0bccfaf7ae539e9129e587d191f156b4"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "mixed", "0db7c0b801e9c04f1a98d5067ae894fd"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "boundary", "0502cd5d7959d97fc16a6b894988f98f"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "bits", "3fada866aeb448c476cb92d64adc9eed"},
    {"mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16", "mixed", "0b67f9a1579d05da24e5d13aba0ca25e"},
    {"mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16", "boundary", "4cc8c72b1cc2966633a89a983f4fcd61"},
    {"mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16", "bits", "bf2ead9665a2a71df2caecfb0726540e"},
    {"mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0", "mixed", "82b3f48dc3eb8f2d7b56dc6e355029d2"},
    {"mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0", "boundary",
     "a78ffd99ef50694a3febcff9ebe3ba43"},
    {"mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0", "bits", "984c0923a2b4d157fbac4ebb922995eb"},
    {"mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "mixed", "72e3f68f9e8d279f2573ed214954cb45"},
    {"mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "boundary", "4f3df3783c995d8bef1dc98afb31a01d"},
    {"mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "bits", "41d6c9e32bbd2c02fed7ce11db755e05"},
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "mixed",
     "2a23af433eb00361dbdb5338869777a7"},
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "boundary",
     "57625601e73f34c875589c80a4cb71cc"},
    {"mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "bits",
     "ccd7922f4ce39aeb4e083a6c8e00647b"},
    {"mma.m16n8k64.satfinite.s32.s4.u4.s32", "mixed", "0b0bc1d8f3cd8a0737d846704c494e1a"},
    {"mma.m16n8k64.satfinite.s32.s4.u4.s32", "boundary", "4fa934f7ff2ca7c377e4c54cc4adcb05"},
    {"mma.m16n8k64.satfinite.s32.s4.u4.s32", "bits", "9cdab6777d469c5cd0889de8bf0461cf"},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", "mixed", "47d0aeac11089bca445cbaad8d034b2a"},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", "boundary", "34e281d932a207c9efb1567efb16ed27"},
    {"mma.m8n8k128.s32.b1.b1.s32.xor.popc", "bits", "ce9df6750156a0e13ae82fbdf1dcb2f1"},
    {"wgmma.m64n8k16.f32.bf16.bf16", "mixed", "941d547daec05a80e35dc83e35286c1f"},
    {"wgmma.m64n8k16.f32.bf16.bf16", "boundary", "e2cee3da13bc9d7a151266c6da7ff562"},
    {"wgmma.m64n8k16.f32.bf16.bf16", "bits", "91c726ed239793810b62bb39ae9d3db3"},
    {"v_mfma_f32_4x4x4f16", "mixed", "1574fea306f5c9a7e8b9e15ebd64f344"},
    {"v_mfma_f32_4x4x4f16", "boundary", "1a1637d800fa3e6424bd5f5e6d962a9d"},
    {"v_mfma_f32_4x4x4f16", "bits", "ae0bf46d10e63894af51354b0f02ba66"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "mixed", "1698806a7f24c1cdae65b6177fe054a9"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "boundary", "b654b7be4c9c98ab13dfa05e04a10f21"},
    {"v_mfma_f32_16x16x32_fp8_bf8", "bits", "6f4f697e7a07be799529a64f08a58521"},
};

TEST(Generator, GoldenDigests) {
  ASSERT_EQ(kGeneratorVersion, 2) << "the table is of another version: replace it";
  std::map<std::pair<std::string, std::string>, std::string> golden;
  for (const Golden& g : kGolden) golden[{g.instruction, g.strategy}] = g.digest;
  std::string lines;
  bool same = true;
  for (const char* name : kSample) {
    for (const Strategy& s : Strategies()) {
      const std::string digest = DigestOfCases({&RowOf(name), &s, 1});
      same &= golden[{name, s.name}] == digest;
      lines += absl::StrFormat("    {\"%s\", \"%s\", \"%s\"},\n", name, s.name, digest);
    }
  }
  EXPECT_TRUE(same) << "the bits of cases changed; if on purpose, increase kGeneratorVersion, and "
                       "this is the new table:\n"
                    << lines;
  EXPECT_EQ(golden.size(), std::size(kSample) * Strategies().size());
}

// ---- What the bits depend on

TEST(Generator, BatchBoundariesAndOrderDoNotMatter) {
  constexpr int kCases = 60;
  for (const char* name : kSample) {
    for (const Strategy& s : Strategies()) {
      const CaseStream stream = {&RowOf(name), &s, 5};
      Batch whole, part;
      Generate(stream, 1000, kCases, whole);
      for (int i = kCases - 1; i >= 0; --i) {  // one by one, backwards
        Generate(stream, 1000 + i, 1, part);
        ASSERT_TRUE(SameInputs(part, Slice(whole, i))) << stream.name() << " " << i;
      }
      for (int first = 0; first < kCases; first += 7) {  // other boundaries, into a used batch
        const int count = std::min(7, kCases - first);
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
  for (const Row& row : Rows()) {
    const Row& other = RowOf(*row.instruction);
    if (&other == &row) continue;
    Batch x, y;
    Generate({&row, &Strategies().front(), 1}, pairs, 2, x);
    Generate({&other, &Strategies().front(), 1}, pairs, 2, y);
    EXPECT_TRUE(SameInputs(x, y)) << row.name << " " << other.name;
    ++pairs;
  }
  EXPECT_GT(pairs, 900);
}

TEST(Generator, SeedStrategyInstructionAndIndexDecideBits) {
  const Row& row = *FindRow("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  const Row& bf16 = *FindRow("sm_80/mma.m16n8k8.f32.bf16.bf16.f32");
  const Strategy& bits = *FindStrategy("bits");
  Batch base, other;
  Generate({&row, &bits, 1}, 4, 1, base);
  Generate({&row, &bits, 2}, 4, 1, other);
  EXPECT_FALSE(SameInputs(base, other));
  Generate({&row, &bits, 1}, 5, 1, other);
  EXPECT_FALSE(SameInputs(base, other));
  Generate({&bf16, &bits, 1}, 4, 1, other);  // same shape and widths
  EXPECT_FALSE(SameInputs(base, other));
  Generate({&row, &Strategies().front(), 1}, 4, 1, other);  // index 4 is uniform bits there too
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
      Generate({&RowOf(in), &s, 3}, 0, std::string_view(s.name) == "bits" ? 2 : 60, batch);
      EXPECT_EQ(batch.shape, in.shape);
      EXPECT_TRUE(Fit(batch.a, row, [&](int i) { return in.a_format(i); })) << in.name;
      EXPECT_TRUE(Fit(batch.b, row, [&](int i) { return in.b_format(i); })) << in.name;
      EXPECT_TRUE(Fit(batch.c, 1, [&](int) { return *in.c; })) << in.name;
    }
  }
}

// Uniform bits reach every pattern of a narrow format, scales included.
TEST(Generator, UniformBitsReachEveryPattern) {
  const Row& row = RowOf("mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  Batch batch;
  Generate({&row, FindStrategy("bits"), 1}, 0, 100, batch);
  std::set<uint64_t> elements, scales;
  for (size_t i = 0; i < batch.a.size(); ++i) {
    (i % row.shape().row_words() < 64 ? elements : scales).insert(batch.a[i]);
  }
  EXPECT_EQ(elements.size(), 16u);
  EXPECT_EQ(scales.size(), 256u);
}

TEST(Generator, EveryClassHasItsShareOfAnyRange) {
  for (const char* name : {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "x86/vpdpbusd",
                           "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0"}) {
    const Instruction& in = *FindRow(name)->instruction;
    const size_t boundary = BoundaryClasses(in).size();
    EXPECT_EQ(ClassesOf(*FindStrategy("mixed"), in).size(), boundary + 1);
    EXPECT_EQ(ClassesOf(*FindStrategy("boundary"), in).size(), boundary);
    EXPECT_THAT(ClassesOf(*FindStrategy("bits"), in), ElementsAre(&UniformBits()));
    for (const uint64_t first : {uint64_t{0}, uint64_t{12345}, ~uint64_t{0} - 4000}) {
      std::map<const InputClass*, int> count;
      for (int i = 0; i < 4000; ++i) ++count[&Strategies().front().class_of(in, first + i)];
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
        std::span<const InputClass>(integer_classes::kClasses)}) {
    std::set<std::string> names = {UniformBits().name};
    for (const InputClass& c : classes) EXPECT_TRUE(names.insert(c.name).second) << c.name;
  }
}

// ---- Names

TEST(CaseName, RoundTrip) {
  for (const Row& row : Rows()) {
    for (const Strategy& s : Strategies()) {
      for (const uint64_t number : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
        const CaseName name = {{&row, &s, number}, ~number};
        const absl::StatusOr<CaseName> parsed = ParseCaseName(FormatCaseName(name));
        ASSERT_TRUE(parsed.ok()) << parsed.status();
        EXPECT_EQ(parsed->stream.row, &row);
        EXPECT_EQ(parsed->stream.strategy, &s);
        EXPECT_EQ(parsed->stream.seed, number);
        EXPECT_EQ(parsed->index, ~number);
      }
    }
  }
}

TEST(CaseName, Text) {
  const Row& row = *FindRow("x86/vdpbf16ps");
  EXPECT_EQ(FormatCaseName({{&row, &Strategies().front(), 7}, 42}), "x86/vdpbf16ps@g2:7:42");
  EXPECT_EQ(FormatCaseName({{&row, FindStrategy("bits"), 7}, 42}), "x86/vdpbf16ps@g2:bits.7:42");
  const absl::StatusOr<CaseName> alias = ParseCaseName("hopper/mma.m16n8k8.f32.f16.f16.f32@g2:1:2");
  ASSERT_TRUE(alias.ok());
  EXPECT_EQ(FormatCaseName(*alias), "sm_90/mma.m16n8k8.f32.f16.f16.f32@g2:1:2");
}

TEST(CaseName, MalformedNamesSayWhatIsWrong) {
  constexpr std::pair<const char*, const char*> kBad[] = {
      {"", "there is no index"},
      {"x86/vdpbf16ps", "there is no index"},
      {"x86/vdpbf16ps@g2", "there is no index"},
      {"x86/vdpbf16ps:1", "there must be one '@'"},
      {"x86/vdpbf16ps@@g2:1:2", "there must be one '@'"},
      {"x86/vdpbf16ps@g2:1", "the version and the seed must follow '@'"},
      {"x86/vdpbf16ps@g2:1:2:3", "the version and the seed must follow '@'"},
      {"x86/vdpbf16p@g2:1:2", "no instruction 'x86/vdpbf16p'; the nearest names are x86/vdpbf16ps"},
      {"@g2:1:2", "no instruction ''"},
      {"x86/vdpbf16ps@g1:1:2", "generator version 'g1' is not this program's"},
      {"x86/vdpbf16ps@1:1:2", "generator version '1' is not this program's"},
      {"x86/vdpbf16ps@g01:1:2", "generator version 'g01'"},
      {"x86/vdpbf16ps@g2:mixd.1:2", "no strategy 'mixd'; there are mixed, boundary, bits"},
      {"x86/vdpbf16ps@g2:.1:2", "no strategy ''"},
      {"x86/vdpbf16ps@g2::2", "seed '' is no number"},
      {"x86/vdpbf16ps@g2:bits.:2", "seed '' is no number"},
      {"x86/vdpbf16ps@g2:one:2", "seed 'one' is no number"},
      {"x86/vdpbf16ps@g2:-1:2", "seed '-1' is no number"},
      {"x86/vdpbf16ps@g2:+1:2", "seed '+1' is no number"},
      {"x86/vdpbf16ps@g2: 1:2", "seed ' 1' is no number"},
      {"x86/vdpbf16ps@g2:18446744073709551616:2", "is no number below 2^64"},
      {"x86/vdpbf16ps@g2:1:", "index '' is no number"},
      {"x86/vdpbf16ps@g2:1:-2", "index '-2' is no number"},
      {"x86/vdpbf16ps@g2:1:2 ", "index '2 ' is no number"},
      {"x86/vdpbf16ps@g2:1:0x2", "index '0x2' is no number"},
      {"x86/vdpbf16ps@g2:1:18446744073709551616", "is no number below 2^64"},
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
