// What becomes of the mismatches of a run.
#include "corpus/case_folder.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST_F(RunTest, AFindingThatCannotBeFiledIsNoDeviceFailure) {
  RunOptions options = Options("w");
  std::filesystem::create_directories(options.workdir);
  Put("w/findings", "a file where the folder must be");
  const RunReport outcome = Run(options, "faulty:output_rounding=up");
  EXPECT_EQ(outcome.attempt->durable.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(outcome.attempt->device.ok()) << outcome.attempt->device;
  EXPECT_GT(outcome.rows[0].total.mismatches, 0u);
  EXPECT_FALSE(outcome.rows[0].finished);
}

// ---- Faults of the device

// Some tiles of a changed alignment rounding look like other changes too; the bucket is narrowed to
// what explains all its cases, filed under that, and nothing of the first guess stays.
TEST_F(RunTest, EveryOperationOfAChangedParameterIsOneBucket) {
  std::vector<const Operation*> ops;
  for (const Operation* op : SmallestOperations()) {
    const Algorithm& algorithm = op->model.algorithm;
    // Each of the faults is one of their neighbours.
    if (algorithm.family == Family::kFusedSum && algorithm.fraction_bits == 24) {
      ops.push_back(op);
    }
  }
  ASSERT_GT(ops.size(), 5u);
  for (const char* fault : {"align_rounding=down", "output_rounding=up", "fraction_bits=25"}) {
    RunOptions options = Options(fault);
    options.ops = ops;
    options.cases = 2000;
    const RunReport outcome = Run(options, absl::StrCat("faulty:", fault));
    EXPECT_EQ(outcome.findings.size(), ops.size()) << fault;
    for (const Finding& finding : outcome.findings) {
      EXPECT_THAT(Name(finding.bucket), testing::EndsWith(fault)) << finding.op;
      EXPECT_EQ(finding.cases, 20u) << finding.op << " " << fault;
      EXPECT_THAT(finding.path, HasSubstr(Name(finding.bucket).substr(0, 5)));
    }
    size_t files = 1;  // the manifest
    for (const Finding& finding : outcome.findings) files += 1 + finding.beside.size();
    EXPECT_THAT(Files(options.workdir, ".txtpb"), SizeIs(files));
  }
}

TEST_F(RunTest, OneChangedParameterIsOneBucket) {
  RunOptions options = Options("w", {kHopper});
  options.cases = 4000;
  options.max_mismatches = 0;
  options.threads = 2;
  const RunReport outcome = Run(options, "faulty:fraction_bits=24");
  ASSERT_THAT(outcome.findings, SizeIs(1));
  const Finding& finding = outcome.findings[0];
  EXPECT_THAT(Name(finding.bucket), HasSubstr("fraction_bits=24"));
  EXPECT_FALSE(finding.flaky());
  EXPECT_EQ(finding.op, kHopper);
  EXPECT_GT(finding.cases, 100u);
  EXPECT_TRUE(ParseCaseName(finding.case_name).ok()) << finding.case_name;
  EXPECT_TRUE(outcome.rows[0].finished);
  EXPECT_GT(outcome.rows[0].total.mismatches, 1000u);
  EXPECT_FALSE(outcome.rows[0].total.device_digest == outcome.rows[0].total.model_digest);

  // The filed case holds the minimum: one dot product of two terms, both answers.
  ASSERT_THAT(Files(options.workdir, ".txtpb"), SizeIs(2 + finding.beside.size()));
  const auto filed = ReadCase(finding.path);
  ASSERT_TRUE(filed.ok()) << filed.status();
  EXPECT_EQ(filed->inputs.shape, DotProductShape(FindOperation(kHopper)->shape()));
  EXPECT_EQ(Name(filed->bucket), Name(finding.bucket));
  EXPECT_EQ(filed->source, finding.case_name);
  ASSERT_THAT(filed->answers, SizeIs(2));
  EXPECT_EQ(filed->answers[0].device, "faulty:fraction_bits=24");
  EXPECT_THAT(filed->answers[1].device, StartsWith("model"));
  EXPECT_NE(filed->answers[0].d, filed->answers[1].d);
  int nonzero = filed->inputs.c[0] != 0;
  for (const uint64_t word : filed->inputs.a) nonzero += word != 0;
  EXPECT_EQ(nonzero, 2);
}

