// Text for people in the width of their terminal. Lines are broken between words alone: a word that
// is wider than the line stays whole, so that it can be copied.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

inline constexpr size_t kAnyWidth = absl::string_view::npos;

struct TextStyle {
  bool color = false;        // what matters lies between marks (device/plain_text.h)
  size_t width = kAnyWidth;  // columns of the terminal; without one, as many as needed
};

// Columns that a line takes: one a character, marks none.
size_t Columns(absl::string_view line);

// Breaks each line of `text` that is wider than `width`; what follows a break is indented by
// `indent` more than the line itself.
std::string Wrap(absl::string_view text, size_t width, size_t indent);

// "LABEL TEXT" lines: Wrap() with what follows a break below the first word of `text`. Ends with a
// line end.
std::string Labelled(absl::string_view label, absl::string_view text, size_t width);

struct TableColumn {
  std::string title;
  bool right = false;  // numbers
  int drop = 0;        // if it does not fit: the columns of the highest number go first, 0 never
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // One cell for each column. `marked`: emphasised where there is colour.
  void Add(std::vector<std::string> cells, bool marked = false);

  // With the titles, two spaces between columns. What is too wide loses columns; then cells are
  // broken between words; where that is not enough, the cells after the first stand below it.
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
