// Reads the folder of a run for `status`, `report`, `merge` and `verify`. Nothing is changed or
// synced; a run may be writing to the folder at the same time.
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
  std::vector<FiledCase> findings;      // in findings/, ordered by path
  bool all_findings = true;             // every file in findings/ could be read
  std::vector<std::string> distrusted;  // "OPERATION: why"
  std::vector<std::string> warnings;    // damage of logs and findings; undamaged data was read
};

// `each` is called once for every unit. kInvalidArgument: not the folder of a run; kDataLoss: a
// damaged manifest. Other data that cannot be read or trusted becomes a warning.
absl::StatusOr<RunFolder> ReadRunFolder(const std::string& path, const OnUnit& each = nullptr);

// Whether a filed case belongs to the device and one of the operations of the run.
bool IsOfRun(const RunManifest& manifest, const RegressionCase& filed);

// One line for each file in the folder or its findings/ that is a run's but has the wrong name or
// place, and for each link to a folder. These files are not read.
std::vector<std::string> MisplacedIn(const std::string& folder);

// Reads the manifest only. kInvalidArgument: not the folder of a run; kDataLoss: a damaged
// manifest.
absl::StatusOr<RunManifest> ReadManifest(const std::string& path);
// Whether the folder is empty, or its run was killed before it wrote its manifest: no unit is lost.
bool HasNotBegun(const std::string& path);

// The folders of runs among the paths that a user named.
struct NamedRuns {
  std::vector<std::pair<std::string, RunManifest>> runs;  // paths without a final "/"
  // One line for each other path. `not_begun`: HasNotBegun(); `damage`: does not exist, is not the
  // folder of a run, or has a damaged manifest.
  std::vector<std::string> not_begun, damage;
};
// Both kinds of lines.
std::vector<std::string> NotRead(const NamedRuns& named);
// If none of the paths is a run: kDataLoss for a damaged manifest, else kInvalidArgument.
absl::StatusOr<NamedRuns> ReadManifests(const std::vector<std::string>& paths);
// Reads `findings` and `distrusted` into the folder, whose path and manifest are set. Damage,
// findings of a different run, and MisplacedIn() are added to the warnings. If one cannot be read,
// the other still is.
absl::Status ReadFiled(RunFolder& folder);

}  // namespace mmadiff
