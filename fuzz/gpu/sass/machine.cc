#include "fuzz/gpu/sass/machine.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "fuzz/gpu/sass/warp.h"

namespace mmadiff::sass {

Counts& Counts::operator+=(const Counts& other) {
  warps += other.warps;
  for (int u = 0; u < static_cast<int>(Unit::kCount); ++u) instructions[u] += other.instructions[u];
  wide_multiplies += other.wide_multiplies;
  shared_wavefronts += other.shared_wavefronts;
  global_lines += other.global_lines;
  local_lines += other.local_lines;
  global_sectors += other.global_sectors;
  atomics += other.atomics;
  return *this;
}

uint64_t Counts::issued() const {
  uint64_t sum = 0;
  for (const uint64_t count : instructions) sum += count;
  return sum;
}

double Counts::CyclesOf(Unit unit) const {
  const double count = static_cast<double>(instructions[static_cast<int>(unit)]);
  switch (unit) {
    case Unit::kAlu:
    case Unit::kUniform:
      return count / 2;
    case Unit::kMultiply:
      return (count + static_cast<double>(wide_multiplies)) / 2;
    case Unit::kSlow:
      return count * 2;
    case Unit::kMemory:
      return static_cast<double>(shared_wavefronts + global_lines + local_lines);
    default:
      return static_cast<double>(issued()) / 4;
  }
}

double Counts::cycles() const {
  double most = 0;
  for (int u = 0; u < static_cast<int>(Unit::kCount); ++u) {
    most = std::max(most, CyclesOf(static_cast<Unit>(u)));
  }
  return most;
}

const char* Counts::busiest() const {
  constexpr const char* kNames[] = {"alu", "imad", "slow", "uniform", "memory", "issue"};
  int most = static_cast<int>(Unit::kControl);
  for (int u = 0; u < static_cast<int>(Unit::kCount); ++u) {
    if (CyclesOf(static_cast<Unit>(u)) > CyclesOf(static_cast<Unit>(most))) most = u;
  }
  return kNames[most];
}

absl::Status Execute(const Program& program, const Launch& launch, Counts& counts,
                     std::vector<uint64_t>* executed) {
  std::vector<uint8_t> constants(kParametersAt + launch.parameter_bytes + 64);
  const auto put = [&constants](int at, uint64_t value, int bytes) {
    std::memcpy(&constants[at], &value, bytes);
  };
  put(0, launch.threads, 4);
  put(4, 1, 4);
  put(8, 1, 4);
  put(0xc, launch.blocks, 4);
  put(0x20, kLocalWindow, 8);
  put(0x28, kLocalBytes, 4);
  put(0x198, reinterpret_cast<uint64_t>(&constants[kParametersAt]), 8);
  std::memcpy(&constants[kParametersAt], launch.parameters, launch.parameter_bytes);
  if (executed != nullptr) executed->resize(program.instructions.size());
  for (int64_t number = 0; number < launch.blocks; ++number) {
    Block block = {&program, &constants, {}, number, &counts, executed};
    block.shared.assign(kSharedAt + launch.shared_bytes, 0xa5);
    std::vector<std::unique_ptr<Warp>> warps;
    for (int t = 0; t < launch.threads; t += 32) {
      warps.push_back(std::make_unique<Warp>(block, t, launch.threads - t));
    }
    counts.warps += warps.size();
    for (bool some = true; some;) {
      some = false;
      for (const auto& warp : warps) {
        if (absl::Status s = warp->Run(); !s.ok()) {
          return absl::Status(s.code(), absl::StrCat(program.name, ": ", s.message()));
        }
      }
      for (const auto& warp : warps) {
        some |= !warp->ended();
        warp->Release();
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
