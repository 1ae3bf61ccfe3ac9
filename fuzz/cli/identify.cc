// mmadiff identify: finds the architecture of a device from a few of its answers.
#include "triage/race/identify.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/progress.h"
#include "triage/race/recorded_pool.h"

namespace mmadiff {

Fields<AskedCase> FieldsOf(const AskedCase*) {
  using A = AskedCase;
  return {
      {"instruction", [](const A& a) { return a.op->name; }, InstructionName()},
      {"dot_product",
       [](const A& a) {
         return DotProductWords{*a.op->instruction, a.dot, a.d};
       }},
  };
}

namespace {

constexpr size_t kMaxChanges = 3;  // changes

struct IdentifyFlags {
  std::vector<std::string> instr = {"*"};
  std::string device = "auto";
  size_t most = 10;
};

// The operations that the device supports. They must belong to one architecture: an answer for a
// different architecture's row would prove nothing.
absl::StatusOr<std::vector<const Operation*>> OperationsOfOneArchitecture(
    Device& device, const IdentifyFlags& flags, Ledger& ledger) {
  ASSIGN_OR_RETURN(const auto ops,
                   ChooseOperations(flags.instr, Models::kOptional, &device, ledger));
  std::vector<std::string> archs;
  for (const Operation* op : ops) {
    const std::string arch(op->arch());
    if (std::ranges::count(archs, arch) == 0) archs.push_back(arch);
  }
  if (archs.size() < 2) return ops;
  return absl::InvalidArgumentError(
      absl::StrCat("device ", flags.device, " has instructions of ", absl::StrJoin(archs, ", "),
                   "; choose one architecture, for example --instr='", archs[0], "/*'"));
}

std::string VerdictText(const Identification& id, const ArchVerdict& v) {
  const AskedCase& c = id.asked[v.asked];
  switch (v.kind) {
    case ArchVerdict::kGives:
      return absl::StrCat("reproduces all ", CountText(id.asked.size(), "answer"),
                          id.recorded > 0 ? absl::StrCat(", and all ", id.recorded,
                                                         " compared answers of the recording")
                                          : "");
    case ArchVerdict::kContradicted:
      return absl::StrCat("contradicted: reproduces these ", CountText(id.asked.size(), "answer"),
                          ", but not ", v.missed, " out of ", id.recorded,
                          " compared answers of the recording");
    case ArchVerdict::kLacks:
      return absl::StrCat("no instruction ", c.op->instruction->name);
    case ArchVerdict::kNoModel:
      return absl::StrCat("unknown: no model of ", c.op->instruction->name);
    case ArchVerdict::kRefuted:
      break;
  }
  const Format& d = *c.op->instruction->d;
  return absl::StrCat("refuted: reproduces ", v.given, " of ", id.asked.size(), " answers; case ",
                      v.asked + 1, ": answer ", HexWord(d, c.d), ", model ", HexWord(d, v.word));
}

// Whether there are floating-point answers, but no NaN among them.
bool LacksNans(const Identification& id) {
  const auto is_float = [](const AskedCase& c) { return !IsInteger(*c.op->instruction->d); };
  const auto is_nan = [](const AskedCase& c) { return IsNan(c.op->model.d, c.d); };
  return id.recorded == 0 && std::ranges::any_of(id.asked, is_float) &&
         std::ranges::none_of(id.asked, is_nan);
}

// The conclusion in one sentence.
std::string Conclusion(const Identification& id) {
  const std::vector<std::string> names = id.Identified();
  const std::vector<std::string> unknown = id.Named(ArchVerdict::kNoModel);
  const std::string open =
      unknown.empty() ? ""
                      : absl::StrCat("; or ", absl::StrJoin(unknown, ", "), " (without a model)");
  if (names.empty()) {
    const auto given = [](const ArchVerdict& v) {
      return std::pair(v.given, -static_cast<int64_t>(v.missed));
    };
    const auto nearest = std::ranges::max_element(id.archs, {}, given);
    std::vector<std::string> all;
    for (const ArchVerdict& v : id.archs) {
      if (given(v) == given(*nearest)) all.push_back(v.arch);
    }
    return absl::StrCat("no architecture reproduces all answers", open,
                        "; nearest: ", absl::StrJoin(all, ", "), " (",
                        nearest->missed > 0
                            ? absl::StrCat("all but ", nearest->missed, " of ", id.recorded)
                            : absl::StrCat(nearest->given, " of ", id.asked.size()),
                        " answers); `infer` searches for a model");
  }
  const bool refuted = id.archs.size() > names.size() + unknown.size();
  return absl::StrCat(
      names.size() == 1 ? "it is " : "it is one of ", absl::StrJoin(names, ", "), open,
      LacksNans(id) ? "; none of these answers is a NaN, so its NaNs are unknown" : "",
      refuted ? ""
      : id.archs.size() == 1
          ? "; no other architecture was compared"
          : "; nothing was refuted: all compared architectures reproduce these answers");
}

// "sm_80, sm_86  TEXT": architectures with the same text share a line, at the place of the first.
std::string Grouped(const std::vector<std::pair<std::string, std::string>>& said, size_t width) {
  std::string text;
  std::vector<std::string> done;
  for (const auto& [first, what] : said) {
    if (std::ranges::count(done, what) > 0) continue;
    done.push_back(what);
    std::vector<std::string> names;
    for (const auto& [name, other] : said) {
      if (other == what) names.push_back(name);
    }
    absl::StrAppend(&text,
                    Wrap(absl::StrCat(absl::StrJoin(names, ", "), ": ", what, "\n"), width, 2));
  }
  return text;
}

// The architectures that cannot be distinguished; those with the same model refer to the first of
// them.
std::string IndistinctText(const Identification& id, size_t width) {
  std::vector<size_t> first(id.archs.size());
  for (size_t i = 0; i < first.size(); ++i) first[i] = i;
  for (const Indistinct& i : id.indistinct) {
    if (i.same_model) first[i.y] = std::min(first[i.y], i.x);
  }
  std::vector<std::pair<std::string, std::string>> said;
  for (size_t i = 0; i < first.size(); ++i) {
    if (std::ranges::count(first, first[i]) > 1) {
      said.push_back(
          {id.archs[i].arch, absl::StrCat("the same model as ", id.archs[first[i]].arch)});
    }
  }
  for (const Indistinct& i : id.indistinct) {
    if (first[i.x] != i.x || first[i.y] != i.y) continue;
    said.push_back({absl::StrCat(id.archs[i.x].arch, " and ", id.archs[i.y].arch), i.why});
  }
  return Grouped(said, width);
}

// A recording may have many identities; only JSON shows them all.
std::string Short(const std::string& identity) {
  constexpr size_t kMax = 200;  // bytes
  if (identity.size() <= kMax) return PlainLine(identity);
  return absl::StrCat(PlainLine(identity.substr(0, kMax)), " ... (all of it with --json)");
}

// The conclusion, its reasons, then the answers.
std::string Text(const Identification& id, const Device& device, bool recorded,
                 const TextStyle& style) {
  std::string text = Wrap(absl::StrCat("device ", device.name(), ": ",
                                       Short(Name(device.identity())), "\n", Conclusion(id), "\n"),
                          style.width, 2);
  std::vector<std::pair<std::string, std::string>> verdicts;
  for (const ArchVerdict& v : id.archs) verdicts.push_back({v.arch, VerdictText(id, v)});
  absl::StrAppend(&text, Grouped(verdicts, style.width), IndistinctText(id, style.width));
  if (id.changes > 0 && !id.Identified().empty()) {
    const size_t named = std::min(kMaxChanges, id.unrefuted.size());
    const auto first = id.unrefuted.begin();
    absl::StrAppend(
        &text,
        Wrap(absl::StrCat(
                 "variants of its models with one parameter changed: these answers rule out ",
                 id.changes - id.unrefuted.size(), " of ", id.changes,
                 named > 0 ? "; not ruled out: " : "", absl::StrJoin(first, first + named, ", "),
                 named < id.unrefuted.size()
                     ? absl::StrCat(" and ", id.unrefuted.size() - named, " more")
                     : "",
                 "\n"),
             style.width, 2));
  }
  absl::StrAppend(
      &text, Wrap(absl::StrCat("the ", CountText(id.asked.size(), "case"),
                               recorded ? " from the recording" : ", each queried twice",
                               " (words of a, b, c and any scales, then the device's answer):\n"),
                  style.width, 2));
  for (size_t i = 0; i < id.asked.size(); ++i) {
    const AskedCase& c = id.asked[i];
    absl::StrAppend(
        &text, Labelled(absl::StrFormat("%-2d ", i + 1),
                        absl::StrCat(c.op->name, "  ", FormatLine(*c.op->instruction, c.dot, c.d)),
                        style.width));
  }
  return text;
}

// Names of ArchVerdict::Kind.
constexpr const char* kVerdicts[] = {"gives", "refuted", "lacks", "no_model", "contradicted"};

struct ArchitectureRow {
  const Identification& id;
  const ArchVerdict& v;

