#include "corpus/list_files.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

// `Iterator` is a folder iterator, recursive or not.
template <typename Iterator, typename Keep>
absl::StatusOr<std::vector<std::string>> List(const std::string& folder, Keep keep) {
  std::vector<std::string> paths;
  std::error_code error;
  Iterator it(folder, error);
  while (!error && it != Iterator()) {
    if (keep(*it)) paths.push_back(it->path().string());
    it.increment(error);
  }
  if (error) {
    const std::string message = absl::StrCat(folder, ": cannot be listed: ", error.message());
    return error == std::errc::no_such_file_or_directory ? absl::NotFoundError(message)
                                                         : absl::DataLossError(message);
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& folder) {
  return List<fs::recursive_directory_iterator>(folder, [](const fs::directory_entry& entry) {
    std::error_code ignored;  // a file that vanishes meanwhile is skipped
    return entry.is_symlink(ignored) || (entry.exists(ignored) && !entry.is_directory(ignored));
  });
}

absl::StatusOr<std::vector<std::string>> EntriesOf(const std::string& folder) {
  return List<fs::directory_iterator>(folder, [](const fs::directory_entry&) { return true; });
}

}  // namespace mmadiff
