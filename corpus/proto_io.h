// A single list of a struct's fields both writes the struct to a proto message and reads it back:
//
//   void StoredFields(ProtoIo& io, Machine& machine) {
//     io.Field("host", machine.host);
//     io.Field("hardware", machine.hardware);  // by its own list
//   }
//
// For the .cc files of corpus/ that read and write protos. Aborts on a field name or type that the
// .proto does not have.
#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

class ProtoIo {
 public:
  using Message = google::protobuf::Message;
  using Reflection = google::protobuf::Reflection;

  template <typename S>
  static void Write(S value, Message& message) {
    ProtoIo io(message, &message, nullptr);
    StoredFields(io, value);
  }
  // Returns the first error that StoredFields() passed to Fail(), or kUnimplemented for an unknown
  // number in an enum field.
  template <typename S>
  static absl::Status Read(const Message& message, S& value) {
    absl::Status status;
    ProtoIo io(message, nullptr, &status);
    StoredFields(io, value);
    return status;
  }
  template <typename P, typename S>
  static std::string Serialize(S value) {
    P message;
    Write(std::move(value), message);
    return message.SerializeAsString();
  }
  // As Read(), from bytes; `message` must be empty. kDataLoss with the text `no_message` if the
  // bytes are not such a message or have an unknown enum number.
  template <typename S>
  static absl::Status Parse(absl::string_view bytes, absl::string_view no_message, Message& message,
                            S& value) {
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return absl::DataLossError(no_message);
    }
    const absl::Status read = Read(message, value);
    return absl::IsUnimplemented(read) ? absl::DataLossError(no_message) : read;
  }

  bool reading() const { return out_ == nullptr; }
  // Has an effect only while reading; written values are not checked.
  void Fail(absl::Status error) {
    if (reading()) status_->Update(error);
  }
  // Whether the message being read has the field. The field must have presence.
  bool Has(const char* name) const { return reflection_.HasField(in_, Find(name)); }

  void Field(const char* name, std::string& value) {
    Scalar(name, value, &Reflection::GetString, &Reflection::SetString);
  }
  void Field(const char* name, bool& value) {
    Scalar(name, value, &Reflection::GetBool, &Reflection::SetBool);
  }
  void Field(const char* name, int32_t& value) {
    Scalar(name, value, &Reflection::GetInt32, &Reflection::SetInt32);
  }
  void Field(const char* name, uint32_t& value) {
    Scalar(name, value, &Reflection::GetUInt32, &Reflection::SetUInt32);
  }
  void Field(const char* name, uint64_t& value) {
    Scalar(name, value, &Reflection::GetUInt64, &Reflection::SetUInt64);
  }
  void Field(const char* name, double& value) {
    Scalar(name, value, &Reflection::GetDouble, &Reflection::SetDouble);
  }
  template <typename E>
  requires std::is_enum_v<E>
  void Field(const char* name, E& value) {
    int number = static_cast<int>(value);
    Scalar(name, number, &Reflection::GetEnumValue, &Reflection::SetEnumValue);
    if (Find(name)->enum_type()->FindValueByNumber(number) == nullptr) {
      return Fail(absl::UnimplementedError("a number from a later version"));
    }
    value = static_cast<E>(number);
  }
  void Field(const char* name, std::vector<std::string>& values) { Repeated(name, values); }
  void Field(const char* name, std::vector<uint64_t>& values) { Repeated(name, values); }
  // A struct with StoredFields(); written even if it is empty.
  template <typename S>
  void Field(const char* name, S& value) {
    ProtoIo io = Inside(name);
    StoredFields(io, value);
  }
  template <typename S>
  void Field(const char* name, std::vector<S>& values) {
    if (reading()) values.resize(reflection_.FieldSize(in_, Find(name)));
    for (size_t i = 0; i < values.size(); ++i) {
      Message* const added = reading() ? nullptr : reflection_.AddMessage(out_, Find(name));
      ProtoIo io(reflection_.GetRepeatedMessage(in_, Find(name), static_cast<int>(i)), added,
                 status_);
      StoredFields(io, values[i]);
    }
  }
  template <typename S>
  void Field(const char* name, std::optional<S>& value) {
    if (reading() && Has(name)) value.emplace();
    if (value.has_value()) Field(name, *value);
  }
  void Status(const char* code_name, const char* message_name, absl::Status& status) {
    auto code = static_cast<int32_t>(status.code());
    std::string text(status.message());
    Field(code_name, code);
    Field(message_name, text);
    if (reading()) status = absl::Status(static_cast<absl::StatusCode>(code), text);
  }
  // Access to a field that is a message.
  ProtoIo Inside(const char* name) {
    Message* const inside = reading() ? nullptr : reflection_.MutableMessage(out_, Find(name));
    return ProtoIo(reflection_.GetMessage(in_, Find(name)), inside, status_);
  }

 private:
  // Reads if `out` is null; else `in` is the same message.
  ProtoIo(const Message& in, Message* out, absl::Status* status)
      : in_(in), out_(out), status_(status), reflection_(*in.GetReflection()) {}

  const google::protobuf::FieldDescriptor* Find(const char* name) const {
    const auto* const field = in_.GetDescriptor()->FindFieldByName(name);
    GOOGLE_CHECK(field != nullptr) << in_.GetTypeName() << "." << name;
    return field;
  }
  template <typename T, typename Getter, typename Setter>
  void Scalar(const char* name, T& value, Getter get, Setter set) {
    if (reading()) {
      value = (reflection_.*get)(in_, Find(name));
    } else {
      (reflection_.*set)(out_, Find(name), value);
    }
  }
  template <typename T>
  void Repeated(const char* name, std::vector<T>& values) {
    if (reading()) {
      const auto stored = reflection_.GetRepeatedFieldRef<T>(in_, Find(name));
      values.assign(stored.begin(), stored.end());
    } else {
      reflection_.GetMutableRepeatedFieldRef<T>(out_, Find(name)).CopyFrom(values);
    }
  }

  const Message& in_;
  Message* const out_;
  absl::Status* const status_;  // while reading
  const Reflection& reflection_;
};

}  // namespace mmadiff
