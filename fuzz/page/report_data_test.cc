// What is gathered of folders, and what the page shows of it that no real run has yet.
#include "fuzz/page/report_data.h"

#include <numeric>

#include "absl/strings/match.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/output/ulp_buckets.h"
#include "fuzz/page/html_page.h"
#include "fuzz/page/plain_pages.h"
#include "fuzz/testing/folder_fixture.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

class ReportDataTest : public FolderTest {
 protected:
  static ReportData Gather(const std::vector<std::string>& folders) {
    Console console(Color::kNever, true);
    ReportOptions options = {folders};
    options.mutant_models = 0;
    absl::StatusOr<ReportData> data = GatherReport(options, console);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? *std::move(data) : ReportData{{ReportRun{}}};
  }

  static const RunReportRow& Row(const ReportRun& run, const std::string& name) {
    const auto row = std::ranges::find(run.rows, name, &RunReportRow::instruction);
    EXPECT_NE(row, run.rows.end());
    return *row;
  }

  // All units of both instructions, those of one shard.
  static std::vector<UnitResult> All(bool differ, uint64_t shard = 0, uint64_t shards = 1) {
    std::vector<UnitResult> units;
    for (uint32_t instruction = 0; instruction < 2; ++instruction) {
      for (uint64_t u = shard; u < 10; u += shards) {
        units.push_back(Unit(instruction, u));
        if (differ) continue;
        units.back().mismatches = 0;
        units.back().mismatching_cases.clear();
        units.back().model_digest = units.back().device_digest;
      }
    }
    return units;
  }
};

std::vector<std::string> Machines(const RateSeries& rate) {
  std::vector<std::string> names;
  for (const RateSeries::Machine& machine : rate.machines) names.push_back(machine.name);
  return names;
}

TEST_F(ReportDataTest, EachUnitCountsOnceWhateverFoldersHaveIt) {
  const std::string s0 = Attempt("0", All(true, 0, 2), Manifest(0, 2)),
                    s1 = Attempt("1", All(true, 1, 2), Manifest(1, 2)),
                    again = Attempt("again", All(true, 1, 2), Manifest(1, 2)),
                    whole = Attempt("whole", All(true));
  const std::vector<std::vector<std::string>> ways = {
      {s0, s1}, {s1, again, s0, again + "/"}, {whole}, {s0, whole}, {whole, s1, s0}};
  for (const std::vector<std::string>& folders : ways) {
    const ReportData data = Gather(folders);
    ASSERT_EQ(data.runs.size(), 1u);
    const ReportRun& run = data.runs[0];
    EXPECT_EQ(run.units, 20u);
    EXPECT_EQ(run.planned_units, 20u);
    EXPECT_EQ(run.total.cases, 1900u);
    EXPECT_EQ(run.total.dot_products, 950u * 17);
    EXPECT_EQ(run.total.mismatches, 60u);
    EXPECT_EQ(run.digest, Gather({whole}).runs[0].digest);
    EXPECT_THAT(run.damage, IsEmpty());
  }
}

TEST_F(ReportDataTest, AShardAloneIsWholeAndARunThatStoppedIsNot) {
  const ReportRun shard = Gather({Attempt("1", All(false, 1, 3), Manifest(1, 3))}).runs[0];
  EXPECT_EQ(shard.Count(RunReportRow::kAgrees), 2u);
  EXPECT_THAT(shard.seen, ElementsAre(1));
  EXPECT_EQ(shard.planned_units, 6u);
  EXPECT_EQ(shard.digest.size(), 32u);
  EXPECT_THAT(Sentence(shard), HasSubstr("; shards 0, 2 of 3 are missing"));
  const ReportRun two = Gather({Attempt("a", All(false, 0, 3), Manifest(0, 3)),
                                Attempt("b", All(false, 2, 3), Manifest(2, 3))})
                            .runs[0];
  EXPECT_EQ(two.units, 14u);
  EXPECT_EQ(two.planned_units, 20u);
  std::vector<UnitResult> units = All(false);
  units.pop_back();
  const ReportRun stopped = Gather({Attempt("w", units)}).runs[0];
  EXPECT_EQ(Row(stopped, "x86/vfmadd231ss").state, RunReportRow::kIncomplete);
  EXPECT_EQ(Row(stopped, "x86/vdpbf16ps").state, RunReportRow::kAgrees);
  EXPECT_EQ(stopped.rows.front().instruction, "x86/vfmadd231ss");  // the gravest first
  EXPECT_DOUBLE_EQ(stopped.rows.front().bound, 3 / 900.);
  EXPECT_EQ(stopped.digest, "");
  EXPECT_THAT(Sentence(stopped), HasSubstr("; 1 instruction is incomplete"));
}

