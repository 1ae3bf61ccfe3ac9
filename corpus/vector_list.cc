// Vector files below a folder, and what there is to compare: the second half of
// corpus/vector_file.h.
#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "corpus/durable_file.h"
#include "corpus/line_recording.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileBytes = 4 << 20;

}  // namespace

const char* Name(AnswerKind kind) {
  constexpr const char* kNames[] = {"observed", "published", "expected", "contested"};
  return kNames[static_cast<int>(kind)];
}

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

std::vector<std::string> ListVectorFiles(const std::string& path) {
  std::vector<std::string> paths;
  const auto add = [&paths](const fs::path& file) {
    std::error_code ignored;
    if (file.extension() != ".txt" || fs::is_directory(file, ignored)) return;
    if (FactsOfFileName(file.string()).row != nullptr) return;
    const absl::StatusOr<std::string> text = ReadFile(file.string(), kMostFileBytes);
    if (!text.ok() || !IsLineProtocol(*text)) paths.push_back(file.string());
  };
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    add(path);
    return paths;
  }
  fs::recursive_directory_iterator it(path, error), end;
  for (; !error && it != end; it.increment(error)) add(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<VectorCase> CasesOf(const Vector& vector) {
  std::vector<VectorCase> cases;
  for (const VectorAnswer& answer : vector.answers) {
    for (const Row* row : answer.rows) {
      for (const std::string& operands : vector.operands) {
        absl::StatusOr<DotProductCase> dot = DotProductOf(vector, operands, *row);
        if (dot.ok()) cases.push_back({&answer, row, *std::move(dot)});  // the parser has looked
      }
    }
  }
  return cases;
}

bool Is(const VectorAnswer& answer, const Row& row, uint64_t d) {
  if (d == answer.d) return true;
  const Format& f = row.model.d;
  const bool open = answer.any_nan || row.numerics->nan_verdict == NanVerdict::kAnyNan;
  return open && IsNan(f, d) && IsNan(f, answer.d);
}

std::string WordText(const Vector& vector, const VectorAnswer& answer) {
  return answer.any_nan ? "NAN" : HexWord(*vector.d, answer.d);
}

}  // namespace mmadiff
