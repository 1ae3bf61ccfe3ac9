#include "fuzz/output/html.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "device/plain_text.h"
#include "fuzz/output/html_style.h"

namespace mmadiff {

std::string Html(absl::string_view text) {
  return absl::StrReplaceAll(
      PlainText(text, "", ""),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string HtmlName(absl::string_view name) {
  return absl::StrReplaceAll(Html(name),
                             {{"/", "/<wbr>"}, {".", ".<wbr>"}, {":", ":<wbr>"}, {"_", "_<wbr>"}});
}

std::string HtmlNumber(uint64_t number) {
  const std::string digits = absl::StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return absl::StrCat("<data value=\"", digits, "\">", text, "</data>");
}

std::string HtmlTag(absl::string_view tag, absl::string_view css, absl::string_view inside) {
  const std::string attribute = css.empty() ? "" : absl::StrCat(" class=\"", css, "\"");
  return absl::StrCat("<", tag, attribute, ">", inside, "</", tag, ">");
}

std::string HtmlTiles(const std::vector<std::pair<std::string, uint64_t>>& tiles) {
  std::string html = "<dl class=\"tiles\">";
  for (const auto& [what, number] : tiles) {
    absl::StrAppend(&html, "<div><dt>", Html(what), "</dt><dd>", HtmlNumber(number),
                    "</dd></div>\n");
  }
  return html + "</dl>\n";
}

std::string HtmlFacts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<div class=\"card\"><dl class=\"facts\">\n";
  for (const auto& [what, value] : facts) {
    if (value.empty()) continue;
    absl::StrAppend(&html, "<dt>", Html(what), "</dt><dd>", Html(value), "</dd>\n");
  }
  return html + "</dl></div>\n";
}

std::string HtmlDocument(absl::string_view title, absl::string_view body) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>mmadiff: ",
      Html(title), "</title>\n<style>", kHtmlStyle, "</style>\n</head>\n<body>\n<main>\n", body,
      "<footer>mmadiff ", MMADIFF_VERSION, "</footer>\n</main>\n<script>", kHtmlScript,
      "</script>\n</body>\n</html>\n");
}

std::string HtmlCommand(absl::string_view command) {
  return absl::StrCat("<div class=\"command\"><code>", Html(command),
                      "</code><button type=\"button\">Copy</button></div>\n");
}

std::string HtmlTable(absl::string_view caption, const std::vector<HtmlColumn>& columns,
                      const std::vector<std::vector<std::string>>& rows, absl::string_view css) {
  std::string html = absl::StrCat("<div class=\"scroll\" tabindex=\"0\"><table",
                                  css.empty() ? "" : absl::StrCat(" class=\"", css, "\""), ">");
  if (!caption.empty()) html += HtmlTag("caption", "", Html(caption));
  html += "<thead><tr>";
  for (const HtmlColumn& column : columns) {
    absl::StrAppend(&html, "<th scope=\"col\"", column.right ? " class=\"n\"" : "", ">",
                    Html(column.title), "</th>");
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&html, "<td", columns[i].right ? " class=\"n\"" : "", " data-title=\"",
                      Html(columns[i].title), "\">", row[i], "</td>");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace mmadiff
