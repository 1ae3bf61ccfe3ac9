// What a run says at its end, and what makes it incomplete.

#include "fuzz/coverage/bins.h"
#include "fuzz/output/numeric_order.h"
#include "fuzz/report/run_fields.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

TEST(NumericOrder, NumbersCountAndNotTheirDigits) {
  const std::map<std::string, uint64_t> counts = {
      {"ulp.129..256", 1}, {"ulp.2", 2}, {"ulp.special", 3}, {"ulp.17..32", 4}, {"class.k", 5}};
  std::vector<std::string> names;
  for (const auto& [name, count] : InNumericOrder(counts)) names.push_back(name);
  EXPECT_THAT(
      names, testing::ElementsAre("class.k", "ulp.2", "ulp.17..32", "ulp.129..256", "ulp.special"));
  EXPECT_FALSE(NumericLess("a07", "a7") || NumericLess("a7", "a07"));
  EXPECT_TRUE(NumericLess("a", "a0") && NumericLess("9", "18446744073709551616"));
}

using testing::HasSubstr;
using testing::StartsWith;

void FillWithZeros(const Tile& t, Random&) {
  for (int i = 0; i < t.rows() * t.k(); ++i) t.a[i] = 0;
  for (int i = 0; i < t.columns() * t.k(); ++i) t.b[i] = 0;
  for (int i = 0; i < t.results(); ++i) t.c[i] = 0;
}
constexpr InputClass kZeros = {"zeros", "nothing but zeros", FillWithZeros};
constexpr Strategy kBlind = {
    "blind", "cannot find anything", StrategyKind::kBits,
    [](const Instruction&, int, uint64_t) -> const InputClass& { return kZeros; }};

TEST_F(RunTest, AGeneratorThatCannotFindThePlantedFaultFails) {
  RunOptions options = Options("w");
  options.strategy = &kBlind;
  const RunReport outcome = Run(options);
  const absl::Status& status = outcome.rows[0].dropped;
  EXPECT_EQ(outcome.attempt->dot_products, 0u);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("was not found in 4096 cases"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(Name(Neighbours(options.ops[0]->model)[0])));
}

TEST_F(RunTest, WhatIsNotPromisedIsNotCompared) {
  RunOptions options = Options("w");
  options.cases = 3;
  EXPECT_THAT(FormatReport(Run(options)), Not(HasSubstr("NaNs")));
  options.ops = {FindOperation("sm_80/mma.m8n8k4.f64.f64.f64.f64")};
  options.workdir = Path("f64");
  EXPECT_THAT(FormatReport(Run(options)),
              HasSubstr("model published, bits of NaNs not compared, incomplete\n"));
}

// The report of the same run with the row's result in place of its own.
RunReport With(const RunReport& report, const UnitResult& total) {
  RunReportBuilder builder(report.manifest);
  builder.AddShard(report.manifest, report.folders[0]);
  builder.row(0).total = total;
  builder.row(0).finished = report.rows[0].finished;
  return std::move(builder).Finish(report.attempt);
}

TEST_F(RunTest, ClassesWithoutACaseAreReported) {
  RunOptions options = Options("w");
  options.cases = 3;  // bits, band, cancel
  const RunReport outcome = Run(options);
  const std::vector<std::string> empty = outcome.rows[0].empty_classes;
  EXPECT_EQ(empty.size(), BoundaryClasses(*options.ops[0]->instruction).size() - 2);
  EXPECT_EQ(empty.front(), "tie");
  const std::string text = FormatReport(outcome);
  EXPECT_THAT(text, HasSubstr("model published, incomplete\n"));
  EXPECT_THAT(text, HasSubstr("incomplete: 1 instruction had too few cases for many situations"));
  EXPECT_EQ(ThinRows(outcome).size(), 1);
  EXPECT_EQ(ThinRows(With(outcome, {})).size(), 1);
}

