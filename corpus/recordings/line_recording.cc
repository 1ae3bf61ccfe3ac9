#include "corpus/recordings/line_recording.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "corpus/durable_file.h"
#include "corpus/line_checksum.h"
#include "corpus/list_files.h"
#include "corpus/vector_file.h"
#include "corpus/vector_folder.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxLine = 64 << 10;        // bytes; far more than any instruction needs
constexpr int64_t kPortionWords = 64 << 10;  // operands and results per delivery
constexpr size_t kMaxSilence = 64 << 20;     // bytes of blank lines and comments in a row
constexpr char kSilence[] = "64 MiB without an answer; no line was used";

// Limits runs of blank lines: a few packed bytes can expand to any number of them.
class Silence {
 public:
  // Takes the next bytes of the text. True if too many came without an answer.
  bool IsTooLong(absl::string_view bytes) {
    bytes_ += bytes.size();
    for (size_t at = 0; at < bytes.size(); ++at) {
      if (in_line_) at = std::min(bytes.find('\n', at), bytes.size() - 1);
      const char c = bytes[at];
      const bool blank = c == '\n' || c == ' ' || c == '\t' || c == '\r';
      if (!in_line_ && !blank && c != '#') bytes_ = 0;
      in_line_ = c != '\n' && (in_line_ || !blank);
    }
    return bytes_ > kMaxSilence;
  }

 private:
  size_t bytes_ = 0;      // bytes since the last answer
  bool in_line_ = false;  // past the blanks at the start of a line
};

bool IsGzip(const std::string& path, absl::string_view start) {
  return absl::StartsWith(start, "\x1f\x8b") || absl::EndsWith(path, ".gz");
}

// Accepts only gzip members, one after the other up to the end of the file.
class GzipVerifier {
 public:
  GzipVerifier() { ok_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~GzipVerifier() { inflateEnd(&stream_); }
  GzipVerifier(const GzipVerifier&) = delete;

  // False if the bytes cannot be the next part of such a file, or if silent().
  bool Add(std::string& bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (ok_ && stream_.avail_in > 0) {
      if (at_end_ && inflateReset(&stream_) != Z_OK) return false;
      stream_.next_out = reinterpret_cast<Bytef*>(ignored_);
      stream_.avail_out = sizeof ignored_;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      at_end_ = result == Z_STREAM_END;
      silent_ = silence_.IsTooLong({ignored_, sizeof ignored_ - stream_.avail_out});
      ok_ = !silent_ && (at_end_ || result == Z_OK);
    }
    return ok_;
  }
  bool at_end() const { return at_end_; }
  bool silent() const { return silent_; }

 private:
  z_stream stream_ = {};
  Silence silence_;
  bool ok_ = false, at_end_ = false, silent_ = false;
  char ignored_[64 << 10];
};

// Verifies a gzip file up to its end, with the checksum and length of every member; accepts other
// files. No line may be used before, because damage may appear only at the end.
absl::Status VerifyGzip(const std::string& path) {
  ASSIGN_OR_RETURN(const Fd file, OpenStored(path));
  GzipVerifier verifier;
  uint64_t size = 0;
  for (;;) {
    std::string bytes(64 << 10, '\0');
    const ssize_t got = read(file.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::DataLossError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
    }
    if (got == 0 && (size == 0 || verifier.at_end())) return absl::OkStatus();
    if (got == 0) break;
    bytes.resize(got);
    if (size == 0 && !IsGzip(path, bytes)) return absl::OkStatus();
    size += bytes.size();
    if (!verifier.Add(bytes)) break;
  }
  return absl::DataLossError(
      verifier.silent() ? absl::StrCat(path, ": ", kSilence)
                        : absl::StrCat(path, ": damaged or truncated gzip data in the first ", size,
                                       " bytes; no line was used"));
}

// Reads lines of a plain or gzip file (zlib reads both).
class LineReader {
 public:
  explicit LineReader(const std::string& path) : path_(path) {
    absl::StatusOr<Fd> file = OpenStored(path);
    opened_ = file.status();
    if (!file.ok()) return;
    file_ = gzdopen(file->get(), "rb");
    if (file_ == nullptr) {
      opened_ = CannotOpen(path, errno);
    } else {
      file->Release();
      gzbuffer(file_, 128 << 10);
    }
  }
  ~LineReader() {
    if (file_ != nullptr) gzclose(file_);
  }
  LineReader(const LineReader&) = delete;

