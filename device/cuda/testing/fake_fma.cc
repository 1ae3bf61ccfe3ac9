#include "device/cuda/testing/fake_fma.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr int kLanes = 32;

// Where the number of a lane is. FAKE_CUDA_SWAPS names an operand of which two lanes change places.
int Index(const Operation& op, const char* name, int lane) {
  const char* set = std::getenv("FAKE_CUDA_SWAPS");
  const bool swaps = set != nullptr && std::string(set) == name && IsSpoiled(op);
  return swaps && lane / 2 == 2 ? lane ^ 1 : lane;
}

std::vector<uint64_t> Read(const Operation& op, const char* name, const char* from) {
  const int bytes = op.model.d.bits / 8;
  std::vector<uint64_t> words(kLanes);
  for (int lane = 0; lane < kLanes; ++lane) {
    std::memcpy(&words[lane], from + Index(op, name, lane) * bytes, bytes);
  }
  return words;
}

}  // namespace

FakeKernel FakeFma(const Operation& op) {
  return {&op, kLanes, [&op](unsigned x, const uint64_t* addresses) {
            const int bytes = op.model.d.bits / 8;
            const auto array = [&](int operand) {
              return reinterpret_cast<char*>(addresses[operand]) + size_t{x} * kLanes * bytes;
            };
            Batch batch;
            batch.Resize(op.shape(), 1);
            batch.a = Read(op, "A", array(0));
            batch.b = Read(op, "B", array(1));
            batch.c = Read(op, "C", array(2));
            std::vector<uint64_t> words(kLanes);
            Simulate(op.model, batch, words);
            for (int lane = 0; lane < kLanes; ++lane) {
              std::memcpy(array(3) + Index(op, "D", lane) * bytes, &words[lane], bytes);
            }
            return true;
          }};
}

}  // namespace mmadiff
