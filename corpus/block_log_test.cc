#include "corpus/block_log.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/testing/folder.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Contents {
  std::vector<std::string> records;
  BlockLogStats stats;
};

constexpr RunId kRun = RunId{0x0123456789abcdef} << 64 | 42;

// A block of short records.
std::string Block(const std::vector<std::string>& records, uint64_t sequence, RunId run = kRun) {
  std::string payload;
  for (const std::string& r : records) absl::StrAppend(&payload, std::string(1, r.size()), r);
  return EncodeBlock(payload, records.size(), sequence, run);
}

std::string EndMark(uint64_t sequence) { return Block({}, sequence); }

class BlockLog : public TestFolder {
 protected:
  Contents Read(absl::string_view bytes, std::optional<RunId> run = {}) {
    return ReadPath(Put("log", bytes), run);
  }

  static Contents ReadPath(const std::string& path, std::optional<RunId> run = {}) {
    Contents contents;
    const auto add = [&](absl::string_view record) {
      contents.records.emplace_back(record);
      return absl::OkStatus();
    };
    const auto stats = ReadBlockLog(path, add, run);
    EXPECT_TRUE(stats.ok()) << stats.status();
    contents.stats = stats.value_or(BlockLogStats());
    EXPECT_EQ(contents.stats.records, contents.records.size());
    return contents;
  }

  // Three blocks with "a0", "a1", "b0", "b1", "c0", "c1".
  const std::vector<std::string> blocks_ = {Block({"a0", "a1"}, 0), Block({"b0", "b1"}, 1),
                                            Block({"c0", "c1"}, 2)};
  const std::string log_ = blocks_[0] + blocks_[1] + blocks_[2];
  const size_t block_ = blocks_[0].size();
};

// Every byte is in a good block or in exactly one damage.
void ExpectAccounted(const Contents& c, size_t file, size_t block) {
  uint64_t skipped = 0, end = 0;
  for (const Damage& d : c.stats.damage) {
    EXPECT_GE(d.offset, end);
    end = d.offset + d.bytes;
    skipped += d.bytes;
  }
  EXPECT_LE(end, file);
  EXPECT_EQ(skipped + c.stats.blocks * block, file);
}

TEST_F(BlockLog, RoundTripOfAllSizes) {
  const auto writer = BlockLogWriter::Create(Path("log"), kRun);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<std::string> records;
  for (size_t size : {0, 1, 127, 128, 16383, 16384, 64512, 64512, 64511, 5}) {
    records.emplace_back(size, static_cast<char>('a' + records.size()));
    ASSERT_TRUE((*writer)->Append(records.back()).ok());
  }
  ASSERT_TRUE((*writer)->Flush().ok());
  ASSERT_TRUE((*writer)->Flush().ok());  // nothing to write
  const Contents c = ReadPath(Path("log"));
  EXPECT_EQ(c.records, records);
  EXPECT_THAT(c.stats.damage, IsEmpty());
  EXPECT_EQ(c.stats.blocks, 4u);
  EXPECT_TRUE(IsBlockLog(Path("log")));
}

TEST_F(BlockLog, UnflushedRecordsAreNotInTheFile) {
  auto writer = BlockLogWriter::Create(Path("log"), kRun);
  ASSERT_TRUE((*writer)->Append("lost").ok());
  writer->reset();
  EXPECT_THAT(ReadPath(Path("log")).records, IsEmpty());
}

TEST_F(BlockLog, RefusesWhatDoesNotFitAndGoesOn) {
  const auto writer = BlockLogWriter::Create(Path("log"), kRun);
  const absl::Status s = (*writer)->Append(std::string(kMaxBlockBytes - 1023, 'x'));
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(s.message(), HasSubstr("64512"));
  EXPECT_TRUE((*writer)->Append("x").ok());
  EXPECT_TRUE((*writer)->Flush().ok());
  EXPECT_THAT(ReadPath(Path("log")).records, ElementsAre("x"));
}

TEST_F(BlockLog, NeverOverwrites) {
  Put("log", "mine");
  EXPECT_EQ(BlockLogWriter::Create(Path("log"), kRun).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Get(Path("log")), "mine");
}

