#include "device/sass/nvdisasm.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string FindTool(const std::string& name, const std::string& first_folder) {
  const std::string folders = absl::StrCat(first_folder, ":", Environment("PATH"), ":",
                                           Environment("CUDA_HOME"), "/bin:/usr/local/cuda/bin");
  for (const absl::string_view folder : absl::StrSplit(folders, ':', absl::SkipEmpty())) {
    const std::string tool = absl::StrCat(folder, "/", name);
    if (access(tool.c_str(), X_OK) == 0) return tool;
  }
  return "";
}

// A word of a shell command.
std::string Quoted(const std::string& word) {
  return absl::StrCat("'", absl::StrJoin(absl::StrSplit(word, '\''), "'\\''"), "'");
}

// Appends stdout and stderr of the command to `output`. False: it failed.
bool RunTool(const std::string& command, std::string& output) {
  FILE* const pipe = popen(absl::StrCat(command, " 2>&1").c_str(), "r");
  char buffer[1 << 16];
  for (size_t bytes;
       pipe != nullptr && (bytes = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, bytes);
  }
  return pipe != nullptr && pclose(pipe) == 0;
}

// A folder that is removed with the object.
struct TemporaryFolder {
  TemporaryFolder() {
    std::error_code error;
    std::string name = std::filesystem::temp_directory_path(error) / "mmadiff-sass-XXXXXX";
    path = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

}  // namespace

absl::StatusOr<std::string> FindAssembler(const std::string& wanted) {
  if (!wanted.empty()) {
    if (access(wanted.c_str(), X_OK) == 0) return wanted;
    return absl::NotFoundError(absl::StrCat(wanted, ": no such program"));
  }
  const std::string tool = FindTool("ptxas", "");
  if (!tool.empty()) return tool;
  return absl::NotFoundError(
      "ptxas was not found in PATH or the CUDA Toolkit; install one with `pip download --no-deps "
      "nvidia-cuda-nvcc`, unpack it, and write ptxas=PATH");
}

absl::StatusOr<std::string> FindDisassembler(const std::string& ptxas) {
  if (const std::string tool = Environment("MMADIFF_NVDISASM"); !tool.empty()) {
    if (access(tool.c_str(), X_OK) == 0) return tool;
    return absl::NotFoundError(absl::StrCat("MMADIFF_NVDISASM=", tool, ": no such program"));
  }
  const std::string folder =
      ptxas.empty() ? "" : std::filesystem::path(ptxas).parent_path().string();
  const std::string tool = FindTool("nvdisasm", folder);
  if (!tool.empty()) return tool;
  return absl::NotFoundError(
      "nvdisasm was not found beside ptxas, in PATH or in the CUDA Toolkit; get it with `pip "
      "download --no-deps nvidia-cuda-nvdisasm && unzip nvidia_cuda_nvdisasm-*.whl`, make it "
      "executable, and set MMADIFF_NVDISASM to its path");
}

absl::StatusOr<std::string> VersionOf(const std::string& ptxas) {
  std::string output;  // "..., release 13.0, V13.0.88"
  const bool ran = RunTool(absl::StrCat(Quoted(ptxas), " --version"), output);
  for (absl::string_view word : absl::StrSplit(output, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (ran && absl::ConsumePrefix(&word, "V") && !word.empty() && absl::ascii_isdigit(word[0])) {
      return std::string(word);
    }
  }
  return absl::InternalError(absl::StrCat(ptxas, " does not print the version of a ptxas"));
}

absl::StatusOr<std::string> DisassembledText(const std::string& nvdisasm,
                                             const std::string& cubin) {
  std::string text;
  if (!RunTool(absl::StrCat(Quoted(nvdisasm), " -c ", Quoted(cubin)), text)) {
    return absl::InternalError(absl::StrCat(nvdisasm, " failed to disassemble ", cubin, ": ",
                                            PlainLine(text.substr(0, text.find('\n')))));
  }
  return text;
}

absl::StatusOr<std::string> AssembledText(const std::string& ptxas, const std::string& options,
                                          const std::string& nvdisasm, const std::string& ptx) {
  const TemporaryFolder folder;
  const std::string source = folder.path + "/kernel.ptx", cubin = folder.path + "/kernel.cubin";
  if (folder.path.empty() || !(std::ofstream(source) << ptx).flush()) {
    return absl::InternalError("cannot write a temporary file for ptxas");
  }
  std::string messages;
  if (!RunTool(
          absl::StrCat(Quoted(ptxas), " ", options, " -o ", Quoted(cubin), " ", Quoted(source)),
          messages)) {
    const absl::string_view first = absl::string_view(messages).substr(0, messages.find('\n'));
    return absl::UnimplementedError(absl::StrCat(ptxas, ": ", PlainLine(first)));
  }
  return DisassembledText(nvdisasm, cubin);
}

absl::StatusOr<Programs> Disassemble(const std::string& nvdisasm, const std::string& cubin) {
  ASSIGN_OR_RETURN(const std::string text, DisassembledText(nvdisasm, cubin));
  return ParsePrograms(text);
}

}  // namespace mmadiff::sass
