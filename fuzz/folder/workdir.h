// The work directory of a run: manifest.txtpb (of which only cases are ever raised), units-*.log (one block log per attempt),
// findings/, distrusted.txt (answers that did not repeat or could not be read, a line each),
// hardware (what answered, of earlier versions) and writer.lock, which one process at a time holds.
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

// kFailedPrecondition if the folder is another user's: who owns it can put links for files. Not for
// root, who makes folders for all, nor if the user says that the folder is `shared`. kDataLoss as
// CheckLinks(). A folder that is not there yet is fine.
absl::Status CheckOwner(const std::string& folder, bool shared, uid_t user = geteuid());

// One process at a time in a folder, for as long as this lives. Not inherited by children.
class FolderLock {
 public:
  // kFailedPrecondition while another process holds it, with its number and machine. On a file
  // system without locks nothing is locked and `warning` says so. kDataLoss when the lock's file
  // cannot be written. Also the errors of CheckOwner().
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::string& folder,
                                                          std::string& warning,
                                                          bool shared = false);

 private:
  explicit FolderLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

// "pid 7 on node7", or "unknown", of the process that writes to a folder; empty if none does, or if
// nobody can know. Who takes the lock in this moment tries again and gets it.
std::string WriterOf(const std::string& folder);

// Most units of an instruction whose cases are raised: bounds the log and the memory of the run.
inline constexpr uint64_t kMaxExtendedUnits = 1 << 21;

// Creates the folder's manifest durably, or compares it with the one that is there; the folder is
// locked by the caller. Returns the folder's: if its cases were raised, its units are not those that
// a new run would have. With `extend` the folder must have a manifest, and where that has fewer cases
// and is equal otherwise, it is replaced by one with the wanted cases. A kill leaves the one or the
// other; both go with the logs.
//
// kFailedPrecondition for a folder of another run, of a survey or a recording, or of other files alone; kInvalidArgument if
// there is nothing to extend; kAborted for a manifest that cannot be read.
absl::StatusOr<RunManifest> ClaimManifest(const std::string& folder, const RunManifest& manifest,
                                          bool extend = false);

std::string ManifestPath(const std::string& folder);
std::string DistrustedPath(const std::string& folder);
std::string HardwarePath(const std::string& folder);  // lines of earlier versions

class Workdir {
 public:
  // Creates the folder and its manifest, or compares it with the one that is there; reads the units
  // of earlier attempts; and begins the log of this one. With `anew` a folder in which every unit
  // is done, and no file damaged, loses its units first. `extend`: of ClaimManifest(); `shared`: of
  // CheckOwner().
  //
  // kFailedPrecondition for a folder of another run (with the difference) or one in which another
  // process writes; kAborted for a manifest or units that contradict themselves; kDataLoss for what
  // cannot be read or written.
  static absl::StatusOr<std::unique_ptr<Workdir>> Claim(const std::string& folder,
                                                        const RunManifest& manifest, bool anew,
                                                        bool extend = false, bool shared = false);

  // Durably, for every later attempt: answers of the operation were lost or did not repeat.
  absl::Status Distrust(const std::string& op, absl::string_view why) const;

  // kDataLoss unless the manifest is still the one of this run.
  absl::Status Check() const;

  RunManifest manifest;                 // of the folder
  std::vector<std::string> distrusted;  // "OPERATION: why" of earlier attempts
  std::vector<Hardware> hardware;       // what answered in earlier attempts
  StoredUnits stored;
  std::string warning;  // what its lock does not protect from; "" as a rule
  std::unique_ptr<UnitLog> log;

 private:
  std::string folder_, manifest_path_, manifest_text_;
  std::unique_ptr<FolderLock> lock_;
};

// True when the folder's manifest is good and every unit of its shard is done.
bool IsComplete(const std::string& workdir);

}  // namespace mmadiff
