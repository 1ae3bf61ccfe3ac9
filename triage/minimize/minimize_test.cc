#include "triage/minimize/minimize.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/simulate.h"
#include "triage/explain.h"
#include "triage/minimize/passes.h"
#include "triage/minimize/simplicity.h"
#include "triage/minimize/terms.h"
#include "triage/testing/device.h"
#include "triage/testing/minimize.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
constexpr char kMxf8[] = "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e2m1.f32.ue8m0";
constexpr char kMxf4[] = "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0";
constexpr char kNvf4[] = "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x";

// "a0*b0@k a1*b1@k c", words in hexadecimal, products without a word that is not +0 left out; then
// " sa*sb@s" for scales that are not both 1.0.
std::string Text(const Model& m, const DotProductCase& dot) {
  std::string text, scales;
  for (int k = 0; k < m.k + m.scales(); ++k) {
    if (dot.a[k] == NeutralWord(m, k) && dot.b[k] == NeutralWord(m, k)) continue;
    const std::string words = absl::StrCat(absl::Hex(dot.a[k]), "*", absl::Hex(dot.b[k]), "@");
    if (k < m.k) absl::StrAppend(&text, words, k, " ");
    if (k >= m.k) absl::StrAppend(&scales, " ", words, k - m.k);
  }
  return absl::StrCat(text, absl::Hex(dot.c), scales);
}

std::string Text(const Minimized& m) {
  return Text(m.mismatch.op->model, Extract(m.mismatch.inputs, m.mismatch.element));
}

// Tiny products that cancel, no addend: what sets the exponent floor at work.
Batch TinyTile(const Operation& op, std::mt19937_64& random) {
  Batch tile = RandomTile(op, op.shape(), random);
  std::ranges::fill(tile.c, 0);
  const auto tiny = [&](const Format& f, uint64_t& word) {
    const uint64_t field = 50 + random() % 5;
    word = (word & (1ull << SignBit(f) | LowBits(f.fraction_bits))) | field << f.fraction_bits;
  };
  for (uint64_t& word : tile.a) tiny(op.model.a, word);
  for (uint64_t& word : tile.b) tiny(op.model.b, word);
  return tile;
}

// Random whole tiles in which the device with the change differs with the signature.
std::vector<Mismatch> Starts(const Operation& op, const std::string& change,
                             const std::string& signature, size_t count, bool tiny) {
  std::vector<Mismatch> starts;
  std::mt19937_64 random(20240601);
  ChangedDevice device(change);
  for (int tile = 0; tile < 3000 && starts.size() < count; ++tile) {
    const Batch inputs = tiny ? TinyTile(op, random) : RandomTile(op, op.shape(), random);
    std::vector<uint64_t> model(inputs.dot_products());
    Simulate(op.model, inputs, model);
    const std::vector<uint64_t> d = *device.Run(op, inputs);
    for (const int64_t element : Differences(op, model, d)) {
      const Observed observed{Extract(inputs, element), d[element]};
      if (Name(BucketOf(op, {&observed, 1})) != signature) continue;
      starts.push_back({&op, inputs, element});
      break;  // the next one from another tile
    }
  }
  return starts;
}

struct Planted {
  const char* op;
  const char* change;
  const char* signature;
  const char* minimal;
  bool tiny = false;
};

