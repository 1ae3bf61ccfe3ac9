#include "device/blas/options.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff::blas {
namespace {

constexpr int kMaxThreads = 1024;

bool SetChoice(bool yes, bool no, bool& value) {
  value = yes;
  return yes || no;
}
bool SetRoutine(absl::string_view value, Options& options) {
  return SetChoice(value == "dgemm", value == "sgemm", options.is_double);
}
bool SetThreads(absl::string_view value, Options& options) {
  return absl::SimpleAtoi(value, &options.threads) && options.threads > 0 &&
         options.threads <= kMaxThreads;
}
bool SetCoreType(absl::string_view value, Options& options) {
  options.core_type = std::string(value);
  return !value.empty() &&
         std::ranges::all_of(value, [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}
bool SetOrder(absl::string_view value, Options& options) {
  return SetChoice(value == "column", value == "row", options.by_columns);
}
bool SetTranspose(absl::string_view value, Options& options) {
  options.transpose_a = value == "a" || value == "ab";
  options.transpose_b = value == "b" || value == "ab";
  return value == "none" || options.transpose_a || options.transpose_b;
}

bool SetNumber(absl::string_view value, double& number) {
  return absl::SimpleAtod(value, &number) && std::isfinite(number);
}
bool SetAlpha(absl::string_view value, Options& options) {
  return SetNumber(value, options.factors.alpha);
}
bool SetBeta(absl::string_view value, Options& options) {
  return SetNumber(value, options.factors.beta);
}

struct Key {
  const char* name;
  const char* values;
  bool (*set)(absl::string_view value, Options& options);  // false: not one of the values
};
constexpr Key kKeys[] = {{"routine", "sgemm or dgemm", SetRoutine},
                         {"threads", "1 to 1024", SetThreads},
                         {"coretype", "a name such as Haswell", SetCoreType},
                         {"order", "row or column", SetOrder},
                         {"transpose", "none, a, b or ab", SetTranspose},
                         {"alpha", "a number", SetAlpha},
                         {"beta", "a number", SetBeta}};

absl::Status Set(absl::string_view option, Options& options) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(option, absl::MaxSplits('=', 1));
  const auto key = std::ranges::find(kKeys, parts.first, &Key::name);
  if (key == std::end(kKeys)) {
    return absl::InvalidArgumentError(
        absl::StrCat("device 'blas:': no option '", PlainLine(option),
                     "'; options: routine, threads, coretype, order, transpose, alpha, beta"));
  }
  if (key->set(parts.second, options)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("device 'blas:': ", key->name, " is '",
                                                 PlainLine(parts.second), "'; use ", key->values));
}

}  // namespace

absl::StatusOr<Options> ParseOptions(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  Options options;
  options.library = std::string(parts[0]);
  if (options.library.empty()) {
    return absl::InvalidArgumentError(
        "device 'blas:': write blas:LIBRARY, for example blas:openblas or blas:/PATH/libblis.so.4");
  }
  for (size_t i = 1; i < parts.size(); ++i) RETURN_IF_ERROR(Set(parts[i], options));
  return options;
}

}  // namespace mmadiff::blas
