// Surveys of devices that die, hang, come back, are gone or lie: what is kept, what is asked again,
// what is said, and that a survey that was interrupted ends as one that was not.
#include "fuzz/survey/survey.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "corpus/recordings/recording.h"
#include "corpus/survey_log.h"
#include "corpus/test_folder.h"
#include "fuzz/survey/asker.h"
#include "fuzz/survey/files.h"
#include "fuzz/survey/page.h"
#include "fuzz/survey/summary.h"
#include "triage/testing_device.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kBf16[] = "sm_80/mma.m16n8k8.f32.bf16.bf16.f32",
               kTf32[] = "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", kFma[] = "x86/vfmadd231ss";

struct Died : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What goes wrong with one operation; `says` decides by the inputs, and the number of the call.
struct Fault {
  std::string op;
  std::function<void(const Batch&, int call)> before = {};
  std::string change = {};  // of the model
  bool swap = false;        // the first two results of an execution
};

class TestDevice : public ChangedDevice {
 public:
  TestDevice(std::vector<Fault>& faults, int& calls, const std::string& identity)
      : ChangedDevice(""), faults_(faults), calls_(calls), identity_(identity) {}

  std::string name() const override { return "test"; }
  std::string identity() const override { return identity_; }
  absl::Status Supports(const Operation& op) const override {
    const bool has = op.name == kBf16 || op.name == kTf32 || op.name == kFma;
    return has ? absl::OkStatus() : absl::NotFoundError("no");
  }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    ++calls_;
    for (const Fault& fault : faults_) {
      if (fault.op != op.name) continue;
      if (fault.before) fault.before(batch, calls_);
      if (absl::Status s = ChangedDevice(fault.change).Run(op, batch, d); !s.ok()) return s;
      if (fault.swap && batch.shape == op.shape() && d.size() > 1) std::swap(d[0], d[1]);
      return absl::OkStatus();
    }
    return ChangedDevice::Execute(op, batch, d);
  }

 private:
  std::vector<Fault>& faults_;
  int& calls_;
  const std::string identity_;
};

bool HasNan(const Batch& batch) {
  return std::any_of(batch.a.begin(), batch.a.end(),
                     [](uint64_t a) { return (a & 0x7fff) > 0x7f80; });
}

class SurveyTest : public TestFolder {
 protected:
  // A process that asks is a call here, and its death an exception.
  AskProcess Ask() {
    return [this](const SurveyJob& job, const TakeMessage& take, const std::function<bool()>&) {
      ++processes;
      const auto open = [this](const std::string&) -> EngineOr {
        if (gone && gone()) return absl::NotFoundError("no such device");
        return std::make_unique<HostEngine>(std::make_unique<TestDevice>(faults, calls, identity));
      };
      try {
        return AskSurvey(job, open, [&](const SurveyMessage& message) {
          const absl::Status s = take(message);
          if (!s.ok()) throw Died(std::string(s.message()));
        });
      } catch (const Died& died) {
        const bool hangs = absl::string_view(died.what()) == "hangs";
        return hangs ? absl::DeadlineExceededError("hangs") : absl::UnavailableError(died.what());
      }
    };
  }

