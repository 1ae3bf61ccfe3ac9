// LD_PRELOAD library of io_test.sh, kill_test.sh and race_test.sh: one system call on the files of
// a folder goes wrong. Environment:
//   FAIL_IO_FOLDER  absolute; calls on paths and descriptors in it are counted, from 1
//   FAIL_IO_LOG     gets a line for each counted call: its name
//   FAIL_IO_CALL    the call that goes wrong; "any": all are counted together
//   FAIL_IO_AT      its number
//   FAIL_IO_MODE    once, ever (it and all later ones), short (half of a read or write is done),
//                   kill_before, kill_after, kill_half (as short), stop (SIGSTOP before it)
//   FAIL_IO_ERRNO   of once and ever
//   FAIL_IO_CLOCK   set: each reading of the monotonic clock is a second after the last one: what
//                   waits for time to pass does so at once, on any machine
// open64(), mkostemp() and the like count as open(), mkdtemp() as mkdir(), unlinkat() as unlink().
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

enum class Fate { kPass, kFail, kHalf, kKillBefore, kKillAfter, kKillHalf, kStop };

struct Plan {
  const char* folder = getenv("FAIL_IO_FOLDER");
  const char* call = getenv("FAIL_IO_CALL");
  long at = Number("FAIL_IO_AT");
  int error = static_cast<int>(Number("FAIL_IO_ERRNO"));
  bool ever = false;
  Fate fate = Fate::kFail;
  bool clock = getenv("FAIL_IO_CLOCK") != nullptr;
  int log = -1;

  Plan() {
    const char* mode = getenv("FAIL_IO_MODE");
    const auto is = [mode](const char* name) { return mode != nullptr && !strcmp(mode, name); };
    ever = is("ever");
    if (is("short")) fate = Fate::kHalf;
    if (is("kill_before")) fate = Fate::kKillBefore;
    if (is("kill_after")) fate = Fate::kKillAfter;
    if (is("kill_half")) fate = Fate::kKillHalf;
    if (is("stop")) fate = Fate::kStop;
    if (const char* path = getenv("FAIL_IO_LOG")) {
      log = static_cast<int>(
          syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666));
    }
  }
  static long Number(const char* name) {
    const char* text = getenv(name);
    return text == nullptr ? 0 : atol(text);
  }
};

const Plan& ThePlan() {
  static const Plan& plan = *new Plan;
  return plan;
}

Fate FateOf(const char* call) {
  static std::atomic<long> count = 0;
  const Plan& plan = ThePlan();
  if (plan.log >= 0) {
    char line[64];
    syscall(SYS_write, plan.log, line, snprintf(line, sizeof line, "%s\n", call));
  }
  if (plan.call == nullptr || (strcmp(plan.call, "any") && strcmp(plan.call, call))) {
    return Fate::kPass;
  }
  const long number = ++count;
  return number == plan.at || (plan.ever && number > plan.at) ? plan.fate : Fate::kPass;
}

bool Inside(const char* path) {
  const char* folder = ThePlan().folder;
  return folder != nullptr && path != nullptr && !strncmp(path, folder, strlen(folder));
}

bool Inside(int fd) {
  if (ThePlan().folder == nullptr || fd < 0) return false;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  return Inside(path);
}

bool Inside(int folder, const char* path) { return *path == '/' ? Inside(path) : Inside(folder); }

// Does `real`, all or half of it, as the plan says; gives `failed` and errno instead.
template <class Result, class Real>
Result Do(const char* call, bool inside, Result failed, Real real) {
  const Fate fate = inside ? FateOf(call) : Fate::kPass;
  if (fate == Fate::kKillBefore) raise(SIGKILL);
  if (fate == Fate::kStop) raise(SIGSTOP);
  if (fate == Fate::kFail) {
    errno = ThePlan().error;
    return failed;
  }
  const Result result = real(fate == Fate::kHalf || fate == Fate::kKillHalf);
  if (fate == Fate::kKillAfter || fate == Fate::kKillHalf) raise(SIGKILL);
  return result;
}

// The next function of this name after this library.
template <class Function>
Function* Next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(function) Next(&function, #function)

mode_t ModeOf(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

size_t Part(size_t size, bool half) { return half ? (size + 1) / 2 : size; }

}  // namespace

extern "C" {

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return Do("open", Inside(folder, path), -1,
            [&](bool) { return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode)); });
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

