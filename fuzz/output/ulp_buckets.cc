#include "fuzz/output/ulp_buckets.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "triage/explain.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int kPowers = 64;  // distances of 2^63 and more are one bucket

}  // namespace

const std::vector<std::string>& UlpBuckets() {
  static const auto* buckets = [] {
    auto* names = new std::vector<std::string>{"1", "2"};
    for (int i = 2; i < kPowers; ++i) {
      names->push_back(absl::StrCat((uint64_t{1} << (i - 1)) + 1, "..", uint64_t{1} << i));
    }
    names->push_back("special");
    return names;
  }();
  return *buckets;
}

const std::string& UlpBucket(const Format& format, uint64_t model, uint64_t device) {
  switch (ClassOf(format, model, device)) {
    case DifferenceClass::kOneUlp:
    case DifferenceClass::kUlps:
    case DifferenceClass::kInteger:
      break;
    default:
      return UlpBuckets().back();
  }
  const auto distance = static_cast<uint64_t>(UlpDistance(format, model, device));
  return UlpBuckets()[std::bit_width(distance - 1)];
}

void CountUlps(const Mismatch& mismatch, std::map<std::string, uint64_t>& counts) {
  for (size_t i = 0; i < mismatch.model.size(); ++i) {
    const uint64_t model = mismatch.model[i], device = mismatch.device[i];
    if (SameResult(*mismatch.op, model, device)) continue;
    ++counts[absl::StrCat(kUlpCount, UlpBucket(mismatch.op->model.d, model, device))];
  }
}

}  // namespace mmadiff
