// Damaged versions of every kind of durable file: what a reader delivers is what was written,
// damage is said, nothing crashes, memory is bounded. MMADIFF_DAMAGED versions of each kind [2000];
// each follows from its number alone.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "corpus/line_checksum.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/regression_case.h"
#include "corpus/survey_log.h"
#include "corpus/testing/folder.h"
#include "corpus/vector_file.h"
#include "corpus/vector_folder.h"
#include "fuzz/folder/unit_log.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr char kOperation[] = "x86/vdpbf16ps";
constexpr char kFma[] = "x86/vfmadd231ss";
constexpr uint64_t kMemory = 256 << 20;  // beyond what the process has before

// What a reader made of a file: records, as text, and whether it said that something is wrong.
struct Seen {
  absl::Status status;
  bool damage = false;
  std::vector<std::string> records;
};

struct Kind {
  std::string name;
  std::string path;
  std::string other;  // the contents of another run's file of this kind
  std::function<Seen()> read;
  bool checksum = true;  // else a changed line may pass as another line
  bool tied = true;      // to its run: a whole file of another run does not pass either
};

// ---- Damage

using Random = std::mt19937_64;

size_t Below(Random& random, size_t n) { return n == 0 ? 0 : random() % n; }

// Anywhere; half the time where a line or a block begins.
size_t Place(Random& random, const std::string& bytes) {
  const size_t at = Below(random, bytes.size() + 1);
  if (random() % 2 == 0) return at;
  const size_t line = bytes.rfind('\n', at), block = bytes.rfind("\x93mmalog\n", at);
  if (block != bytes.npos && random() % 2 == 0) return block;
  return line == bytes.npos ? 0 : std::min(line + 1, bytes.size());
}

std::pair<size_t, size_t> Range(Random& random, const std::string& bytes) {
  const std::pair<size_t, size_t> ends = std::minmax({Place(random, bytes), Place(random, bytes)});
  return random() % 4 == 0 ? std::pair{ends.first, std::min(ends.first + 4, bytes.size())} : ends;
}

std::string Damaged(uint64_t number, const std::string& own, const std::string& other) {
  Random random(number);
  std::string bytes = own;
  const auto [begin, end] = Range(random, own);
  const size_t at = Below(random, own.size());
  switch (number % 7) {
    case 0:
      bytes[at] ^= 1 << random() % 8;
      break;
    case 1:
      bytes[at] ^= 1 + random() % 255;
      break;
    case 2:
      bytes.resize(Place(random, own));
      break;
    case 3:
      std::fill(bytes.begin() + begin, bytes.begin() + end, '\0');
      break;
    case 4:
      bytes.insert(Place(random, own), own.substr(begin, end - begin));
      break;
    case 5: {
      const size_t to = end + Below(random, own.size() - end + 1);
      std::rotate(bytes.begin() + begin, bytes.begin() + end, bytes.begin() + to);
      break;
    }
    case 6:  // some of both
      bytes = own.substr(0, std::max<size_t>(1, begin)) +
              other.substr(std::clamp<size_t>(Place(random, other), 1, other.size() - 1));
      break;
  }
  if (bytes == other) bytes[0] ^= 1;  // that would be no damaged file
  return bytes;
}

// Some file systems sync a file that is written over.
void Write(const std::string& path, const std::string& bytes) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

// ---- Verdicts

// Shared with the child process that reads.
struct Counts {
  uint64_t next = 0;  // the version that is read
  uint64_t detected = 0, harmless = 0, lost = 0, wrong = 0, bad_status = 0;
  uint64_t first_wrong = 0;
};

bool Contains(const std::multiset<std::string>& all, const std::vector<std::string>& some) {
  return std::ranges::all_of(some, [&](const auto& r) { return all.contains(r); });
}

void Judge(const Kind& kind, const Seen& seen, const std::multiset<std::string>& own,
           const std::multiset<std::string>& other, Counts& counts) {
  const bool said = !seen.status.ok() || seen.damage;
  const bool same = std::multiset<std::string>(seen.records.begin(), seen.records.end()) == own;
  const bool right =
      Contains(own, seen.records) || (!kind.tied && said && Contains(other, seen.records));
  if (!right && counts.wrong++ == 0) counts.first_wrong = counts.next;
  if (!seen.status.ok() && !absl::IsDataLoss(seen.status)) ++counts.bad_status;
  if (said) {
    ++counts.detected;
  } else if (same) {
    ++counts.harmless;
  } else if (right) {
    ++counts.lost;
  }
}

