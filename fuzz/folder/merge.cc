#include "fuzz/folder/merge.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "corpus/block_log.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "corpus/path_kind.h"
#include "corpus/text_proto.h"
#include "device/status_macros.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/folder/unit_log.h"
#include "fuzz/folder/workdir.h"

namespace mmadiff {
namespace {

constexpr char kTornLog[] = "units-merged.log.tmp";  // prefix of incomplete logs

// The facts about a unit to keep in memory, and the location of its record.
struct Entry {
  Digest device = 0, model = 0;
  RunId hash = 0;  // XXH3-128 hash of the record
  uint64_t mismatches = 0, ended = 0, offset = 0;
  uint32_t bytes = 0, log = 0, machine = 0;
  bool no_canary = false, uncovered = false;  // the record lacks a canary, or coverage
  uint64_t missing = 0;  // ~dot_products for a part, so larger parts sort first; 0: whole unit

  // Among several records with the same answers, prefers the one with the whole unit or the most of
  // it, then one with a canary, then one with coverage, then the earliest by its clock, then the
  // smallest hash. The result does not depend on the order in which they are read.
  bool Precedes(const Entry& other) const {
    return std::tuple(missing, no_canary, uncovered, ended, hash) <
           std::tuple(other.missing, other.no_canary, other.uncovered, other.ended, other.hash);
  }
  bool SameAnswers(const Entry& other) const {
    // A part with fewer dot products cannot have more mismatches.
    if (missing < other.missing) return mismatches >= other.mismatches;
    if (missing > other.missing) return mismatches <= other.mismatches;
    if (missing != 0) return mismatches == other.mismatches;
    return device == other.device && model == other.model && mismatches == other.mismatches;
  }
};

// The record chosen for each unit, over all folders.
class Index {
 public:
  explicit Index(const RunManifest& whole)
      : whole_(whole),
        units_(whole.instructions.size()),
        drops_(whole.instructions.size()),
        stops_(whole.instructions.size()),
        failures_(whole.instructions.size()) {}

  // Reads all logs of a folder. A torn end is not damage while a process is writing.
  absl::Status Read(const std::string& folder, const RunManifest& manifest,
                    std::vector<std::string>& damage) {
    const std::string writer = WriterOf(folder);
    ASSIGN_OR_RETURN(const std::vector<std::string> paths, UnitLogsIn(folder));
    for (const std::string& path : paths) {
      logs_.push_back(path);
      const auto add = [this](const UnitResult& unit, absl::string_view bytes, uint64_t offset) {
        return Add(unit, bytes, offset);
      };
      std::vector<Damage> found;
      const absl::Status s = ReadUnitLog(path, manifest, add, found);
      if (!s.ok() && !absl::IsDataLoss(s)) return s;
      for (std::string& text : TextsOf(found, writer)) damage.push_back(std::move(text));
      if (!s.ok()) damage.emplace_back(s.message());
    }
    return absl::OkStatus();
  }

  // Appends the records to the log in the order of instructions and units.
  absl::Status Write(BlockLogWriter& log, Merged& merged) const {
    RecordFile file(logs_);
    for (size_t i = 0; i < units_.size(); ++i) {
      std::vector<uint64_t> numbers;
      for (const auto& [number, entry] : units_[i]) numbers.push_back(number);
      std::ranges::sort(numbers);
      for (const uint64_t number : numbers) {
        ASSIGN_OR_RETURN(const std::string bytes, file.Read(units_[i].at(number)));
        ASSIGN_OR_RETURN(const UnitResult unit, ParseUnit(bytes));
        Accumulate(unit, merged.totals[i]);
        merged.units += unit.part ? 0 : 1;
        RETURN_IF_ERROR(log.Append(bytes, BlockVersionOf(unit)));
      }
      for (const auto& [number, drop] : drops_[i]) {
        RETURN_IF_ERROR(log.Append(SerializeUnit(drop), BlockVersionOf(drop)));
        if (drop.drop->ok()) continue;
        merged.dropped.push_back(
            absl::StrCat(whole_.instructions[i].name, ": ", drop.drop->message()));
      }
      for (const auto& [number, failed] : failures_[i]) {
        RETURN_IF_ERROR(log.Append(SerializeUnit(failed), BlockVersionOf(failed)));
      }
      for (const auto& [number, stop] : stops_[i]) {
        const auto unit = units_[i].find(number);
        if (unit != units_[i].end() && unit->second.missing == 0) continue;  // done since
        RETURN_IF_ERROR(log.Append(SerializeUnit(stop), BlockVersionOf(stop)));
      }
    }
    return log.Flush();
  }