// The bits of this minimal case are part of the promise: the same on every machine.
TEST_F(RunTest, TheMinimalCaseDoesNotDependOnThreads) {
  std::vector<std::string> names;
  for (const int threads : {1, 3}) {
    RunOptions options = Options("t" + std::to_string(threads), {kHopper});
    options.cases = 1000;  // one unit: the first mismatch is found by one thread
    options.threads = threads;
    const RunReport outcome = Run(options, "faulty:fraction_bits=24");
    ASSERT_THAT(outcome.findings, SizeIs(1));
    names.push_back(std::filesystem::path(outcome.findings[0].path).filename().string());
  }
  EXPECT_EQ(names[0], names[1]);
}

TEST_F(RunTest, AWrongLaneIsAMismatchInItsTile) {
  RunOptions options = Options("w");
  const RunReport outcome = Run(options, "faulty:wrong_lane=5");
  ASSERT_FALSE(outcome.findings.empty());
  for (const Finding& f : outcome.findings) EXPECT_FALSE(f.flaky()) << Name(f.bucket);
  const auto filed = ReadCase(outcome.findings[0].path);
  ASSERT_TRUE(filed.ok());
  EXPECT_EQ(filed->inputs.shape, FindOperation(kMma)->shape());
  const int64_t element = IndexOf(filed->inputs.shape, filed->position);
  EXPECT_TRUE(element == 5 || element == 6) << element;
}

TEST_F(RunTest, AResumedRunListsWhatItsFolderHas) {
  RunOptions options = Options("w");
  options.max_mismatches = 0;
  options.cases = 2000;
  const RunReport first = Run(options, "faulty:fraction_bits=23");
  ASSERT_FALSE(first.findings.empty());
  const RunReport again = Run(options, "faulty:fraction_bits=23");
  std::set<std::string> filed, listed;
  for (const Finding& f : first.findings) filed.insert(f.path);
  for (const Finding& f : again.findings) {
    listed.insert(f.path);
    EXPECT_EQ(f.cases, 0u);
    EXPECT_EQ(f.op, kMma);
    EXPECT_EQ(f.bucket, ReadCase(f.path)->bucket);
  }
  EXPECT_EQ(listed, filed);
  const std::string report = FormatReport(again);
  EXPECT_THAT(report, HasSubstr("from an earlier attempt  " + first.findings[0].path));
  EXPECT_THAT(
      report,
      HasSubstr(
          "note: all results are from earlier attempts (1 of 1 units), no unit was executed"));
  EXPECT_THAT(FormatReport(first), testing::Not(HasSubstr("no unit was executed")));
  // A finding that cannot be read is no finding less.
  std::ofstream(first.findings[0].path) << "instruction: 7";
  EXPECT_TRUE(Run(options, "faulty:fraction_bits=23").attempt->damaged_findings);
}

