#include "fuzz/output/fields.h"

#include <gmock/gmock.h>

namespace mmadiff {
namespace {

struct Part {
  std::string name;
  uint64_t bytes = 0;
};

Fields<Part> FieldsOf(const Part*) {
  using P = Part;
  return {
      {"name", &P::name, {.what = "of the file", .pattern = "^[a-z]+$"}},
      {"bytes", &P::bytes, {.unit = "bytes"}},
  };
}

struct Whole {
  Part first;
  bool flag = true;
  double real = 0.5;
  int below = -2;
  std::optional<int> no_number;
  std::optional<Part> no_part;
  std::vector<Part> parts;
  std::map<std::string, uint64_t> counts;

  std::vector<std::string> words() const { return {"a", "b"}; }
};

Fields<Whole> FieldsOf(const Whole*) {
  using W = Whole;
  return {
      Field<W>::Flat([](const W& w) { return w.first; }),
      {"flag", &W::flag},
      {"real", &W::real},
      {"below", &W::below, {.negative = true}},
      {"null", &W::no_number, "a number, perhaps"},
      {"missing", &W::no_part, Absent()},
      {"parts", &W::parts, {.least_items = 1}},
      {"words", &W::words, {.words = {"a", "b"}, .items = 2}},
      {"counts", &W::counts},
      {"name", [](const W& w) { return w.first.name + "!"; }},
  };
}

const Whole kWhole = {
    .first = {"f", 7}, .no_number = {}, .no_part = {}, .parts = {{"p", 10}}, .counts = {{"x", 3}}};

TEST(Fields, GiveJson) {
  EXPECT_EQ(JsonText(JsonOf(kWhole), -1),
            R"({"name":"f!","bytes":7,"flag":true,"real":0.5,"below":-2,"null":null,)"
            R"("parts":[{"name":"p","bytes":10}],"words":["a","b"],"counts":{"x":3}})");
  Whole whole = kWhole;
  whole.no_part = Part{"q", 1};
  EXPECT_EQ(JsonOf(whole)["missing"]["name"], "q");
  EXPECT_EQ(JsonOf(std::vector<Part>{{"p", 1}})[0]["bytes"], 1);
}

TEST(Fields, GiveASchema) {
  const Json schema = SchemaJson("title", SchemaOf<Whole>());
  const Json& members = schema["properties"];
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(JsonText(schema["required"], -1),
            R"(["name","bytes","flag","real","below","null","parts","words","counts"])");
  EXPECT_EQ(JsonText(members["bytes"], -1), R"({"type":"integer","minimum":0,"x-unit":"bytes"})");
  EXPECT_EQ(JsonText(members["below"], -1), R"({"type":"integer"})");
  EXPECT_EQ(JsonText(members["real"], -1), R"({"type":"number","minimum":0})");
  EXPECT_EQ(
      JsonText(members["null"], -1),
      R"({"anyOf":[{"type":"null"},{"type":"integer","minimum":0}],"description":"a number, perhaps"})");
  EXPECT_EQ(members["missing"]["type"], "object");
  EXPECT_EQ(members["parts"]["minItems"], 1);
  EXPECT_EQ(members["parts"]["items"]["properties"]["name"]["pattern"], "^[a-z]+$");
  EXPECT_EQ(
      JsonText(members["words"], -1),
      R"({"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":2,"maxItems":2})");
  EXPECT_EQ(members["counts"]["additionalProperties"]["type"], "integer");
  // What replaces a member of a part has its place, not its pattern.
  EXPECT_EQ(JsonText(members["name"], -1), R"({"type":"string"})");
}

TEST(Fields, AreListedALineEach) {
  EXPECT_EQ(MemberLines("verb", SchemaOf<Whole>()),
            "verb\tobject\n"
            "verb.name\tstring\n"
            "verb.bytes\tcount bytes\n"
            "verb.flag\tboolean\n"
            "verb.real\tnumber\n"
            "verb.below\tinteger\n"
            "verb.null\tcount or null\ta number, perhaps\n"
            "verb.missing\tobject, perhaps absent\n"
            "verb.missing.name\tstring ^[a-z]+$\tof the file\n"
            "verb.missing.bytes\tcount bytes\n"
            "verb.parts\tarray of 1 or more\n"
            "verb.parts[].name\tstring ^[a-z]+$\tof the file\n"
            "verb.parts[].bytes\tcount bytes\n"
            "verb.words[]\ta|b, array of 2\n"
            "verb.counts{}\tcount\n");
  Schema part = SchemaOf<Part>();
  part.when = "--part";
  EXPECT_EQ(MemberLines("v", OneOf({SchemaOf<std::vector<std::string>>(), part})),
            "v[]\tstring\nv --part\tobject\nv --part.name\tstring ^[a-z]+$\tof the file\n"
            "v --part.bytes\tcount bytes\n");
}

TEST(Fields, GiveCsv) {
  const Schema schema = SchemaOf<Part>();
  EXPECT_EQ(CsvHead(schema), "name,bytes\n");
  EXPECT_EQ(CsvLine(schema, JsonOf(Part{"a,\"b\"\n", 3})), "\"a,\"\"b\"\"\\x0a\",3\n");
  EXPECT_EQ(CsvHead(SchemaOf<Whole>()), "name,bytes,flag,real,below,null\n");
  EXPECT_EQ(CsvLine(SchemaOf<Whole>(), JsonOf(kWhole)), "f!,7,true,0.5,-2,\n");
}

TEST(Fields, GiveColumns) {
  const Schema schema = SchemaOf<Part>();
  TextTable table = TextTableOf(schema);
  AddRow(schema, JsonOf(Part{"p", 10}), table);
  AddRow(schema, JsonOf(Part{"a longer one", 1234567}), table);
  EXPECT_EQ(table.Text({}),
            "name            bytes\np                  10\na longer one  1234567\n");
}

TEST(Fields, OfBytesThatAreNoUtf8AreAscii) {
  EXPECT_EQ(JsonText(JsonOf(Part{"\xff\xc3\xa9", 0}), -1), R"({"name":"\ufffd\u00e9","bytes":0})");
}

}  // namespace
}  // namespace mmadiff
