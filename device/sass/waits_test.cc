// The machine code of all kernels of a build waits for its instructions of variable latency, and a
// changed scoreboard is noticed unless other waits make it unnecessary. Kernels are skipped without
// nvdisasm or a CUDA Toolkit.
#include "device/sass/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "device/sass/lanes.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/testing/executed.h"

namespace mmadiff::sass {
namespace {

using testing::HasSubstr;

const Line kParameter = {"ULDC.64 UR4, c[0x0][0x210]", {}}, kEnd = {"EXIT", {}};

TEST(Waits, ForResultsAndOperands) {
  const Line load = {"LDG.E R6, [UR4]", {.write_barrier = 2}}, add = {"FADD R7, R7, R6", {}},
             waits = {"FADD R7, R7, R6", {.waits = 1 << 2}};
  EXPECT_EQ(Missing({kParameter, load, waits, add, kEnd}), "");
  EXPECT_EQ(Missing({kParameter, load, add, kEnd}),
            "k: FADD R7, R7, R6 at 0x20 reads R6, which LDG.E R6, [UR4] at 0x10 writes, without "
            "waiting for it");
  EXPECT_EQ(Missing({kParameter, load, add, kEnd}, false), "");
  EXPECT_THAT(Missing({kParameter, load, {"MOV R6, 0x1", {.waits = 1 << 3}}, kEnd}),
              HasSubstr(" writes R6, which LDG.E R6, [UR4] at 0x10 writes too, "));
  EXPECT_THAT(Missing({kParameter, {"STG.E [UR4], R6", {}}, {"MOV R6, 0x1", {}}, kEnd}),
              HasSubstr(" writes R6, which STG.E [UR4], R6 at 0x10 reads, "));
  EXPECT_EQ(Missing({kParameter,
                     {"STG.E [UR4], R6", {.read_barrier = 1}},
                     {"MOV R6, 0x1", {.waits = 1 << 1}},
                     kEnd}),
            "");
  EXPECT_THAT(Missing({{"S2UR UR6, SR_CTAID.X", {}}, {"UMOV UR7, UR6", {}}, kEnd}),
              HasSubstr(" reads UR6"));
  EXPECT_THAT(Missing({{"S2UR UR9, SR_CTAID.X", {}}, {"LDG.E R6, desc[UR8][R2.64]", {}}, kEnd}),
              HasSubstr(" reads UR9"));
  EXPECT_THAT(Missing({{"SHFL.IDX P0, R9, R27, R25, 0x1f", {}}, {"@P0 MOV R2, R3", {}}, kEnd}),
              HasSubstr(" reads P0"));
}

TEST(Waits, SeesOtherLanes) {
  const Line compare = {"ISETP.NE.U32.AND P0, PT, R1, RZ, PT", {}},
             load = {"@P0 LDG.E R6, [UR4]", {.write_barrier = 0, .read_barrier = 1}};
  // No lane loads: R1 is 0. Only the guard is read.
  EXPECT_EQ(Missing({kParameter, compare, load, {"MOV R7, R6", {}}, kEnd}), "");
  EXPECT_THAT(Missing({{"SHFL.IDX P0, R9, R27, R25, 0x1f", {}}, {"@!P0 MOV R9, R3", {}}, kEnd}),
              HasSubstr(" reads P0"));
  // The first load leaves its read barrier to the second, in no lane.
  const Line first = {"LDG.E R7, [UR4+R8]", {.write_barrier = 2}};
  EXPECT_EQ(Missing({kParameter, compare, first, load, {"MOV R8, RZ", {.waits = 2}}, kEnd}), "");
}

TEST(Waits, KnowsQueues) {
  const Line first = {"SHFL.IDX PT, R1, R2, R3, 0x1f", {}}, use = {"MOV R4, R1", {.waits = 1}};
  EXPECT_EQ(Missing({first, {"SHFL.IDX PT, R2, R5, R6, 0x1f", {.write_barrier = 0}}, use, kEnd}),
            "");
  EXPECT_THAT(Missing({first, {"MOVM.16.MT88 R7, R5", {.write_barrier = 0}}, use, kEnd}),
              HasSubstr("reads R1"));
  // Loads write in any order, but read in order.
  const Line load = {"LDG.E R6, [UR4+R8]", {}},
             other = {"LDG.E R7, [UR4]", {.write_barrier = 0, .read_barrier = 1}};
  EXPECT_THAT(Missing({kParameter, load, other, {"MOV R4, R6", {.waits = 1}}, kEnd}),
              HasSubstr("reads R6"));
  EXPECT_EQ(Missing({kParameter, load, other, {"MOV R8, R4", {.waits = 2}}, kEnd}), "");
  // Generic and local loads share a queue, without those of global memory.
  const Latency local = LatencyOf("LDL", "sm_90a"), generic = LatencyOf("LD", "sm_90a");
  EXPECT_EQ(local.queue, generic.queue);
  EXPECT_NE(local.queue, LatencyOf("LDG", "sm_90a").queue);
}

constexpr const char* kTargets[] = {"sm_75",   "sm_80",   "sm_89",  "sm_90a",
                                    "sm_100a", "sm_103a", "sm_120a"};

class Kernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string target = GetParam();
    const std::string cubin = absl::StrCat(MMADIFF_CUBINS "/kernels.", target, ".cubin");
    if (!FindDisassembler().ok()) GTEST_SKIP() << "no nvdisasm";
    if (!std::filesystem::exists(cubin)) GTEST_SKIP() << "built without a CUDA Toolkit";
    static std::map<std::string, Programs> loaded;
    const auto [at, first] = loaded.try_emplace(target);
    if (first) at->second = ProgramsIn(cubin, target);
    programs_ = &at->second;
    natives_.emplace(std::string(absl::StripSuffix(target, "a")));
  }

