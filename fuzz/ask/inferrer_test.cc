// Recordings of hardware, operations that no table has, and what is filed.
#include "fuzz/ask/inferrer.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "corpus/durable_file.h"
#include "corpus/recordings/recording.h"
#include "corpus/testing/folder.h"
#include "fuzz/unit/devices.h"
#include "gtest/gtest.h"
#include "sim/tree/model_text.h"
#include "triage/infer/search.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

constexpr char kRecorded[] = "corpus/observations/khattak_mikaitis";

Operation Unknown(const Operation& op) {
  Operation unknown = op;
  unknown.model.algorithm = {.family = Family::kNone};
  return unknown;
}

std::vector<Observed> AnswersOf(const std::string& path) {
  std::vector<Observed> answers;
  const auto stats = ReadRecordings(path, "", [&](const Recording& r) {
    const Batch inputs = *InputsOf(r);
    for (int64_t i = 0; i < inputs.dot_products(); ++i) {
      answers.push_back({Extract(inputs, i), r.d[i]});
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(stats.ok()) << stats.status();
  return answers;
}

const Operation* OperationOf(const std::string& path) {
  const Operation* op = nullptr;
  const auto stats = ReadRecordings(path, "", [&](const Recording& r) {
    op = r.op;
    return absl::OkStatus();
  });
  return op;
}

// Of every recording a row that gives all of its answers, without knowing the table's.
TEST(InferrerTest, Recordings) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kRecorded)) {
    const std::string path = entry.path().string();
    if (path.find(".txt.gz") == std::string::npos) continue;
    const Operation* op = OperationOf(path);
    ASSERT_NE(op, nullptr) << path;
    const DeviceOr device = OpenDevice("recorded:" + path);
    ASSERT_TRUE(device.ok()) << device.status();
    const absl::StatusOr<Inference> inference = InferFromRecording(path, **device, Unknown(*op));
    ASSERT_TRUE(inference.ok()) << inference.status();
    ASSERT_TRUE(inference->algorithm) << path;
    const Model found = WithAlgorithm(*op, *inference->algorithm);
    for (const Observed& o : AnswersOf(path)) ASSERT_EQ(Simulate(found, o.dot), o.d) << path;
    EXPECT_FALSE(inference->undetermined.empty()) << path;
    ++files;
  }
  EXPECT_GE(files, 40);
}

// The form of emulated FP8 from that of native FP8: steps, their order and where the addend joins. (The
// 256 recorded answers of B200 with f32 results are also those of one step.)
TEST(InferrerTest, EmulatedFp8) {
  for (const char* name :
       {"sm_90.H100.mma.m16n8k32.f16.e4m3.e4m3.f16", "sm_90.H200.mma.m16n8k32.f16.e5m2.e5m2.f16",
        "sm_100.B200.mma.m16n8k32.f16.e5m2.e5m2.f16"}) {
    const std::string path = std::string(kRecorded) + "/" + name + ".txt.gz";
    const Operation* op = OperationOf(path);
    ASSERT_NE(op, nullptr);
    const std::vector<Observed> answers = AnswersOf(path);
    Algorithm native = FindOperation("sm_90/wgmma.m64n8k32.f32.e4m3.e4m3")->model.algorithm;
    native.output_fraction_bits = op->model.d.fraction_bits;
    ASSERT_TRUE(WhyInvalid(WithAlgorithm(*op, native)).empty());
    std::vector<Candidate> found = {Improve(*op, answers, {native}, [] { return false; })};
    SearchAgain(*op, answers, found, [] { return false; });
    EXPECT_EQ(found[0].missed, 0u) << name;
    EXPECT_EQ(found[0].algorithm.addend_joins, AddendJoins::kLastAdd) << name;
    EXPECT_EQ(found[0].algorithm.terms, 16) << name;
    EXPECT_EQ(found[0].algorithm.grouping, Grouping::kPairsOfFour) << name;
  }
}

