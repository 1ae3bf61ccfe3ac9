// The simulator against the reference, which shares no code with it: one dot product, one word. The
// bins that it reaches count as coverage.
#include "fuzz/targets/dot_input.h"
#include "fuzz/targets/input.h"
#include "fuzz/targets/mutate_dot.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

using namespace mmadiff;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::DotInput input = fuzz::ReadDot(data, size);
  const Batch batch = MakeDotProductBatch(input.op->shape(), {input.dot});
  std::vector<uint64_t> d(1);
  Simulate(input.op->model, batch, d);
  fuzz::Check(d[0] == ReferenceDotProduct(input.op->model, input.dot));
  fuzz::NoteBins(input);
  return 0;
}
