#include "corpus/recordings/recording_folder.h"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/list_files.h"
#include "corpus/meaning_proto.h"
#include "corpus/text_proto.h"
#include "device/status_macros.h"
#include "proto/run.pb.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "recording.txtpb";
constexpr char kRegressions[] = "regressions.txt";
constexpr char kDigests[] = "digests.log";
constexpr char kLock[] = "writer.lock";  // names the host of the process that holds the lock
constexpr size_t kMaxDigests = 2000;     // per record: 40 KB
constexpr char kHeader[] =
    "# Recorded answers of a device: ./mmadiff replay FOLDER verifies them without it.\n"
    "# proto-file: proto/run.proto\n"
    "# proto-message: mmadiff.proto.RecordingManifest\n\n";

std::string In(const std::string& folder, absl::string_view name) {
  return absl::StrCat(folder, "/", name);
}

// True also if it cannot be determined; then opening the path reports the reason.
bool MayExist(const std::string& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type() != fs::file_type::not_found;
}

std::string Host() {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  return host;
}

// Without a lock, as on a file system without locks, the folder is never treated as a leftover.
Fd LockTemporary(const std::string& temporary) {
  const std::string host = Host();
  absl::StatusOr<Fd> lock = OpenStored(In(temporary, kLock), O_WRONLY | O_CREAT);
  if (!lock.ok() || flock(lock->get(), LOCK_EX | LOCK_NB) != 0) return Fd();
  [[maybe_unused]] const ssize_t ignored = write(lock->get(), host.data(), host.size());
  return *std::move(lock);
}

// Removes leftovers of the same recording from killed processes. Locks may be invisible on other
// hosts.
void RemoveTorn(const std::string& name) {
  std::error_code ignored;
  const fs::path path = fs::absolute(name, ignored);
  const std::string prefix = path.filename().string() + ".tmp";
  std::vector<fs::path> torn;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored)) {
    const std::string file = entry.path().filename().string();
    if (absl::StartsWith(file, prefix) && file.size() == prefix.size() + 6) {
      torn.push_back(entry.path());
    }
  }
  for (const fs::path& folder : torn) {
    const absl::StatusOr<Fd> lock = OpenStored(folder / kLock);
    const absl::StatusOr<std::string> host = ReadFile(folder / kLock, 255);
    const bool ours = lock.ok() && host.ok() && *host == Host() && !fs::is_symlink(folder, ignored);
    if (ours && flock(lock->get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
  }
}

std::string RawFile(int number) { return absl::StrCat("raw-", number, ".log"); }

// The raw logs and regressions.txt that exist in a folder, in order.
std::vector<std::string> AnswerFiles(const std::string& folder) {
  std::vector<std::string> names;
  for (int i = 1; i <= kMaxRawFiles; ++i) names.push_back(RawFile(i));
  names.push_back(kRegressions);
  std::erase_if(names, [&](const auto& name) { return !MayExist(In(folder, name)); });
  return names;
}

// The problem with a file as a whole. Empty if the file is good, or if it neither exists nor is in
// the manifest.
std::string Wrong(const RecordingManifest& manifest, const std::string& folder,
                  const std::string& name) {
  for (const RecordingManifest::File& file : manifest.files) {
    if (file.name != name) continue;
    const absl::StatusOr<std::string> bytes = ReadFile(In(folder, name));
    if (absl::IsNotFound(bytes.status())) return absl::StrCat(name, " is missing");
    if (!bytes.ok()) return std::string(bytes.status().message());
    if (bytes->size() != file.bytes) {
      return absl::StrCat(name, " has ", bytes->size(), " of ", file.bytes, " bytes");
    }
    const bool same = Xxh3Hex(*bytes) == file.xxh3;
    return same ? "" : absl::StrCat(name, " does not match its recorded checksum");
  }
  return MayExist(In(folder, name)) ? absl::StrCat(name, " is not in ", kManifest) : "";
}

}  // namespace

