// Distances of differing words, as a run counts them: in ulps, by powers of two.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "triage/mismatch.h"

namespace mmadiff {

// The prefix of a bucket's name in UnitResult::counts: "ulp.3..4".
inline constexpr char kUlpCount[] = "ulp.";

// "1", "2", "3..4", "5..8", ... , then "special": a NaN, an infinity, or a different sign.
const std::vector<std::string>& UlpBuckets();
// The bucket of two differing words; for integers, of their difference.
const std::string& UlpBucket(const Format& format, uint64_t model, uint64_t device);

// Counts each differing word of the execution.
void CountUlps(const Mismatch& mismatch, std::map<std::string, uint64_t>& counts);

}  // namespace mmadiff
