// The work directory of a run: manifest.txtpb (never changed, except to raise cases), units-*.log
// (one block log per attempt), findings/, distrusted.txt (one line per operation whose answers did
// not repeat or could not be read), hardware (hardware that answered; written by earlier versions)
// and writer.lock, which one process at a time holds.
#pragma once

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/run_record.h"
#include "device/watcher.h"
#include "fuzz/folder/unit_log.h"

namespace mmadiff {

// kFailedPrecondition if another user owns the folder and could replace files with links. Not
// checked for root, which creates folders for all users, nor if the folder is `shared`. kDataLoss
// as CheckLinks(). A folder that does not exist yet is accepted.
absl::Status CheckOwner(const std::string& folder, bool shared, uid_t user = geteuid());

// Locks a folder for this process until the object is destroyed. Not inherited by children.
class FolderLock {
 public:
  // kFailedPrecondition while another process holds the lock, with its number and machine. On a
  // file system without locks nothing is locked and `warning` is set. kDataLoss if the lock file
  // cannot be written. Also the errors of CheckOwner().
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::string& folder,
                                                          std::string& warning,
                                                          bool shared = false);

 private:
  explicit FolderLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

// "pid 7 on node7", or "unknown", for the process that is writing to the folder; empty if no
// process is, or if that cannot be determined. A process that takes the lock at this moment retries
// and gets it.
std::string WriterOf(const std::string& folder);

// Maximum units of an instruction whose cases are raised, to bound the log and memory of the run.
inline constexpr uint64_t kMaxExtendedUnits = 1 << 21;

// Creates the folder's manifest durably, or compares it with the existing one. The caller has
// locked the folder. Returns the folder's manifest: if its cases were raised, its units are not
// those that a new run would have. With `extend` the folder must have a manifest. If that has fewer
// cases and is equal otherwise, it is replaced by one with the wanted cases. A kill leaves one or
// the other; both match the logs.
//
// kFailedPrecondition if the folder belongs to a different run, a survey or a recording, or has
// only unrelated files; kAborted for a manifest that cannot be read.
absl::StatusOr<RunManifest> ClaimManifest(const std::string& folder, const RunManifest& manifest,
                                          bool extend = false);

std::string ManifestPath(const std::string& folder);
std::string DistrustedPath(const std::string& folder);
std::string HardwarePath(const std::string& folder);  // lines of earlier versions

class Workdir {
 public:
  // Creates the folder and its manifest, or compares the manifest with the existing one; reads the
  // units of earlier attempts; and begins the log of this attempt. With `anew`, removes the units
  // first if every unit is done and no log is damaged. `extend`: as in ClaimManifest(); `shared`:
  // as in CheckOwner().
  //
  // kInvalidArgument if there is nothing to extend; kFailedPrecondition if the folder belongs to a
  // different run (with the difference) or another process is writing to it; kAborted for a damaged
  // manifest or contradictory units; kDataLoss if a file cannot be read or written.
  static absl::StatusOr<std::unique_ptr<Workdir>> Claim(const std::string& folder,
                                                        const RunManifest& manifest, bool anew,
                                                        bool extend = false, bool shared = false);

  // Records durably, for all later attempts, that answers of the operation were lost or flaky.
  absl::Status Distrust(const std::string& op, absl::string_view why) const;

  // kDataLoss if the manifest was removed or changed during the run.
  absl::Status Check() const;

  RunManifest manifest;                 // the folder's manifest
  std::vector<std::string> distrusted;  // "OPERATION: why" of earlier attempts
  std::vector<Hardware> hardware;       // hardware that answered in earlier attempts
  StoredUnits stored;
  std::string warning;  // set if the folder could not be locked
  std::unique_ptr<UnitLog> log;

 private:
  std::string folder_, manifest_path_, manifest_text_;
  std::unique_ptr<FolderLock> lock_;
};

// Whether the folder's manifest is good and every unit of its shard is done.
bool IsComplete(const std::string& workdir);

}  // namespace mmadiff
