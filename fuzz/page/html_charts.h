// Charts of a report: bars, areas and heat maps, as HTML and SVG. The pictures contain no text, so
// that they are readable at any width.
#pragma once

#include <string>

#include "fuzz/page/report_data.h"

namespace mmadiff {

// One bar per distance, from the smallest to the largest; "" if no word differs.
std::string UlpChart(const ReportRun& run);

// Stacked areas of the machines over time, with their names and the largest sum; "" if no unit has
// its end time stored.
std::string RateChart(const RateSeries& rate);

// A heat map of the logarithms of the counts. Empty cells that can be reached are marked; cells
// that cannot are gray. Each cell has a title in words.
std::string CrossChart(const Cross& cross);

}  // namespace mmadiff
