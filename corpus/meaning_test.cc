// Stored meanings come back, their names are words of which no two are equal, and what old files say
// in sentences is understood.
#include <gmock/gmock.h>

#include <set>

#include "absl/strings/ascii.h"
#include "corpus/damage.h"
#include "corpus/old_text.h"
#include "corpus/regression_case.h"
#include "corpus/survey_record.h"
#include "proto/survey.pb.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Of all values of an enum.
void ExpectWords(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_EQ(name, absl::AsciiStrToLower(name));
  }
}

TEST(MeaningTest, StopCauses) {
  std::vector<std::string> names;
  for (int kind = 0; kind < kStopCauses; ++kind) {
    const StopCause cause = {static_cast<StopCause::Kind>(kind),
                             kind == StopCause::kSignal ? 15 : 0};
    names.push_back(Name(cause));
    const auto stored = ParseSurveyEnd(SerializeEnd({cause, "gone"}));
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_EQ(stored->stopped_by, cause);
  }
  ExpectWords(names);
}

TEST(MeaningTest, StopCausesOfOldFiles) {
  const auto old = [](const char* text) {
    proto::SurveyEnd end;
    end.set_stopped_by(text);
    return ParseSurveyEnd(end.SerializeAsString())->stopped_by;
  };
  EXPECT_EQ(old(""), StopCause());
  EXPECT_EQ(old("time limit"), StopCause{StopCause::kTimeLimit});
  EXPECT_EQ(old("folder full"), StopCause{StopCause::kFolderFull});
  EXPECT_EQ(old("signal 15"), (StopCause{StopCause::kSignal, 15}));
}

TEST(MeaningTest, MachinesOfOldFiles) {
  const auto old = [](const std::string& text) {
    EXPECT_EQ(Name(MachineOfOld(text)), text);
    return MachineOfOld(text);
  };
  EXPECT_EQ(old(""), Machine());
  EXPECT_EQ(old("node7"), (Machine{"node7", {}}));
  EXPECT_EQ(old("node7, GPU-0d1e at PCI 0000:17:00.0, 130 of 132 multiprocessors answered"),
            (Machine{"node7", {"GPU-0d1e", "0000:17:00.0", Hardware::kMultiprocessors, 130, 132}}));
  EXPECT_EQ(old("node7, GPU-0d1e at PCI 0000:c1:00.0, 0 of 304 compute units answered"),
            (Machine{"node7", {"GPU-0d1e", "0000:c1:00.0", Hardware::kComputeUnits, 0, 304}}));
  EXPECT_EQ(MachineOfOld("node7, GPU-0d1e at PCI 1, something else"),
            (Machine{"node7", {"GPU-0d1e", "1", Hardware::kNone, 0, 0}}));
}

TEST(MeaningTest, ContentsOfOldFiles) {
  EXPECT_EQ(ContentsOfOld("contents xxh3 07ab"), "07ab");
  EXPECT_EQ(ContentsOfOld("07ab"), "07ab");
}

// A value that only begins like an old sentence is no old sentence.
TEST(MeaningTest, FactsComeBack) {
  const Identity identity = Identity()
                                .Add("command", "contents xxh3 x")
                                .Add("files", "contents xxh3 88184f")
                                .Add("contents", "07ab");
  SurveyManifest manifest;
  manifest.device_identity = identity;
  const auto stored = ParseSurveyManifest(SerializeManifest(manifest));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(Name(stored->device_identity), Name(identity));
}

TEST(MeaningTest, KindsOfDamage) {
  std::vector<std::string> names;
  for (int kind = 0; kind < kDamageKinds; ++kind) {
    names.push_back(Name(static_cast<DamageKind>(kind)));
  }
  ExpectWords(names);
}