  // Whether the kernel waits for all; nullopt if it is not executed.
  std::optional<bool> IsClean(const Program& program) {
    Waits waits(GetParam(), *natives_);
    const absl::Status s = Executed(program, *natives_, waits);
    EXPECT_TRUE(s.ok() || absl::IsUnimplemented(s) || absl::StrContains(s.message(), ", without "))
        << s;
    if (absl::IsUnimplemented(s)) return std::nullopt;
    return s.ok();
  }

  const Programs* programs_ = nullptr;
  std::optional<Natives> natives_;
};

TEST_P(Kernels, Wait) {
  int clean = 0;
  for (const auto& [name, program] : *programs_) {
    const std::optional<bool> is_clean = IsClean(program);
    EXPECT_NE(is_clean, false) << name;
    clean += is_clean == true;
  }
  EXPECT_GE(clean, 200);
}

TEST_P(Kernels, SetWriteBarriersWhereTheLatencyIsVariable) {
  std::map<std::string, bool> sets;  // by name of an instruction with a result
  for (const auto& [name, program] : *programs_) {
    for (const Instruction& in : program.instructions) {
      EXPECT_TRUE(in.control.known);
      const bool barrier = in.control.write_barrier != Control::kNone;
      if (!UsesOf(in, *natives_).writes.empty()) sets[in.name] |= barrier;
    }
  }
  for (const auto& [name, barrier] : sets) {
    EXPECT_EQ(LatencyOf(name, GetParam()).variable, barrier) << name;
  }
}

// Overwrites whatever an instruction does not read by UsesOf(), and restores what it does not write.
class Poison : public Observer {
 public:
  Poison(const Program& program, const Natives& natives) : natives_(natives) {
    std::set<std::pair<int, int>> all;
    for (const Instruction& in : program.instructions) {
      const Uses uses = UsesOf(in, natives);
      for (const auto* const some : {&uses.reads, &uses.writes, &uses.guard}) {
        for (const Storage& s : *some) all.insert({s.kind, s.index});
      }
    }
    for (const auto& [kind, index] : all) {
      all_.push_back({static_cast<Operand::Kind>(kind), index});
    }
  }
  absl::Status Before(const Instruction& in, uint32_t, uint32_t guarded, Lanes& warp) override {
    uses_ = UsesOf(in, natives_);
    if (guarded == 0) uses_.writes.clear();
    values_.clear();
    for (const Storage& s : all_) {
      for (int lane = 0; lane < LanesOf(s); ++lane) {
        const uint32_t value = Get(s, lane, warp);
        values_.push_back(value);
        if (!absl::c_linear_search(uses_.reads, s)) Set(s, lane, ~value * 2654435761u, warp);
      }
    }
    return absl::OkStatus();
  }
  absl::Status After(const Instruction&, Lanes& warp) override {
    size_t at = 0;
    for (const Storage& s : all_) {
      const bool written = absl::c_linear_search(uses_.writes, s);
      for (int lane = 0; lane < LanesOf(s); ++lane, ++at) {
        if (!written) Set(s, lane, values_[at], warp);
      }
    }
    return absl::OkStatus();
  }