  SurveyOutcome Survey(const std::string& folder = "s") {
    Console console(Color::kNever, true);
    SurveyOptions options = {
        .folder = Path(folder), .device = "test", .cases = 600, .patience = absl::ZeroDuration()};
    options.globs = {kBf16, kTf32, kFma};
    options.max_bytes = most_bytes;
    auto outcome = RunSurvey(options, Ask(), console);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok()) return {};
    std::string note;
    EXPECT_TRUE(WriteSurveyFiles(Path(folder), Summarize(*outcome), note).ok());
    return *std::move(outcome);
  }

  // All that survey.json says but for times.
  static std::string Said(const SurveyOutcome& outcome) {
    auto json = nlohmann::ordered_json::parse(SurveyJson(Summarize(outcome)));
    json.erase("seconds");
    for (auto& row : json["rows"]) row.erase("seconds");
    return json.dump(1);
  }

  static const SurveyRow& RowOf(const SurveySummary& summary, const std::string& op) {
    return *std::find_if(summary.rows.begin(), summary.rows.end(),
                         [&](const SurveyRow& row) { return row.op == op; });
  }
  static void ExpectComplete(const SurveyRow& row) {
    EXPECT_EQ(row.layout, "agrees") << row.op;
    EXPECT_EQ(row.repeat, "agrees") << row.op;
    EXPECT_THAT(row.answers, SizeIs(testing::Ge(4u))) << row.op;
    EXPECT_EQ(row.cases, 600u) << row.op;
    EXPECT_TRUE(row.recorded) << row.op;
    EXPECT_THAT(row.troubles, IsEmpty()) << row.op;
  }

  std::vector<Fault> faults;
  std::function<bool()> gone;
  int calls = 0, processes = 0;
  std::string identity = "test";
  uint64_t most_bytes = 64'000'000;
};

