#include "corpus/block_log.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/hex.h"
#include "device/little_endian.h"
#include "device/status_macros.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

// The first byte is neither ASCII nor the start of a UTF-8 character, so no text file looks like a
// log.
constexpr char kMagicBytes[] = "\x93mmalog\n";
constexpr absl::string_view kMagic(kMagicBytes, 8);
constexpr size_t kMaxPayload = kMaxBlockBytes - kBlockHeaderBytes;
constexpr size_t kMaxRecord = kMaxBlockBytes - 1024;
constexpr size_t kHashedHeader = kBlockHeaderBytes - 8;

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// Removes a record length from the front. False if the payload has none, or if the length exceeds
// the rest of the payload.
bool TakeLength(absl::string_view& payload, size_t& length) {
  length = 0;
  for (int shift = 0; shift < 21 && !payload.empty(); shift += 7) {  // 2^21 exceeds any payload
    const unsigned char byte = payload.front();
    payload.remove_prefix(1);
    length |= size_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return length <= payload.size();
  }
  return false;
}

// Splits a payload into all its records, or returns false; then none is used.
bool SplitRecords(absl::string_view payload, uint64_t count,
                  std::vector<absl::string_view>& records) {
  records.clear();
  while (!payload.empty()) {
    size_t length;
    if (!TakeLength(payload, length)) return false;
    records.push_back(payload.substr(0, length));
    payload.remove_prefix(length);
  }
  return records.size() == count;
}

// The block at the start of a view. `error` is the reason why it is not a good block.
struct Block {
  std::optional<DamageKind> error;
  size_t bytes = 0;  // size of the block; 0 if its header cannot be trusted
  uint64_t sequence = 0;
  RunId run = 0;
  std::vector<absl::string_view> records;
};

void ParseBlock(absl::string_view view, Block& block) {
  block = {};
  if (view.substr(0, 8) != kMagic.substr(0, view.size())) {
    block.error = DamageKind::kNoMagic;
  } else if (view.size() < kBlockHeaderBytes) {
    block.error = DamageKind::kTruncatedBlock;
  } else if (ReadLittleEndian(view.substr(8, 4)) == 1) {
    block.error = DamageKind::kOldVersion;
  } else if (XXH3_64bits(view.data(), kHashedHeader) !=
             ReadLittleEndian(view.substr(kHashedHeader, 8))) {
    block.error = DamageKind::kHeaderChecksum;
  }
  if (block.error) return;
  const size_t payload_bytes = ReadLittleEndian(view.substr(12, 4));
  block.sequence = ReadLittleEndian(view.substr(16, 8));
  block.run =
      RunId{ReadLittleEndian(view.substr(40, 8))} << 64 | ReadLittleEndian(view.substr(32, 8));
  const uint64_t version = ReadLittleEndian(view.substr(8, 4));
  if (version < kPlainBlocks || version > kBlocksWithStops) {
    block.error = DamageKind::kUnknownVersion;
  } else if (payload_bytes > kMaxPayload) {
    block.error = DamageKind::kLength;
  } else if (payload_bytes > view.size() - kBlockHeaderBytes) {
    block.error = DamageKind::kTruncatedBlock;
  }
  if (block.error) return;
  block.bytes = kBlockHeaderBytes + payload_bytes;
  const absl::string_view payload = view.substr(kBlockHeaderBytes, payload_bytes);
  if (XXH3_64bits(payload.data(), payload.size()) != ReadLittleEndian(view.substr(48, 8))) {
    block.error = DamageKind::kPayloadChecksum;
  } else if (!SplitRecords(payload, ReadLittleEndian(view.substr(24, 8)), block.records)) {
    block.error = DamageKind::kRecordLengths;
  }
}

// A sliding view of a file: the bytes from Offset() on.
class Window {
 public:
  Window(int fd, const std::string& path) : fd_(fd), path_(path) {}

  // At least `want` bytes, or fewer at the end of the file. Valid until the next call.
  absl::StatusOr<absl::string_view> View(size_t want) {
    while (buffer_.size() - begin_ < want && !at_end_) {
      buffer_.erase(0, begin_);
      begin_ = 0;
      const size_t size = buffer_.size();
      buffer_.resize(std::max(size + kMaxBlockBytes, want));
      const ssize_t got = read(fd_, buffer_.data() + size, buffer_.size() - size);
      const int error = errno;
      buffer_.resize(size + std::max<ssize_t>(got, 0));
      if (got < 0 && error == EINTR) continue;
      if (got < 0) {
        return absl::DataLossError(absl::StrCat(path_, ": cannot be read at byte ", offset_ + size,
                                                ": ", std::strerror(error)));
      }
      at_end_ = got == 0;
    }
    return absl::string_view(buffer_).substr(begin_);
  }
  void Advance(size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  uint64_t Offset() const { return offset_; }

 private:
  int fd_;
  std::string path_;
  std::string buffer_;
  size_t begin_ = 0;
  uint64_t offset_ = 0;
  bool at_end_ = false;
};

class Reader {
 public:
  Reader(int fd, const std::string& path, const OnRecordAt& record, std::optional<RunId> run)
      : window_(fd, path), record_(record), run_(run) {}

