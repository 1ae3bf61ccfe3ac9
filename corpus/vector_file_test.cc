// Vector files: what is read, and every way in which a file can be bad.
#include "corpus/vector_file.h"

#include <gmock/gmock.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "corpus/testing/folder.h"
#include "corpus/vector_folder.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kMma[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
constexpr char kGood[] = R"(# A comment.
source: Somebody (2021)
link: example

vector: sum
about: 1 + 1 = 2
section: Sums
reason: they added 1
formats: f32 f16 f16 f32
operands: 3c00 | 3c00 | 3f800000
operands: 0000 3c00 | 0000 3c00 | 3f800000
observed: 40000000 sm_{80,90}/mma.m16n8k16.f32.f16.f16.f32 : A100, H100
published: 40000000 sm_70/*.f32.f16.f16.f32 : Somebody, model: V100
expected: 40000000 sm_120/mma.m16n8k16.f32.f16.f16.f32
contested: 40400000 sm_90/mma.m16n8k16.f32.f16.f16.f32 : Somebody else
reading: 40000000 a sum
reading: NAN no sum

vector: nan
about: NaN
formats: f32 f16 f16 f32
operands: 7e00* | 3c00* | 00000000
expected: NAN sm_90/mma.m16n8k16.f32.f16.f16.f32

end
)";

TEST(ParseVectors, EverythingIsRead) {
  const absl::StatusOr<VectorFile> file = ParseVectors(kGood, "some/where/paper.txt");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->source, "Somebody (2021)");
  EXPECT_EQ(file->link, "example");
  ASSERT_EQ(file->vectors.size(), 2u);
  const Vector& sum = file->vectors[0];
  EXPECT_EQ(sum.name, "paper/sum");
  EXPECT_EQ(sum.about, "1 + 1 = 2");
  EXPECT_EQ(sum.section, "Sums");
  EXPECT_EQ(sum.reason, "they added 1");
  EXPECT_EQ(sum.operands.size(), 2u);
  ASSERT_EQ(sum.answers.size(), 4u);
  EXPECT_EQ(sum.answers[0].kind, AnswerKind::kObserved);
  EXPECT_THAT(sum.answers[0].ops, ElementsAre(FindOperation("sm_80/mma.m16n8k16.f32.f16.f16.f32"),
                                              FindOperation(kMma)));
  EXPECT_EQ(sum.answers[0].who, "A100, H100");
  EXPECT_EQ(sum.answers[1].who, "Somebody, model: V100");
  // A '*' finds the operations with the vector's formats, wmma among them, and no others.
  EXPECT_THAT(sum.answers[1].ops,
              testing::Contains(FindOperation("sm_70/mma.m8n8k4.f32.f16.f16.f32")));
  EXPECT_GE(sum.answers[1].ops.size(), 2u);
  EXPECT_EQ(sum.answers[3].kind, AnswerKind::kContested);
  EXPECT_EQ(WordText(sum, sum.answers[3]), "40400000");
  EXPECT_EQ(*ReadingOf(sum, 0x40000000), "a sum");
  EXPECT_EQ(*ReadingOf(sum, 0xffc00001), "no sum");
  EXPECT_EQ(ReadingOf(sum, 0x40000001), nullptr);
  EXPECT_TRUE(file->vectors[1].answers[0].any_nan);
  EXPECT_EQ(WordText(file->vectors[1], file->vectors[1].answers[0]), "NAN");
}

TEST(ParseVectors, Operands) {
  const Operation& scaled = *FindOperation("sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0");
  Vector v = {"f/v", "", "", "", &kF32, &kE2m1, &kE2m1, &kF32, &kUe8m0, {}, {}, {}};
  const auto dot = DotProductOf(v, "02 @8 0a | 01* | 40000000 | 96 | 7f 80", scaled);
  ASSERT_TRUE(dot.ok()) << dot.status();
  ASSERT_EQ(dot->a.size(), 66u);
  EXPECT_EQ(dot->a[0], 2u);
  EXPECT_EQ(dot->a[7], 0u);
  EXPECT_EQ(dot->a[8], 10u);
  EXPECT_EQ(dot->a[9], 0u);
  EXPECT_EQ(dot->b[63], 1u);
  EXPECT_EQ(dot->c, 0x40000000u);
  EXPECT_EQ(dot->a[64], 0x96u);
  EXPECT_EQ(dot->a[65], 0x7fu);  // 1.0
  EXPECT_EQ(dot->b[65], 0x80u);
  EXPECT_EQ(DotProductOf(v, "02 | 02 | 00000000", scaled)->b[64], 0x7fu);
  EXPECT_FALSE(DotProductOf(v, "@64 02 | 02 | 00000000", scaled).ok());
  EXPECT_FALSE(DotProductOf(v, "02 | 02 | 00000000", *FindOperation(kMma)).ok());
}

TEST(ParseVectors, DenseOperandsAreNotForASparseInstruction) {
  const Operation& sparse = *FindOperation("gfx942/v_smfmac_f32_16x16x32_f16", Models::kOptional);
  const Vector v = {"f/v", "", "", "", &kF32, &kF16, &kF16, &kF32, nullptr, {}, {}, {}};
  EXPECT_TRUE(DotProductOf(v, "3c00 3c00 | 3c00 | 00000000", sparse).ok());
  EXPECT_THAT(std::string(DotProductOf(v, "3c00* | 3c00 | 00000000", sparse).status().message()),
              testing::HasSubstr("is sparse: at most two of each group of four elements of A"));
}

TEST(Is, BitsOrAnyNan) {
  const absl::StatusOr<VectorFile> file = ParseVectors(kGood, "paper.txt");
  ASSERT_TRUE(file.ok()) << file.status();
  const Operation& op = *FindOperation(kMma);
  const VectorAnswer &two = file->vectors[0].answers[0], &nan = file->vectors[1].answers[0];
  EXPECT_TRUE(Is(two, op, 0x40000000));
  EXPECT_FALSE(Is(two, op, 0x40000001));
  EXPECT_TRUE(Is(nan, op, 0x7fffffff));
  EXPECT_TRUE(Is(nan, op, 0xffc00001));
  EXPECT_FALSE(Is(nan, op, 0x7f800000));
  const Operation& any = *FindOperation("sm_80/mma.m8n8k4.f64.f64.f64.f64");
  ASSERT_EQ(any.numerics->nan_verdict, NanVerdict::kAnyNan);
  VectorAnswer wide = nan;
  wide.any_nan = false;
  wide.d = 0x7ff8000000000000;
  EXPECT_TRUE(Is(wide, any, 0xfff8000000000001));
  EXPECT_FALSE(Is(wide, any, 0));
}

struct BadFile {
  const char *from, *to;  // replaced in kGood; no `from`: the whole file
  const char* says;
};
constexpr BadFile kBad[] = {
    {nullptr, "", "paper.txt:1: empty"},
    {nullptr, "# nothing\n", "empty; begin with 'source: '"},
    {nullptr, "source: x\n", "no vector"},
    {"source: Somebody (2021)\n", "", ":2: 'link': begin the file with 'source: '"},
    {"link: example", "source: again", ":3: 'source' appears twice"},
    {"vector: nan", "vector: sum", ":19: vector 'sum' appears twice; rename one"},
    {"vector: nan", "vector: Nan", ":19: vector 'Nan': name it"},
    {"vector: nan\n", "", ":19: 'about': 'vector: ' comes first"},
    {"about: NaN\n", "", "paper/nan: add 'about: '"},
    {"operands: 7e00* | 3c00* | 00000000\n", "", "paper/nan: add 'formats: ' and 'operands: '"},
    {"expected: NAN sm_90/mma.m16n8k16.f32.f16.f16.f32\n", "", "paper/nan: add an answer"},
    {"formats: f32 f16 f16 f32\noperands: 7", "operands: 7", ":21: operands: 'formats: '"},
    {"formats: f32 f16 f16 f32\noperands: 7", "formats: f32 f16 f61 f32\noperands: 7",
     ":21: no format 'f61'; `mmadiff list formats`"},
    {"formats: f32 f16 f16 f32\noperands: 7", "formats: f32 f16\noperands: 7",
     ":21: formats: write"},
    {"7e00* | 3c00*", "7e0* | 3c00*", ":22: operands: '7e0' has 3 digits; write all 4 of f16"},
    {"7e00* | 3c00*", "7e0g* | 3c00*", ":22: operands: "},
    {"7e00* | 3c00*", "@x 7e00 | 3c00*", ":22: operands: 'x' after '@'"},
    {"7e00* | 3c00*", "@16 7e00 | 3c00*",
     "m16n8k16.f32.f16.f16.f32: word 16, but there are only 16"},
    {"7e00* | 3c00*", "@99999999999999999999 7e00 | 3c00*", ":22: operands: "},
    {"7e00* | 3c00* |", "7e00* |", ":22: operands: 2 parts; write a | b | c"},
    {"00000000\nexpected", "00000000 | 7f | 7f\nexpected", ":22: operands: 5 parts"},
    {"expected: NAN", "expected: 4000000", ":23: answer: '4000000' has 7 digits"},
    {"expected: NAN", "guessed: NAN", ":23: 'guessed': not a field of a vector"},
    {"expected: NAN", "expected NAN", ":23: 'expected NAN "},
    {"NAN sm_90/mma.m16n8k16.f32.f16.f16.f32", "NAN", ":23: add the instructions after the word"},
    {"NAN sm_90/mma.m16n8k16.f32", "NAN sm_90/mma.m16n8k17.f32", ":23: "},
    {"NAN sm_90/mma.m16n8k16.f32", "NAN sm_99/*.f32",
     ":23: 'sm_99/*.f32.f16.f16.f32': no instruction"},
    {"NAN sm_90/mma.m16n8k16.f32", "NAN sm_90/{mma,nma}.m16n8k16.f32", ":23: "},
    {"NAN sm_90/mma.m16n8k16.f32.f16.f16", "NAN sm_90/mma.m16n8k16.f32.bf16.bf16",
     "has the formats f32 bf16 bf16 f32"},
    {"NAN sm_90/mma", "NAN sm_{90/mma", ":23: 'sm_{90/mma.m16n8k16.f32.f16.f16.f32': unbalanced"},
    {"NAN sm_90/mma", "NAN sm_}90/mma", "unbalanced"},
    {"NAN sm_90/mma", "NAN sm_{9{0}}/mma", "unbalanced"},
    {"NAN sm_90/mma", "NAN sm_$1/mma", "'$' is not supported"},
    {"NAN sm_90/mma", "NAN sm_****/mma", "too many '*'"},
    {"NAN sm_90/mma",
     "NAN {0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1}/mma",
     "too many alternatives"},
    {"expected: 40000000 sm_120", "expected: 40000000 sm_90",
     ":14: line 12 already answers for sm_90/mma.m16n8k16.f32.f16.f16.f32; keep one"},
    {" : A100, H100", "", ":12: observed: no source"},
    {" : Somebody, model: V100", " : ", ":13: published: no source"},
    {" : Somebody else", "", ":15: contested: no source"},
    {"reason: they added 1\n", "", ":14: contested: add 'reason: '"},
    {"NAN no sum", "NAN", ":17: reading: write WORD"},
    {"NAN no sum", "40000000 twice", ":17: reading: 40000000 appears twice"},
    {"NAN no sum", "4000000 short", ":17: answer: "},
    {"about: NaN", "about:", ":20: 'about:': write NAME: VALUE"},
    {"about: NaN", "about: \x1b[31mred", ":20: a control character"},
    {"about: NaN", "about: NaN\r", ":20: the line ends in CR LF"},
    {"about: NaN", "about: Na\rN", ":20: a control character"},
    {"about: NaN", "about: \xc2\x9b", ":20: a control character"},
    {"about: NaN", "about: \xff", ":20: a control character or invalid UTF-8: 'about: \\xff'"},
    {"about: NaN", "about: \xed\xa0\x80", "invalid UTF-8"},
    {"about: NaN", "about: \xc0\xaf", "invalid UTF-8"},
    {"\nend\n", "\nen", "the file was cut off"},
    {"\nend\n", "", ":24: the last line is not 'end': the file was cut off"},
    {"end\n", "end\nabout: more\n", ":26: 'about: more' follows 'end'"},
};

