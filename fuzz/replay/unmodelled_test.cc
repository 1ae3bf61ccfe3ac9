// Operations without a model: what is asked, recorded and told of them, and that no comparison is
// claimed.
#include <gmock/gmock.h>

#include <filesystem>

#include "corpus/list_files.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording.h"
#include "corpus/testing/folder.h"
#include "device/line_protocol.h"
#include "fuzz/ask/prober.h"
#include "fuzz/engine/engine.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/record/record.h"
#include "fuzz/replay/replay.h"
#include "fuzz/survey/compare.h"
#include "fuzz/testing/survey_fixture.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kName[] = "gfx1200/v_wmma_f32_16x16x16_fp8_fp8";

const Operation& Op() { return *FindUnmodelled(kName); }

// Exact sums, rounded once, where there is no model; `change` sees the results.
class SumsDevice : public Device {
 public:
  using Change = std::function<void(const Operation&, std::vector<uint64_t>&)>;
  explicit SumsDevice(Change change = {}) : change_(std::move(change)) {}

  std::string name() const override { return "sums"; }
  Identity identity() const override { return Identity::Named("exact sums"); }
  absl::Status Supports(const Operation& op) const override {
    return &op == &Op() || op.name == kFma ? absl::OkStatus() : absl::NotFoundError("no");
  }

 private:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    const Algorithm exact = {
        .family = Family::kExactSum, .terms = op.shape().k, .output_fraction_bits = 23};
    Simulate(IsModelled(op) ? op.model : WithAlgorithm(op, exact), batch, d);
    if (change_ && !IsModelled(op)) change_(op, d);
    return absl::OkStatus();
  }

  const Change change_;
};

void SwapFirstTwo(const Operation&, std::vector<uint64_t>& d) { std::swap(d[0], d[1]); }

class UnmodelledTest : public TestFolder {
 protected:
  absl::StatusOr<ProberOutcome> Probe(Device& device, const std::vector<const char*>& ids) {
    ProberOptions options = {{&Op()}, {}, TimeLimit(), Path("answers")};
    std::filesystem::create_directory(options.folder);
    for (const char* id : ids) options.questions.push_back(FindQuestion(id));
    answers_.clear();
    HostEngine engine(device);
    const auto add = [this](const Operation&, const ProbeAnswer& a) {
      answers_.push_back(
          absl::StrCat(a.question->id, ": ", a.decides, " (", Name(a.agreement), ")"));
    };
    return ProbeOperations(options, engine, add, console_);
  }

  void Record(std::vector<const Operation*> ops) {
    SumsDevice device;
    HostEngine engine(device);
    const RecordOptions options = {.ops = std::move(ops),
                                   .cases = 5,
                                   .strategy = &Strategies().front(),
                                   .max_bytes = 4'000'000,
                                   .limit = TimeLimit::After(absl::ZeroDuration()),
                                   .regressions = ""};
    const auto outcome = RecordFolder(options, engine, Path("out"), console_);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_THAT(outcome->dropped, IsEmpty());
  }

  ReplayOutcome Replay(const std::string& subject, Device* device = nullptr) {
    std::optional<HostEngine> engine;
    if (device != nullptr) engine.emplace(*device);
    const auto report = [](const ReplayReport& r) { ADD_FAILURE() << r.text; };
    const auto outcome =
        ReplaySubjects({.subjects = {subject}}, engine ? &*engine : nullptr, report, console_);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.value_or(ReplayOutcome());
  }

  SurveyOutcome Survey(const std::string& folder, const SumsDevice::Change& change = {}) {
    const StartProcess start = StartHere([&change](const std::string&) -> EngineOr {
      return std::make_unique<HostEngine>(std::make_unique<SumsDevice>(change));
    });
    SurveyOptions options = {.folder = Path(folder), .device = "sums", .cases = 100};
    options.globs = {kName, kFma};
    const auto outcome = RunSurvey(options, start, console_);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.value_or(SurveyOutcome());
  }

