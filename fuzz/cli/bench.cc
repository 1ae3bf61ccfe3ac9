// mmadiff bench: measures the cost of a dot product on this machine, part by part.
#include "fuzz/bench/bench.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "corpus/durable_file.h"
#include "device/host.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/cli/version.h"
#include "sim/lanes/lanes.h"
#include "sim/numerics.h"
#include "triage/text_table.h"

namespace mmadiff {

Fields<KernelCosts> FieldsOf(const KernelCosts*) {
  using K = KernelCosts;
  return {
      {"generate", &K::generate},
      {"fill", &K::fill, "clearing the results"},
      {"execute", &K::execute, "executing the instruction"},
      {"compare", &K::compare},
      {"trace", &K::trace},
  };
}

namespace {

Detail Ns(const char* what = "") { return {.what = what, .unit = "ns per dot product"}; }

constexpr size_t kMaxBytes = 16 << 20;  // maximum for a file to compare with

struct BenchFlags {
  std::vector<std::string> instr;
  std::string device, time = "50ms", strategy = "mixed", compare;
  int rounds = 3;
  bool bound = false;
};

// The settings that affect all rows of a measurement, by name in JSON.
using Settings = std::map<std::string, std::string>;

// The results of an earlier `bench --json`.
struct Earlier {
  struct Row {
    double simulator, unit;
    double spread;     // see SpreadOf()
    std::string kind;  // kind of the arithmetic, see KindOf()
  };
  std::string file, version, stopped_by;
  Settings settings;
  std::map<std::string, Row> of;
};

// The properties of a row that may differ in a different version.
std::string KindOf(int64_t k, bool lanes) {
  return absl::StrCat("k = ", k, lanes ? " in lanes" : " without lanes");
}

// kDataLoss for a file that is not such output.
absl::StatusOr<Earlier> ReadEarlier(const std::string& path, const Settings& names) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxBytes);
  if (absl::IsNotFound(text.status())) return absl::InvalidArgumentError(text.status().message());
  RETURN_IF_ERROR(text.status());
  const auto damaged = [&](auto... what) {
    return absl::DataLossError(absl::StrCat(path, ": ", what...));
  };
  const Json json = Json::parse(*text, nullptr, false);
  const auto string_of = [](const Json& object, const std::string& name) {
    return object.is_object() && object.contains(name) && object[name].is_string()
               ? object[name].get<std::string>()
               : "";
  };
  Earlier earlier = {path, string_of(json, "version"), string_of(json, "stopped_by"), {}, {}};
  for (const auto& [name, value] : names) earlier.settings[name] = string_of(json, name);
  if (earlier.settings["machine"].empty() || earlier.version.empty() ||
      !json.contains("stopped_by") || !json.contains("rows") || !json["rows"].is_array()) {
    return damaged("not output of `bench --json`");
  }
  for (const Json& row : json["rows"]) {
    const std::string name = string_of(row, "instruction");
    if (name.empty()) return damaged("not output of `bench --json`");
    const auto number = [&](const char* part) {
      return row.contains(part) && row[part].is_number() ? row[part].get<double>() : 0;
    };
    const auto is_time = [](double ns) { return ns > 1e-3 && ns < 1e12; };
    const bool says = row.contains("k") && row["k"].is_number_unsigned() && row.contains("lanes");
    const double simulator = number("simulator"), simulator_most = number("simulator_most");
    const double unit = number("unit"), unit_most = number("unit_most");
    const Earlier::Row costs = {simulator, unit,
                                std::max(simulator_most / simulator, unit_most / unit),
                                says ? KindOf(row["k"].get<int64_t>(), row["lanes"] == true) : ""};
    if (!is_time(simulator) || !is_time(unit) || !is_time(simulator_most) || !is_time(unit_most) ||
        simulator_most < simulator || unit_most < unit) {
      return damaged(name, " has no measured times");
    }
    if (!earlier.of.emplace(name, costs).second) return damaged("two rows for ", name);
  }
  return earlier;
}

// Time of the slowest round divided by the time of the fastest.
double SpreadOf(const BenchRow& row) {
  return std::max(row.simulator_most / row.simulator, row.unit_most / row.unit);
}