TEST(ParseVectors, BadFilesSayWhereAndWhatToDo) {
  for (const BadFile& bad : kBad) {
    std::string text = kGood;
    if (bad.from == nullptr) {
      text = bad.to;
    } else {
      const size_t at = text.rfind(bad.from);
      ASSERT_NE(at, text.npos) << bad.from;
      text.replace(at, std::string(bad.from).size(), bad.to);
    }
    const absl::Status s = ParseVectors(text, "paper.txt").status();
    EXPECT_THAT(std::string(s.message()), HasSubstr(bad.says)) << text;
    EXPECT_THAT(std::string(s.message()), testing::StartsWith("paper.txt:"));
    EXPECT_FALSE(absl::StrContains(s.message(), "\x1b"));
  }
  EXPECT_FALSE(ParseVectors(kGood, "Pa per.txt").ok());
  EXPECT_TRUE(
      ParseVectors(absl::StrReplaceAll(kGood, {{"NaN", "\xc3\xbc \xe2\x88\x9e"}}), "paper.txt")
          .ok());
}

TEST(ParseVectors, EveryTruncationIsRefused) {
  const std::string text = kGood;
  for (size_t size = 0; size < text.size(); ++size) {
    const absl::Status s = ParseVectors(text.substr(0, size), "paper.txt").status();
    EXPECT_FALSE(s.ok()) << size;
    if (size == 0 || text[size - 1] == '\n') continue;
    EXPECT_THAT(std::string(s.message()), HasSubstr("the file was cut off"));
  }
}

