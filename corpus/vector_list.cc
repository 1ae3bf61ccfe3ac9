// Vector files below a folder, and what there is to compare: the second half of
// corpus/vector_file.h.
#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "corpus/recordings/line_recording.h"
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

absl::StatusOr<std::vector<std::string>> ListVectorFiles(const std::string& path) {
  std::error_code ignored;
  absl::StatusOr<std::vector<std::string>> files = std::vector<std::string>{path};
  if (fs::is_directory(path, ignored)) files = FilesBelow(path);
  if (!files.ok()) return files.status();
  std::erase_if(*files, [&ignored](const std::string& file) {
    if (fs::is_other(file, ignored)) return true;  // a pipe gives its bytes once
    if (fs::path(file).extension() != ".txt" || FactsOfFileName(file).op != nullptr) return true;
    const absl::StatusOr<std::string> text = ReadFile(file, kMostFileBytes);
    return text.ok() && IsLineProtocol(*text);
  });
  return files;
}

std::vector<VectorCase> CasesOf(const Vector& vector) {
  std::vector<VectorCase> cases;
  for (const VectorAnswer& answer : vector.answers) {
    for (const Operation* op : answer.ops) {
      for (const std::string& operands : vector.operands) {
        absl::StatusOr<DotProductCase> dot = DotProductOf(vector, operands, *op);
        if (dot.ok()) cases.push_back({&answer, op, *std::move(dot)});  // the parser has looked
      }
    }
  }
  return cases;
}

bool Is(const VectorAnswer& answer, const Operation& op, uint64_t d) {
  if (d == answer.d) return true;
  const Format& f = op.model.d;
  const bool open = answer.any_nan || op.numerics->nan_verdict == NanVerdict::kAnyNan;
  return open && IsNan(f, d) && IsNan(f, answer.d);
}

std::string WordText(const Vector& vector, const VectorAnswer& answer) {
  return answer.any_nan ? "NAN" : HexWord(*vector.d, answer.d);
}

}  // namespace mmadiff