  absl::StatusOr<BlockLogStats> Read() {
    Block block;
    for (;;) {
      ASSIGN_OR_RETURN(absl::string_view view, window_.View(2 * kMaxBlockBytes));
      if (view.empty()) break;
      ParseBlock(view, block);
      if (!block.error) block.error = WhyNotOurs(block);
      if (block.error) {
        Skip(*block.error, BadBytes(view, block));
        continue;
      }
      RETURN_IF_ERROR(Deliver(block, view.data()));
    }
    for (Damage& d : stats_.damage) d.at_end = d.bytes > 0 && d.offset >= stats_.good_bytes;
    return std::move(stats_);
  }

 private:
  // The reason why a block that is itself good does not belong here.
  std::optional<DamageKind> WhyNotOurs(const Block& block) const {
    if (run_.has_value() && block.run != *run_) return DamageKind::kOtherRun;
    if (stats_.ended) return DamageKind::kAfterEnd;
    if (block.sequence < next_sequence_) return DamageKind::kOutOfOrder;
    return std::nullopt;
  }

  // The number of bytes to skip. If a block or the end of the file follows, this is exactly the
  // block, so a log inside its payload is not mistaken for blocks of this log. Otherwise skips to
  // the next magic.
  static size_t BadBytes(absl::string_view view, const Block& block) {
    if (block.bytes > 0) {
      const absl::string_view rest = view.substr(block.bytes);
      if (rest.empty() || (rest.size() >= 8 && rest.substr(0, 8) == kMagic)) return block.bytes;
    }
    const size_t magic = view.find(kMagic, 1);
    if (magic != view.npos) return magic;
    // A magic may begin in the last seven bytes. At the end of the file, these are skipped one by
    // one.
    return view.size() < 8 ? 1 : view.size() - 7;
  }

  void Skip(DamageKind kind, size_t bytes) {
    const bool goes_on =
        !stats_.damage.empty() &&
        stats_.damage.back().offset + stats_.damage.back().bytes == window_.Offset();
    if (goes_on) {
      stats_.damage.back().bytes += bytes;
    } else {
      AddDamage({kind, window_.Offset(), bytes});
    }
    damaged_ = true;
    window_.Advance(bytes);
  }

  void AddDamage(Damage damage) {
    if (stats_.damage.size() < kMaxDamage) {
      stats_.damage.push_back(std::move(damage));
    } else {
      stats_.damage.back().bytes += damage.bytes;
    }
  }

  absl::Status Deliver(const Block& block, const char* begin) {
    // A gap after damage is part of that damage.
    if (!damaged_ && block.sequence != next_sequence_) {
      AddDamage(
          {DamageKind::kMissingBlocks, window_.Offset(), 0,
           absl::StrCat("found block ", block.sequence, ", expected block ", next_sequence_)});
    }
    for (absl::string_view record : block.records) {
      const uint64_t offset = window_.Offset() + (record.data() - begin);
      RETURN_IF_ERROR(record_(record, offset));
      ++stats_.records;
    }
    ++stats_.blocks;
    stats_.ended = block.records.empty();
    run_ = block.run;
    next_sequence_ = block.sequence + 1;
    damaged_ = false;
    window_.Advance(block.bytes);
    stats_.good_bytes = window_.Offset();
    return absl::OkStatus();
  }

  Window window_;
  const OnRecordAt& record_;
  std::optional<RunId> run_;
  BlockLogStats stats_;
  uint64_t next_sequence_ = 0;
  bool damaged_ = false;  // since the last good block
};

}  // namespace

RunId RandomRunId() {
  RunId run = 0;
  if (getentropy(&run, sizeof(run)) != 0) std::abort();  // std::random_device needs glibc 2.36
  return run;
}

std::string FormatRunId(RunId run) { return Hex(run); }

std::optional<RunId> ParseRunId(absl::string_view text) {
  uint64_t high, low;
  if (text.size() != 32 || !absl::SimpleHexAtoi(text.substr(0, 16), &high) ||
      !absl::SimpleHexAtoi(text.substr(16), &low)) {
    return std::nullopt;
  }
  return RunId{high} << 64 | low;
}

std::string EncodeBlock(absl::string_view payload, uint64_t records, uint64_t sequence, RunId run,
                        uint32_t version) {
  std::string block(kMagic);
  AppendLittleEndian(version, 4, block);
  AppendLittleEndian(payload.size(), 4, block);
  AppendLittleEndian(sequence, 8, block);
  AppendLittleEndian(records, 8, block);
  AppendLittleEndian(static_cast<uint64_t>(run), 8, block);
  AppendLittleEndian(static_cast<uint64_t>(run >> 64), 8, block);
  AppendLittleEndian(XXH3_64bits(payload.data(), payload.size()), 8, block);
  AppendLittleEndian(XXH3_64bits(block.data(), block.size()), 8, block);
  return absl::StrCat(block, payload);
}

