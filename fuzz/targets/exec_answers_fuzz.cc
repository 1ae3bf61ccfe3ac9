// The output of a child, as lines or as frames: split into pieces of any size, it gives the same
// answers, one word of the format or a failure for each dot product. The first byte selects the
// protocol and the size of the pieces.
#include "device/exec.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const mmadiff::Operation& op = *mmadiff::FindOperation("x86/vfmadd231ss");
  static const mmadiff::Batch batch = mmadiff::MakeDotProductBatch(
      op.shape(), {{{0x3f800000}, {0x40000000}, 0}, {{1}, {2}, 3}, {{4}, {5}, 0x7fc00000}});
  mmadiff::ExecOptions options;
  if (data[0] & 0x80) options.protocol = mmadiff::Protocol::kBinary;
  if (data[0] & 0x40) options.skip = "^%";
  const absl::string_view output = Text(data + 1, size - 1);
  const auto whole = mmadiff::ReadAnswers(op, batch, options, output, output.size() + 1);
  Check(!whole.ok() || whole->size() == 3);
  const auto parts = mmadiff::ReadAnswers(op, batch, options, output, data[0] % 16 + 1);
  Check(parts.ok() == whole.ok());
  if (whole.ok()) Check(parts->d == whole->d && parts->failures == whole->failures);
  return 0;
}
