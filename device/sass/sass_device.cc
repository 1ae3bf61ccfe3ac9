#include "device/sass/sass_device.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/cuda/any_variant.h"
#include "device/cuda/kernel.h"
#include "device/cuda/overlap.h"
#include "device/sass/difference.h"
#include "device/sass/kernel_code.h"
#include "device/sass/natives.h"
#include "device/sass/nvdisasm.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// The machine code of one operation in many variants: it takes the disassembler as long as one.
struct Module {
  std::vector<Variant> variants;
  const Operation* op = nullptr;
  std::string text;
};

// Where the machine code comes from.
struct Source {
  sass::Toolchain tools;  // assembles each instruction
  Variant variant;
  std::string text;                // of a file, instead: the output of nvdisasm
  std::shared_ptr<Module> shared;  // by devices that execute the same operations in turn
};

class Sass : public Device {
 public:
  Sass(absl::string_view argument, Source source)
      : argument_(argument), source_(std::move(source)), natives_(source_.tools.target->arch) {}

  std::string name() const override { return absl::StrCat("sass:", argument_); }
  Identity identity() const override {
    const sass::Toolchain& tools = source_.tools;
    return Identity()
        .Add("interpreted", source_.text.empty()
                                ? absl::StrCat("ptxas ", tools.version, " ", tools.options,
                                               SuffixOf(source_.variant))
                                : absl::StrCat("file ", argument_))
        .Add("native_model", absl::StrCat(kModelVersion));
  }
  bool Emulates(const Operation& op) const override { return !IsNative(op); }
  absl::Status Supports(const Operation& op) const override {
    const PtxTarget& target = *source_.tools.target;
    if (op.arch() != target.arch) {
      return absl::NotFoundError(absl::StrCat(op.name, " is not an instruction of ", target.arch));
    }
    const Layout layout = op.instruction->layout;
    if (layout == Layout::kNvidiaMma884 && IsNative(op)) {
      return absl::NotFoundError("sass: does not execute the steps of mma.m8n8k4");
    }
    if (layout == Layout::kNvidiaWgmma || layout == Layout::kNvidiaTcgen05) {
      return absl::NotFoundError("sass: executes mma, wmma and fma, but not wgmma or tcgen05");
    }
    return HasKernel(*op.instruction, target, source_.variant);
  }
  absl::StatusOr<std::string> Reason(const Operation& op, const Batch& batch) override;

 private:
  using CodeOr = absl::StatusOr<sass::KernelCode>;

  // The disassembler's text of the operation's kernels, of the variants that it has.
  absl::StatusOr<std::string> TextOf(const Operation& op, std::span<const Variant> variants) const {
    if (!source_.text.empty()) return source_.text;
    std::vector<ModuleEntry> entries;
    for (const Variant& v : variants) {
      if (!HasKernel(*op.instruction, *source_.tools.target, v).ok()) continue;
      entries.push_back({*op.instruction, VariantFor(*op.instruction, v)});
    }
    return sass::AssembledText(source_.tools, entries);
  }
  CodeOr CodeIn(absl::string_view text, const Operation& op, const Variant& variant) const {
    return sass::Find(text, *source_.tools.target, *op.instruction, variant);
  }
  CodeOr Load(const Operation& op) const {
    const Variant& variant = source_.variant;
    Module* const module = source_.shared.get();
    if (module == nullptr || !absl::c_linear_search(module->variants, variant)) {
      ASSIGN_OR_RETURN(const std::string text, TextOf(op, {&variant, 1}));
      return CodeIn(text, op, variant);
    }
    if (module->op != &op) {
      ASSIGN_OR_RETURN(module->text, TextOf(op, module->variants));
      module->op = &op;
    }
    return CodeIn(module->text, op, variant);
  }
  absl::StatusOr<std::vector<uint64_t>> Answers(const sass::KernelCode& code, const Operation& op,
                                                const Batch& batch) const {
    std::vector<uint64_t> d;
    RETURN_IF_ERROR(sass::Run(
        code, *op.instruction, natives_, batch, [this] { return StopRequested(); }, d));
    return d;
  }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const auto [at, first] = loaded_.try_emplace(&op, absl::UnknownError(""));
    if (first) {
      at->second = Load(op);
      const absl::Status waits =
          at->second.ok() ? sass::CheckWaits(*at->second, *op.instruction, natives_, batch)
                          : absl::OkStatus();
      if (!waits.ok()) at->second = waits;
    }
    RETURN_IF_ERROR(at->second.status());
    ASSIGN_OR_RETURN(d, Answers(*at->second, op, batch));
    return absl::OkStatus();
  }

  const std::string argument_;
  const Source source_;
  const sass::Natives natives_;
  std::map<const Operation*, CodeOr> loaded_;
};

