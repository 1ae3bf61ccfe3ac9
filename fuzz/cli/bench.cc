// mmadiff bench: what a dot product costs on this machine, part by part.
#include "fuzz/bench/bench.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/durable_file.h"
#include "device/host.h"
#include "device/stop.h"
#include "fuzz/cli/cli.h"
#include "fuzz/json_text.h"
#include "sim/lanes/lanes.h"
#include "triage/text_table.h"

namespace mmadiff {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostBytes = 16 << 20;  // of a file to compare with

struct Flags {
  std::vector<std::string> instr;
  std::string device, time = "50ms", strategy = "mixed", compare;
  int rounds = 3;
  bool bound = false;
};

struct Earlier {
  std::map<std::string, std::pair<double, double>> of;  // simulator, run
};

absl::StatusOr<Earlier> ReadEarlier(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMostBytes);
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  Earlier earlier;
  for (const Json& row : json.is_object() ? json.value("rows", Json::array()) : Json::array()) {
    const auto number = [&](const char* name) {
      return row.is_object() && row.contains(name) && row[name].is_number()
                 ? row[name].get<double>()
                 : 0;
    };
    if (!row.is_object() || !row.value("instruction", Json()).is_string()) continue;
    earlier.of[row["instruction"]] = {number("simulator"), number("unit")};
  }
  if (!earlier.of.empty()) return earlier;
  return absl::DataLossError(absl::StrCat(path, ": no output of `bench --json`"));
}

std::string Nanoseconds(double ns) { return absl::StrFormat("%.*f", ns < 100 ? 2 : 0, ns); }

// "2.31": so many times as fast as earlier; empty if it was not measured.
std::string Times(double earlier, double now) {
  return earlier > 0 && now > 0 ? absl::StrFormat("%.2f", earlier / now) : "";
}

std::string TableOf(const std::vector<BenchRow>& rows, const Earlier& earlier, bool bound,
                    bool device, const TextStyle& style) {
  std::vector<TableColumn> columns = {{"instruction"}, {"generator", true, 2}, {"simulator", true}};
  if (bound) columns.push_back({"bound", true});
  columns.push_back({"digest", true, 3});
  if (device) columns.push_back({"device", true, 1});
  columns.push_back({"unit", true});
  columns.push_back({"M/s", true});
  const bool compares = !earlier.of.empty();
  if (compares) columns.insert(columns.end(), {{"simulator x", true}, {"unit x", true}});
  TextTable table(columns);
  for (const BenchRow& row : rows) {
    std::vector<std::string> cells = {row.op->name, Nanoseconds(row.generator),
                                      Nanoseconds(row.simulator)};
    if (bound) cells.push_back(row.bound > 0 ? Nanoseconds(row.bound) : "-");
    cells.push_back(Nanoseconds(row.digest));
    if (device) cells.push_back(row.device ? Nanoseconds(*row.device) : "-");
    cells.push_back(Nanoseconds(row.unit));
    cells.push_back(absl::StrFormat("%.2f", 1e3 / row.unit));
    if (compares) {
      const auto found = earlier.of.find(row.op->name);
      const auto [simulator, run] = found == earlier.of.end() ? std::pair(0.0, 0.0) : found->second;
      cells.push_back(Times(simulator, row.simulator));
      cells.push_back(Times(run, row.unit));
    }
    table.Add(cells);
  }
  return table.Text(style);
}

// The vectors that models with lanes are simulated in.
std::string Lanes() { return LaneTargets().empty() ? "none" : LaneTargets()[0].name; }

Json Counted(double number) { return number > 0 ? Json(number) : Json(); }

std::string AsJson(const std::vector<BenchRow>& rows, const std::string& machine,
                   const std::string& device) {
  Json json = {
      {"machine", machine}, {"lanes", Lanes()}, {"device", device}, {"rows", Json::array()}};
  for (const BenchRow& row : rows) {
    json["rows"].push_back({{"instruction", row.op->name},
                            {"k", row.op->model.k},
                            {"lanes", HasLanes(row.op->model)},
                            {"generator", row.generator},
                            {"simulator", row.simulator},
                            {"instructions", Counted(row.instructions)},
                            {"vector_instructions", Counted(row.vector_instructions)},
                            {"bound", Counted(row.bound)},
                            {"digest", row.digest},
                            {"device", row.device ? Json(*row.device) : Json()},
                            {"unit", row.unit}});
  }
  return JsonText(json, 1) + "\n";
}

int RunBench(const Flags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  const absl::StatusOr<absl::Duration> time = ParseDuration("--time", flags.time);
  if (!time.ok()) return Fail(time.status());
  const auto ops = OperationsMatching(flags.instr.empty() ? BenchedRows() : flags.instr);
  if (!ops.ok()) return Fail(ops.status());
  Earlier earlier;
  if (!flags.compare.empty()) {
    absl::StatusOr<Earlier> read = ReadEarlier(flags.compare);
    if (!read.ok()) return Fail(read.status());
    earlier = *std::move(read);
  }
  std::unique_ptr<Device> device;
  if (!flags.device.empty()) {
    DeviceOr opened = OpenDeviceAndWarn(flags.device, console);
    if (!opened.ok()) return Fail(opened.status());
    device = *std::move(opened);
  }
  HandleStopSignals();
  const TimeLimit endless = TimeLimit::After(absl::InfiniteDuration());
  const auto stop = [&] { return !StopReason(endless).empty(); };
  if (device != nullptr) device->StopWhen(stop);
  const auto rows =
      Bench({*ops, FindStrategy(flags.strategy), *time, flags.rounds, flags.bound}, device.get(),
            stop, [&](const Operation& op) { console.Status(op.name, false); });
  console.Clear();
  if (!rows.ok()) return Fail(rows.status());
  const DeviceOr host = OpenHost();
  const std::string machine = host.ok() ? (*host)->identity() : "unknown";
  if (globals.json) {
    console.Print(AsJson(*rows, machine, device == nullptr ? "" : device->identity()));
  } else {
    console.Print(absl::StrCat(
        Wrap(absl::StrCat("ns a dot product, one thread; lanes ", Lanes(), "; ", machine, "\n"),
             console.style().width, 2),
        TableOf(*rows, earlier, flags.bound, device != nullptr, console.style())));
  }
  return rows->size() < ops->size() ? kStopped : kClean;
}

}  // namespace

std::function<int()> AddBench(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<Flags>();
  command
      .add_option("--instr", flags->instr,
                  "globs of ARCH/INSTRUCTION, comma separated [some rows of every family]")
      ->delimiter(',')
      ->type_name("GLOBS");
  AddDevice(command, flags->device, "measure its answers too [nobody's]");
  AddStrategy(command, flags->strategy);
  AddDuration(command, "--time", flags->time, "of each part in each round");
  command.add_option("--rounds", flags->rounds, "of which the least counts")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command.add_flag("--bound", flags->bound,
                   "count the simulator's instructions: the time it cannot go below with them");
  command
      .add_option("--compare", flags->compare, "earlier output of --json: how many times as fast")
      ->type_name("FILE");
  return [flags, &globals] { return RunBench(*flags, globals); };
}

}  // namespace mmadiff
