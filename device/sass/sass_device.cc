#include "device/sass/sass_device.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/cuda/kernel.h"
#include "device/gpu/fragments.h"
#include "device/sass/machine.h"
#include "device/sass/natives.h"
#include "device/sass/nvdisasm.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr int64_t kExecutionsAtATime = 4096;
constexpr uint64_t kMaxInstructions = 100'000;  // of an execution
constexpr uint32_t kUnwritten = 0x9e3779b9;     // in results that the code did not write

// Where the machine code comes from.
struct Source {
  const PtxTarget* target = nullptr;
  Variant variant;
  std::string ptxas, nvdisasm, options, version;  // assembled for each instruction
  std::string text;                               // of a file: the output of nvdisasm
};

class Sass : public Device {
 public:
  Sass(absl::string_view argument, Source source)
      : argument_(argument), source_(std::move(source)), natives_(source_.target->arch) {}

  std::string name() const override { return absl::StrCat("sass:", argument_); }
  Identity identity() const override {
    return Identity()
        .Add("interpreted", source_.text.empty()
                                ? absl::StrCat("ptxas ", source_.version, " ", source_.options,
                                               SuffixOf(source_.variant))
                                : absl::StrCat("file ", argument_))
        .Add("native_model", absl::StrCat(kModelVersion));
  }
  bool Emulates(const Operation& op) const override { return !IsNative(op); }
  absl::Status Supports(const Operation& op) const override {
    if (op.arch() != source_.target->arch) {
      return absl::NotFoundError(
          absl::StrCat(op.name, " is not an instruction of ", source_.target->arch));
    }
    const Layout layout = op.instruction->layout;
    if (layout == Layout::kNvidiaWgmma || layout == Layout::kNvidiaTcgen05) {
      return absl::NotFoundError("sass: executes mma, wmma and fma, but not wgmma or tcgen05");
    }
    return HasKernel(*op.instruction, *source_.target, source_.variant);
  }

 private:
  struct Loaded {
    Kernel kernel;
    sass::Program program;
  };

  absl::StatusOr<const Loaded*> Load(const Operation& op) {
    const auto [at, first] = loaded_.try_emplace(&op, absl::UnknownError(""));
    if (first) at->second = Assembled(op);
    RETURN_IF_ERROR(at->second.status());
    return &*at->second;
  }

  absl::StatusOr<Loaded> Assembled(const Operation& op) const {
    Loaded loaded = {KernelOf(*op.instruction, *source_.target, source_.variant), {}};
    std::string text = source_.text;
    if (text.empty()) {
      ASSIGN_OR_RETURN(text, sass::AssembledText(source_.ptxas, source_.options, source_.nvdisasm,
                                                 loaded.kernel.text));
    }
    ASSIGN_OR_RETURN(sass::Programs programs, sass::ParsePrograms(text, loaded.kernel.entry));
    const auto program = programs.find(loaded.kernel.entry);
    if (program == programs.end()) {
      return absl::NotFoundError(absl::StrCat(argument_, " has no kernel ", loaded.kernel.entry));
    }
    loaded.program = std::move(program->second);
    return loaded;
  }

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    absl::StatusOr<const Loaded*> loaded = Load(op);
    if (!loaded.ok()) {
      return absl::IsNotFound(loaded.status())
                 ? loaded.status()
                 : absl::UnimplementedError(loaded.status().message());
    }
    const Kernel& kernel = (*loaded)->kernel;
    const Fragments fragments(*op.instruction, kernel);
    const int64_t executions = fragments.Executions(batch);
    d.resize(batch.dot_products());
    for (int64_t first = 0; first < executions; first += kExecutionsAtATime) {
      if (StopRequested()) return absl::CancelledError("stopped before its last answer");
      const int64_t count = std::min(kExecutionsAtATime, executions - first);
      PackedOperands in = fragments.Pack(batch, first, count);
      std::vector<uint32_t> out(count * kernel.d.words, kUnwritten), where(count, kUnwritten);
      const void* const parameters[] = {in.a.data(), in.b.data(), in.c.data(), out.data(),
                                        where.data()};
      const auto range = [](const std::vector<uint32_t>& words) {
        return sass::MemoryRange{words.data(), 4 * words.size()};
      };
      const sass::MemoryRange memory[] = {range(in.a), range(in.b), range(in.c), range(out),
                                          range(where)};
      sass::Counts counts;
      RETURN_IF_ERROR(sass::Execute((*loaded)->program,
                                    {count, kernel.threads, 0, parameters, sizeof(parameters),
                                     &natives_, memory, kMaxInstructions * count},
                                    counts));
      fragments.Unpack(batch, first, count, out, d.data());
    }
    return absl::OkStatus();
  }

  const std::string argument_;
  const Source source_;
  const sass::Natives natives_;
  std::map<const Operation*, absl::StatusOr<Loaded>> loaded_;
};

