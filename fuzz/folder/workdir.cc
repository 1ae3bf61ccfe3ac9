#include "fuzz/folder/workdir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/durable_file.h"
#include "corpus/old_text.h"
#include "corpus/path_kind.h"
#include "corpus/survey_log.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// Adds no lines if the file does not exist; kDataLoss if it cannot be read.
absl::Status ReadLines(const std::string& path, std::vector<std::string>& lines) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (text.ok()) lines = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  const bool fine = text.ok() || absl::IsNotFound(text.status());
  return fine ? absl::OkStatus() : absl::DataLossError(text.status().message());
}

absl::Status AppendLine(const std::string& path, absl::string_view line) {
  const absl::StatusOr<Fd> file = OpenStored(path, O_WRONLY | O_CREAT | O_APPEND);
  if (!file.ok()) return absl::DataLossError(file.status().message());
  const absl::Status s = AppendDurably(file->get(), path, absl::StrCat(line, "\n"));
  return s.ok() ? SyncFolderOf(path) : s;
}

// Returns 0 or errno.
int Lock(int fd) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Writes text for people; a failure does not matter.
void WriteHolder(int fd) {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  const std::string text = absl::StrCat("pid ", getpid(), " on ", host, "\n");
  [[maybe_unused]] const bool written =
      ftruncate(fd, 0) == 0 && pwrite(fd, text.data(), text.size(), 0) > 0;
}

std::string Holder(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, 1000);
  return text.ok() && !text->empty() ? std::string(absl::StripAsciiWhitespace(*text)) : "unknown";
}

// Whether a run may have created the file.
bool IsOfRun(const std::string& name) {
  return name == "findings" || name == "distrusted.txt" || name == "hardware" ||
         absl::StartsWith(name, "units-") || absl::StartsWith(name, "manifest.txtpb");
}

// Rejects a folder with a survey or a recording, whose readers would take the run's findings for
// theirs, and a folder with unrelated files only, which has some other purpose.
absl::Status CheckNoOthers(const std::string& folder) {
  std::error_code ignored;
  const PathKind kind = KindOf(folder);
  std::string other, what = kind == PathKind::kSurvey      ? "a survey"
                            : kind == PathKind::kRecording ? "a recording"
                                                           : "";
  bool of_run = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name == "writer.lock") continue;  // this run's own
    of_run |= IsOfRun(name);
    other = name;
  }
  if (what.empty() && !of_run && !other.empty()) {
    what = absl::StrCat("not the folder of a run: it contains ", other);
  }
  if (what.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(folder, " is ", what, "; choose another --workdir"));
}

// `manifest` with the units of `stored`, if the cases of `stored` were raised.
RunManifest WithUnitsOf(const RunManifest& stored, RunManifest manifest) {
  for (size_t i = 0; i < std::min(stored.instructions.size(), manifest.instructions.size()); ++i) {
    const RunManifest::Instruction& units = stored.instructions[i];
    RunManifest::Instruction& wanted = manifest.instructions[i];
    if (units.earlier_cases.empty() || units.cases != wanted.cases) continue;
    wanted.unit_cases = units.unit_cases;
    wanted.earlier_cases = units.earlier_cases;
  }
  return manifest;
}

// `stored` with the cases of `wanted`, if `stored` has no more cases and is equal otherwise.
std::optional<RunManifest> Extended(RunManifest stored, const RunManifest& wanted) {
  for (size_t i = 0; i < std::min(stored.instructions.size(), wanted.instructions.size()); ++i) {
    RunManifest::Instruction& raised = stored.instructions[i];
    const RunManifest::Instruction& to = wanted.instructions[i];
    if (to.cases <= raised.cases || to.Endless()) continue;
    raised.earlier_cases.push_back(raised.cases);
    raised.cases = to.cases;
  }
  const bool same = ManifestDifference(stored, WithUnitsOf(stored, wanted)).empty();
  return same ? std::optional(std::move(stored)) : std::nullopt;
}