// The reason for each minimal case, in the order of the table:
//  1.0 - 2^-25: the last bit that 25 fraction bits keep, seen by the truncation to 24 bits
//  below 1.0 1.0 - 2^-26: the first bit that they lose 1.0 - 2^-27: lost, too, but not rounding
//  down; 2^-26 would be explained by fraction_bits=26 1.0 + 1.5 * 2^-24, just above a tie (the tie
//  of 1.0 + 2^-24 goes to even, which truncation gives
//      as well; below 1.0 it would be explained by fraction_bits=24)
//  2^-24 + 1.0 - 1.0: the first eight products with the addend round to 1.0
//  a subnormal f16 as 2^-16: its raw exponent of -14 costs the addend its only bit
//  2^-54, which the exponent fields of the zero products push out
//  the quiet NaN
//  -2^-157, the first bit that a floor of -132 with 24 fraction bits loses: +0 instead of -0 (floor
//      -131: -2^-156, the last that it keeps; none: -2^-158). In a single dot product of eight
//      terms a floor is always explained by a parameter that is preferred, see explain_test.cc
//  2^-127 flushed in different steps: the sign of the zero is lost on the way
//  2^-127, flushed
//  2^-127 * 2, flushed as an operand
//  the least s32 less 1
//  the least s32 less 1, then plus 1
//  1.0 - 2^-25, as above, of 8-bit and 4-bit operands whose scales are 1.0
//  2^128, which needs a scale: infinite, or the largest f32 where IEEE 754 truncates
//  2^-32, which the exponent fields of the zero products push out
//  1.0 - 2^-35: the last bit that 35 fraction bits keep
//  the quiet NaN, no NaN scale
//  1.0 - 1.0 in one group, whose exponent pushes the addend out
//  1.0 - 2^-36: the first bit that 35 fraction bits lose
const Planted kPlanted[] = {
    {kHopper, "fraction_bits=24", "aligned_term:fraction_bits=24", "3c00*3c00@0 b3000000"},
    {kHopper, "fraction_bits=26", "aligned_term:fraction_bits=26", "3c00*3c00@0 b2800000"},
    {kHopper, "align_rounding=down", "aligned_term:align_rounding=down", "3c00*3c00@0 b2000000"},
    {kHopper, "output_rounding=nearest_even", "rounded:output_rounding=nearest_even",
     "3*3c00@0 3f800000"},
    {kHopper, "terms=8", "product:terms=8", "1*3c00@0 3c00*bc00@8 3f800000"},
    {kHopper, "product_exponent=normalized", "align_exponent:product_exponent=normalized",
     "100*3c00@0 ab000000"},
    {kHopper, "zero_term=raises", "align_exponent:zero_term=raises", "24800000"},
    {kHopper, "nan_rule=quiet_positive", "special:nan_rule=quiet_positive", "7fc00000"},
    {"sm_80/mma.m16n8k8.f32.bf16.bf16.f32", "exponent_floor=-133", "aligned_term:fraction_bits=25",
     "1*3380@0 80*bc00@1 0", true},
    {"sm_80/mma.m16n8k8.f32.bf16.bf16.f32", "exponent_floor=-131", "aligned_term:fraction_bits=23",
     "1*3400@0 80*bc80@1 0", true},
    {"sm_80/mma.m16n8k8.f32.bf16.bf16.f32", "exponent_floor=none",
     "aligned_term:align_rounding=down", "1*b300@0 80*3b80@1 0", true},
    {"x86/vdpbf16ps", "order=ascending", "product:order=ascending", "80*bf00@0 0"},
    {"x86/vdpbf16ps", "output_subnormals=keep", "rounded:output_subnormals=keep", "80*3f00@0 0"},
    {"x86/vdpbf16ps", "input_subnormals=keep", "product:input_subnormals=keep", "40*4000@0 0"},
    {"x86/vpdpbusds", "overflow=wrap", "rounded:overflow=wrap", "1*ff@0 80000000"},
    {"x86/vpdpbusds", "terms=2", "product:terms=2", "1*ff@0 1*1@2 80000000"},
    {kMxf8, "fraction_bits=24", "aligned_term:fraction_bits=24", "38*2@0 b3000000"},
    {kMxf8, "range_overflow=ieee", "rounded:range_overflow=ieee", "38*4@0 0 7f*fe@0"},
    {kMxf8, "zero_term=raises", "align_exponent:zero_term=raises", "2f800000"},
    {kMxf4, "fraction_bits=34", "aligned_term:fraction_bits=34", "2*2@0 ae000000"},
    {kMxf4, "nan_rule=quiet_positive", "special:nan_rule=quiet_positive", "7fc00000"},
    {kMxf4, "zero_group=ignored", "align_exponent:zero_group=ignored", "2*2@0 2*a@1 2d000000"},
    {kNvf4, "fraction_bits=36", "aligned_term:fraction_bits=36", "2*2@0 ad800000"},
};

