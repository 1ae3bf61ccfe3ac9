// ReadNpy() survives any bytes: an array that it returns has all words that its shape says, and a
// matrix that NpyBytes() writes is read back.
#include <algorithm>

#include "corpus/arrays/npy.h"
#include "fuzz/targets/arrays.h"

using namespace mmadiff;
using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxArrayInput) return 0;
  const auto array = ReadNpy(FileOf(Text(data, size)));
  CheckArray(array);
  if (!array.ok() || array->shape.size() != 2 || array->format == nullptr) return 0;
  const Words words = {array->bytes.data(), array->strides[0], array->strides[1], array->bits};
  const auto bytes = NpyBytes(words, array->shape[0], array->shape[1], *array->format);
  Check(bytes.status());
  const auto again = ReadNpy(FileOf(*bytes));
  Check(again.status());
  Check(again->shape == array->shape && CheckHolds(*again, *array->format).ok());
  return 0;
}
