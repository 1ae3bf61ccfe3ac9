// The items of `list`, except findings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuzz/output/fields.h"
#include "sim/operation.h"

namespace mmadiff {

// One entry of a list: the plain name, the long line, and the JSON object.
struct Entry {
  std::string name, line;
  Json json;
  bool usable = true;      // false: an instruction that cannot be simulated, shown with --evidence
  std::string words = {};  // description of a named instruction
};
// The entry of an instruction, perhaps of a size that the list does not contain.
Entry EntryOf(const Operation& op);

struct List {
  const char* name;
  std::vector<Entry> (*make)();
  Schema (*schema)();
  bool long_by_default = true;
};
// The first list is the list of instructions.
std::span<const List> Lists();

}  // namespace mmadiff
