#include "device/sass/sass_device.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
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
#include "xxhash.h"

namespace mmadiff {
namespace {

// The machine code of one operation in many variants: it takes the disassembler as long as one.
struct Module {
  std::vector<Variant> variants;
  const Operation* op = nullptr;
  std::string text;
  std::string difference;  // of the first variant whose operands share registers wrongly
  // Each kernel's answers to the last batch: several variants have those of one kernel.
  Batch batch;
  std::map<std::string, std::vector<uint64_t>> answers;
};

// An operation's kernel.
struct Code {
  sass::KernelCode answers;
  // If operands share registers: the kernel with these, and that with copies instead.
  std::optional<sass::KernelCode> sharing, copied;
  bool equal = false;  // these two compute the same, whatever the operands
};

// Where the machine code comes from.
struct Source {
  sass::Toolchain tools;  // assembles each instruction
  Variant variant;
  std::string text;                // of a file, instead: the output of nvdisasm
  std::set<std::string> kernels;   // in it
  std::shared_ptr<Module> shared;  // by devices that execute the same operations in turn
};

// The variant without overlap and surroundings.
Variant Plain(Variant variant) {
  variant.overlap.clear();
  variant.around.clear();
  return variant;
}

// The single overlaps of the variant among operands, or those with D.
std::string Overlaps(const Operation& op, const Variant& variant, bool among_operands) {
  if (variant.overlap.empty()) return "";
  std::vector<std::string> single = SingleOverlaps(variant.overlap, RegistersOf(*op.instruction));
  std::erase_if(single, [&](const std::string& o) { return SharesOperands(o) != among_operands; });
  return absl::StrJoin(single, "+");
}

// The kernel whose results a variant must have: in registers of their own, with copies of those that
// operands share, if any.
Variant Reference(const Operation& op, const Variant& variant) {
  Variant part = Plain(variant);
  part.overlap = Overlaps(op, variant, true);
  part.copied = !part.overlap.empty();
  return part;
}

// The variant whose results are those of the operands as given: without registers that they share.
Variant AnsweringPart(const Operation& op, const Variant& variant) {
  Variant part = variant;
  if (SharesOperands(variant.overlap)) part.overlap = Overlaps(op, variant, false);
  return part;
}

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
  std::string ContentsHash() const override {
    if (source_.text.empty()) return "";
    return absl::StrFormat("%016x", XXH3_64bits(source_.text.data(), source_.text.size()));
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
    if (layout == Layout::kNvidiaTcgen05) {
      return absl::NotFoundError("sass: executes mma, wmma, wgmma and fma, but not tcgen05");
    }
    RETURN_IF_ERROR(HasKernel(*op.instruction, target, source_.variant));
    const std::string kernel = KernelName(*op.instruction, source_.variant);
    if (source_.text.empty() || source_.kernels.contains(kernel)) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat(argument_, " has no kernel ", kernel));
  }
  absl::StatusOr<std::string> Reason(const Operation& op, const Batch& batch,
                                     int64_t element) override;

 private:
  using CodeOr = absl::StatusOr<sass::KernelCode>;
  using Answered = absl::StatusOr<std::vector<uint64_t>>;

  // The disassembler's text of the operation's kernels, of the variants that it has.
  absl::StatusOr<std::string> TextOf(const Operation& op, std::span<const Variant> variants) const {
    if (!source_.text.empty()) return source_.text;
    std::vector<ModuleEntry> entries;
    std::set<std::string> names;
    for (const Variant& v : variants) {
      if (!HasKernel(*op.instruction, *source_.tools.target, v).ok()) continue;
      for (const Variant& one : {v, Reference(op, v), AnsweringPart(op, v)}) {
        if (!names.insert(KernelName(*op.instruction, one)).second) continue;
        entries.push_back({*op.instruction, VariantFor(*op.instruction, one)});
      }
    }
    return sass::AssembledText(source_.tools, entries);
  }
  CodeOr CodeIn(absl::string_view text, const Operation& op, const Variant& variant) const {
    return sass::Find(text, *source_.tools.target, *op.instruction, variant);
  }
  absl::StatusOr<std::string> LoadedText(const Operation& op) const;
  absl::StatusOr<Code> Load(const Operation& op, const Batch& batch) const;
  Answered Answers(const sass::KernelCode& code, const Operation& op, const Batch& batch) const {
    std::vector<uint64_t> d;
    RETURN_IF_ERROR(sass::Run(
        code, *op.instruction, natives_, batch, [this] { return StopRequested(); }, d));
    return d;
  }
  Answered CachedAnswers(const sass::KernelCode& code, const Operation& op,
                         const Batch& batch) const;
  absl::Status CompareSharing(const Code& code, const Operation& op, const Batch& batch) const;
  absl::StatusOr<std::string> Difference(const Operation& op, const Batch& batch,
                                         int64_t element) const;
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const auto [at, first] = loaded_.try_emplace(&op, absl::UnknownError(""));
    if (first) at->second = Load(op, batch);
    RETURN_IF_ERROR(at->second.status());
    if (at->second->sharing.has_value() && (first || !at->second->equal)) {
      const absl::Status compared = CompareSharing(*at->second, op, batch);
      if (compared.code() == absl::StatusCode::kInternal) at->second = compared;
      RETURN_IF_ERROR(compared);
    }
    ASSIGN_OR_RETURN(d, CachedAnswers(at->second->answers, op, batch));
    return absl::OkStatus();
  }

  const std::string argument_;
  const Source source_;
  const sass::Natives natives_;
  std::map<const Operation*, absl::StatusOr<Code>> loaded_;
};