// Mismatches that were filed and do not come again are no pass; nor is another run's finding.
TEST_F(RunTest, FiledMismatchesThatDoNotComeAgain) {
  class Changing : public Scripted {
   public:
    explicit Changing(bool wrong)
        : Scripted([](int64_t) { return absl::OkStatus(); }), wrong_(wrong) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(op, batch, d);
      if (wrong_ && !d.empty()) d[0] ^= 1;
      return s;
    }
    const bool wrong_;
  };
  const auto of = [](bool wrong) {
    return [wrong]() -> DeviceOr { return std::make_unique<Changing>(wrong); };
  };
  RunOptions options = Options("w");
  options.max_mismatches = 1;  // the unit is not done
  ASSERT_FALSE(Run(options, of(true)).findings.empty());
  // The device has changed, also if somebody knows why.
  EXPECT_TRUE(absl::IsAborted(Run(options, of(false)).rows[0].dropped));
  for (const std::string& path : Files(Path("w/findings"), ".txtpb")) {
    RegressionCase fixed = *ReadCase(path);
    if (!IsFinding(fixed)) continue;
    fixed.state = FindingState::kFixed;
    fixed.moved_by = ParseMovedBy("faulty:none=0");
    ASSERT_TRUE(RewriteCase(path, fixed).ok());
  }
  EXPECT_TRUE(absl::IsAborted(Run(options, of(false)).rows[0].dropped));
  // Where no answer is stored but in findings, those that are fixed are not asked.
  for (const std::string& log : Files(Path("w"), ".log")) std::filesystem::remove(log);
  const RunReport fixed = Run(options, of(false));
  EXPECT_TRUE(fixed.rows[0].dropped.ok()) << fixed.rows[0].dropped;
  EXPECT_FALSE(Unrepeated(fixed));
  RunOptions other = Options("v");
  other.seed = 2;
  ASSERT_FALSE(Unrepeated(Run(other, of(false))));
  std::filesystem::copy(Path("w/findings"), Path("v/findings"),
                        std::filesystem::copy_options::recursive);
  const RunReport foreign = Run(other, of(false));
  EXPECT_TRUE(foreign.attempt->damaged_findings);
  EXPECT_THAT(foreign.findings, IsEmpty());
}

// A recording has no answers to smaller cases: what differs in it is filed all the same.
TEST_F(RunTest, WhatWasFixedAndComesAgainIsRegressed) {
  RunOptions options = Options("w", {kHopper});
  const RunReport first = Run(options, "faulty:fraction_bits=24");
  ASSERT_THAT(first.findings, SizeIs(1));
  EXPECT_EQ(first.findings[0].state, FindingState::kOpen);
  for (const std::string& path : Files(Path("w/findings"), ".txtpb")) {
    RegressionCase fixed = *ReadCase(path);
    fixed.state = FindingState::kFixed;
    ASSERT_TRUE(RewriteCase(path, fixed).ok());
  }
  for (const std::string& log : Files(Path("w"), ".log")) std::filesystem::remove(log);
  const RunReport again = Run(options, "faulty:fraction_bits=24");
  ASSERT_THAT(again.findings, SizeIs(1));
  EXPECT_EQ(again.findings[0].state, FindingState::kRegressed);
}

