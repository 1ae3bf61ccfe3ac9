// Results on stdout, progress and warnings on stderr, never interleaved: one status line on a
// terminal, plain lines in a log. Control characters and invalid UTF-8 are always escaped; only
// marks (device/plain_text.h) produce color.
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "triage/text_table.h"

namespace mmadiff {

enum class Color { kAuto, kAlways, kNever };

class Console {
 public:
  Console(Color color, bool quiet);

  bool terminal() const { return stdout_.terminal; }
  // Style of the output. A terminal has the width given by COLUMNS, or its own.
  TextStyle style() const { return {color_, stdout_.width}; }

  void Print(absl::string_view text);    // stdout, flushed
  void Warn(absl::string_view message);  // stderr, prefixed "mmadiff: "; also when quiet
  // Progress. On a terminal: redrawn in place, at most five times a second, without words that do
  // not fit. Otherwise: a line for each `milestone`, and once a minute.
  void Status(absl::string_view line, bool milestone);
  // A step that may take long: on a terminal it is drawn at once, elsewhere not at all.
  void Step(absl::string_view line);
  // Removes the status line.
  void Clear();

 private:
  struct Stream {
    explicit Stream(int file);
    bool terminal;
    size_t width;
  };

  void Draw(absl::string_view line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ClearLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  const Stream stdout_, stderr_;
  const bool color_, quiet_;
  bool drawn_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration last_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

}  // namespace mmadiff
