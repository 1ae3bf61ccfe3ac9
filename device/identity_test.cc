#include "device/identity.h"

#include <set>

#include "gtest/gtest.h"

namespace mmadiff {
namespace {

// Names of devices as they were when runs were first stored. Runs of earlier versions have ids that are hashes of them.
TEST(Identity, NamesNeverChange) {
  EXPECT_EQ(Name(Identity().Add("model_version", "4").Add("fault", "fraction_bits=24")),
            "simulator, model version 4, with fraction_bits=24");
  EXPECT_EQ(Name(Identity()
                     .Add("hardware", "AMD EPYC")
                     .Add("family", "25")
                     .Add("model", "17")
                     .Add("stepping", "1")
                     .Add("hypervisor", "virtual")
                     .Add("microcode", "0x1")),
            "AMD EPYC, family 25 model 17 stepping 1, virtual machine, microcode 0x1");
  EXPECT_EQ(Name(Identity()
                     .Add("hardware", "NVIDIA H200")
                     .Add("multiprocessors", "132")
                     .Add("target", "sm_90a")
                     .Add("driver", "580.159.04")
                     .Add("cuda", "13.0")
                     .Add("assembler", "ptxas of CUDA 13.0")),
            "NVIDIA H200, 132 multiprocessors, sm_90a, driver 580.159.04 of CUDA 13.0, machine "
            "code of ptxas of CUDA "
            "13.0");
  EXPECT_EQ(Name(Identity()
                     .Add("hardware", "A100 MIG 1g")
                     .Add("mig_multiprocessors", "14")
                     .Add("target", "sm_80")
                     .Add("driver_of_cuda", "12.9")
                     .Add("ptx", "8.7")),
            "A100 MIG 1g, MIG instance with 14 multiprocessors, sm_80, driver of CUDA 12.9, PTX "
            "8.7 assembled by the "
            "driver");
  EXPECT_EQ(Name(Identity()
                     .Add("hardware", "MI300X")
                     .Add("compute_units", "304")
                     .Add("clock_mhz", "2100")
                     .Add("target", "gfx942")
                     .Add("amdgpu", "6.8")
                     .Add("hip", "6.4")
                     .Add("assembled_by", "the code object manager")
                     .Add("mode", "hip:0,ieee=0")),
            "MI300X, 304 compute units, 2100 MHz, gfx942, amdgpu 6.8, HIP 6.4, kernels assembled "
            "by the code object "
            "manager, with hip:0,ieee=0");
  EXPECT_EQ(Name(Identity().Add("linux", "6.1").Add("kernel_driver", "amdgpu")),
            ", amdgpu of Linux 6.1, amdgpu");
  EXPECT_EQ(Name(Identity().Add("command", "./rtl").Add("files", "rtl xxh3 1")),
            "external program `./rtl` (rtl xxh3 1)");
  EXPECT_EQ(Name(Identity().Add("recorded", "A100").Add("contents", "7")), "A100, contents xxh3 7");
  EXPECT_EQ(Name(Identity().Add("recorded_in", "folder")), "recorded in folder");
}

TEST(Identity, KeysAreDistinct) {
  std::set<std::string> keys;
  for (const IdentityKey& key : kIdentityKeys) {
    EXPECT_TRUE(keys.insert(key.key).second) << key.key;
    EXPECT_EQ(FindIdentityKey(key.key), &key);
  }
  EXPECT_EQ(FindIdentityKey("color"), nullptr);
}

// A file from before facts were stored has the name alone; it is the same device.
TEST(Identity, EqualsItsName) {
  const Identity device = Identity().Add("model_version", "4").Add("fault", "none=0");
  EXPECT_EQ(device, Identity::Named("simulator, model version 4, with none=0"));
  EXPECT_FALSE(device == Identity::Named("simulator, model version 4, with none=1"));
}

// A value that holds the words of another fact does not become it.
TEST(Identity, DiffersWhereOnlyFactsDo) {
  const Identity facts = Identity().Add("hardware", "GPU").Add("target", "sm_90");
  const Identity one = Identity().Add("hardware", "GPU, sm_90");
  EXPECT_EQ(Name(facts), Name(one));
  EXPECT_FALSE(facts == one);
  EXPECT_EQ(facts, Identity().Add("hardware", "GPU").Add("target", "sm_90"));
  EXPECT_FALSE(facts == Identity().Add("hardware", "GPU"));
}

// Of a program and ten files beside it people look for the one that has changed.
TEST(Identity, NameBesideIsWhatDiffers) {
  const auto program = [](const char* files) {
    return Identity().Add("command", "./unit").Add("files", files);
  };
  const Identity one = program("sh xxh3 1, unit xxh3 2"), other = program("sh xxh3 1, unit xxh3 3");
  EXPECT_EQ(NameBeside(one, other), "unit xxh3 2");
  EXPECT_EQ(NameBeside(other, one), "unit xxh3 3");
  EXPECT_EQ(NameBeside(one, program("sh xxh3 1, unit xxh3 2, lib xxh3 4")), Name(one));
  const auto gpu = [](const char* driver) {
    return Identity().Add("hardware", "GPU").Add("driver", driver);
  };
  EXPECT_EQ(NameBeside(gpu("580"), gpu("581")), "driver 580");
  EXPECT_EQ(NameBeside(one, gpu("580")),
            Name(one).substr(0, Name(one).find(" (")) + ", sh xxh3 1, unit xxh3 2");
  EXPECT_EQ(NameBeside(Identity::Named("a"), Identity::Named("b")), "a");
}

TEST(Identity, HasNoControlCharactersOrEmptyFacts) {
  EXPECT_EQ(Name(Identity().Add("command", "rtl \033[2J").Add("files", "")),
            "external program `rtl \\x1b[2J`");
}

}  // namespace
}  // namespace mmadiff