TEST_F(BlockLog, FullDiskIsReportedSticksAndLeavesAReadableFile) {
  const auto writer = BlockLogWriter::Create(Path("log"), kRun);
  ASSERT_TRUE((*writer)->Append("kept").ok());
  ASSERT_TRUE((*writer)->Flush().ok());
  // The disk is full after 40 bytes of the next block: write() takes a part, then fails with EFBIG.
  signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit limit = {std::filesystem::file_size(Path("log")) + 40, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status append = (*writer)->Append("lost");
  const absl::Status flush = (*writer)->Flush();
  setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_TRUE(append.ok());
  EXPECT_EQ(flush.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(flush.message(), HasSubstr(Path("log")));
  // There is room again, but nothing may follow the torn block.
  EXPECT_EQ((*writer)->Append("more"), flush);
  EXPECT_EQ((*writer)->Flush(), flush);
  const Contents c = ReadPath(Path("log"));
  EXPECT_THAT(c.records, ElementsAre("kept"));
  EXPECT_THAT(c.stats.damage, IsEmpty()) << "the torn block was cut off";
}

TEST_F(BlockLog, ARemovedOrReplacedFileIsNotDurable) {
  for (const bool replaced : {false, true}) {
    const auto writer = BlockLogWriter::Create(Path("log"), kRun);
    ASSERT_TRUE((*writer)->Append("lost").ok());
    ASSERT_TRUE((*writer)->Flush().ok());
    std::filesystem::remove(Path("log"));
    if (replaced) Put("log", "");
    const absl::Status s = (*writer)->Flush();  // even without anything new
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(s.message(), HasSubstr(Path("log")));
    EXPECT_EQ((*writer)->Append("x"), s);
    std::filesystem::remove(Path("log"));
  }
}

TEST_F(BlockLog, TheEndMarkTellsAWholeLogFromOneThatWasCutOff) {
  const auto writer = BlockLogWriter::Create(Path("log"), kRun);
  for (const char* record : {"a", "b"}) {
    ASSERT_TRUE((*writer)->Append(record).ok());
    ASSERT_TRUE((*writer)->Flush().ok());
  }
  const size_t before = Get(Path("log")).size();
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ((*writer)->Append("c").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ((*writer)->Finish().code(), absl::StatusCode::kFailedPrecondition);
  const std::string log = Get(Path("log"));
  EXPECT_EQ(log.substr(before), EndMark(2));
  Contents whole = Read(log);
  EXPECT_TRUE(whole.stats.ended);
  DemandEnd(whole.stats);
  EXPECT_THAT(whole.stats.damage, IsEmpty());
  for (const size_t blocks : {0, 1, 2}) {
    Contents cut = Read(log.substr(0, blocks * before / 2));
    EXPECT_FALSE(cut.stats.ended);
    EXPECT_THAT(cut.stats.damage, IsEmpty());
    DemandEnd(cut.stats);
    ASSERT_EQ(cut.stats.damage.size(), 1u);
    EXPECT_EQ(cut.stats.damage[0].kind, DamageKind::kNoEnd);
  }
  const Contents after = Read(log + Block({"x"}, 3));
  EXPECT_THAT(after.records, ElementsAre("a", "b"));
  ASSERT_EQ(after.stats.damage.size(), 1u);
  EXPECT_EQ(after.stats.damage[0].kind, DamageKind::kAfterEnd);
}

TEST_F(BlockLog, BlocksOfAnotherRunAreDamage) {
  const std::string other = Block({"x0", "x1"}, 1, kRun + 1);
  for (const std::optional<RunId> run : {std::optional<RunId>(), std::optional<RunId>(kRun)}) {
    const Contents c = Read(blocks_[0] + other + blocks_[2], run);
    EXPECT_THAT(c.records, ElementsAre("a0", "a1", "c0", "c1"));
    ASSERT_EQ(c.stats.damage.size(), 1u);
    EXPECT_EQ(c.stats.damage[0].kind, DamageKind::kOtherRun);
    EXPECT_EQ(c.stats.damage[0].bytes, block_);
  }
  for (const RunId run : {kRun ^ 1, kRun ^ RunId{1} << 127}) {
    const Contents c = Read(log_, run);
    EXPECT_THAT(c.records, IsEmpty());
    ExpectAccounted(c, log_.size(), block_);
  }
}

TEST_F(BlockLog, BlocksAgainOrOutOfOrderAreDamage) {
  EXPECT_THAT(Read(log_ + log_).records.size(), 6u);
  const Contents again = Read(blocks_[0] + blocks_[1] + blocks_[1] + blocks_[2]);
  EXPECT_THAT(again.records, ElementsAre("a0", "a1", "b0", "b1", "c0", "c1"));
  ASSERT_EQ(again.stats.damage.size(), 1u);
  EXPECT_EQ(again.stats.damage[0].kind, DamageKind::kOutOfOrder);
  const Contents swapped = Read(blocks_[1] + blocks_[0] + blocks_[2]);
  EXPECT_THAT(swapped.records, ElementsAre("b0", "b1", "c0", "c1"));
  EXPECT_EQ(swapped.stats.damage.size(), 2u);
}

TEST_F(BlockLog, DamageWithoutEndTakesBoundedMemory) {
  std::string bytes;
  for (uint64_t i = 0; i < 3 * kMaxDamage; ++i) absl::StrAppend(&bytes, Block({"a"}, i), "x");
  const Contents c = Read(bytes);
  EXPECT_EQ(c.records.size(), 3 * kMaxDamage);
  EXPECT_EQ(c.stats.damage.size(), kMaxDamage);
  uint64_t skipped = 0;
  for (const Damage& d : c.stats.damage) skipped += d.bytes;
  EXPECT_EQ(skipped, 3 * kMaxDamage);
}

TEST(RunIdText, RoundTrips) {
  const RunId run = RandomRunId();
  EXPECT_FALSE(run == RandomRunId());
  EXPECT_TRUE(ParseRunId(FormatRunId(run)) == run);
  EXPECT_EQ(FormatRunId(kRun), "0123456789abcdef000000000000002a");
  for (const char* bad :
       {"", "0123456789abcdef000000000000002", "0123456789abcdef00000000000000zz"}) {
    EXPECT_FALSE(ParseRunId(bad).has_value()) << bad;
  }
}

TEST_F(BlockLog, EveryTruncationKeepsTheBlocksBefore) {
  for (size_t size = 0; size <= log_.size(); ++size) {
    SCOPED_TRACE(size);
    const Contents c = Read(log_.substr(0, size));
    const std::vector<std::string> all = {"a0", "a1", "b0", "b1", "c0", "c1"};
    const size_t whole = size / block_;
    EXPECT_EQ(c.records, std::vector<std::string>(all.begin(), all.begin() + 2 * whole));
    ExpectAccounted(c, size, block_);
    const size_t torn = size % block_;
    ASSERT_EQ(c.stats.damage.size(), torn == 0 ? 0u : 1u);
    if (torn > 0) {
      EXPECT_EQ(c.stats.damage[0].offset, whole * block_);
      EXPECT_EQ(c.stats.damage[0].kind, DamageKind::kTruncatedBlock);
    }
  }
}

TEST_F(BlockLog, EveryCorruptBitLosesItsBlockOnly) {
  for (size_t bit = 0; bit < 8 * log_.size(); ++bit) {
    SCOPED_TRACE(absl::StrCat("byte ", bit / 8, " bit ", bit % 8));
    std::string bytes = log_;
    bytes[bit / 8] ^= 1 << (bit % 8);
    const Contents c = Read(bytes);
    std::vector<std::string> expected;
    for (size_t b = 0; b < 3; ++b) {
      if (b == bit / 8 / block_) continue;
      expected.push_back(absl::StrCat(std::string(1, 'a' + b), "0"));
      expected.push_back(absl::StrCat(std::string(1, 'a' + b), "1"));
    }
    EXPECT_EQ(c.records, expected);
    ASSERT_EQ(c.stats.damage.size(), 1u);
    EXPECT_EQ(c.stats.damage[0].offset, bit / 8 / block_ * block_);
    EXPECT_EQ(c.stats.damage[0].bytes, block_);
  }
}

TEST_F(BlockLog, EveryMissingByteLosesItsBlockOnly) {
  for (size_t byte = 0; byte < log_.size(); ++byte) {
    SCOPED_TRACE(byte);
    std::string bytes = log_;
    const Contents c = Read(bytes.erase(byte, 1));
    EXPECT_EQ(c.records.size(), 4u);
    ExpectAccounted(c, bytes.size(), block_);
  }
}

TEST_F(BlockLog, GarbageBeforeBetweenAndAfterIsPassedOver) {
  for (const std::string& garbage :
       {std::string("x"), std::string(47, '\0'), std::string(200000, 'y'), blocks_[0].substr(0, 7),
        blocks_[0].substr(0, 69)}) {
    const std::string bytes = garbage + blocks_[0] + garbage + blocks_[1] + blocks_[2] + garbage;
    const Contents c = Read(bytes);
    EXPECT_THAT(c.records, ElementsAre("a0", "a1", "b0", "b1", "c0", "c1"));
    EXPECT_EQ(c.stats.damage.size(), 3u);
    ExpectAccounted(c, bytes.size(), block_);
  }
}

TEST_F(BlockLog, MagicIsFoundWhereverGarbageEnds) {
  // The reader's window ends at multiples of 64 KiB; a magic may straddle each of them.
  for (size_t end : {1, 2, 3, 4}) {
    for (size_t before = 0; before <= 9; ++before) {
      const std::string garbage(end * kMaxBlockBytes - before, 'x');
      const Contents c = Read(garbage + log_);
      EXPECT_EQ(c.records.size(), 6u) << garbage.size();
      ExpectAccounted(c, garbage.size() + log_.size(), block_);
    }
  }
}

TEST_F(BlockLog, EmptyFileAndFileOfZeros) {
  EXPECT_THAT(Read("").stats.damage, IsEmpty());
  const Contents c = Read(std::string(300000, '\0'));
  EXPECT_THAT(c.records, IsEmpty());
  ASSERT_EQ(c.stats.damage.size(), 1u);
  EXPECT_EQ(c.stats.damage[0].offset, 0u);
  EXPECT_EQ(c.stats.damage[0].bytes, 300000u);
  EXPECT_EQ(c.stats.damage[0].kind, DamageKind::kNoMagic);
}

// A header that is good in itself but says something impossible.
std::string WithField(std::string block, size_t offset, uint32_t value) {
  for (int i = 0; i < 4; ++i) block[offset + i] = static_cast<char>(value >> (8 * i));
  const uint64_t hash = XXH3_64bits(block.data(), kBlockHeaderBytes - 8);
  for (int i = 0; i < 8; ++i) block[kBlockHeaderBytes - 8 + i] = static_cast<char>(hash >> (8 * i));
  return block;
}

TEST_F(BlockLog, ImpossibleHeaderFieldsLoseTheirBlockOnly) {
  const struct {
    size_t offset;
    uint32_t value;
    const char* what;
  } kCases[] = {{12, 0xffffffff, "block length"},
                {12, kMaxBlockBytes, "block length"},
                {12, 60000, "truncated block"},
                {12, 3, "payload checksum"},
                {8, kBlocksWithStops + 1, "unknown block version"},
                {8, 1, "a version 1 block, which names no run and is no longer read"},
                {24, 3, "record lengths"},
                {24, 0, "record lengths"}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    const Contents read = Read(blocks_[0] + WithField(blocks_[1], c.offset, c.value) + blocks_[2]);
    EXPECT_THAT(read.records, ElementsAre("a0", "a1", "c0", "c1"));
    ASSERT_EQ(read.stats.damage.size(), 1u);
    EXPECT_EQ(Name(read.stats.damage[0].kind), std::string(c.what));
    EXPECT_EQ(read.stats.damage[0].bytes, block_);
  }
}

TEST_F(BlockLog, BadRecordLengthsDeliverNothingOfTheirBlock) {
  for (const char* payload :
       {"\x01x\x7f", "\x01x\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x01x\x80",
        "\x01x\x05"
        "abc"}) {
    const Contents c = Read(blocks_[0] + EncodeBlock(payload, 2, 1, kRun) + blocks_[2]);
    EXPECT_THAT(c.records, ElementsAre("a0", "a1", "c0", "c1"));
    ASSERT_EQ(c.stats.damage.size(), 1u);
    EXPECT_EQ(c.stats.damage[0].kind, DamageKind::kRecordLengths);
  }
}

TEST_F(BlockLog, MagicAndBlocksInsideAPayloadAreData) {
  std::string outer = Block({blocks_[1], blocks_[0].substr(0, 8)}, 1);
  EXPECT_THAT(Read(blocks_[0] + outer + blocks_[2]).records,
              ElementsAre("a0", "a1", blocks_[1], blocks_[0].substr(0, 8), "c0", "c1"));
  // With its payload damaged the block inside still is no block of this log.
  outer.back() ^= 1;
  EXPECT_THAT(Read(blocks_[0] + outer + blocks_[2]).records, ElementsAre("a0", "a1", "c0", "c1"));
  EXPECT_THAT(Read(blocks_[0] + outer).records, ElementsAre("a0", "a1"));
}

TEST_F(BlockLog, MissingBlocksShowInTheSequence) {
  const Contents c = Read(blocks_[0] + blocks_[2]);
  EXPECT_THAT(c.records, ElementsAre("a0", "a1", "c0", "c1"));
  ASSERT_EQ(c.stats.damage.size(), 1u);
  EXPECT_EQ(c.stats.damage[0].offset, block_);
  EXPECT_EQ(c.stats.damage[0].bytes, 0u);
  EXPECT_EQ(Text(c.stats.damage[0]), "found block 2, expected block 1");
}

TEST_F(BlockLog, ErrorOfTheCallerStopsTheReading) {
  int calls = 0;
  const auto stats = ReadBlockLog(Put("log", log_), [&](absl::string_view) {
    return ++calls == 3 ? absl::CancelledError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(stats.status(), absl::CancelledError("enough"));
  EXPECT_EQ(calls, 3);
}

TEST_F(BlockLog, UnreadableFilesAreErrors) {
  const auto nothing = [](absl::string_view) { return absl::OkStatus(); };
  EXPECT_EQ(ReadBlockLog(Path("none"), nothing).status().code(), absl::StatusCode::kNotFound);
  const absl::Status folder = ReadBlockLog(Path(""), nothing).status();
  EXPECT_FALSE(folder.ok());
  EXPECT_THAT(folder.message(), HasSubstr("is a folder"));
}

TEST_F(BlockLog, IsRecognisedBehindADamagedStart) {
  EXPECT_TRUE(IsBlockLog(Put("damaged", "x" + log_)));
  EXPECT_FALSE(IsBlockLog(Put("text", "3c00 3c00\n")));
  EXPECT_FALSE(IsBlockLog(Put("empty", "")));
  EXPECT_FALSE(IsBlockLog(Path("none")));
}

// Peak resident set of this process in KiB.
int64_t PeakKiB() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_F(BlockLog, LargeFilesAreStreamed) {
  std::ofstream out(Path("log"), std::ios::binary);
  const std::string record(100, 'r');
  std::string payload;
  for (int i = 0; i < 600; ++i) absl::StrAppend(&payload, std::string(1, 100), record);
  const uint64_t kBlocks = 1000;  // 60 MB
  for (uint64_t i = 0; i < kBlocks; ++i) out << EncodeBlock(payload, 600, i, kRun);
  out << std::string(20 << 20, '\0');  // and a long stretch of damage
  out.close();
  const int64_t before = PeakKiB();
  uint64_t records = 0;
  const auto stats = ReadBlockLog(Path("log"), [&](absl::string_view r) {
    records += r == record;
    return absl::OkStatus();
  });
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(records, 600 * kBlocks);
  EXPECT_EQ(stats->damage.size(), 1u);
  EXPECT_LT(PeakKiB() - before, 8 << 10);
}

}  // namespace
}  // namespace mmadiff