// The child reads until it is done or dies; the parent goes on behind the version it died of.
uint64_t ReadAll(const Kind& kind, uint64_t versions, Counts& counts) {
  const std::string own_bytes = *ReadFile(kind.path);
  const auto records = [&](const std::string& bytes) {
    Write(kind.path, bytes);
    const Seen seen = kind.read();
    return std::multiset<std::string>(seen.records.begin(), seen.records.end());
  };
  const auto other = records(kind.other), own = records(own_bytes);
  const Seen good = kind.read();
  EXPECT_TRUE(good.status.ok() && !good.damage && !own.empty()) << kind.name << good.status;
  uint64_t crashes = 0;
  for (; counts.next < versions; ++counts.next, ++crashes) {
    const pid_t child = fork();
    if (child == 0) {
      rlimit limit = {};
      getrlimit(RLIMIT_AS, &limit);
      uint64_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + kMemory;
#ifndef __SANITIZE_ADDRESS__  // which maps terabytes
      setrlimit(RLIMIT_AS, &limit);
#endif
      for (; counts.next < versions; ++counts.next) {
        std::ofstream(kind.path, std::ios::binary) << Damaged(counts.next, own_bytes, kind.other);
        Judge(kind, kind.read(), own, other, counts);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) break;
    std::printf("%s: version %lu ended with status %d\n", kind.name.c_str(), counts.next, status);
  }
  Write(kind.path, own_bytes);
  return crashes;
}

// ---- The kinds

// `run` is 1 or 2: two runs with the same facts but the seed, and other answers.
RunManifest Manifest(uint64_t run) {
  RunManifest manifest;
  manifest.tool_version = "1";
  manifest.seed = run;
  manifest.device = "host";
  manifest.instructions = {{kOperation, 1950, 100}, {kFma, 1000, 100}};
  return manifest;
}

UnitResult Unit(uint64_t run, uint32_t instruction, uint64_t number) {
  const RunManifest::Instruction planned = Manifest(run).instructions[instruction];
  UnitResult unit;
  unit.instruction = instruction;
  unit.unit = number;
  unit.first_case = number * planned.unit_cases;
  unit.cases = planned.CasesOf(number);
  unit.dot_products = unit.cases * FindOperation(planned.name)->shape().d_words();
  unit.device_digest = unit.model_digest = (Digest{run} << 100) + instruction * 1000 + number;
  unit.counts = {{"class.bits", 10 + number}};
  return unit;
}

std::string UnitText(const UnitResult& u) { return SerializeUnit(u); }

void WriteUnits(const std::string& folder, uint64_t run) {
  const auto log = UnitLog::Create(folder, RunIdOf(Manifest(run)));
  for (uint64_t n = 0; n < 10; ++n) {
    for (const uint32_t r : {0, 1}) ASSERT_TRUE((*log)->Append(Unit(run, r, n)).ok());
    ASSERT_TRUE((*log)->Flush().ok());
  }
}

// The units that are done, when their sums are those of what was written.
Seen SeenUnits(const std::string& folder) {
  Seen seen;
  const auto stored = ReadUnits(folder, Manifest(1));
  seen.status = stored.status();
  if (!stored.ok()) return seen;
  seen.damage = !stored->damage.empty();
  for (uint32_t r = 0; r < 2; ++r) {
    UnitResult total;
    for (uint64_t n = 0; n < 20; ++n) {
      if (!stored->done[r].Contains(n)) continue;
      Accumulate(Unit(1, r, n), total);
      seen.records.push_back(absl::StrCat(r, ":", n));
    }
    if (UnitText(total) != UnitText(stored->totals[r])) seen.records.push_back("wrong sums");
  }
  return seen;
}

std::string RecordingText(const Recording& r) {
  return absl::StrCat(r.op->name, " ", r.identity, " ", r.inputs.stream, " ", r.inputs.first, " ",
                      r.inputs.count, " ", absl::StrJoin(r.inputs.a, ","), " ",
                      absl::StrJoin(r.inputs.b, ","), " ", absl::StrJoin(r.inputs.c, ","), " ",
                      absl::StrJoin(r.d, ","));
}

// Text comes in portions of any size: one record for each dot product.
absl::Status AddRecording(const Recording& r, Seen& seen) {
  if (!r.inputs.stream.empty()) {
    seen.records.push_back(RecordingText(r));
    return absl::OkStatus();
  }
  for (int64_t i = 0; i < r.inputs.count; ++i) {
    Recording one = r;
    one.inputs = Slice(r.inputs, i);
    one.inputs.first = 0;
    one.d = {r.d[i]};
    seen.records.push_back(RecordingText(one));
  }
  return absl::OkStatus();
}

Seen SeenRecording(const std::string& path) {
  Seen seen;
  const auto stats =
      ReadRecordings(path, "", [&](const Recording& r) { return AddRecording(r, seen); });
  seen.status = stats.status();
  seen.damage = stats.ok() && !stats->damage.empty();
  return seen;
}

Seen SeenFolder(const std::string& folder) {
  Seen seen;
  RecordingStats stats;
  const auto add = [&](const Recording& r) { return AddRecording(r, seen); };
  seen.status = ReadRecordingFolder(folder, add, stats);
  const auto damage = ReadDigests(folder, [&](const RecordedDigests& d) {
    std::string text = absl::StrCat(d.op->name, d.stream, d.first, " ", d.unit_cases, d.identity);
    for (const Digest digest : d.digests) absl::StrAppend(&text, " ", FormatRunId(digest));
    seen.records.push_back(text);
    return absl::OkStatus();
  });
  seen.status.Update(damage.status());
  seen.damage = !stats.damage.empty() || (damage.ok() && !damage->empty());
  return seen;
}

Batch Cases(const Operation& op, uint64_t first) {
  Batch batch;
  batch.Resize(op.shape(), 3);
  batch.stream = absl::StrCat(op.name, "@g3:1");
  batch.first = first;
  return batch;
}

template <typename Writer>
void WriteAnswers(Writer append, uint64_t run) {
  const Operation& op = *FindOperation(kOperation);
  for (uint64_t n = 0; n < 6; ++n) {
    const Batch batch = Cases(op, 3 * n);
    std::vector<uint64_t> d(batch.dot_products());
    for (size_t i = 0; i < d.size(); ++i) d[i] = run << 16 | n << 8 | i;
    ASSERT_TRUE(append(op, batch, d).ok());
  }
}

void WriteLog(const std::string& path, uint64_t run) {
  const auto writer = RecordingWriter::Create(path);
  WriteAnswers(
      [&](const Operation& op, const Batch& batch, const std::vector<uint64_t>& d) {
        absl::Status s = (*writer)->Append(op, batch, d, "A100");
        s.Update((*writer)->Flush());
        return s;
      },
      run);
  ASSERT_TRUE((*writer)->Finish().ok());
}

std::string Lines(uint64_t run, const char* count = "# lines: 20\n") {
  std::string text = absl::StrCat("# instruction: ", kFma, "\n# device: CPU\n", count);
  for (uint64_t n = 0; n < 20; ++n) {
    absl::StrAppendFormat(&text, "%08x %08x %08x %08x\n", n, run, n * n, n + 100 * run);
  }
  return text;
}

void WriteFolder(const std::string& folder, uint64_t run) {
  const auto writer = RecordingFolderWriter::Create(folder);
  WriteAnswers(
      [&](const Operation& op, const Batch& batch, const std::vector<uint64_t>& d) {
        return (*writer)->AppendRaw(op, batch, d, "A100");
      },
      run);
  std::vector<RecordedDigests> digests;
  for (const char* name : {kOperation, kFma}) {
    digests.push_back(
        {FindOperation(name), absl::StrCat(name, "@g3:1"), 0, 10, {run, 2, 3}, "A100"});
  }
  ASSERT_TRUE((*writer)->WriteDigests(digests).ok());
  ASSERT_TRUE((*writer)->WriteRegressions(Lines(run)).ok());
  RecordingManifest manifest;
  manifest.seed = run;
  manifest.instructions = {{kOperation, false, 18}, {kFma, false, 0, 20}};
  ASSERT_TRUE((*writer)->Commit(manifest).ok());
}

std::string WriteRegression(const std::string& folder, uint64_t run) {
  RegressionCase c;
  c.op = FindOperation(kFma);
  c.inputs.Resize(c.op->shape(), 1);
  c.inputs.a[0] = run;
  c.answers = {{"host", "CPU", "", {3 + run}}, {"model", "", "", {4}}};
  c.why = "shows something";
  return WriteCase(c, folder).value_or("");
}

Seen SeenCase(const std::string& path) {
  Seen seen;
  const auto c = ReadCase(path);
  seen.status = c.status();
  if (c.ok()) seen.records = {FormatCase(*c)};
  return seen;
}

std::string Vectors(uint64_t run) {
  std::string text = "source: Somebody (2021)\n\n";
  for (uint64_t n = 0; n < 8; ++n) {
    absl::StrAppendFormat(&text,
                          "vector: v%d\nabout: 1 + %d\nformats: f32 f32 f32 f32\n"
                          "operands: 3f800000 | %08x | %08x\nexpected: %08x %s\n\n",
                          n, n, n, run, n * run, kFma);
  }
  return text + "end\n";
}

Seen SeenVectors(const std::string& path) {
  Seen seen;
  const auto file = ReadVectors(path);
  seen.status = file.status();
  if (!file.ok()) return seen;
  for (const Vector& v : file->vectors) {
    std::string text = absl::StrCat(v.name, v.about, v.operands[0]);
    for (const VectorAnswer& a : v.answers) absl::StrAppend(&text, " ", a.d, a.patterns);
    seen.records.push_back(text);
  }
  return seen;
}

void WriteGzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), text.size());
  gzclose(file);
}

