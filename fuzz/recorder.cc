#include "fuzz/recorder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "corpus/line_checksum.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/regression_case.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "fuzz/campaign.h"
#include "fuzz/devices.h"
#include "fuzz/findings.h"
#include "fuzz/unit_runner.h"

namespace mmadiff {
namespace {

constexpr uint64_t kDigestBytes = 21;          // of one in digests.log
constexpr uint64_t kRecordOutputs = 40 << 10;  // bytes; a record of raw answers holds more

// Of the names in one record, and a block's header.
uint64_t RecordOverhead(const Row& row, const std::string& identity) {
  return 2 * row.name.size() + identity.size() + 160;
}

// An upper bound of what `cases` executions of each strategy take.
uint64_t RawBytes(const Row& row, const std::string& identity, uint64_t cases) {
  const uint64_t outputs = cases * row.shape().d_words() * WordBytes(*row.instruction->d);
  const uint64_t records = outputs / kRecordOutputs + 2;
  return Strategies().size() * (outputs + records * RecordOverhead(row, identity));
}

// The most cases that take at most `bytes`, in the limits.
uint64_t CasesFor(const Row& row, const std::string& identity, uint64_t cases, uint64_t bytes) {
  uint64_t low = std::min(kFewCases, cases), high = cases;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    RawBytes(row, identity, middle) <= bytes ? low = middle : high = middle - 1;
  }
  return low;
}

uint64_t MostUnitCases(const Row& row) {
  return std::max<uint64_t>(1, kMostRecordedDotProducts / row.shape().d_words());
}

class Recorder {
 public:
  Recorder(const RecorderOptions& options, Engine& engine, RecordingFolderWriter& writer,
           Console& console)
      : options_(options),
        engine_(engine),
        device_(engine.device()),
        writer_(writer),
        console_(console) {}

  absl::StatusOr<RecorderOutcome> Record() {
    absl::Status s = TryRows();
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
  // The rows that answer: each once, which confirms its layout, and the self-test of a GPU.
  absl::Status TryRows() {
    for (const Row* row : options_.rows) {
      if (absl::Status s = Stopped(); !s.ok()) return s;
      const CaseStream stream = {row, options_.strategy, options_.seed};
      const absl::Status s = engine_.Try(stream);
      if (Drops(*row, s)) continue;
      if (!s.ok()) return s;
      rows_.push_back(row);
      RecordingManifest::Instruction& added = manifest_.instructions.emplace_back();
      added.name = row->name;
      added.emulated = device_.Emulates(*row);
      added.unit_cases = engine_.UnitCases(stream, UnitOf::kRecording);
      manifest_bytes_ += row->name.size() + 160;
    }
    tried_ = true;
    return rows_.empty() ? DeviceError(outcome_.dropped.begin()->second) : absl::OkStatus();
  }

  // Whether the device's error is of this row alone, from which nothing more is asked then.
  // But answers that cannot be trusted would leave wrong ones beside those recorded already.
  bool Drops(const Row& row, const absl::Status& s) {
    if (!IsOfRow(s) || (tried_ && absl::IsDataLoss(s))) return false;
    console_.Warn(absl::StrCat("dropped ", row.name, ": ", s.message()));
    outcome_.dropped.emplace(row.name, s);
    return true;
  }

  absl::Status Stopped() const {
    if (StopSignal() == 0) return absl::OkStatus();
    return absl::UnavailableError("stopped by a signal; no recording was kept, run again");
  }

  // The answers of row number `r` to one regression case or vector, a line for each dot product.
  absl::Status Regression(size_t r, const Batch& inputs, const std::string& name) {
    const Row& row = *rows_[r];
    if (outcome_.dropped.contains(row.name)) return absl::OkStatus();
    const auto d = device_.Run(row, inputs);
    if (Drops(row, d.status())) return absl::OkStatus();
    if (!d.ok()) return DeviceError(d.status());
    absl::StrAppend(&regressions_, "# instruction: ", row.name,
                    "\n# device: ", IdentityFor(device_, row), "\n# case: ", name, "\n");
    for (size_t i = 0; i < d->size(); ++i) {
      absl::StrAppend(&regressions_, FormatLine(*row.instruction, Extract(inputs, i), (*d)[i]),
                      "\n");
    }
    ++manifest_.instructions[r].regressions;
    ++outcome_.regressions;
    return Stopped();
  }

  absl::Status Regressions() {
    std::map<const Row*, size_t> index;
    std::set<std::string_view> archs;
    for (size_t r = 0; r < rows_.size(); ++r) {
      index[rows_[r]] = r;
      archs.insert(rows_[r]->arch());
    }
    for (const std::string_view arch : archs) {
      const std::filesystem::path folder = std::filesystem::path(options_.regressions) / arch;
      std::error_code ignored;
      if (options_.regressions.empty() || !std::filesystem::exists(folder, ignored)) continue;
      const auto files = ListCases(folder.string());
      if (!files.ok()) return files.status();
      for (const std::string& file : *files) {
        const absl::StatusOr<RegressionCase> c = ReadCase(file);
        if (!c.ok()) return c.status();
        const auto row = index.find(c->row);
        if (row == index.end()) continue;
        const std::string name = std::filesystem::path(file).filename().string();
        if (absl::Status s = Regression(row->second, c->inputs, name); !s.ok()) return s;
      }
    }
    std::set<std::pair<const Row*, DotProductCase>> asked;  // two sources may have the same
    for (const VectorFile& file : EmbeddedVectors()) {
      for (const Vector& v : file.vectors) {
        for (const VectorCase& c : CasesOf(v)) {
          const auto row = index.find(c.row);
          if (row == index.end() || !asked.emplace(c.row, c.dot).second) continue;
          const Batch inputs = MakeDotProductBatch(c.row->shape(), {c.dot});
          if (absl::Status s = Regression(row->second, inputs, v.name); !s.ok()) return s;
        }
      }
    }
    if (regressions_.size() > kMaxRecordingFileBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("answers to regression cases take ", regressions_.size(), " bytes, at most ",
                       kMaxRecordingFileBytes, " are stored: name fewer instructions"));
    }
    if (regressions_.empty()) return absl::OkStatus();
    return writer_.WriteRegressions(WithAnswersHash(
        absl::StrCat("# Answers to regression cases, ", Now(), "\n", regressions_)));
  }

