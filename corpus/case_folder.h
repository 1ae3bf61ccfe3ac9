// Regression cases as files below a folder.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "corpus/regression_case.h"

namespace mmadiff {

// A file whose name ends in an id must have a checksum. kDataLoss also when the id is not that of
// the contents: such a case was edited or damaged, and the message says its right name. `question`:
// answers may be missing.
absl::StatusOr<RegressionCase> ReadCase(const std::string& path, bool question = false);
// Adds to `stored` what another file of the same case knows more: answers of another device, another
// identity, or with other bits. Its texts stay, except that empty ones are filled; of two states the
// later one of the enumeration counts.
void AddAnswers(const RegressionCase& added, RegressionCase& stored);
// Writes below `folder` under CaseFileName(), atomically and durably; returns the path. An existing
// file with the same id (whatever its slug) gains the answers, as AddAnswers() does.
// `own_slug`: a file with another slug is another case, with words of its own. kInvalidArgument for
// a case that could not be read again, kDataLoss also for an existing file that is damaged.
absl::StatusOr<std::string> WriteCase(const RegressionCase& c, const std::string& folder,
                                      bool own_slug = false);

// Writes the case over the file that it was read from, atomically and durably; the lines of comment
// at its beginning stay. Errors as ReadFile() and WriteFileDurably().
absl::Status RewriteCase(const std::string& path, const RegressionCase& c);

// Every *.txtpb but manifests below a folder in the order of their paths, or the one file. Errors
// as FilesBelow().
absl::StatusOr<std::vector<std::string>> ListCases(const std::string& path);

struct FiledCase {
  std::string path;
  RegressionCase filed;
};
struct CasesBelow {
  std::vector<FiledCase> cases;      // in the order of their paths
  std::vector<std::string> damaged;  // messages of ReadCase(): such a file does not hide the others
};
// The cases of ListCases() whose path is wanted. Errors as ListCases(), and of ReadCase() for a file
// that is `path` itself.
absl::StatusOr<CasesBelow> ReadCases(
    const std::string& path, absl::FunctionRef<bool(const std::string& path)> wanted =
                                 [](const std::string&) { return true; });

}  // namespace mmadiff
