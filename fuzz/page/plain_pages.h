// A report for programs and for pages that are text.
#pragma once

#include <string>

#include "fuzz/page/report_data.h"

namespace mmadiff {

std::string MarkdownPage(const ReportData& data);
std::string JsonPage(const ReportData& data);
// A row an instruction, after a row of titles (RFC 4180, lines end with "\n").
std::string CsvPage(const ReportData& data);
// A test case an instruction; what differs, does not repeat or was not compared fails.
std::string JUnitPage(const ReportData& data);

}  // namespace mmadiff
