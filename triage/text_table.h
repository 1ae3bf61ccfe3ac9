// Text for people, fitted to the width of their terminal. Lines break only between words: a word
// wider than the line stays whole so that it can be copied.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

inline constexpr size_t kAnyWidth = absl::string_view::npos;

struct TextStyle {
  bool color = false;        // the important text is between marks (device/plain_text.h)
  size_t width = kAnyWidth;  // columns of the terminal; unlimited by default
};

// Columns that a line takes: one per character, none for marks.
size_t Columns(absl::string_view line);

// Breaks each line of `text` that is wider than `width`. Continuation lines are indented by
// `indent` more than the line itself.
std::string Wrap(absl::string_view text, size_t width, size_t indent);

// "LABEL TEXT" lines: Wrap() with continuation lines aligned with the first word of `text`. Ends
// with a line end.
std::string Labelled(absl::string_view label, absl::string_view text, size_t width);

struct TableColumn {
  std::string title;
  bool right = false;  // numbers
  int drop = 0;        // if too wide: columns with the highest number go first, 0 never
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // One cell for each column. `marked`: emphasized where color is on.
  void Add(std::vector<std::string> cells, bool marked = false);

  // The table with its titles, two spaces between columns. A table that is too wide first loses
  // columns, then breaks cells between words; if that is not enough, each row puts its other cells
  // below the first one.
  std::string Text(const TextStyle& style) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool marked;
  };

  void AppendRow(const Row& row, const std::vector<size_t>& chosen,
                 const std::vector<size_t>& widths, bool color, std::string& text) const;
  std::string Stacked(const std::vector<size_t>& chosen, const TextStyle& style) const;

  std::vector<TableColumn> columns_;
  std::vector<Row> rows_;
};

}  // namespace mmadiff