 private:
  static Operand OperandOf(const Storage& s) {
    Operand o;
    o.kind = s.kind;
    o.index = s.index;
    return o;
  }
  static int LanesOf(const Storage& s) {
    return s.kind == Operand::kRegister || s.kind == Operand::kPredicate ? 32 : 1;
  }
  static bool IsRegister(const Storage& s) {
    return s.kind == Operand::kRegister || s.kind == Operand::kUniform;
  }
  static uint32_t Get(const Storage& s, int lane, Lanes& warp) {
    return IsRegister(s) ? static_cast<uint32_t>(warp.Source(OperandOf(s), lane, false))
                         : uint32_t{warp.Condition(OperandOf(s), lane)};
  }
  static void Set(const Storage& s, int lane, uint32_t value, Lanes& warp) {
    if (IsRegister(s)) {
      warp.Set(OperandOf(s), lane, value);
    } else {
      warp.SetFlag(OperandOf(s), lane, (value & 1) != 0);
    }
  }

  const Natives& natives_;
  std::vector<Storage> all_;
  Uses uses_;
  std::vector<uint32_t> values_;
};

class Trace : public Observer {
 public:
  struct Step {
    int64_t number;  // of the instruction in the program
    bool executes;   // in a lane
  };
  explicit Trace(const Program& program) : program_(program) {}
  absl::Status Before(const Instruction& in, uint32_t, uint32_t guarded, Lanes& warp) override {
    steps_[&warp].push_back({&in - program_.instructions.data(), guarded != 0});
    return absl::OkStatus();
  }
  absl::Status After(const Instruction&, Lanes&) override { return absl::OkStatus(); }
  const std::map<const Lanes*, std::vector<Step>>& steps() const { return steps_; }  // by warp

 private:
  const Program& program_;
  std::map<const Lanes*, std::vector<Step>> steps_;
};

TEST_P(Kernels, UseOnlyTheirRegisters) {
  int count = 0;
  for (const auto& [name, program] : *programs_) {
    Trace trace(program);
    Poison poison(program, *natives_);
    std::vector<uint32_t> right, poisoned;
    if (++count % 3 != 0 || !Executed(program, *natives_, trace, &right).ok()) continue;
    const absl::Status s = Executed(program, *natives_, poison, &poisoned);
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(right, poisoned) << name;
  }
}

// The pairs of steps of a warp in which the second uses a register of the first, which has a variable
// latency, or is a barrier behind a fence. They determine whether scoreboards suffice, without a
// simulation: each pair needs a step in between, or the second one, that waits for a scoreboard of the
// first or of a later step of its queue.
class Pairs {
 public:
  Pairs(const Program& program, const std::vector<Trace::Step>& steps, const Natives& natives)
      : program_(program), steps_(steps) {
    for (const Trace::Step& step : steps) {
      const Instruction& in = program.instructions[step.number];
      latencies_.push_back(LatencyOf(in.name, program.target));
      uses_.push_back(UsesOf(in, natives));
    }
    for (size_t second = 0; second < steps.size(); ++second) {
      for (size_t first = 0; first < second; ++first) AddPair(first, second);
    }
  }

  bool Suffice(const std::vector<Instruction>& code) const {
    return absl::c_all_of(pairs_, [&](const Pair& pair) {
      for (size_t wait = pair.first + 1; wait <= pair.second; ++wait) {
        const uint32_t waits = code[steps_[wait].number].control.waits;
        for (size_t other = pair.first; waits != 0 && other < wait; ++other) {
          if (Releases(code[steps_[other].number].control, waits, other, pair)) return true;
        }
      }
      return false;
    });
  }

 private:
  struct Pair {
    size_t first, second;
    bool of_read;  // the second only has to wait until the first has read its operands
  };

