// Two runs, and two recordings, compared: what gives the answers of each, and what else differs.
#include "fuzz/compare/compare_runs.h"

#include "device/host.h"
#include "fuzz/record/record.h"
#include "fuzz/testing/folder_fixture.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kMma[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32", kFma[] = "x86/vfmadd231ss",
               kDot[] = "x86/vdpbf16ps";

class CompareRunsTest : public FolderTest {
 protected:
  std::string Record(const std::string& name, const std::string& change) {
    ChangedDevice device(change);
    HostEngine engine(device);
    const RecordOptions options = {.ops = {FindOperation(kMma)},
                                   .cases = 20,
                                   .strategy = &Strategies().front(),
                                   .max_bytes = 1'000'000,
                                   .limit = TimeLimit::After(absl::ZeroDuration()),
                                   .regressions = ""};
    EXPECT_TRUE(RecordFolder(options, engine, Path(name), console_).ok());
    return Path(name);
  }

  // Units 0 and 1 of both operations, none of which differs.
  static std::vector<UnitResult> Clean() {
    std::vector<UnitResult> units = {Unit(0, 0), Unit(0, 1), Unit(1, 0), Unit(1, 1)};
    for (UnitResult& unit : units) {
      unit.mismatches = 0;
      unit.mismatching_cases.clear();
      unit.model_digest = unit.device_digest;
    }
    return units;
  }

  static void FileBucket(const std::string& folder, const std::string& bucket) {
    RegressionCase c;
    c.op = FindOperation(kFma);
    c.inputs.Resize(c.op->shape(), 1);
    c.answers = {{"faulty:none=0", "", "", {1}}, {"model:3", "", "", {0}}};
    c.inputs.a[0] = bucket.size();  // another case
    c.slug = "made";
    c.bucket = ParseBucket(Family::kFusedSum, bucket);
    ASSERT_TRUE(WriteCase(c, folder + "/findings").ok());
  }

  RunsDifference Compare(const std::string& x, const std::string& y,
                         const ListBins& bins = BinsOf) {
    const auto difference = CompareFolders(x, y, bins);
    EXPECT_TRUE(difference.ok()) << difference.status();
    return *difference;
  }

  Console console_{Color::kNever, /*quiet=*/true};
};

TEST_F(CompareRunsTest, DamageIsNoDifference) {
  const std::string x = Attempt("x", Clean()), y = Attempt("y", Clean());
  std::filesystem::create_directory(x + "/units-000000-0.log");
  const RunsDifference d = Compare(x, y);
  EXPECT_THAT(d.answers.rows, IsEmpty());
  EXPECT_THAT(d.damage, ElementsAre(HasSubstr("units-000000-0.log")));
  EXPECT_EQ(d.common, 4u);
}

TEST_F(CompareRunsTest, DistrustIsDamage) {
  const std::string x = Attempt("x", Clean()), y = Attempt("y", Clean());
  std::ofstream(y + "/distrusted.txt") << "x86/vfmadd231ss: why\n";
  EXPECT_THAT(Compare(x, y).damage, ElementsAre(HasSubstr("distrusted: x86/vfmadd231ss: why")));
}

// Which of them is compared would depend on their order.
TEST_F(CompareRunsTest, TwoAnswersToOneInputAreDamage) {
  const std::string line = "3f800000 3f800000 3f800000 ";
  const auto file = [&](const std::string& name, const std::vector<std::string>& words) {
    std::ofstream out(Path(name));
    out << "# instruction: x86/vfmadd231ss\n";
    for (const std::string& word : words) out << line << word << "\n";
    return Path(name);
  };
  const std::string x = file("x", {"40000000"}), y = file("y", {"40000000", "40000001"});
  EXPECT_THAT(Compare(x, y).damage, ElementsAre(HasSubstr("two answers for one input")));
  EXPECT_THAT(Compare(x, file("z", {"40000000", "40000000"})).damage, IsEmpty());
}

