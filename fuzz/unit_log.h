// The durable memory of a run: which units are done and what they gave, over all attempts.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/block_log.h"
#include "corpus/run_record.h"

namespace mmadiff {

// Everything that earlier attempts left in a work directory.
struct StoredUnits {
  std::vector<UnitResult> totals;       // by instruction of the manifest
  std::vector<std::vector<bool>> done;  // by instruction and unit
  uint64_t units = 0;
  std::vector<std::string> warnings;  // damage: the good records were used
};

// Sum of two results of one instruction; the unit number and the first case lose their meaning.
void Accumulate(const UnitResult& unit, UnitResult& total);

// Two different answers for one unit are kDataLoss: an alarm, not a merge.
absl::StatusOr<StoredUnits> ReadUnits(const std::string& workdir, size_t instructions);

// Appends to the log of this attempt. Not thread-safe.
class UnitLog {
 public:
  // kDataLoss when the folder cannot be written.
  static absl::StatusOr<std::unique_ptr<UnitLog>> Create(const std::string& workdir);

  // Durable at the latest half a second and one call later, or after Flush().
  absl::Status Append(const UnitResult& unit);
  absl::Status Flush();

 private:
  explicit UnitLog(std::unique_ptr<BlockLogWriter> log) : log_(std::move(log)) {}

  std::unique_ptr<BlockLogWriter> log_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

}  // namespace mmadiff
