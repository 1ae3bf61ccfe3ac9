#include "corpus/recordings/recording.h"

#include <gmock/gmock.h>
#include <unistd.h>
#include <zlib.h>

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/case_folder.h"
#include "corpus/line_checksum.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording_folder.h"
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
using testing::IsEmpty;

constexpr char kFma[] = "x86/vfmadd231ss";  // a b c d: the shortest lines
constexpr char kMma[] = "sm_80/mma.m16n8k8.f16.f16.f16.f16";

struct Everything {
  absl::Status status;
  RecordingStats stats;
  std::vector<Recording> recordings;
};

class RecordingFile : public TestFolder {
 protected:
  static Everything Read(const std::string& path, const std::string& instruction = "") {
    Everything all;
    const auto stats = ReadRecordings(path, instruction, [&all](const Recording& r) {
      EXPECT_EQ(static_cast<int64_t>(r.d.size()), r.inputs.dot_products());
      all.recordings.push_back(r);
      return absl::OkStatus();
    });
    all.status = stats.status();
    all.stats = stats.value_or(RecordingStats());
    return all;
  }
  std::string PutGzip(const std::string& name, const std::string& text) const {
    const gzFile file = gzopen(Path(name).c_str(), "wb");
    gzwrite(file, text.data(), text.size());
    gzclose(file);
    return Path(name);
  }
  // The error of a file with this text.
  std::string ErrorOf(const std::string& text, const std::string& name = "x86.vfmadd231ss.txt") {
    const Everything all = Read(Put(name, text));
    EXPECT_EQ(all.status.code(), absl::StatusCode::kDataLoss) << text;
    return std::string(all.status.message());
  }
};

TEST(FactsOfFileName, ArchAndLongestInstruction) {
  const auto op = [](const char* name) {
    const Operation* op = FactsOfFileName(name).op;
    return op == nullptr ? "" : op->name;
  };
  EXPECT_EQ(op("sm_80.A100.mma.m16n8k8.f32.f16.f16.f32.txt.gz"),
            "sm_80/mma.m16n8k8.f32.f16.f16.f32");
  EXPECT_EQ(op("d.x/sm_80.mma.m16n8k8.f32.f16.f16.f32.txt"), "sm_80/mma.m16n8k8.f32.f16.f16.f32");
  EXPECT_EQ(op("ampere.a.b.mma.m16n8k8.f32.f16.f16.f32"), "sm_80/mma.m16n8k8.f32.f16.f16.f32");
  EXPECT_EQ(op("x86.vpdpbusds.txt"), "x86/vpdpbusds");
  EXPECT_EQ(op("x86.vpdpbusd.txt"), "x86/vpdpbusd");
  EXPECT_EQ(op("x86.xvpdpbusd.txt"), "");  // no '.' before the name
  EXPECT_EQ(op("sm_80.vpdpbusd.txt"), "");
  EXPECT_EQ(op("sm_90.H100.wgmma.m64n8k32.f32.e4m3.e4m3.txt.gz"),
            "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3");
  EXPECT_EQ(op("sm_90.H100.wgmma.m64n9k32.f32.e4m3.e4m3.txt.gz"), "");  // n is a multiple of 8
  EXPECT_EQ(op("sm_90.H100.wgmma.m64n024k32.f32.e4m3.e4m3.txt"), "");
  EXPECT_EQ(op("sm_80.wgmma.m64n8k32.f32.e4m3.e4m3.txt"), "");
  EXPECT_EQ(op("vpdpbusd.txt"), "");
  EXPECT_EQ(op(""), "");
  EXPECT_EQ(FactsOfFileName("sm_80.A100.40GB.mma.m16n8k8.f32.f16.f16.f32.txt").anything,
            "A100.40GB");
  EXPECT_EQ(FactsOfFileName("x86.vpdpbusd.txt").anything, "");
}

