#include "corpus/stored_files.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "corpus/block_log.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "corpus/path_kind.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/survey_log.h"
#include "corpus/vector_folder.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr size_t kStartBytes = 64 << 10;  // bytes that are examined, unpacked

// The first bytes, unpacked; empty if the file is not regular or cannot be read.
std::string StartOf(const std::string& path) {
  absl::StatusOr<Fd> file = OpenStored(path);
  if (!file.ok()) return "";
  const gzFile packed = gzdopen(file->get(), "rb");
  if (packed == nullptr) return "";
  file->Release();
  std::string start(kStartBytes, '\0');
  const int got = gzread(packed, start.data(), static_cast<unsigned>(start.size()));
  gzclose(packed);
  start.resize(std::max(got, 0));
  return start;
}

// Whether the name, NAME.tmpXXXXXX, is that of a leftover from a killed process.
bool IsTemporary(absl::string_view name) {
  constexpr absl::string_view kMiddle = ".tmp";
  const size_t at = name.rfind(kMiddle);
  return at != name.npos && name.size() == at + kMiddle.size() + 6;
}

// Whether the first line that is not a comment may be a dot product. A single number is not.
bool BeginsWithADotProduct(absl::string_view text) {
  constexpr size_t kMinWords = 4;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    return words.size() >= kMinWords && IsLineProtocol(line);
  }
  return false;
}

// The kind given by the header of a text; kOther without a header.
FileKind KindOfText(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // some editors start files with this
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::EndsWith(line, "mmadiff.proto.RegressionCase")) return FileKind::kCase;
    for (const char* const manifest :
         {"mmadiff.proto.RecordingManifest", "mmadiff.proto.Manifest"}) {
      if (absl::EndsWith(line, manifest)) return FileKind::kOfRun;
    }
    for (const char* const header :
         {"# instruction: ", "# device: ", "# lines: ", "# operands: "}) {
      if (absl::StartsWith(line, header)) return FileKind::kLines;
    }
    if (line.empty() || line[0] == '#') continue;
    if (absl::StartsWith(line, "source: ") && absl::StrContains(text, "\nvector: ")) {
      return FileKind::kVectors;
    }
    const bool digests = absl::StartsWith(line, "model ") && absl::StrContains(line, " nan=");
    return digests ? FileKind::kOfRun : FileKind::kOther;
  }
  return FileKind::kOther;
}

bool IsOfRun(absl::string_view name) {
  const bool log = absl::StartsWith(name, "units-") && absl::EndsWith(name, ".log");
  return log || name == kRunManifest || name == "writer.lock" || name == "distrusted.txt" ||
         name == "hardware";
}

bool IsSurveyPage(absl::string_view name) {
  return std::ranges::find(kSurveyPages, name) != std::ranges::end(kSurveyPages);
}

bool IsOfSurvey(absl::string_view name) {
  return name == "answers.log" || name == "writer.lock" || IsSurveyPage(name);
}

// The folders that have these files. A survey also counts without its log.
StoredFolders FoldersOf(const std::vector<std::string>& files) {
  std::set<std::string> surveys, recordings;
  for (const std::string& file : files) {
    const std::string folder = fs::path(file).parent_path();
    const std::string name = fs::path(file).filename();
    if (file == SurveyLogPath(folder) || IsSurveyPage(name)) surveys.insert(folder);
    if (IsRecordingFolder(folder)) recordings.insert(folder);
  }
  std::erase_if(recordings, [&](const std::string& path) {
    return std::ranges::any_of(
        surveys, [&](const std::string& survey) { return absl::StartsWith(path, survey + "/"); });
  });
  return {{surveys.begin(), surveys.end()}, {recordings.begin(), recordings.end()}};
}

FileKind KindIn(const StoredFolders& folders, const std::string& file) {
  const fs::path path(file);
  const std::string folder = path.parent_path(), name = path.filename();
  const std::string above = path.parent_path().parent_path();
  const auto in = [](const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::count(all, one) > 0;
  };
  const bool recording = in(folders.recordings, folder) || in(folders.surveys, above);
  if (in(folders.surveys, folder) && IsOfSurvey(name)) return FileKind::kOfRecording;
  if (recording && IsRecordingFile(name)) return FileKind::kOfRecording;
  const bool in_run = name == "writer.lock" || KindOf(folder) == PathKind::kRun;
  if (IsOfRun(name) && in_run) return FileKind::kOfRun;
  return KindOfFile(file);
}

}  // namespace

