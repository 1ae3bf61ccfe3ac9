// The device `recorded:PATH`.
#include "corpus/recordings/recorded_device.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "corpus/recordings/recording.h"
#include "corpus/regression_case.h"
#include "corpus/testing/folder.h"
#include "device/line_protocol.h"
#include "device/testing/operations.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kMma[] = "sm_80/mma.m16n8k8.f16.f16.f16.f16";

class RecordedDevice : public TestFolder {
 protected:
  static std::unique_ptr<Device> Open(const std::string& path) {
    DeviceOr device = OpenRecorded(path);
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }
  const Operation& fma_ = *FindOperation("x86/vfmadd231ss");
  const Operation& mma_ = *FindOperation(kMma);
};

Batch Dots(const Operation& op, const std::vector<DotProductCase>& dots) {
  return MakeDotProductBatch(op.shape(), dots);
}

// A text case with one execution whose answer is the model's, but for what `change` does.
template <typename Change>
RegressionCase Tile(const Operation& op, uint64_t seed, Change change) {
  RegressionCase c;
  c.op = &op;
  c.inputs.Resize(op.shape(), 1);
  for (auto* words : {&c.inputs.a, &c.inputs.b, &c.inputs.c}) {
    for (uint64_t& w : *words) w = 0x3c00 + (seed++ * 37 & 0xff);
  }
  std::vector<uint64_t> d(c.inputs.dot_products());
  Simulate(op.model, c.inputs, d);
  change(c.inputs, d);
  c.answers = {{"cuda:0", "A100", "", d}};
  return c;
}

TEST_F(RecordedDevice, AnswersDotProductsByTheirOperands) {
  const std::string path = Put("x86.K6.vfmadd231ss.txt", "1 2 3 4\n1 2 4 5\n2 1 3 6\n1 2 3 4\n");
  const auto device = Open(path);
  EXPECT_EQ(device->name(), "recorded:" + path);
  EXPECT_EQ(Name(device->identity()), "K6");
  EXPECT_TRUE(device->Supports(fma_).ok());
  EXPECT_THAT(*device->Run(fma_, Dots(fma_, {{{2}, {1}, 3}, {{1}, {2}, 3}, {{1}, {2}, 4}})),
              ElementsAre(6, 4, 5));
}

TEST_F(RecordedDevice, OpenedAgainItIsTheSame) {
  const std::string path = Put("x86.K6.vfmadd231ss.txt", "1 2 3 4\n");
  auto first = Open(path);
  const std::string fingerprint = first->ContentsHash();
  Put("x86.K6.vfmadd231ss.txt", "1 2 3 5\n");
  EXPECT_EQ(Open(path)->ContentsHash(), fingerprint);  // while the first is open
  EXPECT_THAT(*Open(path)->Run(fma_, Dots(fma_, {{{1}, {2}, 3}})), ElementsAre(4));
  first.reset();
  EXPECT_NE(Open(path)->ContentsHash(), fingerprint);
  EXPECT_THAT(*Open(path)->Run(fma_, Dots(fma_, {{{1}, {2}, 3}})), ElementsAre(5));
}

TEST_F(RecordedDevice, EveryOperandCounts) {
  const auto device = Open(Put("x86.vfmadd231ss.txt", "1 1 1 a\n2 1 1 b\n1 2 1 c\n1 1 2 d\n"));
  EXPECT_THAT(
      *device->Run(fma_, Dots(fma_, {{{1}, {1}, 1}, {{2}, {1}, 1}, {{1}, {2}, 1}, {{1}, {1}, 2}})),
      ElementsAre(0xa, 0xb, 0xc, 0xd));
}

