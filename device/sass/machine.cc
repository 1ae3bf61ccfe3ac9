#include "device/sass/machine.h"

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "device/sass/warp.h"

namespace mmadiff::sass {
namespace {

// The four warps of a warpgroup execute its instructions together.
absl::Status CheckGroups(const Block& block) {
  const auto& steps = block.group_steps;
  for (size_t w = 0; w < steps.size(); ++w) {
    const size_t first = w - w % kWarpsOfGroup;
    const bool whole = first + kWarpsOfGroup <= steps.size();
    if (steps[w] != steps[first] || (!whole && !steps[w].empty())) {
      return absl::InternalError(
          "the warps of a warpgroup do not execute the same warpgroup instructions");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Execute(const Program& program, const Launch& launch, Counts& counts) {
  const int at = ParametersAt(program.target);
  std::vector<uint8_t> constants(kConstantBytes);
  const auto put = [&constants](int at, uint64_t value, int bytes) {
    std::memcpy(&constants[at], &value, bytes);
  };
  put(0, launch.threads, 4);
  put(4, 1, 4);
  put(8, 1, 4);
  put(0xc, launch.blocks, 4);
  put(0x20, kLocalWindow, 8);
  put(0x28, kLocalBytes, 4);
  if (at == 0x210) put(0x198, reinterpret_cast<uint64_t>(&constants[at]), 8);
  std::memcpy(&constants[at], launch.parameters, launch.parameter_bytes);
  for (int64_t number = 0; number < launch.blocks; ++number) {
    Block block = {&program,
                   &constants,
                   {},
                   number,
                   &counts,
                   launch.natives,
                   launch.memory,
                   launch.most_instructions,
                   launch.observer};
    block.group_steps.resize((launch.threads + 31) / 32);
    block.shared.assign(kSharedAt + launch.shared_bytes, 0xa5);
    std::vector<std::unique_ptr<Warp>> warps;
    for (int t = 0; t < launch.threads; t += 32) {
      warps.push_back(std::make_unique<Warp>(block, t, launch.threads - t));
    }
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
    if (absl::Status s = CheckGroups(block); !s.ok()) {
      return absl::Status(s.code(), absl::StrCat(program.name, ": ", s.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
