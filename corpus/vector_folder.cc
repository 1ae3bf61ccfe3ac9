#include "corpus/vector_folder.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "corpus/durable_file.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;

}  // namespace

absl::StatusOr<VectorFile> ReadVectors(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  return ParseVectors(text, path);
}

bool IsLineProtocol(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "# instruction: ")) return true;
    if (line.empty() || line[0] == '#') continue;
    return line.find_first_not_of("0123456789abcdefABCDEF \t\r") == line.npos;
  }
  return false;
}

}  // namespace mmadiff
