// Layouts of AMD's instructions according to AMD's own tool, for tests.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/layout.h"

namespace mmadiff {

// The contribution of one bit of a coordinate.
struct StatedStep {
  int lane, bit;
};

// A line of sim/testing/amd_layouts.txt.
struct Stated {
  std::string arch, instruction, operand;
  std::map<std::string, std::vector<StatedStep>> steps;  // by coordinate

  StatedStep Sum(const std::string& name, int coordinate) const {
    const auto of_name = steps.find(name);
    StatedStep sum = {0, 0};
    for (size_t i = 0; coordinate >> i != 0; ++i) {
      if (of_name == steps.end() || i >= of_name->second.size()) return {-1, -1};  // not stated
      const bool set = coordinate >> i & 1;
      sum.lane += set * of_name->second[i].lane;
      sum.bit += set * of_name->second[i].bit;
    }
    return sum;
  }

  Place PlaceOf(const Element& e) const {
    const StatedStep row = Sum("row", e.row), column = Sum("column", e.column),
                     block = Sum("block", e.block);
    const int bit = row.bit + column.bit + block.bit;
    return {row.lane + column.lane + block.lane, bit / 32, bit % 32};
  }
};

// The lines of a text in the form of that file.
inline std::vector<Stated> ReadStated(std::istream& file) {
  std::vector<Stated> all;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    Stated s;
    words >> s.arch >> s.instruction >> s.operand;
    std::string name;
    for (std::string word; words >> word;) {
      StatedStep step = {};
      if (std::sscanf(word.c_str(), "%d.%d", &step.lane, &step.bit) == 2) {
        s.steps[name].push_back(step);
      } else {
        name = word;
      }
    }
    // The calculator numbers k of 16-bit WMMA on gfx1200 as a wave of 32 lanes adds it. Here, as in
    // AMD's emulator, lanes 0 to 15 have the first half of k.
    const bool wmma = s.arch == "gfx1200" && s.instruction.starts_with("v_wmma_");
    if (wmma && s.instruction.ends_with("f16") && s.operand != "D") {
      std::vector<StatedStep>& k = s.steps[s.operand == "A" ? "column" : "row"];
      std::swap(k.at(2), k.at(3));
    }
    all.push_back(s);
  }
  return all;
}

// Tests run in the root of the repository; MMADIFF_ROOT names a different root.
inline std::vector<Stated> ReadStated() {
  const char* root = std::getenv("MMADIFF_ROOT");
  std::ifstream file((root == nullptr ? std::string() : std::string(root) + "/") +
                     "sim/testing/amd_layouts.txt");
  return ReadStated(file);
}

}  // namespace mmadiff
