// mmadiff record: a device's answers to generated cases, as a block log for `recorded:` and
// `replay`.
#include "absl/strings/str_cat.h"
#include "corpus/recording.h"
#include "fuzz/case_name.h"
#include "fuzz/cli/cli.h"
#include "fuzz/devices.h"

namespace mmadiff {
namespace {

struct RecordFlags {
  std::vector<std::string> instr = {"*"};
  std::string device = "auto", out, strategy = "mixed";
  uint64_t cases = 4096, seed = 1;
};

int RunRecord(const RecordFlags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  DeviceOr device = OpenDevice(flags.device);
  if (!device.ok()) return Fail(device.status());
  absl::StatusOr<std::vector<const Row*>> rows = RowsMatching(flags.instr);
  if (!rows.ok()) return Fail(rows.status());
  std::erase_if(*rows, [&](const Row* row) { return !(*device)->Supports(*row).ok(); });
  if (rows->empty()) {
    return Fail(absl::NotFoundError(
        absl::StrCat("device ", flags.device, " has none of these instructions")));
  }
  if (flags.cases == 0) return Fail(absl::InvalidArgumentError("--cases must be at least 1"));
  absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Create(flags.out);
  if (absl::IsAlreadyExists(writer.status())) return Fail(writer.status());
  if (!writer.ok()) return Fail(absl::DataLossError(writer.status().message()), kNotDurable);
  uint64_t recorded = 0;
  Batch batch;
  for (const Row* row : *rows) {
    const CaseStream stream = {row, FindStrategy(flags.strategy), flags.seed};
    for (uint64_t first = 0; first < flags.cases; first += batch.count) {
      Generate(stream, first, std::min<uint64_t>(64, flags.cases - first), batch);
      const absl::StatusOr<std::vector<uint64_t>> d = (*device)->Run(*row, batch);
      if (!d.ok()) {  // a recording is whole or not there: then the same command line starts again
        std::remove(flags.out.c_str());
        return Fail(d.status());
      }
      absl::Status s = (*writer)->Append(*row, batch, *d, (*device)->identity());
      if (!s.ok()) return Fail(s, kNotDurable);
      recorded += d->size();
    }
  }
  if (absl::Status s = (*writer)->Flush(); !s.ok()) return Fail(s, kNotDurable);
  console.Print(
      absl::StrCat(recorded, " dot products of ", (*device)->identity(), " in ", flags.out, "\n"));
  return kClean;
}

}  // namespace

std::function<int()> AddRecord(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<RecordFlags>();
  command.add_option("out", flags->out, "file to create")->required();
  command.add_option("--instr", flags->instr, "globs, comma separated [*]")->delimiter(',');
  command.add_option("--device", flags->device, "[auto]");
  command.add_option("--cases", flags->cases, "executions per instruction [4096]")
      ->transform(Count());
  command.add_option("--seed", flags->seed, "of the generator [1]")->check(Seed());
  std::vector<std::string> names;
  for (const Strategy& s : Strategies()) names.push_back(s.name);
  command.add_option("--strategy", flags->strategy, "[mixed]")->check(CLI::IsMember(names));
  return [flags, &globals] { return RunRecord(*flags, globals); };
}

}  // namespace mmadiff
