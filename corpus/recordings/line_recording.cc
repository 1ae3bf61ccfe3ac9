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
constexpr int64_t kPortionWords = 64 << 10;  // operands and results of one delivery
constexpr size_t kMaxSilence = 64 << 20;     // bytes of blank lines and comments in a row
constexpr char kSilence[] = "64 MiB without an answer; no line was used";

// A few packed bytes make any number of blank lines.
class Silence {
 public:
  // The next bytes of the text. True if there were too many without an answer.
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
  size_t bytes_ = 0;      // since the last answer
  bool in_line_ = false;  // and not in the blanks at its beginning
};

bool IsGzip(const std::string& path, absl::string_view start) {
  return absl::StartsWith(start, "\x1f\x8b") || absl::EndsWith(path, ".gz");
}

// One gzip member after the other up to the end of the file, and nothing else.
class GzipVerifier {
 public:
  GzipVerifier() { ok_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~GzipVerifier() { inflateEnd(&stream_); }
  GzipVerifier(const GzipVerifier&) = delete;

  // False when the bytes cannot be the next ones of such a file, or are silent().
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

// A gzip file to its end, checksum and length of every member; other files are passed. Before that
// no line counts: damage may show only at the end.
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

// Lines of a plain or gzip file (zlib reads both).
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

  // False at the end.
  absl::StatusOr<bool> Next(std::string& line) {
    line.clear();
    for (;;) {
      const char* begin = buffer_ + begin_;
      const char* end = std::find(begin, static_cast<const char*>(buffer_) + end_, '\n');
      line.append(begin, end);
      begin_ = end - buffer_;
      if (begin_ < end_) {
        ++begin_;  // the line end
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
  // The next bytes; none at the end.
  absl::Status Fill() {
    begin_ = end_ = 0;
    const int got = gzread(file_, buffer_, sizeof buffer_);
    if (got < 0) {  // VerifyGzip() has read it before
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
  uint64_t number_ = 0;  // of the line that Next() gave last, from 1
  bool cut_ = false;
  char buffer_[64 << 10];
  size_t begin_ = 0, end_ = 0;
};

// Where there is a hash, or should be one, it must be right for every line before any counts.
absl::Status VerifyHash(const std::string& path) {
  LineReader lines(path);
  if (!lines.opened().ok()) return absl::OkStatus();  // LineRecordingReader says why
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
    // The lines of a portion follow each other, so that the numbers of all of them are known.
    RETURN_IF_ERROR(Deliver());
    absl::string_view text;
    if (IsLineComment(line, "device", &text)) {
      portion_.identity = std::string(text);
    } else if (IsLineComment(line, "instruction", &text)) {
      return SetOperation(std::string(text));
    } else if (IsLineComment(line, "lines", &text)) {
      RETURN_IF_ERROR(CheckLines());
      uint64_t lines;
      bool then_a_hash;  // VerifyHash() has seen to it
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

  // The operation of a file without an instruction comment before its first dot product.
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
    portion_.d.push_back(*parsed->d);
    const int64_t words = static_cast<int64_t>(portion_.d.size()) * WordsOfLine();
    return words < kPortionWords ? absl::OkStatus() : Deliver();
  }

  // With the answer.
  int WordsOfLine() const { return 2 * portion_.op->shape().row_words() + 2; }

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
  Recording portion_;                 // read and not yet delivered
  std::optional<uint64_t> expected_;  // dot products after the last "# lines:"
  uint64_t since_ = 0;                // dot products since then
};

// In the table, or an instruction of the table at another legal size on some architecture.
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
  // From the left, so that the first name found is the longest.
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