  const std::vector<std::string>& logs() const { return logs_; }

 private:
  // Reads records again, one file open at a time.
  class RecordFile {
   public:
    explicit RecordFile(const std::vector<std::string>& logs) : logs_(logs) {}

    absl::StatusOr<std::string> Read(const Entry& entry) {
      const std::string& path = logs_[entry.log];
      if (!file_.open() || entry.log != open_) {
        absl::StatusOr<Fd> file = OpenStored(path);
        if (!file.ok()) return absl::DataLossError(file.status().message());
        file_ = *std::move(file);
        open_ = entry.log;
      }
      std::string bytes(entry.bytes, '\0');
      const ssize_t got =
          pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(entry.offset));
      if (got == static_cast<ssize_t>(bytes.size()) && Xxh3(bytes) == entry.hash) return bytes;
      return absl::DataLossError(
          absl::StrCat(path, ": changed at byte ", entry.offset, " during the merge; merge again"));
    }

   private:
    const std::vector<std::string>& logs_;
    uint32_t open_ = 0;
    Fd file_;
  };

  absl::Status Add(const UnitResult& unit, absl::string_view bytes, uint64_t offset) {
    if (unit.drop) {
      KeepLater(unit, drops_[unit.instruction]);
      return absl::OkStatus();
    }
    if (unit.mismatch_limit > 0) {
      KeepLater(unit, stops_[unit.instruction]);
      return absl::OkStatus();
    }
    if (unit.failures > 0) {
      UnitResult& most = failures_[unit.instruction][unit.unit];
      if (most.failures < unit.failures) most = unit;
      if (unit.dot_products == 0) return absl::OkStatus();
    }
    Entry entry = {unit.device_digest,
                   unit.model_digest,
                   Xxh3(bytes),
                   unit.mismatches,
                   unit.ended,
                   offset,
                   static_cast<uint32_t>(bytes.size()),
                   static_cast<uint32_t>(logs_.size() - 1),
                   MachineNumber(Name(unit.machine)),
                   unit.canary.d.empty(),
                   unit.coverage.empty(),
                   unit.part ? ~unit.dot_products : 0};
    const auto [known, is_new] = units_[unit.instruction].try_emplace(unit.unit, entry);
    if (is_new) return absl::OkStatus();
    if (!known->second.SameAnswers(entry)) return Contradiction(unit, known->second, entry);
    if (entry.Precedes(known->second)) known->second = entry;
    return absl::OkStatus();
  }

  absl::Status Contradiction(const UnitResult& unit, const Entry& x, const Entry& y) const {
    const auto who = [this](const Entry& e) {
      const std::string& machine = machines_[e.machine];
      return absl::StrCat(machine.empty() ? "an unknown machine" : machine, " (", logs_[e.log],
                          ", ", e.mismatches, " mismatches)");
    };
    return absl::AbortedError(absl::StrCat(
        "two different answers to unit ", unit.unit, " of ",
        whole_.instructions[unit.instruction].name, ", cases ", unit.first_case, " to ",
        unit.first_case + unit.cases - 1, ": by ", who(x), " and by ", who(y), "; ",
        x.model == y.model ? "one of the devices" : "one of the programs or machines",
        " or the files cannot be trusted. Nothing was merged: leave out the folder that is "
        "wrong"));
  }

  uint32_t MachineNumber(const std::string& machine) {
    const auto [known, is_new] = numbers_.try_emplace(machine, machines_.size());
    if (is_new) machines_.push_back(machine);
    return known->second;
  }