TEST_F(RecordedDevice, MissingCasesAndOperationsAreNotFound) {
  const auto device = Open(Put("x86.vfmadd231ss.txt", "1 2 3 4\n"));
  const absl::Status s = device->Run(fma_, Dots(fma_, {{{1}, {2}, 3}, {{1}, {2}, 5}})).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(s.message(), AllOf(HasSubstr("has no answer for x86/vfmadd231ss"),
                                 HasSubstr("00000001 00000002 00000005")));
  EXPECT_EQ(device->Supports(mma_).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(device->Supports(mma_).message(), HasSubstr("only for x86/vfmadd231ss"));
  Batch tile;
  tile.Resize(mma_.shape(), 1);
  EXPECT_EQ(device->Run(mma_, tile).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device->Run(fma_, tile).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RecordedDevice, TwoAnswersForOneInputNameBothLines) {
  const std::string path = Put("x86.vfmadd231ss.txt", "1 2 3 4\n# note\n2 2 3 4\n1 2 3 5\n");
  const absl::Status s = OpenRecorded(path).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), AllOf(HasSubstr("00000004 in " + path + ":1,"),
                                 HasSubstr("00000005 in " + path + ":4;")));
}

TEST_F(RecordedDevice, FingerprintIsOfTheContents) {
  const auto of = [this](const char* lines) {
    return Open(Put("x86.vfmadd231ss.txt", lines))->ContentsHash();
  };
  const std::string two = of("1 2 3 4\n1 2 4 5\n");
  EXPECT_EQ(of("1 2 4 5\n# note\n1 2 3 4\n1 2 3 4\n"), two);
  EXPECT_NE(of("1 2 3 4\n1 2 4 6\n"), two) << "an answer";
  EXPECT_NE(of("1 2 3 4\n1 3 4 5\n"), two) << "an operand";
  EXPECT_NE(of("1 2 3 4\n"), two);
  EXPECT_NE(of("# instruction: x86/vfmadd231sd\n1 2 3 4\n1 2 4 5\n"), two) << "another operation";
  RegressionCase c = Tile(mma_, 1, [](Batch&, std::vector<uint64_t>&) {});
  ASSERT_TRUE(WriteCase(c, Path("cases")).ok());
  const std::string tile = Open(Path("cases"))->ContentsHash();
  c.answers[0].d[9] ^= 1;
  ASSERT_TRUE(WriteCase(c, Path("others")).ok());
  EXPECT_NE(Open(Path("others"))->ContentsHash(), tile);
}