  static bool Meet(const std::vector<Storage>& a, const std::vector<Storage>& b, bool registers) {
    return absl::c_any_of(a, [&](const Storage& s) {
      return (!registers || s.kind == Operand::kRegister) && absl::c_linear_search(b, s);
    });
  }
  const std::string& NameAt(size_t step) const {
    return program_.instructions[steps_[step].number].name;
  }
  bool StoresShared(size_t end) const {
    for (size_t step = 0; step < end; ++step) {
      if (NameAt(step) == "STS" && steps_[step].executes) return true;
    }
    return false;
  }
  void AddPair(size_t first, size_t second) {
    const Uses &a = uses_[first], &b = uses_[second];
    if (!latencies_[first].variable || !steps_[first].executes) return;
    const bool executes = steps_[second].executes;
    if (NameAt(first) == "FENCE" && NameAt(second) == "BAR" && StoresShared(first)) {
      pairs_.push_back({first, second, false});
    }
    if (Meet(a.writes, b.guard, false) ||
        (executes && (Meet(a.writes, b.reads, false) || Meet(a.writes, b.writes, false)))) {
      pairs_.push_back({first, second, false});
    } else if (executes && latencies_[first].queue != latencies_[second].queue &&
               Meet(a.reads, b.writes, true)) {
      pairs_.push_back({first, second, true});
    }
  }
  bool Releases(const Control& control, uint32_t waits, size_t step, const Pair& pair) const {
    const Latency &first = latencies_[pair.first], &latency = latencies_[step];
    if (step != pair.first && (!latency.variable || latency.queue != first.queue)) return false;
    const auto waited = [waits](int scoreboard) { return (waits >> scoreboard & 1) != 0; };
    if (pair.of_read) return waited(control.write_barrier) || waited(control.read_barrier);
    return waited(control.write_barrier) && (step == pair.first || first.ordered);
  }

  const Program& program_;
  const std::vector<Trace::Step>& steps_;
  std::vector<Latency> latencies_;
  std::vector<Uses> uses_;
  std::vector<Pair> pairs_;
};

// Changes of one scoreboard of an instruction: each wait left out, each barrier left out or renamed.
std::vector<Control> ChangesOf(const Control& control) {
  std::vector<Control> changes;
  for (uint32_t waits = control.waits; waits != 0; waits &= waits - 1) {
    changes.push_back(control);
    changes.back().waits &= ~(waits & -waits);
  }
  for (int Control::*const barrier : {&Control::write_barrier, &Control::read_barrier}) {
    for (const int other : {int{Control::kNone}, (control.*barrier + 1) % 6}) {
      if (control.*barrier == Control::kNone) continue;
      changes.push_back(control);
      changes.back().*barrier = other;
    }
  }
  return changes;
}

TEST_P(Kernels, WithChangesAreNoticedUnlessOtherWaitsSuffice) {
  int kernels = 0, waits_noticed = 0, waits = 0, barriers_noticed = 0, barriers = 0;
  int number = 0;
  for (const auto& [name, program] : *programs_) {
    if (number++ % 20 != 0 && name != "mma_m8n8k4_f32_f16_f16_f32" &&
        name != "wgmma_m64n8k16_f32_f16_f16") {
      continue;
    }
    Trace trace(program);
    if (!Executed(program, *natives_, trace).ok()) continue;
    std::vector<Pairs> pairs;
    std::set<int64_t> executed;
    for (const auto& [warp, steps] : trace.steps()) {
      pairs.emplace_back(program, steps, *natives_);
      for (const Trace::Step& step : steps) executed.insert(step.number);
    }
    const auto suffice = [&pairs](const std::vector<Instruction>& code) {
      return absl::c_all_of(pairs, [&](const Pairs& warp) { return warp.Suffice(code); });
    };
    EXPECT_TRUE(suffice(program.instructions)) << name;
    ++kernels;
    Program changed = program;
    for (const int64_t i : executed) {
      const Control original = changed.instructions[i].control;
      for (const Control& change : ChangesOf(original)) {
        changed.instructions[i].control = change;
        const bool noticed = IsClean(changed) == false;
        EXPECT_EQ(noticed, !suffice(changed.instructions))
            << name << ": " << changed.instructions[i].text;
        const bool wait = change.waits != original.waits;
        ++(wait ? waits : barriers);
        (wait ? waits_noticed : barriers_noticed) += noticed;
      }
      changed.instructions[i].control = original;
    }
  }
  std::printf("%s: %d kernels: noticed %d of %d waits left out, %d of %d changed barriers\n",
              GetParam(), kernels, waits_noticed, waits, barriers_noticed, barriers);
  EXPECT_GT(2 * waits_noticed, waits);
}

INSTANTIATE_TEST_SUITE_P(Targets, Kernels, testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace mmadiff::sass
