// PTX that moves words between an operand's array and the registers of lanes.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// "{%a0, %a1}", or with `step` 2 "{%a0, %a2}".
inline std::string Vector(absl::string_view name, int registers, int step = 1) {
  std::vector<std::string> names;
  for (int r = 0; r < registers; r += step) names.push_back(absl::StrCat("%", name, r));
  return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
}

// Sets %base to this lane's first word of this execution, which has `words` words of the operand.
inline std::string LaneBase(absl::string_view operand, int words, int registers) {
  return absl::StrCat("  ld.param.u64 %base, [p", operand, "];\n  mad.wide.u32 %base, %execution, ",
                      4 * words, ", %base;\n  mad.wide.u32 %base, %lane, ", 4 * registers,
                      ", %base;\n");
}

// Moves words between %base and registers %NAME0, %NAME1, ...
inline std::string LoadLane(absl::string_view name, int registers) {
  std::string text;
  for (int r = 0; r < registers; ++r) {
    absl::StrAppend(&text, "  ld.global.b32 %", name, r, ", [%base+", 4 * r, "];\n");
  }
  return text;
}
inline std::string StoreLane(absl::string_view name, int registers) {
  std::string text;
  for (int r = 0; r < registers; ++r) {
    absl::StrAppend(&text, "  st.global.b32 [%base+", 4 * r, "], %", name, r, ";\n");
  }
  return text;
}

}  // namespace mmadiff