static void StoredFields(ProtoIo& io, RecordingManifest::Instruction& instruction) {
  io.Field("name", instruction.name);
  io.Field("emulated", instruction.emulated);
  io.Field("raw_cases", instruction.raw_cases);
  io.Field("repeated", instruction.repeated);
  io.Field("regressions", instruction.regressions);
  io.Field("digest_units", instruction.digest_units);
  io.Field("unit_cases", instruction.unit_cases);
}

static void StoredFields(ProtoIo& io, RecordingManifest::File& file) {
  io.Field("name", file.name);
  io.Field("bytes", file.bytes);
  io.Field("xxh3", file.xxh3);
}

static void StoredFields(ProtoIo& io, RecordingManifest& manifest) {
  ProvenanceFields(io, manifest);
  io.Field("date", manifest.date);
  io.Field("run", manifest.run);
  io.Field("instruction", manifest.instructions);
  io.Field("file", manifest.files);
}

// One record.
static void StoredFields(ProtoIo& io, RecordedDigests& digests) {
  std::string instruction = digests.op == nullptr ? "" : digests.op->name;
  io.Field("instruction", instruction);
  digests.op = FindOperation(instruction, Models::kOptional);
  if (digests.op == nullptr) {
    io.Fail(absl::DataLossError(WhyNoOperation(absl::CHexEscape(instruction.substr(0, 100)))));
  }
  io.Field("stream", digests.stream);
  io.Field("first", digests.first);
  io.Field("unit_cases", digests.unit_cases);
  io.Field("identity", digests.identity);
  io.Field("digest", digests.digests);
}

static absl::StatusOr<RecordedDigests> ParseDigests(absl::string_view bytes,
                                                    const std::string& where) {
  const auto error = [&where](const auto&... parts) {
    return absl::DataLossError(absl::StrCat(where, ": ", parts...));
  };
  constexpr char kNoDigests[] = "not recorded digests";
  proto::RecordedDigests message;
  RecordedDigests d;
  const absl::Status parsed = ProtoIo::Parse(bytes, kNoDigests, message, d);
  if (!parsed.ok()) return error(parsed.message());
  if (d.unit_cases == 0 || d.stream.empty()) return error(kNoDigests);
  const uint64_t units = d.digests.size();
  if (units > (UINT64_MAX - d.first) / d.unit_cases) {
    return error(units, " units of ", d.unit_cases, " cases from ", d.first, " on exceed 2^64");
  }
  return d;
}

absl::StatusOr<std::unique_ptr<RecordingFolderWriter>> RecordingFolderWriter::Create(
    const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  std::error_code error;
  const bool exists = fs::exists(name, error);
  if (error) return absl::DataLossError(absl::StrCat(name, ": stat: ", error.message()));
  if (exists) {
    return absl::AlreadyExistsError(
        absl::StrCat(name, ": already exists; recordings are not overwritten"));
  }
  RemoveTorn(name);
  std::string temporary = name + ".tmpXXXXXX";
  if (mkdtemp(temporary.data()) == nullptr) {
    return absl::DataLossError(
        absl::StrCat(name, ": cannot create the folder: ", std::strerror(errno)));
  }
  return std::unique_ptr<RecordingFolderWriter>(
      new RecordingFolderWriter(name, temporary, LockTemporary(temporary)));
}

RecordingFolderWriter::~RecordingFolderWriter() {
  raw_.reset();
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

absl::Status RecordingFolderWriter::AppendRaw(const Operation& op, const Batch& batch,
                                              const std::vector<uint64_t>& d,
                                              const std::string& identity) {
  // Besides the data on disk, a log buffers up to one block; these answers come on top.
  const uint64_t added = 2 * kMaxBlockBytes + d.size() * 8;
  if (raw_ != nullptr) {
    const std::string path = In(temporary_, RawFile(raw_files_));
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error) return absl::DataLossError(absl::StrCat(path, ": stat: ", error.message()));
    if (size + added > kMaxRecordingFileBytes) {
      RETURN_IF_ERROR(FinishRaw());
    }
  }
  if (raw_ == nullptr) {
    if (raw_files_ == kMaxRawFiles) {
      return absl::ResourceExhaustedError("more raw answers than a recording folder holds");
    }
    ASSIGN_OR_RETURN(std::unique_ptr<RecordingWriter> writer,
                     RecordingWriter::Create(NewFile(RawFile(++raw_files_)), run_));
    raw_ = std::move(writer);
  }
  return raw_->Append(op, batch, d, identity);
}