TEST(InferrerTest, UnlistedOperations) {
  const auto made = UnlistedOperation("f16,f16,f32,f32", 16, "");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ((*made)->name, "unlisted/k16.f32.f16.f16.f32");
  const auto scaled = UnlistedOperation("e4m3,e5m2,f32,f32", 64, "ue8m0:32");
  ASSERT_TRUE(scaled.ok()) << scaled.status();
  EXPECT_EQ((*scaled)->model.scales(), 2);
  for (const auto& [formats, name] :
       {std::pair("half,float16,float,FP32", "unlisted/k8.f32.f16.f16.f32"),
        std::pair("e5m10,float8_e4m3b11fnuz,e8m23,e6m9", "unlisted/k8.e6m9.f16.e4m3b11fnuz.f32"),
        std::pair("float8_e5m2fnuz,e4m3ieee,f32,f32", "unlisted/k8.f32.e5m2fnuz.e4m3ieee.f32")}) {
    const auto quoted = UnlistedOperation(formats, 8, "");
    ASSERT_TRUE(quoted.ok()) << quoted.status();
    EXPECT_EQ((*quoted)->name, name);
  }
  const Model& model = FindOperation("sm_80/mma.m16n8k16.f32.f16.f16.f32")->model;
  ModelDevice device(model);
  const Inference inference = Infer(device, **made, {100000, 10000, {}});
  EXPECT_EQ(inference.algorithm, model.algorithm);
  for (const auto& [formats, k, scale, what] :
       {std::tuple("f16,f16,f32", 16, "", "the formats of a, b, c and d"),
        std::tuple("f16,f16,f32,f31", 16, "", "--formats, column 16: 'f31' is not a format"),
        std::tuple("f16,e5m10x,f32,f32", 16, "", "--formats, column 10: 'e5m10x' is not a format"),
        std::tuple("fp8,f16,f32,f32", 16, "", "may mean e4m3, e5m2, e4m3fnuz, e5m2fnuz"),
        std::tuple("f16,f16,f32,e4m3", 16, "ue5m3:16",
                   "--scale, column 6: 'ue5m3' is not a format"),
        std::tuple("f16,f16,f32,f32", 0, "", "--k, 1 to 256"),
        std::tuple("f16,f16,f32,f32", 257, "", "--k, 1 to 256"),
        std::tuple("s8,s8,s32,f32", 16, "", "cannot mix"),
        std::tuple("e4m3,e4m3,f32,f32", 32, "ue8m0", "FORMAT:BLOCK"),
        std::tuple("f16,ue8m0,f32,f32", 32, "", "ue8m0 has no sign"),
        std::tuple("ue4m3,f16,f32,f32", 32, "", "ue4m3 has no sign"),
        std::tuple("e4m3,e4m3,f32,f32", 32, "ue8m0:3", "BLOCK divides k"),
        std::tuple("f32,-,-,e4m3", 2, "", "--k=1"), std::tuple("f32,-,f32,e4m3", 1, "", "--k=1"),
        std::tuple("f32,-,-,s8", 1, "", "--k=1")}) {
    const auto bad = UnlistedOperation(formats, k, scale);
    ASSERT_FALSE(bad.ok()) << formats;
    EXPECT_NE(std::string(bad.status().message()).find(what), std::string::npos) << bad.status();
  }
}

// What is filed is read as a recording, which gives the same answers.
using FiledInferenceTest = TestFolder;

TEST_F(FiledInferenceTest, IsARecording) {
  const Operation& op = *FindOperation("x86/vdpbf16ps");
  ModelDevice device(op.model);
  for (const char* name : {"x86/vdpbf16ps", "unlisted/k2.f32.bf16.bf16.f32"}) {
    const Operation& asked = *FindOperation(name, Models::kOptional);
    const Inference inference = Infer(device, asked, {2000, 0, {}});
    ASSERT_TRUE(FileInference(Path(""), device, asked, inference).ok());
    const std::vector<Observed> read =
        AnswersOf(Path(absl::StrReplaceAll(name, {{"/", "."}}) + ".txt"));
    ASSERT_EQ(read.size(), inference.answers.size());
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].dot, inference.answers[i].observed.dot);
      EXPECT_EQ(read[i].d, inference.answers[i].observed.d);
    }
    const auto text = ReadFile(Path(absl::StrReplaceAll(name, {{"/", "."}}) + ".model"));
    TextError error;
    const auto model = ParseModel(*text, &error);
    ASSERT_TRUE(model.has_value()) << error.what;
    EXPECT_TRUE(SameModel(*model, WithAlgorithm(asked, *inference.algorithm)));
  }
}

}  // namespace
}  // namespace mmadiff
