#include "sim/plan/regions.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mmadiff {
namespace {

// A run of consecutive numbers, or `count` of one length, `step` apart.
struct Run {
  int64_t first, last, step = 0, count = 1;
};

std::vector<Run> RunsOf(const std::vector<int64_t>& numbers) {
  std::vector<Run> runs;
  for (const int64_t x : numbers) {
    if (!runs.empty() && runs.back().last + 1 == x) {
      runs.back().last = x;
    } else {
      runs.push_back({x, x});
    }
  }
  return runs;
}

// Three or more runs of one length at equal distances become one.
std::vector<Run> Merged(const std::vector<Run>& runs) {
  std::vector<Run> merged;
  for (size_t i = 0; i < runs.size();) {
    const int64_t length = runs[i].last - runs[i].first;
    const int64_t step = i + 1 < runs.size() ? runs[i + 1].first - runs[i].first : 0;
    size_t end = i + 1;
    while (end < runs.size() && runs[end].last - runs[end].first == length &&
           runs[end].first - runs[end - 1].first == step) {
      ++end;
    }
    const int64_t count = static_cast<int64_t>(end - i);
    if (count < 3) {
      merged.push_back(runs[i++]);
    } else {
      merged.push_back({runs[i].first, runs[i].last, step, count});
      i = end;
    }
  }
  return merged;
}

std::string Text(const Run& run) {
  std::string text = std::to_string(run.first);
  if (run.last > run.first) text += "-" + std::to_string(run.last);
  if (run.count == 1) return text;
  const int64_t end = run.last + (run.count - 1) * run.step + 1;
  return text + "+" + std::to_string(run.step) + "<" + std::to_string(end);
}

std::vector<int64_t> Members(const std::vector<int>& classes, const std::vector<bool>& in) {
  std::vector<int64_t> members;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (in[classes[i]]) members.push_back(static_cast<int64_t>(i));
  }
  return members;
}

// About how many bits name the class of each row or column: one by one, or as runs of all classes but
// the first.
double BitsOf(const std::vector<int>& classes) {
  const int count = *std::ranges::max_element(classes) + 1;
  const double size = static_cast<double>(classes.size());
  size_t runs = 0;
  for (int c = 1; c < count; ++c) {
    std::vector<bool> in(count);
    in[c] = true;
    runs += Merged(RunsOf(Members(classes, in))).size();
  }
  return std::min(std::log2(static_cast<double>(count)) * size,
                  static_cast<double>(runs) * 3 * std::log2(size + 1));
}

}  // namespace

double ClassBits(const Regions& regions) {
  const double cells = static_cast<double>(regions.plan.size() * regions.plan[0].size());
  return BitsOf(regions.row_class) + BitsOf(regions.column_class) +
         std::log2(static_cast<double>(regions.plans.size())) * cells;
}

std::string SetText(const std::vector<int64_t>& ascending) {
  std::string text;
  for (const Run& run : Merged(RunsOf(ascending))) text += (text.empty() ? "" : ",") + Text(run);
  return text;
}

std::string RegionText(const Regions& regions, int index) {
  // Row classes that use the plan in the same columns share a line.
  std::string text;
  std::vector<bool> done(regions.plan.size());
  for (size_t r = 0; r < regions.plan.size(); ++r) {
    std::vector<bool> columns;
    for (const int plan : regions.plan[r]) columns.push_back(plan == index);
    if (done[r] || std::ranges::count(columns, true) == 0) continue;
    std::vector<bool> rows(regions.plan.size());
    for (size_t s = r; s < regions.plan.size(); ++s) {
      rows[s] = std::ranges::equal(regions.plan[s], columns,
                                   [&](int plan, bool in) { return (plan == index) == in; });
      if (rows[s]) done[s] = true;
    }
    const bool all_rows = std::ranges::count(rows, false) == 0;
    const bool all_columns = std::ranges::count(columns, false) == 0;
    if (all_rows && all_columns) return "";
    if (!text.empty()) text += "; ";
    if (!all_rows) text += "rows " + SetText(Members(regions.row_class, rows));
    if (!all_rows && !all_columns) text += " of ";
    if (!all_columns) text += "columns " + SetText(Members(regions.column_class, columns));
  }
  return text;
}

namespace {

// A number at the beginning of `text`, which loses it; -1: none.
int64_t TakeNumber(std::string_view& text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return -1;
  text.remove_prefix(end - text.data());
  return number;
}
bool Take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Takes a text by SetText() of integers below `size`.
std::optional<std::vector<bool>> TakeSet(std::string_view& text, int64_t size) {
  std::vector<bool> in(size);
  do {
    const int64_t first = TakeNumber(text);
    const int64_t last = Take(text, "-") ? TakeNumber(text) : first;
    int64_t step = size, end = last + 1;
    if (Take(text, "+")) {
      step = TakeNumber(text);
      end = Take(text, "<") ? TakeNumber(text) : -1;
    }
    if (first < 0 || last < first || step <= last - first || end <= last || end > size) {
      return std::nullopt;
    }
    for (int64_t run = first; run < end; run += step) {
      for (int64_t i = run; i <= run + last - first && i < end; ++i) in[i] = true;
    }
  } while (Take(text, ","));
  return in;
}

}  // namespace

std::optional<std::vector<bool>> ElementsOf(std::string_view text, int64_t m, int64_t n) {
  std::vector<bool> elements(m * n, text.empty());
  while (!text.empty()) {
    std::optional<std::vector<bool>> rows(std::vector<bool>(m, true)),
        columns(std::vector<bool>(n, true));
    const bool has_rows = Take(text, "rows ");
    if (has_rows) rows = TakeSet(text, m);
    if (!has_rows || Take(text, " of ")) {
      if (!Take(text, "columns ")) return std::nullopt;
      columns = TakeSet(text, n);
    }
    if (!rows || !columns || (!text.empty() && !Take(text, "; "))) return std::nullopt;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; (*rows)[i] && j < n; ++j) {
        if ((*columns)[j]) elements[i * n + j] = true;
      }
    }
  }
  return elements;
}

std::string KsText(const Pieces& ks) {
  std::vector<int64_t> all;
  for (const Piece& piece : ks) {
    for (int64_t k = piece.first; k < piece.end; ++k) all.push_back(k);
  }
  return SetText(all);
}

}  // namespace mmadiff
