#include "fuzz/ask/drop.h"

#include "absl/strings/str_cat.h"

namespace mmadiff {

std::string Text(const Drop& drop) {
  return absl::StrCat("dropped ", drop.op->name, ": ", drop.status.message());
}

}  // namespace mmadiff
