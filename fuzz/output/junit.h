// JUnit reports of what a verb compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "corpus/ledger.h"

namespace mmadiff {

struct TestResult {
  std::string name;
  std::string failure;            // empty: equal
  std::string kind = "mismatch";  // of failure, a word
  std::string skipped = {};       // why it was not compared, if that is no failure
};
// A result for each line: a failure where leaving it out has a verdict.
std::vector<TestResult> TestResultsOf(std::span<const LeftOutLine> left_out, const std::string& of);

std::string JUnit(const std::string& verb, std::span<const TestResult> test_results);

}  // namespace mmadiff
