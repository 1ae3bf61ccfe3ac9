// mmadiff replay: compares the model with stored answers, or with a device on the stored inputs.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/regression_case.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/cli/asked_device.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/junit.h"
#include "fuzz/cli/replay_vectors.h"
#include "fuzz/cli/subject.h"
#include "fuzz/engine.h"
#include "fuzz/recorder.h"
#include "fuzz/report.h"
#include "fuzz/unit_runner.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

struct ReplayFlags {
  std::vector<std::string> subjects;
  std::string device, instr, junit;
  uint64_t errors = 20, every = 1;
  bool verbose = false;
};

bool IsBelow(const std::string& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&path](const std::string& folder) {
    return absl::StartsWith(path, folder + "/");
  });
}

// In the order of their names.
absl::StatusOr<std::vector<std::string>> RecordingFoldersBelow(const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> files = FilesBelow(path);
  if (!files.ok()) return files.status();
  std::set<std::string> folders;
  for (const std::string& file : *files) {
    folders.insert(std::filesystem::path(file).parent_path().string());
  }
  std::erase_if(folders, [](const std::string& folder) { return !IsRecordingFolder(folder); });
  return std::vector<std::string>(folders.begin(), folders.end());
}

// What one device answered.
struct Tally {
  uint64_t compared = 0, differing = 0;  // dot products
  std::set<std::string> rows;
};

// Everything that one replay compares, and what it found.
class Replay {
 public:
  Replay(const ReplayFlags& flags, AskedDevice* device, Console& console)
      : flags_(flags),
        device_(device),
        console_(console),
        vectors_(device, flags.errors, flags.verbose, console) {}