std::string RecordingFolderWriter::NewFile(const std::string& name) {
  names_.push_back(name);
  return In(temporary_, name);
}

absl::Status RecordingFolderWriter::FinishRaw() {
  const std::unique_ptr<RecordingWriter> raw = std::move(raw_);
  return raw == nullptr ? absl::OkStatus() : raw->Finish();
}

absl::Status RecordingFolderWriter::WriteRegressions(const std::string& lines) {
  return WriteFileDurably(NewFile(kRegressions), lines);
}

absl::Status RecordingFolderWriter::WriteDigests(const std::vector<RecordedDigests>& all) {
  ASSIGN_OR_RETURN(auto log, BlockLogWriter::Create(NewFile(kDigests), run_));
  for (const RecordedDigests& d : all) {
    for (size_t done = 0; done < d.digests.size(); done += kMaxDigests) {
      const auto begin = d.digests.begin() + done;
      const size_t count = std::min(d.digests.size() - done, kMaxDigests);
      const RecordedDigests record = {
          d.op,      d.stream, d.first + done * d.unit_cases, d.unit_cases, {begin, begin + count},
          d.identity};
      RETURN_IF_ERROR(log->Append(ProtoIo::Serialize<proto::RecordedDigests>(record)));
    }
  }
  return log->Finish();
}

absl::Status RecordingFolderWriter::Commit(RecordingManifest manifest) {
  RETURN_IF_ERROR(FinishRaw());
  manifest.run = FormatRunId(run_);
  for (const std::string& name : names_) {
    const absl::StatusOr<std::string> bytes = ReadFile(In(temporary_, name));
    if (!bytes.ok()) return absl::DataLossError(bytes.status().message());
    manifest.files.push_back({name, bytes->size(), Xxh3Hex(*bytes)});
  }
  proto::RecordingManifest message;
  ProtoIo::Write(std::move(manifest), message);
  RETURN_IF_ERROR(
      WriteFileDurably(In(temporary_, kManifest), Seal(kHeader + FormatTextProto(message))));
  std::error_code ignored;
  // mkdtemp() creates private folders; this one gets normal permissions, except that only its owner
  // can write.
  fs::permissions(temporary_, fs::perms(0755), ignored);
  std::error_code kept;
  fs::remove(In(temporary_, kLock), kept);  // the folder stays locked until it has its final name
  if (kept) return absl::DataLossError(absl::StrCat(In(temporary_, kLock), ": ", kept.message()));
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return absl::DataLossError(absl::StrCat(path_, ": rename: ", std::strerror(errno)));
  }
  temporary_.clear();
  return SyncFolderOf(path_);
}

bool IsRecordingFolder(const std::string& path) {
  std::error_code ignored;
  for (const char* name : {kManifest, kDigests, "raw-1.log"}) {
    if (fs::exists(In(path, name), ignored)) return true;
  }
  return false;
}

bool IsRecordingFile(absl::string_view name) {
  for (int i = 1; i <= kMaxRawFiles; ++i) {
    if (name == RawFile(i)) return true;
  }
  return name == kManifest || name == kRegressions || name == kDigests;
}

absl::StatusOr<std::vector<std::string>> RecordingFoldersBelow(const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesBelow(path));
  std::set<std::string> folders;
  for (const std::string& file : files) folders.insert(fs::path(file).parent_path().string());
  std::erase_if(folders, [](const std::string& folder) { return !IsRecordingFolder(folder); });
  return std::vector<std::string>(folders.begin(), folders.end());
}