TEST(ParseVectors, EveryCorruptByteIsReadOrRefused) {
  constexpr char kBytes[] = {'\0', '\n', ' ', '{', '}', '*', '@', ':', '|', '$', '\x1b', '\xff'};
  for (size_t i = 0; kGood[i] != '\0'; ++i) {
    std::string text = kGood;
    text[i] = kBytes[i % sizeof kBytes];
    const absl::Status s = ParseVectors(text, "paper.txt").status();
    EXPECT_FALSE(absl::StrContains(s.message(), '\x1b'));
  }
}

TEST(ParseVectors, OnlyQuestionsNeedNoAnswer) {
  const std::string text =
      absl::StrReplaceAll(kGood, {{"expected: NAN sm_90/mma.m16n8k16.f32.f16.f16.f32\n", ""}});
  EXPECT_FALSE(ParseVectors(text, "paper.txt").ok());
  const absl::StatusOr<VectorFile> file = ParseVectors(text, "questions.txt");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->vectors[1].answers.empty());
}

TEST(IsLineProtocol, AndNotDamagedVectors) {
  EXPECT_TRUE(IsLineProtocol("# instruction: x86/vfmadd231ss\n3f800000 3f800000 0 0\n"));
  EXPECT_TRUE(IsLineProtocol("# instruction: x86/vfmadd231ss\n"));
  EXPECT_TRUE(IsLineProtocol("00 11\n"));
  EXPECT_FALSE(IsLineProtocol(kGood));
  EXPECT_FALSE(IsLineProtocol(""));
  EXPECT_FALSE(IsLineProtocol("# a comment\n"));
  EXPECT_FALSE(IsLineProtocol(std::string(64, '\0') + kGood));
}

TEST(EmbeddedVectors, AreFoundByName) {
  ASSERT_FALSE(EmbeddedVectors().empty());
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) EXPECT_EQ(FindVector(v.name), &v) << v.name;
  }
  EXPECT_EQ(FindVector("none/none"), nullptr);
}

}  // namespace
}  // namespace mmadiff