// A name may begin where another one of the same architecture goes on: the whole one counts.
TEST(FactsOfFileName, OfEveryOperationAndSize) {
  std::vector<std::string> names;
  for (const Operation& op : Operations()) names.push_back(op.name);
  for (const char* name :
       {"sm_90/wgmma.m64n256k16.f32.f16.f16", "sm_90a/wgmma.m64n24k32.f16.e5m2.e4m3",
        "sm_100/tcgen05.mma.m128n48k32.f32.e2m1.e4m3",
        "sm_100/tcgen05.mma.m128n200k64.mxf4nvf4.f32.e2m1.e2m1.ue4m3.4x"}) {
    if (FindOperation(name) != nullptr) names.push_back(name);
  }
  EXPECT_GE(names.size(), Operations().size() + 3);
  for (const std::string& name : names) {
    const size_t slash = name.find('/');
    const std::string arch = name.substr(0, slash), instruction = name.substr(slash + 1);
    const FileNameFacts alone = FactsOfFileName(absl::StrCat("d/", arch, ".", instruction, ".txt"));
    EXPECT_EQ(alone.op, FindOperation(name)) << name;
    EXPECT_EQ(alone.anything, "") << name;
    const FileNameFacts with =
        FactsOfFileName(absl::StrCat(arch, ".mma.K 1.", instruction, ".txt.gz"));
    EXPECT_EQ(with.op, FindOperation(name)) << name;
    EXPECT_EQ(with.anything, "mma.K 1") << name;
  }
}

// Lines of block-scaled operations: all their words count, and the answer is the last.
TEST_F(RecordingFile, LinesWithScales) {
  for (const Operation* op : OperationsOfEachFamily(2)) {
    const Batch batch = RandomBits(*op, DotProductShape(op->shape()), 400, 1);
    std::vector<uint64_t> d(batch.count);
    Simulate(op->model, batch, d);
    std::string text = absl::StrCat("# instruction: ", op->name, "\n");
    for (int64_t i = 0; i < batch.count; ++i) {
      absl::StrAppend(&text, FormatLine(*op->instruction, Extract(batch, i), d[i]), "\n");
    }
    const Everything all = Read(Put("lines", text));
    ASSERT_TRUE(all.status.ok()) << all.status;
    Batch together;
    std::vector<uint64_t> answers;
    for (const Recording& r : all.recordings) {
      EXPECT_EQ(r.inputs.shape, batch.shape);
      EXPECT_LE(r.inputs.a.size() + r.inputs.b.size() + 2 * r.d.size(), 66u << 10) << op->name;
      together.Append(r.inputs);
      answers.insert(answers.end(), r.d.begin(), r.d.end());
    }
    EXPECT_TRUE(together.a == batch.a && together.b == batch.b && together.c == batch.c);
    EXPECT_EQ(answers, d) << op->name;
  }
  const std::string scaled = "# instruction: sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0\n";
  std::string words;
  for (int i = 0; i < 133; ++i) words += "0 ";
  EXPECT_THAT(ErrorOf(scaled + words), HasSubstr("needs the answer d as word 134"));
}

TEST_F(RecordingFile, LinesPlainAndGzip) {
  const std::string text =
      "# instruction: x86/vfmadd231ss\n# device: CPU 1\n\n3f800000 40000000 00000000 40000000\r\n"
      "3F800000 0 1 1";
  for (const std::string& path : {Put("plain", text), PutGzip("zipped", text)}) {
    const Everything all = Read(path);
    ASSERT_TRUE(all.status.ok()) << all.status;
    EXPECT_EQ(all.stats.dot_products, 2u);
    ASSERT_EQ(all.recordings.size(), 1u);
    const Recording& r = all.recordings[0];
    EXPECT_EQ(r.op->name, kFma);
    EXPECT_EQ(r.identity, "CPU 1");
    EXPECT_EQ(Name(r.where), path + ":4");
    EXPECT_EQ(WhereOf(r, 1), path + ":5");
    EXPECT_THAT(r.inputs.a, ElementsAre(0x3f800000, 0x3f800000));
    EXPECT_THAT(r.inputs.b, ElementsAre(0x40000000, 0));
    EXPECT_THAT(r.inputs.c, ElementsAre(0, 1));
    EXPECT_THAT(r.d, ElementsAre(0x40000000, 1));
  }
}