std::string Nanoseconds(double ns) { return absl::StrFormat("%.*f", ns < 100 ? 2 : 0, ns); }

// The known differences between the conditions of `now` and of the earlier measurement; empty if
// none.
std::string WhatDiffers(const Earlier& earlier, const Settings& now,
                        const std::vector<BenchRow>& rows) {
  std::vector<std::string> all;
  const auto add = [&](absl::string_view what, const std::string& was, const std::string& is) {
    if (was == is) return;
    all.push_back(absl::StrCat(what, " was ", was.empty() ? "unknown" : was, ", is ", is));
  };
  for (const auto& [name, value] : now) add(name, earlier.settings.at(name), value);
  const bool other_lanes = earlier.settings.at("lanes") != now.at("lanes");  // for all rows
  for (const BenchRow& row : rows) {
    const auto was = earlier.of.find(row.op->name);
    if (was == earlier.of.end() || other_lanes) continue;
    add(row.op->name, was->second.kind, KindOf(row.op->model.k, HasLanes(row.op->model)));
  }
  if (!earlier.stopped_by.empty()) all.push_back("it was stopped early by " + earlier.stopped_by);
  return absl::StrJoin(all, "; ");
}

std::string TableOf(const std::vector<BenchRow>& rows, const Earlier& earlier, bool bound,
                    bool device, bool one_round, const TextStyle& style) {
  std::vector<TableColumn> columns = {{"instruction"}, {"generator", true}, {"simulator", true}};
  if (bound) columns.push_back({"bound", true});
  columns.push_back({"digest", true});
  if (device) columns.push_back({"device", true});
  columns.insert(columns.end(), {{"unit", true}, {"spread", true}, {"M/s", true}});
  const bool compares = !earlier.file.empty();
  if (compares) columns.insert(columns.end(), {{"simulator x", true}, {"unit x", true}});
  TextTable table(columns);
  for (const BenchRow& row : rows) {
    std::vector<std::string> cells = {row.op->name, Nanoseconds(row.generator),
                                      Nanoseconds(row.simulator)};
    if (bound) cells.push_back(row.bound > 0 ? Nanoseconds(row.bound) : "-");
    cells.push_back(Nanoseconds(row.digest));
    if (device) {
      cells.push_back(row.device ? Nanoseconds(*row.device) + (row.agrees ? "" : " differs") : "-");
    }
    cells.push_back(Nanoseconds(row.unit));
    cells.push_back(one_round ? "-"
                              : absl::StrFormat("%.0f %%", 100 * (row.unit_most / row.unit - 1)));
    cells.push_back(absl::StrFormat("%.2f", 1e3 / row.unit));
    if (compares) {
      const auto found = earlier.of.find(row.op->name);
      const bool has = found != earlier.of.end();
      const auto times = [&](double was, double is) { return absl::StrFormat("%.2f", was / is); };
      cells.push_back(has ? times(found->second.simulator, row.simulator) : "-");
      cells.push_back(has ? times(found->second.unit, row.unit) : "-");
    }
    table.Add(cells);
  }
  return table.Text(style);
}

// The costs of the kernels, for rows whose cases stay on the device; "" without such rows.
std::string KernelsText(const std::vector<BenchRow>& rows, const TextStyle& style) {
  TextTable table({{"instruction"},
                   {"generate", true},
                   {"fill", true},
                   {"execute", true},
                   {"compare", true},
                   {"trace", true},
                   {"all", true}});
  bool some = false;
  for (const BenchRow& row : rows) {
    if (!row.kernels) continue;
    some = true;
    const KernelCosts& k = *row.kernels;
    std::vector<std::string> cells = {row.op->name};
    for (const double ns : {k.generate, k.fill, k.execute, k.compare, k.trace, k.all()}) {
      cells.push_back(absl::StrFormat("%.4f", ns));
    }
    table.Add(std::move(cells));
  }
  if (!some) return "";
  return absl::StrCat("Kernels of a run that stays on the device, ns per dot product:\n",
                      table.Text(style));
}

