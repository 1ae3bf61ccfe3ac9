#include "sim/stages.h"

#include "sim/dot_product.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/tree/tree_sum.h"

namespace mmadiff {
namespace {

struct Recorder {
  std::vector<Event> events;
  void operator()(const Event& e) { events.push_back(e); }
};

}  // namespace

std::vector<Event> TraceStages(const Model& m, const DotProductCase& dot) {
  RequireModel(m);
  if (IsSparse(m)) {
    std::vector<Event> events = TraceStages(SelectedModel(m), Selected(m, dot));
    const std::vector<int> k = SelectedK(m, dot);
    for (Event& e : events) {
      if (e.k >= 0) e.k = k[e.k];
    }
    return events;
  }
  if (HasReadings(m)) return TraceStages(WithoutReadings(m), WordsRead(m, dot));
  Recorder recorder;
  DotProduct(m, dot.a.data(), dot.b.data(), dot.c, recorder);
  return recorder.events;
}

}  // namespace mmadiff
