// Regression cases as files below a folder.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "corpus/regression_case.h"

namespace mmadiff {

// A file whose name ends in an id must have a checksum. kDataLoss also if the id does not match the
// contents: the case was edited or damaged, and the message gives the correct name. With
// `question`, answers may be missing.
absl::StatusOr<RegressionCase> ReadCase(const std::string& path, bool question = false);
// Adds to `stored` the information that only `added`, another file of the same case, has: answers
// from a different device, from a different identity, or with different bits. Nonempty texts of
// `stored` stay; empty ones are filled. If the states differ, the one later in the enumeration
// wins.
void AddAnswers(const RegressionCase& added, RegressionCase& stored);
// Writes the case below `folder` under CaseFileName(), atomically and durably, and returns the
// path. An existing file with the same id, whatever its slug, gains the answers as with
// AddAnswers(). With `own_slug`, a file with a different slug is a separate case with its own
// texts. kInvalidArgument for a case that could not be read back, kDataLoss also for a damaged
// existing file.
absl::StatusOr<std::string> WriteCase(const RegressionCase& c, const std::string& folder,
                                      bool own_slug = false);

// Overwrites the file that the case was read from, atomically and durably. Keeps the comment lines
// at its beginning. Errors as ReadFile() and WriteFileDurably().
absl::Status RewriteCase(const std::string& path, const RegressionCase& c);

// Every *.txtpb file except manifests below a folder, sorted by path, or the single file. Errors as
// FilesBelow().
absl::StatusOr<std::vector<std::string>> ListCases(const std::string& path);

struct FiledCase {
  std::string path;
  RegressionCase filed;
};
struct CasesBelow {
  std::vector<FiledCase> cases;      // sorted by path
  std::vector<std::string> damaged;  // messages of ReadCase(); a damaged file does not hide the
                                     // others
};
// The cases from ListCases() whose path is wanted. Errors as ListCases(), and as ReadCase() if
// `path` itself is a file.
absl::StatusOr<CasesBelow> ReadCases(
    const std::string& path, absl::FunctionRef<bool(const std::string& path)> wanted =
                                 [](const std::string&) { return true; });

}  // namespace mmadiff
