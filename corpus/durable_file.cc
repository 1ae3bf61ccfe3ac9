#include "corpus/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

absl::Status NotRegular(const std::string& path, mode_t mode) {
  const char* kind = S_ISFIFO(mode)   ? "a FIFO"
                     : S_ISDIR(mode)  ? "a folder"
                     : S_ISSOCK(mode) ? "a socket"
                                      : "a device";
  return absl::DataLossError(
      absl::StrCat(path, ": is ", kind, ", not a regular file",
                   S_ISFIFO(mode) ? "; save its output to a file first" : ""));
}

absl::Status TooLarge(const std::string& path, uint64_t max_bytes) {
  return absl::DataLossError(
      absl::StrCat(path, ": larger than the limit of ", max_bytes, " bytes"));
}

bool IsStranger(uid_t user) { return user != 0 && user != geteuid(); }

// As CheckLinks(), following at most `most` links.
absl::Status CheckLinks(const std::string& name, const fs::path& path, int most) {
  fs::path link;
  for (auto part = path.begin(); part != path.end(); ++part) {
    link /= *part;
    struct stat s, folder;
    if (lstat(link.c_str(), &s) != 0) return absl::OkStatus();  // opening it reports the error
    if (!S_ISLNK(s.st_mode)) continue;
    const fs::path parent = link.has_parent_path() ? link.parent_path() : ".";
    const bool ours = stat(parent.c_str(), &folder) == 0 && !IsStranger(folder.st_uid) &&
                      (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (IsStranger(s.st_uid) && !ours) {
      return absl::DataLossError(
          absl::StrCat(name, ": the link ", link.string(), " belongs to another user (", s.st_uid,
                       ") in a folder that others can write to; it is not followed"));
    }
    std::error_code error;
    fs::path target = parent / fs::read_symlink(link, error);
    if (error || most == 0) return absl::OkStatus();
    while (++part != path.end()) target /= *part;
    return CheckLinks(name, target, most - 1);
  }
  return absl::OkStatus();
}

absl::Status NotDurable(const std::string& path, absl::string_view step, int error) {
  return absl::DataLossError(
      absl::StrCat(path, ": ", step, ": ", std::strerror(error), "; its contents may be lost"));
}

// Renames a file to a name that must not exist. Returns 0 or errno.
int RenameExclusively(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0) return unlink(from.c_str()) == 0 ? 0 : errno;
  if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  // The file system has no hard links.
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

// Writes the temporary file and renames it.
absl::Status WriteAndRename(int fd, const std::string& temporary, const std::string& path,
                            absl::string_view contents, bool exclusive) {
  // mkostemp() creates private files; this sets normal permissions, reduced by the umask.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd, 0666 & ~mask) != 0) return NotDurable(path, "fchmod", errno);
  RETURN_IF_ERROR(AppendDurably(fd, path, contents));
  if (exclusive) {
    const int error = RenameExclusively(temporary, path);
    if (error == EEXIST) return absl::AlreadyExistsError(absl::StrCat(path, ": already exists"));
    if (error != 0) return NotDurable(path, "link", error);
  } else if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return NotDurable(path, "rename", errno);
  }
  return SyncFolderOf(path);
}

absl::Status WriteWholeFile(const std::string& path, absl::string_view contents, bool exclusive) {
  std::string temporary = path + ".tmpXXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    return absl::DataLossError(absl::StrCat(path, ": not written: its folder does not exist"));
  }
  if (fd < 0) return NotDurable(path, "create a temporary file beside it", errno);
  absl::Status status = WriteAndRename(fd, temporary, path, contents, exclusive);
  if (close(fd) != 0 && status.ok()) status = NotDurable(path, "close", errno);
  if (!status.ok()) unlink(temporary.c_str());  // fails harmlessly if it was renamed
  return status;
}

}  // namespace

absl::Status AppendDurably(int fd, const std::string& path, absl::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return NotDurable(path, "write", errno);
    contents.remove_prefix(written);
  }
  if (fdatasync(fd) != 0) return NotDurable(path, "fdatasync", errno);
  return absl::OkStatus();
}

absl::Status SyncFolderOf(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? std::string(".") : parent.string();
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return NotDurable(path, "open its folder", errno);
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // EINVAL: the file system does not support fsync of folders, so there is nothing to wait for.
  return error == 0 || error == EINVAL ? absl::OkStatus()
                                       : NotDurable(path, "fsync of its folder", error);
}