// Of all bins but a few the few are named.
TEST_F(RunTest, ThinBinsAreReported) {
  RunOptions options = Options("w");
  const RunReport whole = Run(options);
  UnitResult total = whole.rows[0].total;
  const std::vector<Bin> bins = BinsOf(whole.rows[0].op->model);
  total.coverage.assign(bins.size(), 100);
  EXPECT_THAT(ThinRows(With(whole, total)), testing::IsEmpty());
  EXPECT_THAT(FormatReport(With(whole, total)), testing::Not(HasSubstr("incomplete")));
  size_t thin = 0;
  for (size_t b = 0; b < bins.size() && thin < 6; ++b) {
    total.coverage[b] = 3;  // one fewer than is wanted
    thin += bins[b].unreachable.empty();
  }
  EXPECT_THAT(
      FormatReport(With(whole, total)),
      HasSubstr("incomplete: " + std::string(kMma) +
                " has too few cases for 6 situations in the arithmetic (bins): a/+0/k0, a/+0/k1, "
                "a/+0/k2, a/+0/k3 and 2 more\n"));
  total.mismatches = 1;
  EXPECT_THAT(ThinRows(With(whole, total)), testing::IsEmpty());
}

TEST_F(RunTest, EveryCaseHasAClassAndOneInThirteenIsTraced) {
  const RunReport outcome = Run(Options("w"));
  uint64_t classes = 0;
  for (const auto& [name, count] : outcome.rows[0].total.counts) {
    if (absl::StartsWith(name, "class.")) classes += count;
  }
  EXPECT_EQ(classes, 9000u);
  EXPECT_EQ(outcome.rows[0].total.counts.at("event.sampled"), 693u);  // ceil(9000 / 13)
  EXPECT_GT(outcome.rows[0].total.counts.at("event.tie"), 10u);
}

// ---- Reports

