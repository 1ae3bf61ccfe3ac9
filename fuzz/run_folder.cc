#include "fuzz/run_folder.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "fuzz/workdir.h"

namespace mmadiff {

absl::StatusOr<RunFolder> ReadRunFolder(const std::string& path, const OnUnit& each) {
  RunFolder folder;
  folder.path = path;
  const absl::StatusOr<std::string> text = ReadFile(ManifestPath(path));
  if (absl::IsNotFound(text.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not the folder of a run: it has no manifest.txtpb"));
  }
  if (!text.ok()) return text.status();
  absl::StatusOr<RunManifest> manifest = ParseManifest(*text, ManifestPath(path));
  if (!manifest.ok()) return manifest.status();
  folder.manifest = *std::move(manifest);
  absl::StatusOr<StoredUnits> stored = ReadUnits(path, folder.manifest, each);
  if (!stored.ok()) return stored.status();
  folder.stored = *std::move(stored);
  folder.warnings = folder.stored.warnings;
  const absl::StatusOr<std::string> distrusted = ReadFile(DistrustedPath(path));
  if (distrusted.ok()) folder.distrusted = absl::StrSplit(*distrusted, '\n', absl::SkipEmpty());
  if (!distrusted.ok() && !absl::IsNotFound(distrusted.status())) return distrusted.status();

  std::error_code ignored;
  if (!std::filesystem::exists(path + "/findings", ignored)) return folder;
  const absl::StatusOr<std::vector<std::string>> files = ListCases(path + "/findings");
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    absl::StatusOr<RegressionCase> filed = ReadCase(file);
    if (filed.ok()) {
      folder.findings.push_back({file, *std::move(filed)});
    } else {
      folder.warnings.push_back(std::string(filed.status().message()));
    }
  }
  return folder;
}

}  // namespace mmadiff
