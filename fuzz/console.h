// Results on stdout, progress and warnings on stderr, never mixed up: one status line on a
// terminal, plain lines in a log. Control characters and bytes that are no UTF-8 are escaped,
// whoever wrote them; colour comes from marks (device/plain_text.h) alone.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

enum class Color { kAuto, kAlways, kNever };

class Console {
 public:
  Console(Color color, bool quiet);

  bool color() const { return color_; }  // of stdout

  void Print(absl::string_view text);    // stdout, flushed
  void Warn(absl::string_view message);  // stderr, prefixed "mmadiff: "; also when quiet
  // Progress. On a terminal: redrawn in place, at most five times a second. Otherwise a line of its
  // own when `milestone`, and once a minute.
  void Status(absl::string_view line, bool milestone);
  // Removes the status line.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  void ClearLocked();

  std::mutex mutex_;
  const bool color_, quiet_, terminal_;
  bool drawn_ = false;
  Clock::time_point last_;
};

}  // namespace mmadiff
