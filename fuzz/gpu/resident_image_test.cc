// The machine code of resident.cu for AMD, as far as reading it goes: nothing here executes it.
#include "fuzz/gpu/resident_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device/gpu/elf.h"
#include "device/hip/kernel_images.h"
#include "fuzz/gpu/gpu_counter.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Of a kernel descriptor ("Kernel Descriptor" there).
struct Descriptor {
  uint32_t group_bytes, private_bytes, parameter_bytes;
};

// A target with a modelled operation for which this build could assemble the instructions' kernels
// has these too: a compiler that refuses resident.cu is seen here.
TEST(ResidentImage, OfAmdHasEveryKernelWithTheHostsParameters) {
  int images = 0;
  for (const HipTarget& target : HipTargets()) {
    SCOPED_TRACE(target.target);
    std::set<std::string> kernels;
    for (const Operation& op : Operations()) {
      const CaseStream stream = {&op, &Strategies().front(), 1};
      // Cases of waves of 32 lanes are compared on the host.
      if (op.arch() != target.arch || target.wave == 32) continue;
      const bool compared = !op.instruction->is_conversion() && !op.instruction->sparse();
      EXPECT_EQ(GpuCounter::Supports(stream), compared) << op.name;
      if (!compared) continue;
      for (const char* kernel : ResidentKernels(op.model)) kernels.insert(kernel);
    }
    const absl::string_view image = ResidentImage(target.target),
                            instructions = HipImageOf(target).code_object;
    EXPECT_EQ(image.empty(), kernels.empty() || instructions.empty());
    if (image.empty()) continue;
    ++images;
    const absl::StatusOr<ElfFile> file = ElfFile::Read(image), like = ElfFile::Read(instructions);
    ASSERT_TRUE(file.ok() && like.ok());
    EXPECT_EQ(file->header().e_machine, EM_AMDGPU);
    EXPECT_EQ(file->header().e_flags & 0xff, like->header().e_flags & 0xff);  // the processor
    EXPECT_EQ(file->header().e_ident[EI_ABIVERSION], like->header().e_ident[EI_ABIVERSION]);
    for (const std::string& kernel : kernels) {
      SCOPED_TRACE(kernel);
      ASSERT_TRUE(file->Symbol(kernel).has_value());
      EXPECT_GT(file->Symbol(kernel)->size(), 1000u);
      const auto bytes = file->Symbol(kernel + ".kd");
      Descriptor descriptor;
      ASSERT_TRUE(bytes.has_value() && ReadAt(*bytes, 0, &descriptor));
      EXPECT_EQ(descriptor.parameter_bytes, sizeof(ResidentJob));
    }
  }
  if (images == 0) GTEST_SKIP() << "no compiler here made machine code for AMD";
}

TEST(ResidentImage, SaysWhatWasMissing) {
  EXPECT_TRUE(ResidentImage("gfx906").empty());
  EXPECT_TRUE(ResidentImage("gfx1100").empty());
  EXPECT_EQ(WhyNoResidentImage("gfx1100"), "no kernels for waves of 32 lanes, so not for gfx1100");
  EXPECT_THAT(WhyNoResidentImage("gfx942"), testing::HasSubstr("clang"));
  EXPECT_THAT(WhyNoResidentImage("sm_90a"), testing::HasSubstr("CUDA Toolkit"));
}

}  // namespace
}  // namespace mmadiff
