#include "fuzz/cli/version.h"

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "sim/numerics.h"

namespace mmadiff {

std::string VersionText() {
  return absl::StrCat("mmadiff ", MMADIFF_VERSION, " (model ", kModelVersion, ", generator ",
                      kGeneratorVersion, ")\ncommit ", kCommit, "\nbuilt with ", MMADIFF_BUILD);
}

}  // namespace mmadiff
