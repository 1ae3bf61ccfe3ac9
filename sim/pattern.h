// Names with alternatives, for the two tables: "mma.m16n8k32.{f32,f16}.{e4m3,e5m2}" means four names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmadiff {

struct Expansion {
  std::string text;
  std::vector<std::string> choices;  // one per pair of braces, in order
};

// All combinations of one alternative from each pair of braces; the last pair varies fastest. $1 to
// $9 in the pattern refer to earlier choices. An alternative may be empty: "m8n8k4{,.rz}".
std::vector<Expansion> Expand(std::string_view pattern);

// Replaces $1 to $9 by choices.
std::string Substitute(std::string_view text, const std::vector<std::string>& choices);

// Whether the name matches one of the space-separated patterns, whose choices are shell globs.
bool MatchesAny(std::string_view patterns, const std::string& name);

// The parts of a text between spaces.
std::vector<std::string> SplitWords(std::string_view text);

}  // namespace mmadiff
