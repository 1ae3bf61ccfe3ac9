#include "fuzz/unit_log.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

// In the order of the attempts. No glob(): the folder's own name may hold "[" or "*".
std::vector<std::string> LogFiles(const std::string& workdir) {
  std::vector<std::string> paths;
  std::error_code ignored;  // a folder that cannot be read has no logs; writing will say why
  for (const auto& entry : std::filesystem::directory_iterator(workdir, ignored)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, "units-") && absl::EndsWith(name, ".log")) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

uint64_t Fold(const UnitResult& unit) {
  const Digest both = unit.device_digest + 3 * unit.model_digest;
  return static_cast<uint64_t>(both) ^ static_cast<uint64_t>(both >> 64);
}

}  // namespace

void Accumulate(const UnitResult& unit, UnitResult& total) {
  total.cases += unit.cases;
  total.dot_products += unit.dot_products;
  total.mismatches += unit.mismatches;
  total.device_digest += unit.device_digest;
  total.model_digest += unit.model_digest;
  total.seconds += unit.seconds;
  for (const uint64_t index : unit.mismatching_cases) {
    if (total.mismatching_cases.size() < 100) total.mismatching_cases.push_back(index);
  }
  for (const auto& [name, count] : unit.counts) total.counts[name] += count;
}

absl::StatusOr<StoredUnits> ReadUnits(const std::string& workdir, size_t instructions) {
  StoredUnits stored;
  stored.totals.resize(instructions);
  stored.done.resize(instructions);
  // Both digests of every unit, folded to a word: attempts on a shared file system may overlap.
  std::vector<std::vector<uint64_t>> folded(instructions);
  for (const std::string& path : LogFiles(workdir)) {
    const auto add = [&](absl::string_view bytes) -> absl::Status {
      const absl::StatusOr<UnitResult> unit = ParseUnit(bytes);
      if (!unit.ok()) return unit.status();
      if (unit->instruction >= instructions) {
        return absl::DataLossError(absl::StrCat(path, ": a unit of instruction ", unit->instruction,
                                                ", which the run has not"));
      }
      std::vector<bool>& done = stored.done[unit->instruction];
      if (unit->unit >= done.size()) done.resize(unit->unit + 1);
      folded[unit->instruction].resize(done.size());
      uint64_t& known = folded[unit->instruction][unit->unit];
      if (done[unit->unit]) {
        if (known == Fold(*unit)) return absl::OkStatus();
        return absl::DataLossError(absl::StrCat(path, ": two different answers for unit ",
                                                unit->unit, " of instruction ", unit->instruction,
                                                ": the device or the files are not to be trusted"));
      }
      known = Fold(*unit);
      done[unit->unit] = true;
      ++stored.units;
      Accumulate(*unit, stored.totals[unit->instruction]);
      return absl::OkStatus();
    };
    const absl::StatusOr<BlockLogStats> stats = ReadBlockLog(path, add);
    if (!stats.ok()) return stats.status();
    for (const Damage& d : stats->damage) {
      stored.warnings.push_back(absl::StrCat(path, ": ", d.what, " at byte ", d.offset, ", ",
                                             d.bytes, " bytes skipped; those units run again"));
    }
  }
  return stored;
}

absl::StatusOr<std::unique_ptr<UnitLog>> UnitLog::Create(const std::string& workdir) {
  for (int attempt = static_cast<int>(LogFiles(workdir).size());; ++attempt) {
    const std::string path = absl::StrCat(workdir, "/units-", absl::Dec(attempt, absl::kZeroPad6),
                                          "-", getpid(), ".log");
    absl::StatusOr<std::unique_ptr<BlockLogWriter>> log = BlockLogWriter::Create(path);
    if (absl::IsAlreadyExists(log.status())) continue;
    if (!log.ok()) return absl::DataLossError(log.status().message());
    return std::unique_ptr<UnitLog>(new UnitLog(*std::move(log)));
  }
}

absl::Status UnitLog::Append(const UnitResult& unit) {
  if (absl::Status s = log_->Append(SerializeUnit(unit)); !s.ok()) return s;
  const auto now = std::chrono::steady_clock::now();
  return now - flushed_ > std::chrono::milliseconds(500) ? Flush() : absl::OkStatus();
}

absl::Status UnitLog::Flush() {
  flushed_ = std::chrono::steady_clock::now();
  return log_->Flush();
}

}  // namespace mmadiff
