// ReadBlockLog() survives any bytes and accounts for them. The first byte selects the kind of the
// rest: a file, or the payload of a block with valid checksums between two valid blocks, which must
// be read.
#include "corpus/block_log.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;
using mmadiff::EncodeBlock;

namespace {

constexpr mmadiff::RunId kRun = 1;

// The records of a file with these bytes.
uint64_t Read(const std::string& bytes) {
  uint64_t records = 0;
  const auto stats = mmadiff::ReadBlockLog(FileOf(bytes), [&](absl::string_view record) {
    Check(record.size() <= mmadiff::kMaxBlockBytes);
    ++records;
    return absl::OkStatus();
  });
  Check(stats.ok() && stats->records == records);
  uint64_t end = 0;  // damage is in order, apart, and inside the file
  for (const mmadiff::Damage& damage : stats->damage) {
    Check(damage.offset >= end);
    end = damage.offset + damage.bytes;
  }
  Check(end <= bytes.size() && (stats->blocks > 0 || end == bytes.size()));
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string rest(Text(data + 2, size - 2));
  const std::string first = EncodeBlock("\x01x", 1, 0, kRun),
                    last = EncodeBlock("\x01y", 1, 2, kRun);
  if (data[0] % 2 == 0) {
    Read(rest);
  } else if (rest.size() < mmadiff::kMaxBlockBytes) {
    // A block without records would be the end mark.
    Check(Read(first + EncodeBlock(rest, data[1] + 1, 1, kRun) + last) >= 2);
    Check(Read(first + rest + last) >= 1);
  }
  return 0;
}
