// Generated copies against the reference, which is written the other way round from the documents alone.
#include <gtest/gtest.h>

#include <cstdlib>

#include "corpus/copies/copy_case.h"
#include "sim/copy/copy_parameter.h"
#include "sim/reference/copy.h"

namespace mmadiff {
namespace {

bool IsFloatReduction(const TensorCopy& c) {
  return c.form->direction == CopyDirection::kReduce && Info(c.map.type).is_float;
}

// The first difference, or "". The reference covers what changed rules need, and no more.
std::string Difference(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory) {
  CopyResult result;
  Execute(copy, rules, memory, result);
  const CopyResult expected = reference::ReferenceCopy(copy, rules, memory);
  const bool load = copy.form->direction == CopyDirection::kLoad;
  const auto at = [&](uint64_t i, const std::string& what) {
    return what + " at byte " + std::to_string(i) + " from " + std::to_string(result.first);
  };
  const uint64_t skipped = expected.bytes.empty() ? 0 : expected.first - result.first;
  if (skipped + expected.bytes.size() > result.bytes.size()) return "too short";
  if (rules == CopyRules() && expected.bytes.size() != result.bytes.size()) return "too long";
  for (uint64_t i = 0; i < result.bytes.size(); ++i) {
    const bool covered = i >= skipped && i - skipped < expected.bytes.size();
    const bool open = result.specified[i] == 0;
    const uint64_t address = result.first + i;
    const uint8_t byte = covered ? expected.bytes[i - skipped]
                         : load  ? memory.Shared(address)
                                 : memory.Global(address);
    const bool promised = covered ? expected.specified[i - skipped] != 0 : !load;
    // The reference also specifies NaNs and flushed sums.
    if (open && promised && !IsFloatReduction(copy)) return at(i, "unspecified");
    if (!open && !promised) return at(i, "specified");
    if (!open && result.bytes[i] != byte) return at(i, "different");
  }
  return "";
}

TEST(CopyAgreement, EveryFormAndRule) {
  const char* const given = std::getenv("MMADIFF_CASES");
  const int cases = given == nullptr ? 90 : std::atoi(given);
  const std::vector<CopyChange> changes = CopyNeighbors();
  int64_t compared = 0;
  for (const char* arch : CopyArchitectures()) {
    for (const CopyForm& form : CopyForms()) {
      if (std::string_view(form.native_on).find(arch) == std::string_view::npos) continue;
      for (int i = 0; i < cases; ++i) {
        const CopyCaseName name = {arch, &form, 2, static_cast<uint64_t>(i)};
        const CopyCase c = GenerateCopy(name);
        const CopyRules rules =
            i % 2 == 0 ? CopyRules() : With({}, changes[i / 2 % changes.size()]);
        if (TileBytes(c.copy, rules) > 4096 && i % 9 != 5) continue;  // the reference is slow
        ++compared;
        ASSERT_EQ(Difference(c.copy, rules, c.memory), "") << FormatCopyCase(name);
      }
    }
  }
  EXPECT_GT(compared, 3000);
}

}  // namespace
}  // namespace mmadiff
