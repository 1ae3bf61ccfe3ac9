#include "device/binary_protocol.h"

#include <span>

#include "device/little_endian.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

int BytesOf(const Format& format) { return HexDigits(format) / 2; }

}  // namespace

int RequestBytes(const Instruction& i) {
  const int scale = i.shape.scales > 0 ? BytesOf(*i.scale) : 0;
  return i.shape.k * (BytesOf(*i.a) + BytesOf(*i.b)) + BytesOf(*i.c) + 2 * i.shape.scales * scale +
         i.shape.groups * BytesOf(kMetadataFormat);
}

std::string RequestFrame(const Instruction& instruction, const Batch& batch, int64_t first,
                         int64_t count) {
  const auto k = static_cast<size_t>(instruction.shape.k);
  const int64_t bytes = count * RequestBytes(instruction);
  std::string frame;
  frame.reserve(kFrameHeadBytes + bytes);
  AppendLittleEndian(bytes, kFrameHeadBytes, frame);
  const auto add = [&frame](std::span<const uint64_t> words, const Format& format) {
    const int bytes_of_word = BytesOf(format);
    for (const uint64_t word : words) AppendLittleEndian(word, bytes_of_word, frame);
  };
  for (int64_t i = first; i < first + count; ++i) {
    const DotProductCase dot = Extract(batch, i);
    const std::span<const uint64_t> a = dot.a, b = dot.b;
    add(a.first(k), *instruction.a);
    add(b.first(k), *instruction.b);
    add({&dot.c, 1}, *instruction.c);
    if (instruction.shape.scales > 0) {
      add(a.subspan(k), *instruction.scale);
      add(b.subspan(k), *instruction.scale);
    }
    if (instruction.sparse()) {
      add(StoredMetadata(instruction.shape, dot), kMetadataFormat);
    }
  }
  return frame;
}

}  // namespace mmadiff
