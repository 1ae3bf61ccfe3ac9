#include "fuzz/cli/plan_expect.h"

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "device/threads.h"
#include "sim/plan/order.h"
#include "sim/plan/plan.h"
#include "triage/plan/recording.h"

namespace mmadiff {
namespace {

// A fact of one identity, of the other, or of both with different values.
struct ChangedFact {
  std::string fact, recorded, now;
};
Fields<ChangedFact> FieldsOf(const ChangedFact*) {
  using F = ChangedFact;
  return {
      {"fact", &F::fact},
      {"recorded", &F::recorded, "empty: not known"},
      {"now", &F::now, "empty: not known"},
  };
}

// A shape whose product has other bits than the recorded one.
struct ChangedShape {
  RecordedShape recorded;
  bool follows = false;  // the recorded product follows the recorded plans
  std::string digest;
  ShapePlans now;
};

// The plans of all elements; none if some are not known.
std::vector<PlanOfElements> RecordedPlans(const ChangedShape& s) {
  std::vector<PlanOfElements> plans;
  if (!s.follows) return plans;
  for (const auto& [plan, where] : s.recorded.plans) plans.push_back({plan, where});
  return plans;
}
std::vector<PlanOfElements> PlansNow(const ChangedShape& s) {
  return Explained(s.now) ? PlansOf(s.now) : std::vector<PlanOfElements>();
}

// Arithmetic and order for k products. Texts of plans that differ elsewhere may be equal in these.
std::string OrderOfText(const std::string& text, int64_t k) {
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  if (!plan) return text;
  return absl::StrCat(plan->operation->name, plan->unfused, OrderAt(*plan, k));
}

// The texts of those plans whose order none of the others has, joined; "" without any.
std::string PlansBeside(const std::vector<PlanOfElements>& plans,
                        const std::vector<PlanOfElements>& others, int64_t k) {
  constexpr size_t kShown = 2;
  std::vector<std::string> texts;
  for (const PlanOfElements& p : plans) {
    const bool is_there = std::ranges::any_of(others, [&](const PlanOfElements& other) {
      return OrderOfText(other.plan, k) == OrderOfText(p.plan, k);
    });
    if (!is_there) texts.push_back(p.plan);
  }
  if (texts.size() > kShown) {
    texts[kShown - 1] = absl::StrCat(texts.size() - kShown + 1, " more plans");
    texts.resize(kShown);
  }
  return absl::StrJoin(texts, " and ");
}

// The change in one line.
std::string TextOf(const ChangedShape& s) {
  const std::vector<PlanOfElements> before = RecordedPlans(s), now = PlansNow(s);
  if (before.empty()) return "the recorded plans do not reproduce the recorded digest";
  if (now.empty()) return "no plans reproduce all elements now";
  const int64_t k = s.recorded.shape.k;
  const std::string gone = PlansBeside(before, now, k), come = PlansBeside(now, before, k);
  if (!gone.empty() && !come.empty()) return absl::StrCat("recorded with ", gone, ", now ", come);
  if (!gone.empty()) return absl::StrCat("now without ", gone);
  if (!come.empty()) return absl::StrCat("now also with ", come);
  return "the same orders, of other elements, or with other NaNs";
}

Fields<ChangedShape> FieldsOf(const ChangedShape*) {
  using S = ChangedShape;
  return {
      {"m", [](const S& s) { return s.recorded.shape.m; }},
      {"n", [](const S& s) { return s.recorded.shape.n; }},
      {"k", [](const S& s) { return s.recorded.shape.k; }},
      {"seed", [](const S& s) { return s.recorded.seed; }, "of both products"},
      {"recorded_digest", [](const S& s) { return s.recorded.digest; }},
      {"digest", &S::digest},
      {"recorded_plans", RecordedPlans, "of all elements; none: not known"},
      {"plans", PlansNow, "of all elements; none: not known"},
      {"change", TextOf, Prose()},
  };
}

struct Expectation {
  std::string path, device, recorded_device;
  Identity identity, recorded_identity;
  int64_t compared = 0;
  std::vector<ChangedFact> facts = {};
  std::vector<ChangedShape> changed = {};
};
Fields<Expectation> FieldsOf(const Expectation*) {
  using E = Expectation;
  return {
      {"recording", &E::path},
      {"device", &E::device},
      {"device_identity", [](const E& e) { return Name(e.identity); }},
      {"recorded_device", &E::recorded_device},
      {"recorded_identity", [](const E& e) { return Name(e.recorded_identity); }},
      {"facts", &E::facts, "facts of the identities that differ"},
      {"compared", &E::compared, "shapes whose product was recorded"},
      {"changed", &E::changed, "shapes whose product now has other bits"},
  };
}

std::string Text(const Expectation& e) {
  constexpr size_t kShown = 5;
  std::string text = absl::StrCat("device    ", e.device, ": ", PlainLine(Name(e.identity)),
                                  "\nrecorded  ", e.recorded_device, " in ", e.path, "\n");
  for (const ChangedFact& f : e.facts) {
    absl::StrAppend(&text, "differs   ", f.fact, ": ", f.recorded.empty() ? "none" : f.recorded,
                    ", now ", f.now.empty() ? "none" : f.now, "\n");
  }
  absl::StrAppend(&text, "shapes    ", e.compared - std::ssize(e.changed), " of ", e.compared,
                  " have the recorded bits\n");
  const size_t shown = std::min(kShown, e.changed.size());
  for (const ChangedShape& s : std::span(e.changed).first(shown)) {
    absl::StrAppend(&text, "changed   ", ShapeText(s.recorded.shape), ": ", TextOf(s), "\n");
  }
  if (shown < e.changed.size()) {
    absl::StrAppend(&text, "          and ", e.changed.size() - shown,
                    " more (all of them with --json)\n");
  }
  return text;
}

std::vector<ChangedFact> ChangedFacts(const Identity& recorded, const Identity& now) {
  std::vector<ChangedFact> changed;
  if (recorded == now) return changed;
  if (recorded.facts.empty() || recorded.facts[0].key == KnownKey("name").key) {
    return {{"name", Name(recorded), Name(now)}};
  }
  const auto value = [](const Identity& identity, const IdentityKey& key) {
    const auto found = std::ranges::find(identity.facts, &key, &Identity::Fact::key);
    return found == identity.facts.end() ? "" : found->value;
  };
  for (const IdentityKey& key : kIdentityKeys) {
    const std::string before = value(recorded, key), after = value(now, key);
    if (before != after) changed.push_back({key.key, before, after});
  }
  return changed;
}

std::string KindText(const ProductKind& kind) {
  return absl::StrCat(Name(kind.formats), " with alpha ", FactorText(kind.factors.alpha), ", beta ",
                      FactorText(kind.factors.beta));
}

// The shapes with a product.
Filtered<RecordedShape> WithProduct(const std::vector<RecordedShape>& shapes) {
  Filtered<RecordedShape> filtered(Thing::kCase);
  for (const RecordedShape& s : shapes) {
    if (s.digest.empty()) {
      filtered.Leave(Reason::kNotRecorded, ShapeText(s.shape));
    } else {
      filtered.Keep(s, absl::StrCat(ShapeText(s.shape), " ", s.seed));
    }
  }
  return filtered;
}

}  // namespace

absl::Status ExpectRecording(const ShapeFlags& flags, const std::vector<const Format*>& formats,
                             const std::vector<std::string>& instr, int threads, Call& call) {
  ASSIGN_OR_RETURN(const PlanRecording recording, ReadPlanRecording(flags.expect));
  const auto has_product = [](const RecordedShape& s) { return !s.digest.empty(); };
  if (std::ranges::none_of(recording.shapes, has_product)) {
    return absl::InvalidArgumentError(absl::StrCat(flags.expect, ": no product was recorded"));
  }
  const MatrixFormats& recorded = recording.kind.formats;
  const bool is_program = absl::StartsWith(flags.device, "exec:") && formats[0] == nullptr;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<MatrixDevice> device,
      OpenMatrixDevice(flags.device,
                       is_program ? std::vector{recorded.a, recorded.b, recorded.d} : formats));
  if (const ProductKind now = KindOf(*device); KindText(now) != KindText(recording.kind)) {
    return absl::InvalidArgumentError(absl::StrCat(
        flags.expect, " has products in ", KindText(recording.kind), ", recorded with ",
        recording.device, "; this device multiplies in ", KindText(now)));
  }
  ASSIGN_OR_RETURN(const std::vector<const Operation*> ops,
                   OperationsOf(*device, instr, call.ledger()));
  Expectation result = {flags.expect, device->name(), recording.device, device->identity(),
                        recording.identity};
  result.facts = ChangedFacts(recording.identity, device->identity());
  for (RecordedShape& shape : call.ledger().Keep(WithProduct(recording.shapes))) {
    call.console.Step(absl::StrCat("asks for ", ShapeText(shape.shape)));
    ASSIGN_OR_RETURN(std::string digest, AskDigest(*device, shape.shape, shape.seed));
    ++result.compared;
    call.ledger().Compare(Thing::kCase, absl::StrCat(ShapeText(shape.shape), " ", shape.seed));
    if (digest == shape.digest) continue;
    ASSIGN_OR_RETURN(ShapePlans now, AskPlans(*device, shape.shape, ops, shape.seed, kProducts,
                                              {.threads = ThreadsOf(threads)}));
    const auto predicted = PredictedDigest(shape.shape, recording.kind, shape.seed, shape.plans);
    const bool follows = predicted.ok() && *predicted == shape.digest;
    result.changed.push_back({std::move(shape), follows, std::move(digest), std::move(now)});
  }
  RETURN_IF_ERROR(device->Finish());
  call.PrintWithLeftOut(result, [&] { return Text(result); });
  if (!result.changed.empty()) call.Say(Verdict::kDiffers);
  return absl::OkStatus();
}

Schema SchemaOfExpectation() { return SchemaOf<WithLeftOut<Expectation>>(); }

}  // namespace mmadiff
