// The files that answer when a shell command runs: a changed program is another device.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// The regular files that words of the command name, also inside quoted commands (`sh -c '...'`):
// paths, and names to be found in PATH. Not NAME=VALUE words and targets of `>`.
class ProgramFiles {
 public:
  explicit ProgramFiles(absl::string_view command);

  // "model.py xxh3 16-digit-hash, python3 xxh3 ..." in the order of the command; "" for none.
  std::string Describe() const;
  // kDataLoss names a file that is not what it was, or not there. Reads only files whose inode,
  // size or times are others.
  absl::Status CheckUnchanged();

 private:
  struct File {
    std::string path, hash;
    struct stat stat;
  };

  // `depth`: how many quotes within quotes to look into.
  void Scan(absl::string_view command, int depth);
  bool Add(const std::string& word);

  std::vector<File> files_;
};

}  // namespace mmadiff
