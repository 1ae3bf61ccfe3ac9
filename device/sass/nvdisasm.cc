#include "device/sass/nvdisasm.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace mmadiff::sass {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

absl::StatusOr<std::string> FindDisassembler() {
  if (const std::string tool = Environment("NVDISASM"); !tool.empty()) return tool;
  const std::string folders =
      absl::StrCat(Environment("PATH"), ":", Environment("CUDA_HOME"), "/bin:/usr/local/cuda/bin");
  for (const absl::string_view folder : absl::StrSplit(folders, ':', absl::SkipEmpty())) {
    const std::string tool = absl::StrCat(folder, "/nvdisasm");
    if (access(tool.c_str(), X_OK) == 0) return tool;
  }
  return absl::NotFoundError("nvdisasm of the CUDA Toolkit not found");
}

absl::StatusOr<Programs> Disassemble(const std::string& nvdisasm, const std::string& cubin) {
  FILE* const pipe = popen(absl::StrCat("'", nvdisasm, "' -c '", cubin, "'").c_str(), "r");
  std::string text;
  char buffer[1 << 16];
  for (size_t bytes;
       pipe != nullptr && (bytes = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    text.append(buffer, bytes);
  }
  if (pipe == nullptr || pclose(pipe) != 0) {
    return absl::InternalError(absl::StrCat(nvdisasm, " failed to disassemble ", cubin));
  }
  return ParsePrograms(text);
}

}  // namespace mmadiff::sass
