// `overlap=any` and `around=any` of a device that executes mma and wmma: each case in all variants.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/device.h"

namespace mmadiff {

// An argument with "NAME=any" in it.
struct AnyVariants {
  std::string any;                    // "overlap=any, around=any"; "": none
  std::string rest;                   // the argument without these
  std::vector<std::string> suffixes;  // of the variants: ",overlap=c", ...; all combinations of two
};
// `overlaps`: those of "overlap=any".
AnyVariants AnyVariantsOf(absl::string_view argument, std::span<const absl::string_view> overlaps);

using OpenVariant = std::function<absl::StatusOr<std::unique_ptr<Device>>(absl::string_view)>;

// A device that asks for each operation the device open(variants.rest) first, then open(variants.rest +
// suffix) for each suffix that supports the operation. Its answer to a dot product is that of the first
// variant that differs both from the first device and from the model, otherwise that of the first device.
// Without a mismatch so far, the first variant's error of the operation is the device's error, but not for
// single dot products.
// `name`: "sass:arch=sm_90a,overlap=any".
absl::StatusOr<std::unique_ptr<Device>> OpenAnyVariant(std::string name, AnyVariants variants,
                                                       OpenVariant open);

}  // namespace mmadiff