// The vector instruction set that simulates models with lanes: Highway's name, except for AVX-512.
std::string Lanes() {
  const std::string name = LaneTargets().empty() ? "none" : LaneTargets()[0].name;
  return name == "AVX3" ? "AVX-512" : name;
}

// Zero: not counted.
std::optional<double> Counted(double number) {
  return number > 0 ? std::optional(number) : std::nullopt;
}

struct MeasuredRow {
  const BenchRow& row;
  const Earlier& earlier;
};

struct BenchResult {
  std::string version;
  const Settings& settings;
  std::string stopped_by;
  const Device* device;  // may be null
  const Earlier& earlier;
  std::string differs;  // WhatDiffers()
  const std::vector<BenchRow>& rows;

  bool compares() const { return !earlier.file.empty(); }
  std::vector<MeasuredRow> measured() const {
    std::vector<MeasuredRow> all;
    for (const BenchRow& row : rows) all.push_back({row, earlier});
    return all;
  }
};

Fields<Earlier::Row> FieldsOf(const Earlier::Row*) {
  using R = Earlier::Row;
  return {{"simulator", &R::simulator}, {"unit", &R::unit}};
}

Fields<MeasuredRow> FieldsOf(const MeasuredRow*) {
  using M = MeasuredRow;
  return {
      {"instruction", [](const M& m) { return m.row.op->name; }, InstructionName()},
      {"k", [](const M& m) { return m.row.op->model.k; }, {.least = 1}},
      {"lanes", [](const M& m) { return HasLanes(m.row.op->model); },
       "whether the instruction is simulated in vector lanes"},
      {"generator", [](const M& m) { return m.row.generator; }, Ns()},
      {"simulator", [](const M& m) { return m.row.simulator; }, Ns()},
      {"simulator_most", [](const M& m) { return m.row.simulator_most; },
       Ns("time in the slowest round")},
      {"instructions", [](const M& m) { return Counted(m.row.instructions); },
       "machine instructions of the simulator per dot product; with --bound, where they can be "
       "counted"},
      {"vector_instructions", [](const M& m) { return Counted(m.row.vector_instructions); },
       "vector instructions among them"},
      {"bound", [](const M& m) { return Counted(m.row.bound); },
       Ns("time of the vector instructions if each were an addition and nothing else took time")},
      {"digest", [](const M& m) { return m.row.digest; }, Ns()},
      {"device", [](const M& m) { return m.row.device; }, Ns()},
      {"agrees",
       [](const M& m) { return m.row.device ? std::optional(m.row.agrees) : std::nullopt; },
       "whether the device's answers to the measured cases equal the model's"},
      {"kernels", [](const M& m) { return m.row.kernels; },
       "kernels of a run that stays on the GPU, measured one after the other; null on other "
       "devices"},
      {"unit", [](const M& m) { return m.row.unit; },
       Ns("time in a unit of a run whose device answers at once")},
      {"unit_most", [](const M& m) { return m.row.unit_most; }, Ns("time in the slowest round")},
      {"earlier",
       [](const M& m) {
         const auto was = m.earlier.of.find(m.row.op->name);
         return was == m.earlier.of.end() ? std::nullopt : std::optional(was->second);
       },
       "times of this instruction in the file of --compare"},
  };
}

struct ComparedFile {
  std::string file, version, differs;
};

Fields<ComparedFile> FieldsOf(const ComparedFile*) {
  using C = ComparedFile;
  return {
      {"file", &C::file},
      {"version", &C::version, "version of mmadiff that wrote the file; empty if not stored"},
      {"differs", &C::differs,
       "differing settings, rows with a different k or lanes, or a note that the measurement was "
       "stopped; else empty"},
  };
}

Field<BenchResult> Setting(const char* name, const char* what = "") {
  return {name, [name](const BenchResult& r) { return r.settings.at(name); }, what};
}

