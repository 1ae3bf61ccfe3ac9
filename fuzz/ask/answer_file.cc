#include "fuzz/ask/answer_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "corpus/line_checksum.h"
#include "corpus/regression_case.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "sim/tree/model_text.h"

namespace mmadiff {
namespace {

absl::Status Durable(const absl::Status& s) {
  return s.ok() ? s : absl::DataLossError(s.message());
}

}  // namespace

AnswerFile::AnswerFile(const Operation& op, const Device& device, std::string date)
    : op_(op),
      device_(device),
      date_(std::move(date)),
      text_(absl::StrCat("# instruction: ", op.name, "\n# device: ", IdentityFor(device, op),
                         "\n# date: ", date_, "\n")) {}

void AnswerFile::Add(absl::string_view question, absl::string_view answer,
                     std::span<const Observed> observed) {
  absl::StrAppend(&text_, "# question: ", question, "\n");
  if (!answer.empty()) absl::StrAppend(&text_, "# answer: ", answer, "\n");
  absl::StrAppend(&text_, "# lines: ", observed.size(), " then a hash\n");
  for (const Observed& o : observed) {
    absl::StrAppend(&text_, FormatLine(*op_.instruction, o.dot, o.d), "\n");
  }
}

void AnswerFile::AddNotRepeated(const DotProductCase& dot) {
  absl::StrAppend(&text_, "# not repeated: ", FormatLine(*op_.instruction, dot), "\n");
}

absl::Status AnswerFile::Write(const std::string& folder) const {
  return Durable(WriteFileDurably(PathOf(folder, ".txt"), WithAnswersHash(text_)));
}

absl::Status AnswerFile::WriteModel(const std::string& folder, const Model& model) const {
  std::string text = ModelFileText(model);
  text.insert(text.find('\n') + 1, absl::StrCat("# inferred from answers of ",
                                                PlainLine(device_.name()), ", ", date_, "\n"));
  return Durable(WriteFileDurably(PathOf(folder, ".model"), text));
}

std::string AnswerFile::PathOf(const std::string& folder, absl::string_view extension) const {
  return absl::StrCat(folder, "/", absl::StrReplaceAll(op_.name, {{"/", "."}}), extension);
}

absl::Status AnswerFile::WriteRefuting(const std::string& folder, const Observed& refuting,
                                       std::string slug, std::string why,
                                       std::string source) const {
  if (!IsModelled(op_)) return absl::OkStatus();
  RegressionCase c;
  c.op = &op_;
  c.inputs = MakeDotProductBatch(op_.shape(), {refuting.dot});
  c.answers = {{device_.name(), IdentityFor(device_, op_), date_, {refuting.d}}};
  c.slug = std::move(slug);
  c.why = std::move(why);
  c.source = std::move(source);
  return Durable(WriteCase(c, folder).status());
}

}  // namespace mmadiff
