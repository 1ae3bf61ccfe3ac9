// ReadBlockLog() survives any bytes and accounts for them. The first byte chooses what the rest is:
// a file, or the payload of a block with good checksums between two good blocks, which must come
// through.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "corpus/block_log.h"

using mmadiff::EncodeBlock;

namespace {

constexpr mmadiff::RunId kRun = 1;

// The records of a file with these bytes.
uint64_t Read(const std::string& bytes) {
  static const int fd = memfd_create("block_log", MFD_CLOEXEC);
  static const std::string path = absl::StrCat("/proc/self/fd/", fd);
  if (ftruncate(fd, 0) != 0) std::abort();
  if (pwrite(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  uint64_t records = 0;
  const auto stats = mmadiff::ReadBlockLog(path, [&](absl::string_view record) {
    if (record.size() > mmadiff::kMaxBlockBytes) std::abort();
    ++records;
    return absl::OkStatus();
  });
  if (!stats.ok() || stats->records != records) std::abort();
  uint64_t end = 0;  // damage is in order, apart, and inside the file
  for (const mmadiff::Damage& damage : stats->damage) {
    if (damage.offset < end) std::abort();
    end = damage.offset + damage.bytes;
  }
  if (end > bytes.size() || (stats->blocks == 0 && end != bytes.size())) std::abort();
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string first = EncodeBlock("\x01x", 1, 0, kRun),
                    last = EncodeBlock("\x01y", 1, 2, kRun);
  if (data[0] % 2 == 0) {
    Read(rest);
  } else if (rest.size() < mmadiff::kMaxBlockBytes) {
    // A block without records would be the end mark.
    if (Read(first + EncodeBlock(rest, data[1] + 1, 1, kRun) + last) < 2) std::abort();
    if (Read(first + rest + last) < 1) std::abort();
  }
  return 0;
}
