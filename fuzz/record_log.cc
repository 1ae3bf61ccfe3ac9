#include "fuzz/record_log.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "corpus/recordings/recording.h"
#include "device/stop.h"
#include "fuzz/devices.h"

namespace mmadiff {
namespace {

// What a device answers to the cases of one batch; before its first the engine's self-test.
absl::StatusOr<std::vector<uint64_t>> AnswersTo(const CaseStream& stream, const Batch& batch,
                                                Engine& engine) {
  absl::StatusOr<std::vector<uint64_t>> d = engine.device().Run(*stream.op, batch);
  if (d.ok() && batch.first == 0) {
    if (absl::Status s = engine.Try(stream); !s.ok()) d = s;
  }
  if (StopSignal() != 0) d = absl::CancelledError("stopped by a signal; run again");
  return d;
}

absl::Status Record(const RecordLogOptions& options, Engine& engine, RecordingWriter& writer,
                    Console& console, RecordLogOutcome& outcome) {
  Batch batch;
  for (const Operation* op : options.ops) {
    const CaseStream stream = {op, options.strategy, options.seed};
    for (uint64_t first = 0; first < options.cases; first += batch.count) {
      Generate(stream, first, std::min<uint64_t>(64, options.cases - first), batch);
      const auto d = AnswersTo(stream, batch, engine);
      if (IsOfOperation(d.status())) {
        console.Warn(absl::StrCat("dropped ", op->name, ": ", d.status().message()));
        outcome.dropped.push_back(d.status());
        break;
      }
      if (!d.ok()) return DeviceError(d.status());
      absl::Status s = writer.Append(*op, batch, *d, IdentityFor(engine.device(), *op));
      if (!s.ok()) return s;
      outcome.dot_products += d->size();
    }
  }
  return outcome.dot_products == 0 ? absl::OkStatus() : writer.Finish();
}

}  // namespace

absl::StatusOr<RecordLogOutcome> RecordLog(const RecordLogOptions& options, Engine& engine,
                                           const std::string& path, Console& console) {
  const auto writer = RecordingWriter::Create(path);
  if (!writer.ok()) return writer.status();
  engine.device().StopWhen([] { return StopSignal() != 0; });
  RecordLogOutcome outcome;
  const absl::Status s = Record(options, engine, **writer, console, outcome);
  // A recording is whole or not there: then the same command line starts again.
  if (!s.ok() || outcome.dot_products == 0) std::remove(path.c_str());
  if (!s.ok()) return s;
  return outcome;
}

}  // namespace mmadiff
