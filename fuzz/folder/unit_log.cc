#include "fuzz/folder/unit_log.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Reads the logs of a folder and checks each record against the plan of the run.
class UnitReader {
 public:
  UnitReader(const RunManifest& manifest, const OnUnit& each)
      : manifest_(manifest), each_(each), folded_(manifest.instructions.size()) {
    stored_.totals.resize(manifest.instructions.size());
    stored_.done.resize(manifest.instructions.size(), UnitSet(manifest.shards));
    stored_.parts.resize(manifest.instructions.size());
    stored_.begun.resize(manifest.instructions.size());
    stored_.failures.resize(manifest.instructions.size());
    stored_.asked.resize(manifest.instructions.size());
    stored_.drops.resize(manifest.instructions.size());
    stored_.stops.resize(manifest.instructions.size());
  }

  absl::Status Read(const std::string& path) {
    const auto add = [&](const UnitResult& unit, absl::string_view, uint64_t) {
      return Add(unit, path);
    };
    return ReadUnitLog(path, manifest_, add, stored_.damage);
  }

  // Records errors as damage.
  void ReadGood(const std::string& path) {
    absl::Status other;
    const auto add = [&](const UnitResult& unit, absl::string_view, uint64_t) {
      other.Update(Add(unit, path));
      return absl::OkStatus();
    };
    const absl::Status s = ReadUnitLog(path, manifest_, add, stored_.damage);
    for (const absl::Status& wrong : {other, s}) Note(wrong);
  }
  void Note(const absl::Status& wrong) {
    if (wrong.ok()) return;
    stored_.damage.push_back(
        {.kind = DamageKind::kOtherFile, .detail = std::string(wrong.message())});
  }

  StoredUnits Stored() && {
    for (size_t i = 0; i < stored_.parts.size(); ++i) {
      std::erase_if(stored_.parts[i], [&](const auto& numbered) {
        const auto& [number, part] = numbered;
        const auto done = folded_[i].find(number);
        if (done == folded_[i].end()) return false;
        NoteContradiction(part, done->second.mismatches);
        return true;
      });
      const auto done = [&](const auto& numbered) { return folded_[i].contains(numbered.first); };
      std::erase_if(stored_.begun[i], done);
      std::erase_if(stored_.stops[i], done);
      for (const auto& [number, part] : stored_.parts[i]) NoteHardware(part);
    }
    for (auto& [unit, last] : hardware_) stored_.hardware.push_back(std::move(last.second));
    return std::move(stored_);
  }

 private:
  absl::Status Add(const UnitResult& unit, const std::string& path) {
    if (unit.drop) {
      KeepLater(unit, stored_.drops[unit.instruction]);
      return absl::OkStatus();
    }
    if (unit.mismatch_limit > 0) {
      KeepLater(unit, stored_.stops[unit.instruction]);
      return absl::OkStatus();
    }
    if (unit.failures > 0) {
      uint64_t& failures = stored_.failures[unit.instruction][unit.unit];
      failures = std::max(failures, unit.failures);
      if (unit.dot_products == 0) return absl::OkStatus();
    }
    if (unit.part) {
      if (unit.IsBegun()) KeepLarger(unit, stored_.begun[unit.instruction]);
      UnitParts& parts = stored_.parts[unit.instruction];
      if (const auto other = parts.find(unit.unit); other != parts.end()) {
        const bool more = unit.dot_products > other->second.dot_products;
        NoteContradiction(more ? other->second : unit, (more ? unit : other->second).mismatches);
      }
      KeepLarger(unit, parts);
      if (!unit.canary.d.empty()) NoteAsked(unit);
      return absl::OkStatus();
    }
    const uint64_t fold = Fold(unit);
    if (stored_.done[unit.instruction].Add(unit.unit)) {
      folded_[unit.instruction].emplace(unit.unit, Done{fold, unit.mismatches});
      ++stored_.units;
      Accumulate(unit, stored_.totals[unit.instruction]);
      if (unit.machine != Machine()) stored_.machines.insert(Name(unit.machine));
      NoteHardware(unit);
      NoteAsked(unit);
      if (each_) each_(unit);
      return absl::OkStatus();
    }
    if (folded_[unit.instruction].at(unit.unit).fold == fold) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(path, ": two different answers for unit ", unit.unit,
                                           ", instruction ", unit.instruction,
                                           ": the device or the files cannot be trusted"));
  }

  void NoteContradiction(const UnitResult& part, uint64_t mismatches) {
    const std::string why = Contradiction(manifest_, part, mismatches);
    if (why.empty()) return;
    stored_.damage.push_back({.kind = DamageKind::kContradiction, .detail = why});
  }

  void NoteAsked(const UnitResult& unit) {
    std::vector<UnitResult>& kept = stored_.asked[unit.instruction];
    const bool old = !kept.empty() && kept.front().canary.d.empty();
    if (!unit.canary.d.empty()) {
      if (old) kept.clear();
      const auto same = std::ranges::find(kept, unit.canary, &UnitResult::canary);
      if (same != kept.end() && unit.part) return;
      if (same != kept.end()) kept.erase(same);
    } else {
      if (!kept.empty() && !(old && unit.seconds < kept.front().seconds)) return;
      kept.clear();
    }
    kept.push_back(unit);
    kept.back().counts.clear();
    kept.back().coverage.clear();
  }

  void NoteHardware(const UnitResult& unit) {
    const Hardware& hardware = unit.machine.hardware;
    if (!hardware.known()) return;
    auto& [ended, last] = hardware_[hardware.unit];
    if (std::pair(unit.ended, hardware.answered) < std::pair(ended, last.answered)) return;
    ended = unit.ended;
    last = hardware;
  }

  static uint64_t Fold(const UnitResult& unit) {
    const Digest both = unit.device_digest + 3 * unit.model_digest;
    return static_cast<uint64_t>(both) ^ static_cast<uint64_t>(both >> 64);
  }

  const RunManifest& manifest_;
  const OnUnit& each_;
  StoredUnits stored_;
  struct Done {
    uint64_t fold, mismatches;  // fold: both digests folded into a word
  };
  // By instruction and unit, because attempts may share units.
  std::vector<absl::flat_hash_map<uint64_t, Done>> folded_;
  std::map<std::string, std::pair<uint64_t, Hardware>> hardware_;  // by unit; time of last use
};

}  // namespace

