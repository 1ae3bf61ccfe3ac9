#include "device/blas/trial.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/plain_text.h"
#include "device/watcher.h"

namespace mmadiff::blas {
namespace {

constexpr int kReturned = 42;        // exit code of a process in which `use` returned
constexpr unsigned kSeconds = 60;    // longest trial
constexpr size_t kMaxOutput = 4096;  // bytes that are kept
constexpr size_t kMaxMessage = 300;

// Ends the child without the exit handlers of this process.
void EndNow(int code, void*) {
  std::fflush(nullptr);
  _exit(code);
}

[[noreturn]] void RunChild(absl::FunctionRef<void()> use, int output) {
  on_exit(EndNow, nullptr);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  signal(SIGALRM, SIG_DFL);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm_only, nullptr);
  alarm(kSeconds);
  use();
  _exit(kReturned);
}

std::string ReadToEnd(int fd) {
  std::string text;
  char bytes[512];
  ssize_t got;
  while ((got = read(fd, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0 && text.size() < kMaxOutput) text.append(bytes, got);
  }
  return text;
}

std::string HowItEnded(int status) {
  if (WIFEXITED(status)) return absl::StrCat("exits with code ", WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) return absl::StrCat("is not done after ", kSeconds, " s");
  return absl::StrCat("ends by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
}

// The lines of the text in one line, cut.
std::string OneLine(absl::string_view text) {
  std::vector<absl::string_view> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StripAsciiWhitespace(line).empty())
      lines.push_back(absl::StripAsciiWhitespace(line));
  }
  return PlainLine(absl::StrJoin(lines, "; ").substr(0, kMaxMessage));
}

}  // namespace

absl::Status TryInChild(absl::FunctionRef<void()> use) {
  Pipe output;
  std::fflush(nullptr);  // or the child may write it again
  const pid_t child = OpenPipe(&output) ? fork() : -1;
  if (child < 0) {
    return absl::UnavailableError(absl::StrCat("no process can be created: ", strerror(errno)));
  }
  if (child == 0) RunChild(use, output.write.get());
  output.write.Close();
  const std::string printed = ReadToEnd(output.read.get());
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kReturned) return absl::OkStatus();
  const std::string text = OneLine(printed);
  return absl::FailedPreconditionError(
      absl::StrCat("a process that uses it ", HowItEnded(status), text.empty() ? "" : ": ", text));
}

}  // namespace mmadiff::blas
