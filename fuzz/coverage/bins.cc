#include "fuzz/coverage/bins.h"

namespace mmadiff {

std::string Bin::name() const {
  return std::string(group) + "/" + row + (column.empty() ? "" : "/" + column);
}

std::vector<Bin> BinsOf(const Model&) { return {}; }

}  // namespace mmadiff