void KeepLarger(UnitResult part, UnitParts& parts) {
  const auto [at, added] = parts.try_emplace(part.unit, part);
  if (!added && at->second.dot_products < part.dot_products) at->second = std::move(part);
}

void KeepLater(UnitResult record, std::map<uint64_t, UnitResult>& records) {
  const auto [at, added] = records.try_emplace(record.unit, record);
  const auto order = [](const UnitResult& r) {
    const absl::Status drop = r.drop.value_or(absl::OkStatus());
    return std::tuple(r.ended, r.mismatch_limit, !drop.ok(), drop.ToString());
  };
  if (!added && order(at->second) < order(record)) at->second = std::move(record);
}

std::string Contradiction(const RunManifest& manifest, const UnitResult& part,
                          uint64_t mismatches) {
  if (part.mismatches <= mismatches) return "";
  return absl::StrCat(
      "two different answers to unit ", part.unit, " of ",
      manifest.instructions[part.instruction].name, ": ", part.mismatches,
      " mismatches in its first ", part.dot_products, " dot products, ", mismatches,
      " in a larger part: the device was changed in between, or it or the files cannot be "
      "trusted; run it again with a different --workdir");
}

void Accumulate(const UnitResult& unit, UnitResult& total) {
  total.cases += unit.cases;
  total.dot_products += unit.dot_products;
  total.mismatches += unit.mismatches;
  if (!unit.part) {
    total.device_digest += unit.device_digest;
    total.model_digest += unit.model_digest;
  }
  total.seconds += unit.seconds;
  for (const uint64_t index : unit.mismatching_cases) total.List(index);
  for (const auto& [name, count] : unit.counts) total.counts[name] += count;
  if (total.coverage.size() < unit.coverage.size()) total.coverage.resize(unit.coverage.size());
  for (size_t i = 0; i < unit.coverage.size(); ++i) total.coverage[i] += unit.coverage[i];
}

bool IsSuperseded(const RunManifest& manifest, const UnitResult& unit) {
  if (unit.instruction >= manifest.instructions.size()) return false;
  const RunManifest::Instruction& planned = manifest.instructions[unit.instruction];
  return unit.cases < planned.unit_cases && unit.first_case == unit.unit * planned.unit_cases &&
         std::ranges::count(planned.earlier_cases, unit.first_case + unit.cases) > 0;
}

std::string WhyNotPlanned(const RunManifest& manifest, const UnitResult& unit) {
  if (unit.instruction >= manifest.instructions.size()) {
    return absl::StrCat("instruction ", unit.instruction);
  }
  const RunManifest::Instruction& planned = manifest.instructions[unit.instruction];
  const std::string which = absl::StrCat("unit ", unit.unit, " of ", planned.name);
  if (unit.unit >= planned.Units()) return absl::StrCat(which, ", which has ", planned.Units());
  if (unit.unit % manifest.shards != manifest.shard) {
    return absl::StrCat(which, " in shard ", manifest.shard, " of ", manifest.shards);
  }
  const uint64_t first = unit.unit * planned.unit_cases, cases = planned.CasesOf(unit.unit);
  if (unit.first_case != first || (unit.part ? unit.cases > cases : unit.cases != cases)) {
    return absl::StrCat(which, " has ", unit.cases, " cases from ", unit.first_case, " on, not ",
                        cases, " from ", first, " on");
  }
  const Operation* op = FindOperation(planned.name);
  if (op == nullptr) return WhyNoOperation(planned.name);
  const uint64_t words = op->shape().d_words();
  const uint64_t whole = unit.cases * words, most = unit.part ? whole + words - 1 : whole;
  if (unit.dot_products < whole || unit.dot_products > most) {
    return absl::StrCat(which, " has ", unit.dot_products, " dot products of ", whole);
  }
  const auto outside = [&](uint64_t index) { return index < first || index - first >= cases; };
  const auto& found = unit.mismatching_cases;
  if (found.size() > unit.mismatches || std::ranges::any_of(found, outside)) {
    return absl::StrCat(which, " has mismatches in cases of other units");
  }
  return "";
}