// Nothing is proved by what was not compared: the other side has a finding and no unit.
TEST_F(CompareRunsTest, MismatchesAgainstNothingAreNoDifference) {
  const std::string x = Attempt("x", {Unit(1, 1)}), y = Attempt("y", {});
  FileBucket(y, "unexplained:made");
  const RunsDifference d = Compare(x, y);
  ASSERT_THAT(d.answers.rows, SizeIs(1));
  EXPECT_THAT(d.answers.rows[0].what, ElementsAre(HasSubstr("bucket only in B")));
}

TEST_F(CompareRunsTest, TheFirstLineNamesTheParameterOfTheRecordedDevice) {
  const std::string changed = Record("changed", "fraction_bits=24"), model = Record("model", "");
  const RunsDifference d = Compare(changed, model);
  EXPECT_EQ(d.kind, "recordings");
  EXPECT_THAT(
      d.Text(),
      StartsWith("fraction_bits=24 reproduces all answers of A; the model reproduces those of B: "
                 "sm_90/mma.m16n8k16.f32.f16.f16.f32\n"));
  EXPECT_THAT(
      Compare(model, changed).Text(),
      StartsWith(
          "the model reproduces all answers of A; fraction_bits=24 reproduces those of B: "));
  ASSERT_THAT(d.answers.rows, SizeIs(1));
  EXPECT_GT(d.answers.rows[0].differing, 0u);
  EXPECT_NE(d.answers.rows[0].first, d.answers.rows[0].second);
}

TEST_F(CompareRunsTest, EqualRecordingsDifferInNothing) {
  const RunsDifference d =
      Compare(Record("x", "fraction_bits=24"), Record("y", "fraction_bits=24"));
  EXPECT_THAT(d.answers.rows, IsEmpty());
  EXPECT_THAT(d.causes, IsEmpty());
  EXPECT_GT(d.answers.compared, 20u * 128);
  EXPECT_THAT(d.Text(), StartsWith("no shared answer differs\n"));
}

TEST_F(CompareRunsTest, EqualRunsDifferInNothing) {
  const RunsDifference d = Compare(Attempt("x", Clean()), Attempt("y", Clean()));
  EXPECT_EQ(d.kind, "runs");
  EXPECT_EQ(d.answers.compared, 2u + 4u);
  EXPECT_THAT(d.answers.rows, IsEmpty());
  EXPECT_THAT(d.facts, IsEmpty());
}

TEST_F(CompareRunsTest, RowsThatAgreeInTheFirstComeFirst) {
  std::vector<UnitResult> x = Clean(), y = Clean();
  x[0].mismatches = y[0].mismatches = 7;
  x[0].model_digest += 5;
  y[0].model_digest += 5;
  y[0].device_digest += 1;
  y[2].mismatches = 5;
  y[2].device_digest += 1;
  const std::string second = Attempt("y", y);
  FileBucket(second, "rounded:output_subnormals=flush");
  const RunsDifference d = Compare(Attempt("x", x), second);
  ASSERT_THAT(d.answers.rows, SizeIs(2));
  EXPECT_EQ(d.answers.rows[0].op, kFma);
  EXPECT_THAT(d.answers.rows[0].what,
              ElementsAre("mismatches: 0 of 200 | 5 of 200", "different answers in 1 of 2 units",
                          HasSubstr("bucket only in B: rounded:output_subnormals=flush, ")));
  EXPECT_EQ(d.answers.rows[1].op, kDot);
  EXPECT_THAT(d.answers.rows[1].what, ElementsAre("different answers in 1 of 2 units"));
  ASSERT_THAT(d.causes, SizeIs(2));
  EXPECT_THAT(
      d.Text(),
      HasSubstr(
          "the model reproduces all answers of A; output_subnormals=flush reproduces those of B: "
          "x86/vfmadd231ss\n"));
}

TEST_F(CompareRunsTest, WhatDidNotRepeatIsNoBucketThatIsGone) {
  const std::string first = Attempt("x", Clean());
  FileBucket(first, "flaky:rounded:output_subnormals=flush");
  EXPECT_THAT(Compare(first, Attempt("y", Clean())).answers.rows, IsEmpty());
  FileBucket(first, "rounded:output_rounding=up");
  EXPECT_THAT(Compare(first, Path("y")).answers.rows, SizeIs(1));
}