  const RunManifest& whole_;
  std::vector<absl::flat_hash_map<uint64_t, Entry>> units_;  // by instruction
  std::vector<std::map<uint64_t, UnitResult>> drops_;        // by instruction
  std::vector<std::map<uint64_t, UnitResult>> stops_;        // by instruction
  std::vector<std::map<uint64_t, UnitResult>> failures_;     // by instruction and unit
  std::vector<std::string> logs_, machines_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;
};

// Findings and lines of all folders.
class Filed {
 public:
  absl::Status Add(const std::string& path, const RunManifest& manifest,
                   std::vector<std::string>& damage) {
    RunFolder folder;
    folder.path = path;
    folder.manifest = manifest;
    RETURN_IF_ERROR(ReadFiled(folder));
    lines_.insert(folder.distrusted.begin(), folder.distrusted.end());
    const absl::StatusOr<std::string> hardware = ReadFile(HardwarePath(path));
    if (!hardware.ok() && !absl::IsNotFound(hardware.status())) return hardware.status();
    for (const absl::string_view line :
         absl::StrSplit(hardware.ok() ? *hardware : "", '\n', absl::SkipEmpty())) {
      hardware_.emplace(line);
    }
    for (FiledCase& f : folder.findings) {
      const std::string id = absl::StrCat(f.filed.op->name, " ", CaseId(f.filed));
      // In an order that depends on the files alone.
      cases_[id].emplace(std::pair(f.filed.slug, FormatCase(f.filed, "")), std::move(f.filed));
    }
    damage.insert(damage.end(), folder.warnings.begin(), folder.warnings.end());
    return absl::OkStatus();
  }

  absl::Status Write(const std::string& out, Merged& merged) {
    std::set<std::pair<std::string, std::string>> findings;  // operation and bucket
    for (auto& [id, same] : cases_) {
      RegressionCase all = same.begin()->second;
      for (const auto& [text, c] : same) AddAnswers(c, all);
      findings.emplace(all.op->name, Name(all.bucket));
      ASSIGN_OR_RETURN(const std::string written, WriteCase(all, out + "/findings"));
    }
    merged.findings = findings.size();
    merged.distrusted = lines_.size();
    RETURN_IF_ERROR(WriteLines(DistrustedPath(out), lines_));
    return WriteLines(HardwarePath(out), hardware_);
  }

 private:
  static absl::Status WriteLines(const std::string& path, const std::set<std::string>& lines) {
    if (lines.empty()) return absl::OkStatus();
    return WriteFileDurably(path, absl::StrJoin(lines, "\n") + "\n");
  }

