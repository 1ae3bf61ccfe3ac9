// Any device against the simulator: MMADIFF_DEVICE [faulty:none=0] answers one dot product. What
// differs is filed as a regression case below MMADIFF_FINDINGS [.], and ends the program.
#include <cstdio>
#include <cstdlib>

#include "corpus/case_folder.h"
#include "fuzz/devices.h"
#include "fuzz/findings.h"
#include "fuzz/targets/dot_input.h"
#include "fuzz/targets/input.h"
#include "fuzz/targets/mutate_dot.h"
#include "triage/verdict.h"

using namespace mmadiff;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const name = std::getenv("MMADIFF_DEVICE");
  static const char* const folder = std::getenv("MMADIFF_FINDINGS");
  static auto& opened = *new auto(OpenAnyDevice(name == nullptr ? "faulty:none=0" : name));
  fuzz::Check(opened.status());
  const fuzz::DotInput input = fuzz::ReadDot(data, size);
  if (!opened->device->Supports(*input.op).ok()) return 0;
  const Batch batch = MakeDotProductBatch(input.op->shape(), {input.dot});
  const auto d = opened->device->Run(*input.op, batch);
  fuzz::Check(d.status());
  fuzz::NoteBins(input);
  const Comparison compared = Compare(*input.op, batch, *d);
  if (compared.differing.empty()) return 0;
  const KeptCase kept = {{input.op, batch, 0, *d, compared.model}, "fuzzed", "found by libFuzzer"};
  const auto path = WriteCase(ToRegressionCase(kept, *opened->device, ""), folder ? folder : ".");
  fuzz::Check(path.status());
  std::fprintf(stderr, "filed %s\n", path->c_str());
  std::abort();
}
