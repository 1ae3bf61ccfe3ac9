#include "device/cuda/testing/ptxas.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/cuda/cubin.h"

namespace mmadiff {
namespace {

std::string Contents(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

// Positions in the module of the entries with an error: "ptxas FILE, line 12; error   : ...".
std::set<size_t> EntriesWithErrors(const std::string& ptx, const std::string& messages) {
  std::vector<size_t> entry_of_line = {0};  // lines count from 1
  size_t entries = 0;
  for (const absl::string_view line : absl::StrSplit(ptx, '\n')) {
    entries += absl::StartsWith(line, ".visible .entry");
    entry_of_line.push_back(entries);
  }
  std::set<size_t> with_errors;
  for (const absl::string_view message : absl::StrSplit(messages, '\n')) {
    const size_t at = message.find(", line ");
    size_t line = 0;
    if (!absl::StrContains(message, "; error") || at == message.npos) continue;
    const absl::string_view rest = message.substr(at + 7);
    if (!absl::SimpleAtoi(rest.substr(0, rest.find(';')), &line)) continue;
    if (line < entry_of_line.size() && entry_of_line[line] > 0) {
      with_errors.insert(entry_of_line[line] - 1);
    }
  }
  return with_errors;
}

}  // namespace

std::vector<PtxTarget> TargetsOfPtxas() { return {PtxTargets().begin() + 1, PtxTargets().end()}; }

std::string NameOf(const ModuleEntry& e) { return KernelName(e.instruction, e.variant); }

std::string Ptxas() {
  for (const char* path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

std::optional<std::string> Cubin(const PtxTarget& target, const std::string& text,
                                 std::string* messages) {
  const std::string stem = absl::StrCat(testing::TempDir(), "native_", getpid(), target.arch);
  const std::string ptx = stem + ".ptx", cubin = stem + ".cubin", said = stem + ".txt";
  std::ofstream(ptx) << text;
  const bool made = std::system(absl::StrCat(Ptxas(), " -arch ", target.target, " ", ptx, " -o ",
                                             cubin, " >/dev/null 2>", said)
                                    .c_str()) == 0;
  const std::optional<std::string> code = made ? std::optional(Contents(cubin)) : std::nullopt;
  if (messages != nullptr) *messages = Contents(said);
  for (const std::string& path : {ptx, cubin, said}) std::remove(path.c_str());
  return code;
}

std::vector<std::optional<Opcodes>> Assemble(const PtxTarget& target,
                                             const std::vector<ModuleEntry>& entries) {
  std::vector<std::optional<Opcodes>> all(entries.size());
  std::vector<ModuleEntry> left = entries;
  std::optional<std::string> code;
  while (!code.has_value() && !left.empty()) {
    const std::string text = ModuleOf(target, left);
    std::string messages;
    code = Cubin(target, text, &messages);
    if (code.has_value()) break;
    const std::set<size_t> refused = EntriesWithErrors(text, messages);
    EXPECT_FALSE(refused.empty()) << messages;
    if (refused.empty()) break;
    for (auto at = refused.rbegin(); at != refused.rend(); ++at) left.erase(left.begin() + *at);
  }
  for (size_t x = 0, y = 0; code.has_value() && y < left.size(); ++x) {
    if (NameOf(entries[x]) != NameOf(left[y])) continue;
    const auto opcodes = MatrixOpcodes(*code, NameOf(left[y++]));
    EXPECT_TRUE(opcodes.ok()) << opcodes.status();
    if (opcodes.ok()) all[x] = *opcodes;
  }
  return all;
}

}  // namespace mmadiff
