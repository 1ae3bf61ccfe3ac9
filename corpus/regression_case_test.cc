#include "corpus/regression_case.h"

#include <gmock/gmock.h>

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "corpus/case_folder.h"
#include "corpus/testing/folder.h"
#include "device/testing/operations.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kName[] = "sm_80/mma.m16n8k4.f32.tf32.tf32.f32";

// One dot product whose words exercise the widths: a NaN payload, a subnormal, ignored bits.
RegressionCase DotProduct() {
  RegressionCase c;
  c.op = FindOperation(kName);
  c.inputs.Resize(DotProductShape(c.op->shape()), 1);
  c.inputs.a = {0x7fa02000, 0x00000001, 0x3f801fff, 0};
  c.inputs.b = {0x3f800000, 0xff800000, 0x80000000, 0x42280000};
  c.inputs.c = {0x0000abcd};
  c.answers = {{"cuda:0", "A100, driver \"580\"", "2025-11-20T15:04:05Z", {0x7fffffff}},
               {"model", "3", "", {0x7fc00000}}};
  c.slug = "nan_payload";
  c.why = "The payload is lost – always";
  c.bucket = ParseBucket(Family::kFusedSum, "special:nan_rule=all_ones");
  c.source = "sm_80/x@g1:1:17";
  c.position = {0, 15, 7};
  return c;
}

// A whole execution; every word differs from the others.
RegressionCase Execution(const char* name) {
  RegressionCase c;
  c.op = FindOperation(name);
  c.inputs.Resize(c.op->shape(), 1);
  uint64_t word = 1;
  for (auto* words : {&c.inputs.a, &c.inputs.b, &c.inputs.c}) {
    for (uint64_t& w : *words) w = word++ & 0xff;
  }
  c.answers = {{"host", "", "", c.inputs.c}};
  c.slug = "tile";
  return c;
}

// One on which a device fails, in a process that has given answers before.
RegressionCase Failing() {
  RegressionCase c = DotProduct();
  c.answers.erase(c.answers.begin());
  InputFailure failure = {.kind = FailureKind::kCrash, .signal = 11, .age = 77};
  failure.text = "unit.sv:42: \"assertion\"";
  c.no_word = {"exec:./unit x", "external program", "2026-11-20T15:04:05Z", failure};
  c.bucket = Bucket::NoWord(failure);
  return c;
}

void ExpectSame(const RegressionCase& x, const RegressionCase& y) {
  EXPECT_EQ(x.op, y.op);
  EXPECT_EQ(x.inputs.shape, y.inputs.shape);
  EXPECT_EQ(x.inputs.count, y.inputs.count);
  EXPECT_EQ(x.inputs.a, y.inputs.a);
  EXPECT_EQ(x.inputs.b, y.inputs.b);
  EXPECT_EQ(x.inputs.c, y.inputs.c);
  EXPECT_EQ(StoredMetadata(x.inputs), StoredMetadata(y.inputs));
  EXPECT_EQ(std::tie(x.slug, x.why, x.bucket, x.source, x.position),
            std::tie(y.slug, y.why, y.bucket, y.source, y.position));
  ASSERT_EQ(x.answers.size(), y.answers.size());
  for (size_t i = 0; i < x.answers.size(); ++i) {
    const Answer &p = x.answers[i], &q = y.answers[i];
    EXPECT_EQ(std::tie(p.device, p.identity, p.date, p.d, p.age),
              std::tie(q.device, q.identity, q.date, q.d, q.age));
  }
  EXPECT_EQ(x.no_word, y.no_word);
  EXPECT_EQ(x.shared, y.shared);
}

std::string ErrorOf(const std::string& text) {
  const auto parsed = ParseCase(text, "dir/x.txtpb");
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kDataLoss) << text;
  const std::string message(parsed.status().message());
  EXPECT_THAT(message, StartsWith("dir/x.txtpb:"));
  return message;
}