TEST_F(ReportDataTest, AFolderThatIsNoneOfARunHidesNoOther) {
  const std::string shard = Attempt("0", All(false, 0, 3), Manifest(0, 3));
  for (const char* folder : {"empty", "killed", "other"}) {
    std::filesystem::create_directory(Path(folder));
  }
  Put("killed/writer.lock", "pid 7 on node7");
  Put("killed/manifest.txtpb.tmpAbC", "torn");
  Put("other/notes.txt", "of the user");
  ReportData data = Gather({Path("empty"), shard, Path("killed/")});
  EXPECT_FALSE(data.Damaged());  // nothing is lost
  EXPECT_THAT(data.not_read,
              ElementsAre(Path("empty") + " is empty: no run has begun there",
                          Path("killed") + ": the run was killed before it wrote its "
                                           "manifest.txtpb; no unit is lost"));
  ASSERT_EQ(data.runs.size(), 1u);
  EXPECT_THAT(Sentence(data.runs[0]), HasSubstr("; shards 1, 2 of 3 are missing"));
  data = Gather({shard, Path("nowhere"), Path("other")});
  EXPECT_TRUE(data.Damaged());
  EXPECT_THAT(data.not_read,
              ElementsAre(Path("nowhere") + " does not exist",
                          Path("other") + " is not the folder of a run: it has no manifest.txtpb"));
  for (const std::string& page : {HtmlPage(data), MarkdownPage(data), JsonPage(data)}) {
    EXPECT_THAT(page, HasSubstr("nowhere does not exist"));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(ReadManifests({Path("empty"), Path("nowhere")}).status()));
  Put("other/manifest.txtpb", "damaged");
  EXPECT_TRUE(absl::IsDataLoss(ReadManifests({Path("empty"), Path("other")}).status()));
}

TEST_F(ReportDataTest, OtherRunsStandBeside) {
  RunManifest other = Manifest();
  other.seed = 77;
  const ReportData data = Gather({Attempt("a", All(false)), Attempt("b", All(true), other)});
  ASSERT_EQ(data.runs.size(), 2u);
  EXPECT_EQ(data.runs[0].total.mismatches, 0u);
  EXPECT_EQ(data.runs[1].total.mismatches, 60u);
  EXPECT_EQ(data.runs[1].manifest.seed, 77u);
}

TEST_F(ReportDataTest, TwoAnswersToAUnitAreDamage) {
  std::vector<UnitResult> lie = {Unit(0, 4, "node9")};
  lie[0].device_digest += 1;
  const ReportData data = Gather({Attempt("a", All(false)), Attempt("b", lie)});
  EXPECT_TRUE(data.Damaged());
  EXPECT_THAT(data.runs[0].damage, ElementsAre(testing::AllOf(HasSubstr("unit 4 of x86/vdpbf16ps"),
                                                              HasSubstr("node9"))));
  EXPECT_EQ(data.runs[0].units, 20u);
}

TEST_F(ReportDataTest, WhatARunIsWritingIsNoDamage) {
  const std::string folder = Attempt("w", {Unit(0, 1), Unit(0, 2)});
  const std::string log = UnitLogsIn(folder)->front();
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 5);
  std::string warning;
  auto lock = *FolderLock::Take(folder, warning);
  EXPECT_FALSE(Gather({folder}).Damaged());
  lock.reset();
  EXPECT_TRUE(Gather({folder}).Damaged());
}

// What nobody counted was not reached.
TEST_F(ReportDataTest, WithoutItsCoverageARowIsIncomplete) {
  std::vector<UnitResult> units = All(false);
  for (UnitResult& unit : units) {
    if (unit.instruction == 1) unit.coverage.clear();
  }
  const ReportRun run = Gather({Attempt("w", units)}).runs[0];
  EXPECT_EQ(Row(run, "x86/vdpbf16ps").state, RunReportRow::kAgrees);
  EXPECT_EQ(Row(run, "x86/vfmadd231ss").state, RunReportRow::kIncomplete);
  EXPECT_THAT(run.damage, IsEmpty());
  units.back().coverage = {1, 2};
  EXPECT_THAT(Gather({Attempt("v", units)}).runs[0].damage,
              ElementsAre(HasSubstr("x86/vfmadd231ss")));
}

