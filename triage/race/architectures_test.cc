#include "triage/race/architectures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sim/chain.h"
#include "sim/simulate.h"
#include "triage/typical.h"

namespace mmadiff {
namespace {

using Rows = std::vector<const Operation*>;

Rows RowsOf(std::string_view arch) {
  Rows rows;
  for (const Operation& op : Operations()) {
    if (op.arch() == arch) rows.push_back(&op);
  }
  return rows;
}

ArchitectureRace Race(const Rows& x, const Rows& y, const RaceOptions& options) {
  Races races(options);
  absl::StatusOr<ArchitectureRace> race = RaceAll(x, y, races);
  EXPECT_TRUE(race.ok()) << race.status();
  return *std::move(race);
}

// What is paired does not depend on what the races find, so they look for nothing here.
class AllPairs : public testing::Test {
 protected:
  struct Raced {
    Rows x, y;
    ArchitectureRace race;
  };

  static void ForEach(
      const std::function<void(const Rows&, const Rows&, const ArchitectureRace&)>& visit) {
    static const auto& all = *[] {
      auto* raced = new std::vector<Raced>;
      for (const Architecture& x : Architectures()) {
        for (const Architecture& y : Architectures()) {
          if (std::string_view(x.name) > y.name) continue;
          const Rows of_x = RowsOf(x.name), of_y = RowsOf(y.name);
          raced->push_back(
              {of_x, of_y, Race(of_x, of_y, {.generated = 0, .stratum = 0, .thorough = false})});
        }
      }
      return raced;
    }();
    for (const Raced& r : all) visit(r.x, r.y, r.race);
  }
};

TEST_F(AllPairs, EveryRowIsInOnePairOrLeftOut) {
  ForEach([](const Rows& x, const Rows& y, const ArchitectureRace& race) {
    std::multiset<const Operation*> rows(x.begin(), x.end()), found;
    rows.insert(y.begin(), y.end());
    for (const FormatGroup& group : race.only_in_one) {
      EXPECT_TRUE(group.x.empty() || group.y.empty()) << group.formats();
      for (const std::vector<RowClass>* classes : {&group.x, &group.y}) {
        for (const RowClass& c : *classes) found.insert(c.rows.begin(), c.rows.end());
      }
    }
    for (const FormatGroup& group : race.groups) {
      std::set<size_t> paired_x, paired_y;
      for (const ClassPair& pair : group.pairs) {
        paired_x.insert(pair.x);
        paired_y.insert(pair.y);
      }
      EXPECT_EQ(paired_x.size(), group.x.size()) << group.formats();
      EXPECT_EQ(paired_y.size(), group.y.size()) << group.formats();
      for (const std::vector<RowClass>* classes : {&group.x, &group.y}) {
        for (const RowClass& c : *classes) found.insert(c.rows.begin(), c.rows.end());
      }
    }
    EXPECT_EQ(found, rows);
  });
}

TEST_F(AllPairs, GroupsHaveEqualFormatsAndOneVerdict) {
  ForEach([](const Rows&, const Rows&, const ArchitectureRace& race) {
    std::set<std::string> formats;
    for (const FormatGroup& group : race.groups) {
      EXPECT_TRUE(formats.insert(group.formats()).second) << group.formats();
      EXPECT_FALSE(group.verdict.empty());
      std::set<bool> sparse;
      for (const std::vector<RowClass>* classes : {&group.x, &group.y}) {
        for (const RowClass& c : *classes) {
          for (const Operation* row : c.rows) sparse.insert(row->instruction->sparse());
        }
      }
      EXPECT_EQ(sparse.size(), 1u) << group.formats();
      const bool told = std::ranges::any_of(
          group.pairs, [](const ClassPair& pair) { return pair.race.verdict == PairRace::kTold; });
      EXPECT_FALSE(told && group.verdict.ends_with("agree")) << group.formats();
      EXPECT_FALSE(told && group.verdict.ends_with("the same")) << group.formats();
      for (const ClassPair& pair : group.pairs) {
        const bool emulated = group.x[pair.x].emulated || group.y[pair.y].emulated;
        if (!emulated || pair.race.verdict != PairRace::kTold) continue;
        EXPECT_THAT(group.verdict, testing::HasSubstr("emulate")) << group.formats();
      }
      for (size_t x = 0; x < group.x.size(); ++x) {
        for (size_t y = 0; y < group.y.size(); ++y) {
          const auto is_pair = [&](const ClassPair& p) { return p.x == x && p.y == y; };
          for (const Operation* row : group.x[x].rows) {
            const auto same = [&](const std::string& name) {
              return name == row->instruction->name;
            };
            const bool named = std::ranges::any_of(
                group.y[y].rows, same, [](const Operation* o) { return o->instruction->name; });
            EXPECT_TRUE(!named || std::ranges::any_of(group.pairs, is_pair)) << row->name;
          }
        }
      }
      for (const std::vector<RowClass>* classes : {&group.x, &group.y}) {
        std::set<std::string> names;
        for (size_t i = 0; i < classes->size(); ++i) {
          EXPECT_TRUE(names.insert(ClassName(*classes, {&i, 1})).second) << *names.begin();
        }
      }
      const Instruction& first = *group.x.front().rows.front()->instruction;
      for (const std::vector<RowClass>* classes : {&group.x, &group.y}) {
        for (const RowClass& c : *classes) {
          for (const Operation* row : c.rows) {
            const Instruction& i = *row->instruction;
            EXPECT_TRUE(i.a == first.a && i.b == first.b && i.c == first.c && i.d == first.d &&
                        i.scale == first.scale)
                << row->name;
            EXPECT_EQ(c.emulated, !IsNative(*row)) << row->name;
          }
        }
      }
    }
  });
}

// What the harness says of pairs: they have equal k, and equal ones give equal words; so do the rows of a class.
TEST_F(AllPairs, EqualsGiveEqualWords) {
  std::map<std::pair<const Operation*, const Operation*>, bool> seen;
  const auto same_words = [&](const Operation* x, const Operation* y) {
    if (!seen.emplace(std::pair(x, y), true).second) return;
    const int k = std::max(x->model.k, y->model.k);
    ASSERT_EQ(k % x->model.k, 0);
    ASSERT_EQ(k % y->model.k, 0);
    const Model of_x = Chain(x->model, k / x->model.k), of_y = Chain(y->model, k / y->model.k);
    for (uint64_t i = 0; i < kTypicalDotProducts; i += 97) {
      const DotProductCase dot = TypicalDotProduct(of_x, i);
      ASSERT_EQ(Simulate(of_x, dot), Simulate(of_y, dot)) << x->name << ' ' << y->name << ' ' << i;
    }
  };
  ForEach([&](const Rows&, const Rows&, const ArchitectureRace& race) {
    for (const FormatGroup& group : race.groups) {
      for (const std::vector<RowClass>* classes : {&group.x, &group.y}) {
        for (const RowClass& c : *classes) {
          for (const Operation* row : c.rows) {
            if (row != c.rows.front()) same_words(c.rows.front(), row);
          }
        }
      }
      for (const ClassPair& pair : group.pairs) {
        EXPECT_EQ(pair.race.x.model.k == pair.race.y.model.k,
                  pair.race.verdict != PairRace::kNotComparable);
        if (pair.race.verdict == PairRace::kSame) {
          same_words(group.x[pair.x].rows.front(), group.y[pair.y].rows.front());
        }
      }
    }
  });
  EXPECT_GT(seen.size(), 1000u);
}

TEST(ArchitecturesTest, HopperAndBlackwell) {
  const ArchitectureRace race = Race(RowsOf("sm_90"), RowsOf("sm_100"), {});
  const std::string text = VerdictLines(race);
  EXPECT_THAT(text, testing::EndsWith(
                        "{e4m3, e5m2} x {e4m3, e5m2} to f32; {e4m3, e5m2} x {e4m3, e5m2} to f32 "
                        "(2:4 sparse): sm_90 wgmma keeps 13 bits, sm_100 tcgen05 keeps 25 bits; "
                        "they also differ in output_fraction_bits\n"
                        "{e4m3, e5m2} x {e4m3, e5m2} to f16; {e4m3, e5m2} x {e4m3, e5m2} to f16 "
                        "(2:4 sparse): sm_90 wgmma keeps 13 bits, sm_100 tcgen05 keeps 25 bits\n"));
  const FormatGroup& f16 =
      *std::ranges::find_if(race.groups, [](const auto& g) { return g.formats() == "f16 to f32"; });
  EXPECT_EQ(f16.verdict,
            "sm_90 mma (k = 8) and sm_100 mma (k = 8) agree; sm_90 mma/wgmma (k = 16) and sm_100 "
            "mma/tcgen05 (k = 16) agree");
  size_t told = 0;
  for (const FormatGroup& group : race.groups) {
    for (const ClassPair& pair : group.pairs) told += pair.race.verdict == PairRace::kTold;
  }
  EXPECT_GE(told, 8u);
}

// The addend of AMX joins last, so k = 32 of it and k = 2 of VDPBF16PS meet in a chain of sixteen.
TEST(ArchitecturesTest, ChainsAreRaced) {
  const Rows x = {FindOperation("x86/vdpbf16ps")}, y = {FindOperation("x86/tdpbf16ps")};
  const ArchitectureRace race = Race(x, y, {});
  ASSERT_EQ(race.groups.size(), 1u);
  const PairRace& pair = race.groups[0].pairs.at(0).race;
  EXPECT_EQ(pair.x.name, "16 x x86/vdpbf16ps");
  ASSERT_EQ(pair.verdict, PairRace::kTold);
  const TellingCase& found = *pair.race.found;
  EXPECT_EQ(Simulate(pair.x.model, found.dot), found.x);
  EXPECT_EQ(Simulate(y[0]->model, found.dot), found.y);
  EXPECT_NE(found.x, found.y);
  ASSERT_TRUE(pair.typical);
  EXPECT_NE(Simulate(pair.x.model, pair.typical->dot), Simulate(y[0]->model, pair.typical->dot));
}

TEST(ArchitecturesTest, NothingInCommon) {
  const ArchitectureRace race = Race(RowsOf("arm"), RowsOf("sm_70"), {});
  EXPECT_TRUE(race.groups.empty());
  EXPECT_FALSE(race.only_in_one.empty());
}

TEST(Typical, OrdinaryNumbers) {
  const Model& model = FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")->model;
  for (uint64_t i = 0; i < kTypicalDotProducts; ++i) {
    const DotProductCase dot = TypicalDotProduct(model, i);
    EXPECT_EQ(dot, TypicalDotProduct(model, i));
    for (const uint64_t word : dot.a) {
      const Unpacked x = Decode(model.a, word);
      EXPECT_TRUE(x.kind == Kind::kFinite && x.significand != 0 && x.exponent >= -6 &&
                  x.exponent <= 6)
          << i;
    }
  }
}

}  // namespace
}  // namespace mmadiff
