// Device specifications: the name of an opened device opens the same device.
#include "device/open.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const mmadiff::DeviceOr device = mmadiff::OpenBasicDevice(Text(data, size));
  if (!device.ok()) return 0;
  const mmadiff::DeviceOr again = mmadiff::OpenBasicDevice((*device)->name());
  Check(again.ok() && (*again)->name() == (*device)->name());
  Check((*again)->identity() == (*device)->identity());
  for (const mmadiff::Operation& op : mmadiff::Operations().first(20)) {
    Check((*device)->Supports(op) == (*again)->Supports(op));
  }
  return 0;
}
