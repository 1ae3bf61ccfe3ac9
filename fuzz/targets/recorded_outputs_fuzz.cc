// ReadRecordings() of a block log delivers whole executions in the operation's own format, whatever
// the record (RecordedOutputs) contains.
#include "corpus/recordings/recording.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t delivered = 0;
  const auto check = [&delivered](const mmadiff::Recording& r) {
    Check(static_cast<int64_t>(r.d.size()) == r.inputs.dot_products() && !r.inputs.stream.empty());
    for (uint64_t word : r.d) Check((word & ~mmadiff::LowBits(r.op->instruction->d->bits)) == 0);
    delivered += r.d.size();
    return absl::OkStatus();
  };
  const auto stats = mmadiff::ReadRecordings(FileOf(LogOf(Text(data, size))), "", check);
  Check(!stats.ok() || stats->dot_products == delivered);
  return 0;
}
