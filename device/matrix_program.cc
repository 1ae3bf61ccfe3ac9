#include "device/matrix_program.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "device/blas/environment.h"
#include "device/child_process.h"
#include "device/exec_options.h"
#include "device/host_instruction.h"
#include "device/plain_text.h"
#include "device/program_files.h"
#include "device/status_macros.h"
#include "device/stop.h"

namespace mmadiff {
namespace {

int WordBytes(const Format& format) { return StoredBits(format) / 8; }

// Adds the bytes of rows x columns words to `used`; false if that makes too many.
bool Fits(int64_t rows, int64_t columns, const Format& format, int64_t* used) {
  const int64_t most = (kMaxMatrixBytes - *used) / WordBytes(format);
  if (rows > most / columns) return false;
  *used += rows * columns * WordBytes(format);
  return true;
}

void Append(const Words& words, int64_t rows, int64_t columns, std::string& bytes) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const uint64_t word = Load(words, i, j);
      for (int bit = 0; bit < words.bits; bit += 8) bytes += static_cast<char>(word >> bit);
    }
  }
}

void StoreAll(absl::string_view bytes, int64_t rows, int64_t columns, const MutableWords& words) {
  size_t next = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      uint64_t word = 0;
      for (int bit = 0; bit < words.bits; bit += 8) {
        word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[next++])) << bit;
      }
      Store(words, i, j, word);
    }
  }
}

// How the program or the command must change.
const char* AdviceOn(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return "does it flush its stdout? Else give it more time, with timeout=5m";
    case absl::StatusCode::kDataLoss:
      return "only words of D may go to its stdout; send messages to stderr";
    default:
      return "it must answer requests until its stdin ends";
  }
}

class MatrixProgram : public MatrixDevice {
 public:
  MatrixProgram(absl::string_view specification, ExecOptions options, const MatrixFormats& formats)
      : specification_(specification),
        options_(std::move(options)),
        formats_(formats),
        files_(options_.command),
        environment_(blas::Environment()) {}

  std::string name() const override { return absl::StrCat("exec:", specification_); }
  Identity identity() const override {
    const std::string files = files_.Describe();
    return Identity()
        .Add("command", specification_)
        .Add("files", files.empty() ? "no file of it is hashed" : files)
        .Add("environment", environment_)
        .Add("formats", Name(formats_))
        .Add("machine", Name(HostIdentity()));
  }
  MatrixFormats formats() const override { return formats_; }
  absl::Status Finish() override {
    const absl::Status s = child_ == nullptr ? absl::OkStatus() : child_->CheckSilent(true);
    child_ = nullptr;
    return s.ok() ? s : Explained(s, "after the last product");
  }

 private:
  absl::Status Execute(const MatrixProduct& p) override {
    if (p.m == 0 || p.n == 0) return absl::OkStatus();
    int64_t asked = 0, answer = 0;
    if (p.k == 0 || !Fits(p.m, p.k, *formats_.a, &asked) || !Fits(p.k, p.n, *formats_.b, &asked) ||
        !Fits(p.m, p.n, *formats_.d, &answer)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a program gets no product of m = ", p.m, ", n = ", p.n, ", k = ", p.k,
                       ": give sizes of at least 1, with at most ", kMaxMatrixBytes,
                       " bytes of A and B, and of D"));
    }
    const std::string head = absl::StrCat(p.m, " ", p.n, " ", p.k, " ", formats_.a->name, " ",
                                          formats_.b->name, " ", formats_.d->name);
    std::string request = absl::StrCat(head, "\n");
    request.reserve(request.size() + asked);
    Append(p.a, p.m, p.k, request);
    Append(p.b, p.k, p.n, request);
    std::string d;
    d.reserve(answer);
    if (const absl::Status s = Ask(request, answer, d); !s.ok()) {
      child_ = nullptr;
      const std::string got = absl::StrCat(d.size(), " of ", answer, " bytes of D arrived");
      return Explained(s, absl::StrCat("request `", head, "`, ", got));
    }
    RETURN_IF_ERROR(files_.CheckUnchanged());
    StoreAll(d, p.m, p.n, p.d);
    return absl::OkStatus();
  }

  // Appends `bytes` of the answer to `d`.
  absl::Status Ask(absl::string_view request, int64_t bytes, std::string& d) {
    if (child_ == nullptr) {
      ASSIGN_OR_RETURN(child_, StartKeptChild({options_.command, {}, options_.timeout}));
    }
    RETURN_IF_ERROR(child_->CheckSilent(false));
    const auto hear = [&](absl::string_view part) -> absl::StatusOr<Heard> {
      d.append(part.data(), part.size());
      if (std::ssize(d) > bytes) return absl::DataLossError("it wrote more than its answer");
      return std::ssize(d) == bytes ? Heard::kAnswer : Heard::kProgress;
    };
    return child_->Ask(request, hear, [] { return StopSignal() != 0; });
  }

  // The error, with the advice before the end of the program's stderr. To ask again would not help.
  static absl::Status Explained(const absl::Status& error, absl::string_view when) {
    if (absl::IsNotFound(error) || absl::IsCancelled(error)) return error;
    const bool garbled = absl::IsDataLoss(error);
    return absl::Status(garbled ? absl::StatusCode::kDataLoss : absl::StatusCode::kInternal,
                        absl::StrCat(when, ": ", AdviceOn(error), ": ", error.message()));
  }

  const std::string specification_;
  const ExecOptions options_;
  const MatrixFormats formats_;
  ProgramFiles files_;
  const std::string environment_;
  std::unique_ptr<KeptChild> child_;  // nullptr: not started
};

}  // namespace

absl::StatusOr<std::unique_ptr<MatrixDevice>> OpenMatrixProgram(absl::string_view specification,
                                                                const MatrixFormats& formats,
                                                                absl::Duration timeout) {
  ASSIGN_OR_RETURN(ExecOptions options, ParseExecOptions(specification, timeout, Restart::kNever));
  if (options.batch != 0 || options.restart != Restart::kNever ||
      options.protocol != Protocol::kLines || !options.skip.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("for whole products, exec: has only the option timeout, not '",
                     PlainLine(specification.substr(options.command.size())), "'"));
  }
  if (absl::StripAsciiWhitespace(options.command).empty()) {
    return absl::InvalidArgumentError(
        "write exec:COMMAND, for example exec:python3 docs/example/numpy_matmul.py");
  }
  return std::make_unique<MatrixProgram>(specification, std::move(options), formats);
}

}  // namespace mmadiff
