// How a device's answer to a question compares with the tables.
#pragma once

#include <cstdint>

namespace mmadiff {

// Numbers are stored (proto Agreement).
enum class Agreement : uint8_t {
  kAgrees,       // with the table
  kContradicts,  // the table is wrong for this device, or no candidate is right
  kOpen,         // the table promises nothing here
};
inline constexpr int kAgreements = static_cast<int>(Agreement::kOpen) + 1;
inline const char* Name(Agreement agreement) {
  constexpr const char* kNames[kAgreements] = {"agrees", "contradicts", "open"};
  return kNames[static_cast<int>(agreement)];
}

// Whether the device was queried with whole executions or, if it is slow, with dot products only.
// Numbers are stored.
enum class Scope : uint8_t { kWholeExecutions, kDotProducts };
inline constexpr int kScopes = static_cast<int>(Scope::kDotProducts) + 1;

}  // namespace mmadiff