  // The case that rules it out, and its model's result for that case.
  std::optional<size_t> against() const {
    const bool gives = v.kind == ArchVerdict::kGives || v.kind == ArchVerdict::kContradicted;
    return gives ? std::nullopt : std::optional(v.asked);
  }
  std::optional<std::string> word() const {
    if (v.kind != ArchVerdict::kRefuted) return std::nullopt;
    return HexWord(*id.asked[v.asked].op->instruction->d, v.word);
  }
};

Fields<ArchitectureRow> FieldsOf(const ArchitectureRow*) {
  using R = ArchitectureRow;
  return {
      {"name", [](const R& r) { return r.v.arch; }},
      {"verdict",
       [](const R& r) { return kVerdicts[r.v.kind]; },
       {.words = {std::begin(kVerdicts), std::end(kVerdicts)}}},
      {"given", [](const R& r) { return r.v.given; },
       "answers that the models of the architecture reproduce"},
      {"missed", [](const R& r) { return r.v.missed; },
       "if the models reproduce all chosen answers: answers of the recording that the models do "
       "not reproduce"},
      {"case", &R::against,
       "index in `asked` of the case that rules it out, or for which it has no instruction or no "
       "model"},
      {"model", &R::word, HexDigits("result of its model for that case")},
  };
}

struct IdentifyResult {
  const Identification& id;
  const Device& device;
  bool recorded;

