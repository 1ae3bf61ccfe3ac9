// Layouts: every element has a place of its own, the places fill exactly the registers that the
// manual gives, and spot values from the figures of the PTX ISA.
#include "sim/layout.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace mmadiff {
namespace {

constexpr Operand kOperands[] = {Operand::kA, Operand::kB, Operand::kC, Operand::kD};

const Instruction& Find(const char* name) { return *FindInstruction(name); }

const Format& FormatOf(const Instruction& i, Operand operand) {
  const Format* formats[] = {i.a, i.b, i.c, i.d};
  return *formats[static_cast<int>(operand)];
}

using PlaceFunction = std::function<Place(const Instruction&, Operand, const Element&)>;

// What is wrong with a layout: bits of two elements overlap, or bits lie outside of `lanes` lanes
// of `registers` registers of `bits` bits, or some of these are not used. Empty if nothing is.
std::string NoBijection(const PlaceFunction& place, const Instruction& instruction, Operand operand,
                        int lanes, int registers, int bits) {
  const int width = FormatOf(instruction, operand).bits;
  std::set<std::tuple<int, int, int>> used;
  for (const Element& e : Elements(instruction, operand)) {
    const Place p = place(instruction, operand, e);
    for (int bit = 0; bit < width; ++bit) {
      const int reg = p.reg + (p.bit + bit) / bits, position = (p.bit + bit) % bits;
      if (p.lane < 0 || p.lane >= lanes || p.reg < 0 || reg >= registers || p.bit < 0) {
        return "outside of the registers";
      }
      if (!used.emplace(p.lane, reg, position).second) return "two elements in one place";
    }
  }
  const size_t all = static_cast<size_t>(lanes) * registers * bits;
  return used.size() == all ? "" : "places without an element";
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
  EXPECT_GE(seen[Layout::kAmdMfma], 50);
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
    EXPECT_EQ(static_cast<int>(Elements(i, Operand::kA).size()), s.blocks * s.m * s.k) << i.name;
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
