// The sources of the evidence for the arithmetic table: documents, programs, recordings, measurements.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmadiff {

struct Source {
  const char* id;  // as in Evidence::sources
  const char* name;
  const char* revision;  // "2.1.1"; empty if what names it gives none
  // The day, month or year of that revision or measurement: "2026-10-22", "2023-02", "2019"; empty if
  // it is not known.
  const char* date;
  const char* covers;          // operations in its claims: patterns of sim/pattern.h
  const char* says;            // its claims about them
  const char* limits = "";     // limits of these claims, which hold for every operation
  const char* withdrawn = "";  // the source that withdraws or replaces it
};
std::span<const Source> Sources();

// nullptr for an id that no source has.
const Source* FindSource(std::string_view id);
// The sources of ids separated by spaces. An unknown id is an error of the table; it aborts.
std::vector<const Source*> SourcesOf(std::string_view ids);

// "MMA-Sim 2.1.1 (2026-10-22)"; with the limits: "MMA-Sim 2.1.1 (2026-10-22; its ...)".
std::string Citation(const Source& source, bool with_limits);

}  // namespace mmadiff
