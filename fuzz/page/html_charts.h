// What a report draws: bars, areas and heat maps, as HTML and SVG without text in pictures, so that
// it is readable at any width.
#pragma once

#include <string>

#include "fuzz/page/report_data.h"

namespace mmadiff {

// A bar for each distance from the smallest to the largest; "" if nothing differs.
std::string UlpChart(const ReportRun& run);

// Stacked areas of the machines over time, with their names and the largest sum; "" if no unit says
// when it ended.
std::string RateChart(const RateSeries& rate);

// A heat map of the logarithms of the counts; empty cells that can be reached are marked, others are
// grey. Each cell says in words what it is.
std::string CrossChart(const Cross& cross);

}  // namespace mmadiff