absl::Status CheckUnits(const std::string& folder, const RunManifest& extended) {
  for (const RunManifest::Instruction& i : extended.instructions) {
    if (i.earlier_cases.empty() || i.Units() <= kMaxExtendedUnits) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        folder, ": ", i.name, " has units of ", i.unit_cases, " cases and can have at most ",
        absl::StrCat(i.unit_cases * kMaxExtendedUnits), " cases; choose another --workdir"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RunManifest> ClaimManifest(const std::string& folder, const RunManifest& manifest,
                                          bool extend) {
  const std::string path = ManifestPath(folder);
  absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) {
    RETURN_IF_ERROR(CheckNoOthers(folder));
    const absl::Status created = CreateFileDurably(path, FormatManifest(manifest));
    if (created.ok()) return manifest;
    if (!absl::IsAlreadyExists(created)) return created;
    text = ReadFile(path);  // another process was faster, where there are no locks
  }
  if (!text.ok()) return absl::AbortedError(text.status().message());
  RETURN_IF_ERROR(SyncFile(path));
  absl::StatusOr<RunManifest> stored = ParseManifest(*text, path);
  if (!stored.ok()) return absl::AbortedError(stored.status().message());
  std::optional<RunManifest> extended = Extended(*stored, manifest);
  if (extended && *extended == *stored) return stored;
  if (extended && extend) {
    RETURN_IF_ERROR(CheckUnits(folder, *extended));
    RETURN_IF_ERROR(WriteFileDurably(path, FormatManifest(*extended)));
    return *std::move(extended);
  }
  return absl::FailedPreconditionError(
      absl::StrCat(folder, " belongs to a different run; ",
                   extend     ? "--extend only raises cases: "
                   : extended ? "add --extend to raise its cases, or "
                              : "",
                   "choose another --workdir, or repeat the command line of that run (",
                   ManifestDifference(*stored, WithUnitsOf(*stored, manifest)), ")"));
}

namespace {

bool AllDone(const RunManifest& manifest, const StoredUnits& stored) {
  for (size_t r = 0; r < manifest.instructions.size(); ++r) {
    const uint64_t planned = manifest.instructions[r].UnitsOfShard(manifest.shard, manifest.shards);
    if (stored.done[r].size() < planned) return false;
  }
  return true;
}

absl::Status RemoveUnits(const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> paths, UnitLogsIn(folder));
  paths.push_back(HardwarePath(folder));
  for (const std::string& path : paths) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      return absl::DataLossError(absl::StrCat(path, ": cannot be removed: ", std::strerror(errno)));
    }
  }
  return SyncFolderOf(ManifestPath(folder));
}

}  // namespace

std::string ManifestPath(const std::string& folder) {
  return absl::StrCat(folder, "/", kRunManifest);
}
std::string DistrustedPath(const std::string& folder) { return folder + "/distrusted.txt"; }
std::string HardwarePath(const std::string& folder) { return folder + "/hardware"; }

