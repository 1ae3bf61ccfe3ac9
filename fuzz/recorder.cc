#include "fuzz/recorder.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "corpus/line_checksum.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recording_folder.h"
#include "device/line_protocol.h"
#include "device/threads.h"
#include "fuzz/devices.h"
#include "fuzz/findings.h"
#include "fuzz/known_cases.h"
#include "fuzz/unit_runner.h"

namespace mmadiff {
namespace {

constexpr uint64_t kDigestBytes = 21;          // of one in digests.log
constexpr uint64_t kRecordOutputs = 40 << 10;  // bytes; a record of raw answers holds more

// Of the names in one record, and a block's header.
uint64_t RecordOverhead(const Operation& op, const std::string& identity) {
  return 2 * op.name.size() + identity.size() + 160;
}

// An upper bound of what `cases` executions of each strategy take.
uint64_t RawBytes(const Operation& op, const std::string& identity, uint64_t cases) {
  const uint64_t outputs = cases * op.shape().d_words() * WordBytes(*op.instruction->d);
  const uint64_t records = outputs / kRecordOutputs + 2;
  return Strategies().size() * (outputs + records * RecordOverhead(op, identity));
}

// The most cases that take at most `bytes`, in the limits.
uint64_t CasesFor(const Operation& op, const std::string& identity, uint64_t cases,
                  uint64_t bytes) {
  uint64_t low = std::min(kFewCases, cases), high = cases;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    RawBytes(op, identity, middle) <= bytes ? low = middle : high = middle - 1;
  }
  return low;
}

uint64_t MostUnitCases(const Operation& op) {
  return std::max<uint64_t>(1, kMostRecordedDotProducts / op.shape().d_words());
}

class Recorder {
 public:
  Recorder(const RecorderOptions& options, Engine& engine, RecordingFolderWriter& writer,
           Console& console)
      : options_(options),
        engine_(engine),
        device_(engine.device()),
        writer_(writer),
        console_(console),
        engines_(engine, options.threads, options.open, [] { return StopSignal() != 0; }) {}

  absl::StatusOr<RecorderOutcome> Record() {
    absl::Status s = TryOperations();
    if (s.ok()) s = Regressions();
    if (s.ok()) s = Raw();
    if (s.ok()) s = Digests();
    if (!s.ok()) return s;
    manifest_.tool_version = MMADIFF_VERSION;
    manifest_.model_version = absl::StrCat(kModelVersion);
    manifest_.generator_version = kGeneratorVersion;
    manifest_.seed = options_.seed;
    manifest_.device = device_.name();
    manifest_.device_identity = device_.identity();
    manifest_.date = Now();
    s = writer_.Commit(manifest_);
    if (!s.ok()) return s;
    return outcome_;
  }

 private:
  // The operations that answer: each once, which confirms its layout, and the self-test of a GPU.
  absl::Status TryOperations() {
    for (const Operation* op : options_.ops) {
      if (absl::Status s = Stopped(); !s.ok()) return s;
      const CaseStream stream = {op, options_.strategy, options_.seed};
      const absl::Status s = engine_.Try(stream);
      if (Drops(*op, s)) continue;
      if (!s.ok()) return Ended(s);
      ops_.push_back(op);
      RecordingManifest::Instruction& added = manifest_.instructions.emplace_back();
      added.name = op->name;
      added.emulated = device_.Emulates(*op);
      added.unit_cases = engine_.UnitCases(stream, UnitOf::kRecording);
      manifest_bytes_ += op->name.size() + 160;
    }
    tried_ = true;
    return ops_.empty() ? DeviceError(outcome_.dropped.begin()->second) : absl::OkStatus();
  }

  // Whether the device's error is of this operation alone, from which nothing more is asked then.
  // But answers that cannot be trusted would leave wrong ones beside those recorded already.
  bool Drops(const Operation& op, const absl::Status& s) {
    if (!IsOfOperation(s) || (tried_ && absl::IsDataLoss(s))) return false;
    if (outcome_.dropped.emplace(op.name, s).second) {
      console_.Warn(absl::StrCat("dropped ", op.name, ": ", s.message()));
    }
    return true;
  }

  absl::Status Stopped() const {
    if (StopSignal() == 0) return absl::OkStatus();
    return absl::UnavailableError("stopped by a signal; no recording was kept, run again");
  }

