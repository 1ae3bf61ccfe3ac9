#include "device/exec_options.h"

#include <regex.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

constexpr int64_t kMaxAtOnce = 1 << 20;

bool ReadTimeout(absl::string_view value, ExecOptions& options) {
  double seconds;
  if (absl::SimpleAtod(value, &seconds)) {
    options.timeout = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(value, &options.timeout)) {
    return false;
  }
  return options.timeout > absl::ZeroDuration();
}

bool ReadBatch(absl::string_view value, ExecOptions& options) {
  return absl::SimpleAtoi(value, &options.batch) && options.batch >= 1 &&
         options.batch <= kMaxAtOnce;
}

// Indexed by the enum values.
constexpr const char* kRestarts[] = {"each", "never"};
constexpr const char* kProtocols[] = {"lines", "binary"};

template <class T>
bool ReadName(std::span<const char* const> names, absl::string_view value, T& read) {
  const auto named = std::ranges::find(names, value);
  if (named != names.end()) read = static_cast<T>(named - names.begin());
  return named != names.end();
}

bool ReadRestart(absl::string_view value, ExecOptions& options) {
  return ReadName(kRestarts, value, options.restart);
}

bool ReadProtocol(absl::string_view value, ExecOptions& options) {
  return ReadName(kProtocols, value, options.protocol);
}

bool ReadSkip(absl::string_view value, ExecOptions& options) {
  options.skip = std::string(value);
  regex_t compiled;
  if (value.empty() || regcomp(&compiled, options.skip.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    return false;
  }
  regfree(&compiled);
  return true;
}

struct Option {
  const char* name;
  bool (*read)(absl::string_view value, ExecOptions& options);
  const char* may_be;
};
constexpr Option kOptions[] = {
    {"timeout", ReadTimeout, "a duration above 0, such as 90s or 5m"},
    {"batch", ReadBatch, "a number of dot products from 1 to 1048576"},
    {"restart", ReadRestart, "each or never"},
    {"protocol", ReadProtocol, "lines or binary"},
    {"skip", ReadSkip, "an extended regular expression without a comma (`.` matches one)"},
};

// An error if `name`, which is not an option, looks like a misspelled one; OK if it belongs to the
// command.
absl::Status CheckNoTypo(absl::string_view name) {
  const std::string plain(absl::StripAsciiWhitespace(name));
  std::vector<std::string> names;
  for (const Option& option : kOptions) names.push_back(option.name);
  const std::vector<std::string> near = Nearest(plain, names, 1);
  if (near.empty() || (near[0] != plain && absl::StartsWith(near[0], plain)))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      near[0] == plain
          ? absl::StrCat("write ,", plain, "=... without a space after the comma")
          : absl::StrCat("no option '", absl::CHexEscape(plain), "'; did you mean ", near[0], "?"));
}

}  // namespace

absl::StatusOr<ExecOptions> ParseExecOptions(absl::string_view text, absl::Duration timeout,
                                             Restart restart) {
  ExecOptions options;
  options.timeout = timeout;
  options.restart = restart;
  bool set[std::size(kOptions)] = {};
  for (size_t comma; (comma = text.rfind(',')) != text.npos; text = text.substr(0, comma)) {
    const absl::string_view last = text.substr(comma + 1);
    const size_t equals = last.find('=');
    const absl::string_view name = last.substr(0, equals);
    const auto option = std::ranges::find(kOptions, name, &Option::name);
    if (equals == last.npos) break;
    if (option == std::end(kOptions)) {
      const bool ends = !std::ranges::any_of(last.substr(equals), absl::ascii_isspace);
      RETURN_IF_ERROR(ends ? CheckNoTypo(name) : absl::OkStatus());
      break;
    }
    const absl::string_view value = last.substr(equals + 1);
    // `X=1 ./model,batch=3 -a` ends with an argument of the command.
    const bool spaced = std::ranges::any_of(value, absl::ascii_isspace);
    if (spaced && option->read != ReadSkip) break;
    if (!option->read(value, options)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, "=", value, ": ", name, " must be ", option->may_be));
    }
    if (std::exchange(set[option - kOptions], true)) {
      return absl::InvalidArgumentError(absl::StrCat("option ", name, " is given twice"));
    }
  }
  if (options.protocol == Protocol::kBinary && !options.skip.empty()) {
    return absl::InvalidArgumentError(
        "skip works only with the line protocol, not with the binary one");
  }
  options.command = std::string(text);
  return options;
}

}  // namespace mmadiff