TEST_F(RecordedDevice, CannotOpenWhatCannotBeRead) {
  EXPECT_EQ(OpenRecorded(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenRecorded(Put("x86.vfmadd231ss.txt", "")).status().code(),
            absl::StatusCode::kDataLoss);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(OpenRecorded(Path("pipe")).status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* one : {"many/one", "many/two"}) {
    ASSERT_TRUE(std::filesystem::create_directories(Path(one)));
    Put(std::string(one) + "/recording.txtpb", "");
  }
  const absl::Status many = OpenRecorded(Path("many")).status();
  EXPECT_EQ(many.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(many.message(), testing::HasSubstr("contains 2 recordings; name one of them"));
}

// A block log; each word of case i is i.
class RecordedLog : public RecordedDevice {
 protected:
  RecordedLog() : writer_(*RecordingWriter::Create(Path("log"))) {}

  Batch Cases(uint64_t first, int64_t count, const std::string& stream = "s") const {
    Batch batch;
    batch.Resize(mma_.shape(), count);
    batch.stream = stream;
    batch.first = first;
    return batch;
  }
  std::vector<uint64_t> Answers(uint64_t first, int64_t count) const {
    std::vector<uint64_t> d;
    for (int64_t i = 0; i < count; ++i) d.insert(d.end(), 128, first + i);
    return d;
  }
  void Record(uint64_t first, int64_t count, uint64_t error = 0) {
    std::vector<uint64_t> d = Answers(first, count);
    d.back() ^= error;
    ASSERT_TRUE(writer_->Append(mma_, Cases(first, count), d, "A100").ok());
    ASSERT_TRUE(writer_->Flush().ok());
  }
  std::unique_ptr<Device> OpenLog() {
    EXPECT_TRUE(writer_->Finish().ok());
    return Open(Path("log"));
  }
  std::unique_ptr<RecordingWriter> writer_;
};

TEST_F(RecordedLog, AnswersGeneratedCasesByName) {
  Record(100, 300);  // two records
  Record(10, 5);
  const auto device = OpenLog();
  EXPECT_EQ(Name(device->identity()), "A100");
  EXPECT_EQ(*device->Run(mma_, Cases(250, 150)), Answers(250, 150));
  EXPECT_EQ(*device->Run(mma_, Cases(10, 5)), Answers(10, 5));
  for (const Batch& absent :
       {Cases(9, 1), Cases(14, 2), Cases(99, 2), Cases(399, 2), Cases(100, 1, "t")}) {
    const absl::Status s = device->Run(mma_, absent).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(s.message(), HasSubstr(absl::StrCat("case ", absent.stream, ":")));
  }
  Batch dots = Cases(100, 1);
  dots.Resize(DotProductShape(mma_.shape()), 1);
  EXPECT_FALSE(device->Run(mma_, dots).ok()) << "a case of another shape";
}

TEST_F(RecordedLog, OverlappingRecordsJoin) {
  Record(10, 10);
  Record(30, 10);
  Record(5, 40);                           // covers both and the gaps
  Record(12, 3);                           // known
  const Batch last = Cases(~0ull - 1, 2);  // the highest numbers a case can have
  ASSERT_TRUE(writer_->Append(mma_, last, std::vector<uint64_t>(256, 7), "A100").ok());
  const auto device = OpenLog();
  EXPECT_EQ(*device->Run(mma_, Cases(5, 40)), Answers(5, 40));
  EXPECT_EQ(*device->Run(mma_, last), std::vector<uint64_t>(256, 7));
  EXPECT_EQ(device->Run(mma_, Cases(45, 1)).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RecordedLog, OverlappingRecordsThatDifferAreDataLoss) {
  Record(10, 10);
  Record(5, 10, 1);
  const absl::Status s = OpenRecorded(Path("log")).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), AllOf(HasSubstr("000e in "), HasSubstr("log:record 1"),
                                 HasSubstr("000f in "), HasSubstr("log:record 2")));
}

TEST_F(RecordedLog, FingerprintIsOfTheContents) {
  Record(10, 10);
  Record(20, 10);
  const std::string whole = OpenLog()->ContentsHash();
  const auto of = [this](uint64_t first, int64_t count, uint64_t error) {
    std::filesystem::remove(Path("log"));
    writer_ = *RecordingWriter::Create(Path("log"));
    Record(first, count, error);
    return OpenLog()->ContentsHash();
  };
  EXPECT_EQ(of(10, 20, 0), whole) << "in another division";
  EXPECT_NE(of(10, 20, 1), whole) << "another answer";
  EXPECT_NE(of(10, 19, 0), whole) << "without a case";
  EXPECT_NE(of(11, 20, 0), whole) << "other cases";
}

TEST_F(RecordedLog, DamageIsDataLoss) {
  Record(0, 1);
  Record(1, 1);
  ASSERT_TRUE(writer_->Finish().ok());
  std::string bytes = Get(Path("log"));
  bytes[bytes.size() - kBlockHeaderBytes - 1] ^= 1;  // before the end mark
  const absl::Status s = OpenRecorded(Put("damaged", bytes)).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), AllOf(HasSubstr("payload checksum"), HasSubstr("`replay` uses")));
}

TEST_F(RecordedDevice, ExecutionsOfTextCasesAnswerAsAWholeAndByTheirParts) {
  const RegressionCase c = Tile(mma_, 1, [](Batch&, std::vector<uint64_t>&) {});
  ASSERT_TRUE(WriteCase(c, Path("cases")).ok());
  const auto device = Open(Path("cases"));
  EXPECT_EQ(*device->Run(mma_, c.inputs), c.answers[0].d);
  EXPECT_THAT(*device->Run(mma_, Dots(mma_, {Extract(c.inputs, 77)})),
              ElementsAre(c.answers[0].d[77]));
  // An execution that is put together from recorded dot products.
  Batch mixed = c.inputs;
  mixed.Resize(mma_.shape(), 2);
  std::ranges::copy(c.inputs.a, mixed.a.begin() + 128);
  std::ranges::copy(c.inputs.b, mixed.b.begin() + 64);
  std::ranges::copy(c.inputs.c, mixed.c.begin() + 128);
  EXPECT_EQ(device->Run(mma_, mixed)->size(), 256u);
}

