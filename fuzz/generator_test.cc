// The generator: its bits never change unnoticed, depend on nothing but the name of the case, and
// every boundary class really has the property that it is named after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "fuzz/boundary.h"
#include "fuzz/case_name.h"
#include "fuzz/events.h"
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

bool SameInputs(const Batch& x, const Batch& y) { return x.a == y.a && x.b == y.b && x.c == y.c; }

// ---- Golden digests

// XXH3-128 over the operand words a, b, c (8 bytes each) of cases 0..999, then of four huge
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
  add(0, 1000);
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

// Seed 1, generator version 1. When bits change on purpose: increase kGeneratorVersion, run this
// test, and replace the table by the lines that it prints.
constexpr Golden kGolden[] = {
    {"vdpbf16ps", "mixed", "ece50ad553ada58176b0fefcdae6b1dc"},
    {"vdpbf16ps", "boundary", "619c4d1ef0501538470c787fc526d31b"},
    {"vdpbf16ps", "bits", "4e1f236f0a079b949a7bf1619175bd07"},
    {"vfmadd231ss", "mixed", "e449ab6acc30be0605b35cc42d6e9caa"},
    {"vfmadd231ss", "boundary", "18ee2dd948d5cf1167b94a76e79e3b04"},
    {"vfmadd231ss", "bits", "5ac7f542a2b10c8d4b2d3bdeb36cf2ef"},
    {"vfmadd231sd", "mixed", "4d58df9101768a47d51fc00b80a0bb81"},
    {"vfmadd231sd", "boundary", "56ce3dd1168f60a117420d5a89e1f01b"},
    {"vfmadd231sd", "bits", "58291d381152aa24981ba6cc81634d98"},
    {"vpdpbusd", "mixed", "dff14fc0e4be5904fcb248f0c5cfbaab"},
    {"vpdpbusd", "boundary", "e0de4b4f817c3b62010198a5806866b2"},
    {"vpdpbusd", "bits", "6ddf376d74ac4ef5da373b0d66e38a4a"},
    {"vpdpbusds", "mixed", "c7decfe6533d4941d6a9eec9d41b8b0b"},
    {"vpdpbusds", "boundary", "7e8df63b68c46e0817a64887f5928cc0"},
    {"vpdpbusds", "bits", "300914288945c75d2aaedaf1349b4e96"},
    {"vpdpwssd", "mixed", "66f95ee7a50971e645c9049672f3aec5"},
    {"vpdpwssd", "boundary", "fb4d6799e623f24d7b8e71ebce664b17"},
    {"vpdpwssd", "bits", "36143ba0a74737f64fbcc6759e5e69db"},
    {"vpdpwssds", "mixed", "64f656bf825df8c851478d285857b3e7"},
    {"vpdpwssds", "boundary", "400d618a941d871f2ab2912a62ae8de2"},
    {"vpdpwssds", "bits", "61fd80f8212714004e83c16f23752c82"},
    {"mma.m8n8k4.f32.f16.f16.f32", "mixed", "0a23684c9b580d4fca7e979c6031d19a"},
    {"mma.m8n8k4.f32.f16.f16.f32", "boundary", "dc5c6607de9239475b0bfc695c9ea89c"},
    {"mma.m8n8k4.f32.f16.f16.f32", "bits", "b8f5a7d3f054c697edb9ebbec64b980e"},
    {"mma.m8n8k4.f32.f16.f16.f16", "mixed", "fd2286ca5c813adde57603804dd446d3"},
    {"mma.m8n8k4.f32.f16.f16.f16", "boundary", "1f92e8a136b870263ad72e34907cd158"},
    {"mma.m8n8k4.f32.f16.f16.f16", "bits", "1c1c93ebce5524516648fd4be8dd874d"},
    {"mma.m8n8k4.f16.f16.f16.f16", "mixed", "2c104d927c5227b30b6ae9394ddf9534"},
    {"mma.m8n8k4.f16.f16.f16.f16", "boundary", "728167e661b22593f59acda69b4df568"},
    {"mma.m8n8k4.f16.f16.f16.f16", "bits", "e44db5efea71a91fd475e3e59befb6af"},
    {"mma.m16n8k8.f32.f16.f16.f32", "mixed", "8debee345ef2900aaa74026bde6a5f3f"},
    {"mma.m16n8k8.f32.f16.f16.f32", "boundary", "1901ac0d6110c806efa38622cea83e1a"},
    {"mma.m16n8k8.f32.f16.f16.f32", "bits", "e31691f1897621aacef00a0ffa3f2d15"},
    {"mma.m16n8k8.f16.f16.f16.f16", "mixed", "ddc62dd9dcf09059abe6b383d01753e9"},
    {"mma.m16n8k8.f16.f16.f16.f16", "boundary", "bbde5b55f7c1322aa37e51eb0a9aa131"},
    {"mma.m16n8k8.f16.f16.f16.f16", "bits", "ba5805fe0073c96b1ffa95a6ec8edeea"},
    {"mma.m16n8k16.f32.f16.f16.f32", "mixed", "d7660343614545557fe7d52e51599501"},
    {"mma.m16n8k16.f32.f16.f16.f32", "boundary", "1b51d33cb57fc89c456766269141c7a8"},
    {"mma.m16n8k16.f32.f16.f16.f32", "bits", "9f1afd792d790ea7c31393ea7c0f7c66"},
    {"mma.m16n8k16.f16.f16.f16.f16", "mixed", "8f791e97eecbf3b5d5ffe321e98ffa0e"},
    {"mma.m16n8k16.f16.f16.f16.f16", "boundary", "4461fc032d05877961a3de744e9fc9ba"},
    {"mma.m16n8k16.f16.f16.f16.f16", "bits", "2aec1cf52f3395ab87e1b3dfd23e34c0"},
    {"mma.m16n8k8.f32.bf16.bf16.f32", "mixed", "36b58c89d6dbb7daa5d7a49b24c3a7cc"},
    {"mma.m16n8k8.f32.bf16.bf16.f32", "boundary", "37155b94492d957f69f11ca080270b2c"},
    {"mma.m16n8k8.f32.bf16.bf16.f32", "bits", "7c08695401e009c9605e431c140aeb0d"},
    {"mma.m16n8k16.f32.bf16.bf16.f32", "mixed", "1e57c5d14ae9a44c3d81a690a9cd2128"},
    {"mma.m16n8k16.f32.bf16.bf16.f32", "boundary", "dd1d48f6de515864e35bfe24bc79e4a7"},
    {"mma.m16n8k16.f32.bf16.bf16.f32", "bits", "b5af9448ed7815acb4b0eacc0cf5edb8"},
    {"mma.m16n8k4.f32.tf32.tf32.f32", "mixed", "7b1d631fe3a80f997db67fa48474ad95"},
    {"mma.m16n8k4.f32.tf32.tf32.f32", "boundary", "e04a925a86e65320f77ea5675319bef0"},
    {"mma.m16n8k4.f32.tf32.tf32.f32", "bits", "80b55feb8dbfa8c042322187108f2ced"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "mixed", "7f85b3a9c06894ad0b8bc2e54afd1c19"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "boundary", "9d6c6a3f5468dc3d70ebba7a710f4a79"},
    {"mma.m16n8k8.f32.tf32.tf32.f32", "bits", "29e712cdba0f4cf3ea281cd1c025a886"},
    {"mma.m16n8k32.f32.e4m3.e4m3.f32", "mixed", "2376e1b289d328f2dcde77527b7ef3af"},
    {"mma.m16n8k32.f32.e4m3.e4m3.f32", "boundary", "15288c25e1680f32375b9ead2cd0e72f"},
    {"mma.m16n8k32.f32.e4m3.e4m3.f32", "bits", "c8e3abec65c2532e89c6501f50c97d2a"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "mixed", "6f0ad2090134b0b0938e90111e4b6077"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "boundary", "673c063062fb47202d393ed1df3fdd0a"},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", "bits", "3614cf121412ad30722b016d5c74699d"},
    {"mma.m16n8k32.f32.e5m2.e4m3.f32", "mixed", "bc189a9541a045a82fca144d8c3ee420"},
    {"mma.m16n8k32.f32.e5m2.e4m3.f32", "boundary", "d9dc283ce60b742199e67439698916f4"},
    {"mma.m16n8k32.f32.e5m2.e4m3.f32", "bits", "b8ffb9a785096b69801ae10f9c8c7b4c"},
    {"mma.m16n8k32.f32.e5m2.e5m2.f32", "mixed", "500c66a9b4873007bcf3297bc9f8ec29"},
    {"mma.m16n8k32.f32.e5m2.e5m2.f32", "boundary", "d8db8e4169b14ea0b04c595c4b30fafe"},
    {"mma.m16n8k32.f32.e5m2.e5m2.f32", "bits", "d82cf5aafe52db06f4bdf89ff82ba1d8"},
    {"mma.m16n8k32.f16.e4m3.e4m3.f16", "mixed", "a727749c429bb4fe104ed0ce67269ed5"},
    {"mma.m16n8k32.f16.e4m3.e4m3.f16", "boundary", "3023f7d06cde3f15a18b01e6bc2f6a7e"},
    {"mma.m16n8k32.f16.e4m3.e4m3.f16", "bits", "96be59504a96ef808282fa123f131388"},
    {"mma.m16n8k32.f16.e4m3.e5m2.f16", "mixed", "8e8ddf8eebea58a49970bd8069e757d4"},
    {"mma.m16n8k32.f16.e4m3.e5m2.f16", "boundary", "7f244ee67d29fc74cc00ab3fdd3f80a4"},
    {"mma.m16n8k32.f16.e4m3.e5m2.f16", "bits", "82e583fd11859486dcebdf44f3be2abb"},
    {"mma.m16n8k32.f16.e5m2.e4m3.f16", "mixed", "168f1feebc838b8c06343e145ea9a1bb"},
    {"mma.m16n8k32.f16.e5m2.e4m3.f16", "boundary", "7b080c06d63173db455894db4c4a943c"},
    {"mma.m16n8k32.f16.e5m2.e4m3.f16", "bits", "2ffa857ed7799911cd1fb96dc71c45d4"},
    {"mma.m16n8k32.f16.e5m2.e5m2.f16", "mixed", "2f28d95d7ca490031ecb89cf78925d4b"},
    {"mma.m16n8k32.f16.e5m2.e5m2.f16", "boundary", "516d09defcdde22de19c287d408ff39a"},
    {"mma.m16n8k32.f16.e5m2.e5m2.f16", "bits", "97baa54f318d6226c5d1ef2bbb490e37"},
};

