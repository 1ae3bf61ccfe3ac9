#include <gmock/gmock.h>

#include "absl/strings/str_replace.h"
#include "triage/plan/recording.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

constexpr char kText[] = R"({"device": "blas:x", "device_identity": "libx.so, threads 2",
 "facts": [{"fact": "name", "value": "libx.so"}, {"fact": "threads", "value": "2"}],
 "formats": "f32,f32,f32", "alpha": 1.0, "beta": 0.5,
 "shapes": [
  {"m": 1, "n": 2, "k": 3, "plans": [], "unexplained": 2, "differing": 0, "seed": 0, "digest": ""},
  {"m": 4, "n": 5, "k": 6, "differing": 7, "seed": 18446744073709551615,
   "plans": [{"plan": "x86/vfmadd231ss | f32", "where": "rows 0"},
             {"plan": "x86/vfmadd231ss | every 4: add | f32", "where": "rows 1-3"}],
   "digest": "0123456789abcdef", "other": [[]]}]})";

TEST(PlanRecording, IsRead) {
  const auto recording = ParsePlanRecording(kText);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->device, "blas:x");
  EXPECT_EQ(recording->identity.facts.size(), 2);
  EXPECT_EQ(Name(recording->kind.formats), "f32,f32,f32");
  EXPECT_EQ(recording->kind.factors.beta, 0.5);
  ASSERT_EQ(recording->shapes.size(), 2);
  EXPECT_TRUE(recording->shapes[0].plans.empty() && recording->shapes[0].digest.empty());
  const RecordedShape& shape = recording->shapes[1];
  EXPECT_EQ(shape.shape, (MatrixShape{4, 5, 6}));
  EXPECT_EQ(shape.differing, 7);
  EXPECT_EQ(shape.seed, UINT64_MAX);
  EXPECT_EQ(shape.digest, "0123456789abcdef");
  EXPECT_THAT(shape.plans, testing::ElementsAre(
                               testing::Pair("x86/vfmadd231ss | f32", "rows 0"),
                               testing::Pair("x86/vfmadd231ss | every 4: add | f32", "rows 1-3")));
}

struct BadRecordingText {
  const char *from, *to, *message;
};
const BadRecordingText kBadTexts[] = {
    {"{", "[", "is not a JSON object"},
    {"\"device\"", "\"b\"", "has no text 'device'"},
    {"\"blas:x\"", "1", "has no text 'device'"},
    {"\"threads\"", "\"thread\"", "'facts': unknown fact 'thread'"},
    {"threads 2", "threads 1", "'device_identity' is not that of 'facts'"},
    {"f32,f32,f32", "f32,f32", "'formats': are not those of A, B and D"},
    {"f32,f32,f32", "f32,f33,f32", "'formats': no format 'f33'"},
    {"\"beta\"", "\"bet\"", "has no number 'beta'"},
    {"\"shapes\": [", "\"shapes\": [1, ", "has no list 'shapes' of objects"},
    {"\"shapes\": [", "\"shapes\": [[[[[[[[[[1]]]]]]]]], ", "has no list 'shapes' of objects"},
    {"\"shapes\": [", "\"shapes\": [], \"more\": [", "'shapes': is empty"},
    {"\"m\": 4", "\"m\": -4", "shapes[1]: has no number 'm' from 0"},
    {"\"m\": 4", "\"m\": 4.0", "shapes[1]: has no number 'm' from 0"},
    {"\"m\": 4", "\"m\": 0", "shapes[1]: 'm' is 0"},
    {"\"m\": 4", "\"m\": 268435457", "shapes[1]: 'm' is 268435457, more than 268435456"},
    {"\"m\": 4", "\"m\": 53687092", "shapes[1]: 53687092 x 5 x 6 has a matrix of more than"},
    {"\"seed\": 1", "\"seed\": 10", "shapes[1]: has no number 'seed' from 0"},
    {"abcdef", "ABCDEF", "shapes[1]: 'digest' is not 16 hexadecimal digits"},
    {"abcdef", "", "shapes[1]: 'digest' is not 16 hexadecimal digits"},
    {"every 4: add | f32", "every 4: add | f16", "shapes[1]: a plan for f16, not for D in f32"},
    {"every 4", "every", "shapes[1]: "},
    {"\"rows 0\"", "null", "shapes[1]: has no text 'where'"},
};

TEST(PlanRecording, NamesWhatIsWrong) {
  for (const auto& [from, to, message] : kBadTexts) {
    const std::string text = absl::StrReplaceAll(kText, {{from, to}});
    ASSERT_NE(text, kText);
    const absl::Status s = ParsePlanRecording(text).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss) << text;
    EXPECT_THAT(s.message(), HasSubstr(message));
  }
}

TEST(PlanRecording, FilesAreNamed) {
  EXPECT_EQ(ReadPlanRecording("/none/x.json").status().code(), absl::StatusCode::kInvalidArgument);
  const absl::Status s = ReadPlanRecording("corpus/plans/kernels.tsv").status();
  EXPECT_EQ(s, absl::DataLossError("corpus/plans/kernels.tsv: is not a JSON object"));
}

}  // namespace
}  // namespace mmadiff
