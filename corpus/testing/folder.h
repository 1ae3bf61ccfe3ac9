// A fixture with an empty folder of its own. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

class TestFolder : public testing::Test {
 protected:
  explicit TestFolder(const std::string& where = testing::TempDir())
      : folder_(where + "/mmadiffXXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~TestFolder() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string Put(const std::string& name, absl::string_view bytes) const {
    std::filesystem::remove(Path(name));  // some file systems sync a file that is written over
    std::ofstream(Path(name), std::ios::binary).write(bytes.data(), bytes.size());
    return Path(name);
  }
  static std::string Get(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string folder_;
};

}  // namespace mmadiff
