#include "fuzz/folder/clean.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "device/status_macros.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/folder/unit_log.h"
#include "fuzz/folder/workdir.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

bool IsPlainFile(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored));
}

void Add(const std::string& path, const std::string& why, Cleaning& cleaning) {
  std::error_code ignored;
  cleaning.files.push_back({path, why, fs::file_size(path, ignored)});
}

// Matches only names that WriteFileDurably() and MergeRuns() create.
absl::Status FindTemporary(const std::string& folder, Cleaning& cleaning) {
  static const std::regex& of_run = *new std::regex(
      R"((manifest\.txtpb|distrusted\.txt|hardware|units-merged\.log)\.tmp[A-Za-z0-9]{6})");
  static const std::regex& of_case = *new std::regex(R"(.*\.txtpb\.tmp[A-Za-z0-9]{6})");
  const std::string findings = folder + "/findings";
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string(), name = it->path().filename().string();
    if (it.depth() == 0 && path != findings) it.disable_recursion_pending();
    const bool ours =
        it.depth() == 0 ? std::regex_match(name, of_run) : std::regex_match(name, of_case);
    if (ours && IsPlainFile(path)) Add(path, "temporary file of a killed process", cleaning);
  }
  if (!error) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(folder, ": cannot be listed: ", error.message()));
}

// Considers plain logs without damage, those with the fewest units first. If two logs have the same
// units and one also has others, that one is kept.
absl::Status FindLogs(const std::string& folder, const RunManifest& manifest,
                      const StoredUnits& stored, Cleaning& cleaning) {
  enum Kind : uint8_t { kUnit, kBegun, kCanary };
  using Unit = std::tuple<Kind, uint32_t, uint64_t>;
  std::map<Unit, uint64_t> copies;
  std::vector<std::pair<std::set<Unit>, std::string>> logs;
  ASSIGN_OR_RETURN(const auto paths, UnitLogsIn(folder));
  for (const std::string& path : paths) {
    std::set<Unit> units;
    bool drops = false;  // drops and failures are judged over all logs, so such a log is kept
    const auto each = [&](const UnitResult& unit, absl::string_view, uint64_t) {
      drops |= unit.drop.has_value() ||
               (unit.failures > 0 && !stored.done[unit.instruction].Contains(unit.unit));
      if (!unit.canary.d.empty()) units.emplace(kCanary, unit.instruction, unit.canary.first_case);
      const auto has = [&](const std::vector<UnitParts>& parts) {
        const auto part = parts[unit.instruction].find(unit.unit);
        return part != parts[unit.instruction].end() && part->second == unit;
      };
      if (!unit.part || has(stored.parts)) units.emplace(kUnit, unit.instruction, unit.unit);
      if (has(stored.begun)) units.emplace(kBegun, unit.instruction, unit.unit);
      return absl::OkStatus();
    };
    std::vector<Damage> found;
    RETURN_IF_ERROR(ReadUnitLog(path, manifest, each, found));
    for (std::string& text : TextsOf(found)) cleaning.damage.push_back(std::move(text));
    if (!found.empty() || drops || !IsPlainFile(path)) continue;
    for (const Unit& u : units) ++copies[u];
    logs.emplace_back(std::move(units), path);
  }
  std::ranges::stable_sort(logs, {}, [](const auto& log) { return log.first.size(); });
  for (const auto& [units, path] : logs) {
    if (std::ranges::any_of(units, [&](const Unit& u) { return copies.at(u) == 1; })) continue;
    for (const Unit& u : units) --copies.at(u);
    Add(path, units.empty() ? "log without units" : "log of units that others have", cleaning);
  }
  return absl::OkStatus();
}

absl::StatusOr<Cleaning> Find(const std::string& folder, Sync sync) {
  ASSIGN_OR_RETURN(const RunManifest manifest, ReadManifest(folder));
  // If a unit has two different answers, it is unknown which log to keep.
  ASSIGN_OR_RETURN(const auto stored, ReadUnits(folder, manifest, nullptr, sync));
  const auto contradicts =
      std::ranges::find(stored.damage, DamageKind::kContradiction, &Damage::kind);
  if (contradicts != stored.damage.end()) return absl::AbortedError(Text(*contradicts));
  Cleaning cleaning;
  RETURN_IF_ERROR(FindLogs(folder, manifest, stored, cleaning));
  RETURN_IF_ERROR(FindTemporary(folder, cleaning));
  std::ranges::move(MisplacedIn(folder), std::back_inserter(cleaning.damage));
  std::ranges::sort(cleaning.files, {}, &Leftover::path);
  return cleaning;
}

}  // namespace

absl::StatusOr<Cleaning> FindLeftovers(const std::string& folder) {
  if (const std::string writer = WriterOf(folder); !writer.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("another process is writing to ", folder, " (", writer, "); wait for it"));
  }
  return Find(folder, Sync::kNever);
}

absl::StatusOr<Cleaning> RemoveLeftovers(const std::string& folder, bool& not_durable,
                                         bool shared) {
  not_durable = false;
  if (const auto manifest = ReadManifest(folder); !manifest.ok()) return manifest.status();
  std::string warning;
  ASSIGN_OR_RETURN(const auto lock, FolderLock::Take(folder, warning, shared));
  if (!warning.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(warning, ", so nothing is removed; run clean without --yes for a list"));
  }
  absl::StatusOr<Cleaning> cleaning = Find(folder, Sync::kFirst);
  RETURN_IF_ERROR(cleaning.status());
  not_durable = true;
  for (const Leftover& file : cleaning->files) {
    if (unlink(file.path.c_str()) == 0) continue;
    return absl::DataLossError(
        absl::StrCat(file.path, ": cannot be removed: ", std::strerror(errno)));
  }
  RETURN_IF_ERROR(SyncFolderOf(ManifestPath(folder)));
  return cleaning;
}

}  // namespace mmadiff
