#include "sim/unlisted.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/sparsity.h"

namespace mmadiff {
namespace {

constexpr std::string_view kPrefix = "unlisted/k";

struct Unlisted {
  Instruction instruction;
  Numerics numerics;
  Operation op;
};

// The value of a decimal number from 1 to `most` without leading zeros; else 0.
int NumberOf(std::string_view text, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && text[0] != '0' && number >= 1 && number <= most ? number : 0;
}

// Whether an operation can have the formats of d, a, b and c.
bool AreTogether(const Format* const* formats, int k, bool scaled) {
  int integers = 0, absent = 0;
  for (int i = 0; i < 4; ++i) {
    absent += IsAbsent(*formats[i]);
    integers += IsInteger(*formats[i]) && !IsAbsent(*formats[i]);
  }
  if (absent == 2) {
    return IsAbsent(*formats[2]) && IsAbsent(*formats[3]) && k == 1 && !scaled && integers == 0;
  }
  if (absent == 1 && !IsAbsent(*formats[3])) return false;
  return absent <= 1 && (integers == 0 || (integers + absent == 4 && !scaled));
}

std::unique_ptr<Unlisted> Make(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = name.substr(kPrefix.size());;) {
    const size_t dot = rest.find('.');
    parts.push_back(rest.substr(0, dot));
    if (dot == rest.npos) break;
    rest.remove_prefix(dot + 1);
  }
  constexpr std::string_view kSparse = "sparse";
  int group = 0;
  if (parts.back().starts_with(kSparse)) {
    group = NumberOf(parts.back().substr(kSparse.size()), kMaxGroup);
    if (group != 2 && group != 4 && group != 8) return nullptr;
    parts.pop_back();
  }
  const bool scaled = parts.size() == 7;
  if (parts.size() != 5 && !scaled) return nullptr;
  const int k = NumberOf(parts[0], kMaxK);
  const int block = scaled ? NumberOf(parts[6], k) : 0;
  if (k == 0 || (scaled && (block == 0 || k % block != 0))) return nullptr;
  if (group != 0 && k % group != 0) return nullptr;
  const Format* formats[5] = {};  // d, a, b, c, scale
  for (size_t i = 0; i < (scaled ? 5 : 4); ++i) {
    formats[i] = FindFormat(parts[i + 1]);
    if (formats[i] == nullptr) return nullptr;
  }
  if (!AreTogether(formats, k, scaled)) return nullptr;
  const auto& [d, a, b, c, scale] = formats;
  auto made = std::make_unique<Unlisted>(
      Unlisted{{std::string(name.substr(kPrefix.size() - 1)),
                {1, 1, k, 1, scaled ? k / block : 0, group == 0 ? 0 : k / group},
                d,
                a,
                b,
                c,
                scale,
                Layout::kNoLanes,
                "",
                "",
                {}},
               {"unlisted",
                nullptr,
                {.family = Family::kNone},
                {Grade::kUnknown, "", "no table has it"},
                NanVerdict::kBits},
               {}});
  made->numerics.instruction = &made->instruction;
  Model model = {
      .a = *a, .b = *b, .c = *c, .d = *d, .k = k, .algorithm = {.family = Family::kNone}};
  if (scaled) {
    model.scale = *scale;
    model.scale_block = block;
  }
  model.sparse_group = group;
  made->op = {&made->instruction, &made->numerics, model, std::string(name)};
  return made;
}

}  // namespace

const Operation* FindUnlisted(std::string_view name) {
  if (!name.starts_with(kPrefix)) return nullptr;
  static std::mutex& mutex = *new std::mutex;
  static auto& made = *new std::map<std::string, std::unique_ptr<Unlisted>, std::less<>>;
  const std::lock_guard lock(mutex);
  if (const auto known = made.find(name); known != made.end()) return &known->second->op;
  std::unique_ptr<Unlisted> fresh = Make(name);
  if (fresh == nullptr) return nullptr;
  return &made.emplace(name, std::move(fresh)).first->second->op;
}

}  // namespace mmadiff
