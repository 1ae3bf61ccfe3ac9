// What must hold of every minimisation: of every row and neighbour for which a few random dot
// products show a difference. The sweep over whole tiles and more starts is minimize_sweep_test.cc.
#include "triage/minimize_checks.h"

namespace mmadiff {
namespace {

// One architecture of each kind of row; the others differ in numbers that the sweep covers.
TEST(MinimizeProperty, RepresentativeRows) {
  int minimised = 0;
  for (const char* glob : {"x86/v[dp]*", "x86/vfmadd231ss", "sm_70/*.f32.f16.f16.f16",
                           "sm_80/*.m16n8k8.f32.bf16*", "sm_90/*.m16n8k16.f16*"}) {
    for (const Row* row : MatchRows(glob)) {
      for (const Neighbour& n : Neighbours(row->model)) {
        minimised += CheckMinimizations(*row, n.name, {.seed = 1, .tries = 40, .starts = 1});
      }
    }
  }
  EXPECT_GT(minimised, 50);
}

}  // namespace
}  // namespace mmadiff
