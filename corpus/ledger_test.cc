#include "corpus/ledger.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace mmadiff {
namespace {

// A filter cannot be silent: nothing but a ledger reaches what it kept.
template <class F>
concept ShowsWhatItKept = requires(F filtered) {
  filtered.kept_;
};
static_assert(!ShowsWhatItKept<Filtered<int>>);

Filtered<int> Even(std::initializer_list<int> numbers) {
  Filtered<int> even(Thing::kFile);
  for (const int n : numbers) {
    if (n % 2 == 0) {
      even.Keep(n, absl::StrCat(n));
    } else {
      even.Leave(Reason::kNotUnderstood, absl::StrCat(n), /*exact=*/n == 7, "it is odd");
    }
  }
  return even;
}

TEST(LedgerTest, AFilterEntersWhatItLeavesOut) {
  Ledger ledger;
  EXPECT_EQ(ledger.Keep(Even({2, 3, 4, 7})), (std::vector<int>{2, 4}));
  EXPECT_EQ(ledger.tally(Thing::kFile).asked, 4u);
  EXPECT_EQ(ledger.tally(Thing::kFile).left, 2u);
  EXPECT_EQ(ledger.tally(Thing::kOperation).asked, 0u);
  ASSERT_EQ(ledger.lines().size(), 2u);
  EXPECT_EQ(Text(ledger.lines()[0]), "1 of 4 files left out: not understood (3)");
  EXPECT_EQ(Text(ledger.lines()[1]),
            "1 of 4 files left out, although named: not understood (7): it is odd");
  EXPECT_FALSE(ledger.lines()[0].exact);
  EXPECT_TRUE(ledger.lines()[1].exact);
}

TEST(LedgerTest, BalancesWhenEverythingIsComparedOrLeftOut) {
  Ledger ledger;
  EXPECT_TRUE(ledger.Balances());
  ledger.Keep(Even({2, 3, 4}));
  EXPECT_FALSE(ledger.Balances());
  ledger.Compare(Thing::kFile, "2");
  EXPECT_FALSE(ledger.Balances());
  ledger.Compare(Thing::kFile, "4");
  EXPECT_TRUE(ledger.Balances());
  ledger.Compare(Thing::kFile, "6");  // nobody asked for it
  EXPECT_FALSE(ledger.Balances());
}

TEST(LedgerTest, TwoErrorsDoNotCancel) {
  Ledger ledger;
  ledger.Ask(Thing::kFile, "a");                           // forgotten
  ledger.Leave({Thing::kFile, Reason::kNotReached, "b"});  // not asked for
  EXPECT_FALSE(ledger.Balances());
}

TEST(LedgerTest, CountsThingsWithoutNames) {
  Ledger ledger;
  ledger.Count(Thing::kUnit, 5, 2);
  EXPECT_FALSE(ledger.Balances());
  ledger.LeaveMany(Thing::kUnit, Reason::kNotSampled, 3);
  EXPECT_TRUE(ledger.Balances());
  EXPECT_EQ(Text(ledger.lines().at(0)), "3 of 5 units left out: not in the sample");
}

TEST(LedgerTest, ComparedWinsOverLeftOutAndTheFirstReasonStays) {
  Ledger ledger;
  ledger.Ask(Thing::kOperation, "a");
  ledger.Ask(Thing::kOperation, "a", /*exact=*/true);
  ledger.Leave({Thing::kOperation, Reason::kDropped, "a"});
  ledger.Leave({Thing::kOperation, Reason::kNotReached, "a"});
  ASSERT_EQ(ledger.lines().size(), 1u);
  EXPECT_EQ(ledger.lines()[0].reason, Reason::kDropped);
  EXPECT_TRUE(ledger.lines()[0].exact);
  EXPECT_TRUE(ledger.Balances());
  ledger.Compare(Thing::kOperation, "a");
  EXPECT_TRUE(ledger.lines().empty());
  EXPECT_TRUE(ledger.Balances());
}

TEST(LedgerTest, ShowsFewNamesAndKeepsAHundred) {
  Ledger ledger;
  for (int i = 100; i < 250; ++i) {
    ledger.Ask(Thing::kCase, absl::StrCat(i));
    ledger.Leave({Thing::kCase, Reason::kPrediction, absl::StrCat(i)});
  }
  EXPECT_EQ(ledger.lines()[0].names.size(), LeftOutLine::kMaxNames);
  EXPECT_EQ(Text(ledger.lines()[0]), "150 of 150 cases left out: the model's own answers");
}

TEST(LedgerTest, ShowsTheFirstOfManyFiles) {
  Ledger ledger;
  for (const char* const name : {"a", "b", "c", "d"}) {
    ledger.Ask(Thing::kFile, name);
    ledger.Leave({Thing::kFile, Reason::kOtherFile, name});
  }
  EXPECT_EQ(Text(ledger.lines()[0]), "4 of 4 files left out: not mmadiff files (a, b, c, ...)");
}

TEST(LedgerTest, WordsOfJsonAreDifferentAndLowerCase) {
  std::set<std::string> words;
  for (int i = 0; i < kThings; ++i) words.insert(Name(static_cast<Thing>(i)));
  for (int i = 0; i < kReasons; ++i) words.insert(Name(static_cast<Reason>(i)));
  EXPECT_EQ(words.size(), static_cast<size_t>(kThings + kReasons));
  for (const std::string& word : words) {
    for (const char c : word) EXPECT_TRUE(absl::ascii_islower(c) || c == '_') << word;
  }
}

}  // namespace
}  // namespace mmadiff
