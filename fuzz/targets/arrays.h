// Checks of the targets for readers of arrays.
#pragma once

#include <algorithm>

#include "absl/status/statusor.h"
#include "corpus/arrays/array.h"
#include "fuzz/targets/input.h"

namespace mmadiff::fuzz {

inline constexpr size_t kMaxArrayInput = 1 << 20;  // bytes

// The message is one line. The words of an array are those of its shape and strides.
inline void CheckArray(const absl::StatusOr<Array>& array) {
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  Check(std::ranges::none_of(array.status().message(), is_control));
  if (!array.ok()) return;
  Check(array->bytes.size() <= kMaxArrayInput && array->shape.size() <= kMaxDimensions);
  Check(array->shape.size() == array->strides.size());
  Check(BytesOf({"", nullptr, array->bits}, array->shape) == array->bytes.size());
  if (array->format != nullptr) (void)CheckHolds(*array, *array->format);
  const absl::StatusOr<Words> words = AsMatrix(*array);
  if (!words.ok()) return;
  (void)Load(*words, 0, 0);
  (void)Load(*words, array->shape[0] - 1, array->shape[1] - 1);
}

}  // namespace mmadiff::fuzz
