// The files that answer when a shell command runs: a changed program is another device.
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
// names to be found in PATH; also what follows a '=', words of quoted commands (`sh -c '...'`), and
// words of scripts that begin with "#!" and are smaller than 1 MB, and of the scripts that those
// name. Variables have the values that the text gives them before, else those of the environment.
// A word is looked for in the folder of the process, in every folder that a word named before
// (`cd d`), and in that of the script. Targets of `>`, logs and waveforms are no files of the command. It rather takes
// a file too many.
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

  // How many quotes within quotes and scripts within scripts to look into.
  struct Depth {
    int quotes, scripts;
  };

  void Scan(absl::string_view text, Depth depth);
  std::string NextWord(absl::string_view* text) const;
  std::string TakeVariable(absl::string_view* text) const;
  void Look(const std::string& word, Depth depth);
  bool Find(const std::string& word, Depth depth);
  bool Add(const std::string& path, Depth depth);

  std::vector<std::string> folders_;              // that words named
  std::map<std::string, std::string> variables_;  // that the text sets
  std::set<std::string> written_;                 // targets of '>'
  std::vector<File> files_;
};

}  // namespace mmadiff
