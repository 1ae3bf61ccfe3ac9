// Any device against the simulator: MMADIFF_DEVICE [faulty:none=0] answers one dot product. A
// mismatch is filed as a regression case below MMADIFF_FINDINGS [.] and ends the program.
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "corpus/case_folder.h"
#include "fuzz/folder/findings.h"
#include "fuzz/targets/dot_input.h"
#include "fuzz/targets/mutate_dot.h"
#include "fuzz/unit/devices.h"
#include "triage/verdict.h"

using namespace mmadiff;

static Device* Open() {
  const char* const name = std::getenv("MMADIFF_DEVICE");
  auto opened = OpenAnyDevice(name == nullptr ? "faulty:none=0" : name);
  if (!opened.ok()) fuzz::GiveUp(opened.status());
  fuzz::KeepSupported(*opened->device);
  return opened->device.release();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Device& device = *Open();
  const fuzz::DotInput input = fuzz::ReadDot(data, size);
  const Batch batch = MakeDotProductBatch(input.op->shape(), {input.dot});
  const auto d = device.Run(*input.op, batch);
  if (!d.ok()) fuzz::GiveUp(d.status());
  const uint64_t n = fuzz::NoteBins(input);
  const Comparison compared = Compare(*input.op, batch, *d);
  if (compared.differing.empty()) return 0;
  const auto again = device.Run(*input.op, batch);
  if (again.ok() && *again != *d) {
    fuzz::GiveUp(absl::DataLossError(input.op->name + ": the device's answers do not repeat"));
  }
  const KeptCase kept = {{input.op, batch, 0, *d, compared.model},
                         ParseBucket(input.op->model.algorithm.family, "fuzzed"),
                         "found by libFuzzer"};
  const char* const folder = std::getenv("MMADIFF_FINDINGS");
  const auto path =
      WriteCase(ToRegressionCase(kept, device.name(), IdentityFor(device, *input.op), ""),
                folder ? folder : ".");
  if (!path.ok()) fuzz::GiveUp(path.status());
  absl::FPrintF(stderr, "filed %s, by input %d of its model\n", *path, n);
  std::abort();
}