  const absl::Status& opened() const { return opened_; }
  uint64_t number() const { return number_; }
  bool cut() const { return cut_; }  // the last line has no line end
  StoredAt Where() const { return {path_, number_}; }

  // False at the end of the file.
  absl::StatusOr<bool> Next(std::string& line) {
    line.clear();
    for (;;) {
      const char* begin = buffer_ + begin_;
      const char* end = std::find(begin, static_cast<const char*>(buffer_) + end_, '\n');
      line.append(begin, end);
      begin_ = end - buffer_;
      if (begin_ < end_) {
        ++begin_;  // skips the line end
        ++number_;
        return true;
      }
      if (line.size() > kMaxLine) {
        return absl::DataLossError(absl::StrCat(path_, ":", number_ + 1, ": a line of more than ",
                                                kMaxLine, " bytes; not the line protocol"));
      }
      RETURN_IF_ERROR(Fill());
      if (end_ > 0) continue;
      if (line.empty()) return false;
      ++number_;
      cut_ = true;
      return true;
    }
  }

 private:
  // Reads the next bytes; none at the end of the file.
  absl::Status Fill() {
    begin_ = end_ = 0;
    const int got = gzread(file_, buffer_, sizeof buffer_);
    if (got < 0) {  // VerifyGzip() has already read it
      int error = Z_OK;
      return absl::DataLossError(absl::StrCat(path_, ": cannot be read after line ", number_, ": ",
                                              gzerror(file_, &error)));
    }
    end_ = got;
    if (!silence_.IsTooLong({buffer_, end_})) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(path_, ":", number_ + 1, ": ", kSilence));
  }

  std::string path_;
  gzFile file_ = nullptr;
  absl::Status opened_;
  Silence silence_;
  uint64_t number_ = 0;  // number of the line last returned by Next(), from 1
  bool cut_ = false;
  char buffer_[64 << 10];
  size_t begin_ = 0, end_ = 0;
};

// If the file has a hash or must have one, the hash must match all lines before any line is used.
absl::Status VerifyHash(const std::string& path) {
  LineReader lines(path);
  if (!lines.opened().ok()) return absl::OkStatus();  // LineRecordingReader reports the reason
  TextHash hash;
  std::string line;
  bool demanded = false, dots = false;
  const auto error = [&lines](absl::string_view what) {
    return absl::DataLossError(absl::StrCat(Name(lines.Where()), ": ", what, "; no line was used"));
  };
  for (;;) {
    const absl::StatusOr<bool> more = lines.Next(line);
    if (!more.ok() || !*more) {
      if (!demanded) return absl::OkStatus();
      return dots ? error("'# answers:' is missing after the lines") : more.status();
    }
    absl::string_view text;
    if (IsLineComment(line, "answers", &text)) {
      if (text != hash.Take()) return error("the hash does not match the lines before it");
      demanded = true;
      dots = false;
      continue;
    }
    uint64_t count;
    bool then_a_hash = false;
    if (IsLineComment(line, "lines", &text)) ParseLineCount(text, &count, &then_a_hash);
    demanded |= then_a_hash;
    dots |= !IsComment(line);
    hash.Add(lines.cut() ? line : line + "\n");
  }
}