TEST_F(ReportDataTest, AFixedFindingIsNoDifferenceAndOneOfAnotherRunIsDamage) {
  const std::string folder = Attempt("w", All(false));
  File(folder, 1, 2, FindingState::kFixed);
  const ReportRun run = Gather({folder}).runs[0];
  EXPECT_EQ(run.Count(RunReportRow::kAgrees), 2u);
  ASSERT_EQ(run.explained.size(), 1u);
  EXPECT_EQ(run.explained[0].finding.state, FindingState::kFixed);
  File(folder, 2, 2, FindingState::kRegressed);
  EXPECT_EQ(Row(Gather({folder}).runs[0], "x86/vfmadd231ss").state, RunReportRow::kUnrepeated);

  RunManifest other = Manifest();
  other.instructions.pop_back();
  const std::string foreign = Attempt("f", {Unit(0, 1)}, other);
  File(foreign, 1, 2);
  const ReportData data = Gather({foreign});
  EXPECT_THAT(data.runs[0].damage, ElementsAre(HasSubstr("a finding of a different run")));
  EXPECT_THAT(data.runs[0].findings, IsEmpty());
}

TEST_F(ReportDataTest, WhatCameInPlaceOfAnAnswerIsShown) {
  const std::string folder = Attempt("w", All(true));
  const std::string text = "<b>\x1b[31m" + std::string(1000, 'y') + "z";
  FileFailure(folder, {.kind = FailureKind::kCrash, .exit_code = 3, .text = text});
  FileFailure(folder, {.kind = FailureKind::kHang, .age = 5}, "faulty:none=0", 1);
  const ReportData data = Gather({folder});
  ASSERT_EQ(data.runs[0].explained.size(), 2u);
  const bool crash_first = !data.runs[0].explained[0].failure->text.empty();
  const ReportFinding &crash = data.runs[0].explained[crash_first ? 0 : 1],
                      &hang = data.runs[0].explained[crash_first ? 1 : 0];
  EXPECT_EQ(crash.failure->text, text);
  EXPECT_THAT(crash.minimal, Not(IsEmpty()));
  EXPECT_THAT(crash.difference, HasSubstr("model   0x00000000"));
  EXPECT_THAT(crash.difference,
              HasSubstr("device  the program failed with exit code 3: <b>\\x1b[31myyy"));
  EXPECT_THAT(crash.columns, ElementsAre("model"));
  EXPECT_THAT(crash.stages, Not(IsEmpty()));
  EXPECT_EQ(hang.age, 5u);
  EXPECT_THAT(hang.difference, HasSubstr("device  the program hung, after 5 answers\n"));
  for (const std::string& page : {HtmlPage(data), MarkdownPage(data)}) {
    EXPECT_THAT(page, HasSubstr("failed with exit code 3"));
    EXPECT_THAT(page, HasSubstr("yyy..."));
    EXPECT_THAT(page, Not(HasSubstr("yz")));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  }
  EXPECT_THAT(HtmlPage(data), Not(HasSubstr("<b>")));
  EXPECT_THAT(JsonPage(data), HasSubstr("\"failure\": \"crash_exit_3\""));
}

TEST_F(ReportDataTest, TheAgeOfAnAnswerIsShown) {
  const std::string folder = Attempt("w", All(true));
  File(folder, 1, 2);
  const std::string path = ListCases(folder + "/findings")->front();
  RegressionCase c = *ReadCase(path);
  c.answers.front().age = 20000;
  c.bucket.repetition = Repetition::kAged;
  ASSERT_TRUE(RewriteCase(path, c).ok());
  const ReportData data = Gather({folder});
  EXPECT_EQ(data.runs[0].explained[0].age, 20000u);
  for (const std::string& page : {HtmlPage(data), MarkdownPage(data)}) {
    EXPECT_THAT(page, HasSubstr("after 20000 answers from one process"));
  }
}

