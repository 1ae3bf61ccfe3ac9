#include "device/sass/kernel_code.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/activity.h"
#include "device/cuda/mnemonic.h"
#include "device/gpu/fragments.h"
#include "device/sass/machine.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/waits.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

constexpr int64_t kExecutionsAtATime = 4096;
constexpr uint64_t kMaxInstructions = 100'000;  // of an execution
constexpr uint32_t kUnwritten = 0x9e3779b9;     // in results that the code did not write

// The memory of some executions.
struct Arrays {
  Arrays(const Kernel& kernel, PackedOperands operands, int64_t executions)
      : in(std::move(operands)),
        out(executions * kernel.d.words, kUnwritten),
        where(executions, kUnwritten) {}

  PackedOperands in;
  std::vector<uint32_t> out, where;
};

absl::Status Execute(const KernelCode& code, const Natives& natives, Arrays& arrays,
                     Observer* observer) {
  PackedOperands& in = arrays.in;
  const void* const parameters[] = {in.a.data(), in.b.data(), in.c.data(), arrays.out.data(),
                                    arrays.where.data()};
  std::vector<MemoryRange> memory;
  for (const auto* words : {&in.a, &in.b, &in.c, &arrays.out, &arrays.where}) {
    memory.push_back({words->data(), 4 * words->size()});
  }
  const auto executions = static_cast<int64_t>(arrays.where.size());
  Counts counts;
  return Execute(code.program,
                 {executions, code.kernel.threads, code.shared_bytes, parameters,
                  sizeof(parameters), &natives, memory, kMaxInstructions * executions, observer},
                 counts);
}

// The matrices that the kernel of wgmma copies to shared memory (device/cuda/wgmma_kernel.cc).
size_t SharedBytes(const Kernel& kernel, const mmadiff::Instruction& i, const Variant& variant) {
  if (i.layout != Layout::kNvidiaWgmma) return 0;
  const bool a = variant.a == SourceOfA::kShared;
  const int a_words = kernel.a.words - (i.sparse() ? kernel.threads : 0);  // metadata follow
  return sizeof(uint32_t) * (kernel.b.words + (a ? a_words : 0));
}

double NumberOf(const std::string& version) { return std::strtod(version.c_str(), nullptr); }

// The highest PTX version of an assembler (PTX ISA, release notes). Kernels need that of their target
// for a few instructions only.
const char* PtxVersionOf(absl::string_view ptxas) {
  constexpr std::pair<const char*, const char*> kVersions[] = {
      {"12.0.", "8.0"}, {"12.1.", "8.1"}, {"12.2.", "8.2"}, {"12.3.", "8.3"},
      {"12.4.", "8.4"}, {"12.5.", "8.5"}, {"12.6.", "8.5"}, {"12.7.", "8.6"}};
  for (const auto& [release, version] : kVersions) {
    if (absl::StartsWith(ptxas, release)) return version;
  }
  return "9.0";
}

}  // namespace