const PtxTarget* FindTarget(absl::string_view name) {
  for (const PtxTarget& t : PtxTargets()) {
    if (name == t.target) return &t;
  }
  return nullptr;
}

absl::Status NoTarget(absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat(
      "sass: no target '", name, "'; choose from: ",
      absl::StrJoin(PtxTargets(), ", ",
                    [](std::string* out, const PtxTarget& t) { absl::StrAppend(out, t.target); })));
}

// ".target sm_90a" in the text of nvdisasm.
std::string TargetIn(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text.substr(0, 1 << 16), '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, ".target")) {
      return std::string(absl::StripAsciiWhitespace(line));
    }
  }
  return "";
}

absl::StatusOr<Source> SourceOfFile(const std::string& path) {
  Source source;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat("sass: ", path, ": no such file"));
  }
  ASSIGN_OR_RETURN(source.nvdisasm, sass::FindDisassembler());
  ASSIGN_OR_RETURN(source.text, sass::DisassembledText(source.nvdisasm, path));
  const std::string target = TargetIn(source.text);
  source.target = FindTarget(target);
  if (source.target == nullptr) return NoTarget(target);
  return source;
}

absl::StatusOr<Source> SourceOfAssembler(absl::string_view argument) {
  Source source;
  std::string ptxas, level = "3", arch, suffix;
  for (const absl::string_view part : absl::StrSplit(argument, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    std::string* const value = pair.first == "ptxas"  ? &ptxas
                               : pair.first == "O"    ? &level
                               : pair.first == "arch" ? &arch
                                                      : nullptr;
    if (value != nullptr) {
      *value = std::string(pair.second);
    } else {
      absl::StrAppend(&suffix, ",", part);
    }
  }
  const std::optional<Variant> variant = VariantWithSuffix(suffix);
  if (!variant.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sass: '", suffix.substr(1),
        "': write arch=sm_90a,ptxas=PATH,O=3 (only arch is required), "
        "then perhaps a variant as for cuda:, such as overlap=c_reversed; or the path of a cubin"));
  }
  source.variant = *variant;
  source.target = FindTarget(arch);
  if (source.target == nullptr) return NoTarget(arch);
  if (level.size() != 1 || level[0] < '0' || level[0] > '3') {
    return absl::InvalidArgumentError(absl::StrCat("sass: O=", level, ": must be 0 to 3"));
  }
  ASSIGN_OR_RETURN(source.ptxas, sass::FindAssembler(ptxas));
  ASSIGN_OR_RETURN(source.nvdisasm, sass::FindDisassembler(source.ptxas));
  ASSIGN_OR_RETURN(source.version, sass::VersionOf(source.ptxas));
  source.options = absl::StrCat("-O", level, " -arch=", arch);
  return source;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenSass(absl::string_view argument) {
  const bool file = !absl::StrContains(argument, '=');
  ASSIGN_OR_RETURN(Source source,
                   file ? SourceOfFile(std::string(argument)) : SourceOfAssembler(argument));
  return std::make_unique<Sass>(argument, std::move(source));
}

}  // namespace mmadiff
