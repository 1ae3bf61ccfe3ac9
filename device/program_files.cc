#include "device/program_files.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/plain_text.h"
#include "device/watcher.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

constexpr char kUnreadable[] = "unreadable";

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

// Where the shell would find a command of that name; "" if nowhere.
std::string InPath(absl::string_view name) {
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    const std::string file = absl::StrCat(folder.empty() ? "." : folder, "/", name);
    struct stat ignored;
    if (IsFile(file, &ignored) && access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// NAME=VALUE.
bool IsAssignment(absl::string_view word) {
  const absl::string_view name = word.substr(0, word.find('='));
  return name.size() < word.size() && !name.empty() && !absl::ascii_isdigit(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// Takes a word off a command, with its quotes; patterns, which may be those of `case`, name no
// file.
std::string NextWord(absl::string_view* command) {
  std::string word;
  char quote = 0;
  size_t i = 0;
  for (; i < command->size(); ++i) {
    const char c = (*command)[i];
    if (c == '\\' && quote != '\'') {
      word += c;
      if (++i == command->size()) break;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (absl::StrContains(" \t\n|;&()<>`", c)) {
      break;
    } else if (absl::StrContains("*?[", c)) {
      word += '\\';
    }
    word += (*command)[i];
  }
  command->remove_prefix(i);
  return word;
}

// What the shell makes of a word: variables and quotes. Runs nothing.
std::vector<std::string> Expand(const std::string& word) {
  wordexp_t expanded;
  std::vector<std::string> words;
  const int error = wordexp(word.c_str(), &expanded, WRDE_NOCMD);
  if (error == 0) words.assign(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
  if (error == 0 || error == WRDE_NOSPACE) wordfree(&expanded);
  return words;
}

}  // namespace

ProgramFiles::ProgramFiles(absl::string_view command) { Scan(command, 2); }

bool ProgramFiles::Add(const std::string& word) {
  File file = {word, "", {}};
  if (!IsFile(file.path, &file.stat)) {
    file.path = absl::StrContains(word, '/') ? "" : InPath(word);
    if (!IsFile(file.path, &file.stat)) return false;
  }
  const bool known =
      std::any_of(files_.begin(), files_.end(), [&](const File& f) { return f.path == file.path; });
  if (known) return true;
  file.hash = HashOf(file.path);
  files_.push_back(std::move(file));
  return true;
}

void ProgramFiles::Scan(absl::string_view command, int depth) {
  bool written = false;  // by the command: behind a '>'
  while (!command.empty()) {
    const std::string word = NextWord(&command);
    if (!word.empty() && !written && !IsAssignment(word)) {
      for (const std::string& w : Expand(word)) {
        // A command in quotes; or --option=file.
        if (!Add(w) && !(w[0] == '-' && Add(w.substr(w.find('=') + 1))) && depth > 0 &&
            absl::StrContains(w, ' ')) {
          Scan(w, depth - 1);
        }
      }
    }
    if (command.empty()) return;
    const char separator = command[0];
    written = separator == '>' || (written && word.empty() && separator != ';');
    command.remove_prefix(1);
  }
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
                       " changed during the run; its answers from before and after are not "
                       "one device's: run again (a command that writes the file should do "
                       "so without naming it)"));
    }
    f.stat = now;
  }
  return absl::OkStatus();
}

}  // namespace mmadiff