TEST_F(RecordingFile, CommentsChangeOperationAndDeviceAndKeepLineNumbers) {
  const Everything all = Read(Put("x86.K6.vfmadd231ss.txt",
                                  "1 2 3 4\n# note\n5 6 7 8\n# device: other\n9 a b c\n"
                                  "# instruction: x86/vfmadd231sd\n1 2 3 4\n"));
  ASSERT_TRUE(all.status.ok()) << all.status;
  ASSERT_EQ(all.recordings.size(), 4u);
  const auto fact = [&](int i) {
    const Recording& r = all.recordings[i];
    return absl::StrCat(r.op->name, " ", r.identity, " ", r.where.line);
  };
  EXPECT_EQ(fact(0), "x86/vfmadd231ss K6 1");
  EXPECT_EQ(fact(1), "x86/vfmadd231ss K6 3");
  EXPECT_EQ(fact(2), "x86/vfmadd231ss other 5");
  EXPECT_EQ(fact(3), "x86/vfmadd231sd other 7");
}

TEST_F(RecordingFile, TheInstructionHelpsOnlyFilesThatDoNotSayTheirs) {
  EXPECT_EQ(Read(Put("lines", "1 2 3 4\n"), "x86/vfmadd231sd").recordings[0].op->name,
            "x86/vfmadd231sd");
  EXPECT_EQ(Read(Put("x86.vfmadd231ss.txt", "1 2 3 4\n"), "x86/vfmadd231sd").recordings[0].op->name,
            kFma);
  EXPECT_THAT(ErrorOf("\x93mmalo 1 2 3 4\n", "lines"), HasSubstr("lines:1: not a recording"));
  const absl::Status none = Read(Put("lines", "1 2 3 4\n")).status;
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(none.message(), HasSubstr("lines:1: for which instruction?"));
  const absl::Status no_op = Read(Put("lines", "1 2 3 4\n"), "x86/vfmadd").status;
  EXPECT_EQ(no_op.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(no_op.message(), HasSubstr("nearest names: x86/vfmadd231s"));
}

TEST_F(RecordingFile, MalformedLinesAreNamed) {
  EXPECT_THAT(ErrorOf("1 2 3 4\n\n1 x 3 4\n"), AllOf(HasSubstr("txt:3: word 2 (b0), column 3")));
  EXPECT_THAT(ErrorOf("1 2 3\n"), HasSubstr("txt:1: a recording needs the answer d as word 4"));
  EXPECT_THAT(ErrorOf("1 2 3 4 5\n"), HasSubstr("txt:1: 5 words"));
  EXPECT_THAT(ErrorOf("1 2\n"), HasSubstr("txt:1: 2 words"));
  EXPECT_THAT(ErrorOf("# instruction: x86/vfma\n"), HasSubstr("txt:1: no instruction 'x86/vfma'"));
  EXPECT_THAT(ErrorOf(std::string(1 << 20, '1')), HasSubstr("txt:1: "));
  EXPECT_THAT(ErrorOf(""), HasSubstr("no recorded answer"));
  EXPECT_THAT(ErrorOf("# instruction: x86/vfmadd231ss\n"), HasSubstr("no recorded answer"));
  EXPECT_EQ(Read(Path("none")).status.code(), absl::StatusCode::kNotFound);
}

TEST_F(RecordingFile, LongFilesComeInPortionsWithoutLoss) {
  std::string text;
  for (int i = 0; i < 40000; ++i) absl::StrAppend(&text, absl::Hex(i), " 0 0 ", absl::Hex(i), "\n");
  const Everything all = Read(PutGzip("x86.vfmadd231ss.txt.gz", text));
  ASSERT_TRUE(all.status.ok()) << all.status;
  EXPECT_EQ(all.stats.dot_products, 40000u);
  EXPECT_EQ(all.recordings.size(), 3u);
  uint64_t next = 0;
  for (const Recording& r : all.recordings) {
    EXPECT_LE(r.d.size() * 4, size_t{64 << 10});
    EXPECT_EQ(r.where.line, next + 1);
    for (size_t i = 0; i < r.d.size(); ++i, ++next) {
      ASSERT_EQ(r.d[i], next);
      ASSERT_EQ(r.inputs.a[i], next);
    }
  }
}

TEST_F(RecordingFile, TheNumberOfLinesIsDemandedWhereItIsSaid) {
  const std::string lines = "1 2 3 4\n5 6 7 8\n";
  for (const char* good : {"# lines: 2\n", "#lines:2\n", "1 1 1 1\n# lines: 0\n# lines: 2\n"}) {
    EXPECT_TRUE(Read(Put("x86.vfmadd231ss.txt", good + lines)).status.ok()) << good;
  }
  EXPECT_THAT(ErrorOf("# lines: 3\n" + lines),
              HasSubstr("txt:3: 2 dot products after '# lines: 3'"));
  EXPECT_THAT(ErrorOf("# lines: 3\n" + lines + "# lines: 0\n"), HasSubstr("txt:4: 2 dot products"));
  EXPECT_THAT(ErrorOf("# lines: 1\n" + lines), HasSubstr("txt:3: more dot products than the 1"));
  EXPECT_THAT(ErrorOf("# lines: 1\n1 2 3 4"), HasSubstr("txt:2: the line was cut off"));
  EXPECT_THAT(ErrorOf("# lines: some\n" + lines),
              HasSubstr("txt:1: expected a number after '# lines:'"));
  EXPECT_THAT(ErrorOf("# lines: 18446744073709551616\n" + lines), HasSubstr("expected a number"));
}

TEST_F(RecordingFile, WhatAHashVouchesForIsDeliveredWholeOrNotAtAll) {
  const std::string name = "x86.vfmadd231ss.txt", lines = "1 2 3 4\n5 6 7 8\n";
  const std::string without = "# device: A100\n# lines: 2 then a hash\n" + lines;
  const std::string text = WithAnswersHash(without), optional = WithAnswersHash(lines);
  for (const std::string& good : {text, text + text, optional, optional + text}) {
    EXPECT_TRUE(Read(Put(name, good)).status.ok()) << good;
  }
  EXPECT_TRUE(Read(PutGzip(name + ".gz", text)).status.ok());
  const auto expect_none = [&](const std::string& bytes, const char* why) {
    const Everything all = Read(Put(name, bytes));
    EXPECT_EQ(all.status.code(), absl::StatusCode::kDataLoss) << bytes;
    EXPECT_THAT(all.status.message(), HasSubstr(why)) << bytes;
    EXPECT_THAT(all.recordings, IsEmpty()) << bytes;
  };
  for (size_t i = 0; i < 8 * text.size() - 8; ++i) {  // without the last line end
    std::string bad = text;
    bad[i / 8] ^= 1 << i % 8;
    expect_none(bad, "");
  }
  expect_none(without, "'# answers:' is missing");
  expect_none(without.substr(0, without.size() - 8), "'# answers:' is missing");
  expect_none(text + lines, "'# answers:' is missing");
  expect_none(optional + lines, "'# answers:' is missing");
  expect_none("# lines: 2\n" + optional, "txt:4: the hash does not match the lines");
  expect_none("# lines: 2 then a hush\n" + lines, "expected a number");
}

TEST_F(RecordingFile, OfADamagedGzipFileNoLineIsDelivered) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    absl::StrAppend(&text, absl::Hex(i * i), " 0 0 ", absl::Hex(i), "\n");
  const std::string bytes = Get(PutGzip("whole", text));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string path = Put("x86.vfmadd231ss.txt.gz", bytes.substr(0, size));
    const Everything all = Read(path);
    ASSERT_EQ(all.status.code(), absl::StatusCode::kDataLoss) << size << all.status;
    ASSERT_THAT(all.recordings, IsEmpty());
    if (size == 0) continue;
    EXPECT_THAT(all.status.message(), HasSubstr(path + ": damaged or truncated gzip data"));
  }
  // Two members are one file; what is no member is damage, and not left out.
  EXPECT_EQ(Read(Put("x86.vfmadd231ss.txt.gz", bytes + bytes)).stats.dot_products, 400u);
  for (const std::string& more : {std::string("x"), std::string(20, '\0'), bytes.substr(1)}) {
    const Everything all = Read(Put("x86.vfmadd231ss.txt.gz", bytes + more));
    EXPECT_EQ(all.status.code(), absl::StatusCode::kDataLoss) << all.status;
    EXPECT_THAT(all.recordings, IsEmpty());
  }
}

