#include "fuzz/cli/pager.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

constexpr char kLess[] = "command -v less >/dev/null || exit 127; exec less -FRX";

// Whether a pager showed the text.
bool Page(absl::string_view text) {
  const char* set = std::getenv("PAGER");
  const std::string command = set == nullptr ? kLess : set;
  if (command.empty() || !isatty(STDOUT_FILENO)) return false;
  std::fflush(stdout);
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // the reader may quit early
  FILE* pager = popen(command.c_str(), "w");
  int status = -1;
  if (pager != nullptr) {
    std::fwrite(text.data(), 1, text.size(), pager);
    status = pclose(pager);
  }
  std::signal(SIGPIPE, before);
  // 126 and 127: the shell could not start it.
  return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) >= 126);
}

size_t TerminalWidth() {
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

void PrintPaged(absl::string_view text) {
  if (!Page(text)) std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string InColumns(const std::vector<std::string>& names) {
  constexpr size_t kGap = 2;
  size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  const size_t columns = std::max<size_t>(1, (TerminalWidth() + kGap) / (longest + kGap));
  const size_t rows = (names.size() + columns - 1) / columns;
  std::string text;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = row; i < names.size(); i += rows) {
      const bool last = i + rows >= names.size();
      absl::StrAppend(&text, names[i],
                      last ? "\n" : std::string(longest + kGap - names[i].size(), ' '));
    }
  }
  return text;
}

}  // namespace mmadiff