  absl::Status Raw() {
    const uint64_t used = regressions_.size() + manifest_bytes_ + 4096;
    const uint64_t rest = options_.max_bytes > used ? options_.max_bytes - used : 0;
    digest_bytes_ = std::min(kMaxRecordingFileBytes, rest / 4);
    // Each file may be left a little before it is full.
    const uint64_t most = kMaxRawFiles * (kMaxRecordingFileBytes - 1'000'000);
    const auto planned = PlanRawCases(rows_, LongestIdentity(), options_.cases,
                                      std::min(most, rest - digest_bytes_));
    if (!planned.ok()) return planned.status();
    for (size_t r = 0; r < rows_.size(); ++r) {
      manifest_.instructions[r].raw_cases = (*planned)[r];
      for (const Strategy& strategy : Strategies()) {
        const CaseStream stream = {rows_[r], &strategy, options_.seed};
        if (outcome_.dropped.contains(rows_[r]->name)) break;
        if (absl::Status s = RawOf(stream, (*planned)[r]); !s.ok()) return s;
      }
      if (outcome_.dropped.contains(rows_[r]->name)) manifest_.instructions[r].raw_cases = 0;
      console_.Status(absl::StrCat("recording ", rows_[r]->name), false);
    }
    return absl::OkStatus();
  }

  std::string LongestIdentity() const {
    std::string longest;
    for (const Row* row : rows_) {
      longest = std::max(longest, IdentityFor(device_, *row),
                         [](const auto& x, const auto& y) { return x.size() < y.size(); });
    }
    return longest;
  }

  absl::Status RawOf(const CaseStream& stream, uint64_t cases) {
    const Row& row = *stream.row;
    // Of one batch, so that no record is half empty and no batch exceeds a few records.
    const uint64_t at_once = std::max<uint64_t>(
        1, 4 * kRecordOutputs / (row.shape().d_words() * WordBytes(*row.instruction->d)));
    Batch batch;
    for (uint64_t first = 0; first < cases; first += batch.count) {
      if (absl::Status s = Stopped(); !s.ok()) return s;
      Generate(stream, first, std::min(at_once, cases - first), batch);
      const auto d = device_.Run(row, batch);
      if (Drops(row, d.status())) return absl::OkStatus();
      if (!d.ok()) return DeviceError(d.status());
      absl::Status s = writer_.AppendRaw(row, batch, *d, IdentityFor(device_, row));
      if (!s.ok()) return s;
      outcome_.raw_dot_products += d->size();
    }
    return absl::OkStatus();
  }