TEST_F(RunTest, ReportsOfACleanRun) {
  RunOptions options = Options("w", {kMma, kInteger});
  options.cases = 1000;
  const RunReport outcome = Run(options);
  const std::string text = FormatReport(outcome) + FormatStats(outcome);
  for (const char* line :
       {"stat::cases: 2000\n", "stat::dot_products: 144000\n", "stat::mismatches: 0\n",
        "stat::flaky: 0\n", "stat::buckets: 0\n", "stat::resumed_units: 0\n",
        "stat::class.bits: 500\n", "rate < 2.3e-05, model published"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, HasSubstr("stat::digest: " + outcome.digest + "\n"));
  const auto json = JsonOf(outcome);
  EXPECT_EQ(json["cases"], 2000);
  EXPECT_EQ(json["digest"], outcome.digest);
  EXPECT_EQ(json["instructions"].size(), 2u);
  EXPECT_EQ(json["instructions"][1]["instruction"], kInteger);
  EXPECT_EQ(json["instructions"][1]["counts"]["class.bits"], 250);
  EXPECT_TRUE(json["findings"].empty());
}

// A line for each bucket; what to type next is of all of them.
TEST_F(RunTest, TheScreenOfSeveralBuckets) {
  RunReport report;
  report.folders = {"w"};
  report.attempt.emplace();
  const auto screen = [&] { return FormatScreen(report, {}, {.width = 80}); };
  const auto add = [&](const char* op, const std::string& bucket) {
    Finding& finding = report.findings.emplace_back();
    finding.op = op;
    finding.bucket = ParseBucket(Family::kFusedSum, bucket);
    finding.path = "w/findings/one.txtpb";
    finding.cases = 3;
  };
  add(kHopper, "bucket0");
  EXPECT_THAT(screen(), HasSubstr("next     ./mmadiff explain w/findings/one.txtpb\n"));
  report.findings[0].reports = 2;  // of things that no change explains together
  EXPECT_THAT(screen(), HasSubstr("next     ./mmadiff explain w/findings\n"));
  EXPECT_THAT(screen(), HasSubstr("         bucket0, 3 mismatching cases in 2 reports\n"));
  report.findings[0].bucket.repetition = Repetition::kFlaky;
  report.findings[0].device = "exec:a b";
  EXPECT_THAT(
      screen(),
      HasSubstr("         flaky:bucket0, 3 mismatching cases in 2 reports\nfiled    w/findings\n"
                "next     ./mmadiff replay w/findings --device='exec:a b'\n"));
  report.findings.clear();
  for (int i = 0; i < 4; ++i) add(kHopper, absl::StrCat("bucket", i));
  for (int i = 4; i < 12; ++i) add(kMma, absl::StrCat("bucket", i));
  EXPECT_THAT(
      screen(),
      HasSubstr(absl::StrCat(
          "differs  ", kHopper,
          "\n         bucket0, 3 mismatching cases\n         bucket1, 3 mismatching cases\n"
          "         bucket2, 3 mismatching cases\n         bucket3, 3 mismatching cases\ndiffers  ",
          kMma,
          "\n         bucket4, 3 mismatching cases\n         and 7 more in w/findings\n"
          "filed    w/findings\nnext     ./mmadiff explain w/findings\n")));
}

// A parameter explains nothing, but the device does.
TEST_F(RunTest, AReasonIsNotUnexplained) {
  RunReport report;
  report.folders = {"w"};
  report.attempt.emplace();
  Finding& finding = report.findings.emplace_back();
  finding.op = kHopper;
  finding.bucket = Bucket::Unexplained();
  finding.cases = 3;
  EXPECT_THAT(FormatScreen(report, {}, {.width = 80}), HasSubstr("unexplained, 3"));
  finding.diagnosis = "no change of one parameter reproduces all 9 answers";
  EXPECT_THAT(FormatScreen(report, {}, {.width = 80}), HasSubstr("         no change of one"));
  finding.reason = "FADD reads another register";
  const std::string screen = FormatScreen(report, {}, {.width = 80});
  EXPECT_THAT(screen, HasSubstr("         machine code, 3 mismatching cases\nreason   FADD reads"));
  EXPECT_THAT(FormatReport(report), HasSubstr("  machine code  3 mismatching cases"));
  EXPECT_THAT(screen + FormatReport(report),
              testing::Not(testing::AnyOf(HasSubstr("unexplained"), HasSubstr("no change"))));
}

TEST_F(RunTest, EmulatedInstructionsAreNoted) {
  RunOptions options = Options("w", {kHopper, "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32"});
  options.cases = 100;
  const RunReport outcome = Run(options, Opener([](int64_t) { return absl::OkStatus(); }));
  EXPECT_THAT(FormatReport(outcome), HasSubstr("note: 1 of 2 instructions is emulated"));
  const auto json = JsonOf(outcome);
  EXPECT_EQ(json["instructions"][0]["emulated"], false);
  EXPECT_EQ(json["instructions"][1]["emulated"], true);
  const RunOptions one = Options("one", {"sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32"});
  EXPECT_THAT(FormatReport(Run(one, Opener([](int64_t) { return absl::OkStatus(); }))),
              HasSubstr("note: 1 instruction is emulated: ptxas makes several machine instructions "
                        "of it"));
  const RunOptions native = Options("native", {kHopper});
  EXPECT_THAT(FormatReport(Run(native)), testing::Not(HasSubstr("emulated")));
}

TEST_F(RunTest, ReportsOfMismatches) {
  RunOptions options = Options("w", {kHopper});
  const RunReport outcome = Run(options, "faulty:fraction_bits=24");
  EXPECT_THAT(FormatReport(outcome), HasSubstr("the device differs from the model"));
  const auto json = JsonOf(outcome);
  ASSERT_EQ(json["findings"].size(), 1u);
  EXPECT_EQ(json["findings"][0]["path"], outcome.findings[0].path);
  EXPECT_EQ(json["findings"][0]["flaky"], false);
  EXPECT_EQ(json["digest"], "");
}

}  // namespace
}  // namespace mmadiff