  // Why a device that fails ends it all.
  absl::Status Ended(const absl::Status& device) const {
    const absl::Status stopped = Stopped();
    return stopped.ok() ? DeviceError(device) : stopped;
  }

  // The answers of operation number `r` to one regression case or vector, a line for each dot
  // product.
  absl::Status Regression(size_t r, const Batch& inputs, const std::string& name) {
    const Operation& op = *ops_[r];
    if (outcome_.dropped.contains(op.name)) return absl::OkStatus();
    const auto d = device_.Run(op, inputs);
    if (Drops(op, d.status())) return absl::OkStatus();
    if (!d.ok()) return Ended(d.status());
    absl::StrAppend(&regressions_, "# instruction: ", op.name,
                    "\n# device: ", IdentityFor(device_, op), "\n# case: ", name, "\n");
    for (size_t i = 0; i < d->size(); ++i) {
      absl::StrAppend(&regressions_, FormatLine(*op.instruction, Extract(inputs, i), (*d)[i]),
                      "\n");
    }
    ++manifest_.instructions[r].regressions;
    ++outcome_.regressions;
    return Stopped();
  }

  absl::Status Regressions() {
    std::map<const Operation*, size_t> index;
    for (size_t r = 0; r < ops_.size(); ++r) index[ops_[r]] = r;
    const auto cases = KnownCases(ops_, options_.regressions);
    if (!cases.ok()) return absl::AbortedError(cases.status().message());
    for (const KnownCase& c : *cases) {
      if (absl::Status s = Regression(index[c.op], c.inputs, c.name); !s.ok()) return s;
    }
    if (regressions_.size() > kMaxRecordingFileBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("answers to regression cases take ", regressions_.size(), " bytes, at most ",
                       kMaxRecordingFileBytes, " are stored: name fewer instructions"));
    }
    if (regressions_.empty()) return absl::OkStatus();
    return writer_.WriteRegressions(
        AnswersFile("Answers to regression cases, " + Now(), regressions_));
  }

  absl::Status Raw() {
    const uint64_t used = regressions_.size() + manifest_bytes_ + 4096;
    const uint64_t rest = options_.max_bytes > used ? options_.max_bytes - used : 0;
    digest_bytes_ = std::min(kMaxRecordingFileBytes, rest / 4);
    // Each file may be left a little before it is full.
    const uint64_t most = kMaxRawFiles * (kMaxRecordingFileBytes - 1'000'000);
    const auto planned =
        PlanRawCases(ops_, LongestIdentity(), options_.cases, std::min(most, rest - digest_bytes_));
    if (!planned.ok()) return planned.status();
    for (size_t r = 0; r < ops_.size(); ++r) {
      manifest_.instructions[r].raw_cases = (*planned)[r];
      for (const Strategy& strategy : Strategies()) {
        const CaseStream stream = {ops_[r], &strategy, options_.seed};
        if (outcome_.dropped.contains(ops_[r]->name)) break;
        if (absl::Status s = RawOf(stream, (*planned)[r]); !s.ok()) return s;
      }
      if (outcome_.dropped.contains(ops_[r]->name)) manifest_.instructions[r].raw_cases = 0;
    }
    return absl::OkStatus();
  }

  std::string LongestIdentity() const {
    std::string longest;
    for (const Operation* op : ops_) {
      longest = std::max(longest, IdentityFor(device_, *op),
                         [](const auto& x, const auto& y) { return x.size() < y.size(); });
    }
    return longest;
  }

  absl::Status RawOf(const CaseStream& stream, uint64_t cases) {
    const Operation& op = *stream.op;
    // Of one batch, so that no record is half empty and no batch exceeds a few records.
    const uint64_t at_once = std::max<uint64_t>(
        1, 4 * kRecordOutputs / (op.shape().d_words() * WordBytes(*op.instruction->d)));
    Batch batch;
    for (uint64_t first = 0; first < cases; first += batch.count) {
      if (absl::Status s = Stopped(); !s.ok()) return s;
      console_.Status(absl::StrCat("recording ", op.name), false);
      Generate(stream, first, std::min(at_once, cases - first), batch);
      const auto d = device_.Run(op, batch);
      if (Drops(op, d.status())) return absl::OkStatus();
      if (!d.ok()) return Ended(d.status());
      absl::Status s = writer_.AppendRaw(op, batch, *d, IdentityFor(device_, op));
      if (!s.ok()) return s;
      outcome_.raw_dot_products += d->size();
    }
    return absl::OkStatus();
  }

