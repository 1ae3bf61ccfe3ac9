#include "sim/product.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "sim/numerics.h"

namespace mmadiff {
namespace {

// Sources: NVIDIA's table of compute capabilities; LLVM's AMDGPU usage, processors.
constexpr Product kProducts[] = {
    {"v100", "sm_70"},        {"titanv", "sm_70"},      {"t4", "sm_75"},
    {"rtx2080", "sm_75"},     {"rtx2080ti", "sm_75"},   {"rtx8000", "sm_75"},
    {"a100", "sm_80"},        {"a30", "sm_80"},         {"a800", "sm_80"},
    {"a10", "sm_86"},         {"a10g", "sm_86"},        {"a40", "sm_86"},
    {"a6000", "sm_86"},       {"rtxa6000", "sm_86"},    {"rtx3080", "sm_86"},
    {"rtx3090", "sm_86"},     {"rtx3090ti", "sm_86"},   {"orin", "sm_87"},
    {"l4", "sm_89"},          {"l40", "sm_89"},         {"l40s", "sm_89"},
    {"rtx4080", "sm_89"},     {"rtx4090", "sm_89"},     {"rtx6000ada", "sm_89"},
    {"h100", "sm_90"},        {"h200", "sm_90"},        {"gh200", "sm_90"},
    {"h800", "sm_90"},        {"h20", "sm_90"},         {"b100", "sm_100"},
    {"b200", "sm_100"},       {"gb200", "sm_100"},      {"b300", "sm_103"},
    {"gb300", "sm_103"},      {"thor", "sm_110"},       {"rtx5080", "sm_120"},
    {"rtx5090", "sm_120"},    {"rtxpro6000", "sm_120"}, {"gb10", "sm_121"},
    {"dgxspark", "sm_121"},   {"mi100", "gfx908"},      {"mi200", "gfx90a"},
    {"mi210", "gfx90a"},      {"mi250", "gfx90a"},      {"mi250x", "gfx90a"},
    {"mi300", "gfx942"},      {"mi300a", "gfx942"},     {"mi300x", "gfx942"},
    {"mi325x", "gfx942"},     {"mi350x", "gfx950"},     {"mi355x", "gfx950"},
    {"rx7900xtx", "gfx1100"}, {"w7900", "gfx1100"},     {"strixhalo", "gfx1151"},
    {"rx9060xt", "gfx1200"},  {"rx9070xt", "gfx1201"},  {"r9700", "gfx1201"},
};

// Whether `plain` spells `arch`: "sm90", "sm_90a" and "sm_90f" spell "sm_90"; "gfx1201" only
// itself.
bool Spells(std::string_view arch, std::string_view plain) {
  if (plain == arch) return true;
  if (!arch.starts_with("sm_") || !plain.starts_with("sm")) return false;
  plain.remove_prefix(plain.starts_with("sm_") ? 3 : 2);
  if (!plain.empty() && (plain.back() == 'a' || plain.back() == 'f')) plain.remove_suffix(1);
  return plain == arch.substr(3);
}

// Words that drivers and shops put around a product: "NVIDIA H100 80GB HBM3", "A100-SXM4-40GB",
// "AMD Instinct MI300X".
bool IsMaker(std::string_view word) {
  constexpr std::string_view kMakers[] = {"nvidia", "tesla",    "geforce",
                                          "amd",    "instinct", "radeon"};
  return std::ranges::find(kMakers, word) != std::end(kMakers);
}

bool IsForm(std::string_view word) {
  constexpr std::string_view kForms[] = {"sxm",  "sxm2",  "sxm3", "sxm4",   "sxm5",
                                         "pcie", "nvl",   "oam",  "hbm2",   "hbm2e",
                                         "hbm3", "hbm3e", "gpu",  "laptop", "generation"};
  const bool memory = word.size() > 2 && word.ends_with("gb") &&
                      word.find_first_not_of("0123456789") == word.size() - 2;
  return memory || std::ranges::find(kForms, word) != std::end(kForms);
}

// The name in lower case, without spaces, dashes and surrounding words.
std::string Plain(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == ' ' || c == '-') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
    }
  }
  size_t begin = 0, end = words.size();
  while (begin < end && IsMaker(words[begin])) ++begin;
  while (begin < end && IsForm(words[end - 1])) --end;
  std::string plain;
  for (size_t i = begin; i < end; ++i) plain += words[i];
  if (plain.starts_with("compute_")) plain = "sm_" + plain.substr(8);
  return plain.starts_with("gfx") ? plain.substr(0, plain.find(':'))
                                  : plain;  // cuts a target's features
}

}  // namespace

std::span<const Product> Products() { return kProducts; }

std::string ArchitectureOf(std::string_view name) {
  const std::string plain = Plain(name);
  for (const Architecture& a : Architectures()) {
    if (Spells(a.name, plain) || IsAlias(a, plain)) return a.name;
  }
  for (const Product& p : kProducts) {
    if (plain == p.name || Spells(p.arch, plain)) return p.arch;
  }
  return "";
}

bool HasTables(std::string_view arch) {
  return std::ranges::any_of(Architectures(), [&](const auto& a) { return a.name == arch; });
}

}  // namespace mmadiff