  // The row that has used the least time is next, so that all have their share.
  absl::Status Digests() {
    struct Progress {
      absl::Duration used;
      RecordedDigests digests;
    };
    std::vector<Progress> rows;
    uint64_t overhead = 0;
    for (const Row* row : rows_) {
      const CaseStream stream = {row, options_.strategy, options_.seed};
      const std::string identity = IdentityFor(device_, *row);
      const bool dropped = outcome_.dropped.contains(row->name);
      rows.push_back(
          {dropped ? absl::InfiniteDuration() : absl::ZeroDuration(),
           {row, stream.name(), 0, engine_.UnitCases(stream, UnitOf::kRecording), {}, identity}});
      overhead += 2 * RecordOverhead(*row, identity);
    }
    const uint64_t most = digest_bytes_ > overhead ? (digest_bytes_ - overhead) / kDigestBytes : 0;
    // Each row has one unit, whatever the time.
    while (outcome_.digest_units < most &&
           (outcome_.digest_units < rows.size() || !options_.limit.Reached())) {
      if (absl::Status s = Stopped(); !s.ok()) return s;
      Progress& next = *std::min_element(
          rows.begin(), rows.end(), [](const auto& x, const auto& y) { return x.used < y.used; });
      if (next.used == absl::InfiniteDuration()) break;  // all were dropped
      RecordedDigests& d = next.digests;
      const auto start = std::chrono::steady_clock::now();
      const CaseStream stream = {d.row, options_.strategy, options_.seed};
      const uint64_t first = d.digests.size() * d.unit_cases;
      const auto digest = engine_.AnswerDigest(stream, first, d.unit_cases);
      if (Drops(*d.row, digest.status())) {
        next.used = absl::InfiniteDuration();
        continue;
      }
      if (!digest.ok()) return DeviceError(digest.status());
      d.digests.push_back(*digest);
      next.used += absl::FromChrono(std::chrono::steady_clock::now() - start);
      ++outcome_.digest_units;
      outcome_.digest_dot_products += d.unit_cases * d.row->shape().d_words();
      console_.Status(
          absl::StrCat(outcome_.digest_units, " units of digests, ",
                       absl::FormatDuration(absl::Trunc(options_.limit.Left(), absl::Seconds(1))),
                       " left"),
          false);
    }
    console_.Clear();
    std::vector<RecordedDigests> all;
    for (size_t r = 0; r < rows.size(); ++r) {
      manifest_.instructions[r].digest_units = rows[r].digests.digests.size();
      if (rows[r].digests.digests.empty()) {
        ++outcome_.without_digests;
      } else {
        all.push_back(std::move(rows[r].digests));
      }
    }
    return all.empty() ? absl::OkStatus() : writer_.WriteDigests(all);
  }

  const RecorderOptions& options_;
  std::vector<const Row*> rows_;  // that answer
  bool tried_ = false;            // all of them
  Engine& engine_;
  Device& device_;
  RecordingFolderWriter& writer_;
  Console& console_;
  RecordingManifest manifest_;
  uint64_t manifest_bytes_ = 0, digest_bytes_ = 0;
  std::string regressions_;
  RecorderOutcome outcome_;
};

}  // namespace

absl::StatusOr<std::vector<uint64_t>> PlanRawCases(const std::vector<const Row*>& rows,
                                                   const std::string& identity, uint64_t cases,
                                                   uint64_t bytes) {
  // The largest share of one row with which all fit.
  const auto total = [&](uint64_t share) {
    uint64_t sum = 0;
    for (const Row* row : rows) {
      sum += RawBytes(*row, identity, CasesFor(*row, identity, cases, share));
    }
    return sum;
  };
  if (total(0) > bytes) {
    return absl::InvalidArgumentError(absl::StrCat("a few raw answers of each of ", rows.size(),
                                                   " instructions take ", total(0), " bytes, and ",
                                                   bytes, " are left for them: raise --max_bytes"));
  }
  uint64_t low = 0, high = bytes;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    total(middle) <= bytes ? low = middle : high = middle - 1;
  }
  std::vector<uint64_t> planned;
  for (const Row* row : rows) planned.push_back(CasesFor(*row, identity, cases, low));
  return planned;
}

absl::StatusOr<RecorderOutcome> RecordFolder(const RecorderOptions& options, Engine& engine,
                                             const std::string& folder, Console& console) {
  engine.device().StopWhen([] { return StopSignal() != 0; });
  auto writer = RecordingFolderWriter::Create(folder);
  if (!writer.ok()) return writer.status();
  return Recorder(options, engine, **writer, console).Record();
}

absl::StatusOr<std::vector<Damage>> VerifyDigests(
    const std::string& folder, uint64_t every,
    const std::function<absl::Status(const UnitVerdict&)>& deliver) {
  uint64_t number = 0;
  return ReadDigests(folder, [&](const RecordedDigests& d) -> absl::Status {
    const absl::StatusOr<CaseStream> stream = StoredStream(d.stream, *d.row);
    if (!stream.ok()) return stream.status();
    // The time of one unit: more than any recorder writes is not tried.
    if (d.unit_cases > MostUnitCases(*d.row)) {
      return absl::DataLossError(absl::StrCat(folder, ": digests of units of ", d.unit_cases,
                                              " cases of ", d.row->name, ", at most ",
                                              MostUnitCases(*d.row), " are recorded"));
    }
    for (size_t u = 0; u < d.digests.size(); ++u) {
      if (number++ % every != 0) continue;
      const uint64_t first = d.first + u * d.unit_cases;
      UnitVerdict unit = {*stream, first, d.unit_cases, d.identity, d.digests[u], 0};
      unit.model = *AnswerDigest(*stream, first, d.unit_cases, nullptr);
      if (absl::Status s = deliver(unit); !s.ok()) return s;
    }
    return absl::OkStatus();
  });
}

}  // namespace mmadiff
