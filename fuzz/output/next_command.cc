#include "fuzz/output/next_command.h"

#include <filesystem>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace mmadiff {
namespace {

std::string& ProgramWord() {
  static std::string word = "./mmadiff";
  return word;
}

std::string& Flags() {
  static std::string flags;
  return flags;
}

// Whether the path is the only one in its folder whose name contains the text.
bool IsOnly(const std::filesystem::path& path, absl::string_view text) {
  int with = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), error)) {
    with += absl::StrContains(entry.path().filename().string(), text);
  }
  return with == 1;
}

// The words of a command as written; spaces in quotes do not separate words.
std::vector<std::string> ShellWords(absl::string_view command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    quoted ^= c == '\'';
    if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

void SetProgram(absl::string_view word_0) { ProgramWord() = ShellWord(word_0); }

void AddProgramFlag(absl::string_view flag) { absl::StrAppend(&Flags(), " ", flag); }

std::string ProgramFlags() { return Flags(); }

std::string Program() { return ProgramWord() + Flags(); }

std::string ShellWord(absl::string_view word) {
  constexpr absl::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::string CaseCommand(absl::string_view verb, const std::string& path, size_t width) {
  const std::string command = absl::StrCat(Program(), " ", verb, " ");
  const std::string whole = command + ShellWord(path);
  const std::filesystem::path p(path);
  const std::string stem = p.stem().string();
  const std::string id = stem.substr(stem.rfind('-') + 1);
  if (whole.size() <= width || !IsOnly(p, id)) return whole;
  return absl::StrCat(command, ShellWord((p.parent_path() / "").string()), "*", id, "*");
}

std::string CommandLine(absl::string_view label, absl::string_view command, size_t width) {
  if (label.size() + command.size() <= width) return absl::StrCat(label, command, "\n");
  std::string text = absl::StrCat(absl::StripTrailingAsciiWhitespace(label), "\n  ");
  const std::vector<std::string> words = ShellWords(command);
  size_t column = 2;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t end = column + 1 + words[i].size() + (i + 1 < words.size() ? 2 : 0);
    const bool breaks = i > 1 && end > width;  // the program and its verb stay together
    absl::StrAppend(&text, i == 0 ? "" : breaks ? " \\\n    " : " ", words[i]);
    column = breaks ? 4 + words[i].size() : end - (i + 1 < words.size() ? 2 : 0);
  }
  return text + "\n";
}

}  // namespace mmadiff
