// A folder for the targets whose parsers read one.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "fuzz/targets/input.h"

namespace mmadiff::fuzz {

// Empty at first, removed at the end of the process. In memory where that is possible: readers
// sync.
inline const std::string& Folder() {
  struct Made {
    std::string path =
        absl::StrCat(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", "/mmadiff_fuzzXXXXXX");
    Made() { Check(mkdtemp(path.data()) != nullptr); }
    ~Made() { std::filesystem::remove_all(path); }
  };
  static const Made made;
  return made.path;
}

inline void Write(const char* name, absl::string_view bytes) {
  std::FILE* const file = std::fopen(absl::StrCat(Folder(), "/", name).c_str(), "wb");
  Check(file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  Check(std::fclose(file) == 0);
}

}  // namespace mmadiff::fuzz