  Console console_{Color::kNever, /*quiet=*/true};
  std::vector<std::string> answers_;  // "QUESTION: what it decides (agreement)"
};

// The model decides no bit of a case.
TEST_F(UnmodelledTest, CasesAreThoseOfTheInstruction) {
  const Operation& own = *FindOperation(absl::StrCat(kName, ":exact_sum,terms=16"));
  ASSERT_EQ(own.instruction, Op().instruction);
  for (const Strategy& strategy : Strategies()) {
    Batch x, y;
    Generate({&Op(), &strategy}, 3, 100, x);
    Generate({&own, &strategy}, 3, 100, y);
    EXPECT_EQ(x.a, y.a);
    EXPECT_EQ(x.b, y.b);
    EXPECT_EQ(x.c, y.c);
  }
  EXPECT_FALSE(ParseCaseName(std::string(kName) + "@g3:1:0").ok());
  EXPECT_TRUE(ParseCaseName(std::string(kName) + "@g3:1:0", Models::kOptional).ok());
}

TEST_F(UnmodelledTest, LayoutAndRepetitionAreAskedAndAllElseIsOpen) {
  SumsDevice device;
  const auto outcome = Probe(device, {"layout", "repeat", "width", "model", "payloads", "pairs"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->dropped, IsEmpty());
  const std::string open = ": the tables have no model (open)";
  EXPECT_THAT(answers_,
              ElementsAre("layout: agrees (agrees)", "repeat: agrees (agrees)", "width" + open,
                          "model" + open, "payloads" + open, "pairs" + open));
  const ReplayOutcome replayed = Replay(Path("answers"));
  EXPECT_EQ(replayed.unmodelled, 16u);  // those to `repeat`
  EXPECT_EQ(replayed.answered(), 0u);
  EXPECT_FALSE(replayed.damaged);
}

TEST_F(UnmodelledTest, AnotherLayoutAndAnswersThatChangeAreSeen) {
  SumsDevice swapped(SwapFirstTwo);
  auto outcome = Probe(swapped, {"layout", "repeat"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->dropped, SizeIs(1));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(answers_[0], HasSubstr("(contradicts)"));
  int calls = 0;
  SumsDevice changing([&](const Operation&, std::vector<uint64_t>& d) { d[5] ^= ++calls % 2; });
  outcome = Probe(changing, {"repeat"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(answers_, IsEmpty());
  ASSERT_THAT(outcome->dropped, SizeIs(1));
  EXPECT_EQ(outcome->dropped[0].cause, DropCause::kDoesNotRepeat);
  EXPECT_THAT(*FilesBelow(Path("answers")), IsEmpty());
}

TEST_F(UnmodelledTest, WhatIsRecordedIsCountedAndNotCompared) {
  const uint64_t raw = Strategies().size() * 5 * Op().shape().d_words();
  Record({FindOperation(kFma), &Op()});
  SumsDevice device;
  for (Device* asked : {static_cast<Device*>(nullptr), static_cast<Device*>(&device)}) {
    const ReplayOutcome outcome = Replay(Path("out"), asked);
    EXPECT_EQ(outcome.unmodelled, raw);
    EXPECT_EQ(outcome.unmodelled_units, 1u);
    EXPECT_THAT(outcome.unmodelled_ops, ElementsAre(kName));
    EXPECT_EQ(outcome.repeated, asked == nullptr ? 0 : raw);
    EXPECT_EQ(outcome.repeated_units, asked == nullptr ? 0u : 1u);
    EXPECT_EQ(outcome.changed + outcome.changed_units, 0u);
    EXPECT_GT(outcome.compared, 0u);
    EXPECT_EQ(outcome.units, 1u);
    EXPECT_EQ(outcome.differing + outcome.differing_units + outcome.unsupported, 0u);
    EXPECT_FALSE(outcome.damaged);
    for (const auto& [who, tally] : outcome.tallies) EXPECT_THAT(tally.ops, ElementsAre(kFma));
  }
}

// Bit for bit, but for digests also of a NaN; and nothing of it is a comparison with a model.
TEST_F(UnmodelledTest, ADeviceThatAnswersOtherwiseNowIsSeen) {
  Record({&Op()});
  for (const bool nans : {true, false}) {
    SumsDevice device([nans](const Operation& op, std::vector<uint64_t>& d) {
      for (uint64_t& word : d) word ^= IsNan(op.model.d, word) == nans;
    });
    HostEngine engine(device);
    std::vector<std::string> reports;
    const auto report = [&](const ReplayReport& r) { reports.push_back(r.text); };
    const auto outcome = ReplaySubjects({.subjects = {Path("out")}}, &engine, report, console_);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_GT(outcome->repeated, outcome->changed);
    EXPECT_GT(outcome->changed, 0u);
    EXPECT_EQ(outcome->changed_units, nans ? 0u : 1u);
    EXPECT_EQ(outcome->answered() + outcome->compared + outcome->differing, 0u);
    ASSERT_THAT(reports, testing::Not(IsEmpty()));
    EXPECT_THAT(reports[0], testing::StartsWith(absl::StrCat("CHANGED ", kName)));
  }
}

TEST_F(UnmodelledTest, ARecordingOfNothingElseIsNoPass) {
  Record({&Op()});
  SumsDevice device;
  for (Device* asked : {static_cast<Device*>(nullptr), static_cast<Device*>(&device)}) {
    const ReplayOutcome outcome = Replay(Path("out"), asked);
    EXPECT_EQ(outcome.answered(), 0u);
    EXPECT_EQ(outcome.compared, 0u);
    EXPECT_GT(outcome.unmodelled, 0u);
  }
}

TEST_F(UnmodelledTest, DigestsAreThoseOfTheAnswers) {
  Record({&Op()});
  SumsDevice device;
  int units = 0;
  const auto damage = VerifyDigests(Path("out"), {}, [&](const RecomputedUnit& unit) {
    ++units;
    EXPECT_FALSE(unit.model.has_value());
    EXPECT_EQ(unit.recorded, *AnswerDigest(unit.stream, unit.first, unit.cases, &device));
    return absl::OkStatus();
  });
  ASSERT_TRUE(damage.ok()) << damage.status();
  EXPECT_THAT(*damage, IsEmpty());
  EXPECT_EQ(units, 1);
}

TEST_F(UnmodelledTest, ARecordingAnswersAgain) {
  Record({&Op()});
  const DeviceOr recorded = OpenRecorded(Path("out"));
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  Batch batch;
  Generate({&Op(), &Strategies().back()}, 1, 4, batch);
  SumsDevice device;
  const auto d = (*recorded)->Run(Op(), batch), e = device.Run(Op(), batch);
  ASSERT_TRUE(d.ok() && e.ok()) << d.status();
  EXPECT_EQ(*d, *e);
}

// Whose operation is said by a comment, by the name of the file or by the caller.
TEST_F(UnmodelledTest, LinesOfIt) {
  Batch batch;
  Generate({&Op(), &Strategies().front()}, 0, 1, batch);
  const std::string line = FormatLine(*Op().instruction, Extract(batch, 7), 0x12345678) + "\n";
  const std::string comment = absl::StrCat("# instruction: ", kName, "\n");
  EXPECT_EQ(Replay(Put("lines", comment + line)).unmodelled, 1u);
  EXPECT_EQ(Replay(Put("gfx1200.R9700.v_wmma_f32_16x16x16_fp8_fp8.txt", line)).unmodelled, 1u);
  const auto read = ReadRecordings(Put("x", line), kName, [](const Recording& r) {
    EXPECT_EQ(r.op, &Op());
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok()) << read.status();
}

TEST_F(UnmodelledTest, ASurveyHasItsRow) {
  const SurveyOutcome outcome = Survey("s");
  EXPECT_THAT(outcome.missing, IsEmpty());
  int stages = 0;
  for (const SurveyResult& result : outcome.results) {
    if (result.task.op != kName) continue;
    ++stages;
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_THAT((std::vector{SurveyStage::kLayout, SurveyStage::kRepeat, SurveyStage::kQuestions,
                             SurveyStage::kRecording}),
                Contains(result.task.stage));
  }
  EXPECT_EQ(stages, 4);
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(summary.contradictions, IsEmpty());
  ASSERT_THAT(summary.rows, SizeIs(2));
  const SurveyRow& row = summary.rows[0].op == kName ? summary.rows[0] : summary.rows[1];
  EXPECT_FALSE(row.modelled);
  EXPECT_EQ(row.recorded, "yes");
  EXPECT_EQ(row.layout + row.repeat, "agreesagrees");
  EXPECT_THAT(
      SurveyPage(summary),
      HasSubstr(absl::StrCat("| ", kName, " | agrees | agrees | no model | - | - | - | yes |")));
  EXPECT_THAT(JsonText(JsonOf(summary), 1), HasSubstr("\"modelled\": false"));
  std::string note;
  ASSERT_TRUE(WriteSurveyFiles(Path("s"), summary, note).ok());
  const ReplayOutcome replayed = Replay(Path("s/recording"));
  EXPECT_THAT(replayed.unmodelled_ops, ElementsAre(kName));
  EXPECT_GT(replayed.unmodelled, 1000u);
  EXPECT_EQ(replayed.unmodelled_units, 4u);
  EXPECT_GT(replayed.compared, 1000u);
}

// Bit for bit: no table says that the bits of a NaN do not count.
TEST_F(UnmodelledTest, TwoSurveysAreCompared) {
  Survey("x");
  Survey("same");
  Survey("nans", [](const Operation& op, std::vector<uint64_t>& d) {
    for (uint64_t& word : d) word ^= IsNan(op.model.d, word);
  });
  const auto same = CompareSurveys(Path("x"), Path("same"));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_THAT(same->rows, IsEmpty());
  const auto other = CompareSurveys(Path("x"), Path("nans"));
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_THAT(other->rows, SizeIs(1));
  EXPECT_EQ(other->rows[0].op, kName);
  EXPECT_GT(other->rows[0].differing, 0u);
  EXPECT_THAT(other->rows[0].line, testing::Not(IsEmpty()));
  // Of a recording alone: its cases are named, and the line is made of them.
  Survey("raw", [](const Operation&, std::vector<uint64_t>& d) {
    if (d.size() == 256 * 256) d[1000] ^= 1;
  });
  const auto raw = CompareSurveys(Path("x"), Path("raw"));
  ASSERT_TRUE(raw.ok()) << raw.status();
  ASSERT_THAT(raw->rows, SizeIs(1));
  EXPECT_THAT(raw->rows[0].line, testing::Not(IsEmpty()));
}

TEST(UnmodelledDeathTest, NothingIsCompared) {
  Batch batch;
  Generate({&Op(), &Strategies().front()}, 0, 1, batch);
  const std::vector<uint64_t> d(batch.dot_products());
  const char* const why = "an operation without a model cannot be simulated";
  EXPECT_DEATH(Compare(Op(), batch, d), why);
  EXPECT_DEATH(Gives(Op(), Op().model, Extract(batch, 0), 0), why);
  SumsDevice device;
  HostEngine engine(device);
  UnitResult result;
  const auto found = [](const CaseName&, const Mismatch&) { return Next::kGoOn; };
  EXPECT_DEATH(engine.Run({&Op(), &Strategies().front()}, 0, 1, result, found).IgnoreError(), why);
}

}  // namespace
}  // namespace mmadiff