class LineRecordingReader {
 public:
  LineRecordingReader(const std::string& path, const std::string& instruction,
                      absl::FunctionRef<absl::Status(const Recording&)> deliver,
                      uint64_t& dot_products)
      : path_(path),
        instruction_(instruction),
        deliver_(deliver),
        dot_products_(dot_products),
        facts_(FactsOfFileName(path)),
        lines_(path) {}

  absl::Status Read() {
    RETURN_IF_ERROR(lines_.opened());
    portion_.identity = facts_.anything;
    std::string line;
    for (;;) {
      const absl::StatusOr<bool> more = lines_.Next(line);
      if (!more.ok() || !*more) {
        absl::Status s = Deliver();
        s.Update(more.status());
        if (s.ok()) s = CheckLines();
        return s;
      }
      RETURN_IF_ERROR(IsComment(line) ? ReadComment(line) : ReadDotProduct(line));
    }
  }

 private:
  absl::Status ReadComment(absl::string_view line) {
    // All lines of a portion must be adjacent, so that each has a known number.
    RETURN_IF_ERROR(Deliver());
    absl::string_view text;
    if (IsLineComment(line, "device", &text)) {
      portion_.identity = std::string(text);
    } else if (IsLineComment(line, "instruction", &text)) {
      return SetOperation(std::string(text));
    } else if (IsLineComment(line, "lines", &text)) {
      RETURN_IF_ERROR(CheckLines());
      uint64_t lines;
      bool then_a_hash;  // checked by VerifyHash()
      if (!ParseLineCount(text, &lines, &then_a_hash)) {
        return Error("expected a number after '# lines:'");
      }
      expected_ = lines;
      since_ = 0;
    }
    return absl::OkStatus();
  }

  template <typename... Parts>
  absl::Status Error(const Parts&... parts) const {
    return absl::DataLossError(absl::StrCat(Name(lines_.Where()), ": ", parts...));
  }

  absl::Status CheckLines() const {
    if (!expected_.has_value() || *expected_ == since_) return absl::OkStatus();
    return Error(since_, " dot products after '# lines: ", *expected_, "'");
  }

  absl::Status SetOperation(const std::string& name) {
    portion_.op = FindOperation(name, Models::kOptional);
    if (portion_.op != nullptr) return absl::OkStatus();
    return Error(WhyNoOperation(absl::CHexEscape(name.substr(0, 100))));
  }

  // Sets the operation of a file without an instruction comment before its first dot product.
  absl::Status DefaultOperation(absl::string_view line) {
    portion_.op = facts_.op;
    if (portion_.op != nullptr) return absl::OkStatus();
    if (!IsLineProtocol(line)) return Error("not a recording: neither a log nor hexadecimal words");
    if (!instruction_.empty()) {
      const absl::Status s = SetOperation(instruction_);
      return s.ok() ? s : absl::InvalidArgumentError(s.message());
    }
    return absl::InvalidArgumentError(absl::StrCat(
        Name(lines_.Where()),
        ": for which instruction? The file has no line \"# instruction: ARCH/INSTRUCTION\" "
        "and its name names no instruction; add that line at the top, with any "
        "architecture that has the instruction (`replay` accepts --instr)"));
  }

  absl::Status ReadDotProduct(absl::string_view line) {
    if (portion_.op == nullptr) {
      RETURN_IF_ERROR(DefaultOperation(line));
    }
    const absl::StatusOr<ProtocolLine> parsed = ParseLine(*portion_.op->instruction, line);
    if (!parsed.ok()) return Error(parsed.status().message());
    if (!parsed->d.has_value()) {
      return Error("a recording needs the answer d as word ", WordsOfLine());
    }
    if (expected_.has_value() && since_ == *expected_) {
      return Error("more dot products than the ", *expected_, " that '# lines:' announces");
    }
    if (expected_.has_value() && lines_.cut())
      return Error("the line was cut off: it has no line end");
    ++since_;
    if (portion_.d.empty()) portion_.where = lines_.Where();
    Batch& inputs = portion_.inputs;
    inputs.a.insert(inputs.a.end(), parsed->dot.a.begin(), parsed->dot.a.end());
    inputs.b.insert(inputs.b.end(), parsed->dot.b.begin(), parsed->dot.b.end());
    inputs.c.push_back(parsed->dot.c);
    inputs.metadata.insert(inputs.metadata.end(), parsed->dot.metadata.begin(),
                           parsed->dot.metadata.end());
    portion_.d.push_back(*parsed->d);
    const int64_t words = static_cast<int64_t>(portion_.d.size()) * WordsOfLine();
    return words < kPortionWords ? absl::OkStatus() : Deliver();
  }

