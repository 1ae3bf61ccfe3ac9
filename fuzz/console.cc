#include "fuzz/console.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

bool WantsColor(Color color) {
  if (color != Color::kAuto) return color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
}

void Write(FILE* file, absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

Console::Console(Color color, bool quiet)
    : color_(WantsColor(color)), quiet_(quiet), terminal_(isatty(STDERR_FILENO)) {}

void Console::Print(absl::string_view text) {
  std::lock_guard lock(mutex_);
  ClearLocked();
  Write(stdout, color_ ? PlainText(text, "\x1b[1;31m", "\x1b[0m") : PlainText(text));
}

void Console::Warn(absl::string_view message) {
  std::lock_guard lock(mutex_);
  ClearLocked();
  Write(stderr, absl::StrCat("mmadiff: ", PlainText(message), "\n"));
}

void Console::Status(absl::string_view line, bool milestone) {
  if (quiet_) return;
  std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (terminal_) {
    if (now - last_ < std::chrono::milliseconds(200)) return;
    Write(stderr, absl::StrCat("\r\x1b[K", PlainLine(line)));
    drawn_ = true;
  } else {
    if (!milestone && now - last_ < std::chrono::minutes(1)) return;
    Write(stderr, absl::StrCat(PlainLine(line), "\n"));
  }
  last_ = now;
}

void Console::Clear() {
  std::lock_guard lock(mutex_);
  ClearLocked();
}

void Console::ClearLocked() {
  if (drawn_) Write(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace mmadiff
