#include "triage/mismatch.h"

namespace mmadiff {

std::vector<Observed> ObservedResults(const Mismatch& mismatch) {
  std::vector<Observed> observed;
  if (mismatch.device.empty()) return observed;
  for (int64_t i = 0; i < mismatch.inputs.dot_products(); ++i) {
    observed.push_back({Extract(mismatch.inputs, i), mismatch.device[i]});
  }
  return observed;
}

}  // namespace mmadiff
