#include "fuzz/output/junit.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "device/plain_text.h"
#include "fuzz/verdict/ending.h"

namespace mmadiff {
namespace {

std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(PlainText(text, "", ""),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

std::vector<TestResult> TestResultsOf(std::span<const LeftOutLine> left_out,
                                      const std::string& of) {
  std::vector<TestResult> results;
  for (const LeftOutLine& line : left_out) {
    const Verdict verdict = VerdictOf(line.reason, line.exact);
    TestResult& result = results.emplace_back();
    result.name = absl::StrCat(of, " left out, ", Name(line.reason), line.exact ? ", named" : "");
    result.kind = MeaningOf(verdict).word;
    (verdict == Verdict::kGood ? result.skipped : result.failure) = Text(line);
  }
  return results;
}

std::string JUnit(const std::string& verb, std::span<const TestResult> test_results) {
  size_t failures = 0, skipped = 0;
  std::string cases;
  for (const TestResult& v : test_results) {
    failures += !v.failure.empty();
    absl::StrAppend(&cases, "  <testcase classname=\"mmadiff.", verb, "\" name=\"", Escape(v.name),
                    "\"");
    skipped += !v.skipped.empty();
    if (!v.failure.empty()) {
      absl::StrAppend(&cases, "><failure message=\"", Escape(v.kind), "\">", Escape(v.failure),
                      "</failure></testcase>\n");
    } else if (!v.skipped.empty()) {
      absl::StrAppend(&cases, "><skipped message=\"", Escape(v.skipped), "\"/></testcase>\n");
    } else {
      cases += "/>\n";
    }
  }
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"mmadiff ",
                      verb, "\" tests=\"", test_results.size(), "\" failures=\"", failures,
                      "\" skipped=\"", skipped, "\">\n", cases, "</testsuite>\n");
}

}  // namespace mmadiff
