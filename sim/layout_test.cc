// Layouts: every element has a place of its own, the places fill exactly the registers that the
// manual gives, and spot values from the figures of the PTX ISA.
#include "sim/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/layout_wmma.h"

namespace mmadiff {
namespace {

constexpr Operand kOperands[] = {Operand::kA, Operand::kB, Operand::kC, Operand::kD};

const Instruction& Find(const char* name) { return *FindInstruction(name); }

const Format& FormatOf(const Instruction& i, Operand operand) {
  static constexpr Format kMetadata = {"u4", 4, 0, 0, 0, 0, Nonfinite::kNone, false};
  const Format* formats[] = {i.a, i.b, i.c, i.d, i.scale, i.scale,
                             i.a, i.a, i.b, i.c, i.d,     &kMetadata};
  return *formats[static_cast<int>(operand)];
}

using PlaceFunction = std::function<Place(const Instruction&, Operand, const Element&)>;

// What is wrong with a layout: bits of two elements overlap, or bits lie outside of `lanes` lanes
// of `registers` registers of `bits` bits, or some of these are not used. Empty if nothing is.
std::string NoBijection(const PlaceFunction& place, const Instruction& instruction, Operand operand,
                        int lanes, int registers, int bits) {
  const int width = FormatOf(instruction, operand).bits;
  const size_t all = static_cast<size_t>(lanes) * registers * bits;
  std::vector<bool> used(all);
  for (const Element& e : Elements(instruction, operand)) {
    const Place p = place(instruction, operand, e);
    for (int bit = 0; bit < width; ++bit) {
      const int reg = p.reg + (p.bit + bit) / bits, position = (p.bit + bit) % bits;
      if (p.lane < 0 || p.lane >= lanes || p.reg < 0 || reg >= registers || p.bit < 0) {
        return "outside of the registers";
      }
      const size_t at = (static_cast<size_t>(p.lane) * registers + reg) * bits + position;
      if (used[at]) return "two elements in one place";
      used[at] = true;
    }
  }
  const bool full = std::ranges::find(used, false) == used.end();
  return full ? "" : "places without an element";
}

struct RegisterCounts {
  const char* instruction;
  int a, b, c, d;  // 32-bit registers of a lane
};

// PTX ISA 9.0, section mma: the number of registers in the vector expression of each operand.
constexpr RegisterCounts kRegisters[] = {
    {"mma.m8n8k4.f32.f16.f16.f32", 2, 2, 8, 8},     {"mma.m8n8k4.f32.f16.f16.f16", 2, 2, 4, 8},
    {"mma.m8n8k4.f16.f16.f16.f16", 2, 2, 4, 4},     {"mma.m16n8k8.f32.f16.f16.f32", 2, 1, 4, 4},
    {"mma.m16n8k8.f16.f16.f16.f16", 2, 1, 2, 2},    {"mma.m16n8k16.f32.f16.f16.f32", 4, 2, 4, 4},
    {"mma.m16n8k16.f16.f16.f16.f16", 4, 2, 2, 2},   {"mma.m16n8k8.f32.bf16.bf16.f32", 2, 1, 4, 4},
    {"mma.m16n8k16.f32.bf16.bf16.f32", 4, 2, 4, 4}, {"mma.m16n8k4.f32.tf32.tf32.f32", 2, 1, 4, 4},
    {"mma.m16n8k8.f32.tf32.tf32.f32", 4, 2, 4, 4},  {"mma.m16n8k32.f32.e4m3.e4m3.f32", 4, 2, 4, 4},
    {"mma.m16n8k32.f32.e4m3.e5m2.f32", 4, 2, 4, 4}, {"mma.m16n8k32.f32.e5m2.e4m3.f32", 4, 2, 4, 4},
    {"mma.m16n8k32.f32.e5m2.e5m2.f32", 4, 2, 4, 4}, {"mma.m16n8k32.f16.e4m3.e4m3.f16", 4, 2, 2, 2},
    {"mma.m16n8k32.f16.e4m3.e5m2.f16", 4, 2, 2, 2}, {"mma.m16n8k32.f16.e5m2.e4m3.f16", 4, 2, 2, 2},
    {"mma.m16n8k32.f16.e5m2.e5m2.f16", 4, 2, 2, 2},
};

TEST(Layout, EveryNvidiaInstructionFillsItsRegisters) {
  for (const RegisterCounts& r : kRegisters) {
    const int counts[] = {r.a, r.b, r.c, r.d};
    for (const Operand operand : kOperands) {
      EXPECT_EQ(NoBijection(PlaceOf, Find(r.instruction), operand, 32,
                            counts[static_cast<int>(operand)], 32),
                "")
          << r.instruction << " " << Name(operand);
    }
  }
}

// As many registers as the elements need.
TEST(Layout, EveryInstructionOnLanesFillsItsRegisters) {
  std::map<Layout, int> seen;
  for (const Instruction& i : Instructions()) {
    if (i.layout != Layout::kNvidiaMma && i.layout != Layout::kNvidiaMma884 &&
        i.layout != Layout::kAmdMfma) {
      continue;
    }
    ++seen[i.layout];
    const int lanes = i.layout == Layout::kAmdMfma ? 64 : 32;
    for (const Operand operand : kOperands) {
      const int bits = static_cast<int>(Elements(i, operand).size()) * FormatOf(i, operand).bits;
      ASSERT_EQ(bits % (lanes * 32), 0) << i.name << " " << Name(operand);
      EXPECT_EQ(NoBijection(PlaceOf, i, operand, lanes, bits / (lanes * 32), 32), "")
          << i.name << " " << Name(operand);
    }
  }
  EXPECT_GE(seen[Layout::kNvidiaMma], 90);
  EXPECT_EQ(seen[Layout::kNvidiaMma884], 3);
  EXPECT_GE(seen[Layout::kAmdMfma], 200);
}

// A register of each lane holds the positions of sparse instructions, in its low bits, and the
// scales, in the low byte.
TEST(Layout, SmallOperandsOfAmdLieInOneRegister) {
  int sparse = 0, scaled = 0;
  for (const Instruction& i : Instructions()) {
    if (!i.name.starts_with("v_")) continue;
    const auto fills_one = [&i](Operand operand) {
      const int bits = static_cast<int>(Elements(i, operand).size()) * FormatOf(i, operand).bits;
      const Extent e = ExtentOf(i, operand);
      EXPECT_EQ(e.registers, 1) << i.name;
      EXPECT_EQ(NoBijection(PlaceOf, i, operand, e.lanes, 1, 32),
                bits == e.lanes * 32 ? "" : "places without an element")
          << i.name;
      EXPECT_EQ(NoBijection(
                    [](const Instruction& in, Operand o, const Element& element) {
                      Place p = PlaceOf(in, o, element);
                      p.reg = p.bit >= 32 ? 1 : 0;
                      return p;
                    },
                    i, operand, e.lanes, 1, bits / e.lanes),
                "")
          << i.name;
    };
    sparse += i.sparse();
    scaled += i.scale != nullptr;
    if (i.sparse()) fills_one(Operand::kMetadata);
    if (i.scale != nullptr) fills_one(Operand::kScaleA), fills_one(Operand::kScaleB);
  }
  EXPECT_EQ(sparse, 14 + 22 + 4 + 4 + 2 * (4 + 8));
  EXPECT_EQ(scaled, 50);
}

// mma.sp: with every selector that PTX ISA defines for a form, its metadata fill a register of each
// lane; selector 0 alone a part of them. Words of one row lie in one quad.
TEST(Layout, MetadataOfMmaSp) {
  int seen = 0;
  for (const Instruction& i : Instructions()) {
    if (!i.sparse() || i.layout != Layout::kNvidiaMma) continue;
    ++seen;
    const int selectors = 32 * 32 / (i.shape.m * i.shape.groups * 4);
    EXPECT_EQ(NoBijection(PlaceOf, i, Operand::kMetadata, 32, 1, 32),
              selectors == 1 ? "" : "places without an element")
        << i.name;
    for (const Element& e : Elements(i, Operand::kMetadata)) {
      const Place p = PlaceOf(i, Operand::kMetadata, e);
      EXPECT_EQ(p.lane / 4, e.row % 8) << i.name;
      EXPECT_LT(p.lane % 4, 4 / selectors) << i.name;
    }
  }
  EXPECT_GE(seen, 40);
}

// PTX ISA, "Matrix fragments for sparse mma": the first and the last word of rows 3 and 11.
TEST(Layout, MetadataOfMmaSpByHand) {
  const auto place = [](const char* name, int row, int group) {
    return PlaceOf(Find(name), Operand::kMetadata, {0, row, group});
  };
  EXPECT_EQ(place("mma.sp.m16n8k16.f32.f16.f16.f32", 3, 0), (Place{12, 0, 0}));
  EXPECT_EQ(place("mma.sp.m16n8k16.f32.f16.f16.f32", 11, 3), (Place{12, 0, 28}));
  EXPECT_EQ(place("mma.sp.m16n8k32.f32.bf16.bf16.f32", 3, 7), (Place{13, 0, 12}));
  EXPECT_EQ(place("mma.sp.m16n8k16.f32.tf32.tf32.f32", 11, 4), (Place{13, 0, 16}));
  EXPECT_EQ(place("mma.sp.m16n8k32.s32.s8.u8.s32", 3, 7), (Place{12, 0, 28}));
  EXPECT_EQ(place("mma.sp.m16n8k32.s32.s8.u8.s32", 11, 7), (Place{13, 0, 28}));
  EXPECT_EQ(place("mma.sp.m16n8k64.f32.e4m3.e5m2.f32", 3, 8), (Place{14, 0, 0}));
  EXPECT_EQ(place("mma.sp.m16n8k128.s32.s4.u4.s32", 11, 15), (Place{15, 0, 28}));
}

// gfx11: A and B fill all registers of the 32 lanes with their copies; results of 16 bits leave the
// upper halves. gfx12: everything fills its registers.
TEST(Layout, EveryWmmaOfAmdFillsItsRegisters) {
  std::map<Layout, int> seen;
  for (const Instruction& i : Instructions()) {
    const bool halves = i.layout == Layout::kAmdWmma11;
    if (!halves && i.layout != Layout::kAmdWmma12) continue;
    ++seen[i.layout];
    for (const Operand operand : kOperands) {
      const Extent e = ExtentOf(i, operand);
      EXPECT_EQ(e.lanes, 32);
      const bool result = operand == Operand::kC || operand == Operand::kD;
      const bool gaps = halves && result && FormatOf(i, operand).bits == 16;
      EXPECT_EQ(NoBijection(PlaceOf, i, operand, halves && !result ? 16 : 32, e.registers, 32),
                gaps ? "places without an element" : "")
          << i.name << " " << Name(operand);
      EXPECT_EQ(e.registers * 32 * 32, static_cast<int>(Elements(i, operand).size()) *
                                           FormatOf(i, operand).bits *
                                           (gaps || (halves && !result) ? 2 : 1))
          << i.name << " " << Name(operand);
      const size_t places = halves && !result ? 2 : 1;
      EXPECT_EQ(PlacesOf(i, operand, {0, 1, 2}).size(), places) << i.name;
    }
  }
  EXPECT_EQ(seen[Layout::kAmdWmma11], 2 + 2 + 4 + 4);
  EXPECT_EQ(seen[Layout::kAmdWmma12], 2 + 2 + 2 * (4 + 4 + 4) + 4 + 2 + 2 + 4 + 2 * (4 + 8));
}

// Bytes for e4m3 and e5m2 alone are full; narrower formats leave bits of their bytes.
TEST(Layout, ElementsInBytesLieInTheirRegisters) {
  int seen = 0;
  for (const Instruction& i : Instructions()) {
    if (i.layout != Layout::kNvidiaMmaBytes) continue;
    ++seen;
    const int registers[] = {4, 2, i.c->bits / 8, i.d->bits / 8};
    for (const Operand operand : kOperands) {
      const int wanted = registers[static_cast<int>(operand)];
      EXPECT_EQ(ExtentOf(i, operand).lanes, 32);
      EXPECT_EQ(ExtentOf(i, operand).registers, wanted) << i.name << " " << Name(operand);
      EXPECT_EQ(NoBijection(PlaceOf, i, operand, 32, wanted, 32),
                FormatOf(i, operand).bits < 8 ? "places without an element" : "")
          << i.name << " " << Name(operand);
    }
  }
  EXPECT_EQ(seen, 75);
}

// One register of each lane; scales fill the low bytes of two lanes of four, and of one.
TEST(Layout, ScalesLieInTheirRegisters) {
  int seen = 0;
  for (const Instruction& i : Instructions()) {
    if (!i.name.starts_with("mma.") || i.scale == nullptr) continue;
    ++seen;
    for (const Operand operand : {Operand::kScaleA, Operand::kScaleB}) {
      EXPECT_EQ(ExtentOf(i, operand).lanes, 32);
      EXPECT_EQ(ExtentOf(i, operand).registers, 1);
      EXPECT_EQ(NoBijection(PlaceOf, i, operand, 32, 1, 32), "places without an element") << i.name;
    }
  }
  EXPECT_EQ(seen, 29);
}

// Shared memory: 32 bytes of each row of A and column of B, 64 of a column beside a sparse A.
// Registers: of 128 lanes.
TEST(Layout, EveryWgmmaFillsItsPlaces) {
  int seen = 0;
  for (const Instruction& least : Instructions()) {
    if (least.layout != Layout::kNvidiaWgmma) continue;
    ++seen;
    for (const int n : {8, 24, 256}) {
      const Instruction i = WithSize(least, 64, n);
      const int d = n / 2 * i.d->bits / 32;
      const std::tuple<Operand, int, int> extents[] = {
          {Operand::kA, 1, 64 * 8},
          {Operand::kALanes, 128, 4},
          {Operand::kB, 1, n * (i.sparse() ? 16 : 8)},
          {Operand::kC, 128, d},
          {Operand::kD, 128, d},
      };
      for (const auto& [operand, lanes, registers] : extents) {
        EXPECT_EQ(ExtentOf(i, operand).lanes, lanes) << i.name << " " << Name(operand);
        EXPECT_EQ(ExtentOf(i, operand).registers, registers) << i.name << " " << Name(operand);
        EXPECT_EQ(NoBijection(PlaceOf, i, operand, lanes, registers, 32), "")
            << i.name << " " << Name(operand);
      }
      if (!i.sparse()) continue;
      EXPECT_EQ(NoBijection(PlaceOf, i, Operand::kMetadata, 128, 1, 32),
                i.a->bits == 8 ? "" : "places without an element")
          << i.name;
    }
  }
  EXPECT_EQ(seen, 21 + 20);
}

// Rows or columns of 32 bytes or more: narrow ones leave words free. An execution begins where the
// one before it ends, and must be aligned too.
TEST(Layout, EveryWmmaFillsItsLines) {
  constexpr Operand kByLines[] = {Operand::kA,        Operand::kB,        Operand::kC,
                                  Operand::kD,        Operand::kAColumns, Operand::kBRows,
                                  Operand::kCColumns, Operand::kDColumns};
  int seen = 0;
  for (const Instruction& i : Instructions()) {
    if (i.layout != Layout::kNvidiaWmma) continue;
    ++seen;
    for (const Operand operand : kByLines) {
      const Extent extent = ExtentOf(i, operand);
      const int bits = FormatOf(i, operand).bits, line = LeadingDimension(i, operand) * bits;
      EXPECT_EQ(extent.lanes, 1);
      EXPECT_EQ(line % 256, 0) << i.name << " " << Name(operand);
      EXPECT_EQ(extent.registers * 32 % line, 0) << i.name << " " << Name(operand);
      const int elements = static_cast<int>(Elements(i, operand).size());
      EXPECT_EQ(NoBijection(PlaceOf, i, operand, 1, extent.registers, 32),
                elements * bits == extent.registers * 32 ? "" : "places without an element")
          << i.name << " " << Name(operand);
    }
  }
  EXPECT_EQ(seen, 38);
}

// Lane, register and bit of single elements, worked out by hand from the rules of the CDNA ISA.
TEST(Layout, SpotValuesOfAmd) {
  const Instruction& f16 = Find("v_mfma_f32_16x16x16f16");
  EXPECT_EQ(PlaceOf(f16, Operand::kA, {0, 3, 0}), (Place{3, 0, 0}));
  EXPECT_EQ(PlaceOf(f16, Operand::kA, {0, 3, 5}), (Place{19, 0, 16}));
  EXPECT_EQ(PlaceOf(f16, Operand::kB, {0, 15, 2}), (Place{50, 1, 16}));
  EXPECT_EQ(PlaceOf(f16, Operand::kD, {0, 6, 9}), (Place{25, 2, 0}));
  const Instruction& wide = Find("v_mfma_f32_32x32x4_2b_f16");
  EXPECT_EQ(PlaceOf(wide, Operand::kA, {1, 31, 3}), (Place{63, 1, 16}));
  EXPECT_EQ(PlaceOf(wide, Operand::kD, {1, 13, 7}), (Place{39, 21, 0}));
  EXPECT_EQ(PlaceOf(Find("v_mfma_f32_4x4x4f16"), Operand::kD, {9, 2, 3}), (Place{39, 2, 0}));
  // f64 results lie by another rule.
  EXPECT_EQ(PlaceOf(Find("v_mfma_f64_16x16x4_f64"), Operand::kD, {0, 6, 1}), (Place{33, 2, 0}));
  EXPECT_EQ(PlaceOf(Find("v_mfma_f64_4x4x4_4b_f64"), Operand::kD, {2, 3, 1}), (Place{57, 0, 0}));
}

// x86: one dot product a lane. A lane is as wide as the addend, and operands that are shorter fill
// it with k of them.
TEST(Layout, EveryVectorInstructionFillsItsLanes) {
  int seen = 0;
  for (const Instruction& i : Instructions()) {
    if (i.layout != Layout::kVectorLanes) continue;
    ++seen;
    for (const Operand operand : kOperands) {
      EXPECT_EQ(NoBijection(PlaceOf, i, operand, i.shape.blocks, 1, i.c->bits), "")
          << i.name << " " << Name(operand);
    }
  }
  EXPECT_GE(seen, 7);
}

TEST(Layout, ElementsCountEachElementOnce) {
  for (const Instruction& i : Instructions()) {
    const Shape& s = i.shape;
    EXPECT_EQ(static_cast<int>(Elements(i, Operand::kA).size()),
              s.blocks * s.m * s.k / (i.sparse() ? 2 : 1))
        << i.name;
    EXPECT_EQ(static_cast<int>(Elements(i, Operand::kB).size()), s.blocks * s.n * s.k) << i.name;
    EXPECT_EQ(static_cast<int>(Elements(i, Operand::kC).size()), s.d_words()) << i.name;
    EXPECT_EQ(static_cast<int>(Elements(i, Operand::kD).size()), s.d_words()) << i.name;
  }
}

// Every formula with one thing wrong fails the test of bijection.
TEST(Layout, MutatedFormulasFail) {
  const Instruction& mma = Find("mma.m16n8k16.f32.f16.f16.f32");
  const auto mutated = [](void (*change)(Place&)) {
    return [change](const Instruction& i, Operand operand, const Element& e) {
      Place p = PlaceOf(i, operand, e);
      change(p);
      return p;
    };
  };
  EXPECT_EQ(NoBijection(mutated([](Place&) {}), mma, Operand::kA, 32, 4, 32), "");
  EXPECT_NE(NoBijection(mutated([](Place& p) {
                          p.lane ^= p.lane >> 1 & 1;
                          p.lane &= ~2;
                        }),
                        mma, Operand::kA, 32, 4, 32),
            "");
  EXPECT_NE(NoBijection(mutated([](Place& p) { ++p.lane; }), mma, Operand::kA, 32, 4, 32), "");
  EXPECT_NE(NoBijection(mutated([](Place& p) { p.reg /= 2; }), mma, Operand::kA, 32, 4, 32), "");
  EXPECT_NE(NoBijection(mutated([](Place& p) { p.bit = 0; }), mma, Operand::kA, 32, 4, 32), "");
  EXPECT_NE(NoBijection(mutated([](Place& p) { p.bit += 8; }), mma, Operand::kA, 32, 4, 32), "");
  EXPECT_NE(NoBijection(PlaceOf, mma, Operand::kA, 32, 5, 32), "");  // an unused register
  EXPECT_NE(NoBijection(PlaceOf, mma, Operand::kA, 32, 3, 32), "");
}

struct Spot {
  const char* instruction;
  Operand operand;
  Element element;
  Place place;
};

constexpr Operand kA = Operand::kA, kB = Operand::kB, kC = Operand::kC, kD = Operand::kD;
constexpr Operand kACol = Operand::kAColumns, kBRow = Operand::kBRows;
constexpr Operand kCCol = Operand::kCColumns, kDCol = Operand::kDColumns;
constexpr Operand kSA = Operand::kScaleA, kSB = Operand::kScaleB, kAL = Operand::kALanes;
constexpr char kBytes[] = "mma.m16n8k32.f8f6f4.f32.e2m1.e3m2.f32";
constexpr char kMxf8[] = "mma.m16n8k32.mxf8f6f4.f32.e4m3.e2m1.f32.ue8m0";
constexpr char kNvf4[] = "mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x";
constexpr char kWgmmaF16[] = "wgmma.m64n8k16.f16.f16.f16";
constexpr char kWgmmaTf32[] = "wgmma.m64n8k8.f32.tf32.tf32";
constexpr char kWgmmaFp8[] = "wgmma.m64n8k32.f32.e4m3.e5m2";
constexpr char kWgmmaB1[] = "wgmma.m64n8k256.s32.b1.b1.and.popc";
constexpr char kWmmaF16[] = "wmma.m16n16k16.f16.f16.f16.f16";
constexpr char kWmmaNarrow[] = "wmma.m8n32k16.f32.f16.f16.f32";
constexpr char kWmmaF64[] = "wmma.m8n8k4.f64.f64.f64.f64";
constexpr char kWmmaB1[] = "wmma.m8n8k128.s32.b1.b1.s32.xor.popc";
constexpr char k884f16[] = "mma.m8n8k4.f16.f16.f16.f16";
constexpr char k884f32[] = "mma.m8n8k4.f32.f16.f16.f32";
constexpr char k1688f16[] = "mma.m16n8k8.f32.f16.f16.f32";
constexpr char k16816f16[] = "mma.m16n8k16.f16.f16.f16.f16";
constexpr char k1684tf32[] = "mma.m16n8k4.f32.tf32.tf32.f32";
constexpr char k1688tf32[] = "mma.m16n8k8.f32.tf32.tf32.f32";

// From the fragment figures of the PTX ISA, "T<lane>:{a<i>,...}" at row and column, with a half of
// register i / 2 for 16-bit values a<i>. Corners and one interior element of each operand.
constexpr Spot kSpots[] = {
    // m8n8k4: quad pair b is lanes 4b..4b+3 and 4b+16..4b+19. A: row = lane % 4 (+ 4 in the upper
    // lanes), column = i. B: the same for columns. C f16: row like A, column = i. C f32:
    // row = (lane & 1) + (i & 2) (+ 4), column = (i & 4) + (lane & 2) + (i & 1).
    {k884f16, kA, {0, 0, 0}, {0, 0, 0}},
    {k884f16, kA, {0, 3, 3}, {3, 1, 16}},
    {k884f16, kA, {0, 4, 1}, {16, 0, 16}},
    {k884f16, kA, {3, 7, 2}, {31, 1, 0}},
    {k884f16, kB, {1, 2, 5}, {21, 1, 0}},
    {k884f16, kB, {2, 3, 0}, {8, 1, 16}},
    {k884f16, kC, {0, 2, 7}, {2, 3, 16}},
    {k884f16, kD, {3, 6, 4}, {30, 2, 0}},
    {k884f32, kC, {0, 0, 0}, {0, 0, 0}},
    {k884f32, kC, {0, 1, 1}, {1, 1, 0}},
    {k884f32, kC, {0, 2, 0}, {0, 2, 0}},
    {k884f32, kC, {0, 0, 2}, {2, 0, 0}},
    {k884f32, kC, {0, 0, 4}, {0, 4, 0}},
    {k884f32, kD, {0, 7, 7}, {19, 7, 0}},
    {k884f32, kD, {2, 5, 2}, {27, 0, 0}},
    // m16n8k8 f16: A: a0,a1 row = lane / 4, a2,a3 row + 8; column = lane % 4 * 2 + (i & 1).
    {k1688f16, kA, {0, 0, 0}, {0, 0, 0}},
    {k1688f16, kA, {0, 0, 7}, {3, 0, 16}},
    {k1688f16, kA, {0, 8, 0}, {0, 1, 0}},
    {k1688f16, kA, {0, 15, 5}, {30, 1, 16}},
    {k1688f16, kB, {0, 0, 7}, {28, 0, 0}},
    {k1688f16, kB, {0, 5, 3}, {14, 0, 16}},
    {k1688f16, kC, {0, 0, 1}, {0, 1, 0}},
    {k1688f16, kC, {0, 9, 6}, {7, 2, 0}},
    // m16n8k16 f16: a0,a1 (row, k), a2,a3 (row + 8, k), a4,a5 (row, k + 8), a6,a7 (both).
    {k16816f16, kA, {0, 1, 2}, {5, 0, 0}},
    {k16816f16, kA, {0, 9, 3}, {5, 1, 16}},
    {k16816f16, kA, {0, 1, 10}, {5, 2, 0}},
    {k16816f16, kA, {0, 15, 15}, {31, 3, 16}},
    {k16816f16, kB, {0, 1, 2}, {8, 0, 16}},
    {k16816f16, kB, {0, 14, 7}, {31, 1, 0}},
    {k16816f16, kC, {0, 3, 5}, {14, 0, 16}},
    {k16816f16, kD, {0, 11, 4}, {14, 1, 0}},
    // m16n8k4 and m16n8k8 tf32: A: a0 (row, k), a1 (row + 8, k), a2 (row, k + 4), a3 (both), row =
    // lane / 4, k = lane % 4. B: b0 k = lane % 4, b1 k + 4, column = lane / 4.
    {k1684tf32, kA, {0, 8, 3}, {3, 1, 0}},
    {k1684tf32, kB, {0, 2, 6}, {26, 0, 0}},
    {k1688tf32, kA, {0, 2, 1}, {9, 0, 0}},
    {k1688tf32, kA, {0, 10, 1}, {9, 1, 0}},
    {k1688tf32, kA, {0, 2, 5}, {9, 2, 0}},
    {k1688tf32, kA, {0, 15, 7}, {31, 3, 0}},
    {k1688tf32, kB, {0, 0, 0}, {0, 0, 0}},
    {k1688tf32, kB, {0, 6, 3}, {14, 1, 0}},
    {k1688tf32, kC, {0, 8, 7}, {3, 3, 0}},
    // sm_120, elements in bytes: four neighbours of k in a register, e2m1 in bits 5 to 2 of a byte.
    {kBytes, kA, {0, 0, 0}, {0, 0, 2}},
    {kBytes, kA, {0, 9, 22}, {5, 3, 18}},
    {kBytes, kB, {0, 22, 1}, {5, 1, 16}},
    {kMxf8, kA, {0, 9, 5}, {5, 1, 8}},
    {kMxf8, kB, {0, 31, 7}, {31, 1, 26}},
    {kMxf8, kSA, {0, 2, 0}, {8, 0, 0}},
    {kMxf8, kSA, {0, 10, 0}, {9, 0, 0}},
    {kMxf8, kSB, {0, 0, 3}, {12, 0, 0}},
    // Nibbles: eight neighbours of k in a register. Scale s in byte s.
    {kNvf4, kA, {0, 8, 9}, {1, 1, 4}},
    {kNvf4, kB, {0, 63, 7}, {31, 1, 28}},
    {kNvf4, kSA, {0, 15, 3}, {29, 0, 24}},
    {kNvf4, kSB, {0, 2, 7}, {28, 0, 16}},
    // wgmma, shared memory: byte = 256 * (row / 8) + 128 * (byte of the row / 16) + 16 * (row % 8)
    // + byte of the row % 16.
    {kWgmmaF16, kA, {0, 0, 7}, {0, 3, 16}},
    {kWgmmaF16, kA, {0, 0, 8}, {0, 32, 0}},
    {kWgmmaF16, kA, {0, 63, 15}, {0, 511, 16}},
    {kWgmmaF16, kB, {0, 9, 3}, {0, 44, 16}},
    {kWgmmaTf32, kA, {0, 8, 1}, {0, 65, 0}},
    {kWgmmaFp8, kB, {0, 17, 1}, {0, 36, 8}},
    {kWgmmaB1, kA, {0, 1, 130}, {0, 36, 2}},
    // wgmma, registers: warp w has the rows 16w to 16w + 15 as mma.m16n8 has them.
    {kWgmmaF16, kAL, {0, 16, 0}, {32, 0, 0}},
    {kWgmmaF16, kAL, {0, 57, 11}, {101, 3, 16}},
    {kWgmmaTf32, kAL, {0, 2, 5}, {9, 2, 0}},
    {kWgmmaFp8, kAL, {0, 8, 17}, {0, 3, 8}},
    {kWgmmaF16, kD, {0, 24, 3}, {33, 1, 16}},
    {kWgmmaFp8, kD, {0, 63, 7}, {127, 3, 0}},
    // wmma: element = leading dimension * row + column, or the same of the columns.
    {kWmmaF16, kA, {0, 3, 5}, {0, 26, 16}},
    {kWmmaF16, kACol, {0, 3, 5}, {0, 41, 16}},
    {kWmmaF16, kB, {0, 3, 5}, {0, 41, 16}},
    {kWmmaF16, kBRow, {0, 3, 5}, {0, 26, 16}},
    {kWmmaF16, kD, {0, 15, 14}, {0, 127, 0}},
    {kWmmaF16, kDCol, {0, 15, 14}, {0, 119, 16}},
    {kWmmaNarrow, kACol, {0, 7, 2}, {0, 19, 16}},  // 8 of 16 elements are free
    {kWmmaNarrow, kC, {0, 2, 31}, {0, 95, 0}},
    {kWmmaNarrow, kCCol, {0, 2, 31}, {0, 250, 0}},
    {kWmmaF64, kA, {0, 2, 3}, {0, 22, 0}},
    {kWmmaF64, kBRow, {0, 2, 3}, {0, 38, 0}},
    {kWmmaB1, kA, {0, 1, 37}, {0, 9, 5}},  // 128 of 256 elements are free
    {kWmmaB1, kB, {0, 127, 7}, {0, 59, 31}},
    // x86: dot product i in lane i, k from the low bits up.
    {"vdpbf16ps", kA, {15, 0, 1}, {15, 0, 16}},
    {"vpdpbusd", kB, {3, 2, 0}, {3, 0, 16}},
    {"vfmadd231sd", kC, {0, 0, 0}, {0, 0, 0}},
};

std::string Text(const Place& p) {
  return "lane " + std::to_string(p.lane) + " register " + std::to_string(p.reg) + " bit " +
         std::to_string(p.bit);
}

TEST(Layout, SpotValuesOfTheManual) {
  for (const Spot& s : kSpots) {
    EXPECT_EQ(Text(PlaceOf(Find(s.instruction), s.operand, s.element)), Text(s.place))
        << s.instruction << " " << Name(s.operand) << " block " << s.element.block << " row "
        << s.element.row << " column " << s.element.column;
  }
}

// The next eight columns come after the registers of the first.
TEST(Layout, AccumulatorsOfWgmmaWithMoreColumns) {
  const Instruction f16 = WithSize(Find(kWgmmaF16), 64, 24),
                    f32 = WithSize(Find(kWgmmaFp8), 64, 24);
  EXPECT_EQ(Text(PlaceOf(f16, kD, {0, 8, 17})), Text({0, 5, 16}));
  EXPECT_EQ(Text(PlaceOf(f32, kD, {0, 8, 17})), Text({0, 11, 0}));
}

// The formulas of the PTX ISA the other way round: from lane and value to row and column.
TEST(Layout, F32AccumulatorOfM8n8k4FromLaneAndValue) {
  const Instruction& in = Find(k884f32);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i) {
      const int row = (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4);
      const int column = (i & 4) + (lane & 2) + (i & 1);
      EXPECT_EQ(Text(PlaceOf(in, kC, {lane / 4 % 4, row, column})), Text({lane, i, 0}));
    }
  }
}

TEST(Layout, HalfPrecisionAOfM16n8k16FromLaneAndValue) {
  const Instruction& in = Find(k16816f16);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i) {
      const int row = lane / 4 + (i < 2 || (4 <= i && i < 6) ? 0 : 8);
      const int column = lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8);
      EXPECT_EQ(Text(PlaceOf(in, kA, {0, row, column})), Text({lane, i / 2, i % 2 * 16}));
    }
  }
}

}  // namespace
}  // namespace mmadiff
