#include "fuzz/ask/known_cases.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "corpus/case_folder.h"
#include "corpus/regression_case.h"
#include "corpus/vector_file.h"
#include "device/status_macros.h"

namespace mmadiff {

absl::StatusOr<std::vector<KnownCase>> KnownCases(const std::vector<const Operation*>& ops,
                                                  const std::string& regressions) {
  const std::set<const Operation*> wanted(ops.begin(), ops.end());
  std::vector<KnownCase> cases;
  std::set<std::pair<const Operation*, DotProductCase>> seen;  // two sources may share a case
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) {
      for (const VectorCase& c : CasesOf(v)) {
        if (!wanted.contains(c.op) || !seen.emplace(c.op, c.dot).second) continue;
        cases.push_back({c.op, MakeDotProductBatch(c.op->shape(), {c.dot}), v.name});
      }
    }
  }
  std::set<std::string_view> archs;
  for (const Operation* op : ops) archs.insert(op->arch());
  for (const std::string_view arch : archs) {
    const std::filesystem::path folder = std::filesystem::path(regressions) / arch;
    std::error_code ignored;
    if (regressions.empty() || !std::filesystem::exists(folder, ignored)) continue;
    ASSIGN_OR_RETURN(CasesBelow below, ReadCases(folder.string()));
    if (!below.damaged.empty()) return absl::DataLossError(below.damaged.front());
    for (auto& [path, c] : below.cases) {
      if (!wanted.contains(c.op)) continue;
      const std::string name = std::filesystem::path(path).filename().string();
      cases.push_back({c.op, std::move(c.inputs), name});
    }
  }
  return cases;
}

}  // namespace mmadiff
