// The binary protocol: frames in both directions. A frame is a length in bytes (4 bytes,
// little-endian), followed by that many bytes. A request holds whole dot products, `a0 .. a(K-1) b0
// .. b(K-1) c [sa.. sb..]`, every word little-endian in the fewest whole bytes of its format. An
// answer holds whole words of d, in order; the answers to a request may come in any number of
// frames.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

inline constexpr int kFrameHeadBytes = 4;
inline constexpr uint32_t kMaxFrameBytes = 64 << 20;

// Bytes of one dot product in a request.
int RequestBytes(const Instruction& instruction);
// A frame with dot products [first, first + count) of the batch: at most kMaxFrameBytes.
std::string RequestFrame(const Instruction& instruction, const Batch& batch, int64_t first,
                         int64_t count);

}  // namespace mmadiff