// ---- The harness

void WriteSurvey(const std::string& folder, uint64_t run) {
  SurveyManifest manifest;
  manifest.seed = run;
  fs::create_directories(folder);
  const auto log = SurveyLog::Create(folder, manifest);
  for (uint64_t n = 0; n < 10; ++n) {
    SurveyResult result;
    result.task = {SurveyStage::kRun, kFma, "", n};
    result.dot_products = 100 * run + n;
    result.lines = {{"vector", std::string(10 * n, 'x'), false}};
    ASSERT_TRUE((*log)->Append(result).ok());
    ASSERT_TRUE((*log)->Flush().ok());
  }
}

Seen SeenSurvey(const std::string& path) {
  Seen seen;
  const auto stored = ReadSurvey(fs::path(path).parent_path());
  seen.status = stored.status();
  if (!stored.ok()) return seen;
  // A torn end is no damage: that survey goes on.
  seen.damage = stored->damaged || !stored->stats.damage.empty() || stored->results.size() < 10;
  for (const SurveyResult& result : stored->results) {
    seen.records.push_back(SerializeResult(result));
  }
  return seen;
}

class DamageTest : public TestFolder {
 protected:
  // In memory where that is possible: readers sync, and there are many files.
  DamageTest() : TestFolder(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir()) {}