TEST(MeaningTest, AnswersOfOldFiles) {
  const auto old = [](const char* question, const char* text) {
    SurveyAnswer answer = {question, text, "", Agreement::kAgrees, 1, 0, {}};
    AddMeaningOfOld(answer);
    return answer;
  };
  EXPECT_EQ(old("layout", "as the tables say").scope, Scope::kWholeExecutions);
  EXPECT_EQ(old("layout", "as the tables say, of dot products alone").scope, Scope::kDotProducts);
  EXPECT_EQ(old("repeat", "one answer to a dot product alone, four times").scope,
            Scope::kDotProducts);
  const auto facts = [&](const char* text) { return old("a question", text).facts; };
  EXPECT_THAT(facts("the table's model"), IsEmpty());
  EXPECT_THAT(facts("the table's model (or terms=8)"), ElementsAre("or terms=8"));
  EXPECT_THAT(facts("the model with terms=8 steps=2"), ElementsAre("terms=8", "steps=2"));
  EXPECT_THAT(facts("terms=16 (or terms=8, terms=4)"),
              ElementsAre("terms=16", "or terms=8", "or terms=4"));
  EXPECT_THAT(facts("terms=8 or terms=4"), ElementsAre("terms=8", "or terms=4"));
  EXPECT_THAT(facts("none"), IsEmpty());
  EXPECT_THAT(facts("1 word: 7fffffff"), ElementsAre("1", "7fffffff"));
  EXPECT_THAT(facts("9 words: 7fc0 7fc1 ffc0 ..."), ElementsAre("9", "7fc0", "7fc1", "ffc0"));
  EXPECT_THAT(facts("x: it rounds down; y: another word, 3f80"),
              ElementsAre("x: it rounds down", "y: 3f80"));
  EXPECT_THAT(facts("denorm=flush changes 12, round=up changes 3 of 1024; fp16=wrap change none"),
              ElementsAre("denorm=flush 12", "round=up 3"));
  EXPECT_THAT(facts("denorm=flush change none of 1024"), IsEmpty());
}

TEST(MeaningTest, RolesOfOldCases) {
  EXPECT_EQ(RoleOfOld("the device and the model differ; refutes terms=8"), CaseRole::kMinimal);
  EXPECT_EQ(RoleOfOld("the device and the model differ, once"), CaseRole::kMinimal);
  EXPECT_EQ(RoleOfOld("refutes terms=8"), CaseRole::kUnknown);
}

// Every bucket that a change of any operation makes, and every class.
TEST(MeaningTest, BucketsAreReadAsTheyAreNamed) {
  for (const Operation& op : Operations()) {
    const Family family = op.model.algorithm.family;
    std::vector<Bucket> buckets = {{}};
    for (const Neighbour& n : Neighbours(op.model)) {
      buckets.push_back(Bucket::Explained(n.changes));
    }
    for (int i = 0; i < kDifferenceClasses; ++i) {
      buckets.push_back(Bucket::Unexplained(static_cast<DifferenceClass>(i)));
    }
    for (Bucket& bucket : buckets) {
      for (int i = 0; i < kRepetitions; ++i) {
        bucket.repetition = static_cast<Repetition>(i);
        EXPECT_EQ(ParseBucket(family, Name(bucket)), bucket) << op.name << " " << Name(bucket);
      }
    }
  }
}

TEST(MeaningTest, OtherNamesOfBucketsAreKept) {
  for (const char* name : {"flaky:", "unexplained:", "unexplained:made", "sum:fraction_bits=24",
                           "terms=8", "flakyulps", "aligned_term:fraction_bits=24 ",
                           "aligned_term:", "aligned_term:gone=1", ":", "Unexplained"}) {
    Bucket bucket = ParseBucket(Family::kFusedSum, name);
    EXPECT_EQ(bucket.kind, Bucket::kUnknown) << name;
    EXPECT_TRUE(bucket.Repeats()) << name;
    EXPECT_EQ(Name(bucket), name);
    bucket.repetition = Repetition::kUnconfirmed;
    EXPECT_EQ(ParseBucket(Family::kFusedSum, Name(bucket)), bucket);
  }
}

TEST(MeaningTest, WhoMovedAFinding) {
  const std::pair<const char*, MovedBy> all[] = {{"", {}},
                                                 {"run", {MovedBy::kRun}},
                                                 {"model:3", {MovedBy::kModel, 3}},
                                                 {"model:03", MovedBy::Device("model:03")},
                                                 {"cuda:0", MovedBy::Device("cuda:0")}};
  for (const auto& [name, by] : all) {
    EXPECT_EQ(ParseMovedBy(name), by) << name;
    EXPECT_EQ(Name(by), name);
  }
}

TEST(MeaningTest, NumbersOfALaterVersionAreRefused) {
  proto::SurveyEnd end;
  end.mutable_cause()->set_kind(static_cast<proto::StopCause::Kind>(kStopCauses));
  EXPECT_FALSE(ParseSurveyEnd(end.SerializeAsString()).ok());
}

}  // namespace
}  // namespace mmadiff
