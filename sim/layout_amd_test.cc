// Layouts of AMD's instructions against those that AMD's own tool states.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/layout.h"
#include "sim/testing/amd_layouts.h"

namespace mmadiff {
namespace {

// The lines of the table that are this instruction, one for each pair of formats of A and B where
// modifiers choose them.
std::vector<const Instruction*> Find(const Stated& s) {
  std::vector<const Instruction*> found;
  for (const Instruction& i : Instructions()) {
    const bool same = i.name.substr(0, i.name.find('.')) == s.instruction;
    if (IsNativeOn(i, s.arch) && same && i.layout != Layout::kNoLanes) {
      found.push_back(&i);
    }
  }
  return found;
}

struct Part {
  Operand operand;
  int bits;
};

std::vector<Part> PartsOf(const Instruction& i, const std::string& operand) {
  if (operand == "A") return {{Operand::kA, i.a->bits}};
  if (operand == "B") return {{Operand::kB, i.b->bits}};
  if (operand == "k") return {{Operand::kMetadata, 4}};
  return {{Operand::kC, i.c->bits}, {Operand::kD, i.d->bits}};
}

// Where the line has an element, its copy last.
std::vector<Place> Wanted(const Stated& s, const Instruction& i, const Part& part, Element e) {
  const bool pairs = i.sparse() && part.operand == Operand::kA;
  const int second = pairs ? e.column % 2 * part.bits : 0;
  if (pairs) e.column /= 2;
  Place place = s.PlaceOf(e);
  place.bit += second;
  if (!s.steps.contains("copy")) return {place};
  return {place, {place.lane + s.steps.at("copy")[0].lane, place.reg, place.bit}};
}

TEST(AmdLayout, AsTheCalculatorSays) {
  std::map<std::string, std::set<std::string>> seen;  // by family
  for (const Stated& s : ReadStated()) {
    const std::vector<const Instruction*> instructions = Find(s);
    EXPECT_FALSE(instructions.empty()) << s.arch << "/" << s.instruction;
    const std::string name = s.arch + "/" + s.instruction;
    seen[s.instruction.substr(2, s.instruction.find('_', 2) - 2)].insert(name);
    for (const Instruction* i : instructions) {
      for (const Part& part : PartsOf(*i, s.operand)) {
        for (const Element& e : Elements(*i, part.operand)) {
          ASSERT_EQ(PlacesOf(*i, part.operand, e), Wanted(s, *i, part, e))
              << name << " " << s.operand << " block " << e.block << " row " << e.row << " column "
              << e.column;
        }
      }
    }
  }
  EXPECT_EQ(seen["mfma"].size(), 79);
  EXPECT_EQ(seen["smfmac"].size(), 14);
  EXPECT_EQ(seen["wmma"].size(), 17);
  EXPECT_EQ(seen["swmmac"].size(), 11);
}

// What no table states: AMD's blog "Matrix Core Programming on AMD CDNA3 and CDNA4" has f8f6f4.
TEST(AmdLayout, SpotValuesOfCdna4) {
  const auto place = [](const char* name, Operand operand, const Element& e) {
    return PlaceOf(*FindInstruction(name), operand, e);
  };
  const char* const mixed = "v_mfma_f32_16x16x128_f8f6f4.e4m3.e2m3";
  EXPECT_EQ(place(mixed, Operand::kA, {0, 3, 15}), (Place{3, 3, 24}));
  EXPECT_EQ(place(mixed, Operand::kA, {0, 3, 16}), (Place{19, 0, 0}));
  EXPECT_EQ(place(mixed, Operand::kA, {0, 3, 64}), (Place{3, 4, 0}));
  EXPECT_EQ(place(mixed, Operand::kA, {0, 15, 127}), (Place{63, 7, 24}));
  EXPECT_EQ(place(mixed, Operand::kB, {0, 31, 2}), (Place{2, 5, 26}));
  EXPECT_EQ(place(mixed, Operand::kB, {0, 37, 2}),
            (Place{18, 0, 30}));  // two bits of it in register 1
  const char* const scaled = "v_mfma_scale_f32_32x32x64_f8f6f4.e2m1.e5m2.ue8m0";
  EXPECT_EQ(place(scaled, Operand::kA, {0, 31, 63}), (Place{63, 3, 28}));
  EXPECT_EQ(place(scaled, Operand::kB, {0, 15, 1}), (Place{1, 3, 24}));
  EXPECT_EQ(place(scaled, Operand::kB, {0, 16, 1}), (Place{33, 0, 0}));
  EXPECT_EQ(place(scaled, Operand::kB, {0, 32, 1}), (Place{1, 4, 0}));
  EXPECT_EQ(place(scaled, Operand::kScaleA, {0, 5, 1}), (Place{37, 0, 0}));
  EXPECT_EQ(place(scaled, Operand::kScaleB, {0, 1, 31}), (Place{63, 0, 0}));
  const char* const sparse = "v_smfmac_f32_16x16x128_fp8_fp8";  // taken as those of gfx942
  EXPECT_EQ(place(sparse, Operand::kB, {0, 31, 2}), (Place{2, 7, 24}));
  EXPECT_EQ(place(sparse, Operand::kB, {0, 32, 2}), (Place{18, 0, 0}));
  EXPECT_EQ(place(sparse, Operand::kA, {0, 2, 17}), (Place{18, 0, 8}));
  EXPECT_EQ(place(sparse, Operand::kMetadata, {0, 2, 8}), (Place{18, 0, 0}));
  EXPECT_EQ(place("v_mfma_i32_16x16x64_i8", Operand::kA, {0, 3, 16}), (Place{19, 0, 0}));
  EXPECT_EQ(place("v_mfma_f32_16x16x32_f16", Operand::kB, {0, 9, 3}), (Place{19, 0, 16}));
}

}  // namespace
}  // namespace mmadiff