absl::Status CheckOwner(const std::string& folder, bool shared, uid_t user) {
  RETURN_IF_ERROR(CheckLinks(folder));
  struct stat s;
  if (shared || user == 0 || stat(folder.c_str(), &s) != 0 || s.st_uid == user) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(folder, " belongs to another user (", s.st_uid,
                   "), who could redirect this process to write elsewhere; name a folder of your "
                   "own, or add --shared if you trust everyone who can write to it"));
}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::string& folder,
                                                             std::string& warning, bool shared) {
  const std::string path = folder + "/writer.lock";
  RETURN_IF_ERROR(CheckOwner(folder, shared));
  absl::StatusOr<Fd> file = OpenStored(path, O_RDWR | O_CREAT);
  if (!file.ok()) return absl::DataLossError(file.status().message());
  const int fd = file->get();
  std::unique_ptr<FolderLock> lock(new FolderLock(*std::move(file)));
  int error = Lock(fd);
  for (int i = 0; i < 5 && error == EWOULDBLOCK; ++i) {  // a killed process may not have ended yet
    usleep(20'000);
    error = Lock(fd);
  }
  if (error == EWOULDBLOCK) {
    return absl::FailedPreconditionError(absl::StrCat("another process is writing to ", folder,
                                                      " (", Holder(path),
                                                      "); wait for it or choose another folder"));
  }
  if (error != 0) {
    warning = absl::StrCat(path, ": ", std::strerror(error),
                           "; another process could write to this folder at the same time");
    return lock;
  }
  // If the file was removed, two processes could each hold a lock.
  RETURN_IF_ERROR(CheckIsStill(fd, path));
  WriteHolder(fd);
  return lock;
}

std::string WriterOf(const std::string& folder) {
  const std::string path = folder + "/writer.lock";
  const absl::StatusOr<Fd> file = OpenStored(path);
  if (!file.ok()) return "";
  const bool held = flock(file->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return held ? Holder(path) : "";
}

absl::StatusOr<std::unique_ptr<Workdir>> Workdir::Claim(const std::string& folder,
                                                        const RunManifest& wanted, bool anew,
                                                        bool extend, bool shared) {
  const bool there = KindOf(folder) == PathKind::kRun;
  if (extend && !there) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder, " is not the folder of a run, so --extend has no cases to raise; remove --extend"));
  }
  if (!there) {
    RETURN_IF_ERROR(CheckNoOthers(folder));
  }
  if (absl::Status s = MakeFolder(folder); !s.ok()) {
    return absl::DataLossError(s.message());
  }
  auto workdir = std::make_unique<Workdir>();
  workdir->manifest_path_ = ManifestPath(folder);
  ASSIGN_OR_RETURN(auto lock, FolderLock::Take(folder, workdir->warning, shared));
  workdir->lock_ = std::move(lock);
  ASSIGN_OR_RETURN(RunManifest claimed, ClaimManifest(folder, wanted, extend));
  const RunManifest& manifest = workdir->manifest = std::move(claimed);
  ASSIGN_OR_RETURN(std::string text, ReadFile(workdir->manifest_path_));
  workdir->manifest_text_ = std::move(text);
  auto stored = ReadUnits(folder, manifest);
  if (anew && stored.ok() && stored->damage.empty() && AllDone(manifest, *stored)) {
    RETURN_IF_ERROR(RemoveUnits(folder));
    stored = ReadUnits(folder, manifest);
  }
  RETURN_IF_ERROR(stored.status());
  workdir->stored = *std::move(stored);
  workdir->folder_ = folder;
  absl::Status read = ReadLines(DistrustedPath(folder), workdir->distrusted);
  std::vector<std::string> merged;
  if (read.ok()) read = ReadLines(HardwarePath(folder), merged);
  if (!read.ok()) return absl::AbortedError(read.message());  // not a write error
  workdir->hardware = workdir->stored.hardware;
  for (const std::string& line : merged) workdir->hardware.push_back(HardwareOfLine(line));
  ASSIGN_OR_RETURN(auto log, UnitLog::Create(folder, RunIdOf(manifest)));
  workdir->log = std::move(log);
  return workdir;
}

absl::Status Workdir::Distrust(const std::string& op, absl::string_view why) const {
  return AppendLine(DistrustedPath(folder_), absl::StrCat(op, ": ", PlainLine(why)));
}

absl::Status Workdir::Check() const {
  const absl::StatusOr<std::string> text = ReadFile(manifest_path_);
  if (text.ok() && *text == manifest_text_) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      manifest_path_, ": removed or changed during the run; its results are not safe"));
}

bool IsComplete(const std::string& workdir) {
  const absl::StatusOr<std::string> text = ReadFile(ManifestPath(workdir));
  if (!text.ok()) return false;
  const absl::StatusOr<RunManifest> manifest = ParseManifest(*text, ManifestPath(workdir));
  if (!manifest.ok()) return false;
  const absl::StatusOr<StoredUnits> stored = ReadUnits(workdir, *manifest);
  return stored.ok() && AllDone(*manifest, *stored);
}

}  // namespace mmadiff
