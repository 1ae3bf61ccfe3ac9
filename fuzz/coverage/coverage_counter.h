// Counts the bins that the dot products of a run reach.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/cases/case_name.h"
#include "corpus/run_record.h"
#include "fuzz/coverage/bins.h"
#include "sim/batch.h"

namespace mmadiff {

class CoverageCounter {
 public:
  explicit CoverageCounter(const Model& model);

  // Traces one dot product. Returns the number of bins that were below their required count and got
  // one more.
  int Count(const DotProductCase& dot);

  const std::vector<Bin>& bins() const { return table_.bins(); }
  const std::vector<uint64_t>& counts() const { return counts_; }  // by bin
  // Bins reached in the last Count(), in any order.
  const std::vector<uint16_t>& reached() const { return reached_; }
  uint64_t dot_products() const { return dot_products_; }

 private:
  Model model_;
  BinTable table_;
  std::vector<uint64_t> counts_;
  std::vector<uint16_t> reached_;
  std::vector<uint8_t> seen_;  // by bin: whether reached_ has it
  uint64_t dot_products_ = 0;
};

// Numbers of the bins that must be reached and have fewer dot products than required.
std::vector<size_t> ThinBins(const std::vector<Bin>& bins, const std::vector<uint64_t>& counts);

// Bins that some input reached although none should: the proof is wrong.
std::vector<size_t> FalseBins(const std::vector<Bin>& bins, const std::vector<uint64_t>& counts);

// Adds to `result` the bins that a sample of these cases reaches: some dot products of each of the
// first cases, at most kCoveredDotProducts; all of them if there are no more. The sample is the
// same for any engine and any order of units.
inline constexpr uint64_t kCoveredDotProducts = 384;
void SampleCoverage(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result);

}  // namespace mmadiff
