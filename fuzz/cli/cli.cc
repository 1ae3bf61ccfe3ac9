#include "fuzz/cli/cli.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "corpus/cases/strategy.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/cli/typed_name.h"
#include "fuzz/schedule/class_schedule.h"
#include "fuzz/unit/devices.h"
#include "fuzz/verdict/error_meaning.h"
#include "sim/pattern.h"
#include "sim/quoted_name.h"

namespace mmadiff {

void SayDropped(std::span<const Drop> drops, bool answered, Ending& ending) {
  for (const Drop& drop : drops) {
    const bool lacks = drop.cause == DropCause::kLacks;
    const bool unrepeated = drop.cause == DropCause::kDoesNotRepeat;
    ending.ledger().Ask(Thing::kOperation, drop.op->name);  // in a folder, the user did not name it
    ending.ledger().Leave(
        {Thing::kOperation, ReasonOf(drop), drop.op->name, std::string(drop.status.message())});
    ending.Say(drop.cause == DropCause::kGarbled ? Verdict::kHarmed
               : unrepeated                      ? Verdict::kUnrepeated
               : lacks && !answered              ? Verdict::kNotHere
                                                 : Verdict::kRowFailed);
  }
}

absl::StatusOr<uint64_t> ParseCount(const std::string& text) {
  constexpr std::pair<char, double> kSuffixes[] = {{'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a count; write 1000000, 1e9, 2^20, 16k, 1.5M, 2G or 1T"));
  absl::string_view number = text;
  int exponent = 0;
  if (absl::ConsumePrefix(&number, "2^")) {
    if (!absl::SimpleAtoi(number, &exponent) || exponent < 0 || exponent > 62) return bad;
    return uint64_t{1} << exponent;
  }
  uint64_t exact;
  if (absl::SimpleAtoi(number, &exact)) return exact;
  double scale = 1;
  for (const auto& [suffix, value] : kSuffixes) {
    if (!number.empty() && number.back() == suffix) scale = value;
  }
  if (scale != 1) number.remove_suffix(1);
  double value;
  if (!absl::SimpleAtod(number, &value) || !(value >= 0) || value * scale > 4e18) return bad;
  const double whole = std::round(value * scale);
  if (std::abs(value * scale - whole) > 1e-12 * whole) return bad;  // 1.5; 1.1k is 1100
  return static_cast<uint64_t>(whole);
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text) {
  absl::Duration duration;
  double seconds;
  const bool number = absl::SimpleAtod(text, &seconds);
  if (number) duration = std::isnan(seconds) ? -absl::InfiniteDuration() : absl::Seconds(seconds);
  if ((number || absl::ParseDuration(text, &duration)) && duration >= absl::ZeroDuration() &&
      duration < absl::InfiniteDuration()) {
    return duration;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", text, "' is not a duration; write 90s, 30m or 8h"));
}

Flag AddInstr(CLI::App& command, std::vector<std::string>& globs, const std::string& what) {
  return AddOption(command, "--instr", globs, what).Delimiter(',').TypeName("GLOBS");
}

Flag AddStrategy(CLI::App& command, std::string& strategy, const std::string& of, bool scheduled) {
  std::vector<std::string> names;
  for (const Strategy& s : Strategies()) names.push_back(s.name);
  if (scheduled) names.push_back(Scheduled().name);
  return AddOption(command, "--strategy", strategy,
                   "source of the inputs (`mmadiff list strategies` explains them)" + of)
      .OneOf(names)
      .TypeName("NAME");
}

Flag AddSeed(CLI::App& command, uint64_t& seed) {
  const auto check = [](const std::string& text) {
    uint64_t ignored;
    const bool digits = std::ranges::all_of(text, absl::ascii_isdigit);
    if (digits && absl::SimpleAtoi(text, &ignored)) return std::string();
    return absl::StrCat("'", text, "' is not a number below 2^64");
  };
  return AddOption(command, "--seed", seed, "seed of the generator").Check(check).TypeName("N");
}

Flag AddDevice(CLI::App& command, std::string& spec, const std::string& what) {
  return AddOption(command, "--device", spec, what).TypeName("DEVICE");
}

Flag AddDuration(CLI::App& command, const std::string& flag, std::string& duration,
                 const std::string& what) {
  return AddOption(command, flag, duration, what + " (90s, 30m, 8h)").TypeName("TIME");
}

Flag AddThreads(CLI::App& command, int& threads) {
  return AddOption(command, "--threads", threads, "number of worker threads [all cores]")
      .Range(1, 1024);
}

Flag AddInstruction(CLI::App& command, std::string& name) {
  return AddOption(command, "instruction", name, "ARCH/INSTRUCTION").Required();
}

std::string DataPath(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share/mmadiff" / path;
  return std::filesystem::exists(installed, error) ? installed.string() : path;
}

DeviceOr OpenDeviceAndWarn(absl::string_view spec, Console& console) {
  ASSIGN_OR_RETURN(OpenedDevice opened, OpenAnyDevice(spec));
  if (!opened.warning.empty()) console.Warn(opened.warning);
  return std::move(opened.device);
}

EngineOr OpenEngineAndWarn(absl::string_view spec, Console& console) {
  EngineOr engine = OpenEngine(spec);
  if (engine.ok() && !(*engine)->warning().empty()) console.Warn((*engine)->warning());
  return engine;
}

EngineOpener OpenerOf(const std::string& spec) {
  return [spec] { return OpenEngine(spec); };
}

absl::StatusOr<const Operation*> OneOperation(const std::string& typed, Models models) {
  const std::vector<const Operation*>& own = ReadOperations();
  if (typed.empty() && own.size() == 1) return own.front();
  if (typed.empty() && !own.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("several models were given; name one: ", absl::StrJoin(NamesOf(own), ", ")));
  }
  ASSIGN_OR_RETURN(const std::string resolved, TypedName(typed));
  const std::string& name = resolved;
  if (const Operation* op = FindOperation(name, models)) return op;
  const std::string word = absl::CHexEscape(NotUnderstood(name));
  const std::string why = absl::StrCat(WhyNoOperation(absl::CHexEscape(name.substr(0, 100))),
                                       word.empty() ? "" : "; '" + word + "' is not in the tables");
  const bool exists = FindUnmodelled(name) != nullptr || !MatchUnknown(name).empty();
  return exists ? absl::NotFoundError(why) : absl::InvalidArgumentError(why);
}

Filtered<const Operation*> WithModel(const std::vector<const Operation*>& ops) {
  Filtered<const Operation*> kept(Thing::kOperation);
  for (const Operation* op : ops) {
    if (IsModelled(*op)) {
      kept.Keep(op, op->name);
    } else {
      kept.Leave(Reason::kNoModel, op->name, false, WhyNoOperation(op->name));
    }
  }
  return kept;
}

Filtered<const Operation*> OfDevice(const Device& device, const std::vector<const Operation*>& ops,
                                    const std::set<const Operation*>& named) {
  Filtered<const Operation*> kept(Thing::kOperation);
  for (const Operation* op : ops) {
    const absl::Status status = device.Supports(*op);
    const bool conversion = op->instruction->is_conversion() && !named.contains(op);
    const bool lacks = !status.ok() && ReasonOf(status) == Reason::kDeviceLacks;
    if (conversion && (lacks || device.SupportsAny())) {
      kept.Leave(Reason::kConversion, op->name);
    } else if (status.ok()) {
      kept.Keep(op, op->name);
    } else {
      kept.Leave(ReasonOf(status), op->name, false, std::string(status.message()));
    }
  }
  return kept;
}

std::vector<std::string> NamesOf(const std::vector<const Operation*>& ops) {
  std::vector<std::string> names;
  for (const Operation* op : ops) names.push_back(op->name);
  return names;
}

void CompareByModel(const std::vector<const Operation*>& ops,
                    const std::vector<const Operation*>& done, Ledger& ledger) {
  for (const Operation* op : ops) {
    const auto same = [op](const Operation* d) { return SameModel(d->model, op->model); };
    if (std::ranges::any_of(done, same)) ledger.Compare(Thing::kOperation, op->name);
  }
}

bool IsOfOthers(const LeftOutLine& line) {
  static const size_t all =
      Operations().size() + UnmodelledOperations().size() + MatchUnknown("*").size();
  return line.thing == Thing::kOperation && !line.exact && line.asked == all &&
         (line.reason == Reason::kNoFormats || line.reason == Reason::kDeviceLacks ||
          line.reason == Reason::kNotRecorded);
}

namespace {

// Changes of a row, "ROW:NAME=VALUE,NAME=VALUE", were split at their commas.
std::vector<std::string> WithWholeChanges(const std::vector<std::string>& split) {
  std::vector<std::string> globs;
  for (const std::string& part : split) {
    const bool change = absl::StrContains(part, '=') && !absl::StrContains(part, '/');
    if (change && !globs.empty() && absl::StrContains(globs.back(), ':')) {
      absl::StrAppend(&globs.back(), ",", part);
    } else {
      globs.push_back(part);
    }
  }
  return globs;
}

bool IsAny(const std::vector<std::string>& globs) {
  return globs.empty() || globs == std::vector<std::string>{"*"};
}

// `named`: those that match without a wildcard.
absl::StatusOr<Filtered<const Operation*>> Matching(const std::vector<std::string>& typed,
                                                    const Device* device,
                                                    std::set<const Operation*>& named) {
  std::map<std::pair<bool, const Operation*>, bool> exact;  // in table order
  Filtered<const Operation*> ops(Thing::kOperation);
  if (IsAny(typed) && !ReadOperations().empty()) {
    for (const Operation* op : ReadOperations()) ops.Keep(op, op->name, true);
    return ops;
  }
  for (const std::string& text : WithWholeChanges(typed)) {
    ASSIGN_OR_RETURN(const std::string resolved, TypedGlob(text, device));
    const std::string& glob = resolved;
    const bool names = glob.find_first_of("*?[") == glob.npos;
    std::vector<const Operation*> matched = MatchOperations(glob, Models::kOptional);
    for (const Operation* op : ReadOperations()) {
      if (!names && MatchesAny(glob.c_str(), op->name)) matched.push_back(op);
    }
    const std::vector<std::string> unknown = MatchUnknown(glob);
    if (matched.empty() && unknown.empty()) return OneOperation(glob).status();
    for (const Operation* op : matched) exact[{!IsModelled(*op), op}] |= names;
    for (const std::string& name : unknown) {
      ops.Leave(Reason::kNoFormats, name, names, WhyNoOperation(name));
    }
  }
  for (const auto& [key, is_exact] : exact) {
    ops.Keep(key.second, key.second->name, is_exact);
    if (is_exact) named.insert(key.second);
  }
  return ops;
}

}  // namespace

absl::StatusOr<std::vector<const Operation*>> ChooseOperations(
    const std::vector<std::string>& globs, Models models, const Device* device, Ledger& ledger) {
  if (IsAny(globs) && ReadOperations().empty() && device != nullptr && device->SupportsAny()) {
    return absl::InvalidArgumentError(absl::StrCat(
        device->name(),
        ": which instruction does the program compute? Name it: --instr=ARCH/INSTRUCTION"));
  }
  std::set<const Operation*> named;
  ASSIGN_OR_RETURN(Filtered<const Operation*> matching, Matching(globs, device, named));
  std::vector<const Operation*> ops = ledger.Keep(std::move(matching));
  if (models == Models::kRequired) ops = ledger.Keep(WithModel(ops));
  if (device != nullptr) ops = ledger.Keep(OfDevice(*device, ops, named));
  return ops;
}

}  // namespace mmadiff
