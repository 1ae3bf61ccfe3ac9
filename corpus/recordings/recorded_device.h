// The device `recorded:PATH`.
#pragma once

#include <string>

#include "device/device.h"

namespace mmadiff {

// Opens the device. It looks up generated batches (Batch::stream) by case if the recording has
// these cases. It looks up other batches as whole executions (text cases have them), then by the
// operands of each dot product. A case that was not recorded is kNotFound. Two answers for one
// input are kDataLoss with both places, with one exception: a dot product that differs between
// places in recorded executions is kNotFound.
//
// Memory: about 60 bytes for each dot product that comes with operands (they are kept as a 128-bit
// hash), plus the output bytes of block logs. Devices of one path that are open at the same time
// share this memory and see the contents at the time when the first was opened.
//
// Errors as ReadRecordings(); kDataLoss also for a damaged recording. ContentsHash() is a hash of
// all inputs and answers.
DeviceOr OpenRecorded(const std::string& path);

}  // namespace mmadiff
