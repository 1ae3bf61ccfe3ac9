#include "fuzz/folder/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "corpus/path_kind.h"
#include "corpus/stored_files.h"
#include "device/status_macros.h"
#include "fuzz/folder/workdir.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kWriterLock = "writer.lock";
constexpr absl::string_view kSlurmStops = "stops";  // written by docs/cluster/slurm_array.sh

}  // namespace

absl::StatusOr<RunManifest> ReadManifest(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(ManifestPath(path));
  if (std::error_code ignored; std::filesystem::is_regular_file(path, ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is a file, not the folder of a run; name the --workdir of a run"));
  }
  if (absl::IsNotFound(text.status())) {
    std::error_code ignored;
    return absl::InvalidArgumentError(absl::StrCat(
        path, !std::filesystem::exists(path, ignored)    ? " does not exist"
              : std::filesystem::is_empty(path, ignored) ? " is empty: no run has begun there"
              : HasNotBegun(path)
                  ? ": the run was killed before it wrote its manifest.txtpb; no unit is lost"
                  : " is not the folder of a run: it has no manifest.txtpb"));
  }
  RETURN_IF_ERROR(text.status());
  ASSIGN_OR_RETURN(RunManifest manifest, ParseManifest(*text, ManifestPath(path)));
  for (const auto& i : manifest.instructions) {
    if (absl::StartsWith(i.name, "own/") && FindOperation(i.name, Models::kOptional) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", WhyNoOperation(i.name)));
    }
  }
  return manifest;
}

bool HasNotBegun(const std::string& path) {
  std::error_code ignored;
  const auto entries = EntriesOf(path);
  return std::filesystem::is_directory(path, ignored) && entries.ok() &&
         std::ranges::all_of(*entries, [](const std::string& entry) {
           const std::string name = std::filesystem::path(entry).filename().string();
           return name == kWriterLock || name == kSlurmStops ||
                  absl::StartsWith(name, absl::StrCat(kRunManifest, "."));
         });
}

std::vector<std::string> NotRead(const NamedRuns& named) {
  std::vector<std::string> lines = named.not_begun;
  lines.insert(lines.end(), named.damage.begin(), named.damage.end());
  return lines;
}

absl::StatusOr<NamedRuns> ReadManifests(const std::vector<std::string>& paths) {
  NamedRuns named;
  absl::Status damaged;
  for (const std::string& given : paths) {
    const std::string path(given == "/" ? given : std::string(absl::StripSuffix(given, "/")));
    absl::StatusOr<RunManifest> manifest = ReadManifest(path);
    if (manifest.ok()) {
      named.runs.emplace_back(path, *std::move(manifest));
      continue;
    }
    if (absl::IsDataLoss(manifest.status())) damaged.Update(manifest.status());
    (HasNotBegun(path) ? named.not_begun : named.damage).emplace_back(manifest.status().message());
  }
  if (!named.runs.empty()) return named;
  const std::string why = absl::StrJoin(NotRead(named), "; ");
  return damaged.ok() ? absl::InvalidArgumentError(why) : absl::DataLossError(why);
}

absl::StatusOr<RunFolder> ReadRunFolder(const std::string& path, const OnUnit& each) {
  ASSIGN_OR_RETURN(RunManifest manifest, ReadManifest(path));
  RunFolder folder;
  folder.path = path;
  folder.manifest = std::move(manifest);
  folder.stored = ReadGoodUnits(path, folder.manifest, each);
  folder.warnings = TextsOf(folder.stored.damage, WriterOf(path));
  if (absl::Status s = ReadFiled(folder); !s.ok()) folder.warnings.emplace_back(s.message());
  return folder;
}

bool IsOfRun(const RunManifest& manifest, const RegressionCase& filed) {
  return filed.IsOf(manifest.device) &&
         std::ranges::any_of(manifest.instructions, [&filed](const RunManifest::Instruction& i) {
           return i.name == filed.op->name;
         });
}

namespace {

absl::Status ReadFindings(RunFolder& folder) {
  const std::string path = folder.path + "/findings";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    folder.all_findings = !std::filesystem::is_symlink(path, ignored);
    if (!folder.all_findings) {
      folder.warnings.push_back(path + ": its target does not exist; is its disk mounted?");
    }
    return absl::OkStatus();
  }
  absl::StatusOr<CasesBelow> below = ReadCases(path);
  folder.all_findings = below.ok() && below->damaged.empty();
  RETURN_IF_ERROR(below.status());
  folder.findings = std::move(below->cases);
  std::ranges::move(below->damaged, std::back_inserter(folder.warnings));
  std::erase_if(folder.findings, [&folder](const FiledCase& f) {
    if (IsOfRun(folder.manifest, f.filed)) return false;
    folder.warnings.push_back(f.path + ": a finding of a different run");
    return true;
  });
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> MisplacedIn(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> lines;
  const auto entries = EntriesOf(folder);
  for (const std::string& path : entries.ok() ? *entries : std::vector<std::string>()) {
    const std::string name = fs::path(path).filename().string();
    const bool looks =
        name.starts_with("units-") && !name.starts_with(absl::StrCat(kMergedLog, ".tmp"));
    if (IsUnitLog(path) || !(looks || KindOfFile(path) == FileKind::kLog)) continue;
    lines.push_back(
        absl::StrCat(path, ": a log whose units do not count: its name is not units-*.log"));
  }
  const auto findings = FilesBelow(folder + "/findings");
  for (const std::string& path : findings.ok() ? *findings : std::vector<std::string>()) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      lines.push_back(path + ": a link to a folder is not followed; copy its files here");
    } else if (fs::path(path).extension() != kCaseExtension &&
               KindOfFile(path) == FileKind::kCase) {
      lines.push_back(path + ": a finding that does not count: its name does not end in .txtpb");
    }
  }
  return lines;
}

absl::Status ReadFiled(RunFolder& folder) {
  std::ranges::move(MisplacedIn(folder.path), std::back_inserter(folder.warnings));
  absl::Status read = ReadFindings(folder);
  const absl::StatusOr<std::string> distrusted = ReadFile(DistrustedPath(folder.path));
  if (distrusted.ok()) folder.distrusted = absl::StrSplit(*distrusted, '\n', absl::SkipEmpty());
  if (distrusted.ok() || absl::IsNotFound(distrusted.status())) return read;
  if (read.ok()) return distrusted.status();
  folder.warnings.emplace_back(distrusted.status().message());
  return read;
}

}  // namespace mmadiff
