#include "fuzz/ask/killing_input.h"

#include "corpus/cases/case_name.h"

namespace mmadiff {
namespace {

// Cases or dot products [first, first + count) of the input.
KillingInput PartOf(const KillingInput& input, uint64_t first, uint64_t count) {
  KillingInput part = input;
  part.count = count;
  if (input.kind == KillingInput::kCases) {
    CaseName name = *ParseCaseName(input.first, Models::kOptional);
    name.index += first;
    part.first = FormatCaseName(name);
  } else {
    const auto at = input.lines.begin() + static_cast<std::ptrdiff_t>(first);
    part.lines.assign(at, at + static_cast<std::ptrdiff_t>(count));
    part.first = part.lines.front();
  }
  return part;
}

}  // namespace

KillingInput FindKillingInput(KillingInput asked, bool hangs,
                              absl::FunctionRef<bool(const KillingInput&)> kills) {
  KillingInput smallest = {.kind = KillingInput::kZeros, .count = 1, .tried = true};
  smallest.confirmed = kills(smallest);
  if (smallest.confirmed) return smallest;
  smallest = std::move(asked);
  if (smallest.kind == KillingInput::kUnknown) return smallest;
  smallest.tried = !hangs;
  smallest.confirmed = smallest.tried && kills(smallest);
  while (smallest.confirmed && smallest.count > 1) {
    const uint64_t half = smallest.count / 2;
    KillingInput low = PartOf(smallest, 0, half);
    KillingInput high = PartOf(smallest, half, smallest.count - half);
    if (kills(low)) {
      smallest = std::move(low);
    } else if (kills(high)) {
      smallest = std::move(high);
    } else {
      break;
    }
  }
  smallest.lines.clear();
  return smallest;
}

}  // namespace mmadiff
