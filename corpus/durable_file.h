// Files that survive a crash: temporary name in the same folder, write, fdatasync, rename, fsync of
// the folder. A failed write or sync is kDataLoss with the path and the errno text.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/watcher.h"

namespace mmadiff {

// A stranger is any user except root and the effective user. kDataLoss if `path` leads through a
// link owned by a stranger, unless only root and the effective user can write to the folder of the
// link.
absl::Status CheckLinks(const std::string& path);
// Opens a stored file. All code opens stored files with this function, because other users may have
// put them there. `flags` as for open(2); the file is closed on exec. kDataLoss for a FIFO (never
// waits for the other end), a socket, a folder, a device, a file larger than `max_bytes`, and links
// as in CheckLinks(). When opening for writing, also kDataLoss for any link at the end of `path`.
// Other errors as CannotOpen().
absl::StatusOr<Fd> OpenStored(const std::string& path, int flags = O_RDONLY,
                              uint64_t max_bytes = UINT64_MAX);

// If `path` is a link, replaces the file that it names and keeps the link. kDataLoss if `path`
// exists but is not a regular file, such as /dev/null, and for links as in CheckLinks().
absl::Status WriteFileDurably(const std::string& path, absl::string_view contents);
// The same for a new file. kAlreadyExists if the file exists; then nothing is changed.
absl::Status CreateFileDurably(const std::string& path, absl::string_view contents);
// Reads at most `max_bytes`. kDataLoss for a larger file and for one that cannot be read. Other
// errors as OpenStored().
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes = 64 << 20);
// Creates the folder and its parents. On failure kPermissionDenied or kFailedPrecondition with the
// reason, or kDataLoss as CheckLinks().
absl::Status MakeFolder(const std::string& path);

// The steps of the above for files that grow. `path` is used only in messages. One write(), unless
// the system accepts only part of it, then fdatasync(). After a failure, do not write to the file
// again.
absl::Status AppendDurably(int fd, const std::string& path, absl::string_view contents);
// Makes the name `path` itself durable: fsync of its folder.
absl::Status SyncFolderOf(const std::string& path);
// Syncs a file again, because data from an earlier process may not be on disk, or that process's
// sync may have failed.
absl::Status SyncFile(const std::string& path);
// kDataLoss unless `path` still names the open file: the file or its folder may have been removed.
absl::Status CheckIsStill(int fd, const std::string& path);

// kNotFound if the file or folder does not exist, kDataLoss if it cannot be opened.
absl::Status CannotOpen(const std::string& path, int error);

}  // namespace mmadiff
