// One declaration per result: the members of a struct, which generate its JSON, JSON schema, CSV
// and text columns.
//
//   Fields<Leftover> FieldsOf(const Leftover*) {
//     using L = Leftover;
//     return {
//         {"path", &L::path},
//         {"bytes", &L::bytes},
//         {"why", [](const L& l) { return Text(l.why); }, Prose()},
//     };
//   }
//
// The type of a member is the type that its getter returns: bool, numbers, text, a struct with
// FieldsOf(), lists, maps from names, or std::optional of any of them; an empty optional is null,
// or missing with `Detail::absent`.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "triage/text_table.h"

namespace mmadiff {

using Json = nlohmann::ordered_json;

// The type of a member in JSON.
struct Member;
struct Schema {
  enum Kind : uint8_t {
    kFlag,
    kCount,
    kInteger,
    kReal,
    kText,
    kList,
    kMap,
    kObject,
    kOneOf,
    kTextOrInteger,
    kAny
  };
  Kind kind = kAny;
  bool null = false;                    // or null
  bool negative = false;                // kReal: may be negative
  bool prose = false;                   // kText: for people; the wording may change
  const char* pattern = nullptr;        // kText: regular expression
  std::vector<std::string> words = {};  // kText: all values
  uint64_t least = 0;                   // kCount: minimum
  size_t least_items = 0;               // kList
  size_t most_items = 0;                // kList: 0 for any number
  std::vector<Schema> of = {};          // kList, kMap: schema of an element; kOneOf: all
  std::string when = {};                // in kOneOf: the arguments of a verb that select it
  std::vector<Member> members = {};     // kObject
};
struct Member {
  std::string name;
  std::string what;  // for people; may be empty
  std::string unit;  // unit of a number, unless the name has it
  Schema schema;
  bool absent = false;  // missing instead of null
};

// Details that do not follow from the type of a getter.
struct Detail {
  const char* what = "";
  const char* unit = "";
  const char* pattern = nullptr;
  std::vector<std::string> words = {};
  uint64_t least = 0;
  size_t items = 0;        // exact length of a list
  size_t least_items = 0;  // minimum length of a list
  bool absent = false;
  bool negative = false;              // the number may be negative
  bool prose = false;                 // for people; programs must not parse it
  std::optional<Schema> schema = {};  // for a getter that returns Json
};

// Details of many members: ARCH/INSTRUCTION, a word in hexadecimal digits, a digest of 128 bits,
// RFC 3339.
inline Detail InstructionName(const char* what = "") {
  return {.what = what, .pattern = "^[a-z0-9_]+/[A-Za-z0-9_.-]+$"};
}
inline Detail HexDigits(const char* what = "") { return {.what = what, .pattern = "^[0-9a-f]+$"}; }
inline Detail HexDigest(const char* what = "") {
  return {.what = what, .pattern = "^[0-9a-f]{32}$"};
}
inline Detail UtcOrEmpty(const char* what = "") {
  return {.what = what, .pattern = "^([0-9]{4,}-.*Z)?$"};
}
// Text for people; its wording may change between versions.
inline Detail Prose(const char* what = "") { return {.what = what, .prose = true}; }
// A member that is missing if its getter returns nothing.
inline Detail Absent(Detail detail = {}) {
  detail.absent = true;
  return detail;
}

// The text of JSON, as every verb prints it: ASCII only; invalid UTF-8 becomes U+FFFD. `indent` -1:
// one line.
std::string JsonText(const Json& json, int indent);

// The schema (JSON Schema 2020-12) of an object.
Json SchemaJson(const std::string& title, const Schema& schema);
// "PATH  TYPE  WHAT", one line per member, lists as PATH[].
std::string MemberLines(const std::string& path, const Schema& schema);

// The words of an enumeration of `count` values, for Detail::words.
template <class Enum>
std::vector<std::string> NamesOf(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(Name(static_cast<Enum>(i)));
  return names;
}

// Schemas for getters that return Json.
Schema ListOf(Schema element);
Schema MapOf(Schema element);
Schema OneOf(std::vector<Schema> schemas);

template <class Row>
class Fields;

template <class T>
concept HasFields = requires(const T* t) {
  FieldsOf(t);
};

// FieldsOf() of a type, created once.
template <HasFields T>
const Fields<T>& FieldsOf() {
  static const Fields<T> fields = FieldsOf(static_cast<const T*>(nullptr));
  return fields;
}

namespace fields_internal {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
concept Textual = std::convertible_to<const T&, absl::string_view>;
template <class T>
concept Listed = !Textual<T> && requires(const T& t) {
  t.begin();
  t.end();
};
template <class T>
concept Mapped = Listed<T> && requires {
  typename T::mapped_type;
};

// Numbers are counts, times, rates: not negative, unless Detail::negative.
template <class T>
inline constexpr Schema::Kind kNumber = std::floating_point<T> ? Schema::kReal : Schema::kCount;

}  // namespace fields_internal

template <class T>
Schema SchemaOf() {
  using namespace fields_internal;
  if constexpr (std::same_as<T, Json>) {
    return {};
  } else if constexpr (kIsOptional<T>) {
    Schema schema = SchemaOf<typename T::value_type>();
    schema.null = true;
    return schema;
  } else if constexpr (std::same_as<T, bool>) {
    return {.kind = Schema::kFlag};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return {.kind = kNumber<T>};
  } else if constexpr (Textual<T>) {
    return {.kind = Schema::kText};
  } else if constexpr (HasFields<T>) {
    return FieldsOf<T>().schema();
  } else if constexpr (Mapped<T>) {
    return MapOf(SchemaOf<typename T::mapped_type>());
  } else {
    return ListOf(SchemaOf<std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>>());
  }
}

template <class T>
Json JsonOf(const T& value) {
  using namespace fields_internal;
  if constexpr (std::same_as<T, Json>) {
    return value;
  } else if constexpr (kIsOptional<T>) {
    return value.has_value() ? JsonOf(*value) : Json();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return Json(value);
  } else if constexpr (Textual<T>) {
    return Json(std::string(absl::string_view(value)));
  } else if constexpr (HasFields<T>) {
    return FieldsOf<T>().json(value);
  } else if constexpr (Mapped<T>) {
    Json json = Json::object();
    for (const auto& [name, element] : value) json[name] = JsonOf(element);
    return json;
  } else {
    Json json = Json::array();
    for (const auto& element : value) json.push_back(JsonOf(element));
    return json;
  }
}

// A member of Row.
template <class Row>
struct Field {
  template <class Get>
  Field(const char* name, Get get, const char* what = "")
      : Field(name, get, Detail{.what = what}) {}
  template <class Get>
  Field(const char* name, Get get, Detail d);