// The variant without overlap and surroundings.
Variant Plain(Variant variant) {
  variant.overlap.clear();
  variant.around.clear();
  return variant;
}

// From small to large: its surroundings, single registers without and with them, and the whole.
std::vector<Variant> PartsOf(const Variant& whole, const RegisterCounts& counts) {
  std::vector<Variant> parts;
  for (const std::string& around : {std::string(), whole.around}) {
    Variant part = Plain(whole);
    part.around = around;
    if (part != Plain(whole)) parts.push_back(part);
    for (const std::string& one : SingleOverlaps(whole.overlap, counts)) {
      part.overlap = one;
      parts.push_back(part);
    }
    if (whole.around.empty()) break;
  }
  if (!absl::c_linear_search(parts, whole)) parts.push_back(whole);
  return parts;
}

absl::StatusOr<std::string> Sass::Reason(const Operation& op, const Batch& batch) {
  const Variant plain = Plain(source_.variant);
  std::vector<Variant> parts;
  if (source_.variant != plain) parts = PartsOf(source_.variant, RegistersOf(*op.instruction));
  std::vector<Variant> all = parts;
  all.push_back(plain);
  ASSIGN_OR_RETURN(const std::string text, TextOf(op, all));
  ASSIGN_OR_RETURN(const sass::KernelCode apart, CodeIn(text, op, plain));
  ASSIGN_OR_RETURN(const std::vector<uint64_t> d, Answers(apart, op, batch));
  sass::Expressions pool;
  const auto follow = [&](const sass::KernelCode& code) {
    return sass::Follow(code, *op.instruction, natives_, batch, pool);
  };
  ASSIGN_OR_RETURN(const sass::Followed wanted, follow(apart));
  for (const Variant& part : parts) {
    ASSIGN_OR_RETURN(const sass::KernelCode code, CodeIn(text, op, part));
    ASSIGN_OR_RETURN(const std::vector<uint64_t> own, Answers(code, op, batch));
    if (own == d) continue;
    ASSIGN_OR_RETURN(const sass::Followed got, follow(code));
    const auto at = std::ranges::mismatch(got.d, wanted.d);
    if (at.in1 == got.d.end()) continue;
    return absl::StrCat(
        "with ", SuffixOf(part).substr(1), " alone, ",
        sass::DifferenceText(pool, *got.origins, *at.in1, *wanted.origins, *at.in2));
  }
  return absl::StrCat("the machine code computes ", pool.Text(wanted.d[0], 3));
}

absl::StatusOr<Source> SourceOfText(std::string text, const Variant& variant = {}) {
  Source source;
  ASSIGN_OR_RETURN(source.tools.target, sass::FindTarget(sass::TargetIn(text)));
  source.variant = variant;
  source.text = std::move(text);
  return source;
}

absl::StatusOr<Source> SourceOfFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat("sass: ", path, ": no such file"));
  }
  ASSIGN_OR_RETURN(const std::string nvdisasm, sass::FindDisassembler());
  ASSIGN_OR_RETURN(std::string text, sass::DisassembledText(nvdisasm, path));
  return SourceOfText(std::move(text));
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
    return absl::InvalidArgumentError(
        absl::StrCat("sass: '", suffix.substr(1),
                     "': write arch=sm_90a,ptxas=PATH,O=3 (only arch is required), then perhaps ",
                     VariantValues(), "; or the path of a cubin"));
  }
  source.variant = *variant;
  ASSIGN_OR_RETURN(source.tools, sass::FindToolchain(arch, ptxas, level));
  return source;
}

// A cubin, or an assembler with one variant.
absl::StatusOr<std::unique_ptr<Device>> OpenOne(absl::string_view argument,
                                                std::shared_ptr<Module> shared) {
  const bool file = !absl::StrContains(argument, '=');
  ASSIGN_OR_RETURN(Source source,
                   file ? SourceOfFile(std::string(argument)) : SourceOfAssembler(argument));
  source.shared = std::move(shared);
  return std::make_unique<Sass>(argument, std::move(source));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenSass(absl::string_view argument) {
  AnyVariants any = AnyVariantsOf(argument);
  if (any.any.empty()) return OpenOne(argument, nullptr);
  const auto shared = std::make_shared<Module>();
  for (const std::string& suffix : any.suffixes) {
    shared->variants.push_back(*VariantWithSuffix(suffix));
  }
  return OpenAnyVariant(absl::StrCat("sass:", argument), std::move(any),
                        [shared](absl::string_view one) { return OpenOne(one, shared); });
}

absl::StatusOr<std::unique_ptr<Device>> SassOfText(std::string text, const Variant& variant) {
  ASSIGN_OR_RETURN(Source source, SourceOfText(std::move(text), variant));
  return std::make_unique<Sass>("text", std::move(source));
}

}  // namespace mmadiff