// The error of DotProduct() with `from` replaced, which must be there.
std::string ErrorWith(absl::string_view from, absl::string_view to) {
  const std::string text = FormatCase(DotProduct());
  EXPECT_TRUE(absl::StrContains(text, from)) << from << "\n" << text;
  return ErrorOf(absl::StrReplaceAll(text, {{from, to}}));
}

TEST(FormatCase, IsReadableAndSaysHowToReplay) {
  const std::string text = FormatCase(DotProduct());
  EXPECT_THAT(text, StartsWith("# ./mmadiff replay corpus/regressions/sm_80/nan_payload-"));
  EXPECT_THAT(text, HasSubstr("\n# proto-file: proto/case.proto\n"
                              "# proto-message: mmadiff.proto.RegressionCase\n"));
  EXPECT_THAT(text, HasSubstr("\na: \"7fa02000 00000001 3f801fff 00000000\"\n"));
  EXPECT_THAT(text, HasSubstr("\nc: \"0000abcd\"\n"));
  EXPECT_THAT(text, HasSubstr("\n  d: \"7fffffff\"\n"));
  EXPECT_THAT(text, HasSubstr("– always"));
}

TEST(FormatCase, DotProductRoundTrips) {
  const auto parsed = ParseCase(FormatCase(DotProduct()), "x");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ExpectSame(*parsed, DotProduct());
}

TEST(FormatCase, FailuresAndAgesRoundTripAndBelongToTheChecksum) {
  RegressionCase aged = DotProduct();
  aged.answers.front().age = 20000;
  aged.shared = "a subnormal in a: 3 of 5 differ, and 0 of the other 7";
  for (const RegressionCase& c : {Failing(), aged}) {
    const auto parsed = ParseCase(FormatCase(c), "x", true);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    ExpectSame(*parsed, c);
    EXPECT_EQ(parsed->device(), c.device());
    EXPECT_EQ(parsed->age(), c.age());
    EXPECT_TRUE(parsed->IsOf(c.device()));
    EXPECT_FALSE(parsed->IsOf("exec:./unit"));
  }
  EXPECT_EQ(Failing().device(), "exec:./unit x");
  EXPECT_EQ(Failing().age(), 77u);
  EXPECT_EQ(aged.age(), 20000u);
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"./unit x", "./unit y"},
           {"external", "internal"},
           {"2026-11", "2026-10"},
           {"failure: \"crash_signal_11", "failure: \"crash_signal_6"},
           {"unit.sv:42", "unit.sv:43"},
           {"age: 77", "age: 78"}}) {
    ASSERT_THAT(FormatCase(Failing()), HasSubstr(from));
    EXPECT_THAT(ErrorOf(absl::StrReplaceAll(FormatCase(Failing()), {{from, to}})),
                HasSubstr("checksum"));
  }
  for (const char* gone : {"age: 20000", "and 0 of the other 7"}) {
    EXPECT_THAT(ErrorOf(absl::StrReplaceAll(FormatCase(aged), {{gone, ""}})),
                HasSubstr("checksum"));
  }
}

// A file of before has no state, and its checksum knows none.
TEST(FormatCase, AnOpenCaseSaysNothingOfItsState) {
  RegressionCase c = DotProduct();
  EXPECT_THAT(FormatCase(c), Not(HasSubstr("state")));
  c.state = FindingState::kFixed;
  c.moved_by = ParseMovedBy("model:3");
  const auto parsed = ParseCase(FormatCase(c), "x", true);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->state, FindingState::kFixed);
  EXPECT_EQ(Name(parsed->moved_by), "model:3");
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"state: \"fixed\"", "state: \"flaky\""}, {"model:3", "model:4"}}) {
    EXPECT_THAT(ErrorOf(absl::StrReplaceAll(FormatCase(c), {{from, to}})), HasSubstr("checksum"));
  }
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(FormatCase(c), {{"\"fixed\"", "\"f\\033\""}})),
              HasSubstr("state: \"f\\x1b\", expected one of open, explained, fixed"));
}