int creat(const char* path, mode_t mode) {
  return openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int mkostemp(char* path, int flags) {
  return Do("open", Inside(path), -1, [&](bool) { return NEXT(mkostemp)(path, flags); });
}

char* mkdtemp(char* path) {
  char* const failed = nullptr;
  return Do("mkdir", Inside(path), failed, [&](bool) { return NEXT(mkdtemp)(path); });
}

int mkdir(const char* path, mode_t mode) {
  return Do("mkdir", Inside(path), -1, [&](bool) { return NEXT(mkdir)(path, mode); });
}

ssize_t read(int fd, void* data, size_t size) {
  return Do("read", Inside(fd), ssize_t{-1},
            [&](bool half) { return NEXT(read)(fd, data, Part(size, half)); });
}

ssize_t pread(int fd, void* data, size_t size, off_t at) {
  return Do("pread", Inside(fd), ssize_t{-1},
            [&](bool half) { return NEXT(pread)(fd, data, Part(size, half), at); });
}

ssize_t write(int fd, const void* data, size_t size) {
  return Do("write", Inside(fd), ssize_t{-1},
            [&](bool half) { return NEXT(write)(fd, data, Part(size, half)); });
}

int fdatasync(int fd) {
  return Do("fdatasync", Inside(fd), -1, [&](bool) { return NEXT(fdatasync)(fd); });
}

int fsync(int fd) {
  return Do("fsync", Inside(fd), -1, [&](bool) { return NEXT(fsync)(fd); });
}

int ftruncate(int fd, off_t size) noexcept {
  return Do("ftruncate", Inside(fd), -1, [&](bool) { return NEXT(ftruncate)(fd, size); });
}

int flock(int fd, int operation) noexcept {
  return Do("flock", Inside(fd), -1, [&](bool) { return NEXT(flock)(fd, operation); });
}

// As in Linux, a close that fails has closed.
int close(int fd) {
  bool closed = false;
  const int result = Do("close", Inside(fd), -1, [&](bool) {
    closed = true;
    return NEXT(close)(fd);
  });
  if (closed) return result;
  const int error = errno;
  NEXT(close)(fd);
  errno = error;
  return result;
}

int rename(const char* from, const char* to) noexcept {
  return Do("rename", Inside(to), -1, [&](bool) { return NEXT(rename)(from, to); });
}

int link(const char* from, const char* to) noexcept {
  return Do("link", Inside(to), -1, [&](bool) { return NEXT(link)(from, to); });
}

int unlink(const char* path) noexcept {
  return Do("unlink", Inside(path), -1, [&](bool) { return NEXT(unlink)(path); });
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  return Do("unlink", Inside(folder, path), -1,
            [&](bool) { return NEXT(unlinkat)(folder, path, flags); });
}

int remove(const char* path) noexcept {
  return Do("unlink", Inside(path), -1, [&](bool) { return NEXT(remove)(path); });
}

int stat(const char* path, struct stat* out) noexcept {
  return Do("stat", Inside(path), -1, [&](bool) { return fstatat(AT_FDCWD, path, out, 0); });
}

DIR* opendir(const char* path) {
  DIR* const failed = nullptr;
  return Do("opendir", Inside(path), failed, [&](bool) { return NEXT(opendir)(path); });
}

DIR* fdopendir(int fd) {
  DIR* const failed = nullptr;
  return Do("opendir", Inside(fd), failed, [&](bool) { return NEXT(fdopendir)(fd); });
}

struct dirent* readdir(DIR* folder) {
  struct dirent* const failed = nullptr;
  return Do("readdir", Inside(dirfd(folder)), failed, [&](bool) { return NEXT(readdir)(folder); });
}

struct dirent64* readdir64(DIR* folder) {
  return reinterpret_cast<struct dirent64*>(readdir(folder));
}

int clock_gettime(clockid_t clock, struct timespec* now) noexcept {
  static std::atomic<long> readings = 0;
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (clock == CLOCK_MONOTONIC && ThePlan().clock) now->tv_sec += ++readings;
  return result;
}

}  // extern "C"
