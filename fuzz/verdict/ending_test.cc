#include "fuzz/verdict/ending.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace mmadiff {
namespace {

TEST(EndingTest, NothingSaidIsClean) {
  EXPECT_EQ(Ending("run").verdict(), Verdict::kGood);
  EXPECT_EQ(Ending("run").exit_code(), 0);
}

TEST(EndingTest, TheFirstInOrderOfPrecedenceDecides) {
  // Of `run`, which can give them all: each beats those behind it, whatever is said first.
  for (int first = 0; first < kVerdicts; ++first) {
    for (int second = first; second < kVerdicts; ++second) {
      Ending ending("run");
      ending.Say(static_cast<Verdict>(second));
      ending.Say(static_cast<Verdict>(first));
      EXPECT_EQ(ending.verdict(), static_cast<Verdict>(first)) << first << " " << second;
    }
  }
  std::vector<int> codes;
  for (const VerdictMeaning& of : VerdictMeanings()) codes.push_back(of.code);
  EXPECT_EQ(codes, (std::vector<int>{2, 6, 3, 3, 1, 5, 5, 75, 4, 3, 3, 0}));
}

TEST(EndingTest, MessagesOfOneVerdictKeepTheirOrder) {
  Ending ending("run");
  ending.Say(Verdict::kEarly, "early");
  ending.Say(Verdict::kHarmed, "one");
  ending.Say(Verdict::kHarmed, "two");
  ASSERT_EQ(ending.all().size(), 3u);
  EXPECT_EQ(ending.all()[0].why, "one");
  EXPECT_EQ(ending.all()[1].why, "two");
  EXPECT_EQ(ending.all()[2].why, "early");
}

TEST(EndingTest, AVerdictThatTheVerbDoesNotListIsBroken) {
  Ending ending("gen");
  ending.Say(Verdict::kDiffers);
  EXPECT_EQ(ending.verdict(), Verdict::kBroken);
  Ending nothing;  // before there is a verb
  nothing.Say(Verdict::kUsage);
  EXPECT_EQ(nothing.exit_code(), 2);
}

TEST(EndingTest, CodesOfErrors) {
  const auto code = [](const absl::Status& error, Verdict data_loss = Verdict::kHarmed) {
    Ending ending("run");
    ending.Say(error, data_loss);
    return ending.exit_code();
  };
  EXPECT_EQ(code(absl::OkStatus()), 0);
  EXPECT_EQ(code(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(code(absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(code(absl::AlreadyExistsError("")), 2);
  EXPECT_EQ(code(absl::NotFoundError("")), 4);
  EXPECT_EQ(code(absl::AbortedError("")), 5);
  EXPECT_EQ(code(absl::DataLossError("")), 5);
  EXPECT_EQ(code(absl::DataLossError(""), Verdict::kNotWritten), 6);
  EXPECT_EQ(code(absl::CancelledError("")), 75);
  EXPECT_EQ(code(absl::UnavailableError("")), 75);
  EXPECT_EQ(code(absl::DeadlineExceededError("")), 75);
  EXPECT_EQ(code(absl::OutOfRangeError("")), 3);
  EXPECT_EQ(code(absl::InternalError("")), 3);
}

TEST(EndingTest, OnlyMismatchesCanHaveAnotherCode) {
  Ending ending("run");
  ending.Say(Verdict::kDiffers);
  EXPECT_EQ(ending.exit_code(9), 9);
  ending.Say(Verdict::kRowFailed);
  EXPECT_EQ(ending.exit_code(9), 3);
}

TEST(EndingTest, RowsAreInOrderOfPrecedenceWithoutRepetition) {
  EXPECT_TRUE(std::ranges::is_sorted(VerdictMeanings(), {}, &VerdictMeaning::verdict));
  for (const VerbRow& row : VerbTable()) {
    for (size_t i = 1; i < row.verdicts.size(); ++i) {
      EXPECT_LT(row.verdicts[i - 1].verdict, row.verdicts[i].verdict) << row.verb;
    }
  }
}

TEST(EndingTest, MeaningsOfACodeAreJoined) {
  EXPECT_EQ(MeaningOf(kDamaged, "run"),
            "damaged data; unreadable answers; earlier answers that could not be trusted; "
            "two different results for one unit; none of the mismatches repeats; earlier "
            "mismatches no longer occur");
  EXPECT_EQ(MeaningOf(kMismatch, "gen"), "");
  EXPECT_EQ(MeaningOf(kMismatch), "mismatches");
}

// What is left of a call that chose from `asked` rows, of which the device lacks some.
Ending Closed(const char* verb, int asked, int lacking, bool named) {
  Ending ending(verb);
  for (int i = 0; i < asked; ++i) {
    const std::string name = std::to_string(i);
    ending.ledger().Ask(Thing::kOperation, name, named);
    if (i < lacking) {
      ending.ledger().Leave({Thing::kOperation, Reason::kDeviceLacks, name});
    } else {
      ending.ledger().Compare(Thing::kOperation, name);
    }
  }
  ending.Close();
  return ending;
}

TEST(EndingTest, ANamedRowThatIsLeftOutIsNotHere) {
  EXPECT_EQ(Closed("run", 3, 0, true).exit_code(), kClean);
  EXPECT_EQ(Closed("run", 3, 1, true).exit_code(), kNoDevice);
  EXPECT_EQ(Closed("run", 3, 1, false).exit_code(), kClean);
  EXPECT_EQ(Closed("run", 3, 3, false).exit_code(), kNoDevice);
}

TEST(EndingTest, WhatIsNotReachedIsNotAbsent) {
  Ending ending("run");
  for (const char* const name : {"a", "b"}) ending.ledger().Ask(Thing::kOperation, name);
  ending.ledger().Leave({Thing::kOperation, Reason::kDeviceLacks, "a"});
  ending.ledger().LeaveRest(Thing::kOperation, Reason::kNotReached);
  ending.Close();
  EXPECT_EQ(ending.exit_code(), kClean);
}

// Several reasons for which nothing is asked: nothing was compared.
TEST(EndingTest, AllIsAbsentForOneReasonOrAnother) {
  Ending ending("run");
  for (const char* const name : {"a", "b"}) ending.ledger().Ask(Thing::kOperation, name);
  ending.ledger().Leave({Thing::kOperation, Reason::kNoFormats, "a"});
  ending.ledger().Leave({Thing::kOperation, Reason::kConversion, "b"});
  ending.Close();
  EXPECT_EQ(ending.exit_code(), kNoDevice);
}

TEST(EndingTest, ADifferenceOutweighsWhatIsLeftOut) {
  Ending ending("run");
  ending.ledger().Ask(Thing::kOperation, "a", true);
  ending.ledger().Leave({Thing::kOperation, Reason::kNoModel, "a"});
  ending.Say(Verdict::kDiffers);
  ending.Close();
  EXPECT_EQ(ending.exit_code(), kMismatch);
}

TEST(EndingTest, WhatIsNotAccountedForIsBroken) {
  for (const Verdict said : {Verdict::kGood, Verdict::kDiffers, Verdict::kEarly}) {
    Ending ending("run");
    ending.ledger().Ask(Thing::kOperation, "a");
    if (said != Verdict::kGood) ending.Say(said);
    ending.Close();
    EXPECT_EQ(ending.verdict(), said == Verdict::kEarly ? said : Verdict::kBroken);
  }
}

TEST(EndingTest, NoQuestionLeftIsUsage) {
  Ending ending("probe");
  for (const char* const name : {"a", "b"}) {
    ending.ledger().Ask(Thing::kQuestion, name);
    ending.ledger().Leave({Thing::kQuestion, Reason::kDoesNotApply, name});
  }
  ending.Close();
  EXPECT_EQ(ending.exit_code(), kUsage);
}

// A reason that the switch of VerdictOf() forgets would pass.
TEST(EndingTest, EachReasonHasItsVerdict) {
  std::string named, others;
  for (int i = 0; i < kReasons; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (VerdictOf(reason, true) != Verdict::kGood) named += std::string(Name(reason)) + " ";
    if (VerdictOf(reason, false) != Verdict::kGood) others += std::string(Name(reason)) + " ";
  }
  EXPECT_EQ(named,
            "no_formats only_in_one no_model no_arithmetic device_lacks conversion cannot_start "
            "not_recorded "
            "unknown_here "
            "damaged not_understood ");
  EXPECT_EQ(others, "damaged not_understood ");
}

}  // namespace
}  // namespace mmadiff
