// Text and tables as HTML. All text that is given is escaped.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

// Printable text, "&", "<", ">" and quotes as entities: for elements and for attributes. Line ends
// stay.
std::string Html(absl::string_view text);

// Html() of a name with slashes, dots and colons, after which a browser may break the line.
std::string HtmlName(absl::string_view name);

// "1 234 567" as <data value="1234567">: with thin spaces, which nobody copies into a number.
std::string HtmlNumber(uint64_t number);

// <TAG class="CLASS">INSIDE</TAG>; `inside` is HTML. No class: "".
std::string HtmlTag(absl::string_view tag, absl::string_view css, absl::string_view inside);

// Numbers to see first, side by side; things and what is known of them, but for empty ones.
std::string HtmlTiles(const std::vector<std::pair<std::string, uint64_t>>& tiles);
std::string HtmlFacts(const std::vector<std::pair<std::string, std::string>>& facts);

// A whole page; `body` is HTML.
std::string HtmlDocument(absl::string_view title, absl::string_view body);

// A command in a box with a button that copies it.
std::string HtmlCommand(absl::string_view command);

// A table that scrolls inside the page; of class "stack" its rows are blocks on a phone. Cells are HTML; columns of `right` hold numbers.
struct HtmlColumn {
  std::string title;
  bool right = false;
};
std::string HtmlTable(absl::string_view caption, const std::vector<HtmlColumn>& columns,
                      const std::vector<std::vector<std::string>>& rows,
                      absl::string_view css = "");

}  // namespace mmadiff