TEST_F(RecordedDevice, FaultsOfOnePlaceKeepTheRecordingUsable) {
  // All dot products of the tile are the same, but one place answers wrongly.
  const RegressionCase c = Tile(mma_, 1, [](Batch& inputs, std::vector<uint64_t>& d) {
    for (auto* words : {&inputs.a, &inputs.b, &inputs.c}) {
      std::ranges::fill(*words, 0x3c00);
    }
    std::ranges::fill(d, 0x4880);
    d[5] = 0x4881;
  });
  ASSERT_TRUE(WriteCase(c, Path("cases")).ok());
  const auto device = Open(Path("cases"));
  EXPECT_EQ(*device->Run(mma_, c.inputs), c.answers[0].d);
  const absl::Status s = device->Run(mma_, Dots(mma_, {Extract(c.inputs, 0)})).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(s.message(), HasSubstr("several answers"));
}

TEST_F(RecordedDevice, ExecutionsAnsweredDifferentlyAreDataLoss) {
  RegressionCase c = Tile(mma_, 1, [](Batch&, std::vector<uint64_t>&) {});
  c.answers.push_back(c.answers[0]);
  c.answers[1].device = "cuda:1";
  c.answers[1].d[9] ^= 1;
  ASSERT_TRUE(WriteCase(c, Path("cases")).ok());
  const absl::Status s = OpenRecorded(Path("cases")).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), AllOf(HasSubstr(":answers[0]"), HasSubstr(":answers[1]")));
}

// Operands with scales are found again as lines and as text cases, and another scale is another
// input.
TEST_F(RecordedDevice, ScalesAreOperands) {
  const Operation& op = *FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  RegressionCase c;
  c.op = &op;
  c.inputs = RandomBits(op, op.shape(), 1, 3);
  std::vector<uint64_t> d(c.inputs.dot_products());
  Simulate(op.model, c.inputs, d);
  c.answers = {{"cuda:0", "RTX", "", d}};
  ASSERT_TRUE(WriteCase(c, Path("cases")).ok());
  std::string text = absl::StrCat("# instruction: ", op.name, "\n");
  for (size_t i = 0; i < d.size(); ++i) {
    absl::StrAppend(&text, FormatLine(*op.instruction, Extract(c.inputs, i), d[i]), "\n");
  }
  for (const std::string& path : {Path("cases"), Put("lines", text)}) {
    const auto device = Open(path);
    EXPECT_EQ(*device->Run(op, c.inputs), d);
    DotProductCase dot = Extract(c.inputs, 5);
    EXPECT_THAT(*device->Run(op, Dots(op, {dot})), ElementsAre(d[5]));
    dot.b[67] ^= 1;
    const absl::Status s = device->Run(op, Dots(op, {dot})).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(s.message(), HasSubstr(FormatLine(*op.instruction, dot)));
  }
}

TEST(RecordedSilicon, EqualsTheModelBitForBit) {
  const std::string path = "../shared/silicon/sm_80.A100.mma.m16n8k8.f32.f16.f16.f32.txt.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  const DeviceOr device = OpenRecorded(path);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(Name((*device)->identity()), "A100");
  uint64_t compared = 0;
  const auto stats = ReadRecordings(path, "", [&](const Recording& r) {
    EXPECT_EQ(r.op, &op);
    std::vector<uint64_t> model(r.d.size());
    Simulate(op.model, r.inputs, model);
    EXPECT_EQ(model, r.d);
    EXPECT_EQ(*(*device)->Run(op, r.inputs), r.d);
    compared += model.size();
    return absl::OkStatus();
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->dot_products, 4000u);
  EXPECT_EQ(compared, 4000u);
}

}  // namespace
}  // namespace mmadiff
