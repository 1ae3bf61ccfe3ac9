#include "sim/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "sim/parameter.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

std::vector<std::string> Names(const std::vector<const Row*>& rows) {
  std::vector<std::string> names;
  for (const Row* row : rows) names.push_back(row->name);
  return names;
}

TEST(Instructions, NamesAreUnique) {
  std::set<std::string> names;
  for (const Instruction& i : Instructions()) {
    EXPECT_TRUE(names.insert(i.name).second) << i.name;
    EXPECT_EQ(FindInstruction(i.name), &i);
    EXPECT_STRNE(i.source, "");
  }
  EXPECT_EQ(FindInstruction("mma.m16n8k16"), nullptr);
}

// mma.mMnNkK.D.A.B.C says shape and formats; the columns must say the same.
TEST(Instructions, NamesOfMmaSayShapeAndFormats) {
  for (const Instruction& i : Instructions()) {
    if (std::string_view(i.name).substr(0, 4) != "mma.") continue;
    std::ostringstream name;
    name << "mma.m" << i.shape.m << 'n' << i.shape.n << 'k' << i.shape.k << '.' << i.d->name << '.'
         << i.a->name << '.' << i.b->name << '.' << i.c->name;
    EXPECT_EQ(name.str(), i.name);
  }
}

TEST(Numerics, EveryRowNamesAnInstructionOnce) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Numerics& n : AllNumerics()) {
    EXPECT_NE(FindInstruction(n.instruction), nullptr) << n.instruction;
    EXPECT_TRUE(seen.emplace(n.arch, n.instruction).second) << n.arch << " " << n.instruction;
  }
  EXPECT_EQ(Rows().size(), AllNumerics().size());
}

TEST(Numerics, EveryNativeInstructionHasARow) {
  for (const Instruction& i : Instructions()) {
    std::istringstream archs(i.native_on);
    for (std::string arch; archs >> arch;) {
      EXPECT_NE(FindRow(arch + "/" + i.name), nullptr) << arch << "/" << i.name;
    }
  }
}

TEST(Numerics, EvidenceIsGiven) {
  for (const Numerics& n : AllNumerics()) {
    SCOPED_TRACE(std::string(n.arch) + "/" + n.instruction);
    EXPECT_STRNE(n.evidence.text, "");
    EXPECT_STRNE(Name(n.evidence.grade), "?");
    const bool has_file = *n.evidence.file != '\0';
    EXPECT_TRUE(has_file || n.evidence.grade != Grade::kMeasured);
    // Tests run in the repository root.
    EXPECT_TRUE(!has_file || std::filesystem::exists(n.evidence.file)) << n.evidence.file;
  }
}

TEST(Rows, ModelsAreValid) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(Invalid(row.model), "");
    EXPECT_EQ(row.model.k, row.instruction->shape.k);
    const int terms = row.model.algorithm.terms;
    EXPECT_TRUE(row.model.k % terms == 0 || row.model.k < terms);
    const bool integer = row.model.algorithm.family == Family::kIntegerDot;
    for (const Format* f : {&row.model.a, &row.model.b, &row.model.c, &row.model.d}) {
      EXPECT_EQ(IsInteger(*f), integer) << f->name;
    }
    // A chain starts from the addend as if it were a result.
    if (row.model.algorithm.family == Family::kFmaChain) {
      EXPECT_STREQ(row.model.c.name, row.model.d.name);
    }
    // Results need an infinity; integer results a sign.
    if (integer) {
      EXPECT_TRUE(row.model.d.is_signed);
    } else {
      EXPECT_EQ(row.model.d.nonfinite, Nonfinite::kIeee);
    }
  }
}

TEST(Rows, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const Row& row : Rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(FindRow(row.name), &row);
    EXPECT_EQ(row.name, std::string(row.arch()) + "/" + row.instruction->name);
  }
  EXPECT_EQ(FindRow("sm_90"), nullptr);
  EXPECT_EQ(FindRow(""), nullptr);
  EXPECT_EQ(FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f3"), nullptr);
}