// An operation that its mismatches stop has findings before it has a unit.
TEST_F(CompareRunsTest, AFindingWithoutAUnitCounts) {
  const std::string second = Attempt("y", {});
  FileBucket(second, "rounded:output_subnormals=flush");
  const RunsDifference d = Compare(Attempt("x", Clean()), second);
  EXPECT_THAT(
      d.Text(),
      StartsWith(
          "the model reproduces all answers of A; output_subnormals=flush reproduces those of B: "
          "x86/vfmadd231ss\n"));
}

TEST_F(CompareRunsTest, FailingInputsAndThoseOfAnOldProcessAreBuckets) {
  const std::string first = Attempt("x", Clean()), second = Attempt("y", Clean());
  FileFailure(first, {.kind = FailureKind::kCrash, .exit_code = 3});
  FileBucket(second, "aged:rounded:output_subnormals=flush");
  const RunsDifference d = Compare(first, second);
  EXPECT_THAT(d.Text(),
              StartsWith(absl::StrCat(kNoChange, " reproduces all answers of A and of B")));
  EXPECT_THAT(d.Text(), HasSubstr("bucket only in A: crash_exit_3"));
  EXPECT_THAT(d.Text(), HasSubstr("bucket only in B: aged:"));
}

TEST_F(CompareRunsTest, UnitsOfOtherCasesAreNotCompared) {
  std::vector<UnitResult> y = Clean();
  for (UnitResult& unit : y) unit.model_digest = unit.device_digest += 1;
  RunManifest other = Manifest();
  other.seed = 2;
  const RunsDifference d = Compare(Attempt("x", Clean()), Attempt("y", y, other));
  EXPECT_EQ(d.answers.compared, 2u);
  EXPECT_THAT(d.answers.rows, IsEmpty());
  ASSERT_THAT(d.facts, SizeIs(1));
  EXPECT_EQ(d.facts[0].name, "seed");
}

TEST_F(CompareRunsTest, WhatNoChangeExplainsIsSaidSo) {
  const std::string first = Attempt("x", Clean()), none = Attempt("none", Clean()),
                    two = Attempt("two", Clean());
  FileBucket(none, "unexplained:ulps");
  FileBucket(two, "rounded:output_subnormals=flush");
  FileBucket(two, "rounded:output_rounding=toward_zero");
  for (const std::string& second : {none, two}) {
    EXPECT_THAT(
        Compare(first, second).Text(),
        StartsWith("the model reproduces all answers of A; no change of one or two parameters "
                   "reproduces those of B: x86/vfmadd231ss\n"))
        << second;
  }
}

// The last unit of a run with fewer cases has another digest and is no other answer.
TEST_F(CompareRunsTest, UnitsOfAnotherSizeAreNotCompared) {
  RunManifest shorter = Manifest();
  for (RunManifest::Instruction& i : shorter.instructions) i.cases = 50;
  std::vector<UnitResult> y = {Clean()[0], Clean()[2]};
  for (UnitResult& unit : y) {
    unit.cases /= 2;
    unit.dot_products /= 2;
    unit.model_digest = unit.device_digest += 1;
  }
  const RunsDifference d = Compare(Attempt("x", Clean()), Attempt("y", y, shorter));
  EXPECT_EQ(d.answers.compared, 2u);
  EXPECT_THAT(d.answers.rows, IsEmpty());
  EXPECT_THAT(d.Text(), StartsWith("no unit has the same cases in both; counts and findings are "
                                   "equal\n"));
}

TEST_F(CompareRunsTest, NothingInCommonIsSaid) {
  const std::vector<UnitResult> units = Clean();
  const RunsDifference d = Compare(Attempt("x", {units[0]}), Attempt("y", {units[2]}));
  EXPECT_EQ(d.answers.compared, 0u);
  EXPECT_EQ(d.answers.only_first, 1u);
  EXPECT_EQ(d.answers.only_second, 1u);
  EXPECT_THAT(d.Text(), StartsWith("nothing in common\n"));
}