  std::set<std::string> lines_, hardware_;
  std::map<std::string, std::map<std::pair<std::string, std::string>, RegressionCase>> cases_;
};

// The folders to read, each once, OUT first if it has a manifest.
absl::StatusOr<std::vector<std::string>> Distinct(const std::string& out,
                                                  const std::vector<std::string>& in,
                                                  Merged& merged) {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  std::set<fs::path> seen;
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(out, error);
  if (KindOf(out) == PathKind::kRun) {
    folders.push_back(out);
    seen.insert(whole);
  }
  for (const std::string& path : in) {
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (seen.insert(canonical).second) {
      folders.push_back(path);
    } else if (canonical != whole) {
      merged.warnings.push_back(path + " is named twice and was read once");
    }
  }
  return folders;
}

// Removes temporary logs of killed merges, each of which may be as large as the whole log.
void RemoveTorn(const std::string& out) {
  std::error_code ignored;
  std::vector<std::filesystem::path> torn;
  for (const auto& entry : std::filesystem::directory_iterator(out, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool ours = absl::StartsWith(name, kTornLog) && name.size() == sizeof(kTornLog) - 1 + 6;
    if (ours && entry.is_regular_file(ignored)) torn.push_back(entry.path());
  }
  for (const std::filesystem::path& path : torn) std::filesystem::remove(path, ignored);
}

// Writes the single log of OUT, then removes the logs that it replaces.
absl::Status WriteLog(const std::string& out, const Index& index, Merged& merged) {
  const std::string path = absl::StrCat(out, "/", kMergedLog);
  RemoveTorn(out);
  const std::string temporary =
      absl::StrCat(out, "/", kTornLog, FormatRunId(RandomRunId()).substr(0, 6));
  auto log = BlockLogWriter::Create(temporary, RunIdOf(merged.manifest));
  RETURN_IF_ERROR(log.status());
  absl::Status s = index.Write(**log, merged);
  if (s.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    s = absl::DataLossError(absl::StrCat(path, ": rename: ", std::strerror(errno)));
  }
  if (!s.ok()) {
    unlink(temporary.c_str());
    return s;
  }
  if (s = SyncFolderOf(path); !s.ok()) return s;
  for (const std::string& old : index.logs()) {
    if (old != path && absl::StartsWith(old, out + "/units-")) unlink(old.c_str());
  }
  return SyncFolderOf(path);
}

absl::Status WriteOut(const std::string& out, const Index& index, Filed& filed, Merged& merged) {
  if (auto claimed = ClaimManifest(out, merged.manifest); !claimed.ok()) return claimed.status();
  RETURN_IF_ERROR(filed.Write(out, merged));
  return WriteLog(out, index, merged);
}

using NamedManifests = std::vector<std::pair<std::string, RunManifest>>;

// The manifests of the folders, checked to be of one run before any unit is read. A folder without
// a good manifest is skipped, unless it is `out`.
absl::StatusOr<NamedManifests> ManifestsOfOneRun(const std::string& out,
                                                 const std::vector<std::string>& folders,
                                                 Merged& merged) {
  NamedManifests runs;
  bool damaged = false;
  for (const std::string& path : folders) {
    absl::StatusOr<RunManifest> manifest = ReadManifest(path);
    if (!manifest.ok() && path != out) {
      damaged |= absl::IsDataLoss(manifest.status());
      (HasNotBegun(path) ? merged.warnings : merged.damage)
          .push_back(absl::StrCat(manifest.status().message(), "; the folder was skipped"));
      continue;
    }
    RETURN_IF_ERROR(manifest.status());
    if (path == out && manifest->shards > 1) {
      return absl::FailedPreconditionError(absl::StrCat(out, " is shard ", manifest->shard, " of ",
                                                        manifest->shards,
                                                        "; name a new folder for the whole run"));
    }
    if (!runs.empty()) {
      const std::string difference =
          ManifestDifference(WholeRun(runs.front().second), WholeRun(*manifest));
      if (!difference.empty()) {
        return absl::FailedPreconditionError(absl::StrCat(path, " belongs to a different run than ",
                                                          runs.front().first, " (", difference,
                                                          "); merge folders of one run"));
      }
    }
    runs.emplace_back(path, *std::move(manifest));
  }
  if (runs.empty()) {
    std::ranges::copy(merged.warnings, std::back_inserter(merged.damage));
    const std::string why = absl::StrJoin(merged.damage, "; ");
    return damaged ? absl::DataLossError(why) : absl::InvalidArgumentError(why);
  }
  return runs;
}

}  // namespace

RunManifest WholeRun(RunManifest manifest) {
  manifest.shard = 0;
  manifest.shards = 1;
  for (RunManifest::Instruction& i : manifest.instructions) {
    if (!i.earlier_cases.empty()) i.earlier_cases.resize(1);
  }
  return manifest;
}

absl::StatusOr<Merged> MergeRuns(const std::string& out, const std::vector<std::string>& in,
                                 bool& not_durable, bool shared) {
  not_durable = false;
  Merged merged;
  std::unique_ptr<FolderLock> lock;
  const bool there = KindOf(out) == PathKind::kRun;
  const auto take = [&]() -> absl::Status {
    std::string warning;
    ASSIGN_OR_RETURN(auto taken, FolderLock::Take(out, warning, shared));
    lock = std::move(taken);
    if (!warning.empty()) merged.warnings.push_back(warning);
    return absl::OkStatus();
  };
  if (there) {
    not_durable = true;
    RETURN_IF_ERROR(take());
    not_durable = false;
  }
  ASSIGN_OR_RETURN(const auto folders, Distinct(out, in, merged));

  ASSIGN_OR_RETURN(const NamedManifests runs, ManifestsOfOneRun(out, folders, merged));
  // A new folder gets the run ID of current versions, if one of the folders has one.
  const auto by_facts =
      std::ranges::find(runs, false, [](const auto& r) { return r.second.id_of_text; });
  merged.manifest = WholeRun((there || by_facts == runs.end() ? runs.front() : *by_facts).second);
  merged.totals.resize(merged.manifest.instructions.size());
  merged.folders = runs.size();
  for (const RunManifest::Instruction& i : merged.manifest.instructions) {
    merged.planned_units += i.Units();
  }

  Index index(merged.manifest);
  Filed filed;
  for (const auto& [path, manifest] : runs) {
    RETURN_IF_ERROR(index.Read(path, manifest, merged.damage));
    RETURN_IF_ERROR(filed.Add(path, merged.manifest, merged.damage));
  }

  not_durable = true;
  if (!there) {
    if (absl::Status s = MakeFolder(out); !s.ok()) return absl::DataLossError(s.message());
    RETURN_IF_ERROR(take());
    if (KindOf(out) == PathKind::kRun) {
      return absl::FailedPreconditionError(
          absl::StrCat(out, ": created by another process in the meantime; merge again"));
    }
  }
  RETURN_IF_ERROR(WriteOut(out, index, filed, merged));
  return merged;
}

}  // namespace mmadiff
