// `sass:`: machine code for an NVIDIA GPU, executed on the host. Everything around the matrix
// instruction is executed as written; the matrix instruction is a native row of the architecture, by
// the simulator. So a difference from an emulated or composed row is the assembler's, or the row's.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/variant.h"
#include "device/device.h"

namespace mmadiff {

// `argument`: "arch=sm_90a[,ptxas=PATH][,O=0..3][,VARIANT]" (device/cuda/variant.h; overlap=any and
// around=any as in device/cuda/any_variant.h), a target of device/cuda/kernel.h and an assembler
// (default: that in PATH); or the path of a cubin with kernels of this project (KernelName()).
// kInvalidArgument: neither. kNotFound: no such program or file.
//
// The device supports mma, wmma and fma. An instruction of the machine code that is not executed
// (device/sass/opcodes.h) is an error of the operation (kUnimplemented), with its line. So are a missing
// wait (device/sass/waits.h) and, of operands that share registers (SharesOperands()), results that differ
// from those with copies in registers of their own (kInternal).
absl::StatusOr<std::unique_ptr<Device>> OpenSass(absl::string_view argument);

// For tests: the text that nvdisasm prints for a cubin with kernels of the variant.
absl::StatusOr<std::unique_ptr<Device>> SassOfText(std::string text, const Variant& variant = {});

}  // namespace mmadiff
