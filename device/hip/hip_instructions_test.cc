// Every instruction on the stand-in for HIP: loaded, probed, packed and unpacked.
#include <gtest/gtest.h>

#include <set>

#include "device/gpu/testing/fake_model.h"
#include "device/hip/testing/hip_fixture.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Of every operation executions and single dot products have the results of the model
// that the stand-in takes.
TEST_F(HipTest, EveryInstructionOfEveryArchitecture) {
  size_t asked = 0;
  std::set<std::string> archs;  // one target of each
  for (const HipTarget& target : HipTargets()) {
    if (!archs.insert(target.arch).second) continue;
    const std::unique_ptr<GpuDevice> device = Open(target.target);
    ASSERT_NE(device, nullptr);
    for (const auto& ops : {Operations(), UnmodelledOperations()}) {
      for (const Operation& op : ops) {
        // There are kernels of matrix instructions, for waves of one size, in the default mode
        // and without CLAMP.
        const bool supported = op.arch() == target.arch && !op.instruction->is_conversion() &&
                               op.name.find(".wave64") == op.name.npos &&
                               !op.name.ends_with(".ovfl") && !op.name.ends_with(".clamp") &&
                               op.name.find("/v_dot") == op.name.npos;
        EXPECT_EQ(device->Supports(op).ok(), supported) << op.name;
        if (!supported) continue;
        ++asked;
        const Model model = FakeModel(op);
        const Shape& s = op.shape();
        const int diagonals = 2 * s.blocks * std::min(s.m, s.n) + 1;
        for (const Batch& batch :
             {RandomBits(op, s, 2), RandomBits(op, DotProductShape(s), diagonals)}) {
          std::vector<uint64_t> wanted(batch.dot_products());
          Simulate(model, batch, wanted);
          const auto d = device->Run(op, batch);
          ASSERT_TRUE(d.ok()) << target.target << " " << op.name << ": " << d.status();
          ASSERT_EQ(*d, wanted) << target.target << " " << op.name;
        }
      }
    }
  }
  EXPECT_EQ(asked, 20u + 27 + 46 + 164 + 12 + 12 + 40);  // kernel_test.cc
}

}  // namespace
}  // namespace mmadiff