  std::vector<ArchitectureRow> architectures() const {
    std::vector<ArchitectureRow> rows;
    for (const ArchVerdict& v : id.archs) rows.push_back({id, v});
    return rows;
  }
  std::vector<IndistinctPair> indistinct() const {
    std::vector<IndistinctPair> pairs;
    for (const Indistinct& i : id.indistinct) {
      pairs.push_back({id.archs[i.x].arch, id.archs[i.y].arch, i.why});
    }
    return pairs;
  }
};

Fields<IdentifyResult> FieldsOf(const IdentifyResult*) {
  using R = IdentifyResult;
  return {
      {"device", [](const R& r) { return r.device.name(); }},
      {"device_identity", [](const R& r) { return Name(r.device.identity()); }},
      {"recorded", &R::recorded,
       "whether the answers come from a recording; otherwise each case was queried twice"},
      {"asked", [](const R& r) { return r.id.asked; }},
      {"architectures", &R::architectures},
      {"identified", [](const R& r) { return r.id.Identified(); },
       "architectures that reproduce all answers"},
      {"indistinct", &R::indistinct, "pairs of these architectures that no case distinguishes"},
      {"compared", [](const R& r) { return r.id.recorded; },
       "answers of a recording that were compared with the models"},
      {"changes", [](const R& r) { return r.id.changes; },
       "number of single-parameter changes of their models"},
      {"unrefuted", [](const R& r) { return r.id.unrefuted; },
       "single-parameter changes that also reproduce all answers: ARCH/INSTRUCTION:NAME=VALUE"},
      {"text", [](const R& r) { return Conclusion(r.id); }, Prose("conclusion in words")},
  };
}

void RunIdentify(const IdentifyFlags& flags, Call& call) {
  const DeviceOr device = OpenDeviceAndWarn(flags.device, call.console);
  if (!device.ok()) return call.Say(device.status());
  const auto ops = OperationsOfOneArchitecture(**device, flags, call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  absl::string_view path = flags.device;
  const bool recorded = absl::ConsumePrefix(&path, "recorded:");
  std::vector<PoolCase> pool;
  if (recorded) {
    auto read = RecordedPool(std::string(path), *ops);
    if (!read.ok()) return call.Say(read.status());
    pool = *std::move(read);
  }
  const auto id = Identify(**device, *ops, std::move(pool), flags.most);
  if (!id.ok()) return call.Say(id.status());
  for (const AskedCase& c : id->asked) call.ledger().Compare(Thing::kOperation, c.op->name);
  call.ledger().LeaveRest(Thing::kOperation, Reason::kNotNeeded);
  call.PrintWithLeftOut(IdentifyResult{*id, **device, recorded},
                        [&] { return Text(*id, **device, recorded, call.console.style()); });
  if (id->Identified().empty()) call.Say(Verdict::kDiffers);
}

}  // namespace

Action AddIdentify(CLI::App& command) {
  const auto flags = std::make_shared<IdentifyFlags>();
  AddDevice(command, flags->device, "device to query");
  AddInstr(command, flags->instr);
  AddOption(command, "--most", flags->most, "maximum number of dot products to use").Range(1, 1000);
  return {RunIdentify, flags, {SchemaOf<WithLeftOut<IdentifyResult>>}};
}

}  // namespace mmadiff