  // The files of both runs.
  std::vector<Kind> Kinds() {
    fs::create_directories(Path("1"));
    fs::create_directories(Path("2"));
    for (const uint64_t run : {1, 2}) {
      const std::string in = Path(absl::StrCat(run, "/"));
      std::ofstream(in + "manifest.txtpb") << FormatManifest(Manifest(run));
      WriteUnits(in, run);
      fs::rename(UnitLogsIn(in)->front(), in + "units-0.log");
      WriteLog(in + "answers.log", run);
      WriteFolder(in + "folder", run);
      WriteSurvey(in + "survey", run);
      fs::create_directories(in + "cases");
      fs::rename(WriteRegression(in + "cases", run), in + "case-000000000000.txtpb");
      std::ofstream(in + "vectors.txt") << Vectors(run);
      std::ofstream(in + "x86.vfmadd231ss.txt") << Lines(run);
      std::ofstream(in + "x86.hashed.vfmadd231ss.txt") << AnswersFile("Answers", Lines(run, ""));
      WriteGzip(in + "x86.vfmadd231ss.txt.gz", Lines(run));
    }
    // The name has the id of the contents.
    const std::string own_case = WriteRegression(Path("1/cases"), 1);
    std::vector<Kind> kinds;
    const auto add = [&](const char* name, const std::string& file, auto read) -> Kind& {
      const std::string path = Path("1/" + file);
      kinds.push_back({name, path, Get(Path("2/" + file)), [read, path] { return read(path); }});
      return kinds.back();
    };
    add("manifest of a run", "manifest.txtpb", [](const std::string& path) {
      Seen seen;
      const auto manifest = ParseManifest(*ReadFile(path), path);
      seen.status = manifest.status();
      if (manifest.ok()) seen.records = {FormatManifest(*manifest)};
      return seen;
    }).tied = false;
    const auto folder = [](const std::string& path) {
      return SeenFolder(fs::path(path).parent_path());
    };
    add("unit log", "units-0.log",
        [](const std::string& path) { return SeenUnits(fs::path(path).parent_path()); });
    add("recording log", "answers.log", SeenRecording).tied = false;
    add("manifest of a recording", "folder/recording.txtpb", folder);
    add("answers of a recording", "folder/raw-1.log", folder);
    add("digests of a recording", "folder/digests.log", folder);
    add("regressions of a recording", "folder/regressions.txt", folder);
    add("survey log", "survey/answers.log", SeenSurvey).tied = false;
    add("regression case", "case-000000000000.txtpb", SeenCase).path = own_case;
    kinds.back().read = [own_case] { return SeenCase(own_case); };
    add("line recording, gzip", "x86.vfmadd231ss.txt.gz", SeenRecording).tied = false;
    add("line recording, hashed", "x86.hashed.vfmadd231ss.txt", SeenRecording).tied = false;
    add("line recording, plain", "x86.vfmadd231ss.txt", SeenRecording).checksum = false;
    add("vector file", "vectors.txt", SeenVectors).checksum = false;
    return kinds;
  }
};

