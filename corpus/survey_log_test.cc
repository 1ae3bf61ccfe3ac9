// The log of a survey: what was appended comes back, a torn end is no damage, a kill at any byte
// leaves whole results alone, and everything else that is not ours is refused.
#include "corpus/survey_log.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "corpus/testing/folder.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

SurveyManifest Manifest() {
  SurveyManifest manifest = {"1.0", "3",     3,  1ull << 63, "cuda:0", Identity::Named("a GPU"),
                             5,     "cases", 64, 7,          {}};
  manifest.instructions = {{"sm_90/x", true, {",a=registers", ",b=col"}, 10, 20, 30},
                           {"sm_90/y", false, {}, 1, 2, 3}};
  return manifest;
}

SurveyResult Result(uint64_t number) {
  SurveyResult result;
  result.task = {SurveyStage::kExplain, "sm_90/x", ",a=registers", number, "detail"};
  result.status = absl::DataLossError("lost");
  result.seconds = 1.5;
  result.hardware = "GPU-1";
  result.answers = {{"width",
                     "25",
                     "agrees",
                     Agreement::kOpen,
                     3,
                     1,
                     {"00 01", "02 03"},
                     Scope::kDotProducts,
                     {"a=1"}}};
  result.lines = {{"vector", "04 05", true}, {"vector", "06", false}};
  result.first_case = 1;
  result.cases = 2;
  result.dot_products = 3;
  result.mismatches = 4;
  result.first_mismatch = "sm_90/x@g3:1:0";
  result.outputs = {{"stream", 2, std::string("\0\xff", 2), 5}};
  result.digests = {{"stream", 9, {Digest{1} << 100, 7}}};
  result.findings = {{Bucket::Unexplained(), "text", {{"00", "01", "why"}}}};
  result.killing = {KillingInput::kLines, "00 01", 3, true, true};
  result.trapped = result.unfinished = true;
  result.died_of = "signal 11";
  result.next = 6;
  result.pace = .25;
  return result;
}

std::vector<std::string> Texts(const StoredSurvey& stored) {
  std::vector<std::string> texts;
  for (const SurveyResult& result : stored.results) texts.push_back(SerializeResult(result));
  return texts;
}

