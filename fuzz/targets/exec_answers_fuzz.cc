// The output of a child: taken in pieces of any size it is the same answers, one word of the format
// for each dot product. The first byte chooses the size of the pieces.
#include "device/exec.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const mmadiff::Operation& op = *mmadiff::FindOperation("x86/vfmadd231ss");
  static const mmadiff::Batch batch = mmadiff::MakeDotProductBatch(
      op.shape(), {{{0x3f800000}, {0x40000000}, 0}, {{1}, {2}, 3}, {{4}, {5}, 0x7fc00000}});
  const absl::string_view output = Text(data + 1, size - 1);
  const auto whole = mmadiff::ReadAnswers(op, batch, output, output.size() + 1);
  Check(!whole.ok() || whole->size() == 3);
  const auto parts = mmadiff::ReadAnswers(op, batch, output, data[0] % 16 + 1);
  Check(parts.ok() == whole.ok() && (!whole.ok() || *parts == *whole));
  return 0;
}
