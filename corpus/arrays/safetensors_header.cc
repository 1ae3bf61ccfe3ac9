#include "corpus/arrays/safetensors_header.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

constexpr char kTensorMetadata[] = "__metadata__", kTensorType[] = "dtype",
               kTensorShape[] = "shape", kTensorOffsets[] = "data_offsets";
constexpr size_t kMaxHeaderMessage = 300;  // names may be very long

// Gets the values of the header one after the other: nlohmann's parser holds no tree of them and
// has no recursion.
class SafetensorsHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<StoredTensor> tensors;
  std::string error;

  bool start_object(size_t) override {
    if (depth_ == 2 || array_ != nullptr) return Fail("an object");
    ++depth_;
    keys_[depth_ - 1].clear();
    return true;
  }
  bool end_object() override {
    const bool complete = depth_ == 1 || in_metadata_ || keys_[1].size() == 3;
    --depth_;
    in_metadata_ = false;
    return complete || Fail("a tensor without 'dtype', 'shape' or 'data_offsets'");
  }
  bool key(std::string& name) override {
    if (!keys_[depth_ - 1].insert(name).second) return Fail("a second '", name, "'");
    key_ = name;
    if (depth_ == 1) {
      in_metadata_ = name == kTensorMetadata;
      if (!in_metadata_) tensors.push_back({name, "", {}, {}});
      return true;
    }
    return in_metadata_ || name == kTensorType || name == kTensorShape || name == kTensorOffsets ||
           Fail("the key '", name, "'");
  }
  bool start_array(size_t) override {
    const bool is_list = depth_ == 2 && !in_metadata_ && array_ == nullptr;
    if (is_list && key_ == kTensorShape) array_ = &tensors.back().shape;
    if (is_list && key_ == kTensorOffsets) array_ = &tensors.back().offsets;
    return (is_list && array_ != nullptr) || Fail("a list");
  }
  bool end_array() override {
    const bool complete = key_ != kTensorOffsets || array_->size() == 2;
    array_ = nullptr;
    return complete || Fail("'data_offsets' without two numbers");
  }
  bool string(std::string& value) override {
    if (depth_ == 2 && in_metadata_) return true;
    if (depth_ != 2 || key_ != kTensorType) return Fail("a string");
    tensors.back().type = value;
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    if (array_ == nullptr || value > uint64_t{std::numeric_limits<int64_t>::max()}) {
      return Fail("the number ", value);
    }
    array_->push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_integer(int64_t value) override { return Fail("the number ", value); }
  bool number_float(double, const std::string&) override { return Fail("a fraction"); }
  bool boolean(bool) override { return Fail("a Boolean"); }
  bool null() override { return Fail("null"); }
  bool binary(nlohmann::json::binary_t&) override { return Fail("bytes"); }
  bool parse_error(size_t byte, const std::string&, const nlohmann::json::exception&) override {
    error = absl::StrCat("header: is not JSON at byte ", byte);
    return false;
  }

 private:
  // False, for the parser.
  template <class... Parts>
  bool Fail(const Parts&... what) {
    const std::string where = tensors.empty() ? "" : absl::StrCat("'", tensors.back().name, "': ");
    error = absl::StrCat("header: ", where, "unexpected: ", what...);
    return false;
  }

  int depth_ = 0;  // of objects
  std::set<std::string> keys_[2];
  std::string key_;
  bool in_metadata_ = false;
  std::vector<int64_t>* array_ = nullptr;  // the list that is being read
};

}  // namespace

absl::StatusOr<std::vector<StoredTensor>> ParseSafetensorsHeader(absl::string_view text) {
  if (text.empty() || text[0] != '{') return absl::DataLossError("header: does not begin with '{'");
  SafetensorsHandler handler;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) {
    return absl::DataLossError(
        PlainLine(absl::string_view(handler.error).substr(0, kMaxHeaderMessage)));
  }
  return std::move(handler.tensors);
}

}  // namespace mmadiff