  // Includes the answer.
  int WordsOfLine() const {
    const Shape& s = portion_.op->shape();
    return 2 * s.row_words() + s.groups + 2;
  }

  absl::Status Deliver() {
    if (portion_.d.empty()) return absl::OkStatus();
    portion_.inputs.shape = DotProductShape(portion_.op->shape());
    portion_.inputs.count = static_cast<int64_t>(portion_.d.size());
    absl::Status s = deliver_(portion_);
    dot_products_ += portion_.d.size();
    portion_.inputs = {};
    portion_.d.clear();
    return s;
  }

  std::string path_, instruction_;
  absl::FunctionRef<absl::Status(const Recording&)> deliver_;
  uint64_t& dot_products_;
  FileNameFacts facts_;
  LineReader lines_;
  Recording portion_;                 // read but not yet delivered
  std::optional<uint64_t> expected_;  // dot products that must follow the last "# lines:"
  uint64_t since_ = 0;                // dot products read since then
};

// True for an instruction of the tables, or for such an instruction at a different legal size on
// some architecture.
bool IsInstruction(const std::string& name) {
  if (FindInstruction(name) != nullptr) return true;
  const auto architectures = Architectures();
  return std::ranges::any_of(architectures, [&name](const Architecture& arch) {
    return FindOperation(absl::StrCat(arch.name, "/", name)) != nullptr;
  });
}

}  // namespace

FileNameFacts FactsOfFileName(absl::string_view path) {
  const std::string name = std::filesystem::path(std::string(path)).filename().string();
  absl::string_view rest = name;
  absl::ConsumeSuffix(&rest, ".gz");
  absl::ConsumeSuffix(&rest, ".txt");
  const size_t dot = rest.find('.');
  if (dot == rest.npos) return {};
  const std::string arch(rest.substr(0, dot));
  rest.remove_prefix(dot);  // ".INSTRUCTION" or ".ANYTHING.INSTRUCTION"
  // Searches from the left, so the first name found is the longest.
  for (size_t start = 0; start != rest.npos; start = rest.find('.', start + 1)) {
    const std::string name_after_dot(rest.substr(start + 1));
    const Operation* op = FindOperation(absl::StrCat(arch, "/", name_after_dot), Models::kOptional);
    if (op == nullptr && !IsInstruction(name_after_dot)) continue;
    absl::string_view anything = rest.substr(0, start);
    absl::ConsumePrefix(&anything, ".");
    return {op, std::string(anything)};
  }
  return {};
}

absl::StatusOr<std::vector<std::string>> LineRecordingsBelow(const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> files, FilesBelow(folder));
  std::erase_if(files, [](const std::string& path) {
    const bool named = absl::EndsWith(path, ".txt") || absl::EndsWith(path, ".txt.gz");
    return !named || FactsOfFileName(path).op == nullptr;
  });
  return files;
}

absl::Status ReadLineRecording(const std::string& path, const std::string& instruction,
                               absl::FunctionRef<absl::Status(const Recording&)> deliver,
                               uint64_t& dot_products) {
  RETURN_IF_ERROR(VerifyGzip(path));
  RETURN_IF_ERROR(VerifyHash(path));
  // On the heap: the reader holds a buffer.
  return std::make_unique<LineRecordingReader>(path, instruction, deliver, dot_products)->Read();
}

}  // namespace mmadiff
