// Text and tables as HTML. All text arguments are escaped.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

// Printable text with "&", "<", ">" and quotes as entities, for elements and attributes. Line ends
// are kept.
std::string Html(absl::string_view text);

// Html() of a name with slashes, dots and colons, after which a browser may break the line.
std::string HtmlName(absl::string_view name);

// "1,234,567" as <data value="1234567">.
std::string HtmlNumber(uint64_t number);

// <TAG class="CLASS">INSIDE</TAG>; `inside` is HTML. No class: "".
std::string HtmlTag(absl::string_view tag, absl::string_view css, absl::string_view inside);

// HtmlTiles: the main numbers, side by side. HtmlFacts: names with their values, without empty
// ones.
std::string HtmlTiles(const std::vector<std::pair<std::string, uint64_t>>& tiles);
std::string HtmlFacts(const std::vector<std::pair<std::string, std::string>>& facts);

// A whole page; `body` is HTML.
std::string HtmlDocument(absl::string_view title, absl::string_view body);

// A command in a box with a copy button.
std::string HtmlCommand(absl::string_view command);

// A table that scrolls inside the page; with class "stack", its rows become blocks on a phone.
// Cells are HTML; `right` columns hold numbers.
struct HtmlColumn {
  std::string title;
  bool right = false;
};
std::string HtmlTable(absl::string_view caption, const std::vector<HtmlColumn>& columns,
                      const std::vector<std::vector<std::string>>& rows,
                      absl::string_view css = "");

}  // namespace mmadiff