  absl::Status Subject(const std::string& argument) {
    if (LooksLikeCaseName(argument)) return CaseName(argument);
    struct stat info;
    if (stat(argument.c_str(), &info) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, ": no such file, folder or case name"));
    }
    if (IsRecordingFolder(argument)) return Folder(argument);
    const auto vectors = ListVectorFiles(argument);
    if (!vectors.ok()) return vectors.status();
    if (!S_ISDIR(info.st_mode)) {
      if (!vectors->empty()) return Vectors(argument);
      return absl::EndsWith(argument, ".txtpb") ? Cases(argument, {}) : Recorded(argument);
    }
    const auto folders = RecordingFoldersBelow(argument), files = LineRecordingsBelow(argument);
    if (!folders.ok()) return folders.status();
    if (!files.ok()) return files.status();
    print_tallies_ |= !folders->empty() || !files->empty();
    absl::Status s = Cases(argument, *folders);
    for (const std::string& folder : *folders) s.Update(Folder(folder));
    for (const std::string& file : *files) s.Update(Recorded(file, true));
    for (const std::string& file : *vectors) {
      if (!IsBelow(file, *folders)) s.Update(Vectors(file));
    }
    return s;
  }

  int Finish() {
    const std::vector<absl::Status> dropped =
        device_ == nullptr ? std::vector<absl::Status>() : device_->dropped();
    const uint64_t flaky = flaky_units_ + (device_ == nullptr ? 0 : device_->flaky());
    compared_ += vectors_.compared();
    differing_ += vectors_.differing();
    unsupported_ += vectors_.unsupported();
    verdicts_.insert(verdicts_.end(), vectors_.verdicts().begin(), vectors_.verdicts().end());
    for (const auto& [device, tally] : tallies_) {
      if (!print_tallies_) break;
      console_.Print(absl::StrCat(device, ": ", tally.compared - tally.differing, " of ",
                                  tally.compared, " dot products of ", tally.rows.size(),
                                  " instructions equal\n"));
    }
    console_.Print(absl::StrCat(
        compared_ - differing_, " of ", compared_, " dot products equal",
        damaged_ ? " (damaged data skipped)" : "",
        unsupported_ == 0 ? ""
                          : absl::StrCat(", ", unsupported_,
                                         " cases left out: the device lacks "
                                         "their instructions"),
        Counted(", flaky: ", flaky), Counted(", instructions dropped: ", dropped.size()), "\n"));
    if (units_ > 0) {
      console_.Print(
          absl::StrCat(units_ - differing_units_, " of ", units_, " units of digests equal\n"));
    }
    if (const std::string counts = vectors_.Counts(); !counts.empty()) console_.Print(counts);
    if (!flags_.junit.empty()) {
      if (absl::Status s = WriteFileDurably(flags_.junit, JUnit("replay", verdicts_)); !s.ok()) {
        return Fail(s, kNotDurable);
      }
    }
    if (flaky > 0) console_.Warn("the device's answers do not repeat, so they say nothing");
    const bool nothing = compared_ == 0 && units_ == 0;
    if (!dropped.empty()) return CodeOfDropped(dropped, !nothing);
    if (nothing && (damaged_ || flaky > 0)) return kDamaged;
    if (nothing && unsupported_ > 0) {
      return Fail(absl::NotFoundError("the device has none of these instructions"));
    }
    if (nothing) return Fail(absl::InternalError("nothing was compared; that is no pass"));
    if (differing_ + differing_units_ != 0) return kMismatch;
    return damaged_ || flaky > 0 ? kDamaged : kClean;
  }

 private:
  static std::string Counted(const char* what, uint64_t count) {
    return count == 0 ? "" : absl::StrCat(what, count);
  }

  absl::Status CaseName(const std::string& argument) {
    const absl::StatusOr<::mmadiff::CaseName> name = ParseCaseName(argument);
    if (!name.ok()) return name.status();
    Batch inputs;
    Generate(name->stream, name->index, 1, inputs);
    return Live(*name->stream.row, inputs, argument);
  }

  // But those below `recordings`: a recording has a text proto of its own.
  absl::Status Cases(const std::string& path, const std::vector<std::string>& recordings) {
    const absl::StatusOr<std::vector<std::string>> files = ListCases(path);
    if (!files.ok()) return files.status();
    for (const std::string& file : *files) {
      if (IsBelow(file, recordings)) continue;
      const absl::StatusOr<RegressionCase> c = ReadCase(file);
      if (!c.ok() && file == path) return c.status();
      if (!c.ok()) {  // one bad file of a folder does not hide the others
        console_.Warn(c.status().message());
        damaged_ = true;
        continue;
      }
      if (device_ != nullptr) {
        // In a folder, instructions that the device lacks are counted and left out.
        if (file != path && device_->Lacks(*c->row)) {
          ++unsupported_;
        } else if (absl::Status s = Live(*c->row, c->inputs, file); !s.ok()) {
          return s;
        }
        continue;
      }
      for (const Answer& answer : c->answers) {
        // A prediction of the model that a device refutes is no expectation any more.
        const bool prediction = absl::StartsWith(answer.device, "model");
        if (prediction && c->answers.size() > 1) continue;
        Compare(*c->row, c->inputs, answer.d, file, answer.device);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Vectors(const std::string& path) {
    const absl::StatusOr<VectorFile> file = ReadVectors(path);
    if (!file.ok()) {
      console_.Warn(file.status().message());
      damaged_ = true;
      return absl::OkStatus();
    }
    for (const Vector& v : file->vectors) {
      if (absl::Status s = vectors_.Compare(v); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // Everything that a folder of recordings has; with a device also what that answers to the same.
  absl::Status Folder(const std::string& path) {
    RecordingStats stats;
    const auto answers = [this](const Recording& recording) -> absl::Status {
      const absl::StatusOr<Batch> inputs = InputsOf(recording);
      if (!inputs.ok()) return inputs.status();
      Compare(*recording.row, *inputs, recording.d, recording.where, recording.identity,
              recording.line);
      if (device_ == nullptr) return absl::OkStatus();
      if (!device_->Lacks(*recording.row)) return Live(*recording.row, *inputs, recording.where);
      ++unsupported_;
      return absl::OkStatus();
    };
    if (absl::Status s = ReadRecordingFolder(path, answers, stats); !s.ok()) return s;
    const auto damage = VerifyDigests(path, flags_.every,
                                      [this](const UnitVerdict& unit) { return AddUnit(unit); });
    if (!damage.ok()) return damage.status();
    console_.Clear();
    stats.damage.insert(stats.damage.end(), damage->begin(), damage->end());
    Report(path, stats.damage);
    return absl::OkStatus();
  }

  absl::Status AddUnit(const UnitVerdict& unit) {
    CompareUnit(unit, unit.recorded, unit.identity);
    absl::Status s;
    if (device_ != nullptr && !device_->Lacks(*unit.stream.row)) s = LiveUnit(unit);
    console_.Status(absl::StrCat(units_, " units of digests verified"), false);
    return s;
  }

  absl::Status LiveUnit(const UnitVerdict& unit) {
    const Row& row = *unit.stream.row;
    if (device_->Dropped(row)) return absl::OkStatus();
    const auto ask = [&] {
      return device_->engine().AnswerDigest(unit.stream, unit.first, unit.cases);
    };
    const absl::StatusOr<Digest> digest = ask();
    const absl::StatusOr<Digest> again = digest.ok() && *digest != unit.model ? ask() : digest;
    if (device_->Drops(row, again.status())) return absl::OkStatus();
    if (!again.ok()) return again.status();
    CompareUnit(unit, *digest, device_->device().name(), *digest != *again);
    return absl::OkStatus();
  }

  void CompareUnit(const UnitVerdict& unit, Digest digest, const std::string& device,
                   bool flaky = false) {
    const std::string cases = absl::StrCat(FormatCaseName({unit.stream, unit.first}), " to ",
                                           unit.first + unit.cases - 1);
    const std::string text =
        absl::StrCat(flaky ? "FLAKY DIGEST " : "DIGEST ", cases, "\n  model   ", Hex(unit.model),
                     "\n  device  ", Hex(digest), "  ", device, "\n");
    const bool equal = digest == unit.model;
    if (!flags_.junit.empty()) {
      verdicts_.push_back({absl::StrCat(cases, " ", device), equal ? "" : text});
    }
    ++(flaky ? flaky_units_ : units_);
    if (equal) return;
    if (!flaky) ++differing_units_;
    if (printed_++ < flags_.errors) console_.Print(text);
  }

  absl::Status Recorded(const std::string& path, bool in_folder = false) {
    const auto deliver = [&](const Recording& recording) -> absl::Status {
      const absl::StatusOr<Batch> inputs = InputsOf(recording);
      if (!inputs.ok()) return inputs.status();
      if (device_ != nullptr && in_folder && device_->Lacks(*recording.row)) {
        ++unsupported_;
        return absl::OkStatus();
      }
      if (device_ != nullptr) {
        return Live(*recording.row, *inputs, recording.where, recording.line);
      }
      Compare(*recording.row, *inputs, recording.d, recording.where, recording.identity,
              recording.line);
      return absl::OkStatus();
    };
    const absl::StatusOr<RecordingStats> stats = ReadRecordings(path, flags_.instr, deliver);
    if (absl::IsDataLoss(stats.status())) {  // what came before the damage was compared
      console_.Warn(stats.status().message());
      damaged_ = true;
      return absl::OkStatus();
    }
    if (!stats.ok()) return stats.status();
    Report(path, stats->damage);
    return absl::OkStatus();
  }

  void Report(const std::string& path, const std::vector<Damage>& damage) {
    for (const Damage& d : damage) {
      console_.Warn(d.bytes == 0 ? absl::StrCat(path, ": ", d.what)
                                 : absl::StrCat(path, ": ", d.what, " at byte ", d.offset, ", ",
                                                d.bytes, " bytes skipped"));
      damaged_ = true;
    }
  }

  absl::Status Live(const Row& row, const Batch& inputs, const std::string& where,
                    uint64_t line = 0) {
    if (device_->Lacks(row)) return device_->device().Supports(row);
    const auto answers = device_->Ask(row, inputs);
    if (!answers.ok() || !answers->has_value()) return answers.status();
    Add(row, inputs, **answers, where, device_->device().name(), line);
    return absl::OkStatus();
  }

  void Compare(const Row& row, const Batch& inputs, const std::vector<uint64_t>& d,
               const std::string& where, const std::string& answering, uint64_t line = 0) {
    Add(row, inputs, {d, {}, ::mmadiff::Compare(row, inputs, d), {}}, where, answering, line);
  }

  // `line` is that of the first dot product, the end of `where`; 0 when there are no lines.
  void Add(const Row& row, const Batch& inputs, const AskedAnswers& answers,
           const std::string& where, const std::string& answering, uint64_t line) {
    const std::string device = PlainLine(answering);  // it may come from a file
    const auto& [model, differing] = answers.comparison;
    const uint64_t compared = model.size() - answers.flaky.size();
    compared_ += compared;
    differing_ += differing.size();
    Tally& tally = tallies_[device];
    tally.compared += compared;
    tally.differing += differing.size();
    tally.rows.insert(row.name);
    Verdict verdict = {absl::StrCat(where, " ", device), ""};
    Recording first;
    first.where = where;
    first.line = line;
    const auto print = [&](int64_t element, bool flaky) {
      if (printed_++ >= flags_.errors) return;
      const std::string title = absl::StrCat(WhereOf(first, element), "  ", device);
      const std::string text =
          flaky ? DescribeFlaky(row, inputs, answers, element, title)
                : absl::StrCat("MISMATCH ", row.name, "  ", title, "\n  operands   ",
                               FormatLine(*row.instruction, Extract(inputs, element)), "\n",
                               DescribeDifference(*row.instruction->d, model[element],
                                                  answers.d[element], console_.color()));
      console_.Print(text);
      absl::StrAppend(&verdict.failure, text);
    };
    for (const int64_t element : differing) print(element, false);
    for (const int64_t element : answers.flaky) print(element, true);
    const bool fails = !differing.empty() || !answers.flaky.empty();
    if (fails && verdict.failure.empty()) verdict.failure = "differs";
    if (!flags_.junit.empty()) verdicts_.push_back(std::move(verdict));
  }

  const ReplayFlags& flags_;
  AskedDevice* device_;  // nullptr: stored answers are compared
  Console& console_;
  uint64_t compared_ = 0, differing_ = 0, printed_ = 0;
  uint64_t units_ = 0, differing_units_ = 0, flaky_units_ = 0;  // of digests
  bool damaged_ = false;
  int unsupported_ = 0;  // cases of a folder whose instructions the device lacks
  VectorReplay vectors_;
  std::vector<Verdict> verdicts_;
  std::map<std::string, Tally> tallies_;  // by the identity of the device
  bool print_tallies_ = false;            // a folder of recordings was replayed
};

int RunReplay(const ReplayFlags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  std::string spec = flags.device;
  for (const std::string& subject : flags.subjects) {
    if (spec.empty() && LooksLikeCaseName(subject)) spec = "auto";
  }
  std::unique_ptr<Engine> engine;
  if (!spec.empty()) {
    EngineOr opened = OpenEngine(spec);
    if (!opened.ok()) return Fail(opened.status());
    engine = *std::move(opened);
  }
  std::optional<AskedDevice> asked;
  if (engine != nullptr) asked.emplace(*engine, console);
  Replay replay(flags, asked.has_value() ? &*asked : nullptr, console);
  for (const std::string& subject : flags.subjects) {
    if (absl::Status s = replay.Subject(subject); !s.ok()) return Fail(s);
  }
  return replay.Finish();
}

}  // namespace

std::function<int()> AddReplay(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<ReplayFlags>();
  command
      .add_option("subject", flags->subjects,
                  "cases (*.txtpb), vectors (corpus/vector_file.h), recordings (folder, block log, "
                  "line protocol, which may be gzip), folders of them, or case names")
      ->required();
  command.add_option(
      "--device", flags->device,
      "compare with this device instead of the stored answers [auto for a case name]");
  command.add_option("--instr", flags->instr, "ARCH/INSTRUCTION of a line-protocol file");
  command.add_flag("--verbose", flags->verbose, "a line for each answer of a vector");
  command.add_option("--errors", flags->errors, "mismatches to print [20]")->transform(Count());
  command
      .add_option("--every", flags->every,
                  "of the digests in a recording folder verify those of every N-th unit [1]")
      ->transform(Count())
      ->check(CLI::Range(uint64_t{1}, UINT64_MAX));
  command.add_option("--junit", flags->junit, "write a JUnit report to this file");
  return [flags, &globals] { return RunReplay(*flags, globals); };
}

}  // namespace mmadiff
