// Decides what kind of data a path holds. No other code decides this.
#pragma once

#include <cstdint>
#include <string>

namespace mmadiff {

enum class PathKind : uint8_t {
  kNothing,    // does not exist, or cannot be examined
  kOther,      // a pipe or a device: its bytes can be read only once
  kFile,       // a log of answers, vectors, lines, or a foreign file
  kCase,       // *.txtpb: a regression case
  kFolder,     // none of the following; these may exist below it
  kRun,        // contains the manifest of a run
  kRecording,  // contains the manifest, the digests or the answers of a recording
  kSurvey,     // contains the log of a survey
};

// Decides by file names only; opens no file.
PathKind KindOf(const std::string& path);
// True for the last four kinds.
bool IsFolder(PathKind kind);

inline constexpr char kRunManifest[] = "manifest.txtpb";  // in a run folder
inline constexpr char kCaseExtension[] = ".txtpb";

}  // namespace mmadiff