class PlantedFault : public testing::TestWithParam<Planted> {};

std::string ParamName(const testing::TestParamInfo<Planted>& info) {
  std::string name = absl::StrCat(info.param.op, "_", info.param.change);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = c == '-' ? 'm' : '_';
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(, PlantedFault, testing::ValuesIn(kPlanted), ParamName);

TEST_P(PlantedFault, EveryStartLeadsToTheOneMinimalCase) {
  const Planted& p = GetParam();
  const Operation& op = *FindOperation(p.op);
  const size_t count = op.model.scales() > 0 ? 4 : 2;  // scales give more ways to the same result
  const std::vector<Mismatch> starts = Starts(op, p.change, p.signature, count, p.tiny);
  ASSERT_EQ(starts.size(), count);
  for (const Mismatch& start : starts) {
    ChangedDevice device(p.change);
    const absl::StatusOr<Minimized> m = Minimize(device, start);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ(Text(*m), p.minimal);
    EXPECT_EQ(Name(m->bucket), p.signature);
    EXPECT_EQ(m->repeatability, Repeatability::kReproduced);
    EXPECT_EQ(m->mismatch.inputs.shape, DotProductShape(op.shape()));
    EXPECT_EQ(m->executions, device.executions);
    ASSERT_EQ(m->mismatch.model.size(), 1u);
    EXPECT_FALSE(SameResult(op, m->mismatch.model[0], m->mismatch.device[0]));
    const Observed observed{Extract(m->mismatch.inputs, 0), m->mismatch.device[0]};
    EXPECT_EQ(Name(BucketOf(op, {&observed, 1})), p.signature);
  }
}

int NonZero(const std::vector<uint64_t>& words) {
  return static_cast<int>(words.size() - std::ranges::count(words, 0u));
}

// Exchanged lanes leave nothing to see in a single dot product. In a tile of zeros an addend of 1.0
// that comes out elsewhere is enough. Where the bucket is an opposite sign, the other lane must
// give it: a second word, or a product there, and either of the two may be the negative one.
TEST(Minimize, WrongLaneNeedsTheTile) {
  const Operation& op = *FindOperation(kHopper);
  std::mt19937_64 random(5);
  int seen[2] = {0, 0};
  for (int i = 0; i < 20; ++i) {
    const Batch inputs = RandomTile(op, op.shape(), random);
    SwappedLanesDevice device;
    const absl::StatusOr<Minimized> m = Minimize(device, {&op, inputs, 3});
    ASSERT_TRUE(m.ok()) << m.status();
    ASSERT_EQ(m->repeatability, Repeatability::kReproduced);
    if (Name(m->bucket) != "unexplained:ulps" && Name(m->bucket) != "unexplained:sign") continue;
    const bool sign = Name(m->bucket) == "unexplained:sign";
    ++seen[sign];
    const Batch& minimal = m->mismatch.inputs;
    EXPECT_EQ(minimal.shape, op.shape());
    EXPECT_EQ(m->mismatch.element, 3);
    const int non_zero = NonZero(minimal.a) + NonZero(minimal.b) + NonZero(minimal.c);
    // What the first minimisation leaves, a second one cannot shrink.
    const absl::StatusOr<Minimized> again = Minimize(device, m->mismatch);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->mismatch.inputs.a, minimal.a);
    EXPECT_EQ(again->mismatch.inputs.b, minimal.b);
    EXPECT_EQ(again->mismatch.inputs.c, minimal.c);
    if (sign) {
      EXPECT_TRUE(Text(*m) == "3f800000" || Text(*m) == "bf800000") << Text(*m);
      EXPECT_LE(non_zero, 3);
    } else {
      EXPECT_EQ(Text(*m), "3f800000");
      EXPECT_EQ(non_zero, 1);
      // The tile of zeros is tried before the search for what else matters.
      EXPECT_LE(m->executions, 150);
    }
  }
  EXPECT_GT(seen[0], 2);
  EXPECT_GT(seen[1], 2);
}

