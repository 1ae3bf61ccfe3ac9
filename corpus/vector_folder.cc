#include "corpus/vector_folder.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "corpus/recordings/line_recording.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileBytes = 4 << 20;

}  // namespace

absl::StatusOr<VectorFile> ReadVectors(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMostFileBytes);
  if (!text.ok()) return text.status();
  return ParseVectors(*text, path);
}

bool IsLineProtocol(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "# instruction: ")) return true;
    if (line.empty() || line[0] == '#') continue;
    return line.find_first_not_of("0123456789abcdefABCDEF \t\r") == line.npos;
  }
  return false;
}

absl::StatusOr<std::vector<std::string>> ListVectorFiles(const std::string& path) {
  std::error_code ignored;
  absl::StatusOr<std::vector<std::string>> files = std::vector<std::string>{path};
  if (fs::is_directory(path, ignored)) files = FilesBelow(path);
  if (!files.ok()) return files.status();
  std::erase_if(*files, [&](const std::string& file) {
    if (file == path && fs::is_other(file, ignored)) return true;  // a pipe gives its bytes once
    if (fs::path(file).extension() != ".txt" || FactsOfFileName(file).op != nullptr) return true;
    const absl::StatusOr<std::string> text = ReadFile(file, kMostFileBytes);
    return text.ok() && IsLineProtocol(*text);
  });
  return files;
}

}  // namespace mmadiff