TEST(FormatCase, RolesRoundTripAndBelongToTheChecksum) {
  RegressionCase c = DotProduct();
  EXPECT_THAT(FormatCase(c), Not(HasSubstr("role")));
  c.role = CaseRole::kMinimal;
  const auto parsed = ParseCase(FormatCase(c), "x", true);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->role, CaseRole::kMinimal);
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(FormatCase(c), {{"MINIMAL", "REFUTES"}})),
              HasSubstr("checksum"));
}

TEST(FormatCase, ExecutionsRoundTrip) {
  for (const char* name :
       {"x86/vdpbf16ps", "x86/vpdpbusd", "x86/vfmadd231sd", "sm_70/mma.m8n8k4.f32.f16.f16.f16",
        "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"}) {
    const RegressionCase c = Execution(name);
    const auto parsed = ParseCase(FormatCase(c), "x");
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    ExpectSame(*parsed, c);
  }
}

// Every model once, so every format and every number of scales, whole and on its own.
TEST(FormatCase, EveryModelRoundTrips) {
  for (const Operation* op : DistinctOperations()) {
    for (const Shape& shape : {op->shape(), DotProductShape(op->shape())}) {
      if (shape.d_words() > 1024) continue;  // some tiles are large, the rows of A and B alike
      RegressionCase c;
      c.op = op;
      c.inputs = RandomBits(*op, shape, 1, 7);
      std::vector<uint64_t> d(shape.d_words(), LowBits(op->model.d.bits));
      c.answers = {{"host", "", "", d}};
      c.slug = "tile";
      const auto parsed = ParseCase(FormatCase(c), "x");
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      ExpectSame(*parsed, c);
      EXPECT_EQ(CaseId(*parsed), CaseId(c));
    }
  }
}

constexpr char kScaled[] = "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x";

RegressionCase Scaled() {
  RegressionCase c;
  c.op = FindOperation(kScaled);
  c.inputs.Resize(DotProductShape(c.op->shape()), 1);
  c.inputs.a[63] = 0xf;
  for (int s = 0; s < 4; ++s) {
    c.inputs.a[64 + s] = 0x38 + s;
    c.inputs.b[64 + s] = 0x40 + s;
  }
  c.answers = {{"model", "", "", {0}}};
  c.slug = "scaled";
  return c;
}

// Digits are two for each started byte, also of 4 and 6 bits; scales end the row.
TEST(FormatCase, ScalesEndTheRows) {
  const std::string text = FormatCase(Scaled());
  EXPECT_THAT(text, HasSubstr(" 00 0f 38 39 3a 3b\"\n"));
  EXPECT_THAT(text, HasSubstr(" 00 00 40 41 42 43\"\n"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(text, {{"3a 3b\"", "3a\""}})),
              HasSubstr("a[0]: 67 words, expected 64 of e2m1 and 4 of ue4m3"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(text, {{"0f 38", "10 38"}})),
              HasSubstr("a[0] word 63: '10' does not fit the 4 bits of e2m1"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(text, {{"42 43\"", "42 3\""}})),
              HasSubstr("b[0] word 67: '3', expected 2 digits of ue4m3"));
}

TEST(FormatCase, RowsAreRowsOfTheMatrices) {
  const std::string text = FormatCase(Execution("sm_80/mma.m16n8k4.f32.tf32.tf32.f32"));
  // Row 1 of A starts at word 4, column 0 of B at word 64, row 0 of C at word 96; all from 1.
  EXPECT_THAT(text, HasSubstr("a: \"00000005 00000006 00000007 00000008\"\n"));
  EXPECT_THAT(text, HasSubstr("b: \"00000041 00000042 00000043 00000044\"\n"));
  EXPECT_THAT(text, HasSubstr("c: \"00000061 00000062 00000063 00000064 00000065 00000066 00000067"
                              " 00000068\"\n"));
}

// A change of these renames every stored case.
TEST(CaseId, IsGolden) {
  EXPECT_EQ(CaseId(DotProduct()), "108552c410d1");
  EXPECT_EQ(CaseId(Execution("x86/vdpbf16ps")), "03efe4f0aad9");
  EXPECT_EQ(CaseFileName(DotProduct()), "sm_80/nan_payload-108552c410d1.txtpb");
}

