// JUnit reports of a verb's comparisons.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "corpus/ledger.h"

namespace mmadiff {

struct TestResult {
  std::string name;
  std::string failure;            // empty: equal
  std::string kind = "mismatch";  // kind of the failure, one word
  std::string skipped = {};       // reason why it was not compared, if that is not a failure
};
// One result per line: a failure if leaving it out has a verdict.
std::vector<TestResult> TestResultsOf(std::span<const LeftOutLine> left_out, const std::string& of);

std::string JUnit(const std::string& verb, std::span<const TestResult> test_results);

}  // namespace mmadiff
