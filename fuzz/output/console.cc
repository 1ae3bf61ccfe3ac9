#include "fuzz/output/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "device/clock.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

bool WantsColor(Color color) {
  if (color != Color::kAuto) return color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
}

// The number of columns of a terminal.
size_t WidthOf(int file) {
  constexpr int kMinWidth = 20;
  const char* columns = std::getenv("COLUMNS");
  int width = 0;
  winsize size = {};
  if ((columns == nullptr || !absl::SimpleAtoi(columns, &width) || width <= 0) &&
      ioctl(file, TIOCGWINSZ, &size) == 0) {
    width = size.ws_col;
  }
  return width <= 0 ? 80 : std::max(width, kMinWidth);
}

void Write(FILE* file, absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

Console::Stream::Stream(int file)
    : terminal(isatty(file)), width(terminal ? WidthOf(file) : kAnyWidth) {}

Console::Console(Color color, bool quiet)
    : stdout_(STDOUT_FILENO), stderr_(STDERR_FILENO), color_(WantsColor(color)), quiet_(quiet) {}

void Console::Print(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  ClearLocked();
  Write(stdout, color_ ? PlainText(text, "\x1b[1;31m", "\x1b[0m") : PlainText(text));
}

void Console::Warn(absl::string_view message) {
  absl::MutexLock lock(&mutex_);
  ClearLocked();
  const std::string text = absl::StrCat("mmadiff: ", PlainText(message));
  Write(stderr, Wrap(text, stderr_.width, 2) + "\n");
}

void Console::Status(absl::string_view line, bool milestone) {
  if (quiet_) return;
  absl::MutexLock lock(&mutex_);
  const absl::Duration now = MonotonicNow();
  if (stderr_.terminal) {
    if (now - last_ < absl::Milliseconds(200)) return;
    Draw(line);
  } else {
    if (!milestone && now - last_ < absl::Minutes(1)) return;
    Write(stderr, absl::StrCat(PlainLine(line), "\n"));
  }
  last_ = now;
}

void Console::Step(absl::string_view line) {
  if (quiet_ || !stderr_.terminal) return;
  absl::MutexLock lock(&mutex_);
  Draw(line);
  last_ = MonotonicNow();
}

void Console::Draw(absl::string_view line) {
  const std::string wrapped = Wrap(PlainLine(line), stderr_.width - 1, 0);
  Write(stderr, absl::StrCat("\r\x1b[K", wrapped.substr(0, wrapped.find('\n'))));
  drawn_ = true;
}

void Console::Clear() {
  absl::MutexLock lock(&mutex_);
  ClearLocked();
}

void Console::ClearLocked() {
  if (drawn_) Write(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace mmadiff