// The names in git were given by earlier versions; ReadCase() refuses a file whose id has changed.
TEST(CaseId, OfStoredCasesStays) {
  const auto paths = ListCases("corpus/regressions");
  ASSERT_TRUE(paths.ok()) << paths.status();
  EXPECT_GE(paths->size(), 52u);
  for (const std::string& path : *paths) {
    const auto c = ReadCase(path);
    ASSERT_TRUE(c.ok()) << c.status();
    EXPECT_EQ(path, absl::StrCat("corpus/regressions/", CaseFileName(*c)));
  }
}

TEST(CaseId, DependsOnEveryScale) {
  std::set<std::string> ids = {CaseId(Scaled())};
  for (int s = 64; s < 68; ++s) {
    RegressionCase c = Scaled();
    c.inputs.a[s] ^= 1;
    EXPECT_TRUE(ids.insert(CaseId(c)).second) << s;
    c = Scaled();
    c.inputs.b[s] ^= 1;
    EXPECT_TRUE(ids.insert(CaseId(c)).second) << s;
  }
}

TEST(CaseId, DependsOnInputsOnly) {
  RegressionCase c = DotProduct();
  c.answers.clear();
  c.slug = c.why = c.source = "other";
  c.bucket = Bucket::Unexplained();
  c.position = {};
  EXPECT_EQ(CaseId(c), CaseId(DotProduct()));
  for (auto change :
       {+[](RegressionCase& c) { c.inputs.a[3] ^= 1; },
        +[](RegressionCase& c) { c.inputs.b[0] ^= 1ull << 31; },
        +[](RegressionCase& c) { c.inputs.c[0] ^= 1; },
        +[](RegressionCase& c) { std::swap(c.inputs.a, c.inputs.b); },
        +[](RegressionCase& c) { c.op = FindOperation("sm_86/mma.m16n8k4.f32.tf32.tf32.f32"); }}) {
    RegressionCase other = DotProduct();
    change(other);
    EXPECT_NE(CaseId(other), CaseId(DotProduct()));
  }
}

TEST(ParseCase, SlugMayComeFromTheFileName) {
  const std::string text = absl::StrReplaceAll(
      FormatCase(DotProduct()), {{"slug: \"nan_payload\"", ""}, {"checksum", "# checksum"}});
  EXPECT_EQ(ParseCase(text, "d/other_1-0123456789ab.txtpb")->slug, "other_1");
  EXPECT_EQ(ParseCase(text, "d/Other-0123456789ab.txtpb")->slug, "case");
  EXPECT_EQ(ParseCase(text, "")->slug, "case");
}

TEST(ParseCase, AcceptsUpperCaseAndAliases) {
  const std::string text = absl::StrReplaceAll(
      FormatCase(DotProduct()),
      {{"0000abcd", "0000ABCD"}, {"instruction: \"sm_80/", "instruction: \"ampere/"}});
  const auto parsed = ParseCase(text, "x");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(CaseId(*parsed), CaseId(DotProduct()));
}

TEST(ParseCase, UnknownInstructionNamesTheNearest) {
  EXPECT_THAT(ErrorWith(kName, "sm_80/mma.m16n8k4.f32.tf32.tf32"),
              AllOf(HasSubstr("instruction: no instruction 'sm_80/mma.m16n8k4.f32.tf32.tf32'"),
                    HasSubstr(kName)));
  EXPECT_THAT(ErrorOf(""), HasSubstr("instruction"));
  ErrorOf(absl::StrCat("instruction: \"", std::string(1 << 20, 'x'), "\""));
}

