#include "corpus/path_kind.h"

#include <filesystem>

#include "corpus/recordings/recording_folder.h"
#include "corpus/survey_log.h"

namespace mmadiff {

namespace fs = std::filesystem;

PathKind KindOf(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) return PathKind::kNothing;
  if (fs::is_regular_file(status)) {
    return fs::path(path).extension() == kCaseExtension ? PathKind::kCase : PathKind::kFile;
  }
  if (!fs::is_directory(status)) return PathKind::kOther;
  if (fs::exists(fs::path(path) / kRunManifest, ignored)) return PathKind::kRun;
  if (IsRecordingFolder(path)) return PathKind::kRecording;
  if (fs::exists(SurveyLogPath(path), ignored)) return PathKind::kSurvey;
  return PathKind::kFolder;
}

bool IsFolder(PathKind kind) { return kind >= PathKind::kFolder; }

}  // namespace mmadiff