  // Of one operation. `used` is the time of its finished units, less the start of each that runs;
  // `ended` is the number of the first that failed alone.
  struct Progress {
    RecordedDigests digests;
    uint64_t begun = 0, running = 0, ended = UINT64_MAX;
    absl::Duration used = absl::ZeroDuration();

    absl::Duration UsedAt(absl::Duration now) const { return used + running * now; }
  };

  absl::Status Digests() {
    std::vector<Progress> ops;
    uint64_t overhead = 0;
    for (const Operation* op : ops_) {
      const CaseStream stream = {op, options_.strategy, options_.seed};
      const std::string identity = IdentityFor(device_, *op);
      const uint64_t cases = engine_.UnitCases(stream, UnitOf::kRecording);
      ops.push_back({{op, stream.name(), 0, cases, {}, identity}});
      if (outcome_.dropped.contains(op->name)) ops.back().ended = 0;
      overhead += 2 * RecordOverhead(*op, identity);
    }
    most_units_ = digest_bytes_ > overhead ? (digest_bytes_ - overhead) / kDigestBytes : 0;
    InThreads(engines_.threads(), [&](int thread) {
      if (Engine* const engine = engines_.of(thread)) DigestUnits(*engine, ops);
    });
    console_.Clear();
    if (!digests_.ok()) return digests_;
    std::vector<RecordedDigests> all;
    for (size_t r = 0; r < ops.size(); ++r) {
      RecordedDigests& d = ops[r].digests;
      d.digests.resize(std::min(ops[r].begun, ops[r].ended));
      manifest_.instructions[r].digest_units = d.digests.size();
      outcome_.digest_units += d.digests.size();
      outcome_.digest_dot_products += d.digests.size() * d.unit_cases * d.op->shape().d_words();
      if (d.digests.empty()) {
        ++outcome_.without_digests;
      } else {
        all.push_back(std::move(d));
      }
    }
    return all.empty() ? absl::OkStatus() : writer_.WriteDigests(all);
  }

  // The operation that has used the least time is next, so that all have their share. Each has one
  // unit, whatever the time. nullptr at the end.
  Progress* NextDigest(std::vector<Progress>& ops) {
    outcome_.stopped |= StopSignal() != 0;
    if (!digests_.ok() || outcome_.stopped || units_ >= most_units_) return nullptr;
    const absl::Duration now = Clock();
    Progress* next = nullptr;
    for (Progress& p : ops) {
      if (p.ended != UINT64_MAX) continue;
      if (p.begun == 0) return &p;
      if (next == nullptr || p.UsedAt(now) < next->UsedAt(now)) next = &p;
    }
    return options_.limit.Reached() ? nullptr : next;
  }

  // In each thread.
  void DigestUnits(Engine& engine, std::vector<Progress>& ops) {
    std::unique_lock lock(mutex_);
    while (Progress* const p = NextDigest(ops)) {
      const uint64_t unit = p->begun++;
      const CaseStream stream = {p->digests.op, options_.strategy, options_.seed};
      const uint64_t cases = p->digests.unit_cases;
      ++units_;
      ++p->running;
      p->used -= Clock();
      lock.unlock();
      const absl::StatusOr<Digest> digest = engine.AnswerDigest(stream, unit * cases, cases);
      lock.lock();
      p->used += Clock();
      --p->running;
      p->digests.digests.resize(std::max<size_t>(p->digests.digests.size(), unit + 1));
      if (digest.ok()) {
        p->digests.digests[unit] = *digest;
      } else if (unit >= p->ended || StopSignal() != 0 || Drops(*stream.op, digest.status())) {
        --units_;
        p->ended = std::min(p->ended, unit);
      } else {
        digests_.Update(DeviceError(digest.status()));
      }
      console_.Status(
          absl::StrCat(units_, " units of digests, ",
                       absl::FormatDuration(absl::Trunc(options_.limit.Left(), absl::Seconds(1))),
                       " left"),
          false);
    }
  }

  static absl::Duration Clock() {
    return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  }