TEST(ParseCase, EveryFieldIsChecked) {
  EXPECT_THAT(ErrorWith("slug: \"nan", "slug: \"NaN"),
              HasSubstr("slug: \"NaN_payload\", expected"));
  EXPECT_THAT(ErrorWith("i: 15", "i: 16"), HasSubstr("position: block 0, i 16, j 7; sm_80/"));
  EXPECT_THAT(ErrorWith("j: 7", "j: 4294967295"), HasSubstr("1 blocks of 16 x 8"));
  EXPECT_THAT(ErrorWith("a: \"7fa02000 ", "a: \""), HasSubstr("a[0]: 3 words, expected 4 of tf32"));
  EXPECT_THAT(ErrorWith("c: \"0000abcd\"", "c: \"0000abcd 0\""),
              HasSubstr("c[0]: 2 words, expected 1 of f32"));
  EXPECT_THAT(ErrorWith("42280000", "4228000g"), HasSubstr("b[0] word 3: '4228000g'"));
  EXPECT_THAT(ErrorWith("42280000", "422800001"), HasSubstr("b[0] word 3"));
  EXPECT_THAT(ErrorWith("42280000", "4228000"),
              HasSubstr("b[0] word 3: '4228000', expected 8 digits"));
  EXPECT_THAT(ErrorWith("c: \"0000abcd\"", ""),
              HasSubstr("a, b, c: 1, 1 and 0 rows; expected 16, 8 and 16 (an execution of "
                        "mma.m16n8k4.f32.tf32.tf32.f32) or 1, 1 and 1 (one dot product)"));
  EXPECT_THAT(ErrorWith("device: \"model\"", ""), HasSubstr("answers[1].device: empty"));
  EXPECT_THAT(ErrorWith("2025-11-20T15", "2025-11-20 15"), HasSubstr("answers[0].date: \"2025"));
  EXPECT_THAT(ErrorWith("d: \"7fc00000\"", ""), HasSubstr("answers[1].d: 0 rows, expected 1"));
  EXPECT_THAT(ErrorWith("d: \"7fc00000\"", "d: \"xyz\""),
              HasSubstr("answers[1].d[0] word 0: 'xyz'"));
  RegressionCase none = DotProduct();
  none.answers.clear();
  EXPECT_THAT(ErrorOf(FormatCase(none)), HasSubstr("answers: none"));
}

TEST(ParseCase, FailuresAreChecked) {
  const auto error = [](const char* from, const char* to) {
    EXPECT_THAT(FormatCase(Failing()), HasSubstr(from));
    return ErrorOf(absl::StrReplaceAll(FormatCase(Failing()), {{from, to}}));
  };
  EXPECT_THAT(error("device: \"exec:./unit x\"", ""), HasSubstr("no_word.device: empty"));
  EXPECT_THAT(error("2026-11-20T15", "2026-11-20 15"), HasSubstr("no_word.date: \"2026"));
  for (const char* wrong : {"failure: \"crash_signal_x", "failure: \"crash_signal_011",
                            "failure: \"Crash_signal_11", "failure: \"hang_signal_x"}) {
    EXPECT_THAT(error("failure: \"crash_signal_11", wrong),
                HasSubstr("expected unknown_bits, width, text, early_end, crash_... or hang"));
  }
  EXPECT_THAT(error("failure: ", "failing: "), HasSubstr("x.txtpb:27:10: "));
  EXPECT_THAT(error("age: 77", "age: -1"), HasSubstr("x.txtpb:28:8: "));
  RegressionCase tile = Execution(kName);
  tile.no_word = Failing().no_word;
  EXPECT_THAT(ErrorOf(FormatCase(tile)),
              HasSubstr("no_word: with an execution; expected one dot product"));
  tile.no_word.reset();
  tile.answers.front().age = 1;
  EXPECT_THAT(ErrorOf(FormatCase(tile)), HasSubstr("answers[0].age: with an execution"));
}

TEST(ParseCase, TextErrorsHaveLineAndColumn) {
  EXPECT_THAT(ErrorWith("why: ", "wherefore: "), HasSubstr("x.txtpb:7:"));
  EXPECT_THAT(ErrorOf("a: \"1\nb: 2"), HasSubstr("x.txtpb:1:"));
  EXPECT_THAT(ErrorOf("why: \"a\"\nwhy: \"b\""), HasSubstr("x.txtpb:2:"));
  EXPECT_THAT(ErrorOf(std::string("\0\xff", 2)), HasSubstr("x.txtpb:1:"));
  EXPECT_THAT(ErrorOf(std::string((4 << 20) + 1, '\n')), HasSubstr("the limit is 4194304"));
}

