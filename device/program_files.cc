#include "device/program_files.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/plain_text.h"
#include "device/watcher.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

constexpr char kUnreadable[] = "unreadable";
constexpr int kQuotes = 2, kScripts = 2;  // levels
constexpr size_t kMaxMatches = 100;       // per pattern
constexpr size_t kMaxFolders = 100;
constexpr off_t kMaxScript = 1 << 20;  // bytes
constexpr size_t kMaxWord = 1 << 20;   // bytes, including the values of variables
constexpr size_t kMaxName = 4096;      // bytes, PATH_MAX
// Files that simulators write but do not read: logs and waveforms.
constexpr const char* kWritten[] = {".log", ".vcd", ".fst", ".wlf", ".fsdb", ".vpd"};
constexpr char kSeparators[] = " \t\n|;&()<>`";

// XXH3-64 of the contents, 16 hex digits; kUnreadable for a file that may be run but not read.
std::string HashOf(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  std::vector<char> buffer(1 << 20);
  XXH3_64bits_reset(state.get());
  ssize_t got;
  while ((got = read(file.get(), buffer.data(), buffer.size())) > 0) {
    XXH3_64bits_update(state.get(), buffer.data(), got);
  }
  return got < 0 ? kUnreadable : absl::StrFormat("%016x", XXH3_64bits_digest(state.get()));
}

bool SameFile(const struct stat& x, const struct stat& y) {
  const auto same = [](const timespec& s, const timespec& t) {
    return s.tv_sec == t.tv_sec && s.tv_nsec == t.tv_nsec;
  };
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino && x.st_size == y.st_size &&
         same(x.st_mtim, y.st_mtim) && same(x.st_ctim, y.st_ctim);
}

bool IsFile(const std::string& path, struct stat* s) {
  return stat(path.c_str(), s) == 0 && S_ISREG(s->st_mode);
}

