// Executes machine code of tests: kernels of a cubin, and lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "device/sass/machine.h"
#include "device/sass/natives.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// Executes one block on random words: a warp, or a warpgroup if the kernel has instructions of one.
// `output`: the words that it stores.
absl::Status Executed(const Program& program, const Natives& natives, Observer& observer,
                      std::vector<uint32_t>* output = nullptr);

struct Line {
  std::string text;
  Control control = {};
};

// The error of Waits for code of sm_90a; "" if there is none.
std::string Missing(const std::vector<Line>& lines, bool encodings = true);

// The kernels of a cubin that can be read.
Programs ProgramsIn(const std::string& cubin, absl::string_view target);

}  // namespace mmadiff::sass