// A phone shows eight columns of both words and of their marks in one piece.
TEST_F(ReportDataTest, BitsAreBlocksThatABrowserMayBreak) {
  const std::string folder = Attempt("w", All(true));
  File(folder, 1, 1);
  const ReportData data = Gather({folder});
  EXPECT_THAT(data.runs[0].explained[0].bits, testing::StartsWith("model   0|0"));
  EXPECT_THAT(data.runs[0].explained[0].values, HasSubstr("device  0x00000001"));
  EXPECT_THAT(data.runs[0].explained[0].values, HasSubstr("distance: "));
  EXPECT_THAT(HtmlPage(data), HasSubstr("<span>model   \ndevice  \n        \n</span>"
                                        "<span>0|000000\n0|000000\n"));
}

TEST_F(ReportDataTest, OneChangeOfSeveralInstructionsIsOneCard) {
  ReportRun run;
  for (const char* op : {"a/x", "a/y", "a/z"}) {
    RunReportRow& row = run.rows.emplace_back();
    row.instruction = op;
    row.state = RunReportRow::kDiffers;
    ReportFinding& f = run.explained.emplace_back();
    f.finding.op = op;
    f.finding.bucket = ParseBucket(Family::kFusedSum, "aligned_term:fraction_bits=24");
  }
  ASSERT_EQ(GroupFindings(run).size(), 1u);
  EXPECT_EQ(Sentence(GroupFindings(run)[0], run), "fraction_bits=24 explains all 3 instructions");
  const std::string page = HtmlPage({{run}});
  EXPECT_THAT(page, HasSubstr("<h3>fraction_bits=24 explains all 3 instructions</h3>"));
  EXPECT_EQ(page.find("<article"), page.rfind("<article"));
  run.explained[1].finding.bucket = ParseBucket(Family::kFusedSum, "unexplained:ulps");
  ASSERT_EQ(GroupFindings(run).size(), 2u);
  EXPECT_EQ(Sentence(GroupFindings(run)[0], run), "fraction_bits=24 explains 2 of 3 instructions");
  EXPECT_EQ(Sentence(GroupFindings(run)[1], run), "");
}

TEST_F(ReportDataTest, ADifferingRowHasNoBound) {
  EXPECT_THAT(CsvPage(Gather({Attempt("w", All(true))})),
              HasSubstr(",differs,950,950,950,30,false,0,,,"));
}

TEST_F(ReportDataTest, FindingsOnADiskThatIsNotThereAreDamage) {
  const std::string folder = Attempt("w", All(false));
  std::filesystem::create_symlink(Path("gone"), folder + "/findings");
  EXPECT_THAT(Gather({folder}).runs[0].damage, ElementsAre(HasSubstr("its target does not exist")));
}

TEST_F(ReportDataTest, AFindingOfAnUnfinishedUnitDiffers) {
  const std::string folder = Attempt("w", {Unit(0, 0)});
  File(folder, 1, 2);
  const ReportRun run = Gather({folder}).runs[0];
  EXPECT_EQ(Row(run, "x86/vfmadd231ss").state, RunReportRow::kDiffers);
  EXPECT_EQ(Row(run, "x86/vfmadd231ss").total.cases, 0u);
  ASSERT_EQ(run.explained.size(), 1u);
  EXPECT_THAT(run.explained[0].command, HasSubstr(run.explained[0].finding.path));
}

