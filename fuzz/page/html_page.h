// A report as one HTML file that needs no network and, except for its copy buttons, no script.
#pragma once

#include <string>

#include "fuzz/page/report_data.h"

namespace mmadiff {

std::string HtmlPage(const ReportData& data);

}  // namespace mmadiff