  const RecorderOptions& options_;
  std::vector<const Operation*> ops_;  // that answer
  bool tried_ = false;                 // all of them
  Engine& engine_;
  Device& device_;
  RecordingFolderWriter& writer_;
  Console& console_;
  RecordingManifest manifest_;
  uint64_t manifest_bytes_ = 0, digest_bytes_ = 0;
  std::string regressions_;
  RecorderOutcome outcome_;
  Engines engines_;  // of the digests
  uint64_t most_units_ = 0;

  std::mutex mutex_;      // of all that follows, and while digests are made of outcome_
  uint64_t units_ = 0;    // of digests, also those that run
  absl::Status digests_;  // why they ended
};

}  // namespace

absl::StatusOr<std::vector<uint64_t>> PlanRawCases(const std::vector<const Operation*>& ops,
                                                   const std::string& identity, uint64_t cases,
                                                   uint64_t bytes) {
  // The largest share of one operation with which all fit.
  const auto total = [&](uint64_t share) {
    uint64_t sum = 0;
    for (const Operation* op : ops) {
      sum += RawBytes(*op, identity, CasesFor(*op, identity, cases, share));
    }
    return sum;
  };
  if (total(0) > bytes) {
    return absl::InvalidArgumentError(absl::StrCat("a few raw answers of each of ", ops.size(),
                                                   " instructions take ", total(0), " bytes, and ",
                                                   bytes, " are left for them: raise --max_bytes"));
  }
  uint64_t low = 0, high = bytes;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    total(middle) <= bytes ? low = middle : high = middle - 1;
  }
  std::vector<uint64_t> planned;
  for (const Operation* op : ops) planned.push_back(CasesFor(*op, identity, cases, low));
  return planned;
}

absl::StatusOr<RecorderOutcome> RecordFolder(const RecorderOptions& options, Engine& engine,
                                             const std::string& folder, Console& console) {
  auto writer = RecordingFolderWriter::Create(folder);
  if (!writer.ok()) return writer.status();
  return Recorder(options, engine, **writer, console).Record();
}

absl::Status Recomputation::Add(const RecordedDigests& d, const std::string& where) {
  const absl::StatusOr<CaseStream> stream = StoredStream(d.stream, *d.op);
  if (!stream.ok()) return stream.status();
  // The time of one unit: more than any recorder writes is not tried.
  if (d.unit_cases > MostUnitCases(*d.op)) {
    return absl::DataLossError(absl::StrCat(where, ": digests of units of ", d.unit_cases,
                                            " cases of ", d.op->name, ", at most ",
                                            MostUnitCases(*d.op), " are recorded"));
  }
  all_.push_back({d, *stream});
  return absl::OkStatus();
}

absl::Status Recomputation::Run(
    const RecomputeOptions& options,
    const std::function<absl::Status(const RecomputedUnit&)>& deliver) const {
  std::vector<std::pair<const Digests*, uint64_t>> chosen;
  uint64_t number = 0;
  for (const Digests& d : all_) {
    for (uint64_t u = 0; u < d.recorded.digests.size(); ++u) {
      if (number++ % options.every == 0) chosen.emplace_back(&d, u);
    }
  }
  std::vector<RecomputedUnit> units(chosen.size());
  const auto compute = [&](size_t i, int thread) {
    const auto& [of, u] = chosen[i];
    const RecordedDigests& d = of->recorded;
    const uint64_t first = d.first + u * d.unit_cases;
    units[i] = {of->stream, first, d.unit_cases, d.identity, d.digests[u], {}};
    if (IsModelled(*d.op)) units[i].model = *AnswerDigest(of->stream, first, d.unit_cases, nullptr);
    if (options.also != nullptr) options.also(units[i], thread);
  };
  return InOrder(chosen.size(), options.threads, compute, [&](size_t i) {
    return deliver(std::exchange(units[i], {}));  // few are there at a time
  });
}

absl::StatusOr<std::vector<Damage>> VerifyDigests(
    const std::string& folder, const RecomputeOptions& options,
    const std::function<absl::Status(const RecomputedUnit&)>& deliver) {
  Recomputation units;
  const auto damage =
      ReadDigests(folder, [&](const RecordedDigests& d) { return units.Add(d, folder); });
  // Also what came before an error.
  if (absl::Status s = units.Run(options, deliver); !s.ok()) return s;
  return damage;
}

}  // namespace mmadiff
