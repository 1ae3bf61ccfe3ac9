// What is stored at a path. Nothing else decides it.
#pragma once

#include <cstdint>
#include <string>

namespace mmadiff {

enum class PathKind : uint8_t {
  kNothing,    // nobody can look there, or there is nothing
  kOther,      // a pipe or a device: it gives its bytes once
  kFile,       // a log of answers, vectors, lines, or no file of ours
  kCase,       // *.txtpb: a regression case
  kFolder,     // none of the following; these may be below it
  kRun,        // a folder with the manifest of a run
  kRecording,  // a folder with the manifest, the digests or the answers of a recording
  kSurvey,     // a folder with the log of a survey
};

// By the names of files; no file is opened.
PathKind KindOf(const std::string& path);
// The last four.
bool IsFolder(PathKind kind);

inline constexpr char kRunManifest[] = "manifest.txtpb";  // in the folder of a run
inline constexpr char kCaseExtension[] = ".txtpb";

}  // namespace mmadiff