std::string TargetNames() {
  std::vector<absl::string_view> names;
  for (const PtxTarget& t : PtxTargets()) {
    if (HasMatrixNatives(t.arch)) names.push_back(t.target);
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<const PtxTarget*> FindTarget(absl::string_view name) {
  const absl::StatusOr<const PtxTarget*> target = TargetNamed(name);
  if (target.ok() && HasMatrixNatives((*target)->arch)) return target;
  return absl::InvalidArgumentError(
      absl::StrCat("sass: no target '", name, "'; choose from: ", TargetNames()));
}

absl::StatusOr<Toolchain> FindToolchain(absl::string_view target, const std::string& ptxas,
                                        absl::string_view level) {
  Toolchain tools;
  ASSIGN_OR_RETURN(tools.target, FindTarget(target));
  if (level.size() != 1 || level[0] < '0' || level[0] > '3') {
    return absl::InvalidArgumentError(absl::StrCat("sass: O=", level, ": must be 0 to 3"));
  }
  ASSIGN_OR_RETURN(tools.ptxas, FindAssembler(ptxas));
  ASSIGN_OR_RETURN(tools.nvdisasm, FindDisassembler(tools.ptxas));
  ASSIGN_OR_RETURN(tools.version, VersionOf(tools.ptxas));
  tools.options = absl::StrCat("-O", level, " -arch=", tools.target->target);
  return tools;
}

absl::StatusOr<KernelCode> Find(absl::string_view text, const PtxTarget& target,
                                const mmadiff::Instruction& instruction, const Variant& variant) {
  KernelCode code = {KernelOf(instruction, target, variant), {}, 0};
  code.shared_bytes = SharedBytes(code.kernel, instruction, variant);
  absl::StatusOr<Programs> programs = ParsePrograms(text, code.kernel.entry);
  if (!programs.ok()) return absl::UnimplementedError(programs.status().message());
  const auto program = programs->find(code.kernel.entry);
  if (program == programs->end()) {
    return absl::NotFoundError(absl::StrCat("no kernel ", code.kernel.entry));
  }
  code.program = std::move(program->second);
  code.program.target = target.target;
  return code;
}

absl::StatusOr<std::string> AssembledText(const Toolchain& tools,
                                          std::span<const ModuleEntry> entries) {
  const size_t count = entries.size();
  ShowActivity(absl::StrCat("ptxas ", tools.version, " assembles ", count,
                            count == 1 ? " kernel" : " kernels", count == 0 ? "" : " of ",
                            count == 0 ? "" : entries[0].instruction.name, " for ",
                            tools.target->target));
  PtxTarget target = *tools.target;
  const char* const most = PtxVersionOf(tools.version);
  if (NumberOf(most) < NumberOf(target.version)) target.version = most;
  absl::StatusOr<std::string> text =
      AssembledText(tools.ptxas, tools.options, tools.nvdisasm, ModuleOf(target, entries));
  if (absl::IsUnimplemented(text.status())) {
    return absl::UnimplementedError(
        absl::StrCat("ptxas ", tools.version, " rejects it: ", text.status().message()));
  }
  RETURN_IF_ERROR(text.status());
  if (const std::string made = TargetIn(*text); !made.empty() && made != tools.target->target) {
    return absl::InternalError(
        absl::StrCat(tools.ptxas, " makes machine code of ", made, ", not ", tools.target->target));
  }
  return text;
}

absl::Status Run(const KernelCode& code, const mmadiff::Instruction& instruction,
                 const Natives& natives, const Batch& batch, absl::FunctionRef<bool()> stop,
                 std::vector<uint64_t>& d) {
  const Fragments fragments(instruction, code.kernel);
  const int64_t executions = fragments.Executions(batch);
  d.resize(batch.dot_products());
  for (int64_t first = 0; first < executions; first += kExecutionsAtATime) {
    if (stop()) return absl::CancelledError("stopped before its last answer");
    const int64_t count = std::min(kExecutionsAtATime, executions - first);
    Arrays arrays(code.kernel, fragments.Pack(batch, first, count), count);
    RETURN_IF_ERROR(Execute(code, natives, arrays, nullptr));
    fragments.Unpack(batch, first, count, arrays.out, d.data());
  }
  return absl::OkStatus();
}

absl::Status CheckWaits(const KernelCode& code, const mmadiff::Instruction& instruction,
                        const Natives& natives, const Batch& batch) {
  if (!absl::c_all_of(code.program.instructions,
                      [](const Instruction& in) { return in.control.known; })) {
    return absl::UnimplementedError("the text of nvdisasm has no encodings, which show the waits");
  }
  Arrays arrays(code.kernel, Fragments(instruction, code.kernel).Pack(batch, 0, 1), 1);
  Waits waits(code.program.target, natives);
  return Execute(code, natives, arrays, &waits);
}

absl::StatusOr<Followed> Follow(const KernelCode& code, const mmadiff::Instruction& instruction,
                                const Natives& natives, const Batch& batch, Expressions& pool) {
  Arrays arrays(code.kernel, Fragments(instruction, code.kernel).Pack(batch, 0, 1), 1);
  const auto named = [](const char* name, const std::vector<uint32_t>& words) {
    return NamedMemory{name, {words.data(), 4 * words.size()}};
  };
  Followed followed;
  followed.origins = std::make_unique<Origins>(
      pool, natives,
      std::vector<NamedMemory>{named("a", arrays.in.a), named("b", arrays.in.b),
                               named("c", arrays.in.c)});
  RETURN_IF_ERROR(Execute(code, natives, arrays, followed.origins.get()));
  for (const uint32_t& word : arrays.out) {
    followed.d.push_back(followed.origins->StoredAt(&word));
  }
  for (const Slot& slot : code.kernel.d.slots) {
    if (followed.d[slot.word] >= 0) continue;
    return absl::InternalError(
        absl::StrCat(code.kernel.entry, " does not store word ", slot.word, " of D"));
  }
  return followed;
}

}  // namespace mmadiff::sass
