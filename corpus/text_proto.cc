#include "corpus/text_proto.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "corpus/hex.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kSeal = "# xxh3: ";

// Keeps the first error. Lines and columns count from 0; -1 if unknown.
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
    return absl::DataLossError(absl::StrCat(
        where, ": ", text.size(), " bytes of text proto; the limit is ", kMaxTextProtoBytes));
  }
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(10);  // our messages nest twice
  if (parser.Parse(&input, &message)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(where, ":", absl::StripSuffix(errors.Text(), "."),
                                          "; expected a ", message.GetDescriptor()->name(),
                                          " in the text format of protobuf"));
}

std::string FormatTextProto(const google::protobuf::Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

std::string Seal(std::string text) {
  const std::string hash = Xxh3Hex(text);
  absl::StrAppend(&text, kSeal, hash, "\n");
  return text;
}

absl::StatusOr<absl::string_view> Unseal(absl::string_view text, absl::string_view where) {
  const size_t line = kSeal.size() + 32 + 1;
  const absl::string_view sealed = text.substr(0, text.size() < line ? 0 : text.size() - line);
  if (text.substr(sealed.size()) == absl::StrCat(kSeal, Xxh3Hex(sealed), "\n")) return sealed;
  return absl::DataLossError(
      absl::StrCat(where,
                   ": its last line does not match the checksum of the others: it was changed, "
                   "damaged or cut off"));
}

unsigned __int128 Xxh3(absl::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return static_cast<unsigned __int128>(h.high64) << 64 | h.low64;
}

std::string Xxh3Hex(absl::string_view bytes) { return Hex(Xxh3(bytes)); }

}  // namespace mmadiff
