#include "fuzz/survey/stamp.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "corpus/text_proto.h"

namespace mmadiff {
namespace {

struct Frame {
  absl::string_view head, tail;
};
constexpr Frame kMarkdown = {"\n<!-- stamp: ", " -->\n"}, kJson = {",\n \"stamp\": \"", "\"\n}\n"};

// `before`: the page up to the stamp's value.
std::string WithStamp(const std::string& before, absl::string_view tail, const StoredSurvey& log,
                      size_t results) {
  return absl::StrCat(before, results, ":", results == 0 ? Xxh3Hex("") : log.hashes[results - 1],
                      ":", Xxh3Hex(before), tail);
}

}  // namespace

std::string Stamped(const std::string& page, const StoredSurvey& log, size_t results) {
  absl::string_view body = page;
  const bool json = absl::ConsumeSuffix(&body, "\n}\n");
  const Frame& frame = json ? kJson : kMarkdown;
  return WithStamp(absl::StrCat(body, frame.head), frame.tail, log, results);
}

StampState CheckStamp(const std::string& page, const StoredSurvey& log) {
  const Frame& frame = absl::EndsWith(page, kJson.tail) ? kJson : kMarkdown;
  const size_t found = page.rfind(std::string(frame.head));
  if (found == page.npos) return StampState::kNone;
  const size_t value = found + frame.head.size();
  size_t results = 0;
  if (!absl::SimpleAtoi(page.substr(value, page.find(':', value) - value), &results) ||
      results > log.results.size() ||
      WithStamp(page.substr(0, value), frame.tail, log, results) != page) {
    return StampState::kWrong;
  }
  return results < log.results.size() ? StampState::kStale : StampState::kRight;
}

}  // namespace mmadiff
