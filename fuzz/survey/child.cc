#include "fuzz/survey/child.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/child_process.h"
#include "fuzz/engine.h"
#include "fuzz/survey/asker.h"

namespace mmadiff {
namespace {

constexpr size_t kLengthBytes = 4, kMostBytes = 256 << 20;

std::string Framed(const std::string& bytes) {
  std::string frame;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    frame.push_back(static_cast<char>(bytes.size() >> 8 * i));
  }
  return frame + bytes;
}

// Messages out of bytes as they come.
class Messages {
 public:
  explicit Messages(const TakeMessage& take) : take_(take) {}

  absl::StatusOr<bool> Take(absl::string_view bytes) {
    buffer_.append(bytes.data(), bytes.size());
    bool any = false;
    size_t at = 0;
    for (;;) {
      if (buffer_.size() - at < kLengthBytes) break;
      size_t length = 0;
      for (size_t i = 0; i < kLengthBytes; ++i) {
        length |= size_t{static_cast<unsigned char>(buffer_[at + i])} << 8 * i;
      }
      if (length > kMostBytes) return absl::DataLossError("a message of no length");
      if (buffer_.size() - at - kLengthBytes < length) break;
      const auto message =
          ParseSurveyMessage(absl::string_view(buffer_).substr(at + kLengthBytes, length));
      if (!message.ok()) return message.status();
      if (absl::Status s = take_(*message); !s.ok()) return s;
      at += kLengthBytes + length;
      any = true;
    }
    buffer_.erase(0, at);
    return any;
  }

 private:
  const TakeMessage& take_;
  std::string buffer_;
};

}  // namespace

AskProcess AskInChild(const char* verb, absl::Duration timeout) {
  // This very program, also when its file was replaced since.
  const std::string command = absl::StrCat("exec /proc/", getpid(), "/exe ", verb);
  return [command, timeout](const SurveyJob& job, const TakeMessage& take,
                            const std::function<bool()>& stop) {
    const std::string input = SerializeJob(job);
    bool given = false;
    const auto next = [&]() -> absl::string_view {
      if (given) return "";
      given = true;
      return input;
    };
    Messages messages(take);
    const auto read = [&](absl::string_view bytes) { return messages.Take(bytes); };
    // The limit is also that of a command and of a kernel that the child waits for.
    const double limit = absl::ToDoubleSeconds(timeout);
    const absl::Status s = RunChild({command,
                                     {absl::StrCat("MMADIFF_EXEC_TIMEOUT=", limit),
                                      absl::StrCat("MMADIFF_GPU_TIMEOUT=", limit)},
                                     timeout},
                                    next, read, stop);
    // People know nothing of the command.
    constexpr absl::string_view kQuote = "`: ";
    const size_t at = s.message().find(kQuote);
    if (s.ok() || at == absl::string_view::npos) return s;
    return absl::Status(s.code(), s.message().substr(at + kQuote.size()));
  };
}

int AnswerSurvey() {
  const std::string input((std::istreambuf_iterator<char>(std::cin)),
                          std::istreambuf_iterator<char>());
  const absl::StatusOr<SurveyJob> job = ParseSurveyJob(input);
  if (!job.ok()) {
    std::fprintf(stderr, "%s\n", std::string(job.status().message()).c_str());
    return 2;
  }
  const auto open = [](const std::string& spec) { return OpenEngine(spec); };
  const auto send = [](const SurveyMessage& message) {
    const std::string frame = Framed(SerializeMessage(message));
    std::fwrite(frame.data(), 1, frame.size(), stdout);
    std::fflush(stdout);
  };
  return AskSurvey(*job, open, send).ok() ? 0 : 3;
}

}  // namespace mmadiff
