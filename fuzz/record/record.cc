#include "fuzz/record/record.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/utc_time.h"
#include "device/status_macros.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/folder/findings.h"
#include "fuzz/record/agenda.h"
#include "fuzz/unit/devices.h"

namespace mmadiff {
namespace {

// Returns the manifest of the recording. `outcome` has the statuses of dropped operations.
absl::StatusOr<RecordingManifest> Record(const RecordOptions& options, Engine& engine,
                                         RecordAgenda& agenda, RecordOutcome& outcome,
                                         Console& console) {
  const auto workers = WorkersOf(engine, options.threads, options.open);
  TaskLog nothing;
  // No time limit here: the agenda applies it to the tasks that it may end.
  const DispatchOutcome dispatched =
      Dispatch({TimeLimit(), absl::ZeroDuration()}, workers, agenda, nothing, console);
  const bool stopped = dispatched.stopped_by.kind == StopCause::kSignal;
  RETURN_IF_ERROR(dispatched.durable);
  if (stopped && !agenda.HasRaw()) {
    return absl::UnavailableError("stopped by a signal; no recording was kept, run again");
  }
  RETURN_IF_ERROR(agenda.failed());
  if (!dispatched.device.ok()) return DeviceError(dispatched.device);
  auto manifest = agenda.Finish(outcome);
  outcome.stopped = stopped;
  outcome.dropped = dispatched.drops;
  return manifest;
}

}  // namespace

absl::StatusOr<RecordOutcome> RecordFolder(const RecordOptions& options, Engine& engine,
                                           const std::string& folder, Console& console) {
  ASSIGN_OR_RETURN(const auto writer, RecordingFolderWriter::Create(folder));
  const auto append = [&](const Operation& op, const Batch& batch, const auto& d,
                          const std::string& identity) {
    return writer->AppendRaw(op, batch, d, identity);
  };
  RecordAgenda agenda(options, append, writer.get(), console);
  RecordOutcome outcome;
  ASSIGN_OR_RETURN(auto manifest, Record(options, engine, agenda, outcome, console));
  if (manifest.instructions.empty()) {
    const Drop& first = outcome.dropped.front();
    const bool of_input = FailureOf(first.status).has_value();
    if (first.cause != DropCause::kCrashes && first.cause != DropCause::kHangs && !of_input) {
      return DeviceError(first.status);
    }
    return absl::InternalError(absl::StrCat(Text(first), "; nothing was recorded"));
  }
  manifest.tool_version = MMADIFF_VERSION;
  manifest.model_version = absl::StrCat(kModelVersion);
  manifest.generator_version = kGeneratorVersion;
  manifest.seed = options.seed;
  manifest.device = engine.device().name();
  manifest.device_identity = engine.device().identity();
  manifest.date = UtcNow();
  RETURN_IF_ERROR(writer->Commit(std::move(manifest)));
  return outcome;
}

absl::StatusOr<RecordOutcome> RecordLog(const RecordOptions& options, Engine& engine,
                                        const std::string& path, Console& console) {
  ASSIGN_OR_RETURN(const auto writer, RecordingWriter::Create(path));
  const auto append = [&](const Operation& op, const Batch& batch, const auto& d,
                          const std::string& identity) {
    return writer->Append(op, batch, d, identity);
  };
  RecordAgenda agenda(options, append, nullptr, console);
  RecordOutcome outcome;
  absl::Status s = Record(options, engine, agenda, outcome, console).status();
  const bool any = s.ok() && outcome.raw_dot_products > 0;
  if (any) s = writer->Finish();
  std::error_code error;
  if (!any || !s.ok()) std::filesystem::remove(path, error);
  if (error) console.Warn(absl::StrCat(path, ": remove: ", error.message()));
  RETURN_IF_ERROR(s);
  return outcome;
}

}  // namespace mmadiff