absl::StatusOr<RecordingManifest> ReadRecordingManifest(const std::string& folder) {
  const std::string path = In(folder, kManifest);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTextProtoBytes));
  ASSIGN_OR_RETURN(const absl::string_view unsealed, Unseal(text, path));
  proto::RecordingManifest message;
  RETURN_IF_ERROR(ParseTextProto(unsealed, path, message));
  RecordingManifest manifest;
  RETURN_IF_ERROR(ProtoIo::Read(message, manifest));
  return manifest;
}

namespace {

// Whether these are raw answers of a device that failed before it gave all of them.
bool IsDropped(const RecordingManifest& manifest, const Recording& recording) {
  if (recording.inputs.stream.empty()) return false;
  return std::ranges::count(manifest.instructions, recording.op->name,
                            &RecordingManifest::Instruction::name) == 0;
}

}  // namespace

absl::Status ReadRecordingFolder(const std::string& folder,
                                 absl::FunctionRef<absl::Status(const Recording&)> deliver,
                                 RecordingStats& stats) {
  RecordingManifest manifest;
  const auto damaged = [&stats](std::string what) {
    stats.damage.push_back({.kind = DamageKind::kOtherFile, .detail = std::move(what)});
  };
  const auto read = ReadRecordingManifest(folder);
  if (read.ok()) {
    manifest = *read;
  } else {
    damaged(std::string(read.status().message()));
  }
  const std::vector<std::string> present = AnswerFiles(folder);
  for (const RecordingManifest::File& file : manifest.files) {
    const bool there = std::ranges::find(present, file.name) != present.end();
    if (!there && file.name != kDigests) damaged(absl::StrCat(file.name, " is missing"));
  }
  for (const std::string& name : present) {
    std::string wrong = read.ok() ? Wrong(manifest, folder, name) : "";
    if (!read.ok() && name == kRegressions) wrong = absl::StrCat(name, " has no checksum");
    // Text has no checksums of its own, so no line of it can be trusted.
    if (!wrong.empty() && name == kRegressions) {
      damaged(absl::StrCat(wrong, "; none of it was used"));
      continue;
    }
    absl::Status delivered;
    uint64_t dropped = 0;  // dot products
    const auto each = [&](const Recording& recording) {
      if (read.ok() && IsDropped(manifest, recording)) {
        stats.dropped.insert(recording.op->name);
        dropped += recording.d.size();
        return absl::OkStatus();
      }
      return delivered = deliver(recording);
    };
    auto file = ReadRecordings(In(folder, name), "", each, ParseRunId(manifest.run));
    RETURN_IF_ERROR(delivered);
    if (!file.ok() && wrong.empty()) return file.status();
    if (!wrong.empty()) damaged(wrong);
    if (!file.ok()) continue;
    stats.dot_products += file->dot_products - dropped;
    for (Damage& d : file->damage) d.file = name;
    stats.damage.insert(stats.damage.end(), file->damage.begin(), file->damage.end());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Damage>> ReadDigests(
    const std::string& folder, absl::FunctionRef<absl::Status(const RecordedDigests&)> deliver) {
  std::vector<Damage> damage;
  const absl::StatusOr<RecordingManifest> manifest = ReadRecordingManifest(folder);
  const std::string wrong = manifest.ok() ? Wrong(*manifest, folder, kDigests) : "";
  if (!wrong.empty()) damage.push_back({.kind = DamageKind::kOtherFile, .detail = wrong});
  if (!MayExist(In(folder, kDigests))) return damage;
  const auto each = [&](absl::string_view bytes) {
    const auto digests = ParseDigests(bytes, In(folder, kDigests));
    return digests.ok() ? deliver(*digests) : digests.status();
  };
  const std::optional<RunId> run = manifest.ok() ? ParseRunId(manifest->run) : std::nullopt;
  ASSIGN_OR_RETURN(BlockLogStats log, ReadBlockLog(In(folder, kDigests), each, run));
  DemandEnd(log);
  for (Damage& d : log.damage) d.file = kDigests;
  damage.insert(damage.end(), log.damage.begin(), log.damage.end());
  return damage;
}

}  // namespace mmadiff
