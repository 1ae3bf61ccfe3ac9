#include "triage/copies/copy_mismatch.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace mmadiff {
namespace {

constexpr int kRecognizable = 8;  // bytes that show where they came from

// The element that the byte belongs to, in words; "" if none does.
std::string ElementAt(const TensorCopy& copy, uint64_t address) {
  const bool load = copy.form->direction == CopyDirection::kLoad;
  const TensorTypeInfo& info = Info(copy.map.type);
  const int bytes = load ? info.shared_bytes : info.global_bytes;
  for (const CopyElement& e : Elements(copy)) {
    const uint64_t at = load ? e.shared : e.global;
    if ((!load && !e.inside) || address < at || address >= at + bytes) continue;
    const std::string name = absl::StrJoin(e.at.begin(), e.at.begin() + copy.map.rank, ",");
    return absl::StrCat("element ", name, e.inside ? "" : ", which is out of bounds");
  }
  return "";
}

// The address below `window` of the device's bytes around the one at `i`, relative to it.
std::optional<uint64_t> Source(const CopyMemory& memory, const CopyResult& device, uint64_t i,
                               bool global, uint64_t window) {
  const uint64_t first = i / kRecognizable * kRecognizable;
  if (first + kRecognizable > device.bytes.size()) return std::nullopt;
  uint64_t found = 0;
  uint8_t bytes[kRecognizable];
  int count = 0;
  for (uint64_t at = 0; at + kRecognizable <= window; ++at) {
    for (int b = 0; b < kRecognizable; ++b) {
      bytes[b] = global ? memory.Global(at + b) : memory.Shared(at + b);
      if (bytes[b] != device.bytes[first + b]) break;
      if (b == kRecognizable - 1) found = at + (i - first), ++count;
    }
  }
  return count == 1 ? std::optional(found) : std::nullopt;
}

}  // namespace

std::optional<CopyMismatch> Compare(const CopyResult& model, const CopyResult& device) {
  CopyMismatch mismatch = {.address = model.first};
  for (uint64_t i = 0; i < model.bytes.size(); ++i) {
    if (model.specified[i] == 0) continue;
    ++mismatch.promised;
    if (model.bytes[i] == device.bytes[i]) continue;
    if (mismatch.wrong++ > 0) continue;
    mismatch.address = model.first + i;
    mismatch.expected = model.bytes[i];
    mismatch.got = device.bytes[i];
  }
  return mismatch.wrong == 0 ? std::nullopt : std::optional(mismatch);
}

std::string Text(const TensorCopy& copy, const CopyMemory& memory, const CopyMismatch& mismatch,
                 const CopyResult& device, uint64_t window) {
  const bool load = copy.form->direction == CopyDirection::kLoad;
  const char* const here = load ? "shared" : "global";
  const char* const there = load ? "global" : "shared";
  std::string text =
      absl::StrFormat("%d of %d bytes differ; %s address %d is %02x, not %02x", mismatch.wrong,
                      mismatch.promised, here, mismatch.address, mismatch.got, mismatch.expected);
  const std::string element = ElementAt(copy, mismatch.address);
  if (!element.empty()) absl::StrAppend(&text, ", of ", element);
  const uint64_t i = mismatch.address - device.first;
  const auto source = Source(memory, device, i, load, window);
  if (source.has_value()) {
    absl::StrAppend(&text, "; the device has the byte of ", there, " address ", *source);
  } else if (Source(memory, device, i, !load, window) == mismatch.address) {
    absl::StrAppend(&text, "; the device did not write it");
  }
  return text;
}

bool Explains(const CopyChange& change, const TensorCopy& copy, const CopyMemory& memory,
              const CopyResult& model, const CopyResult& device) {
  CopyResult changed;
  Execute(copy, With({}, change), memory, changed);
  return Compare(model, changed).has_value() && !Compare(changed, device).has_value();
}

}  // namespace mmadiff