std::vector<DotProductCase> Proposals(const std::string& pass, const Model& m,
                                      const DotProductCase& dot) {
  std::vector<DotProductCase> proposals;
  for (const Pass& p : Passes()) {
    if (p.name != pass) continue;
    p.propose(m, dot, [&](const DotProductCase& proposal) {
      proposals.push_back(proposal);
      return false;
    });
  }
  return proposals;
}

// A product that becomes the addend takes its scales along, and the addend loses them in exchange.
TEST(Passes, FoldKeepsTheValueUnderScales) {
  const Model& m = FindOperation(kMxf4)->model;
  DotProductCase dot = NeutralDotProduct(m);
  dot.a[40] = dot.b[40] = 2;  // 1.0
  dot.a[65] = 0x82;           // 2^3, of k = 32..63
  dot.b[65] = 0x7e;           // 2^-1
  DotProductCase folded = WithoutTerms(m, dot);
  folded.c = 0x40800000;
  EXPECT_THAT(Proposals("fold", m, dot), Contains(folded));
  dot.c = 0x41000000;  // 8.0
  folded.a[40] = 4;    // 2.0
  folded.b[40] = 2;
  EXPECT_THAT(Proposals("fold", m, dot), Contains(folded));
}

// The tile around an element whose lane is exchanged becomes zeros and scales of 1.0.
TEST(Minimize, WrongLaneWithScales) {
  const Operation& op = *FindOperation(kNvf4);
  const Model& m = op.model;
  std::mt19937_64 random(8);
  int seen = 0;
  for (int i = 0; i < 6; ++i) {
    SwappedLanesDevice device;
    const absl::StatusOr<Minimized> minimized =
        Minimize(device, {&op, RandomTile(op, op.shape(), random), 3});
    ASSERT_TRUE(minimized.ok()) << minimized.status();
    if (Name(minimized->bucket) != "unexplained:ulps") continue;
    ++seen;
    const Batch& inputs = minimized->mismatch.inputs;
    EXPECT_EQ(Text(*minimized), "3f800000");
    EXPECT_EQ(NonZero(inputs.c), 1);
    for (const std::vector<uint64_t>* words : {&inputs.a, &inputs.b}) {
      for (size_t w = 0; w < words->size(); ++w) {
        ASSERT_EQ((*words)[w], NeutralWord(m, static_cast<int>(w % 68))) << w;
      }
    }
  }
  EXPECT_GT(seen, 1);
}

// The tile is needed only because the start has no addend of its own.
TEST(Minimize, TriesAnAddendInATileOfZeros) {
  const Operation& op = *FindOperation(kHopper);
  std::mt19937_64 random(8);
  Batch inputs = RandomTile(op, op.shape(), random);
  inputs.c[3] = 0;
  inputs.c[20] = 0x3f000000;  // 0.5
  OtherAddendDevice device;
  const absl::StatusOr<Minimized> m = Minimize(device, {&op, inputs, 3});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->mismatch.inputs.shape, op.shape());
  EXPECT_EQ(Text(*m), "3f800000") << Name(m->bucket);
  const Batch& minimal = m->mismatch.inputs;
  EXPECT_EQ(NonZero(minimal.a) + NonZero(minimal.b) + NonZero(minimal.c), 1);
}

