#include "device/sass/waits.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/sass/lanes.h"
#include "device/sass/opcodes.h"
#include "device/status_macros.h"

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
    {"LD", false, "loads"},
    {"LDS", true},
    {"LDL", false, "loads"},
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
    {"FENCE", false},
};

constexpr absl::string_view kGroupQueue = "groups";

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

// Matrix instructions of one shape may follow each other with the same accumulators.
bool AccumulateInTurn(const Instruction& first, const Instruction& second) {
  const auto shape = [](const Instruction& in) {
    const std::vector<absl::string_view> parts = absl::StrSplit(in.form, '.');
    return parts.size() < 2 ? "" : parts[1];
  };
  return first.results[0].index == second.results[0].index && shape(first) == shape(second);
}

bool IsGroupMatrix(const Instruction& in) { return Opcodes()[in.opcode].op == Op::kGroupMatrix; }

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
    if (o->group >= 0) continue;
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

// Descriptors are read at once, as above.
void Waits::StartGroupMatrix(const Instruction& in, Uses uses, WarpState& own) {
  std::erase_if(uses.reads, [](const Storage& s) { return s.kind != Operand::kRegister; });
  own.started.push_back({&in,
                         ~0u,
                         {.variable = true, .queue = kGroupQueue},
                         std::move(uses.reads),
                         std::move(uses.writes),
                         own.groups});
  own.groups += in.commits;
}

absl::Status Waits::Check(const Instruction& in, uint32_t active, uint32_t guarded,
                          const Uses& uses, const Outstanding& o) const {
  if (o.group >= 0 && IsGroupMatrix(in) && AccumulateInTurn(*o.in, in)) return absl::OkStatus();
  const auto error = [&](absl::string_view does, const Storage& s, absl::string_view pending) {
    return absl::InternalError(absl::StrCat(At(in), does, NameOf(s), ", which ", At(*o.in), pending,
                                            ", without waiting for it"));
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
  return absl::OkStatus();
}

absl::Status Waits::Before(const Instruction& in, uint32_t active, uint32_t guarded, Lanes& warp) {
  if (!in.control.known) return absl::OkStatus();
  WarpState& own = warps_[{warp.block().number, &warp}];
  Wait(in.control.waits, own.started);
  const bool waits_for_groups =
      Opcodes()[in.opcode].op == Op::kWarpgroup && (in.has & kArrive) == 0 && guarded != 0;
  if (waits_for_groups) {
    const int64_t retired = own.groups - in.sources[1].offset;
    std::erase_if(own.started,
                  [&](const Outstanding& o) { return o.group >= 0 && o.group < retired; });
  }
  Uses uses = UsesOf(in, natives_);
  for (const Outstanding& o : own.started) RETURN_IF_ERROR(Check(in, active, guarded, uses, o));
  RETURN_IF_ERROR(groups_.Before(in, guarded, uses, warp, [&own](const Instruction& earlier) {
    return absl::c_any_of(own.started, [&](const Outstanding& o) { return o.in == &earlier; });
  }));
  if (IsGroupMatrix(in) && guarded != 0) {
    StartGroupMatrix(in, std::move(uses), own);
  } else {
    // Without a lane too: later instructions rely on its scoreboards and its place in the order.
    Start(in, guarded, std::move(uses), own.started);
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