absl::Status SyncFile(const std::string& path) {
  const absl::StatusOr<Fd> file = OpenStored(path);
  if (!file.ok()) return absl::DataLossError(file.status().message());
  return fdatasync(file->get()) == 0 ? absl::OkStatus() : NotDurable(path, "fdatasync", errno);
}

absl::Status CheckIsStill(int fd, const std::string& path) {
  struct stat open_file, named;
  if (fstat(fd, &open_file) != 0) return NotDurable(path, "fstat", errno);
  if (stat(path.c_str(), &named) != 0) return NotDurable(path, "stat", errno);
  if (open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      path, ": was removed or replaced while it was being written; its contents are lost"));
}

absl::Status CannotOpen(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": cannot be opened: ", std::strerror(error));
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(message)
                                             : absl::DataLossError(message);
}

absl::Status CheckLinks(const std::string& path) { return CheckLinks(path, path, 40); }

absl::StatusOr<Fd> OpenStored(const std::string& path, int flags, uint64_t max_bytes) {
  RETURN_IF_ERROR(CheckLinks(path));
  const bool reads = (flags & O_ACCMODE) == O_RDONLY;
  struct stat s;
  // Opening a device may already have side effects.
  if (stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode)) return NotRegular(path, s.st_mode);
  Fd file(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | (reads ? 0 : O_NOFOLLOW), 0666));
  if (!file.open() && errno == ELOOP && !reads) {
    return absl::DataLossError(
        absl::StrCat(path, ": is a link; links are not followed for writing; remove it"));
  }
  if (!file.open()) return CannotOpen(path, errno);
  if (fstat(file.get(), &s) != 0) return CannotOpen(path, errno);
  if (!S_ISREG(s.st_mode)) return NotRegular(path, s.st_mode);  // replaced since stat()
  if (static_cast<uint64_t>(s.st_size) > max_bytes) return TooLarge(path, max_bytes);
  fcntl(file.get(), F_SETFL, flags);
  return file;
}

absl::Status WriteFileDurably(const std::string& path, absl::string_view contents) {
  RETURN_IF_ERROR(CheckLinks(path));
  struct stat there;  // a device or a pipe would be replaced by a file; a link is kept
  if (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return NotRegular(path, there.st_mode);
  }
  std::error_code error;
  const std::string target = fs::canonical(path, error).string();
  return WriteWholeFile(error ? path : target, contents, false);
}

absl::Status CreateFileDurably(const std::string& path, absl::string_view contents) {
  return WriteWholeFile(path, contents, true);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  ASSIGN_OR_RETURN(const Fd file, OpenStored(path, O_RDONLY, max_bytes));
  std::string contents;
  for (;;) {
    const size_t size = contents.size();
    if (size > max_bytes) return TooLarge(path, max_bytes);
    // Reads one byte more than allowed, to distinguish a file that is too large from one that just
    // fits.
    contents.resize(size + 1 + std::min<size_t>(max_bytes - size, (64 << 10) - 1));
    const ssize_t got = read(file.get(), contents.data() + size, contents.size() - size);
    contents.resize(size + std::max<ssize_t>(got, 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::DataLossError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
    }
    if (got == 0) return contents;
  }
}

absl::Status MakeFolder(const std::string& path) {
  RETURN_IF_ERROR(CheckLinks(path));
  const fs::path folder(path);
  std::error_code ignored;
  if (path.empty() || fs::is_directory(folder, ignored)) return absl::OkStatus();
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    RETURN_IF_ERROR(MakeFolder(folder.parent_path().string()));
  }
  if (mkdir(path.c_str(), 0777) == 0) return SyncFolderOf(path);
  const int error = errno;
  // A different process may have created it meanwhile. "a/." and "a/" were created with their
  // parent.
  if (error == EEXIST && fs::is_directory(folder, ignored)) return absl::OkStatus();
  const std::string message =
      absl::StrCat(path, ": cannot create the folder: ", std::strerror(error));
  const bool denied = error == EACCES || error == EPERM || error == EROFS;
  return denied ? absl::PermissionDeniedError(message) : absl::FailedPreconditionError(message);
}

}  // namespace mmadiff
