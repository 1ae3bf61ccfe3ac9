// The lines of source from which a compiler made PTX, as its .file and .loc directives name them.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

struct SourceLine {
  std::string file;  // as .file names it
  int line;          // from 1
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

// Reads the words of one module in order. Source: PTX ISA 9.0, ".loc" and ".file".
class PtxLines {
 public:
  using Location = std::array<int, 3>;  // number of a file, line, column

  // `text_before`: the last string before the word, without quotes.
  void Read(absl::string_view word, int line, absl::string_view text_before);
  void EndFunction();
  // The place of the next instruction, then the calls through which it was inlined.
  std::vector<Location> Here();
  // From the outermost call to the instruction, at the end of the module: compilers name the files
  // there. Places without a line or a file name are left out.
  std::vector<SourceLine> Named(const std::vector<Location>& places) const;

 private:
  void EndLoc();

  std::string last_;          // word
  int file_ = 0;              // whose name follows
  int loc_line_ = 0;          // of the directive that is being read; 0: none
  std::vector<int> numbers_;  // in it
  std::vector<Location> here_;
  std::map<Location, Location> inlined_at_;
  std::map<int, std::string> files_;
};

}  // namespace mmadiff
