#include "sim/pattern.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>

namespace mmadiff {
namespace {

void ExpandFrom(std::string_view rest, Expansion prefix, std::vector<Expansion>& all) {
  const size_t open = rest.find('{');
  prefix.text += Substitute(rest.substr(0, open), prefix.choices);
  if (open == rest.npos) return all.push_back(std::move(prefix));
  const size_t close = rest.find('}', open);
  if (close == rest.npos) std::abort();  // a pattern of a table: programmer error
  std::string_view alternatives = rest.substr(open + 1, close - open - 1);
  while (true) {
    const size_t comma = alternatives.find(',');
    const std::string choice(alternatives.substr(0, comma));
    Expansion next = prefix;
    next.text += choice;
    next.choices.push_back(choice);
    ExpandFrom(rest.substr(close + 1), std::move(next), all);
    if (comma == alternatives.npos) return;
    alternatives.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string Substitute(std::string_view text, const std::vector<std::string>& choices) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    const size_t index = ++i < text.size() ? static_cast<size_t>(text[i] - '1') : choices.size();
    if (index >= choices.size()) std::abort();  // a pattern of a table: programmer error
    result += choices[index];
  }
  return result;
}

std::vector<Expansion> Expand(std::string_view pattern) {
  std::vector<Expansion> all;
  ExpandFrom(pattern, {}, all);
  return all;
}

std::vector<std::string> SplitWords(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::vector<std::string> words;
  for (size_t begin = text.find_first_not_of(kSpaces); begin != text.npos;) {
    const size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kSpaces, end);
  }
  return words;
}

bool MatchesAny(std::string_view patterns, const std::string& name) {
  for (const std::string& pattern : SplitWords(patterns)) {
    for (const Expansion& e : Expand(pattern)) {
      if (fnmatch(e.text.c_str(), name.c_str(), 0) == 0) return true;
    }
  }
  return false;
}

}  // namespace mmadiff