absl::StatusOr<std::string> Sass::LoadedText(const Operation& op) const {
  const Variant& variant = source_.variant;
  Module* const module = source_.shared.get();
  if (module == nullptr || !absl::c_linear_search(module->variants, variant)) {
    return TextOf(op, {&variant, 1});
  }
  if (module->op != &op) {
    ASSIGN_OR_RETURN(module->text, TextOf(op, module->variants));
    module->op = &op;
    module->difference.clear();
  }
  return module->text;
}

// Also checks its waits and stores in the first execution of the batch.
absl::StatusOr<Code> Sass::Load(const Operation& op, const Batch& batch) const {
  const Variant& variant = source_.variant;
  ASSIGN_OR_RETURN(const std::string text, LoadedText(op));
  const auto find = [&](const Variant& one) -> CodeOr {
    ASSIGN_OR_RETURN(sass::KernelCode found, CodeIn(text, op, one));
    RETURN_IF_ERROR(sass::CheckWaits(found, *op.instruction, natives_, batch));
    sass::Expressions pool;  // each result must be stored
    const auto followed = sass::Follow(found, *op.instruction, natives_, batch, pool);
    if (absl::IsInternal(followed.status())) return followed.status();
    return found;
  };
  Code code;
  ASSIGN_OR_RETURN(code.answers, find(AnsweringPart(op, variant)));
  if (!SharesOperands(variant.overlap)) return code;
  ASSIGN_OR_RETURN(code.sharing, find(variant));
  ASSIGN_OR_RETURN(code.copied, find(Reference(op, variant)));
  sass::Expressions pool;
  const auto x = sass::Follow(*code.sharing, *op.instruction, natives_, batch, pool),
             y = sass::Follow(*code.copied, *op.instruction, natives_, batch, pool);
  code.equal = x.ok() && y.ok() && x->d == y->d && !x->origins->branches_on_data() &&
               !y->origins->branches_on_data();
  return code;
}

// Remembers them for other devices.
Sass::Answered Sass::CachedAnswers(const sass::KernelCode& code, const Operation& op,
                                   const Batch& batch) const {
  Module* const module = source_.shared.get();
  if (module == nullptr) return Answers(code, op, batch);
  Batch& last = module->batch;
  if (batch.count != last.count || batch.a != last.a || batch.b != last.b || batch.c != last.c ||
      batch.metadata != last.metadata) {
    last = batch;
    module->answers.clear();
  }
  const auto known = module->answers.find(code.kernel.entry);
  if (known != module->answers.end()) return known->second;
  ASSIGN_OR_RETURN(std::vector<uint64_t> d, Answers(code, op, batch));
  return module->answers[code.kernel.entry] = std::move(d);
}

absl::Status Sass::CompareSharing(const Code& code, const Operation& op, const Batch& batch) const {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> own, Answers(*code.sharing, op, batch));
  ASSIGN_OR_RETURN(const std::vector<uint64_t> wanted, Answers(*code.copied, op, batch));
  const auto at = std::ranges::mismatch(own, wanted);
  if (at.in1 == own.end()) return absl::OkStatus();
  // Single dot products are executed together, so that one alone could be right.
  const bool whole = batch.shape == op.shape();
  const int64_t differing = at.in1 - own.begin(), words = batch.shape.d_words();
  std::string only_own;
  std::string& text = source_.shared == nullptr ? only_own : source_.shared->difference;
  if (text.empty()) {
    const auto difference = whole
                                ? Difference(op, Slice(batch, differing / words), differing % words)
                                : Difference(op, batch, differing);
    if (absl::IsCancelled(difference.status())) return difference.status();
    text = difference.value_or("");
  }
  if (text.empty()) {
    text = absl::StrCat("with ", SuffixOf(source_.variant).substr(1),
                        " the results differ from those with copies of the registers");
  }
  return absl::InternalError(text);
}

// From small to large: its surroundings, single registers without and with them, then the registers
// of D that several operands share, and the whole.
std::vector<Variant> PartsOf(const Variant& whole, const RegisterCounts& counts) {
  std::vector<Variant> parts;
  for (const std::string& around : {std::string(), whole.around}) {
    Variant part = Plain(whole);
    part.around = around;
    if (part != Plain(whole)) parts.push_back(part);
    for (const auto& list :
         {SingleOverlaps(whole.overlap, counts), ChainedOverlaps(whole.overlap, counts)}) {
      for (const std::string& overlap : list) {
        part.overlap = overlap;
        parts.push_back(part);
      }
    }
    if (whole.around.empty()) break;
  }
  if (!absl::c_linear_search(parts, whole)) parts.push_back(whole);
  return parts;
}

