// Results whose elements have several plans: kernels treat the edges of a matrix, and sometimes the
// rows and columns inside it, in different ways. Which plan an element has depends on the class of its
// row and on that of its column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/plan.h"

namespace mmadiff {

// Classes of rows and columns, and a plan for each pair of classes.
struct Regions {
  std::vector<int> row_class, column_class;  // of each row and column, from 0
  std::vector<std::vector<int>> plan;        // [row class][column class], an index into plans
  std::vector<Plan> plans;                   // at most kMaxRegionPlans, all of them used

  int PlanAt(int64_t row, int64_t column) const {
    return plan[row_class[row]][column_class[column]];
  }
};
inline constexpr size_t kMaxRegionPlans = 16;

// About how many bits name the classes, and the plan of each pair.
double ClassBits(const Regions& regions);

// Where plan `index` is used: "rows 96-99; rows 0-5+12<96 of columns 88-95": rows 0 to 5, 12 to 17 and
// so on, below 96. Empty if it is used everywhere.
std::string RegionText(const Regions& regions, int index);

// The elements of an m x n matrix that a text by RegionText() names, row by row; nullopt if it is none.
std::optional<std::vector<bool>> ElementsOf(std::string_view text, int64_t m, int64_t n);

// "0-5,96-99", "0-5+12<96": the numbers of a set of integers.
std::string SetText(const std::vector<int64_t>& ascending);
std::string KsText(const Pieces& ks);

}  // namespace mmadiff
