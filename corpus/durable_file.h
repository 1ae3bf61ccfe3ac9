// Files that survive a crash (temporary name in the same folder, write, fdatasync, rename, fsync of
// the folder). A failed write or sync is kDataLoss with the path and errno text.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/watcher.h"

namespace mmadiff {

// Strangers are all users but the effective one and root. kDataLoss if `path` leads through a link that a
// stranger owns, unless nobody but root and the effective user may write to the folder that has the link.
absl::Status CheckLinks(const std::string& path);
// Every stored file is opened by this, since others may have put it there. `flags` as of open(2); the
// file is closed on exec. kDataLoss for a FIFO (nobody waits for its other end), a socket, a folder or a
// device, for a file of more than `max_bytes`, for links as CheckLinks(), and, if the file is opened for
// writing, for any link at the end of `path`. Other errors as CannotOpen().
absl::StatusOr<Fd> OpenStored(const std::string& path, int flags = O_RDONLY,
                              uint64_t max_bytes = UINT64_MAX);

// The file that a link names stays behind the link. kDataLoss for what is there and no regular file,
// /dev/null say, and for links as CheckLinks().
absl::Status WriteFileDurably(const std::string& path, absl::string_view contents);
// The same for a file that is not there yet; kAlreadyExists, and nothing changed, when it is.
absl::Status CreateFileDurably(const std::string& path, absl::string_view contents);
// At most `max_bytes`; a larger file is kDataLoss, and so is one that cannot be read. Other errors as
// OpenStored().
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes = 64 << 20);
// Creates the folder and its parents; kPermissionDenied or kFailedPrecondition say why not, kDataLoss as
// CheckLinks().
absl::Status MakeFolder(const std::string& path);

// The steps of the above, for files that grow. `path` is for messages. One write() unless the
// system takes only a part of it, then fdatasync(). After a failure the file must not be written
// again.
absl::Status AppendDurably(int fd, const std::string& path, absl::string_view contents);
// Makes the name `path` itself durable: fsync of its folder.
absl::Status SyncFolderOf(const std::string& path);
// What an earlier process wrote may not be on the disk, or its sync may have failed: syncs it
// again.
absl::Status SyncFile(const std::string& path);
// kDataLoss unless `path` still names the open file: it, or its folder, may have been removed.
absl::Status CheckIsStill(int fd, const std::string& path);

// kNotFound when a file or folder is not there, kDataLoss when it cannot be opened.
absl::Status CannotOpen(const std::string& path, int error);

}  // namespace mmadiff
