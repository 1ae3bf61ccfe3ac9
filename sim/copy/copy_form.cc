#include "sim/copy/copy_form.h"

#include <algorithm>
#include <vector>

#include "sim/pattern.h"

namespace mmadiff {
namespace {

constexpr char kHopper[] = "sm_90 sm_100 sm_103 sm_120", kFromBlackwell[] = "sm_100 sm_103 sm_120",
               kDatacenterBlackwells[] = "sm_100 sm_103";

constexpr struct {
  const char* names;  // a pattern of sim/pattern.h; the rank precedes the last letter
  CopyDirection direction;
  CopyMode mode;
  const char *native_on, *section;
} kFamilies[] = {
    {"load.tile.{1,2,3,4,5}d", CopyDirection::kLoad, CopyMode::kTile, kHopper, "5.5.3"},
    {"load.tile_gather4.2d", CopyDirection::kLoad, CopyMode::kGather4, kFromBlackwell, "5.5.3.4"},
    {"load.im2col.{3,4,5}d", CopyDirection::kLoad, CopyMode::kIm2col, kHopper, "5.5.4"},
    {"load.im2col_w.{3,4,5}d", CopyDirection::kLoad, CopyMode::kIm2colW, kFromBlackwell, "5.5.5"},
    {"load.im2col_w_128.{3,4,5}d", CopyDirection::kLoad, CopyMode::kIm2colW128,
     kDatacenterBlackwells, "5.5.5"},
    {"store.tile.{1,2,3,4,5}d", CopyDirection::kStore, CopyMode::kTile, kHopper, "5.5.3"},
    {"store.tile_scatter4.2d", CopyDirection::kStore, CopyMode::kScatter4, kDatacenterBlackwells,
     "5.5.3.4"},
    {"store.im2col_no_offs.{3,4,5}d", CopyDirection::kStore, CopyMode::kIm2colNoOffs, kHopper,
     "9.7.9.27.1.1"},
    {"reduce.tile.{1,2,3,4,5}d", CopyDirection::kReduce, CopyMode::kTile, kHopper, "9.7.9.27.1.2"},
    {"reduce.im2col_no_offs.{3,4,5}d", CopyDirection::kReduce, CopyMode::kIm2colNoOffs, kHopper,
     "9.7.9.27.1.2"},
};

std::vector<CopyForm> MakeForms() {
  std::vector<CopyForm> forms;
  for (const auto& f : kFamilies) {
    for (const Expansion& e : Expand(f.names)) {
      forms.push_back(
          {e.text, f.direction, f.mode, e.text[e.text.size() - 2] - '0', f.native_on, f.section});
    }
  }
  return forms;
}

}  // namespace

std::span<const CopyForm> CopyForms() {
  static const auto& forms = *new std::vector<CopyForm>(MakeForms());
  return forms;
}

const CopyForm* FindCopyForm(std::string_view name) {
  const auto found = std::ranges::find(CopyForms(), name, &CopyForm::name);
  return found == CopyForms().end() ? nullptr : &*found;
}

}  // namespace mmadiff
