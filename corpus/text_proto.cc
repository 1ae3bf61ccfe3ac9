#include "corpus/text_proto.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

// Keeps the first error. Lines and columns come counted from 0, -1 if not known.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (count_++ == 0) first_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  void AddWarning(int, int, const std::string&) override {}

  std::string Text() const {
    if (count_ == 0) return "not a text proto";
    return count_ == 1 ? first_ : absl::StrCat(first_, " (and ", count_ - 1, " more errors)");
  }

 private:
  int count_ = 0;
  std::string first_;
};

}  // namespace

absl::Status ParseTextProto(absl::string_view text, absl::string_view where,
                            google::protobuf::Message& message) {
  if (text.size() > kMaxTextProtoBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": ", text.size(), " bytes of text proto; the most is ", kMaxTextProtoBytes));
  }
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(10);  // our messages nest twice
  if (parser.Parse(&input, &message)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(where, ":", errors.Text()));
}

std::string FormatTextProto(const google::protobuf::Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

}  // namespace mmadiff
