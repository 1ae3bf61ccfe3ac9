#include "fuzz/report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "device/plain_text.h"
#include "fuzz/case_json.h"
#include "fuzz/coverage/counter.h"
#include "fuzz/finding_text.h"
#include "fuzz/json_text.h"
#include "fuzz/next_command.h"
#include "fuzz/progress.h"

namespace mmadiff {
namespace {

struct Totals {
  uint64_t cases = 0, dot_products = 0, mismatches = 0, flaky = 0;
  std::map<std::string, uint64_t> counts;
};

Totals Sum(const CampaignOutcome& outcome) {
  Totals t;
  for (const OperationOutcome& op : outcome.ops) {
    t.cases += op.total.cases;
    t.dot_products += op.total.dot_products;
    t.mismatches += op.total.mismatches;
    for (const auto& [name, count] : op.total.counts) t.counts[name] += count;
  }
  for (const Finding& f : outcome.findings) t.flaky += f.flaky;
  return t;
}

double Rate(const CampaignOutcome& outcome) {
  return outcome.seconds > 0 ? static_cast<double>(outcome.attempt_dot_products) / outcome.seconds
                             : 0;
}

// What a device that starts anew cannot show; "" for others.
std::string InProcesses(uint64_t dot_products) {
  return dot_products == 0 ? "" : absl::StrCat(" in processes of at most ", dot_products, " lines");
}

double OperationRate(const OperationOutcome& op, int threads) {
  return op.total.seconds > 0
             ? static_cast<double>(op.total.dot_products) * threads / op.total.seconds
             : 0;
}

std::string Table(const CampaignOptions& options, const CampaignOutcome& outcome,
                  const TextStyle& style) {
  const bool narrow = style.width != kAnyWidth;
  TextTable table({{"instruction"},
                   {"cases", true, 3},
                   {"dot products", true, 2},
                   {"mismatches", true},
                   {"rate/s", true, 4},
                   {.title = narrow ? "differences, model" : "evidence", .drop = 1}});
  for (const OperationOutcome& op : outcome.ops) {
    std::string evidence = EvidenceText(options, outcome, op);
    if (narrow) {
      evidence = absl::StrReplaceAll(evidence, {{"rate <", "<"},
                                                {InProcesses(op.process_dot_products), ""},
                                                {" model ", " "},
                                                {" from the device", ""},
                                                {" after so many (--max_mismatches)", ""}});
    }
    table.Add({op.op->name, absl::StrCat(op.total.cases), absl::StrCat(op.total.dot_products),
               absl::StrCat(op.total.mismatches), HumanCount(OperationRate(op, options.threads)),
               evidence},
              op.total.mismatches > 0);
  }
  return table.Text(style);
}

int64_t Dropped(const CampaignOutcome& outcome) {
  return std::count_if(outcome.ops.begin(), outcome.ops.end(),
                       [](const OperationOutcome& op) { return !op.dropped.ok(); });
}

// All that there was to do had been done before.
bool NothingExecuted(const CampaignOutcome& outcome) {
  return outcome.attempt_dot_products == 0 && outcome.resumed_units > 0;
}

std::string CasesText(const Finding& f) {
  return f.cases == 0 ? "of an earlier attempt" : CountText(f.cases, "case");
}

// Where most bins are thin there were too few cases; of others the names, a line each, of few.
std::string IncompleteNotes(const CampaignOptions& options, const CampaignOutcome& outcome) {
  constexpr size_t kRows = 3, kNames = 4;
  std::string text;
  size_t few = 0, rows = 0;
  for (const OperationOutcome* op : IncompleteOperations(options, outcome)) {
    const std::vector<Bin> bins = BinsOf(op->op->model);
    const std::vector<size_t> thin = ThinBins(bins, op->total.coverage);
    if (op->total.dot_products == 0 || thin.size() * 4 > op->total.coverage.size()) {
      ++few;
      continue;
    }
    std::vector<std::string> names;
    for (const size_t i : thin) names.push_back(bins[i].name());
    for (const std::string& c : EmptyClasses(options, *op)) names.push_back("class " + c);
    if (++rows > kRows) continue;
    const size_t all = names.size();
    names.resize(std::min(all, kNames));
    absl::StrAppend(&text, "incomplete: ", op->op->name, " has too few cases for ",
                    absl::StrJoin(names, ", "),
                    all > kNames ? absl::StrCat(" and ", all - kNames, " more bins") : "", "\n");
  }
  if (rows > kRows) {
    absl::StrAppend(&text, "incomplete: ", CountText(rows - kRows, "more instruction"),
                    " with thin bins (mmadiff report names them)\n");
  }
  if (few > 0) {
    absl::StrAppend(&text, "incomplete: ", CountText(few, "instruction"),
                    " had too few cases to fill the bins of the arithmetic\n");
  }
  return text;
}

// What the numbers do not say.
std::string Notes(const CampaignOptions& options, const CampaignOutcome& outcome) {
  std::string text;
  for (const OperationOutcome& op : outcome.ops) {
    if (op.dropped.ok()) continue;
    absl::StrAppend(&text, "dropped:  ", op.op->name, ": ", op.dropped.message(), "\n");
  }
  for (const std::string& line : outcome.distrusted) {
    absl::StrAppend(&text, "distrusted: ", line, " (an earlier attempt)\n");
  }
  for (const std::string& hardware : outcome.hardware) {
    absl::StrAppend(&text, "hardware: ", hardware, "\n");
  }
  if (NothingExecuted(outcome)) {
    absl::StrAppend(&text, "note: ", outcome.resumed_units, " of ",
                    std::max(outcome.units, outcome.resumed_units),
                    " units from earlier attempts, nothing executed\n");
  }
  const auto emulated = std::count_if(outcome.ops.begin(), outcome.ops.end(),
                                      [](const OperationOutcome& op) { return op.emulated; });
  if (emulated > 0) {
    absl::StrAppend(&text, "note: ", emulated, " of ", outcome.ops.size(),
                    " instructions are emulated by ptxas on this GPU, not native (mmadiff list "
                    "instructions --evidence)\n");
  }
  return text + IncompleteNotes(options, outcome);
}

// "differs", the instruction, and a line for each of its buckets; of many not all, so that the last
// screen holds them.
template <class Add>
void AddDifferences(const CampaignOutcome& outcome, const Totals& totals, const std::string& folder,
                    const TextStyle& style, Add add) {
  constexpr size_t kMost = 5;
  const auto mark = [&style](const std::string& text) {
    return style.color ? absl::StrCat(kMarkBegin, text, kMarkEnd) : text;
  };
  if (outcome.findings.empty()) {
    uint64_t most = 0;
    for (const OperationOutcome& op : outcome.ops) most = std::max(most, op.process_dot_products);
    add("differs", totals.mismatches > 0 ? mark(CountText(totals.mismatches, "case"))
                   : totals.dot_products > 0
                       ? absl::StrCat("nothing; the rate of differences is below that of the table "
                                      "(95 %, of this generator)",
                                      InProcesses(most))
                       : "nothing was compared");
  }
  for (size_t i = 0; i < std::min(kMost, outcome.findings.size()); ++i) {
    const Finding& f = outcome.findings[i];
    const Finding* before = i == 0 ? nullptr : &outcome.findings[i - 1];
    if (before == nullptr || before->op != f.op || before->flaky != f.flaky) {
      add(f.flaky ? "flaky" : "differs", mark(f.op));
    }
    add("", absl::StrCat(f.signature, ", ", CasesText(f),
                         f.reports > 1 ? absl::StrCat(" in ", f.reports, " reports") : ""));
    if (outcome.findings.size() == 1 && !f.diagnosis.empty()) add("", f.diagnosis);
  }
  if (outcome.findings.size() > kMost) {
    add("", absl::StrCat("and ", outcome.findings.size() - kMost, " more in ", folder));
  }
}

nlohmann::ordered_json JsonOf(const Finding& f) {
  const auto changes = ParseChanges(FindOperation(f.op)->model.algorithm.family,
                                    f.signature.substr(f.signature.rfind(':') + 1));
  return {{"instruction", f.op},
          {"bucket", f.signature},
          {"first_case", f.case_name},
          {"cases", f.cases},
          {"flaky", f.flaky},
          {"path", f.path},
          {"beside", f.beside},
          {"diagnosis", f.diagnosis},
          {"replaces", f.replaces},
          {"parameters", ParametersJson(changes.value_or(std::vector<Change>()))}};
}

bool IsFilled(const CampaignOptions& options, const OperationOutcome& op) {
  return EmptyClasses(options, op).empty() && ThinBinNames(op).empty();
}

std::string Stat(absl::string_view name, const absl::AlphaNum& value) {
  return absl::StrCat("stat::", name, ": ", value, "\n");
}

}  // namespace

std::string EvidenceText(const CampaignOptions& options, const CampaignOutcome& outcome,
                         const OperationOutcome& op) {
  const UnitResult& t = op.total;
  uint64_t flaky = 0, confirmed = 0;
  for (const Finding& f : outcome.findings) {
    if (f.op == op.op->name) ++(f.flaky ? flaky : confirmed);
  }
  // What the device does not repeat says nothing about the model.
  if (op.unrepeated || (flaky != 0 && confirmed == 0)) return "the device's answers do not repeat";
  if (!op.dropped.ok()) return "dropped";
  if (t.mismatches != 0) {
    return absl::StrCat("differs from the device",
                        op.stopped ? "; stopped after so many (--max_mismatches)" : "");
  }
  if (t.dot_products == 0) return "nothing compared";
  return absl::StrCat(
      "rate < ", absl::StrFormat("%.1e", 3.0 / static_cast<double>(t.dot_products)),
      InProcesses(op.process_dot_products), ", model ", Name(op.op->numerics->evidence.grade),
      op.op->numerics->nan_verdict == NanVerdict::kAnyNan ? ", bits of NaNs not compared" : "",
      IsFilled(options, op) ? "" : ", incomplete");
}

std::string Hex(Digest digest) {
  return absl::StrFormat("%016x%016x", static_cast<uint64_t>(digest >> 64),
                         static_cast<uint64_t>(digest));
}

std::string RunDigest(const CampaignOutcome& outcome) {
  Digest digest = 0;
  for (const OperationOutcome& op : outcome.ops) {
    if (!op.finished) return "";
    digest += op.total.device_digest;
  }
  return Hex(digest);
}

std::vector<std::string> EmptyClasses(const CampaignOptions& options, const OperationOutcome& op) {
  std::vector<std::string> empty;
  if (options.strategy == nullptr) return empty;
  for (const InputClass* c : ClassesOf(*options.strategy, *op.op->instruction)) {
    if (op.total.counts.count(absl::StrCat("class.", c->name)) == 0) empty.push_back(c->name);
  }
  return empty;
}

std::vector<std::string> ThinBinNames(const OperationOutcome& op) {
  if (op.total.dot_products == 0 || op.total.mismatches != 0 || !op.dropped.ok()) return {};
  std::vector<std::string> names;
  const std::vector<Bin> bins = BinsOf(op.op->model);
  for (const size_t i : ThinBins(bins, op.total.coverage)) names.push_back(bins[i].name());
  return names;
}

std::vector<const OperationOutcome*> IncompleteOperations(const CampaignOptions& options,
                                                          const CampaignOutcome& outcome) {
  std::vector<const OperationOutcome*> incomplete;
  for (const OperationOutcome& op : outcome.ops) {
    if (op.total.mismatches != 0 || !op.dropped.ok()) continue;
    if (op.total.dot_products == 0 || !IsFilled(options, op)) incomplete.push_back(&op);
  }
  return incomplete;
}

std::string FormatReport(const CampaignOptions& options, const CampaignOutcome& outcome) {
  std::string text = Table(options, outcome, {});
  for (const Finding& f : outcome.findings) {
    absl::StrAppend(&text,
                    f.flaky                      ? "flaky:    "
                    : f.cases == 0 && !f.unfixed ? "fixed:    "
                                                 : "mismatch: ",
                    f.op, "  ", f.signature, "  ", CasesText(f), "  ", f.path, "\n");
  }
  return text + Notes(options, outcome);
}

std::string FormatStats(const CampaignOutcome& outcome) {
  const Totals totals = Sum(outcome);
  std::string text =
      absl::StrCat(Stat("cases", totals.cases), Stat("dot_products", totals.dot_products),
                   Stat("mismatches", totals.mismatches), Stat("flaky", totals.flaky),
                   Stat("buckets", outcome.findings.size()), Stat("dropped", Dropped(outcome)),
                   Stat("seconds", absl::StrFormat("%.2f", outcome.seconds)),
                   Stat("dot_products_per_second", absl::StrFormat("%.0f", Rate(outcome))),
                   Stat("resumed_units", outcome.resumed_units));
  if (const std::string digest = RunDigest(outcome); !digest.empty()) {
    text += Stat("digest", digest);
  }
  for (const auto& [name, count] : totals.counts) text += Stat(name, count);
  return text;
}

std::string FormatScreen(const CampaignOptions& options, const CampaignOutcome& outcome,
                         const NextCommands& next, const TextStyle& style) {
  const Totals totals = Sum(outcome);
  std::string text = absl::StrCat(Table(options, outcome, style),
                                  Wrap(Notes(options, outcome), style.width, 2), "\n");
  const auto add = [&](const char* label, absl::string_view words) {
    text += Labelled(absl::StrFormat("%-9s", label), words, style.width);
  };
  add("ran", absl::StrCat(CountText(outcome.ops.size(), "instruction"), ", ",
                          HumanCount(static_cast<double>(totals.cases)), " cases, ",
                          HumanCount(static_cast<double>(totals.dot_products)), " dot products; ",
                          absl::StrFormat("%.1f s", outcome.seconds)));
  const std::string folder = options.workdir + "/findings";
  AddDifferences(outcome, totals, folder, style, add);
  if (outcome.findings.empty()) {
    add("folder", options.workdir);
    const bool finished =
        std::ranges::all_of(outcome.ops, [](const OperationOutcome& op) { return op.finished; });
    if (totals.mismatches > 0 || options.forever) return text;
    return text + CommandLine("next     ", finished ? next.longer : next.again, style.width);
  }
  const Finding& first = outcome.findings.front();
  const bool one = outcome.findings.size() == 1 && first.reports == 1;
  const size_t room = style.width - std::min<size_t>(style.width, 9);
  add("filed", one && !first.path.empty() ? FiledText(first, room) : folder);
  const bool flaky =
      std::ranges::all_of(outcome.findings, [](const Finding& f) { return f.flaky; });
  const char* verb = flaky ? "replay" : "explain";
  if (one && first.path.empty()) return text;
  const std::string command = one ? CaseCommand(verb, first.path, room + 7)
                                  : absl::StrCat(Program(), " ", verb, " ", ShellWord(folder));
  return text + CommandLine("next     ", command + (flaky ? AskAgainFlag(first) : ""), style.width);
}

std::string FormatJsonReport(const CampaignOptions& options, const CampaignOutcome& outcome) {
  const Totals totals = Sum(outcome);
  nlohmann::ordered_json json = {
      {"seed", options.seed},
      {"strategy", options.strategy->name},
      {"generator_version", kGeneratorVersion},
      {"model_version", kModelVersion},
      {"cases", totals.cases},
      {"dot_products", totals.dot_products},
      {"mismatches", totals.mismatches},
      {"seconds", outcome.seconds},
      {"dot_products_per_second", Rate(outcome)},
      {"resumed_units", outcome.resumed_units},
      {"nothing_executed", NothingExecuted(outcome)},
      {"dropped", Dropped(outcome)},
      {"hardware", outcome.hardware},
      {"distrusted", outcome.distrusted},
      {"digest", RunDigest(outcome)},
      {"stopped_by", Name(outcome.stopped_by)},
      {"workdir", options.workdir},
  };
  json["instructions"] = nlohmann::ordered_json::array();
  for (const OperationOutcome& op : outcome.ops) {
    json["instructions"].push_back({{"name", op.op->name},
                                    {"cases", op.total.cases},
                                    {"planned_cases", op.planned_cases},
                                    {"dot_products", op.total.dot_products},
                                    {"mismatches", op.total.mismatches},
                                    {"rate", OperationRate(op, options.threads)},
                                    {"verdict", EvidenceText(options, outcome, op)},
                                    {"finished", op.finished},
                                    {"dropped", std::string(op.dropped.message())},
                                    {"planted_fault", op.planted},
                                    {"emulated", op.emulated},
                                    {"evidence", Name(op.op->numerics->evidence.grade)},
                                    {"digest", op.finished ? Hex(op.total.device_digest) : ""},
                                    {"empty_classes", EmptyClasses(options, op)},
                                    {"thin_bins", ThinBinNames(op)},
                                    {"counts", op.total.counts}});
  }
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& f : outcome.findings) json["findings"].push_back(JsonOf(f));
  return JsonText(json, -1) + "\n";
}

std::string FormatJsonMinimized(const Finding& finding, const char* verdict) {
  nlohmann::ordered_json json = {{"verdict", verdict}};
  json.update(JsonOf(finding));
  return JsonText(json, 1) + "\n";
}

}  // namespace mmadiff