TEST_F(DamageTest, NothingWrongIsAccepted) {
  const char* wanted = std::getenv("MMADIFF_DAMAGED");
  uint64_t versions = 2000;
  ASSERT_TRUE(wanted == nullptr || absl::SimpleAtoi(wanted, &versions));
  std::printf("%-28s %9s %9s %9s %9s %9s %9s\n", "kind", "versions", "detected", "harmless", "lost",
              "wrong", "crashes");
  for (const Kind& kind : Kinds()) {
    void* shared =
        mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Counts& counts = *new (shared) Counts;
    const uint64_t crashes = ReadAll(kind, versions, counts);
    std::printf("%-28s %9lu %9lu %9lu %9lu %9lu %9lu%s\n", kind.name.c_str(), versions,
                counts.detected, counts.harmless, counts.lost, counts.wrong, crashes,
                kind.checksum ? "" : "  (no checksum: a changed line may be another line)");
    EXPECT_EQ(crashes, 0u) << kind.name;
    EXPECT_EQ(counts.bad_status, 0u) << kind.name;
    EXPECT_GT(counts.detected, versions / 10) << kind.name;
    EXPECT_TRUE(counts.wrong == 0 || !kind.checksum) << kind.name << " " << counts.first_wrong;
    // A unit that is lost runs again; nothing else may be missing in silence.
    const bool may_lose = !kind.checksum || kind.name == "unit log";
    EXPECT_TRUE(counts.lost == 0 || may_lose) << kind.name;
    munmap(shared, sizeof(Counts));
  }
}

// Text without a checksum: one changed byte changes one line, or two where it is a line end; the
// others are what was written.
TEST_F(DamageTest, OneByteOfPlainTextCostsAtMostItsLines) {
  for (const Kind& kind : Kinds()) {
    if (kind.checksum) continue;
    const std::string own = Get(kind.path);
    const std::vector<std::string> good = kind.read().records;
    const std::multiset<std::string> all(good.begin(), good.end());
    for (uint64_t number = 0; number < 2000; ++number) {
      Write(kind.path, Damaged(number / 2 * 7 + number % 2, own, kind.other));
      const Seen seen = kind.read();
      const auto known = [&](const std::string& r) { return all.contains(r); };
      const int64_t changed = seen.records.size() - std::ranges::count_if(seen.records, known);
      const bool every = absl::StrContains(kind.name, "line recording") &&
                         Get(kind.path).substr(0, 50) != own.substr(0, 50);  // operation or device
      ASSERT_TRUE(every || changed <= 2) << kind.name << " " << number;
    }
  }
}

}  // namespace
}  // namespace mmadiff
