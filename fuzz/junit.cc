#include "fuzz/junit.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(PlainText(text, "", ""),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

std::string JUnit(const std::string& verb, std::span<const TestResult> test_results) {
  size_t failures = 0;
  std::string cases;
  for (const TestResult& v : test_results) {
    failures += !v.failure.empty();
    absl::StrAppend(&cases, "  <testcase classname=\"mmadiff.", verb, "\" name=\"", Escape(v.name),
                    "\"");
    v.failure.empty() ? absl::StrAppend(&cases, "/>\n")
                      : absl::StrAppend(&cases, "><failure message=\"", Escape(v.kind), "\">",
                                        Escape(v.failure), "</failure></testcase>\n");
  }
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"mmadiff ",
                      verb, "\" tests=\"", test_results.size(), "\" failures=\"", failures, "\">\n",
                      cases, "</testsuite>\n");
}

}  // namespace mmadiff
