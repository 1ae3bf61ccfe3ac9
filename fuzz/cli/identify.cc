// mmadiff identify: which architecture a device is, by a few of its answers.
#include "triage/race/identify.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/case_json.h"
#include "fuzz/cli/cli.h"
#include "fuzz/json_text.h"
#include "triage/race/recorded_pool.h"

namespace mmadiff {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostNamed = 8;  // changes

struct Flags {
  std::vector<std::string> instr = {"*"};
  std::string device = "auto";
  size_t most = 10;
};

// Those that the device has; they must be of one architecture: an answer of another row would say
// nothing of this one.
absl::StatusOr<std::vector<const Operation*>> OperationsOf(Device& device, const Flags& flags) {
  absl::StatusOr<std::vector<const Operation*>> ops =
      OperationsMatching(flags.instr, Models::kOptional);
  if (!ops.ok()) return ops.status();
  std::erase_if(*ops, [&](const Operation* op) { return !device.Supports(*op).ok(); });
  if (ops->empty()) {
    return absl::NotFoundError(
        absl::StrCat("device ", flags.device, " has none of these instructions"));
  }
  std::vector<std::string> archs;
  for (const Operation* op : *ops) {
    const std::string arch(op->arch());
    if (std::ranges::count(archs, arch) == 0) archs.push_back(arch);
  }
  if (archs.size() == 1) return ops;
  return absl::InvalidArgumentError(
      absl::StrCat("device ", flags.device, " answers for rows of ", absl::StrJoin(archs, ", "),
                   "; write as which of them it is asked: --instr='", archs[0], "/*'"));
}

std::string Cases(size_t count, const char* what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string VerdictText(const Identification& id, const ArchVerdict& v) {
  const AskedCase& c = id.asked[v.asked];
  switch (v.kind) {
    case ArchVerdict::kGives:
      return absl::StrCat("gives all ", Cases(id.asked.size(), "answer"));
    case ArchVerdict::kLacks:
      return absl::StrCat("has no ", c.op->instruction->name);
    case ArchVerdict::kNoModel:
      return absl::StrCat("not known: no model of ", c.op->instruction->name);
    case ArchVerdict::kRefuted:
      break;
  }
  const Format& d = *c.op->instruction->d;
  return absl::StrCat("refuted: gives ", v.given, " of ", id.asked.size(), " answers; case ",
                      v.asked + 1, " has ", HexWord(d, c.d), ", its model ", HexWord(d, v.word));
}

// What it comes to, one sentence.
std::string Conclusion(const Identification& id) {
  const std::vector<std::string> names = id.Identified();
  const std::vector<std::string> unknown = id.Named(ArchVerdict::kNoModel);
  const std::string open = unknown.empty() ? ""
                                           : absl::StrCat("; or ", absl::StrJoin(unknown, ", "),
                                                          ", of which no model is known");
  if (names.empty()) {
    const auto given = [](const ArchVerdict& v) { return v.given; };
    const auto nearest = std::ranges::max_element(id.archs, {}, given);
    return absl::StrCat("no architecture gives all answers; the nearest is ", nearest->arch,
                        " with ", nearest->given, " of ", id.asked.size(), open);
  }
  const bool refuted = id.archs.size() > names.size() + unknown.size();
  return absl::StrCat(
      names.size() == 1 ? "it is " : "it is one of ", absl::StrJoin(names, ", "), open,
      refuted ? "" : "; nothing was refuted: no other model of these instructions differs here");
}

std::string Text(const Identification& id, const Device& device, bool recorded,
                 const TextStyle& style) {
  std::string head = absl::StrCat("device ", device.name(), ": ", PlainLine(device.identity()),
                                  "\n", Cases(id.asked.size(), "dot product"),
                                  recorded ? " of the recording\n" : ", each asked twice\n");
  std::string text = Wrap(head, style.width, 2);
  for (size_t i = 0; i < id.asked.size(); ++i) {
    const AskedCase& c = id.asked[i];
    absl::StrAppend(
        &text, Labelled(absl::StrFormat("%-2d ", i + 1),
                        absl::StrCat(c.op->name, "  ", FormatLine(*c.op->instruction, c.dot, c.d)),
                        style.width));
  }
  for (const ArchVerdict& v : id.archs) {
    absl::StrAppend(&text,
                    Labelled(absl::StrFormat("%-8s ", v.arch), VerdictText(id, v), style.width));
  }
  for (const Indistinct& i : id.indistinct) {
    absl::StrAppend(&text, Wrap(absl::StrCat("not told apart: ", id.archs[i.x].arch, " and ",
                                             id.archs[i.y].arch, ": ", i.why, "\n"),
                                style.width, 2));
  }
  std::string end = absl::StrCat(Conclusion(id), "\n");
  if (id.changes > 0 && !id.Identified().empty()) {
    const size_t named = std::min(kMostNamed, id.unrefuted.size());
    const auto first = id.unrefuted.begin();
    absl::StrAppend(&end, "the answers refute ", id.changes - id.unrefuted.size(), " of ",
                    id.changes, " changes of one parameter", named > 0 ? "; not " : "",
                    absl::StrJoin(first, first + named, ", "),
                    named < id.unrefuted.size()
                        ? absl::StrCat(" and ", id.unrefuted.size() - named, " more")
                        : "",
                    "\n");
  }
  return text + Wrap(end, style.width, 2);
}

std::string AsJson(const Identification& id, const Device& device, bool recorded) {
  constexpr const char* kKinds[] = {"gives", "refuted", "lacks", "no_model"};
  Json asked = Json::array(), archs = Json::array(), indistinct = Json::array();
  for (const AskedCase& c : id.asked) {
    asked.push_back({{"instruction", c.op->name},
                     {"dot_product", DotProductJson(*c.op->instruction, c.dot, c.d)}});
  }
  for (const ArchVerdict& v : id.archs) {
    const bool gives = v.kind == ArchVerdict::kGives;
    archs.push_back({{"name", v.arch},
                     {"verdict", kKinds[v.kind]},
                     {"given", v.given},
                     {"case", gives ? Json() : Json(v.asked)},
                     {"model", v.kind == ArchVerdict::kRefuted
                                   ? Json(HexWord(*id.asked[v.asked].op->instruction->d, v.word))
                                   : Json()}});
  }
  for (const Indistinct& i : id.indistinct) {
    indistinct.push_back({{"x", id.archs[i.x].arch}, {"y", id.archs[i.y].arch}, {"why", i.why}});
  }
  return JsonText({{"device", device.name()},
                   {"identity", device.identity()},
                   {"recorded", recorded},
                   {"asked", asked},
                   {"architectures", archs},
                   {"identified", id.Identified()},
                   {"indistinct", indistinct},
                   {"changes", id.changes},
                   {"unrefuted", id.unrefuted},
                   {"text", Conclusion(id)}},
                  1) +
         "\n";
}

int RunIdentify(const Flags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  const DeviceOr device = OpenDeviceAndWarn(flags.device, console);
  if (!device.ok()) return Fail(device.status());
  const auto ops = OperationsOf(**device, flags);
  if (!ops.ok()) return Fail(ops.status());
  absl::string_view path = flags.device;
  const bool recorded = absl::ConsumePrefix(&path, "recorded:");
  std::vector<PoolCase> pool;
  if (recorded) {
    auto read = RecordedPool(std::string(path), *ops);
    if (!read.ok()) return Fail(read.status());
    pool = *std::move(read);
  }
  const auto id = Identify(**device, *ops, std::move(pool), flags.most);
  if (!id.ok()) return Fail(id.status());
  console.Print(globals.json ? AsJson(*id, **device, recorded)
                             : Text(*id, **device, recorded, console.style()));
  return id->Identified().empty() ? kMismatch : kClean;
}

}  // namespace

std::function<int()> AddIdentify(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<Flags>();
  AddDevice(command, flags->device, "who is asked");
  AddInstr(command, flags->instr);
  command.add_option("--most", flags->most, "dot products to use")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  return [flags, &globals] { return RunIdentify(*flags, globals); };
}

}  // namespace mmadiff
