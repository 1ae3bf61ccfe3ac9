// What the files below a folder are, by their first bytes, with nothing left out in silence.
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
  kVectors,        // vectors of the literature
  kLines,          // recorded answers in the line protocol, plain or gzip
  kLog,            // recorded answers in a block log
  kOfRecording,    // of the folder of a recording or a survey, which is read as one
  kOfRun,          // of the folder of a run, digests of models, a lone manifest: no answers
  kOther,          // somebody else's
  kNotUnderstood,  // its name is of one of these, and its bytes are of none
};

// By its first bytes where they are a magic, a header or a dot product of docs/formats.md, whatever its
// name. Else
// *.txtpb is a case, of which its reader says what is wrong; hexadecimal words in *.txt, *.log and *.gz
// are lines, and the rest of these, in capitals too, is not understood.
FileKind KindOfFile(const std::string& path);

// Whether it holds the answers of one device: vectors do not.
bool IsRecorded(FileKind kind);

struct StoredFile {
  std::string path;
  FileKind kind;
};
// Folders that are read as one.
struct StoredFolders {
  std::vector<std::string> surveys, recordings;  // sorted; no recording is one of a survey
};

// Every file below a folder, sorted, as Thing::kFile; `folders` gets those that are read as one. Left
// out: other people's files (kOtherFile), links to folders (kNotFollowed), what killed processes left (kTemporary), kNotUnderstood, files without answers (kNoAnswers), and kinds that are not
// wanted (kNotSelected). Errors as FilesBelow().
absl::StatusOr<Filtered<StoredFile>> StoredFilesBelow(
    const std::string& folder, StoredFolders& folders,
    absl::FunctionRef<bool(FileKind)> wanted = [](FileKind) { return true; });

// Files with recorded answers below the folder of a recording or a survey that are no part of it: what reads the folder
// as one device's passes over them. None of other paths. Errors as FilesBelow().
absl::StatusOr<std::vector<std::string>> OtherAnswersBelow(const std::string& folder);

// The cases of a folder, each file below it in the ledger. Errors as FilesBelow().
absl::StatusOr<CasesBelow> ReadStoredCases(const std::string& folder, Ledger& ledger);

}  // namespace mmadiff