TEST_F(RecordingFile, CorruptGzipNeverPasses) {
  std::string text;
  for (int i = 0; i < 50; ++i) absl::StrAppend(&text, absl::Hex(i), " 0 0 ", absl::Hex(i), "\n");
  const std::string bytes = Get(PutGzip("whole", text));
  const std::vector<uint64_t> whole = Read(Put("x86.vfmadd231ss.txt.gz", bytes)).recordings[0].d;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] ^= 0x10;
    const Everything all = Read(Put("x86.vfmadd231ss.txt.gz", bad));
    // Time stamp and operating system of the header may change unseen; the lines may not.
    if (!all.status.ok()) continue;
    ASSERT_EQ(all.recordings.size(), 1u);
    EXPECT_EQ(all.recordings[0].d, whole) << i;
  }
}

// `count` executions of a stream with counting answers.
Batch Generated(const Operation& op, const std::string& stream, uint64_t first, int64_t count) {
  Batch batch;
  batch.Resize(op.shape(), count);
  batch.stream = stream;
  batch.first = first;
  return batch;
}

std::vector<uint64_t> Counting(const Batch& batch) {
  std::vector<uint64_t> d(batch.dot_products());
  for (size_t i = 0; i < d.size(); ++i) {
    d[i] = (batch.first * batch.shape.d_words() + i) * 7 & 0xffff;
  }
  return d;
}

