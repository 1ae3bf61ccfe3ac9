#include "device/cuda/ptx_lines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxPlaces = 64;  // of one instruction; a recursion inlines a call into itself

}  // namespace

void PtxLines::Read(absl::string_view word, int line, absl::string_view text_before) {
  if (file_ != 0) files_.try_emplace(std::exchange(file_, 0), text_before);
  if (loc_line_ != 0 && line != loc_line_) EndLoc();
  int number = 0;
  const bool is_number = absl::SimpleAtoi(word, &number);
  const std::string last = std::exchange(last_, std::string(word));
  if (word == ".loc") {
    loc_line_ = line;
    numbers_.clear();
  } else if (loc_line_ != 0 && word == "inlined_at") {
    numbers_.resize(3);  // without an offset behind function_name
  } else if (loc_line_ != 0 && is_number) {
    numbers_.push_back(number);
  } else if (last == ".file" && is_number) {
    file_ = number;
  }
}

// A call may have been inlined itself: then an earlier .loc has its place.
void PtxLines::EndLoc() {
  loc_line_ = 0;
  here_.clear();
  if (numbers_.size() < 3) return;
  const Location own = {numbers_[0], numbers_[1], numbers_[2]};
  if (numbers_.size() >= 6) {
    inlined_at_[own] = {numbers_[3], numbers_[4], numbers_[5]};
  } else {
    inlined_at_.erase(own);
  }
  here_.push_back(own);
  for (auto at = inlined_at_.find(own); at != inlined_at_.end() && here_.size() < kMaxPlaces;) {
    here_.push_back(at->second);
    at = inlined_at_.find(at->second);
  }
}

void PtxLines::EndFunction() {
  loc_line_ = 0;
  here_.clear();
}

std::vector<PtxLines::Location> PtxLines::Here() {
  if (loc_line_ != 0) EndLoc();
  return here_;
}

std::vector<SourceLine> PtxLines::Named(const std::vector<Location>& places) const {
  std::vector<SourceLine> named;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const auto [file, line, column] = *place;
    const auto name = files_.find(file);
    if (line > 0 && name != files_.end()) named.push_back({name->second, line});
  }
  return named;
}

}  // namespace mmadiff
