// The device `recorded:PATH`.
#pragma once

#include <string>

#include "device/device.h"

namespace mmadiff {

// The device. Generated batches (Batch::stream) are looked up by case when the recording has them,
// others as whole executions (text cases have them), then dot product by dot product by their
// operands. A case that was not recorded is kNotFound. Two answers for one input are kDataLoss that
// names both places; only a dot product that differs between places in recorded executions is
// kNotFound instead.
//
// Memory: about 60 bytes for each dot product that comes with operands (they are kept as a 128-bit
// hash), and the output bytes themselves of block logs; once for all devices of one path that are
// open at a time, which see what the path held when the first was opened.
//
// Errors as ReadRecordings(); kDataLoss also for a recording with damage. ContentsHash() is a hash
// of all inputs and answers.
DeviceOr OpenRecorded(const std::string& path);

}  // namespace mmadiff
