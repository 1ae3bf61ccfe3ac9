// mmadiff replay: compares the model with stored answers, or with a device on the stored inputs.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "corpus/durable_file.h"
#include "corpus/recording.h"
#include "corpus/recording_folder.h"
#include "corpus/regression_case.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "fuzz/case_name.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/junit.h"
#include "fuzz/cli/subject.h"
#include "fuzz/devices.h"
#include "fuzz/recorder.h"
#include "fuzz/report.h"
#include "sim/simulate.h"
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

// In the order of their names; none when `path` is no folder.
std::vector<std::string> RecordingFoldersBelow(const std::string& path) {
  std::vector<std::string> folders;
  std::error_code error;
  std::filesystem::recursive_directory_iterator it(path, error), end;
  for (; !error && it != end; it.increment(error)) {
    if (it->is_directory(error) && IsRecordingFolder(it->path())) folders.push_back(it->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// Everything that one replay compares, and what it found.
class Replay {
 public:
  Replay(const ReplayFlags& flags, Device* device, Console& console)
      : flags_(flags), device_(device), console_(console) {}

  absl::Status Subject(const std::string& argument) {
    if (LooksLikeCaseName(argument)) return CaseName(argument);
    struct stat info;
    if (stat(argument.c_str(), &info) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, ": no such file, folder or case name"));
    }
    if (IsRecordingFolder(argument)) return Folder(argument);
    const std::vector<std::string> vectors = ListVectorFiles(argument);
    if (!S_ISDIR(info.st_mode)) {
      if (!vectors.empty()) return Vectors(argument);
      return absl::EndsWith(argument, ".txtpb") ? Cases(argument, {}) : Recorded(argument);
    }
    const std::vector<std::string> folders = RecordingFoldersBelow(argument);
    absl::Status s = Cases(argument, folders);
    for (const std::string& folder : folders) s.Update(Folder(folder));
    for (const std::string& file : vectors) {
      if (!IsBelow(file, folders)) s.Update(Vectors(file));
    }
    return s;
  }

  int Finish() {
    console_.Print(absl::StrCat(compared_ - differing_, " of ", compared_, " dot products equal",
                                damaged_ ? " (damaged data skipped)" : "",
                                unsupported_ == 0
                                    ? ""
                                    : absl::StrCat(", ", unsupported_,
                                                   " cases left out: the device lacks "
                                                   "their instructions"),
                                "\n"));
    if (units_ > 0) {
      console_.Print(
          absl::StrCat(units_ - differing_units_, " of ", units_, " units of digests equal\n"));
    }
    const auto count = [this](AnswerKind kind) { return by_kind_[static_cast<int>(kind)]; };
    if (std::any_of(std::begin(by_kind_), std::end(by_kind_), [](uint64_t n) { return n > 0; })) {
      console_.Print(absl::StrCat("vectors: observed ", count(AnswerKind::kObserved),
                                  ", published ", count(AnswerKind::kPublished), ", expected ",
                                  count(AnswerKind::kExpected), "; contested ",
                                  count(AnswerKind::kContested), "\n"));
    }
    if (!flags_.junit.empty()) {
      if (absl::Status s = WriteFileDurably(flags_.junit, JUnit("replay", verdicts_)); !s.ok()) {
        return Fail(s, kNotDurable);
      }
    }
    const bool nothing = compared_ == 0 && units_ == 0;
    if (nothing && damaged_) return kDamaged;
    if (nothing && unsupported_ > 0) {
      return Fail(absl::NotFoundError("the device has none of these instructions"));
    }
    if (nothing) return Fail(absl::InternalError("nothing was compared; that is no pass"));
    if (differing_ + differing_units_ != 0) return kMismatch;
    return damaged_ ? kDamaged : kClean;
  }

 private:
  absl::Status CaseName(const std::string& argument) {
    const absl::StatusOr<::mmadiff::Subject> s = LoadSubject(argument, device_);
    if (!s.ok()) return s.status();
    Compare(*s->row, s->inputs, s->device, argument, s->device_name);
    return absl::OkStatus();
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
        if (file != path && !device_->Supports(*c->row).ok()) {
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
      const std::vector<VectorCase> cases = CasesOf(v);
      for (auto first = cases.begin(); first != cases.end();) {
        const auto last = std::find_if(
            first, cases.end(), [first](const VectorCase& c) { return c.answer != first->answer; });
        if (absl::Status s = OneAnswer(v, {first, last}); !s.ok()) return s;
        first = last;
      }
    }
    return absl::OkStatus();
  }

  // The cases of one answer of a vector.
  absl::Status OneAnswer(const Vector& v, std::span<const VectorCase> cases) {
    const VectorAnswer& answer = *cases.front().answer;
    const bool contested = answer.kind == AnswerKind::kContested;
    const std::string who = answer.who.empty() ? "" : absl::StrCat(" : ", answer.who);
    const std::string title = absl::StrCat(v.name, "  ", Name(answer.kind), " ",
                                           WordText(v, answer), " ", answer.patterns, who);
    Verdict verdict = {title, ""};
    uint64_t done = 0, wrong = 0;
    std::string given;  // in place of a contested answer
    for (const VectorCase& c : cases) {
      if (device_ != nullptr && !device_->Supports(*c.row).ok()) {
        ++unsupported_;
        continue;
      }
      const absl::StatusOr<uint64_t> d = AnswerTo(c);
      if (!d.ok()) return d.status();
      ++done;
      if (given.empty()) given = absl::StrCat(HexWord(*v.d, *d), " ", c.row->name);
      if (Is(answer, *c.row, *d) != contested) continue;
      ++wrong;
      const std::string text = contested ? NoLongerDiffers(title, c) : Differs(title, v, c, *d);
      if (printed_++ < flags_.errors) console_.Print(text);
      absl::StrAppend(&verdict.failure, text);
    }
    by_kind_[static_cast<int>(answer.kind)] += done;
    compared_ += contested ? wrong : done;
    differing_ += wrong;
    if (done == 0) return absl::OkStatus();
    if (!flags_.junit.empty()) verdicts_.push_back(std::move(verdict));
    if (contested && wrong == 0) {
      console_.Print(absl::StrCat("CONTESTED ", title, "\n  given     ", given, "\n  reason    ",
                                  v.reason, "\n"));
    } else if (flags_.verbose) {
      console_.Print(absl::StrCat(wrong == 0 ? "agrees    " : "differs   ", title, "\n"));
    }
    return absl::OkStatus();
  }

  // Of the device, or of the model when there is none.
  absl::StatusOr<uint64_t> AnswerTo(const VectorCase& c) {
    if (device_ == nullptr) return Simulate(c.row->model, c.dot);
    const auto d = device_->Run(*c.row, MakeDotProductBatch(c.row->shape(), {c.dot}));
    if (!d.ok()) return d.status();
    return d->front();
  }

  std::string Differs(const std::string& title, const Vector& v, const VectorCase& c,
                      uint64_t given) const {
    const std::string lines = device_ == nullptr
                                  ? DescribeDifference(*v.d, given, c.answer->d, console_.color())
                                  : DescribeDifference(*v.d, c.answer->d, given, console_.color());
    return absl::StrCat(
        "MISMATCH ", c.row->name, "  ", title, "\n  operands   ",
        FormatLine(*c.row->instruction, c.dot), "\n",
        absl::StrReplaceAll(lines, {{device_ == nullptr ? "device  " : "model   ", "answer  "}}));
  }

  std::string NoLongerDiffers(const std::string& title, const VectorCase& c) const {
    return absl::StrCat("MISMATCH ", c.row->name, "  ", title, "\n  ",
                        device_ == nullptr ? "no longer differs: remove or regrade it\n"
                                           : "the device gives it, the model another word\n");
  }

  // Everything that a folder of recordings has; with a device also what that answers to the same.
  absl::Status Folder(const std::string& path) {
    RecordingStats stats;
    const auto answers = [this](const Recording& recording) -> absl::Status {
      const absl::StatusOr<Batch> inputs = InputsOf(recording);
      if (!inputs.ok()) return inputs.status();
      Compare(*recording.row, *inputs, recording.d, recording.where, recording.identity);
      if (device_ == nullptr) return absl::OkStatus();
      if (device_->Supports(*recording.row).ok()) {
        return Live(*recording.row, *inputs, recording.where);
      }
      ++unsupported_;
      return absl::OkStatus();
    };
    if (absl::Status s = ReadRecordingFolder(path, answers, stats); !s.ok()) return s;
    const auto damage = VerifyDigests(path, device_, flags_.every, [this](const UnitVerdict& unit) {
      AddUnit(unit);
      return absl::OkStatus();
    });
    if (!damage.ok()) return damage.status();
    console_.Clear();
    stats.damage.insert(stats.damage.end(), damage->begin(), damage->end());
    Report(path, stats.damage);
    return absl::OkStatus();
  }

  void AddUnit(const UnitVerdict& unit) {
    const std::string cases = absl::StrCat(FormatCaseName({unit.stream, unit.first}), " to ",
                                           unit.first + unit.cases - 1);
    const auto compare = [&](Digest digest, const std::string& device) {
      ++units_;
      const std::string text = absl::StrCat("DIGEST ", cases, "\n  model   ", Hex(unit.model),
                                            "\n  device  ", Hex(digest), "  ", device, "\n");
      const bool equal = digest == unit.model;
      if (!flags_.junit.empty()) {
        verdicts_.push_back({absl::StrCat(cases, " ", device), equal ? "" : text});
      }
      if (equal) return;
      ++differing_units_;
      if (printed_++ < flags_.errors) console_.Print(text);
    };
    compare(unit.recorded, unit.identity);
    if (unit.device.has_value()) compare(*unit.device, device_->name());
    console_.Status(absl::StrCat(units_, " units of digests verified"), false);
  }

  absl::Status Recorded(const std::string& path) {
    const auto deliver = [this](const Recording& recording) -> absl::Status {
      const absl::StatusOr<Batch> inputs = InputsOf(recording);
      if (!inputs.ok()) return inputs.status();
      if (device_ != nullptr) return Live(*recording.row, *inputs, recording.where);
      Compare(*recording.row, *inputs, recording.d, recording.where, recording.identity);
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

  absl::Status Live(const Row& row, const Batch& inputs, const std::string& where) {
    if (absl::Status s = device_->Supports(row); !s.ok()) return s;
    const absl::StatusOr<std::vector<uint64_t>> d = device_->Run(row, inputs);
    if (!d.ok()) return d.status();
    Compare(row, inputs, *d, where, device_->name());
    return absl::OkStatus();
  }

  void Compare(const Row& row, const Batch& inputs, const std::vector<uint64_t>& d,
               const std::string& where, const std::string& device) {
    std::vector<uint64_t> model(inputs.dot_products());
    Simulate(row.model, inputs, model);
    const std::vector<int64_t> differing = Differences(row, model, d);
    compared_ += model.size();
    differing_ += differing.size();
    Verdict verdict = {absl::StrCat(where, " ", device), ""};
    for (const int64_t element : differing) {
      if (printed_++ >= flags_.errors) break;
      const std::string text = absl::StrCat(
          "MISMATCH ", row.name, "  ", where, "  ", device, "\n  operands   ",
          FormatLine(*row.instruction, Extract(inputs, element)), "\n",
          DescribeDifference(*row.instruction->d, model[element], d[element], console_.color()));
      console_.Print(text);
      absl::StrAppend(&verdict.failure, text);
    }
    if (!differing.empty() && verdict.failure.empty()) verdict.failure = "differs";
    if (!flags_.junit.empty()) verdicts_.push_back(std::move(verdict));
  }

  const ReplayFlags& flags_;
  Device* device_;
  Console& console_;
  uint64_t compared_ = 0, differing_ = 0, printed_ = 0;
  uint64_t units_ = 0, differing_units_ = 0;  // of digests
  bool damaged_ = false;
  int unsupported_ = 0;       // cases of a folder whose instructions the device lacks
  uint64_t by_kind_[4] = {};  // answers of vectors, by AnswerKind
  std::vector<Verdict> verdicts_;
};

int RunReplay(const ReplayFlags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  std::string spec = flags.device;
  for (const std::string& subject : flags.subjects) {
    if (spec.empty() && LooksLikeCaseName(subject)) spec = "auto";
  }
  std::unique_ptr<Device> device;
  if (!spec.empty()) {
    DeviceOr opened = OpenDevice(spec);
    if (!opened.ok()) return Fail(opened.status());
    device = *std::move(opened);
  }
  Replay replay(flags, device.get(), console);
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
                  "line protocol, also gzip), folders of them, or case names")
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