FileKind KindOfFile(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  if (IsTemporary(name)) return FileKind::kOther;
  if (IsBlockLog(path)) return FileKind::kLog;
  const std::string start = StartOf(path);
  const FileKind kind = KindOfText(start);
  if (kind != FileKind::kOther) return kind;
  if (BeginsWithADotProduct(start)) return FileKind::kLines;
  absl::AsciiStrToLower(&name);
  if (absl::EndsWith(name, kCaseExtension)) return FileKind::kCase;
  const auto ends = [&name](const char* end) { return absl::EndsWith(name, end); };
  if (!ends(".txt") && !ends(".log") && !ends(".gz")) return FileKind::kOther;
  const bool lines = IsLineProtocol(start) || FactsOfFileName(path).op != nullptr;
  return lines ? FileKind::kLines : FileKind::kNotUnderstood;
}

bool IsRecorded(FileKind kind) {
  return kind == FileKind::kCase || kind == FileKind::kLines || kind == FileKind::kLog ||
         kind == FileKind::kOfRecording;
}

absl::StatusOr<Filtered<StoredFile>> StoredFilesBelow(const std::string& folder,
                                                      StoredFolders& folders,
                                                      absl::FunctionRef<bool(FileKind)> wanted) {
  ASSIGN_OR_RETURN(const std::vector<std::string> below, FilesBelow(folder));
  folders = FoldersOf(below);
  Filtered<StoredFile> files(Thing::kFile);
  for (const std::string& path : below) {
    const FileKind kind = KindIn(folders, path);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      files.Leave(Reason::kNotFollowed, path);
    } else if (IsTemporary(fs::path(path).filename().string())) {
      files.Leave(Reason::kTemporary, path);
    } else if (kind == FileKind::kOther) {
      files.Leave(Reason::kOtherFile, path);
    } else if (kind == FileKind::kNotUnderstood) {
      files.Leave(Reason::kNotUnderstood, path);
    } else if (kind == FileKind::kOfRun) {
      files.Leave(Reason::kNoAnswers, path);
    } else if (!wanted(kind)) {
      files.Leave(Reason::kNotSelected, path);
    } else {
      files.Keep({path, kind}, path);
    }
  }
  return files;
}

absl::StatusOr<std::vector<std::string>> OtherAnswersBelow(const std::string& folder) {
  const PathKind kind = KindOf(folder);
  if (kind != PathKind::kRecording && kind != PathKind::kSurvey) return std::vector<std::string>();
  StoredFolders folders;
  const auto is_other = [](FileKind k) { return IsRecorded(k) && k != FileKind::kOfRecording; };
  ASSIGN_OR_RETURN(auto files, StoredFilesBelow(folder, folders, is_other));
  std::vector<std::string> paths;
  Ledger ignored;
  for (const StoredFile& file : ignored.Keep(std::move(files))) paths.push_back(file.path);
  return paths;
}

absl::StatusOr<CasesBelow> ReadStoredCases(const std::string& folder, Ledger& ledger) {
  StoredFolders folders;
  auto files =
      StoredFilesBelow(folder, folders, [](FileKind kind) { return kind == FileKind::kCase; });
  RETURN_IF_ERROR(files.status());
  CasesBelow below;
  for (const StoredFile& file : ledger.Keep(*std::move(files))) {
    absl::StatusOr<RegressionCase> filed = ReadCase(file.path);
    if (filed.ok()) {
      ledger.Compare(Thing::kFile, file.path);
      below.cases.push_back({file.path, *std::move(filed)});
    } else {
      ledger.Leave({Thing::kFile, Reason::kDamaged, file.path});
      below.damaged.push_back(std::string(filed.status().message()));
    }
  }
  return below;
}

}  // namespace mmadiff