TEST_F(ReportDataTest, TheRateIsWhatTheMachinesDid) {
  std::vector<UnitResult> units;
  for (uint64_t u = 0; u < 9; ++u) {
    units.push_back(Unit(0, u, u % 2 == 0 ? "node1" : "node2"));
    units.back().seconds = 3.5;
  }
  units.push_back(Unit(1, 0));
  units.back().ended = 0;  // of an older version
  const RateSeries rate = Gather({Attempt("w", units)}).runs[0].rate;
  EXPECT_THAT(Machines(rate), ElementsAre("node1", "node2"));
  EXPECT_EQ(rate.end, 1'700'000'008u);
  EXPECT_EQ(rate.begin, 1'700'000'000u - 4);
  const double length = static_cast<double>(rate.end - rate.begin) /
                        static_cast<double>(rate.machines[0].rates.size());
  const auto done = [&](size_t m) {
    const std::vector<double>& rates = rate.machines[m].rates;
    return length * std::accumulate(rates.begin(), rates.end(), 0.);
  };
  EXPECT_NEAR(done(0), 5 * 1600, 1e-6);
  EXPECT_NEAR(done(1), 4 * 1600, 1e-6);
}

TEST_F(ReportDataTest, ManyMachinesAreSixSeries) {
  std::vector<UnitResult> units;
  for (uint64_t u = 0; u < 9; ++u) units.push_back(Unit(0, u, absl::StrCat("node", u)));
  const ReportRun run = Gather({Attempt("w", units)}).runs[0];
  EXPECT_EQ(run.machines.size(), 9u);
  EXPECT_THAT(Machines(run.rate),
              ElementsAre("node0", "node1", "node2", "node3", "node4", "4 others"));
}

TEST(CrossesTest, EmptyCellsAreMissingUnlessNothingReachesThem) {
  const std::vector<Bin> bins = {{"pairs", "nan", "zero", 1, ""},
                                 {"pairs", "nan", "one", 10, ""},
                                 {"pairs", "inf", "zero", 1, "no infinity in e2m1"},
                                 {"list", "tie", "", 1, ""}};
  std::vector<Cross> crosses;
  const std::vector<uint64_t> some = {5, 9, 0, 0}, all = {1, 10, 0, 7};
  AddToCrosses("a", bins, some, crosses);
  ASSERT_EQ(crosses.size(), 2u);
  EXPECT_EQ(crosses[0].cells[0][1].missing, 1u);
  EXPECT_EQ(crosses[1].cells[0][0].missing, 1u);
  EXPECT_EQ(TotalsOf(crosses[0]).missing + TotalsOf(crosses[1]).missing, 2u);
  AddToCrosses("b", bins, all, crosses);
  EXPECT_THAT(crosses[0].columns, ElementsAre("zero", "one"));
  const Cross::Cell& few = crosses[0].cells[0][1];
  EXPECT_EQ(few.count, 19u);
  EXPECT_EQ(few.missing, 1u);
  EXPECT_EQ(few.example, "a");
  EXPECT_EQ(crosses[0].cells[1][0].unreachable, "no infinity in e2m1");
  EXPECT_FALSE(crosses[0].cells[1][1].known);
  EXPECT_EQ(TotalsOf(crosses[0]).reachable, 2u);
  EXPECT_EQ(TotalsOf(crosses[0]).missing, 1u);
  // What another model can reach is not grey any more.
  std::vector<Bin> other = bins;
  other[2].unreachable = "";
  AddToCrosses("c", other, all, crosses);
  EXPECT_EQ(crosses[0].cells[1][0].unreachable, "");
  EXPECT_EQ(crosses[0].cells[1][0].missing, 1u);

  ReportRun run;
  run.crosses = crosses;
  const std::string page = HtmlPage({{run}});
  EXPECT_THAT(page,
              HasSubstr("<td class=\"few h9\" title=\"pairs/nan/one: 29 dot products; too few "
                        "in 1 of 3 instructions, such as a\">29</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"none\" title=\"pairs/inf/zero: 0 dot products; never "
                              "reached in 1 instruction, such as c\">0</td>"));
}

TEST(CrossesTest, NumbersAreInTheirOrderWhateverListHasThemFirst) {
  const auto bins = [](const std::vector<const char*>& names) {
    std::vector<Bin> all;
    for (const char* name : names) {
      all.push_back({"carry", name, "", 1, ""});
      all.push_back({"a", "nan", absl::StrCat("k", name), 1, ""});
    }
    all.push_back({"carry", "all", "", 1, ""});
    return all;
  };
  std::vector<Cross> crosses;
  AddToCrosses("x", bins({"0", "1", "16", "64.."}),
               std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}, crosses);
  AddToCrosses("y", bins({"0", "2..3", "16"}), std::vector<uint64_t>{1, 1, 9, 1, 1, 1, 1}, crosses);
  AddToCrosses("z", bins({"128"}), std::vector<uint64_t>{1, 1, 1}, crosses);
  EXPECT_THAT(crosses[0].rows, ElementsAre("0", "1", "2..3", "16", "64..", "128", "all"));
  EXPECT_THAT(crosses[1].columns, ElementsAre("k0", "k1", "k2..3", "k16", "k64..", "k128"));
  EXPECT_EQ(crosses[0].cells[2][0].count, 9u);
  EXPECT_EQ(crosses[1].cells[0][4].count, 8u);
  EXPECT_EQ(crosses[1].cells[0][3].count, 7u);
}

TEST(PagesTest, AReasonTakesThePlaceOfADiagnosisThatNamesNoChange) {
  ReportRun run;
  ReportFinding& f = run.explained.emplace_back();
  f.finding.op = "a/x";
  f.finding.bucket = Bucket::Unexplained();
  f.minimal = "c  1.0\n";
  f.difference = "model  1.0\n";
  f.diagnosis = "no change";
  f.columns = {"model"};
  f.stages = {{{"sum", "1.0"}}};
  const auto pages = [&] { return std::vector{HtmlPage({{run}}), MarkdownPage({{run}})}; };
  const auto searched = AllOf(HasSubstr("no change"), HasSubstr("stage"));
  EXPECT_THAT(pages(), Each(searched));
  f.finding.reason = "FADD";
  EXPECT_THAT(pages(),
              Each(AllOf(HasSubstr("Reason: FADD"), Not(HasSubstr("no change")),
                         Not(HasSubstr("tages of the model")), Not(HasSubstr("| stage |")))));
  f.finding.bucket = ParseBucket(Family::kFusedSum, "aligned_term:fraction_bits=24");
  EXPECT_THAT(pages(), Each(searched));
}

TEST(HtmlPageTest, WhatOthersWroteIsText) {
  const std::string evil = "<script>alert(1)</script>\x1b[31m\"'&";
  ReportRun run;
  run.manifest.device = run.manifest.strategy = evil;
  run.manifest.device_identity = Identity::Named(evil);
  run.folders = run.machines = run.distrusted = run.damage = {evil};
  run.rate.begin = 1;
  run.rate.end = 2;
  run.rate.machines = {{evil, {1}}};
  RunReportRow row;
  row.instruction = evil;
  row.empty_classes = row.thin_bins = {evil};
  run.rows = {row};
  ReportFinding f;
  f.finding.op = f.finding.case_name = evil;
  f.finding.bucket = ParseBucket(Family::kNone, evil);
  f.minimal = f.difference = f.diagnosis = f.command = evil;
  f.columns = {evil};
  f.stages = {{{evil, evil}, true}};
  run.explained = {f};
  run.crosses = {{evil, {evil}, {evil}, {{Cross::Cell()}}}};
  Cross::Cell& cell = run.crosses[0].cells[0][0];
  cell.instructions = cell.missing = 1;
  cell.example = evil;
  run.mutants = {1, 1, 1, 1, {{evil, evil}}};
  run.ulps = {{"special", 1}};
  for (const ReportData& data : {ReportData{{run}}, ReportData{{run, run}}}) {
    const std::string page = HtmlPage(data);
    EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/<wbr>script&gt;"));
    EXPECT_EQ(page.find("\"'&"), page.npos);
  }
}

TEST(UlpBucketsTest, PowersOfTwoAndWhatHasNoDistance) {
  const Format& f = *FindOperation("x86/vfmadd231ss")->instruction->d;
  const auto bucket = [&](uint64_t x, uint64_t y) { return UlpBucket(f, x, y); };
  EXPECT_EQ(bucket(0x3f800000, 0x3f800001), "1");
  EXPECT_EQ(bucket(0x3f800002, 0x3f800000), "2");
  EXPECT_EQ(bucket(0x3f800000, 0x3f800003), "3..4");
  EXPECT_EQ(bucket(0x3f800000, 0x3f800004), "3..4");
  EXPECT_EQ(bucket(0x3f800000, 0x3f800005), "5..8");
  EXPECT_EQ(bucket(0x80000000, 0), "special");
  EXPECT_EQ(bucket(0x7f800000, 0x7f7fffff), "special");
  EXPECT_EQ(bucket(0x7fc00000, 0x7fc00001), "special");
  EXPECT_EQ(bucket(0x3f800000, 0xbf800000), "special");
  const Format& f64 = *FindOperation("x86/vfmadd231sd")->instruction->d;
  EXPECT_EQ(UlpBucket(f64, 0, 0x7fefffffffffffff), "4611686018427387905..9223372036854775808");
}

}  // namespace
}  // namespace mmadiff