TEST_F(CompareRunsTest, ARowWhoseCommonAnswersAreEqualDoesNotCountThem) {
  const std::string second = Attempt("y", Clean());
  FileBucket(second, "rounded:output_subnormals=flush");
  const std::string text = Compare(Attempt("x", Clean()), second).Text();
  EXPECT_THAT(text, HasSubstr("\nx86/vfmadd231ss\n  bucket only in B"));
  EXPECT_THAT(text, testing::Not(HasSubstr("common answers differ")));
}

TEST_F(CompareRunsTest, FindingsThatCannotBeReadAreNoDifference) {
  const std::string first = Attempt("x", Clean()), second = Attempt("y", Clean());
  FileBucket(second, "rounded:output_subnormals=flush");
  ASSERT_THAT(Compare(first, second).answers.rows, SizeIs(1));
  std::filesystem::create_directory(first +
                                    "/distrusted.txt");  // of which the findings know nothing
  ASSERT_THAT(Compare(first, second).answers.rows, SizeIs(1));
  ASSERT_THAT(Compare(second, first).answers.rows, SizeIs(1));
  std::ofstream(first + "/findings") << "no folder";
  for (const RunsDifference& d : {Compare(first, second), Compare(second, first)}) {
    EXPECT_THAT(d.answers.rows, IsEmpty());
    EXPECT_THAT(d.damage, SizeIs(2));  // and distrusted.txt
  }
}

TEST_F(CompareRunsTest, WhatIsFixedIsNoDifference) {
  const std::string second = Attempt("y", Clean());
  File(second, 1, 2, FindingState::kFixed);
  EXPECT_THAT(Compare(Attempt("x", Clean()), second).answers.rows, IsEmpty());
  File(second, 2, 2);
  EXPECT_THAT(Compare(Path("x"), second).answers.rows, SizeIs(1));
}

TEST_F(CompareRunsTest, BinsThatOneSideAloneReachedOftenEnoughAreNamed) {
  const auto bins = [](const Model&) {
    return std::vector<Bin>{{"pairs", "nan", "zero", 2, ""}, {"pairs", "inf", "zero", 2, ""}};
  };
  std::vector<UnitResult> x = Clean(), y = Clean();
  for (size_t i = 0; i < x.size(); ++i) x[i].coverage = y[i].coverage = {};
  x[0].coverage = {1, 2};
  x[1].coverage = {1, 0};
  y[0].coverage = {1, 1};
  const RunsDifference d = Compare(Attempt("x", x), Attempt("y", y), bins);
  ASSERT_THAT(d.coverage, SizeIs(1));
  EXPECT_EQ(d.coverage[0].op, kDot);
  EXPECT_THAT(d.coverage[0].first, ElementsAre("pairs/nan/zero", "pairs/inf/zero"));
  EXPECT_THAT(d.coverage[0].second, IsEmpty());
  EXPECT_THAT(d.Text(), HasSubstr("vdpbf16ps: reached only in A: pairs/nan/zero, pairs/inf/zero"));
}

TEST_F(CompareRunsTest, WhatIsNotThereOrOfAnotherKindIsRefused) {
  const std::string run = Attempt("x", Clean());
  EXPECT_THAT(CompareFolders(run, Path("none")).status().message(), HasSubstr("no such file"));
  EXPECT_THAT(CompareFolders(run, Record("r", "")).status().message(),
              HasSubstr("name two runs or two recordings"));
  EXPECT_TRUE(absl::IsInvalidArgument(CompareFolders(run, Path("none")).status()));
  EXPECT_THAT(CompareFolders(run, Path("./x")).status().message(), HasSubstr("are the same"));
}

TEST_F(CompareRunsTest, NamesOfDevicesCannotMoveTheCursor) {
  RunManifest hostile = Manifest();
  hostile.device_identity = Identity::Named("a\033[2J");
  const RunsDifference d = Compare(Attempt("x", Clean()), Attempt("y", Clean(), hostile));
  EXPECT_EQ(d.Text().find('\033'), std::string::npos);
}

}  // namespace
}  // namespace mmadiff
