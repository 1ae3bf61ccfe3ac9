// The simulator against the reference, which shares no code with it: one dot product, one word. The
// bins that it reaches count as coverage.
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "fuzz/targets/dot_input.h"
#include "fuzz/targets/mutate_dot.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

using namespace mmadiff;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::DotInput input = fuzz::ReadDot(data, size);
  const Batch batch = MakeDotProductBatch(input.op->shape(), {input.dot});
  std::vector<uint64_t> d(1);
  Simulate(input.op->model, batch, d);
  const uint64_t n = fuzz::NoteBins(input), right = ReferenceDotProduct(input.op->model, input.dot);
  if (d[0] == right) return 0;
  absl::FPrintF(stderr, "%s: the simulator computes %x and the oracle %x for its input %d\n",
                input.op->name, d[0], right, n);
  std::abort();
}