  // The members of a part take the place of this one; later members replace those with the same
  // name. An empty std::optional part has no members.
  template <class Get>
  static Field Flat(Get get);

  Member member;
  std::function<Json(const Row&)> get;
  bool flat = false;
};

template <class Row>
class Fields {
 public:
  Fields(std::initializer_list<Field<Row>> fields) : fields_(fields) {}

  Json json(const Row& row) const {
    Json json = Json::object();
    for (const Field<Row>& field : fields_) {
      Json value = field.get(row);
      if (field.flat) {
        if (!value.is_null()) json.update(value);
      } else if (field.member.absent && value.is_null()) {
        json.erase(field.member.name);  // a member of a part
      } else {
        json[field.member.name] = std::move(value);
      }
    }
    return json;
  }

  Schema schema() const {
    Schema schema = {.kind = Schema::kObject};
    for (const Field<Row>& field : fields_) {
      if (field.flat) {
        for (const Member& member : field.member.schema.members) Put(member, schema.members);
      } else {
        Put(field.member, schema.members);
      }
    }
    return schema;
  }

 private:
  static void Put(const Member& member, std::vector<Member>& members) {
    const auto same = std::ranges::find(members, member.name, &Member::name);
    if (same == members.end()) {
      members.push_back(member);
    } else {
      *same = member;
    }
  }

  std::vector<Field<Row>> fields_;
};

template <class Row>
template <class Get>
Field<Row>::Field(const char* name, Get getter, Detail d) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Row&>>;
  get = [getter](const Row& row) { return JsonOf<Value>(std::invoke(getter, row)); };
  Schema schema = d.schema.has_value() ? *std::move(d.schema) : SchemaOf<Value>();
  Schema& text =
      schema.kind == Schema::kList || schema.kind == Schema::kMap ? schema.of.front() : schema;
  if (d.pattern != nullptr) text.pattern = d.pattern;
  text.prose = d.prose;
  if (!d.words.empty()) text.words = std::move(d.words);
  if (d.least > 0) schema.least = d.least;
  if (d.negative && schema.kind == Schema::kCount) schema.kind = Schema::kInteger;
  schema.negative = d.negative;
  schema.least_items = d.items > 0 ? d.items : d.least_items;
  schema.most_items = d.items;
  if (d.absent) schema.null = false;
  member = {name, d.what, d.unit, std::move(schema), d.absent};
}

template <class Row>
template <class Get>
Field<Row> Field<Row>::Flat(Get getter) {
  Field field("", getter);
  field.flat = true;
  if (field.member.schema.null) {
    for (Member& member : field.member.schema.members) member.absent = true;
  }
  return field;
}

// Tables of the members that are neither lists nor objects, one row per result. CSV (RFC 4180),
// member names first.
std::string CsvHead(const Schema& schema);
std::string CsvLine(const Schema& schema, const Json& row);
std::string CsvLine(const std::vector<std::string>& cells);
// Text columns, numbers right-aligned; null is empty.
TextTable TextTableOf(const Schema& schema);
void AddRow(const Schema& schema, const Json& row, TextTable& table);

}  // namespace mmadiff
