// Stored meanings come back, their names are words of which no two are equal, and what old files say
// in sentences is understood.
#include <gmock/gmock.h>

#include <set>

#include "absl/strings/ascii.h"
#include "corpus/meaning_proto.h"
#include "corpus/old_text.h"
#include "corpus/survey_record.h"
#include "proto/survey.pb.h"

namespace mmadiff {
namespace {

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

TEST(MeaningTest, NumbersOfALaterVersionAreRefused) {
  proto::SurveyEnd end;
  end.mutable_cause()->set_kind(static_cast<proto::StopCause::Kind>(kStopCauses));
  EXPECT_FALSE(ParseSurveyEnd(end.SerializeAsString()).ok());
}

}  // namespace
}  // namespace mmadiff