absl::Status ReadUnitLog(const std::string& path, const RunManifest& manifest,
                         const OnStoredUnit& each, std::vector<Damage>& damage) {
  uint64_t unplanned = 0;
  std::string first;  // the problem of the first of them
  const OnRecordAt add = [&](absl::string_view bytes, uint64_t offset) -> absl::Status {
    const absl::StatusOr<UnitResult> unit = ParseUnit(bytes);
    const std::string wrong =
        unit.ok() ? WhyNotPlanned(manifest, *unit) : std::string(unit.status().message());
    if (wrong.empty()) return each(*unit, bytes, offset);
    if (unit.ok() && IsSuperseded(manifest, *unit)) return absl::OkStatus();
    if (unplanned++ == 0) first = wrong;
    return absl::OkStatus();
  };
  auto stats = ReadBlockLog(path, add, RunIdOf(manifest));
  if (absl::IsNotFound(stats.status())) return absl::DataLossError(stats.status().message());
  RETURN_IF_ERROR(stats.status());
  if (unplanned > 0) {
    stats->damage.push_back({.kind = DamageKind::kOtherRecords,
                             .detail = absl::StrCat(unplanned,
                                                    " records that are not part of this run; "
                                                    "the first: ",
                                                    first)});
  }
  for (Damage& d : stats->damage) d.file = path;
  damage.insert(damage.end(), stats->damage.begin(), stats->damage.end());
  return absl::OkStatus();
}

std::vector<std::string> TextsOf(const std::vector<Damage>& damage, const std::string& writer) {
  std::vector<std::string> texts;
  for (const Damage& d : damage) {
    if (!writer.empty() && d.IsTornEnd()) continue;
    // An unreadable file ends a run, and contradictions remain; other damaged units run again.
    const bool again = d.kind != DamageKind::kOtherFile && d.kind != DamageKind::kContradiction;
    texts.push_back(absl::StrCat(Text(d), again ? "; the lost units will run again" : ""));
  }
  return texts;
}

bool IsUnitLog(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return absl::StartsWith(name, "units-") && absl::EndsWith(name, ".log");
}

// Not with glob(): the folder's own name may contain "[" or "*".
absl::StatusOr<std::vector<std::string>> UnitLogsIn(const std::string& workdir) {
  absl::StatusOr<std::vector<std::string>> paths = EntriesOf(workdir);
  if (!paths.ok()) return absl::DataLossError(paths.status().message());
  std::erase_if(*paths, [](const std::string& path) { return !IsUnitLog(path); });
  return paths;
}

absl::StatusOr<StoredUnits> ReadUnits(const std::string& workdir, const RunManifest& manifest,
                                      const OnUnit& each, Sync sync) {
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, UnitLogsIn(workdir));
  UnitReader reader(manifest, each);
  for (const std::string& path : paths) {
    RETURN_IF_ERROR(sync == Sync::kFirst ? SyncFile(path) : absl::OkStatus());
    RETURN_IF_ERROR(reader.Read(path));
  }
  if (!paths.empty() && sync == Sync::kFirst) {
    RETURN_IF_ERROR(SyncFolderOf(paths.front()));
  }
  return std::move(reader).Stored();
}

StoredUnits ReadGoodUnits(const std::string& workdir, const RunManifest& manifest,
                          const OnUnit& each) {
  UnitReader reader(manifest, each);
  const absl::StatusOr<std::vector<std::string>> paths = UnitLogsIn(workdir);
  reader.Note(paths.status());
  if (paths.ok()) std::ranges::for_each(*paths, [&](const auto& path) { reader.ReadGood(path); });
  return std::move(reader).Stored();
}

absl::StatusOr<std::unique_ptr<UnitLog>> UnitLog::Create(const std::string& workdir, RunId run) {
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, UnitLogsIn(workdir));
  for (size_t attempt = paths.size();; ++attempt) {
    const std::string path = absl::StrCat(workdir, "/units-", absl::Dec(attempt, absl::kZeroPad6),
                                          "-", getpid(), ".log");
    absl::StatusOr<std::unique_ptr<BlockLogWriter>> log = BlockLogWriter::Create(path, run);
    if (absl::IsAlreadyExists(log.status())) continue;
    RETURN_IF_ERROR(log.status());
    return std::unique_ptr<UnitLog>(new UnitLog(*std::move(log)));
  }
}

absl::Status UnitLog::Append(const UnitResult& unit) {
  RETURN_IF_ERROR(log_->Append(SerializeUnit(unit), BlockVersionOf(unit)));
  const auto now = MonotonicNow();
  return now - flushed_ > absl::Milliseconds(500) ? Flush() : absl::OkStatus();
}

absl::Status UnitLog::Flush() {
  flushed_ = MonotonicNow();
  return log_->Flush();
}

}  // namespace mmadiff