class SurveyLogTest : public TestFolder {
 protected:
  // A log with `results`, the last of which takes several records.
  std::string Written(int results) {
    auto log = SurveyLog::Create(Path("."), Manifest());
    EXPECT_TRUE(log.ok()) << log.status();
    for (int i = 0; i < results; ++i) {
      SurveyResult result = Result(i);
      if (i + 1 == results) result.outputs[0].d.assign(150'000, 'x');
      EXPECT_TRUE((*log)->Append(result).ok());
      EXPECT_TRUE((*log)->Flush().ok());
    }
    return Get(SurveyLogPath(Path(".")));
  }
};

TEST_F(SurveyLogTest, WhatIsAppendedComesBack) {
  Written(3);
  const auto stored = ReadSurvey(Path("."));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->manifest, Manifest());
  EXPECT_FALSE(stored->damaged);
  ASSERT_EQ(stored->results.size(), 3u);
  const SurveyResult &got = stored->results[1], wanted = Result(1);
  EXPECT_EQ(got.task, wanted.task);
  EXPECT_EQ(got.status, wanted.status);
  EXPECT_EQ(got.answers, wanted.answers);
  EXPECT_EQ(got.lines, wanted.lines);
  EXPECT_EQ(got.outputs, wanted.outputs);
  EXPECT_EQ(got.digests, wanted.digests);
  EXPECT_EQ(got.findings, wanted.findings);
  EXPECT_EQ(SerializeResult(got), SerializeResult(wanted));
  EXPECT_EQ(stored->results[2].outputs[0].d.size(), 150'000u);
}

TEST_F(SurveyLogTest, AKillAtAnyByteLeavesWholeResultsAndTheLogGoesOn) {
  const std::string whole = Written(3);
  const std::vector<std::string> all = Texts(*ReadSurvey(Path(".")));
  const size_t manifest = EncodeRecords({{SerializeManifest(Manifest())}}, 0).size();
  size_t most = 0;
  for (size_t bytes = manifest + 64; bytes < whole.size(); bytes += bytes < 3000 ? 1 : 997) {
    Put("answers.log", whole.substr(0, bytes));
    const auto stored = ReadSurvey(Path("."));
    ASSERT_TRUE(stored.ok()) << bytes << " " << stored.status();
    EXPECT_FALSE(stored->damaged) << bytes << stored->Damage();
    std::vector<std::string> texts = Texts(*stored);
    ASSERT_LE(texts.size(), all.size());
    EXPECT_TRUE(std::equal(texts.begin(), texts.end(), all.begin())) << bytes;
    most = std::max(most, texts.size());
    auto log = SurveyLog::Continue(Path("."), *stored);
    ASSERT_TRUE(log.ok()) << log.status();
    ASSERT_TRUE((*log)->Append(Result(77)).ok());
    ASSERT_TRUE((*log)->Flush().ok());
    const auto again = ReadSurvey(Path("."));
    ASSERT_TRUE(again.ok()) << bytes << " " << again.status();
    EXPECT_FALSE(again->damaged) << bytes << again->Damage();
    texts.push_back(SerializeResult(Result(77)));
    EXPECT_EQ(Texts(*again), texts) << bytes;
  }
  EXPECT_EQ(most, 2u);
}

TEST_F(SurveyLogTest, EndsOfAttemptsComeBack) {
  const SurveyEnd first = {{StopCause::kSignal, 2}, ""}, second = {{}, "the device is gone"};
  auto log = SurveyLog::Create(Path("."), Manifest());
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_TRUE((*log)->Append(Result(0)).ok());
  EXPECT_TRUE((*log)->Append(first).ok());
  EXPECT_TRUE((*log)->Append(Result(1)).ok());
  EXPECT_TRUE((*log)->Append(second).ok());
  const auto stored = ReadSurvey(Path("."));
  ASSERT_TRUE(stored.ok()) << stored.status();
  ASSERT_EQ(stored->ends.size(), 2u);
  EXPECT_EQ(stored->ends[0].end, first);
  EXPECT_EQ(stored->ends[0].results, 1u);
  EXPECT_EQ(stored->ends[1].end, second);
  EXPECT_EQ(stored->ends[1].results, 2u);
}

TEST_F(SurveyLogTest, DamageIsSaidAndNotContinued) {
  const std::string first = Written(0);
  std::filesystem::remove(SurveyLogPath(Path(".")));
  std::string bytes = Written(3);
  bytes[bytes.size() / 2] ^= 1;    // in the third result
  bytes[first.size() + 200] ^= 1;  // in the first
  Put("answers.log", bytes);
  const auto stored = ReadSurvey(Path("."));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_TRUE(stored->damaged);
  EXPECT_EQ(stored->results.size(), 1u);
  EXPECT_EQ(SurveyLog::Continue(Path("."), *stored).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SurveyLogTest, AnotherFileIsRefused) {
  EXPECT_EQ(ReadSurvey(Path("none")).status().code(), absl::StatusCode::kNotFound);
  for (const std::string& bytes : {std::string(), std::string("text"), std::string(1000, 'x'),
                                   EncodeRecords({{"no part \xff"}}, 1), EncodeRecords({}, 1)}) {
    Put("answers.log", bytes);
    EXPECT_EQ(ReadSurvey(Path(".")).status().code(), absl::StatusCode::kDataLoss) << bytes;
  }
}

TEST_F(SurveyLogTest, AnotherFormatIsRefused) {
  std::string bytes = SerializeManifest(Manifest());
  EXPECT_TRUE(ParseSurveyManifest(bytes).ok());
  bytes += std::string("\x60\x01", 2);  // the field again: the last one counts
  EXPECT_THAT(std::string(ParseSurveyManifest(bytes).status().message()),
              HasSubstr("a survey of format 1"));
}

TEST_F(SurveyLogTest, AStageThatThereIsNotIsRefused) {
  SurveyResult result = Result(1);
  result.task.stage = static_cast<SurveyStage>(kSurveyStages);
  EXPECT_EQ(ParseSurveyResult(SerializeResult(result)).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(SurveyRecord, RequestsAndRepliesComeBack) {
  const KillingInput input = {KillingInput::kLines, "00", 2, false, false, {"00", "01"}};
  const AskRequest request = {Manifest(), {"sm_90/*"}, Result(1).task, {3, 4, 1.5}, input, true, 2};
  const std::string told = SerializeRequest(request);
  const auto parsed = ParseAskRequest(told);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->manifest, request.manifest);
  EXPECT_EQ(parsed->identify, request.identify);
  EXPECT_EQ(parsed->task, request.task);
  EXPECT_EQ(parsed->input, input);
  EXPECT_EQ(SerializeRequest(*parsed), told);
  for (const auto kind : {AskReply::kAlive, AskReply::kBegun, AskReply::kAsked, AskReply::kIdentity,
                          AskReply::kResult, AskReply::kNotOpened}) {
    const AskReply reply = {kind, Manifest(), {"00 01"}, Result(3), absl::NotFoundError("gone")};
    const std::string bytes = SerializeReply(reply);
    const auto again = ParseAskReply(bytes);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->kind, kind);
    EXPECT_EQ(SerializeReply(*again), bytes);
  }
  EXPECT_FALSE(ParseAskReply("").ok());
}

TEST(SurveyRecord, InputsThatKillHaveNames) {
  KillingInput input = {.kind = KillingInput::kLines, .first = "00", .count = 2, .tried = true};
  EXPECT_EQ(Name(input),
            "an unknown input: the device survives zeros and, alone, the 2 dot products, the "
            "first 00");
  input.confirmed = true;
  EXPECT_EQ(Name(input), "2 dot products, the first 00");
  input = {.kind = KillingInput::kCases, .first = "x86/vfmadd231ss@g3:1:5", .count = 3};
  EXPECT_EQ(Name(input), "3 cases from x86/vfmadd231ss@g3:1:5 on");
  // Older programs stored a sentence.
  const auto old = ParseSurveyResult(SerializeResult({}) + "\x82\x01\x07" + "3 cases");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->killing.kind, KillingInput::kOldText);
  EXPECT_EQ(Name(old->killing), "3 cases");
}

TEST(SurveyRecord, DifferencesAreNamed) {
  SurveyManifest other = Manifest();
  other.device_identity = Identity::Named("another");
  EXPECT_EQ(ManifestDifference(Manifest(), Manifest()), "");
  EXPECT_THAT(ManifestDifference(Manifest(), other),
              HasSubstr("device_identity: stored 'a GPU', wanted 'another'"));
  other.instructions.pop_back();
  EXPECT_THAT(ManifestDifference(Manifest(), other), HasSubstr("instructions: stored 2"));
}

}  // namespace
}  // namespace mmadiff
