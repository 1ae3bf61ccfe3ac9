#include "corpus/arrays/npy_header.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr char kNpyDescr[] = "descr", kNpyFortranOrder[] = "fortran_order", kNpyShape[] = "shape";

// Reads the literals of the text from its start on.
class NpyHeaderReader {
 public:
  explicit NpyHeaderReader(absl::string_view text) : whole_(text), rest_(text) {}

  absl::StatusOr<NpyHeader> Read() {
    NpyHeader header;
    std::vector<std::string> keys;
    if (!Take('{')) return Expected("'{'");
    while (!Take('}')) {
      ASSIGN_OR_RETURN(const std::string key, String());
      if (std::ranges::count(keys, key) > 0) return Expected("each key once");
      keys.push_back(key);
      if (!Take(':')) return Expected("':'");
      RETURN_IF_ERROR(Value(key, header));
      if (!Take(',') && !Sees('}')) return Expected("',' or '}'");
    }
    if (keys.size() != 3) return Expected("the keys 'descr', 'fortran_order' and 'shape'");
    SkipBlanks();
    if (!rest_.empty()) return Expected("nothing behind '}'");
    return header;
  }

 private:
  absl::Status Value(absl::string_view key, NpyHeader& header) {
    if (key == kNpyDescr) {
      if (Sees('[') || Sees('(') || Sees('{')) {
        return absl::InvalidArgumentError(
            "structured arrays are not read; save one field, for example x['name']");
      }
      ASSIGN_OR_RETURN(header.descr, String());
    } else if (key == kNpyFortranOrder) {
      ASSIGN_OR_RETURN(header.fortran_order, Bool());
    } else if (key == kNpyShape) {
      ASSIGN_OR_RETURN(header.shape, Tuple());
    } else {
      return Expected("the keys 'descr', 'fortran_order' and 'shape'");
    }
    return absl::OkStatus();
  }

  // Without escapes, which no header needs.
  absl::StatusOr<std::string> String() {
    const bool quoted = Sees('\'') || Sees('"');
    const size_t end = quoted ? rest_.find(rest_[0], 1) : rest_.npos;
    const absl::string_view text = rest_.substr(0, end);
    if (end == rest_.npos || text.find_first_of("\\\n") != text.npos) return Expected("a string");
    rest_.remove_prefix(end + 1);
    return std::string(text.substr(1));
  }

  absl::StatusOr<bool> Bool() {
    SkipBlanks();
    if (absl::ConsumePrefix(&rest_, "True")) return true;
    if (absl::ConsumePrefix(&rest_, "False")) return false;
    return Expected("True or False");
  }

  absl::StatusOr<std::vector<int64_t>> Tuple() {
    std::vector<int64_t> values;
    if (!Take('(')) return Expected("a tuple");
    bool comma = true;
    while (!Take(')')) {
      if (!comma) return Expected("',' or ')'");
      ASSIGN_OR_RETURN(values.emplace_back(), Integer());
      comma = Take(',');
    }
    if (values.size() == 1 && !comma) return Expected("a tuple, '(N,)'");
    return values;
  }

  absl::StatusOr<int64_t> Integer() {
    SkipBlanks();
    const auto end = std::ranges::find_if_not(rest_, absl::ascii_isdigit);
    const absl::string_view digits = rest_.substr(0, end - rest_.begin());
    int64_t value;
    const bool leading_zero = digits.size() > 1 && digits[0] == '0';
    if (leading_zero || !absl::SimpleAtoi(digits, &value)) {
      return Expected("a number from 0 to 2^63 - 1");
    }
    rest_.remove_prefix(digits.size());
    return value;
  }

  void SkipBlanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool Sees(char c) {
    SkipBlanks();
    return !rest_.empty() && rest_[0] == c;
  }
  bool Take(char c) {
    if (!Sees(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  absl::Status Expected(absl::string_view what) const {
    return absl::DataLossError(absl::StrCat("header: expected ", what, " at byte ",
                                            whole_.size() - rest_.size(), ", not '",
                                            PlainLine(rest_.substr(0, 30)), "'"));
  }

  const absl::string_view whole_;
  absl::string_view rest_;
};

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view text) {
  return NpyHeaderReader(text).Read();
}

}  // namespace mmadiff