TEST_F(SurveyTest, AGoodDeviceIsAllAskedAndRecorded) {
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(outcome.missing, IsEmpty());
  EXPECT_THAT(summary.contradictions, IsEmpty());
  ASSERT_THAT(summary.rows, SizeIs(3));
  for (const SurveyRow& row : summary.rows) ExpectComplete(row);
  EXPECT_EQ(processes, 2);  // identity, and all else
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Path("s"))) {
    if (entry.is_regular_file()) files.push_back(entry.path().filename());
  }
  EXPECT_THAT(files, SizeIs(8));
  uint64_t equal = 0;
  const auto stats = ReadRecordings(Path("s/recording"), "", [&](const Recording& r) {
    equal += r.d.size() - Compare(*r.op, *InputsOf(r), r.d).differing.size();
    return absl::OkStatus();
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_THAT(stats->damage, IsEmpty());
  EXPECT_EQ(equal, stats->dot_products);
  EXPECT_GT(equal, 1000u);
}

TEST_F(SurveyTest, ARowThatTrapsTakesNothingWithIt) {
  faults = {{kTf32, [](const Batch&, int) { throw Died("signal 11"); }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  ExpectComplete(RowOf(summary, kBf16));
  ExpectComplete(RowOf(summary, kFma));
  ASSERT_THAT(summary.contradictions, SizeIs(1));
  EXPECT_EQ(summary.troubled, 1);
  EXPECT_EQ(summary.contradictions[0].op, kTf32);
  EXPECT_EQ(summary.contradictions[0].what,
            "traps in layout: signal 11; on one execution with every operand +0");
  EXPECT_THAT(outcome.missing, IsEmpty());
  EXPECT_THAT(SurveyPage(summary), HasSubstr("traps in layout"));
}

TEST_F(SurveyTest, TheSmallestInputThatTrapsIsFound) {
  faults = {{kBf16, [](const Batch& batch, int) {
               if (HasNan(batch)) throw Died("signal 11");
             }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  const SurveyRow& row = RowOf(summary, kBf16);
  ExpectComplete(RowOf(summary, kTf32));
  EXPECT_EQ(row.layout, "agrees");
  EXPECT_THAT(row.answers, Contains(testing::Field(&SurveyAnswer::question, "zero_sign")));
  EXPECT_THAT(row.troubles, SizeIs(3));
  for (const std::string& trouble : row.troubles) {
    const std::string line = trouble.substr(trouble.find("; on ") + 5);
    EXPECT_THAT(line, testing::MatchesRegex("([0-9a-f]{4} ){16}[0-9a-f]{8}")) << trouble;
    EXPECT_THAT(line, testing::ContainsRegex("(7f|ff)[89a-f]")) << trouble;
  }
}

TEST_F(SurveyTest, AHangIsNotTriedAgainAndAgain) {
  faults = {{kTf32, [](const Batch& batch, int) {
               const bool zeros =
                   std::all_of(batch.a.begin(), batch.a.end(), [](uint64_t a) { return a == 0; });
               if (!zeros) throw Died("hangs");
             }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(RowOf(summary, kTf32).troubles,
              ElementsAre(testing::MatchesRegex(
                  "hangs in layout: hangs; on 1536 dot products, the first .*")));
  // Identity, all until it hangs, alone, zeros, all after it.
  EXPECT_EQ(processes, 5);
}

TEST_F(SurveyTest, WhatDiesOnceIsAskedAgainAndSaysSo) {
  bool died = false;
  faults = {{kTf32, [&](const Batch&, int) {
               if (!std::exchange(died, true)) throw Died("signal 7");
             }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(RowOf(summary, kTf32).troubles,
              ElementsAre("died once in layout, and answered when asked again"));
  EXPECT_EQ(RowOf(summary, kTf32).cases, 600u);
}

TEST_F(SurveyTest, ADeviceThatIsGoneEndsTheSurveyAndALaterOneGoesOn) {
  const std::string whole = Said(Survey("whole"));
  const int all = calls;
  for (const int last : {all / 8, all / 3, all - 2}) {
    const std::string folder = "gone" + std::to_string(last);
    calls = 0;
    faults = {{kBf16,
               [&](const Batch&, int call) {
                 if (call > last) throw Died("lost");
               }},
              {kTf32,
               [&](const Batch&, int call) {
                 if (call > last) throw Died("lost");
               }},
              {kFma, [&](const Batch&, int call) {
                 if (call > last) throw Died("lost");
               }}};
    gone = [&] { return calls > last; };
    const SurveyOutcome cut = Survey(folder);
    EXPECT_THAT(std::string(cut.device.message()), HasSubstr("gone: no such device")) << last;
    EXPECT_THAT(cut.missing, testing::Not(IsEmpty()));
    EXPECT_EQ(Summarize(cut).troubled, 0) << SurveyPage(Summarize(cut));
    faults.clear();
    gone = nullptr;
    EXPECT_TRUE(Said(Survey(folder)) == whole) << last;
  }
}

TEST_F(SurveyTest, ASurveyThatWasKilledEndsAsOneThatWasNot) {
  faults = {{.op = kBf16, .change = "fraction_bits=23"}, {.op = kTf32, .swap = true}};
  const std::string whole = Said(Survey("whole"));
  const std::string bytes = Get(SurveyLogPath(Path("whole")));
  std::filesystem::create_directory(Path("cut"));
  for (size_t i = 1; i < 8; ++i) {
    Put("cut/answers.log", bytes.substr(0, bytes.size() * i / 8));
    EXPECT_TRUE(Said(Survey("cut")) == whole) << i;
  }
}

TEST_F(SurveyTest, AChangeOfTheModelComesFirstWithItsMinimalCase) {
  faults = {{.op = kTf32, .swap = true}, {.op = kBf16, .change = "fraction_bits=23"}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  ASSERT_THAT(summary.contradictions, SizeIs(2));
  EXPECT_EQ(summary.changed, 1);
  EXPECT_EQ(summary.troubled, 1);
  const SurveyContradiction& first = summary.contradictions[0];
  EXPECT_EQ(first.op, kBf16);
  ASSERT_NE(first.finding, nullptr);
  EXPECT_EQ(first.finding->bucket, "aligned_term:fraction_bits=23");
  ASSERT_THAT(first.finding->cases, SizeIs(testing::Ge(1u)));
  EXPECT_THAT(summary.contradictions[1].what, StartsWith("another layout: "));
  const std::string page = SurveyPage(summary);
  EXPECT_LT(page.find("fraction_bits=23"), page.find("another layout"));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("echo '", first.finding->cases[0].line, "'")));
}

TEST_F(SurveyTest, AnswersThatDoNotRepeatAreSaid) {
  int flips = 0;
  faults = {{.op = kBf16}};
  faults[0].before = [&](const Batch&, int) {
    faults[0].change = ++flips % 2 ? "" : "fraction_bits=23";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(RowOf(summary, kBf16).troubles, ElementsAre(StartsWith("does not repeat: ")));
  EXPECT_EQ(RowOf(summary, kBf16).cases, 0u);
}

TEST_F(SurveyTest, AFullFolderEndsTheSurvey) {
  most_bytes = 20'000;
  const SurveyOutcome outcome = Survey();
  EXPECT_EQ(outcome.stopped_by, "folder full");
  EXPECT_THAT(outcome.missing, testing::Not(IsEmpty()));
  EXPECT_LT(std::filesystem::file_size(SurveyLogPath(Path("s"))), most_bytes);
}

// What one stage alone sees is a contradiction too: here raw answers of another strategy.
TEST_F(SurveyTest, RecordedAnswersAreComparedToo) {
  faults = {{.op = kFma}};
  faults[0].before = [&](const Batch& batch, int) {
    const bool bits = batch.stream.find(":bits.") != std::string::npos;
    faults[0].change = bits ? "output_rounding=toward_zero" : "";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(summary.contradictions, testing::Not(IsEmpty())) << SurveyPage(summary);
}

// Of cases that nothing but the digests asks about.
TEST_F(SurveyTest, RecordedDigestsAreComparedToo) {
  faults = {{.op = kFma}};
  faults[0].before = [&](const Batch& batch, int) {
    faults[0].change = batch.first > 2000 ? "output_rounding=toward_zero" : "";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  ASSERT_THAT(summary.contradictions, SizeIs(1)) << SurveyPage(summary);
  EXPECT_EQ(summary.contradictions[0].op, kFma);
  EXPECT_THAT(summary.contradictions[0].what,
              testing::MatchesRegex("[1-4] of the recorded digests differ"));
}

TEST_F(SurveyTest, AnotherDeviceInTheMiddleIsNoticed) {
  faults = {{kFma, [&](const Batch&, int call) {
               if (call > 40 && identity == "test") {
                 identity = "another";
                 throw Died("exchanged");
               }
             }}};
  const SurveyOutcome outcome = Survey();
  EXPECT_THAT(std::string(outcome.device.message()), HasSubstr("another device now: another"));
}

// It answers otherwise to whole executions alone, and only the first time.
TEST_F(SurveyTest, WhatDiffersOnceIsNoContradictionOfTheTables) {
  int left = 1;
  faults = {{.op = kBf16}};
  faults[0].before = [&](const Batch& batch, int) {
    const bool unit = batch.count > 1 && !batch.stream.empty() && left > 0;
    faults[0].change = unit && left-- > 0 ? "fraction_bits=23" : "";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(RowOf(summary, kBf16).troubles,
              Contains(HasSubstr("does not repeat: it did not differ when it was asked again")));
  for (const SurveyContradiction& c : summary.contradictions) EXPECT_EQ(c.finding, nullptr);
}

TEST_F(SurveyTest, OtherFoldersAreRefused) {
  Survey();
  Console console(Color::kNever, true);
  SurveyOptions options = {.folder = Path("s"),
                           .device = "test",
                           .seed = 2,
                           .cases = 600,
                           .patience = absl::ZeroDuration()};
  EXPECT_EQ(RunSurvey(options, Ask(), console).status().code(),
            absl::StatusCode::kFailedPrecondition);
  Put("file", "mine");
  options.folder = Path(".");
  EXPECT_EQ(RunSurvey(options, Ask(), console).status().code(),
            absl::StatusCode::kFailedPrecondition);
  options.folder = Path("new");
  options.globs = {"sm_90/*"};
  EXPECT_EQ(RunSurvey(options, Ask(), console).status().code(), absl::StatusCode::kNotFound);
  gone = [] { return true; };
  EXPECT_EQ(RunSurvey(options, Ask(), console).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace mmadiff