TEST(Rows, Aliases) {
  const std::pair<const char*, const char*> aliases[] = {
      {"volta", "sm_70"},  {"turing", "sm_75"},     {"ampere", "sm_80"},         {"ada", "sm_89"},
      {"hopper", "sm_90"}, {"blackwell", "sm_100"}, {"rtx_blackwell", "sm_120"},
  };
  for (const auto& [alias, arch] : aliases) {
    EXPECT_EQ(ResolveAlias(alias), arch);
    EXPECT_EQ(ResolveAlias(std::string(alias) + "/x"), std::string(arch) + "/x");
    EXPECT_EQ(Names(MatchRows(std::string(alias) + "/*")),
              Names(MatchRows(std::string(arch) + "/*")));
    EXPECT_FALSE(MatchRows(std::string(alias) + "/*").empty());
  }
  for (const char* other : {"", "hoppe/x", "hopper2/x", "x86", "x/hopper", "Hopper/x"}) {
    EXPECT_EQ(ResolveAlias(other), other);
  }
  ASSERT_NE(FindRow(kHopper), nullptr);
  EXPECT_EQ(FindRow("hopper/mma.m16n8k16.f32.f16.f16.f32"), FindRow(kHopper));
}

TEST(Rows, Globs) {
  EXPECT_THAT(MatchRows("*"), SizeIs(Rows().size()));
  EXPECT_THAT(Names(MatchRows("x86/vdp*")), ElementsAre("x86/vdpbf16ps"));
  EXPECT_THAT(Names(MatchRows("*busd")), ElementsAre("x86/vpdpbusd"));
  EXPECT_THAT(Names(MatchRows("sm_7?/mma.m8n8k4.f16*")),
              ElementsAre("sm_70/mma.m8n8k4.f16.f16.f16.f16", "sm_75/mma.m8n8k4.f16.f16.f16.f16"));
  EXPECT_THAT(Names(MatchRows(kHopper)), ElementsAre(kHopper));
  EXPECT_THAT(MatchRows("sm_9"), IsEmpty());
  EXPECT_THAT(MatchRows(""), IsEmpty());
}

TEST(Rows, Nearest) {
  EXPECT_EQ(NearestRows("sm_90/mma.m16n8k16.f32.f16.f16.f23")[0], kHopper);
  EXPECT_EQ(NearestRows("hopper/mma.m16n8k16.f32.f16.f16.f3")[0], kHopper);
  EXPECT_EQ(NearestRows("x86/vdpbf16")[0], "x86/vdpbf16ps");
  EXPECT_THAT(NearestRows("nonsense"), SizeIs(3));
  const std::vector<std::string> names = {"kitten", "mitten", "sitting", "kit"};
  EXPECT_THAT(Nearest("kitten", names, 2), ElementsAre("kitten", "mitten"));
  EXPECT_THAT(Nearest("sittin", names, 4), ElementsAre("sitting", "kitten", "mitten", "kit"));
  EXPECT_THAT(Nearest("x", std::vector<std::string>{"y"}, 3), ElementsAre("y"));
  EXPECT_THAT(Nearest("x", {}, 3), IsEmpty());
}

TEST(Rows, WithAlgorithmKeepsTheRest) {
  const Row& row = *FindRow(kHopper);
  Algorithm changed = row.model.algorithm;
  changed.fraction_bits = 7;
  const Model model = WithAlgorithm(row, changed);
  EXPECT_EQ(model.algorithm, changed);
  EXPECT_EQ(model.k, 16);
  EXPECT_STREQ(model.a.name, "f16");
  EXPECT_STREQ(model.d.name, "f32");
  EXPECT_EQ(row.model.algorithm.fraction_bits, 25);
}

}  // namespace
}  // namespace mmadiff
