// The folder of a run as its readers see it: `status`, `report`, `merge`, `verify`. Nothing is
// changed, not even synced; a run may be writing meanwhile.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/case_folder.h"
#include "corpus/regression_case.h"
#include "corpus/run_record.h"
#include "fuzz/folder/unit_log.h"

namespace mmadiff {

struct RunFolder {
  std::string path;
  RunManifest manifest;
  StoredUnits stored;
  std::vector<FiledCase> findings;      // of findings/, in the order of their paths
  bool all_findings = true;             // each file of findings/ could be read
  std::vector<std::string> distrusted;  // "OPERATION: why"
  std::vector<std::string> warnings;    // damage, of logs and of findings; the good was read
};

// `each` sees every unit once. kInvalidArgument: no folder of a run; kDataLoss: a damaged manifest.
// All else that cannot be read or trusted is a warning.
absl::StatusOr<RunFolder> ReadRunFolder(const std::string& path, const OnUnit& each = nullptr);

// Whether a filed case is of an operation and the device of the run.
bool IsOfRun(const RunManifest& manifest, const RegressionCase& filed);

// Of files in the folder and in its findings/ that a run has, but not there or under such a name, and of links that
// nobody follows: a line each. Nothing is read of them.
std::vector<std::string> MisplacedIn(const std::string& folder);

// The parts of it. kInvalidArgument: no folder of a run; kDataLoss: a damaged manifest.
absl::StatusOr<RunManifest> ReadManifest(const std::string& path);
// Whether it is an empty folder, or that of a run which was killed before it wrote its manifest: no unit is lost.
bool HasNotBegun(const std::string& path);

// The folders of runs among those that a user names.
struct NamedRuns {
  std::vector<std::pair<std::string, RunManifest>> runs;  // without a final "/"
  // Of the others a line each: HasNotBegun(); not there, no folder of a run, or with a damaged manifest.
  std::vector<std::string> not_begun, damage;
};
// Both kinds of lines.
std::vector<std::string> NotRead(const NamedRuns& named);
// If there is no run: kDataLoss for a damaged manifest, else kInvalidArgument.
absl::StatusOr<NamedRuns> ReadManifests(const std::vector<std::string>& paths);
// `findings` and `distrusted` of the folder at its path, of its manifest; damage of them, findings of another run, and
// MisplacedIn() are added to the warnings. An error of one leaves the other read.
absl::Status ReadFiled(RunFolder& folder);

}  // namespace mmadiff
