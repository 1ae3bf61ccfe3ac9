#include "fuzz/cli/own_models.h"

#include <filesystem>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/durable_file.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/output/next_command.h"
#include "sim/own_model.h"
#include "sim/tree/model_text.h"
#define XXH_INLINE_ALL
#include "xxhash.h"

namespace mmadiff {
namespace {

std::vector<const Operation*>& Read() {
  static auto& ops = *new std::vector<const Operation*>;
  return ops;
}

// NAME of "own/NAME~VERSION": letters, digits, '_', '-' and '.' of the file's name.
std::string NameOf(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '-' && c != '.') c = '_';
  }
  return name;
}

// A hash of the model. Comments and the form of the tree's text do not change it.
std::string VersionOf(const Model& model) {
  const std::string text = ModelKey(model);
  return absl::StrFormat("%08x", XXH3_64bits(text.data(), text.size()) >> 32);
}

absl::Status ReadModel(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxModelText));
  TextError error;
  const std::optional<Model> model = ParseModel(text, &error);
  if (!model) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", error.line, ":", error.column, ": ", PlainLine(error.what)));
  }
  const std::string name = NameOf(file);
  for (const Operation* op : Read()) {
    if (absl::StartsWith(op->name, absl::StrCat("own/", name, "~"))) {
      return absl::InvalidArgumentError(
          absl::StrCat("--model: two files are named ", name, "; rename ", file));
    }
  }
  const Operation* const op = AddOwnModel(name, VersionOf(*model), *model);
  if (op == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": no operation can have these formats together"));
  }
  Read().push_back(op);
  AddProgramFlag(absl::StrCat("--model=", ShellWord(file)));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadModels(const std::vector<std::string>& files) {
  for (const std::string& file : files) RETURN_IF_ERROR(ReadModel(file));
  return absl::OkStatus();
}

const std::vector<const Operation*>& ReadOperations() { return Read(); }

}  // namespace mmadiff
