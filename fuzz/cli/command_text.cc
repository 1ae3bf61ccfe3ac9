#include "fuzz/cli/command_text.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fuzz/output/next_command.h"

namespace mmadiff {
namespace {

void AppendFlags(const CLI::App& app, const std::set<std::string>& without, std::string& text) {
  static const std::set<std::string> shown = {"--json", "--quiet", "--color", "--stats",
                                              "--model"};  // of Program()
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = "--" + option->get_single_name();
    if (option->count() == 0 || shown.contains(name) || without.contains(name)) continue;
    absl::StrAppend(&text, " ", name);
    if (option->get_items_expected_max() == 0) continue;  // a flag
    absl::StrAppend(&text, "=", ShellWord(absl::StrJoin(option->results(), ",")));
  }
}

}  // namespace

std::string CommandText(const CLI::App& command, const std::set<std::string>& without) {
  std::string text = absl::StrCat(Program(), " ", command.get_name());
  AppendFlags(command, without, text);
  AppendFlags(*command.get_parent(), without, text);
  return text;
}

std::string ShortCount(uint64_t count) {
  int zeros = 0;
  for (; count >= 10 && count % 10 == 0; count /= 10) ++zeros;
  return zeros < 4 ? absl::StrCat(count, std::string(zeros, '0')) : absl::StrCat(count, "e", zeros);
}

}  // namespace mmadiff