Fields<BenchResult> FieldsOf(const BenchResult*) {
  using R = BenchResult;
  return {
      {"version", &R::version, "version of mmadiff, its commit and build options"},
      Setting("clock", "clock that measured the times, except those of a device"),
      Setting("generator_version"),
      Setting("lanes", "vector instruction set used to simulate models; none without Highway"),
      Setting("machine"),
      Setting("model_version"),
      Setting("rounds"),
      Setting("strategy"),
      Setting("time", "time for each part in a round, such as 50ms"),
      {"stopped_by", &R::stopped_by,
       Prose("signal or device error, if rows are missing because of it; else empty")},
      {"device_identity",
       [](const R& r) { return r.device == nullptr ? std::string() : Name(r.device->identity()); },
       "empty without a device"},
      {"compared",
       [](const R& r) {
         return r.compares()
                    ? std::optional(ComparedFile{r.earlier.file, r.earlier.version, r.differs})
                    : std::nullopt;
       },
       "file of --compare and its differences"},
      {"rows", &R::measured},
  };
}

// Warns if the comparison with an earlier measurement is less reliable than it looks.
void WarnOfComparison(const std::string& file, const BenchResult& result, Console& console) {
  if (!result.differs.empty()) {
    console.Warn(absl::StrCat(file, " was measured under different conditions: ", result.differs));
  }
  constexpr double kRestless = 1.2;
  const int64_t restless = std::ranges::count_if(result.rows, [&](const BenchRow& row) {
    const auto was = result.earlier.of.find(row.op->name);
    return was != result.earlier.of.end() &&
           std::max(was->second.spread, SpreadOf(row)) > kRestless;
  });
  if (restless == 0) return;
  console.Warn(absl::StrCat(
      restless, " of ", result.rows.size(),
      " instructions took over 20% longer in their slowest round than in their fastest, now or in ",
      file, ": their speed-ups are unreliable"));
}

std::string TextOf(const BenchFlags& flags, const BenchResult& result, const TextStyle& style) {
  const Settings& settings = result.settings;
  std::string head =
      absl::StrCat("ns per dot product, one thread, fastest of ", flags.rounds,
                   flags.rounds == 1 ? " round" : " rounds", " of ",
                   settings.at("time") == "0" ? "a batch" : settings.at("time"),
                   " processor time (the device: wall-clock time); unit: all work of `run` except "
                   "waiting for the device; spread: how much longer the slowest unit took; M/s: "
                   "million dot products per second of units; lanes ",
                   settings.at("lanes"), "; ", settings.at("machine"), "\n");
  if (result.compares()) {
    absl::StrAppend(&head, "x: speed-up over ", result.earlier.file, " of ", result.earlier.version,
                    result.differs.empty() ? "" : ", which was measured under different conditions",
                    "; -: no such row there\n");
  }
  return absl::StrCat(Wrap(head, style.width, 2),
                      TableOf(result.rows, result.earlier, flags.bound, result.device != nullptr,
                              flags.rounds == 1, style),
                      KernelsText(result.rows, style));
}

// The contents of the file of --compare; empty without one. kOutOfRange if it has none of these
// operations.
absl::StatusOr<Earlier> EarlierOf(const std::string& file, const Settings& settings,
                                  const std::vector<const Operation*>& ops) {
  if (file.empty()) return Earlier();
  ASSIGN_OR_RETURN(Earlier earlier, ReadEarlier(file, settings));
  const auto compared = [&](const Operation* op) { return earlier.of.contains(op->name); };
  if (std::ranges::any_of(ops, compared)) return earlier;
  return absl::OutOfRangeError(absl::StrCat(
      file, " has none of these instructions; nothing to compare",
      earlier.stopped_by.empty() ? "" : ". It was stopped early by " + earlier.stopped_by));
}