// The path at which the shell would find a command of that name; "" if none.
std::string InPath(absl::string_view name) {
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    const std::string file = absl::StrCat(folder.empty() ? "." : folder, "/", name);
    struct stat ignored;
    if (IsFile(file, &ignored) && access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// The letters, digits and underscores that the text begins with.
absl::string_view LeadingName(absl::string_view text) {
  const auto end =
      std::ranges::find_if_not(text, [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
  return text.substr(0, end - text.begin());
}

// Whether the word has wildcards together with letters or digits: excludes `*` and `/*` of `case`.
bool IsPattern(absl::string_view word) {
  bool wildcard = false, letter = false, bracket = false;
  for (const char c : word) {
    if (bracket) {
      bracket = c != ']';
    } else if (absl::StrContains("*?[", c)) {
      wildcard = true;
      bracket = c == '[';
    } else {
      letter |= absl::ascii_isalnum(c);
    }
  }
  return wildcard && letter;
}

std::vector<std::string> Matches(const std::string& folder, const std::string& pattern) {
  const std::string prefix =
      absl::StrReplaceAll(folder, {{"\\", "\\\\"}, {"*", "\\*"}, {"?", "\\?"}, {"[", "\\["}});
  glob_t found;
  std::vector<std::string> paths;
  if (glob((prefix + pattern).c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + std::min(found.gl_pathc, kMaxMatches));
  }
  globfree(&found);
  return paths;
}

// The text after "#!"; "" for a file that is not a script, a long one, or one compiled by Icarus.
std::string ScriptText(const std::string& path, const struct stat& s) {
  if (s.st_size >= kMaxScript) return "";
  std::ifstream in(path, std::ios::binary);
  if (in.get() != '#' || in.get() != '!') return "";
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string interpreter = text.substr(0, text.find_first_of(" \n", 1));
  return absl::EndsWith(interpreter, "/vvp") ? "" : text;
}

}  // namespace

ProgramFiles::ProgramFiles(absl::string_view command) { Scan(command, {kQuotes, kScripts}); }

bool ProgramFiles::Add(const std::string& path, Depth depth) {
  File file = {std::filesystem::path(path).lexically_normal().string(), "", {}};
  if (!IsFile(file.path, &file.stat)) return false;
  const bool known =
      std::ranges::any_of(files_, [&](const File& f) { return f.path == file.path; });
  if (known) return true;
  file.hash = HashOf(file.path);
  files_.push_back(file);
  if (depth.scripts == 0) return true;
  const std::string script = ScriptText(file.path, file.stat);
  if (script.empty()) return true;
  const std::vector<std::string> folders = folders_;
  folders_.push_back(file.path.substr(0, file.path.rfind('/') + 1));
  Scan(script, {kQuotes, depth.scripts - 1});
  folders_ = folders;
  return true;
}

// Also finds files below a folder if the word begins with '/': `$(dirname $0)/rtl`.
bool ProgramFiles::Find(const std::string& word, Depth depth) {
  if (word.empty() || word.size() > kMaxName) return false;
  bool found = false;
  std::vector<std::string> folders = {""}, named;
  folders.insert(folders.end(), folders_.begin(), folders_.end());
  for (const std::string& folder : folders) {
    found |= Add(folder + word, depth);
    std::error_code ignored;
    if (std::filesystem::is_directory(folder + word, ignored)) named.push_back(folder + word + '/');
    if (!IsPattern(word)) continue;
    for (const std::string& path : Matches(folder, word)) found |= Add(path, depth);
  }
  for (const std::string& folder : named) {
    const bool known = std::ranges::find(folders, folder) != folders.end();
    if (!known && folders_.size() < kMaxFolders) folders_.push_back(folder);
  }
  const std::string program = absl::StrContains(word, '/') ? "" : InPath(word);
  return (!program.empty() && Add(program, depth)) || found;
}

void ProgramFiles::Look(const std::string& word, Depth depth) {
  const auto ends_in = [&](const char* end) { return absl::EndsWith(word, end); };
  if (written_.count(word) > 0 || std::ranges::any_of(kWritten, ends_in)) return;
  bool found = Find(word, depth);
  // An element of a list: `['vvp', 'unit.vvp']`.
  const size_t begin = word.find_first_not_of("[,"), end = word.find_last_not_of("],") + 1;
  if (begin < end && end - begin < word.size())
    found |= Find(word.substr(begin, end - begin), depth);
  for (size_t i = word.size() > kMaxName ? word.npos : word.find('='); i != word.npos;
       i = word.find('=', i + 1)) {
    found |= Find(word.substr(i + 1), depth);
  }
  // A command in quotes.
  if (!found && depth.quotes > 0 &&
      word.find_first_of(absl::StrCat(kSeparators, "$'\"\\")) != word.npos) {
    Scan(word, {depth.quotes - 1, depth.scripts});
  }
}

void ProgramFiles::Scan(absl::string_view text, Depth depth) {
  bool written = false;  // after a '>'
  while (!text.empty()) {
    if (text[0] == '#') text.remove_prefix(std::min(text.find('\n'), text.size()));
    const std::string word = NextWord(&text);
    if (!word.empty() && written) {
      written_.insert(word);
    } else if (!word.empty()) {
      const std::string name(LeadingName(word));
      if (name.size() < word.size() && word[name.size()] == '=') {
        variables_[name] = word.substr(name.size() + 1);
      }
      Look(word, depth);
    }
    if (text.empty()) return;
    const char separator = text[0];
    written = separator == '>' || (written && word.empty() && separator != ';');
    text.remove_prefix(1);
  }
}

// Removes the next word from the text; quotes are dropped and variables replaced by their values.
std::string ProgramFiles::NextWord(absl::string_view* text) const {
  std::string word;
  char quote = 0;
  while (!text->empty()) {
    const char c = (*text)[0];
    if (quote == 0 && absl::StrContains(kSeparators, c)) break;
    text->remove_prefix(1);
    if (c == '\\' && quote != '\'') {
      if (!text->empty() && (*text)[0] != '\n') word += (*text)[0];
      text->remove_prefix(std::min<size_t>(1, text->size()));
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '$' && quote != '\'') {
      const std::string value = TakeVariable(text);
      if (word.size() + value.size() <= kMaxWord) word += value;
    } else if (c == '~' && quote == 0 && (word.empty() || word.back() == '=')) {
      const char* home = std::getenv("HOME");
      word += home == nullptr ? "~" : home;
    } else {
      word += c;
    }
  }
  return word;
}

// The value of the variable whose name is next, also in braces, or its default; "$" if no name
// follows.
std::string ProgramFiles::TakeVariable(absl::string_view* text) const {
  const bool braces = absl::ConsumePrefix(text, "{");
  const std::string name(LeadingName(*text));
  if (name.empty() && !braces) return "$";
  text->remove_prefix(name.size());
  absl::string_view rest;
  if (braces) {
    rest = text->substr(0, text->find('}'));
    text->remove_prefix(std::min(rest.size() + 1, text->size()));
  }
  const auto set = variables_.find(name);
  const char* outside = std::getenv(name.c_str());
  std::string value = set != variables_.end() ? set->second : outside == nullptr ? "" : outside;
  absl::ConsumePrefix(&rest, ":");
  const bool has_default = absl::ConsumePrefix(&rest, "-") || absl::ConsumePrefix(&rest, "=");
  return value.empty() && has_default ? std::string(rest) : value;
}

std::string ProgramFiles::Describe() const {
  return absl::StrJoin(files_, ", ", [](std::string* out, const File& f) {
    absl::StrAppend(out, PlainLine(f.path.substr(f.path.rfind('/') + 1)), " xxh3 ", f.hash);
  });
}

absl::Status ProgramFiles::CheckUnchanged() {
  for (File& f : files_) {
    struct stat now;
    const bool there = IsFile(f.path, &now);
    if (there && SameFile(now, f.stat)) continue;
    if (!there || f.hash == kUnreadable || HashOf(f.path) != f.hash) {
      return absl::DataLossError(
          absl::StrCat(PlainLine(f.path),
                       " changed during the run, so answers from before and after are not from "
                       "one device: run again (if the command itself writes the file, it "
                       "should not name it)"));
    }
    f.stat = now;
  }
  return absl::OkStatus();
}

}  // namespace mmadiff