TEST_F(RecordingFile, BlockLogsRoundTripAndAreSplit) {
  const Operation& op = *FindOperation(kMma);
  auto writer = RecordingWriter::Create(Path("log"));
  ASSERT_TRUE(writer.ok()) << writer.status();
  const Batch tiles = Generated(op, "s", 1000, 500);  // 128 KB of answers
  ASSERT_TRUE((*writer)->Append(op, tiles, Counting(tiles), "A100").ok());
  Batch dots = Generated(op, "dots", 5, 1);
  dots.Resize(DotProductShape(op.shape()), 10);
  ASSERT_TRUE((*writer)->Append(op, dots, Counting(dots), "H100").ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  const Everything all = Read(Path("log"));
  ASSERT_TRUE(all.status.ok()) << all.status;
  EXPECT_THAT(all.stats.damage, IsEmpty());
  EXPECT_EQ(all.stats.dot_products, 500u * 128 + 10);
  ASSERT_EQ(all.recordings.size(), 4u);
  std::vector<uint64_t> d;
  for (int i = 0; i < 3; ++i) {
    const Recording& r = all.recordings[i];
    EXPECT_EQ(r.op, &op);
    EXPECT_EQ(r.identity, "A100");
    EXPECT_EQ(r.inputs.shape, op.shape());
    EXPECT_EQ(r.inputs.stream, "s");
    EXPECT_EQ(r.inputs.first, 1000 + d.size() / 128);
    EXPECT_THAT(r.inputs.a, IsEmpty());
    d.insert(d.end(), r.d.begin(), r.d.end());
  }
  EXPECT_EQ(d, Counting(tiles));
  EXPECT_EQ(WhereOf(all.recordings[0], 300), Path("log:record 1 (case s:1002)"));
  EXPECT_EQ(all.recordings[3].inputs.shape, DotProductShape(op.shape()));
  EXPECT_EQ(all.recordings[3].d, Counting(dots));
}

TEST_F(RecordingFile, EveryOutputWidthRoundTrips) {
  for (const char* name : {"x86/vfmadd231sd", "x86/vpdpbusd", kMma,
                           "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x"}) {
    const Operation& op = *FindOperation(name);
    const std::string path = Path(absl::StrCat("log", op.shape().k));
    auto writer = RecordingWriter::Create(path);
    const Batch batch = Generated(op, "s", ~0ull - 1, 1);
    std::vector<uint64_t> d(batch.dot_products(), LowBits(op.instruction->d->bits));
    d[0] = 1;
    ASSERT_TRUE((*writer)->Append(op, batch, d, "").ok());
    ASSERT_TRUE((*writer)->Finish().ok());
    EXPECT_EQ(Read(path).recordings[0].d, d);
    EXPECT_EQ(Read(path).recordings[0].inputs.first, ~0ull - 1);
    EXPECT_EQ(Read(path).recordings[0].inputs.shape, op.shape());
  }
}

TEST_F(RecordingFile, WriterRefusesWhatIsNoRecording) {
  const Operation& op = *FindOperation(kMma);
  auto writer = RecordingWriter::Create(Path("log"));
  const Batch batch = Generated(op, "s", 0, 1);
  const auto code = [&](const Batch& b, const std::vector<uint64_t>& d) {
    return (*writer)->Append(op, b, d, "").code();
  };
  EXPECT_EQ(code(Generated(op, "", 0, 1), Counting(batch)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(batch, std::vector<uint64_t>(127)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(batch, std::vector<uint64_t>(128, 0x10000)), absl::StatusCode::kInvalidArgument);
  Batch other = batch;
  other.shape = FindOperation(kFma)->shape();
  EXPECT_EQ(code(other, {1}), absl::StatusCode::kInvalidArgument);
}

TEST_F(RecordingFile, DamagedLogsGiveTheirGoodRecords) {
  const Operation& op = *FindOperation(kMma);
  auto writer = RecordingWriter::Create(Path("log"));
  for (uint64_t i = 1; i < 4; ++i) {
    const Batch batch = Generated(op, "s", i, 1);
    ASSERT_TRUE((*writer)->Append(op, batch, Counting(batch), "A100").ok());
    ASSERT_TRUE((*writer)->Flush().ok());
  }
  std::string bytes = Get(Path("log"));
  const size_t block = bytes.size() / 3;
  ASSERT_TRUE((*writer)->Finish().ok());
  const Everything cut = Read(Put("cut", bytes.substr(0, 2 * block)));
  EXPECT_EQ(cut.recordings.size(), 2u);
  ASSERT_EQ(cut.stats.damage.size(), 1u);
  EXPECT_EQ(cut.stats.damage[0].kind, DamageKind::kNoEnd);
  bytes = Get(Path("log"));
  bytes[0] ^= 1;  // of the first magic
  const Everything all = Read(Put("damaged", bytes));
  ASSERT_TRUE(all.status.ok()) << all.status;
  EXPECT_EQ(all.recordings.size(), 2u);
  ASSERT_EQ(all.stats.damage.size(), 1u);
  EXPECT_EQ(all.stats.damage[0].bytes, block);
}

TEST_F(RecordingFile, LogsOfOtherRecordsAreRefused) {
  auto log = BlockLogWriter::Create(Path("log"), 1);
  ASSERT_TRUE((*log)->Append("something else").ok());
  ASSERT_TRUE((*log)->Flush().ok());
  const Everything all = Read(Path("log"));
  EXPECT_EQ(all.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(all.status.message(), HasSubstr("log:record 1: "));
}

TEST_F(RecordingFile, TextCasesGiveTheirObservationsAndNoPredictions) {
  RegressionCase c;
  c.op = FindOperation(kMma);
  c.inputs.Resize(c.op->shape(), 1);
  std::vector<uint64_t> d(128, 3);
  c.answers = {{"model", "1", "", std::vector<uint64_t>(128, 2)}, {"cuda:0", "A100", "", d}};
  const std::string path = *WriteCase(c, Path("cases"));
  for (const std::string& where : {path, Path("cases")}) {
    const Everything all = Read(where);
    ASSERT_TRUE(all.status.ok()) << all.status;
    ASSERT_EQ(all.recordings.size(), 1u);
    EXPECT_EQ(all.recordings[0].d, d);
    EXPECT_EQ(all.recordings[0].identity, "A100");
    EXPECT_EQ(all.recordings[0].inputs.shape, c.op->shape());
    EXPECT_THAT(WhereOf(all.recordings[0], 1), HasSubstr(path));
  }
  c.inputs.a[0] = 1;
  c.answers.resize(1);
  const std::string prediction = *WriteCase(c, Path("cases"));
  EXPECT_THAT(Read(prediction).status.message(), HasSubstr("no recorded answer"));
  EXPECT_EQ(Read(Path("cases")).recordings.size(), 1u);
  std::ofstream(prediction) << "broken";
  EXPECT_EQ(Read(Path("cases")).status.code(), absl::StatusCode::kDataLoss);
}

TEST_F(RecordingFile, ErrorOfTheCallerStopsTheReading) {
  const auto stats =
      ReadRecordings(Put("x86.vfmadd231ss.txt", "1 2 3 4\n# x\nbad\n"), "",
                     [](const Recording&) { return absl::CancelledError("enough"); });
  EXPECT_EQ(stats.status(), absl::CancelledError("enough"));
}

TEST_F(RecordingFile, TooMuchTextWithoutAnAnswerIsDamage) {
  const std::string answer =
      "# instruction: x86/vfmadd231ss\n3f800000 3f800000 3f800000 40000000\n";
  std::string blank, text = answer;
  for (int i = 0; i < 1024; ++i)
    blank += i == 0 ? std::string(1024, '\n') : "#" + std::string(1022, 'x') + "\n";
  for (int i = 0; i < 60; ++i) text += blank;
  text += answer;
  for (int i = 0; i < 60; ++i) text += blank;
  EXPECT_EQ(Read(PutGzip("much", text)).stats.dot_products, 2u);
  for (int i = 0; i < 10; ++i) text += blank;
  for (const std::string& path : {Put("plain", text), PutGzip("zipped", text)}) {
    const Everything all = Read(path);
    EXPECT_EQ(all.status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(all.status.message(), HasSubstr("64 MiB without an answer"));
  }
}

TEST_F(RecordingFile, LeftoversOfKilledProcessesAreRemovedAndThoseOfOthersStay) {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  for (const char* name : {"x.tmp000000", "x.tmp111111", "x.tmp_mine", "y.tmp000000"}) {
    std::filesystem::create_directory(Path(name));
    const bool elsewhere = absl::StrContains(name, "1");
    Put(absl::StrCat(name, "/writer.lock"), elsewhere ? "elsewhere" : host);
  }
  std::filesystem::create_directory(Path("x.tmp222222"));  // not yet locked
  {
    const auto alive = *RecordingFolderWriter::Create(Path("x"));
    const auto second = *RecordingFolderWriter::Create(Path("x"));
    EXPECT_TRUE(alive->Commit({}).ok());
  }
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Path(""))) {
    names.insert(entry.path().filename());
  }
  EXPECT_THAT(names,
              testing::ElementsAre("x", "x.tmp111111", "x.tmp222222", "x.tmp_mine", "y.tmp000000"));
  EXPECT_FALSE(std::filesystem::exists(Path("x/writer.lock")));
}

// A link to itself: stat() fails, but not because nothing is there.
void ReplaceByLoop(const std::string& path) {
  std::filesystem::remove(path);
  std::filesystem::create_symlink(path, path);
}

TEST_F(RecordingFile, WhatCannotBeLookedAtIsNotTakenForAbsent) {
  ReplaceByLoop(Path("loop"));
  EXPECT_EQ(RecordingFolderWriter::Create(Path("loop")).status().code(),
            absl::StatusCode::kDataLoss);
  std::filesystem::remove(Path("loop"));

  auto writer = *RecordingFolderWriter::Create(Path("lost"));
  ASSERT_TRUE(writer->WriteRegressions("# none\n").ok());
  ReplaceByLoop(std::filesystem::directory_iterator(Path(""))->path() / "regressions.txt");
  EXPECT_EQ(writer->Commit({}).code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(Path("lost")));

  ASSERT_TRUE((*RecordingFolderWriter::Create(Path("empty")))->Commit({}).ok());
  ReplaceByLoop(Path("empty/regressions.txt"));
  RecordingStats stats;
  const auto none = [](const Recording&) { return absl::OkStatus(); };
  ASSERT_TRUE(ReadRecordingFolder(Path("empty"), none, stats).ok());
  ASSERT_EQ(stats.damage.size(), 1u);
  EXPECT_THAT(stats.damage[0].detail, HasSubstr("regressions.txt is not in recording.txtpb"));
}

}  // namespace
}  // namespace mmadiff
