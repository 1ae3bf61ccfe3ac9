#include "triage/text_table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

constexpr size_t kGap = 2;

std::string Trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// Lines of at most `width` columns; after the first line at most `rest`. Words are never cut.
std::vector<std::string> Lines(absl::string_view text, size_t width, size_t rest) {
  std::vector<std::string> lines;
  std::string line;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const size_t room = lines.empty() ? width : rest;
    if (!line.empty() && Columns(line) + 1 + Columns(word) > room) {
      lines.push_back(Trimmed(std::move(line)));
      line = std::string(word);
    } else {
      absl::StrAppend(&line, line.empty() ? "" : " ", word);
    }
  }
  lines.push_back(Trimmed(std::move(line)));
  return lines;
}

size_t LongestWord(absl::string_view text) {
  size_t longest = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    longest = std::max(longest, Columns(word));
  }
  return longest;
}

size_t Total(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

}  // namespace

size_t Columns(absl::string_view line) {
  return std::ranges::count_if(line, [](char c) {
    const bool continues = (c & 0xc0) == 0x80;  // a byte inside a UTF-8 character
    return !continues && c != kMarkBegin[0] && c != kMarkEnd[0];
  });
}

std::string Wrap(absl::string_view text, size_t width, size_t indent) {
  std::vector<std::string> all;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t own = std::min(line.find_first_not_of(' '), line.size());
    const size_t deeper = std::min(own + indent, width / 2);
    const std::vector<std::string> lines =
        Lines(line.substr(own), width - std::min(own, width), width - deeper);
    for (size_t i = 0; i < lines.size(); ++i) {
      const size_t room = width - std::min(Columns(lines[i]), width);  // a long word needs it
      const size_t before = lines[i].empty() ? 0 : i == 0 ? own : std::min(deeper, room);
      all.push_back(std::string(before, ' ') + lines[i]);
    }
  }
  return absl::StrJoin(all, "\n");
}

std::string Labelled(absl::string_view label, absl::string_view text, size_t width) {
  const size_t before = std::min(label.find_first_not_of(' '), label.size());
  return Wrap(absl::StrCat(label, text), width, label.size() - before) + "\n";
}

std::string TextTable::Text(const TextStyle& style) const {
  std::vector<size_t> chosen(columns_.size()), widths, least;
  std::iota(chosen.begin(), chosen.end(), 0);
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(Columns(columns_[i].title));
    least.push_back(LongestWord(columns_[i].title));
    for (const Row& row : rows_) {
      widths[i] = std::max(widths[i], Columns(row.cells[i]));
      least[i] = std::max(least[i], LongestWord(row.cells[i]));
    }
  }
  while (Total(widths) > style.width) {
    const auto last = std::ranges::max_element(
        chosen, {}, [this](size_t column) { return columns_[column].drop; });
    if (columns_[*last].drop == 0) break;
    const auto place = last - chosen.begin();
    widths.erase(widths.begin() + place);
    least.erase(least.begin() + place);
    chosen.erase(last);
  }
  if (Total(least) > style.width) return Stacked(chosen, style);
  while (Total(widths) > style.width) {  // the widest column gives way
    size_t widest = 0;
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool can = widths[i] > least[i];
      if (can && (widths[widest] == least[widest] || widths[i] > widths[widest])) widest = i;
    }
    --widths[widest];
  }
  std::string text;
  Row titles = {{}, false};
  for (const TableColumn& column : columns_) titles.cells.push_back(column.title);
  AppendRow(titles, chosen, widths, false, text);
  for (const Row& row : rows_) AppendRow(row, chosen, widths, style.color, text);
  return text;
}

void TextTable::Add(std::vector<std::string> cells, bool marked) {
  rows_.push_back({std::move(cells), marked});
}

void TextTable::AppendRow(const Row& row, const std::vector<size_t>& chosen,
                          const std::vector<size_t>& widths, bool color, std::string& text) const {
  std::vector<std::vector<std::string>> cells;
  size_t height = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    cells.push_back(Lines(row.cells[chosen[i]], widths[i], widths[i]));
    height = std::max(height, cells.back().size());
  }
  const bool mark = color && row.marked;
  for (size_t y = 0; y < height; ++y) {
    std::string line;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const std::string cell = y < cells[i].size() ? cells[i][y] : "";
      const std::string space(widths[i] - Columns(cell), ' ');
      const bool right = columns_[chosen[i]].right;
      absl::StrAppend(&line, i == 0 ? "" : std::string(kGap, ' '), right ? space : "", cell,
                      right ? "" : space);
    }
    absl::StrAppend(&text, mark ? kMarkBegin : "", Trimmed(std::move(line)), mark ? kMarkEnd : "",
                    "\n");
  }
}

std::string TextTable::Stacked(const std::vector<size_t>& chosen, const TextStyle& style) const {
  std::string text;
  for (const Row& row : rows_) {
    const bool mark = style.color && row.marked;
    absl::StrAppend(&text, mark ? kMarkBegin : "", row.cells[chosen[0]], mark ? kMarkEnd : "",
                    "\n");
    for (size_t i = 1; i < chosen.size(); ++i) {
      if (row.cells[chosen[i]].empty()) continue;
      const std::string& title = columns_[chosen[i]].title;
      absl::StrAppend(&text, Labelled(absl::StrCat("  ", title, title.empty() ? "" : "  "),
                                      row.cells[chosen[i]], style.width));
    }
  }
  return text;
}

}  // namespace mmadiff
