#include "fuzz/output/fields.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

const char* TypeName(Schema::Kind kind) {
  switch (kind) {
    case Schema::kFlag:
      return "boolean";
    case Schema::kCount:
    case Schema::kInteger:
      return "integer";
    case Schema::kReal:
      return "number";
    case Schema::kText:
      return "string";
    case Schema::kList:
      return "array";
    default:
      return "object";
  }
}

Json ObjectJson(const Schema& schema);

// The schema without its description.
Json TypeJson(const Schema& schema) {
  Json json = Json::object();
  if (schema.kind == Schema::kAny) return json;
  if (schema.kind == Schema::kObject) {
    json = ObjectJson(schema);
  } else if (schema.kind == Schema::kOneOf) {
    for (const Schema& one : schema.of) json["anyOf"].push_back(TypeJson(one));
  } else if (schema.kind == Schema::kTextOrInteger) {
    json["type"] = {"integer", "string"};
  } else {
    json["type"] = TypeName(schema.kind);
  }
  if (schema.kind == Schema::kCount || (schema.kind == Schema::kReal && !schema.negative)) {
    json["minimum"] = schema.least;
  }
  if (schema.pattern != nullptr) json["pattern"] = schema.pattern;
  if (schema.prose) json["x-for-people"] = true;
  if (!schema.words.empty()) json["enum"] = schema.words;
  if (schema.kind == Schema::kList) json["items"] = TypeJson(schema.of.front());
  if (schema.least_items > 0) json["minItems"] = schema.least_items;
  if (schema.most_items > 0) json["maxItems"] = schema.most_items;
  if (schema.kind == Schema::kMap) json["additionalProperties"] = TypeJson(schema.of.front());
  if (!schema.when.empty()) json["title"] = schema.when;
  if (!schema.null) return json;
  return {{"anyOf", Json::array({Json{{"type", "null"}}, std::move(json)})}};
}

Json ObjectJson(const Schema& schema) {
  Json properties = Json::object(), required = Json::array();
  for (const Member& member : schema.members) {
    Json json = TypeJson(member.schema);
    if (!member.what.empty()) json["description"] = member.what;
    if (!member.unit.empty()) json["x-unit"] = member.unit;
    properties[member.name] = std::move(json);
    if (!member.absent) required.push_back(member.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

std::string TypeText(const Schema& schema) {
  std::string text = TypeName(schema.kind);
  if (schema.kind == Schema::kAny) text = "any";
  if (schema.kind == Schema::kCount) text = "count";
  if (schema.kind == Schema::kMap) text = "map";
  if (schema.kind == Schema::kTextOrInteger) text = "integer or string";
  if (schema.prose) text = "prose";
  if (!schema.words.empty()) text = absl::StrJoin(schema.words, "|");
  if (schema.pattern != nullptr) absl::StrAppend(&text, " ", schema.pattern);
  if (schema.least > 0) absl::StrAppend(&text, " >= ", schema.least);
  if (schema.most_items > 0) {
    absl::StrAppend(&text, " of ", schema.most_items);
  } else if (schema.least_items > 0) {
    absl::StrAppend(&text, " of ", schema.least_items, " or more");
  }
  return text + (schema.null ? " or null" : "");
}

// The lines for everything below the member with that path.
std::string LinesBelow(const std::string& path, const Schema& schema);

std::string Line(const std::string& path, const Schema& schema, absl::string_view end) {
  // A list whose elements have no members is one line.
  if (schema.kind == Schema::kList || schema.kind == Schema::kMap) {
    const char* mark = schema.kind == Schema::kList ? "[]" : "{}";
    const Schema& of = schema.of.front();
    if (of.kind != Schema::kObject && of.kind != Schema::kOneOf) {
      const std::string bounds =
          schema.most_items + schema.least_items > 0 || schema.null ? ", " + TypeText(schema) : "";
      return Line(path + mark, of, absl::StrCat(bounds, end));
    }
  }
  const std::string below = LinesBelow(path, schema);
  if (schema.kind == Schema::kOneOf) return below;
  return absl::StrCat(path, "\t", TypeText(schema), end, "\n", below);
}

std::string LinesBelow(const std::string& path, const Schema& schema) {
  std::string lines;
  for (const Member& member : schema.members) {
    lines += Line(absl::StrCat(path, ".", member.name), member.schema,
                  absl::StrCat(member.unit.empty() ? "" : absl::StrCat(" ", member.unit),
                               member.absent ? ", perhaps absent" : "",
                               member.what.empty() ? "" : absl::StrCat("\t", member.what)));
  }
  if (schema.kind == Schema::kList || schema.kind == Schema::kMap) {
    lines += LinesBelow(path + (schema.kind == Schema::kList ? "[]" : "{}"), schema.of.front());
  }
  if (schema.kind == Schema::kOneOf) {
    for (const Schema& one : schema.of) {
      lines += Line(absl::StrCat(path, one.when.empty() ? "" : " ", one.when), one, "");
    }
  }
  return lines;
}

bool IsScalar(const Schema& schema) { return schema.kind <= Schema::kText; }

// The text of each scalar member.
std::vector<std::string> Cells(const Schema& schema, const Json& row) {
  std::vector<std::string> cells;
  for (const Member& member : schema.members) {
    if (!IsScalar(member.schema)) continue;
    const auto value = row.find(member.name);
    const bool nothing = value == row.end() || value->is_null();
    cells.push_back(nothing              ? ""
                    : value->is_string() ? value->get<std::string>()
                                         : JsonText(*value, -1));
  }
  return cells;
}

std::string CsvCell(const std::string& text) {
  const std::string line = PlainLine(text);
  if (line.find_first_of(",\"") == line.npos) return line;
  return absl::StrCat("\"", absl::StrReplaceAll(line, {{"\"", "\"\""}}), "\"");
}

}  // namespace

std::string JsonText(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

Json SchemaJson(const std::string& title, const Schema& schema) {
  Json json = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  json.update(TypeJson(schema));
  return json;
}

std::string MemberLines(const std::string& path, const Schema& schema) {
  return Line(path, schema, "");
}

Schema ListOf(Schema element) { return {.kind = Schema::kList, .of = {std::move(element)}}; }
Schema MapOf(Schema element) { return {.kind = Schema::kMap, .of = {std::move(element)}}; }
Schema OneOf(std::vector<Schema> schemas) {
  return {.kind = Schema::kOneOf, .of = std::move(schemas)};
}

std::string CsvHead(const Schema& schema) {
  std::vector<std::string> names;
  for (const Member& member : schema.members) {
    if (IsScalar(member.schema)) names.push_back(member.name);
  }
  return CsvLine(names);
}

std::string CsvLine(const Schema& schema, const Json& row) { return CsvLine(Cells(schema, row)); }

std::string CsvLine(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(CsvCell(cell));
  return absl::StrJoin(quoted, ",") + "\n";
}

TextTable TextTableOf(const Schema& schema) {
  std::vector<TableColumn> columns;
  for (const Member& member : schema.members) {
    const Schema::Kind kind = member.schema.kind;
    const bool number = kind >= Schema::kCount && kind <= Schema::kReal;
    if (IsScalar(member.schema)) {
      columns.push_back({absl::StrReplaceAll(member.name, {{"_", " "}}), number});
    }
  }
  return TextTable(std::move(columns));
}

void AddRow(const Schema& schema, const Json& row, TextTable& table) {
  table.Add(Cells(schema, row));
}

}  // namespace mmadiff
