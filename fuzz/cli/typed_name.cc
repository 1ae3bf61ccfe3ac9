#include "fuzz/cli/typed_name.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/status_macros.h"
#include "fuzz/output/console.h"
#include "sim/operation.h"
#include "sim/own_model.h"
#include "sim/product.h"
#include "sim/quoted_name.h"
#include "triage/race/architectures.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxListed = 8;  // instructions

bool IsGlob(const std::string& text) { return text.find_first_of("*?[") != text.npos; }

std::string Escaped(const std::string& text) { return absl::CHexEscape(text.substr(0, 200)); }

const std::string& Said(const std::string& text, const std::string& meaning) {
  Console(Color::kAuto, false).Warn(absl::StrCat(Escaped(text), " is read as ", meaning));
  return meaning;
}

// By instruction, in their order: "mma.m16n8k16.f32.f16.f16.f32 (sm_80, sm_86)".
std::string Listed(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_instruction;
  for (const std::string& name : names) {
    const size_t slash = name.find('/');
    const auto same = [&](const auto& one) { return one.first == name.substr(slash + 1); };
    auto known = std::ranges::find_if(by_instruction, same);
    if (known == by_instruction.end())
      known = by_instruction.insert(known, {name.substr(slash + 1), {}});
    known->second.push_back(name.substr(0, slash));
  }
  const size_t shown = std::min(kMaxListed, by_instruction.size());
  std::vector<std::string> parts;
  for (size_t i = 0; i < shown; ++i) {
    const auto& [instruction, archs] = by_instruction[i];
    parts.push_back(
        absl::StrCat(archs.size() == 1 ? archs[0] + "/" : "", instruction,
                     archs.size() == 1 ? "" : absl::StrCat(" on ", absl::StrJoin(archs, ", "))));
  }
  const size_t more = by_instruction.size() - shown;
  return absl::StrCat(absl::StrJoin(parts, "; "),
                      more == 0 ? "" : absl::StrCat("; and ", more, " more"));
}

bool Supports(const Device& device, const std::string& name) {
  const Operation* op = FindOperation(name, Models::kOptional);
  return op != nullptr && device.Supports(*op).ok();
}

absl::StatusOr<std::string> Quoted(const std::string& text, const Device* device) {
  std::vector<std::string> names = QuotedOperations(text);
  if (names.empty()) return text;
  if (device != nullptr && names.size() > 1) {
    std::vector<std::string> of_device = names;
    std::erase_if(of_device, [&](const std::string& name) { return !Supports(*device, name); });
    if (!of_device.empty()) names = std::move(of_device);
  }
  if (names.size() == 1) return names[0] == text ? text : Said(text, names[0]);
  return absl::InvalidArgumentError(absl::StrCat("'", Escaped(text), "' may mean ", Listed(names),
                                                 "; write ARCH/INSTRUCTION, such as ", names[0]));
}

// `text` with the architecture before its slash as the tables spell it.
absl::StatusOr<std::string> WithArchitecture(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return text;
  const absl::StatusOr<std::string> arch = TypedArchitecture(text.substr(0, slash));
  if (!arch.ok() || arch->empty()) return arch.ok() ? text : arch;
  return absl::StrCat(*arch, text.substr(slash));
}

}  // namespace

absl::StatusOr<std::string> TypedArchitecture(const std::string& text) {
  const std::string arch = ArchitectureOf(text);
  if (arch.empty() || HasTables(arch)) return arch;
  return absl::NotFoundError(absl::StrCat(text == arch ? "" : Escaped(text) + " is ", arch,
                                          ": the tables have no rows of this architecture"));
}

absl::StatusOr<std::string> TypedName(const std::string& text, const Device* device) {
  if (FindOperation(text, Models::kOptional) != nullptr) return text;
  if (const size_t colon = ChangesAt(text); colon != text.npos) {
    ASSIGN_OR_RETURN(const std::string row, TypedName(text.substr(0, colon), device));
    return absl::StrCat(row, text.substr(colon));
  }
  absl::StatusOr<std::string> name = WithArchitecture(text);
  if (!name.ok() || IsGlob(text)) return name;
  if (*name != text && FindOperation(*name, Models::kOptional) != nullptr) return Said(text, *name);
  return Quoted(text, device);
}

absl::StatusOr<Plan> TypedPlan(const std::string& text) {
  const size_t first = std::min(text.find_first_not_of(" \t\n"), text.size());
  const size_t end = std::min(text.find_first_of(" \t\n|", first), text.size());
  ASSIGN_OR_RETURN(const std::string name, TypedName(text.substr(first, end - first)));
  std::string error;
  const std::optional<Plan> plan = ParsePlan(absl::StrCat(name, text.substr(end)), &error);
  if (plan) return *plan;
  return absl::InvalidArgumentError(absl::StrCat("plan '", text, "': ", error));
}

absl::StatusOr<Racer> TypedRacer(const std::string& text) {
  ASSIGN_OR_RETURN(const std::string name, TypedName(text));
  return ParseRacer(name);
}

absl::StatusOr<Racer> TypedRacer(const std::string& text, const Operation& like) {
  ASSIGN_OR_RETURN(const std::string arch, TypedArchitecture(text));
  if (arch.empty()) return TypedRacer(text);
  std::vector<const Operation*> rows;
  for (const Operation& op : Operations()) {
    if (op.arch() == arch && HaveEqualFormats(op, like)) rows.push_back(&op);
  }
  const auto prefer = [&](auto is) {
    if (std::ranges::any_of(rows, is)) std::erase_if(rows, [&](const auto* op) { return !is(op); });
  };
  prefer([](const Operation* op) { return IsNative(*op); });
  prefer([&](const Operation* op) { return op->instruction->name == like.instruction->name; });
  prefer([&](const Operation* op) { return op->model.k == like.model.k; });
  if (rows.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(arch, " has no row with the formats of ", like.name));
  }
  const auto same = [&](const Operation* op) { return SameModel(op->model, rows[0]->model); };
  if (std::ranges::all_of(rows, same)) return ParseRacer(Said(text, rows[0]->name));
  std::vector<std::string> names;
  for (const Operation* op : rows) names.push_back(op->name);
  return absl::InvalidArgumentError(absl::StrCat("'", Escaped(text), "' may mean ", Listed(names)));
}

absl::StatusOr<std::string> TypedGlob(const std::string& text, const Device* device) {
  const absl::StatusOr<std::string> arch = TypedArchitecture(text);
  if (!arch.ok() || !arch->empty()) return arch.ok() ? Said(text, *arch + "/*") : arch;
  const bool anywhere = IsGlob(text) && text.find('/') == text.npos &&
                        MatchOperations(text, Models::kOptional).empty() &&
                        MatchUnknown(text).empty();
  return anywhere ? absl::StrCat("*/", text) : TypedName(text, device);
}

}  // namespace mmadiff
