// Files of NumPy: one array, versions 1.0, 2.0 and 3.0 of the format (numpy.lib.format).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/arrays/array.h"
#include "sim/format.h"
#include "sim/words.h"

namespace mmadiff {

// Floating-point types f2 f4 f8, integers, and types that NumPy itself does not have: ml_dtypes
// writes its e5m2 as f1 and all others as V1 or V2, which are read as raw words. Fortran order is
// kept, big-endian words are swapped. Errors as ReadArray().
absl::StatusOr<Array> ReadNpy(const std::string& path);

// The bytes of a file of version 1.0. Formats that NumPy does not have are V1 or V2, one word per
// element as in ml_dtypes: np.load(path).view(ml_dtypes.bfloat16) has the values. (NumPy cannot
// load f1.) kInvalidArgument: a negative size, or words of a different width.
absl::StatusOr<std::string> NpyBytes(const Words& words, int64_t rows, int64_t columns,
                                     const Format& format);
// The same as a file. kDataLoss as WriteFileDurably().
absl::Status WriteNpy(const std::string& path, const Words& words, int64_t rows, int64_t columns,
                      const Format& format);

}  // namespace mmadiff