TEST(Generator, GoldenDigests) {
  ASSERT_EQ(kGeneratorVersion, 1) << "the table is of another version: replace it";
  std::map<std::pair<std::string, std::string>, std::string> golden;
  for (const Golden& g : kGolden) golden[{g.instruction, g.strategy}] = g.digest;
  std::string lines;
  bool same = true;
  for (const Instruction& instruction : Instructions()) {
    for (const Strategy& s : Strategies()) {
      const std::string digest = DigestOfCases({&RowOf(instruction), &s, 1});
      same &= golden[{instruction.name, s.name}] == digest;
      lines += absl::StrFormat("    {\"%s\", \"%s\", \"%s\"},\n", instruction.name, s.name, digest);
    }
  }
  EXPECT_TRUE(same) << "the bits of cases changed; if on purpose, increase kGeneratorVersion, and "
                       "this is the new table:\n"
                    << lines;
  EXPECT_EQ(golden.size(), Instructions().size() * Strategies().size());
}

// ---- What the bits depend on

TEST(Generator, BatchBoundariesAndOrderDoNotMatter) {
  constexpr int kCases = 60;
  for (const Instruction& instruction : Instructions()) {
    for (const Strategy& s : Strategies()) {
      const CaseStream stream = {&RowOf(instruction), &s, 5};
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
    Generate({&row, &Strategies().front(), 1}, 0, 50, x);
    Generate({&other, &Strategies().front(), 1}, 0, 50, y);
    EXPECT_TRUE(SameInputs(x, y)) << row.name << " " << other.name;
    ++pairs;
  }
  EXPECT_GT(pairs, 40);
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

bool Fits(const std::vector<uint64_t>& words, const Format& format) {
  return std::all_of(words.begin(), words.end(),
                     [&](uint64_t word) { return (word & ~LowBits(format.bits)) == 0; });
}

TEST(Generator, EveryWordFitsItsFormat) {
  for (const Instruction& instruction : Instructions()) {
    for (const Strategy& s : Strategies()) {
      Batch batch;
      Generate({&RowOf(instruction), &s, 3}, 0, 500, batch);
      EXPECT_EQ(batch.shape, instruction.shape);
      EXPECT_TRUE(Fits(batch.a, *instruction.a)) << instruction.name << " " << s.name;
      EXPECT_TRUE(Fits(batch.b, *instruction.b)) << instruction.name << " " << s.name;
      EXPECT_TRUE(Fits(batch.c, *instruction.c)) << instruction.name << " " << s.name;
    }
  }
}

TEST(Generator, EveryClassHasItsShareOfAnyRange) {
  for (const char* name : {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "x86/vpdpbusd"}) {
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
  for (const auto& classes : {FloatClasses(), IntegerClasses()}) {
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
  EXPECT_EQ(FormatCaseName({{&row, &Strategies().front(), 7}, 42}), "x86/vdpbf16ps@g1:7:42");
  EXPECT_EQ(FormatCaseName({{&row, FindStrategy("bits"), 7}, 42}), "x86/vdpbf16ps@g1:bits.7:42");
  const absl::StatusOr<CaseName> alias = ParseCaseName("hopper/mma.m16n8k8.f32.f16.f16.f32@g1:1:2");
  ASSERT_TRUE(alias.ok());
  EXPECT_EQ(FormatCaseName(*alias), "sm_90/mma.m16n8k8.f32.f16.f16.f32@g1:1:2");
}

TEST(CaseName, MalformedNamesSayWhatIsWrong) {
  constexpr std::pair<const char*, const char*> kBad[] = {
      {"", "there is no index"},
      {"x86/vdpbf16ps", "there is no index"},
      {"x86/vdpbf16ps@g1", "there is no index"},
      {"x86/vdpbf16ps:1", "there must be one '@'"},
      {"x86/vdpbf16ps@@g1:1:2", "there must be one '@'"},
      {"x86/vdpbf16ps@g1:1", "the version and the seed must follow '@'"},
      {"x86/vdpbf16ps@g1:1:2:3", "the version and the seed must follow '@'"},
      {"x86/vdpbf16p@g1:1:2", "no instruction 'x86/vdpbf16p'; the nearest are x86/vdpbf16ps"},
      {"@g1:1:2", "no instruction ''"},
      {"x86/vdpbf16ps@g2:1:2", "generator version 'g2' is not this program's"},
      {"x86/vdpbf16ps@1:1:2", "generator version '1' is not this program's"},
      {"x86/vdpbf16ps@g01:1:2", "generator version 'g01'"},
      {"x86/vdpbf16ps@g1:mixd.1:2", "no strategy 'mixd'; there are mixed, boundary, bits"},
      {"x86/vdpbf16ps@g1:.1:2", "no strategy ''"},
      {"x86/vdpbf16ps@g1::2", "seed '' is no number"},
      {"x86/vdpbf16ps@g1:bits.:2", "seed '' is no number"},
      {"x86/vdpbf16ps@g1:one:2", "seed 'one' is no number"},
      {"x86/vdpbf16ps@g1:-1:2", "seed '-1' is no number"},
      {"x86/vdpbf16ps@g1:+1:2", "seed '+1' is no number"},
      {"x86/vdpbf16ps@g1: 1:2", "seed ' 1' is no number"},
      {"x86/vdpbf16ps@g1:18446744073709551616:2", "is no number below 2^64"},
      {"x86/vdpbf16ps@g1:1:", "index '' is no number"},
      {"x86/vdpbf16ps@g1:1:-2", "index '-2' is no number"},
      {"x86/vdpbf16ps@g1:1:2 ", "index '2 ' is no number"},
      {"x86/vdpbf16ps@g1:1:0x2", "index '0x2' is no number"},
      {"x86/vdpbf16ps@g1:1:18446744073709551616", "is no number below 2^64"},
  };
  for (const auto& [text, what] : kBad) {
    const absl::StatusOr<CaseName> parsed = ParseCaseName(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(what)) << text;
  }
}

// ---- Classes have the property that they are named after

constexpr int kTiles = 256, kPerTile = 12;  // dot products measured of a class: 3072

// Calls `visit` for kPerTile dot products of kTiles cases of the class.
void ForDotProducts(const Instruction& instruction, const InputClass& input_class,
                    const std::function<void(const DotProductCase&)>& visit) {
  Batch batch;
  batch.Resize(instruction.shape, 1);
  const Tile tile = {instruction, batch.a.data(), batch.b.data(), batch.c.data()};
  for (int i = 0; i < kTiles; ++i) {
    Random random(1, 7, i);
    input_class.fill(tile, random);
    for (int j = 0; j < kPerTile; ++j) {
      visit(Extract(batch, (i * 5 + j * 11) % batch.dot_products()));
    }
  }
}

const InputClass& ClassNamed(const Instruction& instruction, std::string_view name) {
  for (const InputClass& c : BoundaryClasses(instruction)) {
    if (name == c.name) return c;
  }
  std::abort();
}

uint64_t CountEvent(const Row& row, const char* class_name, StageEvent event) {
  EventCounter counter;
  ForDotProducts(*row.instruction, ClassNamed(*row.instruction, class_name),
                 [&](const DotProductCase& dot) { counter.Count(row.model, dot); });
  std::map<std::string, uint64_t> counts;
  counter.AddTo(row.model, counts);
  EXPECT_EQ(counts["event.sampled"], uint64_t{kTiles * kPerTile});
  return counts[std::string("event.") + Name(event)];
}

// In every float row, and in the first of every instruction, unless `reachable` says no.
class ClassOf : public testing::TestWithParam<const Row*> {
 protected:
  const Row& row() const { return *GetParam(); }
  const Instruction& in() const { return *row().instruction; }
  const Algorithm& algorithm() const { return row().model.algorithm; }
  int CountDots(const char* class_name, const std::function<bool(const DotProductCase&)>& has) {
    int count = 0;
    ForDotProducts(in(), ClassNamed(in(), class_name),
                   [&](const DotProductCase& dot) { count += has(dot); });
    return count;
  }
};

class FloatClass : public ClassOf {};
class IntegerClass : public ClassOf {};

// The exponent of the highest bit of a nonzero event.
int Leading(const Event& e) { return BitWidth(e.magnitude) - 1 + e.lsb_exponent; }

// Some step's sum is zero or at least six bits shorter than its widest term.
bool Cancels(const Model& model, const DotProductCase& dot) {
  const Stage term =
      model.algorithm.family == Family::kFusedSum ? Stage::kAlignedTerm : Stage::kProduct;
  int widest = -100000, step = 0;
  for (const Event& e : TraceStages(model, dot)) {
    if (e.step != step) widest = -100000;
    step = e.step;
    if (e.stage == term && e.magnitude != 0) widest = std::max(widest, Leading(e));
    if (e.stage != Stage::kSum || widest == -100000) continue;
    if (e.magnitude == 0 || widest - Leading(e) >= 6) return true;
  }
  return false;
}

TEST_P(FloatClass, CancelCancels) {
  EXPECT_GE(CountDots("cancel", [&](const auto& dot) { return Cancels(row().model, dot); }), 2000);
  EXPECT_GE(CountEvent(row(), "cancel", StageEvent::kFullCancellation), 50u);
}

TEST_P(FloatClass, TieTies) {
  // With 23 fraction bits half an ulp of f32 lies below what alignment keeps: only a carry shows
  // it.
  const bool kept = algorithm().family == Family::kFmaChain ||
                    algorithm().fraction_bits > algorithm().output_fraction_bits;
  EXPECT_GE(CountEvent(row(), "tie", StageEvent::kTie), kept ? 300u : 150u);
}

TEST_P(FloatClass, BandLosesBits) {
  const StageEvent lost =
      algorithm().family == Family::kFmaChain ? StageEvent::kInexact : StageEvent::kBitsLost;
  EXPECT_GE(CountEvent(row(), "band", lost), 1000u);
}

int Lowest(const Format& f) { return f.min_exponent - f.fraction_bits; }

TEST_P(FloatClass, UnderflowGivesSubnormals) {
  const Format &c = *in().c, &d = *in().d;
  const int lowest = std::min(Lowest(*in().a) + Lowest(*in().b), Lowest(c));
  if (lowest >= d.min_exponent) {  // f16 operands and addend, f32 result: nothing is so small
    EXPECT_EQ(CountEvent(row(), "underflow", StageEvent::kResultSubnormal), 0u);
  } else if (algorithm().output_subnormals == Subnormals::kFlush) {
    EXPECT_GE(CountEvent(row(), "underflow", StageEvent::kResultZero), 1000u);
  } else {
    EXPECT_GE(CountEvent(row(), "underflow", StageEvent::kResultSubnormal), 300u);
  }
}

TEST_P(FloatClass, OverflowGivesInfinity) {
  // An f32 addend of the largest size plus products of f16 never carries into the exponent.
  const bool reachable = 2 * MaxExponent(*in().a) >= MaxExponent(*in().d) - in().d->fraction_bits;
  const uint64_t infinite = CountEvent(row(), "overflow", StageEvent::kResultInfinite);
  EXPECT_GE(infinite, reachable ? 600u : 0u);
  EXPECT_LE(infinite, reachable ? 2500u : 0u);
}

bool IsZero(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.significand == 0;
}
bool IsHuge(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.exponent == MaxExponent(f);
}
bool IsSubnormal(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.significand != 0 && u.significand >> f.fraction_bits == 0;
}

TEST_P(FloatClass, ZerosFaceHugePartners) {
  const Format &a = *in().a, &b = *in().b;
  const auto faces = [&](const DotProductCase& dot) {
    for (size_t k = 0; k < dot.a.size(); ++k) {
      if (IsZero(a, dot.a[k]) && IsHuge(b, dot.b[k])) return true;
      if (IsHuge(a, dot.a[k]) && IsZero(b, dot.b[k])) return true;
    }
    return false;
  };
  EXPECT_GE(CountDots("zero_times_huge", faces), 1400);
  // The rule for such zeros shows only when the other terms reach less far.
  if (algorithm().family != Family::kFusedSum) return;
  Algorithm raises = algorithm();
  raises.zero_term = ZeroTerm::kRaises;
  const Model changed = WithAlgorithm(row(), raises);
  EXPECT_GE(CountDots("zero_times_huge",
                      [&](const DotProductCase& dot) {
                        return Simulate(changed, dot) != Simulate(row().model, dot);
                      }),
            300);
}

TEST_P(FloatClass, SignedZerosGiveZerosOfBothSigns) {
  std::map<uint64_t, int> zeros;
  ForDotProducts(in(), ClassNamed(in(), "signed_zeros"), [&](const DotProductCase& dot) {
    const uint64_t d = Simulate(row().model, dot);
    if (IsZero(*in().d, d)) ++zeros[d >> SignBit(*in().d)];
  });
  EXPECT_GE(zeros[0] + zeros[1], 1500);
  if (algorithm().zero_sign == ZeroSign::kIeee) {
    EXPECT_GE(zeros[0], 300);
    EXPECT_GE(zeros[1], 100);
  }
  // All terms negative zeros: the one case in which IEEE 754 asks for a negative sum.
  const auto all_negative = [&](const DotProductCase& dot) {
    bool all = dot.c >> SignBit(*in().c) & 1;
    for (size_t k = 0; k < dot.a.size(); ++k) {
      all &= ((dot.a[k] >> SignBit(*in().a)) ^ (dot.b[k] >> SignBit(*in().b))) & 1;
      all &= IsZero(*in().a, dot.a[k]) || IsZero(*in().b, dot.b[k]);
    }
    return all;
  };
  EXPECT_GE(CountDots("signed_zeros", all_negative), in().shape.k <= 4 ? 30 : 0);
}

TEST_P(FloatClass, SubnormalOperandsInBothFactors) {
  int a = 0, b = 0, c = 0;
  ForDotProducts(in(), ClassNamed(in(), "subnormals"), [&](const DotProductCase& dot) {
    a += IsSubnormal(*in().a, dot.a[0]);
    b += IsSubnormal(*in().b, dot.b[0]);
    c += IsSubnormal(*in().c, dot.c);
  });
  EXPECT_GE(a, 1500);
  EXPECT_GE(b, 1500);
  EXPECT_GE(c, 1500);
}

TEST_P(FloatClass, AddendEdgesAreReached) {
  std::map<std::string, int> seen;
  const Format& f = *in().c;
  ForDotProducts(in(), ClassNamed(in(), "addend_edges"), [&](const DotProductCase& dot) {
    const Unpacked u = Decode(f, dot.c);
    const std::string sign = u.negative ? "-" : "+";
    if (u.kind == Kind::kNan) ++seen["NaN"];
    if (u.kind == Kind::kInfinite) ++seen[sign + "infinity"];
    if (IsZero(f, dot.c)) ++seen[sign + "zero"];
    if (IsSubnormal(f, dot.c)) ++seen[sign + "subnormal"];
    if (IsHuge(f, dot.c)) ++seen[sign + "huge"];
    if (IsHuge(f, dot.c) && u.significand == LowBits(f.fraction_bits + 1)) ++seen[sign + "largest"];
  });
  for (const char* edge : {"NaN", "+infinity", "-infinity", "+zero", "-zero", "+subnormal",
                           "-subnormal", "+huge", "-huge", "+largest", "-largest"}) {
    EXPECT_GE(seen[edge], 10) << edge;
  }
}

// Every word of A, B and C of a tile gets a special, and each k of A and B and some C an infinity,
// a quiet and a signalling NaN of its own.
TEST_P(FloatClass, SpecialsInEveryPosition) {
  const Shape& s = in().shape;
  std::map<std::string, std::set<std::string>> kinds;  // by operand and k
  std::set<std::pair<char, int>> words;
  Batch batch;
  batch.Resize(s, 1);
  const Tile tile = {in(), batch.a.data(), batch.b.data(), batch.c.data()};
  const auto look = [&](char operand, const Format& f, const std::vector<uint64_t>& all, int k) {
    for (size_t i = 0; i < all.size(); ++i) {
      const Unpacked u = Decode(f, all[i]);
      if (u.kind == Kind::kFinite) continue;
      words.emplace(operand, static_cast<int>(i));
      const bool quiet = u.significand >> (f.fraction_bits - 1) & 1;
      kinds[operand + std::to_string(i % k)].insert(u.kind == Kind::kInfinite ? "infinity"
                                                    : quiet                   ? "quiet"
                                                                              : "signalling");
    }
  };
  for (int i = 0; i < 4000; ++i) {
    Random random(1, 7, i);
    ClassNamed(in(), "specials").fill(tile, random);
    look('a', *in().a, batch.a, s.k);
    look('b', *in().b, batch.b, s.k);
    look('c', *in().c, batch.c, 1);
  }
  EXPECT_EQ(words.size(), static_cast<size_t>(s.a_words() + s.b_words() + s.d_words()));
  EXPECT_EQ(kinds.size(), static_cast<size_t>(2 * s.k + 1));
  for (const auto& [where, seen] : kinds) EXPECT_EQ(seen.size(), 3u) << where;
  EXPECT_GE(CountEvent(row(), "specials", StageEvent::kResultSpecial), 120u);
}

TEST_P(FloatClass, EdgesMixKinds) {
  EXPECT_GE(CountEvent(row(), "edges", StageEvent::kResultSpecial), 150u);
  const auto finite = [&](const DotProductCase& dot) {
    return Decode(*in().d, Simulate(row().model, dot)).kind == Kind::kFinite;
  };
  EXPECT_GE(CountDots("edges", finite), 300);
}

TEST_P(IntegerClass, LimitLeavesTheRange) {
  const uint64_t outside = CountEvent(row(), "limit", StageEvent::kIntegerOverflow);
  EXPECT_GE(outside, 1000u);
  EXPECT_LE(outside, 2000u);  // on both sides of the limit
  std::map<uint64_t, int> results;
  ForDotProducts(in(), ClassNamed(in(), "limit"),
                 [&](const DotProductCase& dot) { ++results[Simulate(row().model, dot)]; });
  if (algorithm().overflow != Overflow::kSaturate) return;
  EXPECT_GE(results[0x7fffffff], 300);
  EXPECT_GE(results[0x80000000], 300);
}

// Saturation after every product would give another result than once at the end.
TEST_P(IntegerClass, CancelTellsWhereSaturationHappens) {
  Algorithm one = algorithm();
  one.terms = 1;
  one.overflow = Overflow::kSaturate;
  Algorithm all = one;
  all.terms = in().shape.k;
  const Model stepwise = WithAlgorithm(row(), one), once = WithAlgorithm(row(), all);
  EXPECT_GE(CountDots("cancel",
                      [&](const DotProductCase& dot) {
                        return Simulate(stepwise, dot) != Simulate(once, dot);
                      }),
            200);
}

TEST_P(IntegerClass, SmallNumbersNeverOverflowAndOftenVanish) {
  EXPECT_EQ(CountEvent(row(), "small", StageEvent::kIntegerOverflow), 0u);
  EXPECT_GE(CountEvent(row(), "small", StageEvent::kResultZero), 500u);
}

TEST_P(IntegerClass, EdgesReachTheEndsOfEveryFormat) {
  std::map<std::string, std::set<uint64_t>> seen;
  ForDotProducts(in(), ClassNamed(in(), "edges"), [&](const DotProductCase& dot) {
    seen["a"].insert(dot.a.begin(), dot.a.end());
    seen["b"].insert(dot.b.begin(), dot.b.end());
    seen["c"].insert(dot.c);
  });
  for (const auto& [name, format] : {std::pair("a", in().a), {"b", in().b}, {"c", in().c}}) {
    for (const uint64_t word : {uint64_t{0}, uint64_t{1}, LowBits(format->bits),
                                LowBits(format->bits - 1), uint64_t{1} << (format->bits - 1)}) {
      EXPECT_EQ(seen[name].count(word), 1u) << name << " " << word;
    }
  }
}

std::vector<const Row*> RowsWith(bool integer) {
  std::vector<const Row*> rows;
  for (const Row& row : Rows()) {
    // Rows of equal instruction and algorithm would be measured twice.
    const bool seen = std::any_of(rows.begin(), rows.end(), [&](const Row* other) {
      return other->instruction == row.instruction && other->model.algorithm == row.model.algorithm;
    });
    // Operands of 8 bits hold too few exponents for the thresholds above; on their rows `mmadiff
    // mutants` measures the classes: every neighbour must be found.
    const bool narrow = !integer && row.instruction->a->bits <= 8;
    if (!seen && !narrow && IsInteger(*row.instruction->d) == integer) rows.push_back(&row);
  }
  return rows;
}

std::string ParameterName(const testing::TestParamInfo<const Row*>& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rows, FloatClass, testing::ValuesIn(RowsWith(false)), ParameterName);
INSTANTIATE_TEST_SUITE_P(Rows, IntegerClass, testing::ValuesIn(RowsWith(true)), ParameterName);

}  // namespace
}  // namespace mmadiff