// The fault needs a scale of another row of A: it stays, its elements and all other scales go.
TEST(Minimize, KeepsAScaleOfTheSurroundings) {
  class ScaleOfOperation5Device : public ChangedDevice {
   public:
    ScaleOfOperation5Device() : ChangedDevice("") {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status status = ChangedDevice::Execute(op, batch, d);
      const Shape& s = batch.shape;
      for (int64_t i = 0; s.m > 5 && i < batch.count; ++i) {
        const uint64_t scale = batch.a[i * s.a_words() + 5 * s.row_words() + s.k + 2];
        if (scale >= 0x40) d[i * s.d_words()] ^= 1;
      }
      return status;
    }
  } device;
  const Operation& op = *FindOperation(kNvf4);
  std::mt19937_64 random(2);
  Batch start = RandomTile(op, op.shape(), random);
  start.a[5 * 68 + 66] = 0x44;
  start.c[0] = 0x40000000;
  const absl::StatusOr<Minimized> m = Minimize(device, {&op, start, 0});
  ASSERT_TRUE(m.ok()) << m.status();
  ASSERT_EQ(m->repeatability, Repeatability::kReproduced);
  const Batch& inputs = m->mismatch.inputs;
  EXPECT_EQ(inputs.shape, op.shape());
  for (size_t w = 68; w < inputs.a.size(); ++w) {
    const bool kept = w == 5 * 68 + 66;
    EXPECT_EQ(inputs.a[w], kept ? 0x44 : NeutralWord(op.model, static_cast<int>(w % 68))) << w;
  }
}

// Without an explanation every proposal is put to the device, and the wide passes have a limit.
TEST(Minimize, UnexplainedDifference) {
  const Operation& op = *FindOperation(kHopper);
  std::mt19937_64 random(9);
  int seen = 0;
  for (int i = 0; i < 12; ++i) {
    CountingDevice device;
    const absl::StatusOr<Minimized> m =
        Minimize(device, {&op, RandomTile(op, op.shape(), random), 77});
    ASSERT_TRUE(m.ok()) << m.status();
    if (Name(m->bucket) != "unexplained:ulps") continue;
    ++seen;
    EXPECT_EQ(Text(*m), "3c00*3c00@0 3c00*3c00@1 0");
    EXPECT_EQ(m->mismatch.inputs.shape, DotProductShape(op.shape()));
    EXPECT_LE(m->executions, 5000);
  }
  EXPECT_GT(seen, 4);
}

// A fault that depends on the bits of the result alone needs no product.
TEST(Minimize, TheResultGoesIntoTheAddend) {
  class ByResult : public ChangedDevice {
   public:
    ByResult() : ChangedDevice("") {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status status = ChangedDevice::Execute(op, batch, d);
      for (uint64_t& word : d) word ^= (word & 0xf) == 0xc ? 0x100 : 0;
      return status;
    }
  };
  const Operation& op = *FindOperation(kHopper);
  std::mt19937_64 random(9);
  int seen = 0;
  while (seen < 3) {
    ByResult device;
    const Batch tile = RandomTile(op, op.shape(), random);
    const Comparison c = Compare(op, tile, *device.Run(op, tile));
    if (c.differing.empty()) continue;
    ++seen;
    const absl::StatusOr<Minimized> m = Minimize(device, {&op, tile, c.differing.front()});
    ASSERT_TRUE(m.ok()) << m.status();
    const DotProductCase dot = Extract(m->mismatch.inputs, m->mismatch.element);
    EXPECT_LE(ComplexityOf(op.model, dot)[0], 1) << Text(*m);
  }
}

// The fault needs two words in another row of A: they stay, as ones, and all else goes.
TEST(Minimize, KeepsTheSurroundingsThatMatter) {
  const Operation& op = *FindOperation(kHopper);
  std::mt19937_64 random(6);
  for (int i = 0; i < 3; ++i) {
    NeighbourOperationDevice device;
    const absl::StatusOr<Minimized> m =
        Minimize(device, {&op, RandomTile(op, op.shape(), random), 0});
    ASSERT_TRUE(m.ok()) << m.status();
    const Batch& inputs = m->mismatch.inputs;
    EXPECT_EQ(inputs.shape, op.shape());
    std::vector<uint64_t> ones;
    for (int k = 0; k < 16; ++k) {
      if (inputs.a[5 * 16 + k] != 0) ones.push_back(inputs.a[5 * 16 + k]);
    }
    EXPECT_EQ(ones, (std::vector<uint64_t>{0x3c00, 0x3c00}));
    EXPECT_EQ(std::count(inputs.a.begin() + 16, inputs.a.end(), 0u), 15 * 16 - 2);
    EXPECT_EQ(std::count(inputs.c.begin() + 1, inputs.c.end(), 0u), 127);
  }
}

