#include "sim/copy/copy_parameter.h"

namespace mmadiff {
namespace {

constexpr const char *kPitch[] = {"span", "tight"}, *kLine[] = {"address", "offset"},
                     *kNanFill[] = {"7ff7", "7fff", "ffff"}, *kTies[] = {"even", "away"},
                     *kNan[] = {"canonical", "kept"}, *kTf32Fill[] = {"as_is", "rounded"},
                     *kFtz[] = {"kept", "flushed"}, *kHalo[] = {"inside", "beyond"},
                     *kHalos[] = {"after_each", "after_all"},
                     *kSteps[] = {"rounded_up", "rounded_down"};

#define MMADIFF_CHOICE(member)                                   \
  [](const CopyRules& r) { return static_cast<int>(r.member); }, \
      [](CopyRules& r, int value) { r.member = static_cast<decltype(r.member)>(value); }
constexpr auto kAny = [](const CopyForm&) { return true; };
constexpr auto kLoads = [](const CopyForm& f) { return f.direction == CopyDirection::kLoad; };
constexpr auto kRows = [](const CopyForm& f) { return f.mode != CopyMode::kTile || f.rank > 1; };
constexpr auto kBoxes = [](const CopyForm& f) { return f.mode == CopyMode::kTile && f.rank > 1; };
constexpr auto kWide = [](const CopyForm& f) { return f.mode >= CopyMode::kIm2colW; };
constexpr auto kWide128 = [](const CopyForm& f) { return f.mode == CopyMode::kIm2colW128; };

constexpr CopyParameter kParameters[] = {
    {"steps", kSteps, MMADIFF_CHOICE(steps), kBoxes},
    {"pitch", kPitch, MMADIFF_CHOICE(pitch), kRows},
    {"line", kLine, MMADIFF_CHOICE(line), kAny},
    {"nan_fill", kNanFill, MMADIFF_CHOICE(nan_fill), kLoads},
    {"tf32_ties", kTies, MMADIFF_CHOICE(tf32_ties), kLoads},
    {"tf32_nan", kNan, MMADIFF_CHOICE(tf32_nan), kLoads},
    {"tf32_fill", kTf32Fill, MMADIFF_CHOICE(tf32_fill), kLoads},
    {"f32_ftz", kFtz, MMADIFF_CHOICE(f32_ftz), kLoads},
    {"halo", kHalo, MMADIFF_CHOICE(halo), kWide},
    {"halos", kHalos, MMADIFF_CHOICE(halos), kWide128},
};
#undef MMADIFF_CHOICE

}  // namespace

std::span<const CopyParameter> CopyParameters() { return kParameters; }

bool Concerns(const CopyParameter& parameter, const CopyForm& form) {
  return parameter.concerns(form);
}

std::string Name(const CopyChange& change) {
  return change.parameter->name + std::string("=") + change.parameter->values[change.value];
}

std::optional<CopyChange> ParseCopyChange(std::string_view text) {
  for (const CopyParameter& p : kParameters) {
    for (int value = 0; value < static_cast<int>(p.values.size()); ++value) {
      if (const CopyChange change = {&p, value}; Name(change) == text) return change;
    }
  }
  return std::nullopt;
}

CopyRules With(CopyRules rules, const CopyChange& change) {
  change.parameter->set(rules, change.value);
  return rules;
}

std::vector<CopyChange> CopyNeighbors() {
  std::vector<CopyChange> all;
  for (const CopyParameter& p : kParameters) {
    for (int value = 1; value < static_cast<int>(p.values.size()); ++value)
      all.push_back({&p, value});
  }
  return all;
}

}  // namespace mmadiff
