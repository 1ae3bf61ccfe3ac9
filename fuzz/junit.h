// JUnit reports of what a verb compared.
#pragma once

#include <span>
#include <string>

namespace mmadiff {

struct TestResult {
  std::string name;
  std::string failure;            // empty: equal
  std::string kind = "mismatch";  // of failure, a word
};

std::string JUnit(const std::string& verb, std::span<const TestResult> test_results);

}  // namespace mmadiff
