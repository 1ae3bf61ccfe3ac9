// Classifies the files below a folder by their first bytes. Leaves none out silently.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "corpus/case_folder.h"
#include "corpus/ledger.h"

namespace mmadiff {

enum class FileKind : uint8_t {
  kCase,           // a regression case
  kVectors,        // vectors from the literature
  kLines,          // recorded answers in the line protocol, plain or gzip
  kLog,            // recorded answers in a block log
  kOfRecording,    // part of a recording folder or survey folder, which is read as a whole
  kOfRun,          // part of a run folder, model digests, or a lone manifest: no answers
  kOther,          // foreign file
  kNotUnderstood,  // its name is one of these kinds, its bytes are not
};

// Classifies a file by its first bytes if they are a magic, a header or a dot product from
// docs/formats.md, whatever its name. Otherwise *.txtpb is a case, and the case reader reports any
// problem. Hexadecimal words in *.txt, *.log and *.gz are lines. Other files with these extensions,
// also in capitals, are kNotUnderstood.
FileKind KindOfFile(const std::string& path);

// Whether the file holds the answers of one device. Vectors do not.
bool IsRecorded(FileKind kind);

struct StoredFile {
  std::string path;
  FileKind kind;
};
// Folders that are read as a whole.
struct StoredFolders {
  std::vector<std::string> surveys, recordings;  // sorted; recordings of surveys are not included
};

// Every file below a folder, sorted, as Thing::kFile. `folders` gets the folders that are read as a
// whole. Left out are: foreign files (kOtherFile), links to folders (kNotFollowed), leftovers of
// killed processes (kTemporary), kNotUnderstood, files without answers (kNoAnswers), and unwanted
// kinds (kNotSelected). Errors as FilesBelow().
absl::StatusOr<Filtered<StoredFile>> StoredFilesBelow(
    const std::string& folder, StoredFolders& folders,
    absl::FunctionRef<bool(FileKind)> wanted = [](FileKind) { return true; });

// Files with recorded answers that are below a recording folder or a survey folder but not part of
// it. A reader of the folder as one device skips them. Empty for other paths. Errors as
// FilesBelow().
absl::StatusOr<std::vector<std::string>> OtherAnswersBelow(const std::string& folder);

// The cases of a folder. Enters every file below it in the ledger. Errors as FilesBelow().
absl::StatusOr<CasesBelow> ReadStoredCases(const std::string& folder, Ledger& ledger);

}  // namespace mmadiff
