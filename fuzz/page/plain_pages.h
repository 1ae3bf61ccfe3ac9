// A report as text pages and for programs.
#pragma once

#include <string>

#include "fuzz/page/report_data.h"

namespace mmadiff {

std::string MarkdownPage(const ReportData& data);
std::string JsonPage(const ReportData& data);
// One row per instruction, after a row of titles (RFC 4180, lines end with "\n").
std::string CsvPage(const ReportData& data);
// One test case per instruction. It fails if answers differ, do not repeat or were not compared.
std::string JUnitPage(const ReportData& data);

}  // namespace mmadiff