// The words of D in the first execution of the batch that hold the element; all words that hold
// elements if it is one of several single dot products.
std::vector<int> WordsOf(const sass::KernelCode& code, const Operation& op, const Batch& batch,
                         int64_t element) {
  const std::vector<Slot>& slots = code.kernel.d.slots;
  const bool whole = batch.shape == op.shape();
  std::vector<int> all;
  for (const Slot& slot : slots) all.push_back(slot.word);
  if (!whole && batch.dot_products() > 1) return all;
  const int word = all[whole ? element : 0];
  if (op.instruction->d->bits <= 32) return {word};
  return {word, word + 1};
}

// The first part of the variant with a different result, and where; "": none.
absl::StatusOr<std::string> Sass::Difference(const Operation& op, const Batch& batch,
                                             int64_t element) const {
  if (source_.variant == Plain(source_.variant)) return "";
  const std::vector<Variant> parts = PartsOf(source_.variant, RegistersOf(*op.instruction));
  ASSIGN_OR_RETURN(const std::string text, TextOf(op, parts));
  for (const Variant& part : parts) {
    ASSIGN_OR_RETURN(const sass::KernelCode code, CodeIn(text, op, part));
    ASSIGN_OR_RETURN(const sass::KernelCode right, CodeIn(text, op, Reference(op, part)));
    ASSIGN_OR_RETURN(const std::vector<uint64_t> own, Answers(code, op, batch));
    ASSIGN_OR_RETURN(const std::vector<uint64_t> d, Answers(right, op, batch));
    if (own[element] == d[element]) continue;
    sass::Expressions pool;
    ASSIGN_OR_RETURN(const sass::Followed wanted,
                     sass::Follow(right, *op.instruction, natives_, batch, pool));
    ASSIGN_OR_RETURN(const sass::Followed got,
                     sass::Follow(code, *op.instruction, natives_, batch, pool));
    for (const int word : WordsOf(code, op, batch, element)) {
      if (got.d[word] == wanted.d[word]) continue;
      return absl::StrCat(
          "with ", SuffixOf(part).substr(1), " alone, ",
          sass::DifferenceText(pool, *got.origins, got.d[word], *wanted.origins, wanted.d[word]));
    }
  }
  return "";
}

absl::StatusOr<std::string> Sass::Reason(const Operation& op, const Batch& batch, int64_t element) {
  ASSIGN_OR_RETURN(std::string difference, Difference(op, batch, element));
  if (!difference.empty()) return difference;
  const Variant plain = Plain(source_.variant);
  ASSIGN_OR_RETURN(const std::string text, TextOf(op, {&plain, 1}));
  ASSIGN_OR_RETURN(const sass::KernelCode code, CodeIn(text, op, plain));
  sass::Expressions pool;
  ASSIGN_OR_RETURN(const sass::Followed followed,
                   sass::Follow(code, *op.instruction, natives_, batch, pool));
  const int word = WordsOf(code, op, batch, element)[0];
  return absl::StrCat("the machine code computes ", pool.Text(followed.d[word], 3));
}

absl::StatusOr<Source> SourceOfText(std::string text, const Variant& variant = {}) {
  Source source;
  ASSIGN_OR_RETURN(source.tools.target, sass::FindTarget(sass::TargetIn(text)));
  source.variant = variant;
  for (std::string& name : sass::KernelNamesIn(text)) source.kernels.insert(std::move(name));
  source.text = std::move(text);
  return source;
}

// Whether one of the kernels is that of an operation, in its default variant.
bool HasOwnKernel(const Source& source) {
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      if (source.kernels.contains(KernelName(*op.instruction, {}))) return true;
    }
  }
  return false;
}

absl::StatusOr<Source> SourceOfFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat("sass: ", path, ": no such file"));
  }
  ASSIGN_OR_RETURN(const std::string nvdisasm, sass::FindDisassembler());
  ASSIGN_OR_RETURN(std::string text, sass::DisassembledText(nvdisasm, path));
  ASSIGN_OR_RETURN(Source source, SourceOfText(std::move(text)));
  if (HasOwnKernel(source)) return source;
  return absl::NotFoundError(
      absl::StrCat("sass: ", path,
                   ": its kernels are not those of this project, so they are not supported; "
                   "`mmadiff scan` reads the PTX or CUDA C++ of which they were made"));
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
  std::vector<absl::string_view> overlaps(NamedOverlaps().begin(), NamedOverlaps().end());
  absl::c_copy(NamedSharing(), std::back_inserter(overlaps));
  AnyVariants any = AnyVariantsOf(argument, overlaps);
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