Mismatch OneMismatch() {
  const Operation& op = *FindOperation(kHopper);
  return Starts(op, "fraction_bits=24", "aligned_term:fraction_bits=24", 1, false).at(0);
}

TEST(Minimize, FlakyIsReportedUnshrunk) {
  const Mismatch start = OneMismatch();
  FlakyDevice device;
  const absl::StatusOr<Minimized> m = Minimize(device, start);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->repeatability, Repeatability::kFlaky);
  EXPECT_EQ(m->mismatch.inputs.a, start.inputs.a);
  EXPECT_EQ(m->mismatch.inputs.shape, start.inputs.shape);
  EXPECT_EQ(m->executions, 5);
  EXPECT_NE(m->mismatch.model[start.element], m->mismatch.device[start.element]);
}

TEST(Minimize, GoneIsReportedUnshrunk) {
  const Mismatch start = OneMismatch();
  ChangedDevice device("");
  const absl::StatusOr<Minimized> m = Minimize(device, start);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->repeatability, Repeatability::kNeverDiffers);
  EXPECT_EQ(m->bucket, Bucket());
  EXPECT_EQ(m->mismatch.inputs.a, start.inputs.a);
  EXPECT_EQ(m->mismatch.model, m->mismatch.device);
}

// Whenever it dies, the answer is its Status.
TEST(Minimize, DeadDeviceIsAStatus) {
  const Mismatch start = OneMismatch();
  DyingDevice healthy("fraction_bits=24", 1 << 30);
  ASSERT_TRUE(Minimize(healthy, start).ok());
  const int calls = (1 << 30) - healthy.calls();
  for (int alive = 0; alive < calls; ++alive) {
    DyingDevice device("fraction_bits=24", alive);
    const absl::StatusOr<Minimized> m = Minimize(device, start);
    ASSERT_EQ(m.status().code(), absl::StatusCode::kUnavailable) << alive << " of " << calls;
    EXPECT_THAT(m.status().message(), HasSubstr("gone"));
  }
}

TEST(Minimize, WrongNumberOfWordsIsDataLoss) {
  class ShortDevice : public ChangedDevice {
   public:
    ShortDevice() : ChangedDevice("fraction_bits=24") {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status status = ChangedDevice::Execute(op, batch, d);
      d.pop_back();
      return status;
    }
  } device;
  EXPECT_EQ(Minimize(device, OneMismatch()).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Minimize, RefusesWhatIsNoMismatch) {
  ChangedDevice device("");
  Mismatch m = OneMismatch();
  m.element = 128;
  EXPECT_THAT(std::string(Minimize(device, m).status().message()), HasSubstr("element 128"));
  m.element = 0;
  m.inputs.shape.m = 3;
  EXPECT_EQ(Minimize(device, m).status().code(), absl::StatusCode::kInvalidArgument);
  m.op = nullptr;
  EXPECT_EQ(Confirm(device, m).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Confirm, CountsTheTries) {
  const Mismatch start = OneMismatch();
  ChangedDevice same("fraction_bits=24"), gone("");
  FlakyDevice flaky;
  DyingDevice dead("", 2);
  EXPECT_EQ(*Confirm(same, start), Repeatability::kReproduced);
  EXPECT_EQ(same.executions, 5);
  EXPECT_EQ(*Confirm(gone, start, 3), Repeatability::kNeverDiffers);
  EXPECT_EQ(gone.executions, 3);
  EXPECT_EQ(*Confirm(flaky, start), Repeatability::kFlaky);
  EXPECT_EQ(Confirm(dead, start).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace mmadiff
