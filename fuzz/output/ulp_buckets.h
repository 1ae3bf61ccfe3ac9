// By how much words differ, as a run counts it: in ulps, by powers of two.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "triage/mismatch.h"

namespace mmadiff {

// What UnitResult::counts puts before the name of a bucket: "ulp.3..4".
inline constexpr char kUlpCount[] = "ulp.";

// "1", "2", "3..4", "5..8", ... , then "special": a NaN, an infinity, or another sign.
const std::vector<std::string>& UlpBuckets();
// The bucket of two words that differ; integers by their difference.
const std::string& UlpBucket(const Format& format, uint64_t model, uint64_t device);

// Adds each word of the execution that differs.
void CountUlps(const Mismatch& mismatch, std::map<std::string, uint64_t>& counts);

}  // namespace mmadiff