void RunBench(const BenchFlags& flags, Call& call) {
  const absl::StatusOr<absl::Duration> time = ParseDuration("--time", flags.time);
  if (!time.ok()) return call.Say(time.status());
  Ledger not_named;
  const bool chosen = flags.instr.empty() && ReadOperations().empty();
  const auto ops = ChooseOperations(chosen ? BenchedRows() : flags.instr, Models::kRequired,
                                    nullptr, chosen ? not_named : call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  for (const Operation* op : *ops) call.ledger().Ask(Thing::kOperation, op->name);
  const DeviceOr host = OpenHost();
  const Settings settings = {{"machine", host.ok() ? Name((*host)->identity()) : "unknown"},
                             {"lanes", Lanes()},
                             {"strategy", flags.strategy},
                             {"time", absl::FormatDuration(*time)},
                             {"clock", "processor time"},
                             {"model_version", absl::StrCat(kModelVersion)},
                             {"generator_version", absl::StrCat(kGeneratorVersion)},
                             {"rounds", absl::StrCat(flags.rounds)}};
  const absl::StatusOr<Earlier> earlier = EarlierOf(flags.compare, settings, *ops);
  if (!earlier.ok()) return call.Say(earlier.status());
  std::unique_ptr<Device> device;
  if (!flags.device.empty()) {
    DeviceOr opened = OpenDeviceAndWarn(flags.device, call.console);
    if (!opened.ok()) return call.Say(opened.status());
    device = *std::move(opened);
    std::set<const Operation*> named;
    for (const Operation* op : *ops) {
      if (std::ranges::count(flags.instr, op->name) > 0) named.insert(op);
    }
    const auto of_device = call.ledger().Keep(OfDevice(*device, *ops, named));
    if (of_device.empty()) return;  // the ledger has the reason
  }
  HandleStopSignals();
  const TimeLimit endless = TimeLimit::After(absl::InfiniteDuration());
  const auto stop = [&] { return bool{StopNow(endless)}; };
  if (device != nullptr) device->StopWhen(stop);
  const auto [rows, failed] =
      Bench({*ops, FindStrategy(flags.strategy), *time, flags.rounds, flags.bound}, device.get(),
            stop, [&](const Operation& op) { call.console.Status(op.name, false); });
  call.console.Clear();
  if (!failed.ok() && rows.empty() && !call.globals.json) return call.Say(failed);
  std::string stopped = rows.size() < ops->size() ? Name(StopNow(endless)) : "";
  if (!failed.ok()) stopped = std::string(failed.message());
  const BenchResult result = {absl::StrReplaceAll(VersionText(), {{"\n", ", "}}),
                              settings,
                              stopped,
                              device.get(),
                              *earlier,
                              earlier->file.empty() ? "" : WhatDiffers(*earlier, settings, rows),
                              rows};
  WarnOfComparison(flags.compare, result, call.console);
  for (const BenchRow& row : rows) {
    if (device == nullptr || row.device) call.ledger().Compare(Thing::kOperation, row.op->name);
  }
  if (!stopped.empty()) call.ledger().LeaveRest(Thing::kOperation, Reason::kNotReached);
  for (const BenchRow& row : rows) {
    if (row.agrees) continue;
    call.Say(Verdict::kDiffers,
             absl::StrCat(row.op->name, ": the answers differ from the model's"));
  }
  call.PrintWithLeftOut(result, [&] { return TextOf(flags, result, call.console.style()); });
  if (stopped.empty()) return;
  call.console.Warn(absl::StrCat("stopped early (", stopped, "); ", rows.size(), " of ",
                                 ops->size(), " instructions were measured"));
  if (failed.ok()) call.Say(Verdict::kEarly);
  call.Say(failed);
}

}  // namespace

Action AddBench(CLI::App& command) {
  const auto flags = std::make_shared<BenchFlags>();
  AddInstr(command, flags->instr,
           "comma-separated globs of ARCH/INSTRUCTION [some rows of every family]");
  AddDevice(command, flags->device,
            "also benchmark this device and, on a GPU, the kernels of a run [none]");
  AddStrategy(command, flags->strategy);
  AddOption(command, "--time", flags->time,
            "time for each part in each round; at least one batch runs (50ms, 2s; a bare number: "
            "seconds)")
      .TypeName("TIME");
  AddOption(command, "--rounds", flags->rounds, "number of rounds; the fastest counts")
      .Range(1, 1000);
  AddFlag(
      command, "--bound", flags->bound,
      "also show a lower bound for the simulator's time, from a count of its instructions (takes "
      "seconds per row; needs ptrace and x86); `-` if they cannot be counted or are too many");
  AddOption(command, "--compare", flags->compare,
            "earlier --json output; shows the speed-up since then")
      .TypeName("FILE");
  return {RunBench, flags, {SchemaOf<WithLeftOut<BenchResult>>}};
}

}  // namespace mmadiff
