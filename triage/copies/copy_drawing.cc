#include "triage/copies/copy_drawing.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace mmadiff {
namespace {

constexpr int kLineBytes = 128;

// The element at the start of a part of a line.
struct Part {
  std::string text = "-";
  int64_t row = -1;  // of the tile; -1: nothing
  bool inside = false;
};

struct Grid {
  int part_bytes = 16;
  uint64_t first = 0;  // address of the first line
  std::vector<Part> parts;

  int per_line() const { return kLineBytes / part_bytes; }
  int lines() const { return static_cast<int>(parts.size()) / per_line(); }
};

Grid GridOf(const TensorCopy& copy) {
  Grid grid;
  if (Info(copy.map.swizzle).flip != 0) grid.part_bytes = 8;
  grid.first = copy.shared;
  const uint64_t lines = (TileBytes(copy) + kLineBytes - 1) / kLineBytes;
  grid.parts.resize(lines * grid.per_line());
  std::array<int64_t, kMaxRank> last = {};
  int64_t row = -1;
  for (const CopyElement& e : Elements(copy)) {
    std::array<int64_t, kMaxRank> others = e.at;
    others[0] = 0;
    if (row < 0 || others != last || e.at[0] == copy.x[0]) ++row;
    last = others;
    const uint64_t at = e.shared - grid.first;
    if (at % grid.part_bytes != 0) continue;
    Part& part = grid.parts[at / grid.part_bytes];
    part.row = row;
    part.inside = e.inside;
    const auto end = e.at.begin() + copy.map.rank;
    part.text = e.inside ? absl::StrJoin(e.at.begin(), end, ",") : "fill";
  }
  return grid;
}

int Shown(const Grid& grid, int lines) {
  return lines == 0 ? grid.lines() : std::min(lines, grid.lines());
}

std::string MoreText(const Grid& grid, int shown) {
  const int more = grid.lines() - shown;
  return more == 0 ? "" : absl::StrCat(more, " more lines (--lines=0 prints all)");
}

}  // namespace

std::string CopySummary(const TensorCopy& copy) {
  const std::vector<CopyElement> elements = Elements(copy);
  const int per_cell = Info(copy.map.type).elements;
  const auto outside = std::ranges::count(elements, false, &CopyElement::inside);
  return absl::StrCat(TileBytes(copy), " bytes of shared memory from ", copy.shared, " on; ",
                      outside * per_cell, " of ", elements.size() * per_cell,
                      " elements are out of bounds");
}

std::string CopyText(const TensorCopy& copy, int lines, const TextStyle& style) {
  const Grid grid = GridOf(copy);
  std::vector<TableColumn> columns = {{"address", true}};
  for (int i = 0; i < grid.per_line(); ++i) {
    columns.push_back({absl::StrCat("+", i * grid.part_bytes), true});
  }
  TextTable table(std::move(columns));
  const int shown = Shown(grid, lines);
  for (int line = 0; line < shown; ++line) {
    std::vector<std::string> cells = {absl::StrCat(grid.first + line * kLineBytes)};
    for (int i = 0; i < grid.per_line(); ++i) {
      cells.push_back(grid.parts[line * grid.per_line() + i].text);
    }
    table.Add(std::move(cells));
  }
  const std::string more = MoreText(grid, shown);
  return absl::StrCat(table.Text(style), more, more.empty() ? "" : "\n");
}

std::string CopySvg(const TensorCopy& copy, int lines) {
  constexpr int kHeight = 22, kLeft = 70, kTop = 28;
  constexpr const char* kColors[] = {"#cfe3f7", "#d6efd3", "#fbe3c0", "#f6d1d6",
                                     "#e2d8f2", "#d1eeee", "#f3eebf", "#e4e4e4"};
  const Grid grid = GridOf(copy);
  const int shown = Shown(grid, lines), width = grid.part_bytes == 8 ? 64 : 96;
  const std::string more = MoreText(grid, shown);
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n<style>"
      "text{font:12px monospace;text-anchor:middle;fill:#222}.tick{fill:#777}rect{stroke:#999}"
      ".none{fill:none}.fill{fill:#fff;stroke-dasharray:3}"
      "@media(prefers-color-scheme:dark){.tick{fill:#aab}}</style>\n",
      kLeft + width * grid.per_line() + 10, kTop + kHeight * shown + (more.empty() ? 10 : 30));
  const auto text = [&](int x, int y, absl::string_view words, absl::string_view style) {
    absl::StrAppendFormat(&svg, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, style, words);
  };
  for (int i = 0; i < grid.per_line(); ++i) {
    text(kLeft + i * width + width / 2, kTop - 8, absl::StrCat("+", i * grid.part_bytes),
         " class=\"tick\"");
  }
  for (int line = 0; line < shown; ++line) {
    const int y = kTop + line * kHeight;
    text(kLeft / 2, y + 15, absl::StrCat(grid.first + line * kLineBytes), " class=\"tick\"");
    for (int i = 0; i < grid.per_line(); ++i) {
      const Part& part = grid.parts[line * grid.per_line() + i];
      const int x = kLeft + i * width;
      const std::string look = part.row < 0 ? "class=\"none\""
                               : !part.inside
                                   ? "class=\"fill\""
                                   : absl::StrCat("fill=\"", kColors[part.row % 8], "\"");
      absl::StrAppendFormat(&svg, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s/>\n", x, y,
                            width, kHeight, look);
      if (part.row >= 0) text(x + width / 2, y + 15, part.text, "");
    }
  }
  if (!more.empty()) text(kLeft + 130, kTop + shown * kHeight + 18, more, " class=\"tick\"");
  return svg + "</svg>\n";
}

}  // namespace mmadiff
