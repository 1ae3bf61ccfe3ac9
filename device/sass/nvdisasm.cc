#include "device/sass/nvdisasm.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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

// The first line with "error", or else the first line.
absl::string_view FirstError(absl::string_view messages) {
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    if (absl::StrContains(line, "error")) return line;
  }
  return messages.substr(0, messages.find('\n'));
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

// "13.0.88", "12.4"
bool LooksLikeVersion(absl::string_view text) {
  return !text.empty() && absl::ascii_isdigit(text[0]) && absl::StrContains(text, '.') &&
         absl::c_all_of(text, [](char c) { return absl::ascii_isdigit(c) || c == '.'; });
}

// Where .ci/ptxas puts assemblers.
std::string CacheFolder() {
  const std::string folder = Environment("MMADIFF_PTXAS_CACHE");
  return folder.empty() ? absl::StrCat(Environment("HOME"), "/.cache/mmadiff") : folder;
}

absl::StatusOr<std::string> AssemblerOfVersion(const std::string& version) {
  const std::string path = absl::StrCat(CacheFolder(), "/ptxas-", version, "/ptxas");
  if (access(path.c_str(), X_OK) == 0) return path;
  const bool whole = absl::c_count(version, '.') == 2;
  return absl::NotFoundError(absl::StrCat(
      "no ptxas ", version,
      whole ? absl::StrCat(": `.ci/ptxas ", version, "` downloads it")
            : ": write all three numbers, as in 12.4.131; `.ci/ptxas VERSION` downloads one"));
}

absl::StatusOr<std::string> ProgramAt(const std::string& path) {
  if (access(path.c_str(), X_OK) == 0) return path;
  return absl::NotFoundError(absl::StrCat(path, ": no such program"));
}

// The assembler's first error, without the temporary file and its line.
std::string WhyRejected(absl::string_view messages) {
  const absl::string_view line = FirstError(messages);
  const size_t colon = line.find(':');  // "ptxas FILE, line 24; error   : WHY"
  return PlainLine(absl::StripAsciiWhitespace(colon == line.npos ? line : line.substr(colon + 1)));
}

}  // namespace

absl::StatusOr<std::string> FindAssembler(const std::string& wanted) {
  if (LooksLikeVersion(wanted)) return AssemblerOfVersion(wanted);
  if (wanted == "newest" && access(wanted.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        "no ptxas newest: `.ci/ptxas newest` downloads it and prints its path");
  }
  if (!wanted.empty()) return ProgramAt(wanted);
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
      "download --no-deps nvidia-cuda-nvdisasm && unzip nvidia_cuda_nvdisasm-*.whl`, make "
      "nvidia/*/bin/nvdisasm executable, and set MMADIFF_NVDISASM to its path");
}

absl::StatusOr<std::string> FindCompiler(const std::string& wanted) {
  if (!wanted.empty()) return ProgramAt(wanted);
  const std::string tool = FindTool("nvcc", "");
  if (!tool.empty()) return tool;
  return absl::NotFoundError(
      "nvcc was not found in PATH or the CUDA Toolkit; pass the PTX that it writes elsewhere "
      "(`nvcc -ptx -arch=sm_90a FILE.cu`)");
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
  if (!RunTool(absl::StrCat(Quoted(nvdisasm), " -c -hex ", Quoted(cubin)), text)) {
    return absl::InternalError(absl::StrCat(nvdisasm, " failed to disassemble ", cubin, ": ",
                                            PlainLine(text.substr(0, text.find('\n')))));
  }
  // The encodings are aligned far to the right.
  const auto spaces = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), spaces), text.end());
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
    return absl::UnimplementedError(WhyRejected(messages));
  }
  return DisassembledText(nvdisasm, cubin);
}

absl::StatusOr<std::string> CompiledPtx(const std::string& nvcc, const std::string& arch,
                                        const std::vector<std::string>& options,
                                        const std::string& file) {
  const TemporaryFolder folder;
  const std::string ptx = folder.path + "/file.ptx";
  if (folder.path.empty()) return absl::InternalError("cannot write a temporary file for nvcc");
  std::string command = absl::StrCat(Quoted(nvcc), " -ptx ", Quoted("-arch=" + arch), " -o ",
                                     Quoted(ptx), " -lineinfo");
  for (const std::string& option : options) absl::StrAppend(&command, " ", Quoted(option));
  std::string messages;
  if (!RunTool(absl::StrCat(command, " ", Quoted(file)), messages)) {
    return absl::DataLossError(absl::StrCat(nvcc, ": ", PlainLine(FirstError(messages))));
  }
  std::ostringstream text;
  text << std::ifstream(ptx).rdbuf();
  return text.str();
}

absl::StatusOr<Programs> Disassemble(const std::string& nvdisasm, const std::string& cubin) {
  ASSIGN_OR_RETURN(const std::string text, DisassembledText(nvdisasm, cubin));
  return ParsePrograms(text);
}

}  // namespace mmadiff::sass