TEST_F(RunTest, AMismatchOfARecordingIsFiled) {
  const RunOptions options = Options("w");
  const DeviceOr faulty = OpenDevice("faulty:fraction_bits=22");
  const CaseStream stream = {options.ops[0], options.strategy, options.seed};
  Batch batch;
  Generate(stream, 0, 2048, batch);
  const auto d = (*faulty)->Run(*stream.op, batch);
  ASSERT_TRUE(d.ok());
  auto writer = RecordingWriter::Create(Path("a.log"));
  ASSERT_TRUE(writer.ok() && (*writer)->Append(*stream.op, batch, *d, "a chip").ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  const RunReport outcome = Run(options, "recorded:" + Path("a.log"));
  EXPECT_TRUE(outcome.attempt->device.ok()) << outcome.attempt->device;
  EXPECT_TRUE(outcome.rows[0].stopped());
  ASSERT_FALSE(outcome.findings.empty());
  for (const Finding& f : outcome.findings) {
    EXPECT_FALSE(f.flaky());
    const auto filed = ReadCase(f.path);
    ASSERT_TRUE(filed.ok()) << filed.status();
    EXPECT_EQ(filed->answers[0].identity, "a chip");
    // What is filed is what the recorded device says to these operands.
    EXPECT_EQ(filed->answers[0].d, *(*faulty)->Run(*filed->op, filed->inputs)) << f.path;
  }
}

// A name that later answers refute goes, whichever attempt filed it.
TEST_F(RunTest, ALaterAttemptRefutesTheNameOfAnEarlierOne) {
  // One parameter changed in the first attempt; two, of which the second shows seldom, in the next.
  class Deeper : public Scripted {
   public:
    explicit Deeper(bool second)
        : Scripted([](int64_t) { return absl::OkStatus(); }), second_(second) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      Model model = op.model;
      model.algorithm.fraction_bits -= 1;
      if (second_) model.algorithm.output_subnormals = Subnormals::kFlush;
      d.resize(batch.dot_products());
      Simulate(model, batch, d);
      return absl::OkStatus();
    }
    const bool second_;
  };
  RunOptions options = Options("w", {kHopper});
  options.max_mismatches = 3;
  const auto open = [](bool second) {
    return [second]() -> DeviceOr { return std::make_unique<Deeper>(second); };
  };
  RunReport outcome = Run(options, open(false));
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_EQ(Name(outcome.findings[0].bucket), "aligned_term:fraction_bits=24");
  const std::string path = outcome.findings[0].path;
  // Killed before anything was stored but the finding, by which the two devices are one.
  for (const std::string& log : Files(Path("w"), ".log")) std::filesystem::remove(log);
  outcome = Run(options, open(true));
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_EQ(Name(outcome.findings[0].bucket),
            "aligned_term:fraction_bits=24 output_subnormals=flush");
  EXPECT_FALSE(ReadCase(path).ok());
  // A few filed cases do not stand for a sample: 128 of the mismatch and 512 more were asked.
  int answers = 0;
  ASSERT_EQ(sscanf(outcome.findings[0].diagnosis.c_str(), "%*s %*s reproduces all %d", &answers), 1)
      << outcome.findings[0].diagnosis;
  EXPECT_GE(answers, 640);
}

// What nothing explains is one bucket, with a case for each way in which it differs.
TEST_F(RunTest, EveryWayInWhichAnUnexplainedDeviceDiffersIsFiled) {
  class TwoBugs : public Scripted {
   public:
    TwoBugs() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(op, batch, d);
      for (uint64_t& word : d)
        word = word % 331 == 5 ? 0x7f800000 : word % 3 == 0 ? word ^ 4 : word;
      return s;
    }
  };
  RunOptions options = Options("w");
  options.max_mismatches = 0;
  options.cases = 300;
  const RunReport outcome = Run(options, []() -> DeviceOr { return std::make_unique<TwoBugs>(); });
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_EQ(Name(outcome.findings[0].bucket), "unexplained");
  EXPECT_GT(outcome.findings[0].reports, 1u);
  int infinities = 0;
  for (const std::string& path : Files(options.workdir, ".txtpb")) {
    const auto c = ReadCase(path);
    if (!c.ok()) continue;  // the manifest
    const std::vector<uint64_t>& d = c->answers[0].d;
    infinities += std::ranges::count(d, 0x7f800000) > 0 &&
                  std::ranges::count(c->answers[1].d, 0x7f800000) == 0;
  }
  EXPECT_GT(infinities, 0);
}

TEST_F(RunTest, EveryMismatchingCaseIsInABucket) {
  RunOptions options = Options("w");
  options.max_mismatches = 0;
  options.cases = 4000;
  const RunReport outcome = Run(options, "faulty:fraction_bits=23");
  uint64_t cases = 0, differing = 0;
  for (const Finding& f : outcome.findings) cases += f.cases;
  const CaseStream stream = {options.ops[0], options.strategy, options.seed};
  const DeviceOr device = OpenDevice("faulty:fraction_bits=23");
  UnitResult all;
  const auto count = [&differing](const CaseName&, const Mismatch&) {
    ++differing;
    return Next::kGoOn;
  };
  ASSERT_TRUE(UnitRunner(**device, stream).Run(0, options.cases, all, count).ok());
  EXPECT_GT(differing, 1000u);
  EXPECT_EQ(cases, differing);
}

}  // namespace
}  // namespace mmadiff
