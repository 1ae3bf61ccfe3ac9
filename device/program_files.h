// The files that a shell command runs: a changed program counts as a different device.
#pragma once

#include <sys/stat.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// The regular files that words of the command name: paths, patterns (at most 100 files each) and
// names to be found in PATH; also text after a '=', words of quoted commands (`sh -c '...'`), and
// words of scripts that begin with "#!" and are smaller than 1 MB, and of the scripts that those
// name. Variables have the values that the text assigned before, or those of the environment. A
// word is searched for in the folder of the process, in every folder named by an earlier word (`cd
// d`), and in the script's folder. Targets of `>`, logs and waveforms do not count as files of the
// command. In doubt, a file is included.
class ProgramFiles {
 public:
  explicit ProgramFiles(absl::string_view command);

  // "model.py xxh3 16-digit-hash, python3 xxh3 ..." in the order of the command; "" if there are no
  // files.
  std::string Describe() const;
  // kDataLoss names a file that has changed or no longer exists. Reads only files whose inode, size
  // or times have changed.
  absl::Status CheckUnchanged();

 private:
  struct File {
    std::string path, hash;
    struct stat stat;
  };

  // How many levels of quotes within quotes and of scripts within scripts to search.
  struct Depth {
    int quotes, scripts;
  };

  void Scan(absl::string_view text, Depth depth);
  std::string NextWord(absl::string_view* text) const;
  std::string TakeVariable(absl::string_view* text) const;
  void Look(const std::string& word, Depth depth);
  bool Find(const std::string& word, Depth depth);
  bool Add(const std::string& path, Depth depth);

  std::vector<std::string> folders_;              // named by words
  std::map<std::string, std::string> variables_;  // set by the text
  std::set<std::string> written_;                 // targets of '>'
  std::vector<File> files_;
};

}  // namespace mmadiff