TEST(ParseCase, NoPrefixCrashesOrReadsAsAnotherCase) {
  const std::string text = FormatCase(DotProduct());
  for (size_t size = 0; size < text.size(); ++size) {
    const auto parsed = ParseCase(text.substr(0, size), "x");
    if (!parsed.ok()) continue;
    EXPECT_EQ(CaseId(*parsed), CaseId(DotProduct())) << size;
  }
}

class CaseFolder : public TestFolder {
 protected:
  std::string Write(const RegressionCase& c) const {
    const auto path = WriteCase(c, Path("cases"));
    EXPECT_TRUE(path.ok()) << path.status();
    return path.value_or("");
  }
};

TEST_F(CaseFolder, WritesUnderItsNameAndReadsBack) {
  const std::string path = Write(DotProduct());
  EXPECT_EQ(path, Path("cases/") + CaseFileName(DotProduct()));
  EXPECT_THAT(Get(path), StartsWith("# ./mmadiff replay " + path + "\n"));
  const auto read = ReadCase(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectSame(*read, DotProduct());
}

TEST_F(CaseFolder, MergesAnswersOfAnotherDevice) {
  RegressionCase first = DotProduct();
  first.answers.resize(1);
  first.why = "";
  const std::string path = Write(first);
  RegressionCase second = DotProduct();
  second.slug = "another";  // the file keeps its name
  second.bucket = ParseBucket(Family::kFusedSum, "other");
  second.answers[0].date = "2026-01-01T00:00:00Z";  // known already
  EXPECT_EQ(Write(second), path);
  second = DotProduct();
  second.answers = {{"cuda:0", "H100", "", {0x7fffffff}}, {"cuda:0", "H100", "", {0x7fffffff}}};
  Write(second);
  RegressionCase expected = DotProduct();
  expected.answers.push_back({"cuda:0", "H100", "", {0x7fffffff}});
  ExpectSame(*ReadCase(path), expected);
  // The same device with other bits keeps both: that is worth seeing.
  second.answers = {{"cuda:0", "H100", "", {0}}};
  Write(second);
  expected.answers.push_back(second.answers[0]);
  ExpectSame(*ReadCase(path), expected);
  EXPECT_THAT(*ListCases(Path("cases")), ElementsAre(path));
}

// Metadata that are not given are those that the zeros of A say: a file has them always.
TEST_F(CaseFolder, MetadataAreGivenOrSaidByZeros) {
  RegressionCase c;
  c.op = FindOperation("gfx1200/v_swmmac_f32_16x16x32_f16");
  c.inputs.Resize(DotProductShape(c.op->shape()), 1);
  c.inputs.a[3] = 0x3c00;
  c.answers = {{"model", "", "", {0}}};
  c.slug = "sparse";
  c.inputs.metadata.clear();
  const std::string path = Write(c);
  c.inputs.metadata.assign(8, 0);
  EXPECT_EQ(Write(c), path);
  c.inputs.metadata.assign(8, 0x4);
  c.inputs.metadata[0] = 0xc;
  EXPECT_EQ(Write(c), path);
  ExpectSame(*ReadCase(path), c);
  c.inputs.metadata[0] = 0xd;
  EXPECT_NE(Write(c), path);
}

// Two findings may show themselves in the same operands.
TEST_F(CaseFolder, AnotherSlugIsAnotherCaseIfAsked) {
  RegressionCase c = DotProduct();
  c.slug = "one";
  const auto one = WriteCase(c, Path("cases"), true);
  c.slug = "two";
  c.why = "another";
  const auto two = WriteCase(c, Path("cases"), true), again = WriteCase(c, Path("cases"), true);
  ASSERT_TRUE(one.ok() && two.ok() && again.ok());
  EXPECT_EQ(*two, *again);
  EXPECT_THAT(*ListCases(Path("cases")), ElementsAre(*one, *two));
  EXPECT_NE(ReadCase(*one)->why, "another");
  EXPECT_EQ(ReadCase(*two)->why, "another");
}

TEST_F(CaseFolder, RefusesWhatCouldNotBeReadAgain) {
  RegressionCase c = DotProduct();
  c.slug = "../up";
  EXPECT_EQ(WriteCase(c, Path("cases")).status().code(), absl::StatusCode::kInvalidArgument);
  c = DotProduct();
  c.answers[0].d.clear();
  EXPECT_EQ(WriteCase(c, Path("cases")).status().code(), absl::StatusCode::kInvalidArgument);
  c = DotProduct();
  c.inputs.a[0] |= 1ull << 32;
  EXPECT_EQ(WriteCase(c, Path("cases")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(Path("cases")));
}

TEST_F(CaseFolder, DamagedExistingFileIsNotOverwritten) {
  const std::string path = Write(DotProduct());
  std::ofstream(path) << "not a case";
  EXPECT_EQ(WriteCase(DotProduct(), Path("cases")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Get(path), "not a case");
}

TEST_F(CaseFolder, ChangedOperandsShowInTheName) {
  const std::string path = Write(DotProduct());
  RegressionCase changed = DotProduct();
  changed.inputs.b[3] ^= 1;
  std::ofstream(path) << FormatCase(changed);
  const absl::Status s = ReadCase(path).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), AllOf(HasSubstr(path), HasSubstr(CaseFileName(changed))));
  EXPECT_TRUE(ReadCase(Put("mine.txtpb", FormatCase(changed))).ok());
}

TEST_F(CaseFolder, EverythingThatAFileSaysBelongsToItsChecksum) {
  const std::string path = Write(DotProduct()), text = Get(path);
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"7fffffff", "7ffffffe"},
           {"42280000", "42280001"},
           {"0000abcd", "0000abcc"},
           {"slug: \"nan", "slug: \"nbn"},
           {"why: \"The", "why: \"the"},
           {"special:", "special;"},
           {"@g1:1:17", "@g1:1:18"},
           {"i: 15", "i: 14"},
           {"device: \"cuda:0\"", "device: \"cuda:1\""},
           {"A100", "A101"},
           {"2025-11", "2025-10"},
           {"identity: \"3\"", ""},
           {"sm_80/", "sm_86/"},
           {"checksum: \"", "checksum: \"0"}}) {
    ASSERT_TRUE(absl::StrContains(text, from)) << from;
    const std::string changed = absl::StrReplaceAll(text, {{from, to}});
    for (const std::string& name : {path, Path("mine.txtpb")}) {
      std::ofstream(name) << changed;
      const absl::Status s = ReadCase(name).status();
      EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss) << from;
      EXPECT_THAT(s.message(), HasSubstr("checksum: does not match the contents")) << from;
    }
  }
  const std::string none = text.substr(0, text.find("checksum: "));
  EXPECT_TRUE(ReadCase(Put("mine.txtpb", none)).ok()) << "a name without an id promises nothing";
  std::ofstream(path) << none;
  EXPECT_THAT(ReadCase(path).status().message(), HasSubstr("checksum: none"));
}

TEST_F(CaseFolder, ListsInOrderOfPaths) {
  std::filesystem::create_directories(Path("l/b"));
  std::filesystem::create_directories(Path("l/a"));
  for (const char* name : {"l/b/1.txtpb", "l/a/2.txtpb", "l/a/1.txtpb", "l/a/1.txtpb.tmpabcdef"}) {
    Put(name, "");
  }
  EXPECT_THAT(*ListCases(Path("l")),
              ElementsAre(Path("l/a/1.txtpb"), Path("l/a/2.txtpb"), Path("l/b/1.txtpb")));
  EXPECT_THAT(*ListCases(Path("l/a/1.txtpb")), ElementsAre(Path("l/a/1.txtpb")));
  EXPECT_EQ(ListCases(Path("none")).status().code(), absl::StatusCode::kNotFound);
  std::filesystem::create_directories(Path("empty"));
  EXPECT_THAT(*ListCases(Path("empty")), IsEmpty());
}

}  // namespace
}  // namespace mmadiff