std::string EncodeRecords(std::span<const std::string> records, RunId run) {
  std::string log;
  for (uint64_t i = 0; i < records.size(); ++i) {
    std::string payload;
    PutVarint(records[i].size(), payload);
    log += EncodeBlock(payload + records[i], 1, i, run);
  }
  return log;
}

absl::StatusOr<std::unique_ptr<BlockLogWriter>> BlockLogWriter::Create(const std::string& path,
                                                                       RunId run) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) {
    const int error = errno;
    const std::string message = absl::StrCat(path, ": cannot be created: ", std::strerror(error));
    return error == EEXIST ? absl::AlreadyExistsError(message) : absl::DataLossError(message);
  }
  std::unique_ptr<BlockLogWriter> writer(new BlockLogWriter(fd, path, run));
  RETURN_IF_ERROR(SyncFolderOf(path));
  return writer;
}

absl::StatusOr<std::unique_ptr<BlockLogWriter>> BlockLogWriter::Continue(
    const std::string& path, RunId run, const BlockLogStats& read) {
  if (read.ended)
    return absl::FailedPreconditionError(absl::StrCat(path, ": already has its end mark"));
  for (const Damage& d : read.damage) {
    if (d.at_end) continue;
    return absl::DataLossError(
        absl::StrCat(path, ": ", Text(d), "; a damaged log cannot be continued"));
  }
  absl::StatusOr<Fd> file = OpenStored(path, O_WRONLY | O_APPEND);
  if (!file.ok()) return absl::DataLossError(file.status().message());
  const int fd = file->Release();
  std::unique_ptr<BlockLogWriter> writer(new BlockLogWriter(fd, path, run));
  writer->sequence_ = read.blocks;
  writer->good_bytes_ = read.good_bytes;
  // Data from an earlier process may not be on disk.
  if (ftruncate(fd, static_cast<off_t>(read.good_bytes)) != 0 || fdatasync(fd) != 0) {
    return absl::DataLossError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  RETURN_IF_ERROR(SyncFolderOf(path));
  return writer;
}

BlockLogWriter::BlockLogWriter(int fd, std::string path, RunId run)
    : fd_(fd), path_(std::move(path)), run_(run) {}

BlockLogWriter::~BlockLogWriter() { close(fd_); }

absl::Status BlockLogWriter::Append(absl::string_view record, uint32_t version) {
  RETURN_IF_ERROR(status_);
  if (record.size() > kMaxRecord) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": a record of ", record.size(), " bytes; the limit is ", kMaxRecord));
  }
  const bool fits = buffer_.size() + VarintBytes(record.size()) + record.size() <= kMaxPayload;
  if (!fits || version != version_) {
    RETURN_IF_ERROR(Flush());
  }
  version_ = version;
  PutVarint(record.size(), buffer_);
  absl::StrAppend(&buffer_, record);
  ++records_;
  return absl::OkStatus();
}

absl::Status BlockLogWriter::Flush() {
  if (status_.ok() && records_ > 0) status_ = Write();
  if (status_.ok()) status_ = CheckIsStill(fd_, path_);
  return status_;
}

absl::Status BlockLogWriter::Finish() {
  absl::Status s = Flush();
  if (s.ok()) s = status_ = Write();
  if (s.ok())
    status_ = absl::FailedPreconditionError(absl::StrCat(path_, ": already has its end mark"));
  return s;
}

absl::Status BlockLogWriter::Write() {
  const std::string block = EncodeBlock(buffer_, records_, sequence_, run_, version_);
  buffer_.clear();
  records_ = 0;
  ++sequence_;
  const absl::Status s = AppendDurably(fd_, path_, block);
  if (s.ok()) {
    good_bytes_ += block.size();
  } else {  // if this fails too, readers skip the torn block
    [[maybe_unused]] const int ignored = ftruncate(fd_, static_cast<off_t>(good_bytes_));
  }
  return s;
}

void DemandEnd(BlockLogStats& stats) {
  if (!stats.ended) stats.damage.push_back({DamageKind::kNoEnd});
}

absl::StatusOr<BlockLogStats> ReadBlockLog(
    const std::string& path, absl::FunctionRef<absl::Status(absl::string_view)> record,
    std::optional<RunId> run) {
  return ReadBlockLog(
      path, [&record](absl::string_view bytes, uint64_t) { return record(bytes); }, run);
}

absl::StatusOr<BlockLogStats> ReadBlockLog(const std::string& path, const OnRecordAt& record,
                                           std::optional<RunId> run) {
  ASSIGN_OR_RETURN(const Fd file, OpenStored(path));
  return Reader(file.get(), path, record, run).Read();
}

bool IsBlockLog(const std::string& path) {
  const absl::StatusOr<Fd> file = OpenStored(path);
  if (!file.ok()) return false;
  Window window(file->get(), path);
  const absl::StatusOr<absl::string_view> start = window.View(2 * kMaxBlockBytes);
  return start.ok() && start->substr(0, 2 * kMaxBlockBytes).find(kMagic) != absl::string_view::npos;
}

}  // namespace mmadiff
