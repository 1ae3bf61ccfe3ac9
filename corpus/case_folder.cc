#include "corpus/case_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "corpus/path_kind.h"
#include "corpus/text_proto.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

// The id from a file name that ends in "-ID12.txtpb"; empty if it does not.
std::string IdOfFileName(const std::string& path) {
  constexpr size_t kDigits = 12;
  const std::string name = fs::path(path).stem().string();
  if (!absl::EndsWith(path, kCaseExtension) || name.size() <= kDigits) return "";
  const std::string id = name.substr(name.size() - kDigits);
  const bool hex = std::ranges::all_of(
      id, [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
  return hex && name[name.size() - kDigits - 1] == '-' ? id : "";
}

// The file in `folder` that holds the case with this id. An empty slug matches any slug.
absl::StatusOr<std::optional<std::string>> FindId(const fs::path& folder, const std::string& id,
                                                  const std::string& slug) {
  ASSIGN_OR_RETURN(std::vector<std::string> paths, ListCases(folder.string()));
  for (const std::string& path : paths) {
    if (IdOfFileName(path) != id) continue;
    if (slug.empty() || fs::path(path).stem() == slug + "-" + id) return path;
  }
  return std::nullopt;
}

template <class T>
void FillEmpty(T& stored, const T& added) {
  if (stored == T()) stored = added;
}

bool SameInputs(const RegressionCase& x, const RegressionCase& y) {
  return x.op == y.op && x.inputs.shape == y.inputs.shape && x.inputs.a == y.inputs.a &&
         x.inputs.b == y.inputs.b && x.inputs.c == y.inputs.c &&
         StoredMetadata(x.inputs) == StoredMetadata(y.inputs);
}

}  // namespace

void AddAnswers(const RegressionCase& added, RegressionCase& stored) {
  FillEmpty(stored.why, added.why);
  FillEmpty(stored.shared, added.shared);
  FillEmpty(stored.reason, added.reason);
  FillEmpty(stored.bucket, added.bucket);
  FillEmpty(stored.role, added.role);
  FillEmpty(stored.source, added.source);
  FillEmpty(stored.no_word, added.no_word);
  for (const Answer& answer : added.answers) {
    const bool known = std::ranges::any_of(stored.answers, [&answer](const Answer& other) {
      return other.device == answer.device && other.identity == answer.identity &&
             other.d == answer.d && other.age == answer.age;
    });
    if (!known) stored.answers.push_back(answer);
  }
  const auto life = [](const RegressionCase& c) { return std::tie(c.state, c.moved_by); };
  if (life(stored) < life(added)) {
    stored.state = added.state;
    stored.moved_by = added.moved_by;
  }
}

absl::StatusOr<RegressionCase> ReadCase(const std::string& path, bool question) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTextProtoBytes));
  const std::string id = IdOfFileName(path);
  ASSIGN_OR_RETURN(RegressionCase c, ParseCase(text, path, !id.empty(), question));
  if (!id.empty() && id != CaseId(c)) {
    return absl::DataLossError(absl::StrCat(path, ": the contents were changed: their id is now ",
                                            CaseId(c), "; restore them, or rename the file to ",
                                            CaseFileName(c)));
  }
  return c;
}

absl::StatusOr<std::string> WriteCase(const RegressionCase& c, const std::string& folder,
                                      bool own_slug) {
  std::string path = (fs::path(folder) / CaseFileName(c)).string();
  // Never write a case that could not be read back.
  absl::StatusOr<RegressionCase> wanted = ParseCase(FormatCase(c, folder), path);
  if (!wanted.ok()) return absl::InvalidArgumentError(wanted.status().message());
  if (!SameInputs(c, *wanted)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": a word exceeds its format"));
  }
  const fs::path arch_folder = fs::path(path).parent_path();
  RETURN_IF_ERROR(MakeFolder(arch_folder.string()));
  const auto existing = FindId(arch_folder, CaseId(c), own_slug ? c.slug : "");
  RETURN_IF_ERROR(existing.status());
  if (existing->has_value()) {
    path = **existing;
    absl::StatusOr<RegressionCase> stored = ReadCase(path);
    if (!stored.ok()) {
      return absl::DataLossError(
          absl::StrCat(stored.status().message(), "; it blocks the write: remove it"));
    }
    if (!SameInputs(*stored, *wanted)) {
      return absl::AlreadyExistsError(absl::StrCat(path, ": a different case has this id"));
    }
    AddAnswers(*wanted, *stored);
    wanted = std::move(stored);
  }
  RETURN_IF_ERROR(WriteFileDurably(path, FormatCase(*wanted, folder)));
  return path;
}

absl::Status RewriteCase(const std::string& path, const RegressionCase& c) {
  ASSIGN_OR_RETURN(const std::string old, ReadFile(path, kMaxTextProtoBytes));
  size_t head = 0;
  while (head < old.size() && old[head] == '#') {
    head = std::min(old.size(), old.find('\n', head)) + 1;
  }
  const std::string text = FormatCase(c);
  return WriteFileDurably(path, old.substr(0, head) + text.substr(text.find("\n\n") + 1));
}

absl::StatusOr<std::vector<std::string>> ListCases(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return absl::NotFoundError(absl::StrCat(path, ": no such file or folder"));
  if (!fs::is_directory(status)) return std::vector<std::string>{path};
  ASSIGN_OR_RETURN(std::vector<std::string> paths, FilesBelow(path));
  // Run manifests have the same extension but are not cases.
  std::erase_if(paths, [](const auto& file) {
    return fs::path(file).extension() != kCaseExtension ||
           fs::path(file).filename() == kRunManifest;
  });
  return paths;
}

absl::StatusOr<CasesBelow> ReadCases(const std::string& path,
                                     absl::FunctionRef<bool(const std::string& path)> wanted) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, ListCases(path));
  CasesBelow below;
  for (const std::string& file : files) {
    if (!wanted(file)) continue;
    absl::StatusOr<RegressionCase> filed = ReadCase(file);
    if (filed.ok()) {
      below.cases.push_back({file, *std::move(filed)});
    } else if (file == path) {
      return filed.status();
    } else {
      below.damaged.push_back(std::string(filed.status().message()));
    }
  }
  return below;
}

}  // namespace mmadiff
