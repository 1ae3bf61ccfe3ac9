#include "device/sass/waits.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/sass/lanes.h"

namespace mmadiff::sass {
namespace {

struct VariableLatency {
  const char* name;
  bool ordered;
  const char* queue = "";    // "": its own
  const char* targets = "";  // "": all
};

// Source: the machine code that ptxas 13.0.88 makes of the kernels of this project and of
// fuzz/gpu/resident.cu. On these targets, and no others, the instructions with a result set write
// barriers (waits_test.cc); stores set read barriers. Those that leave the barrier to a later one are
// ordered, in a queue with it.
constexpr VariableLatency kVariableLatencies[] = {
    {"LDG", false},
    {"LD", false},
    {"LDS", true},
    {"LDL", false},
    {"LDC", false},
    {"LDCU", false},
    {"STG", false},
    {"ST", false},
    {"STS", false},
    {"STL", false},
    {"RED", false},
    {"REDG", false},
    {"ATOM", false},
    {"ATOMG", false},
    {"S2R", false},
    {"S2UR", false},
    {"R2UR", false, "", "sm_75 sm_80 sm_86 sm_89"},
    {"REDUX", false},
    {"SHFL", true},
    {"MOVM", true},
    {"F2F", true, "conversions"},
    {"F2I", true, "conversions"},
    {"I2F", true, "conversions"},
    {"MUFU", true, "conversions"},
    {"FLO", false},
    {"POPC", false},
    {"DFMA", false, "", "sm_75 sm_80 sm_86 sm_89 sm_103a sm_120a"},
    {"DMMA", true},
    {"HMMA", true, "", "sm_75"},
    {"IMMA", true, "", "sm_75 sm_103a"},
    {"BMMA", true, "", "sm_75"},
};

bool IsUniform(const Storage& s) {
  return s.kind == Operand::kUniform || s.kind == Operand::kUniformPredicate;
}

// The first of `some`, used by `lanes`, that is also in `others`, used by `other_lanes`; nullptr: none.
const Storage* Shared(const std::vector<Storage>& some, uint32_t lanes,
                      const std::vector<Storage>& others, uint32_t other_lanes) {
  if (lanes == 0 || other_lanes == 0) return nullptr;
  for (const Storage& s : some) {
    const bool meet = IsUniform(s) || (lanes & other_lanes) != 0;
    if (meet && absl::c_linear_search(others, s)) return &s;
  }
  return nullptr;
}

std::string At(const Instruction& in) {
  return absl::StrCat(in.text, " at 0x", absl::Hex(in.address));
}

}  // namespace

Latency LatencyOf(absl::string_view name, absl::string_view target) {
  for (const VariableLatency& v : kVariableLatencies) {
    if (name != v.name) continue;
    const std::vector<absl::string_view> targets =
        absl::StrSplit(v.targets, ' ', absl::SkipEmpty());
    if (!targets.empty() && !absl::c_linear_search(targets, target)) break;
    return {true, v.ordered, *v.queue == '\0' ? v.name : v.queue};
  }
  return {};
}

void Waits::Wait(uint32_t scoreboards, Started& started) {
  const auto waits = [scoreboards](int scoreboard) { return (scoreboards >> scoreboard & 1) != 0; };
  std::vector<absl::string_view> read, written;  // queues whose earlier instructions have done so
  for (auto o = started.rbegin(); o != started.rend(); ++o) {
    const Control& control = o->in->control;
    const absl::string_view queue = o->latency.queue;
    const bool writes_done = waits(control.write_barrier) || absl::c_linear_search(written, queue);
    const bool reads_done =
        writes_done || waits(control.read_barrier) || absl::c_linear_search(read, queue);
    if (reads_done) {
      o->reads.clear();
      read.push_back(queue);
    }
    if (writes_done && o->latency.ordered) written.push_back(queue);
    o->done = writes_done || (reads_done && o->writes.empty());
  }
  std::erase_if(started, [](const Outstanding& o) { return o.done; });
}

void Waits::Start(const Instruction& in, uint32_t lanes, Uses uses, Started& started) const {
  const Latency latency = LatencyOf(in.name, target_);
  if (!latency.variable) return;
  std::erase_if(started, [&](const Outstanding& o) {  // of an earlier round of a loop
    if (o.in == &in) lanes |= o.lanes;
    return o.in == &in;
  });
  // The other operands are read at once: sm_75's kernels of fma overwrite uniform registers of loads.
  std::erase_if(uses.reads, [](const Storage& s) { return s.kind != Operand::kRegister; });
  started.push_back({&in, lanes, latency, std::move(uses.reads), std::move(uses.writes)});
}

absl::Status Waits::Before(const Instruction& in, uint32_t active, uint32_t guarded, Lanes& warp) {
  if (!in.control.known) return absl::OkStatus();
  Started& started = warps_[{warp.block().number, &warp}];
  Wait(in.control.waits, started);
  Uses uses = UsesOf(in, natives_);
  for (const Outstanding& o : started) {
    const auto error = [&](absl::string_view does, const Storage& s, absl::string_view pending) {
      return absl::InternalError(absl::StrCat(At(in), does, NameOf(s), ", which ", At(*o.in),
                                              pending, ", without waiting for it"));
    };
    if (const Storage* s = Shared(uses.guard, active, o.writes, o.lanes)) {
      return error(" reads ", *s, " writes");
    }
    if (const Storage* s = Shared(uses.reads, guarded, o.writes, o.lanes)) {
      return error(" reads ", *s, " writes");
    }
    if (const Storage* s = Shared(uses.writes, guarded, o.writes, o.lanes)) {
      return error(" writes ", *s, " writes too");
    }
    const Storage* const s = Shared(uses.writes, guarded, o.reads, o.lanes);
    if (s != nullptr && o.latency.queue != LatencyOf(in.name, target_).queue) {
      return error(" writes ", *s, " reads");
    }
  }
  // Without a lane too: later instructions rely on its scoreboards and its place in the order.
  Start(in, guarded, std::move(uses), started);
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
