#include "sim/tree/model_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "sim/absent_addend.h"
#include "sim/change_text.h"
#include "sim/described_format.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/quoted_name.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

constexpr std::string_view kFirstLine = "mmadiff model 1";
constexpr std::string_view kSpaces = " \t\r";

struct Word {
  std::string_view text;
  int column = 1;
};

std::vector<Word> WordsOf(std::string_view line) {
  std::vector<Word> words;
  for (size_t at = line.find_first_not_of(kSpaces); at < line.size();
       at = line.find_first_not_of(kSpaces, at)) {
    const size_t end = std::min(line.size(), line.find_first_of(kSpaces, at));
    words.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = end;
  }
  return words;
}

std::string Quoted(std::string_view text) { return "'" + std::string(text.substr(0, 40)) + "'"; }

// Parameters of trees that are not of a node.
bool IsOfOperands(const Parameter& p) { return p.field == nullptr; }

class Reader {
 public:
  explicit Reader(TextError& error) : error_(error) {}

  bool Read(std::string_view text) {
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      ++line_;
      line = line.substr(0, line.find('#'));
      line = line.substr(0, line.find_last_not_of(kSpaces) + 1);
      const std::vector<Word> words = WordsOf(line);
      if (!words.empty() && !ReadLine(line, words)) return false;
    }
    ++line_;
    return began_ ? Finish() : Fail("the first line is not '" + std::string(kFirstLine) + "'");
  }

  const Model& model() const { return model_; }

 private:
  bool Fail(const std::string& what, int column = 1) {
    error_ = {what, line_, column};
    return false;
  }

  bool ReadLine(std::string_view line, const std::vector<Word>& words) {
    const std::string_view key = words[0].text;
    if (!began_) {
      began_ = line == kFirstLine;
      if (began_) return true;
      if (line.starts_with("\xef\xbb\xbf")) {
        return Fail("the file begins with a byte order mark; save it as UTF-8 without one");
      }
      const bool other = words.size() == 3 && key == "mmadiff" && words[1].text == "model";
      return Fail("the first line is not '" + std::string(kFirstLine) + "'" +
                  (other ? ": this program does not read version " + Quoted(words[2].text) : ""));
    }
    if (key == "node") {
      return line.starts_with("node") ? tree_.ReadNode(line, line_, error_)
                                      : Fail("a line begins without spaces");
    }
    if (!seen_.try_emplace(std::string(key), line_).second) {
      return Fail("there is a line " + Quoted(key) + " already");
    }
    if (key == "tree") {
      if (model_.k == 0) return Fail("the line 'k' must come before the tree");
      const int products = model_.sparse_group > 0 ? model_.k / 2 : model_.k;
      return line.starts_with("tree") ? tree_.ReadTree(line, line_, products, error_)
                                      : Fail("a line begins without spaces");
    }
    if (key == "family") return ReadFamily(words);
    if (key == "operands") return ReadParameters(words, 1, operands_);
    if (key == "k") return Count(words, 2) && Number(words[1], kMaxK, model_.k);
    if (key == "scale") {
      return Count(words, 3) && ReadFormat(words[1], model_.scale) &&
             Number(words[2], kMaxK, model_.scale_block);
    }
    if (key == "sparse") {
      if (seen_.contains("tree")) return Fail("the line 'sparse' must come before the tree");
      return Count(words, 2) && Number(words[1], kMaxGroup, model_.sparse_group);
    }
    Format* const formats[] = {&model_.a, &model_.b, &model_.c, &model_.d};
    const size_t operand = key.size() == 1 ? std::string_view("abcd").find(key) : key.npos;
    if (operand == key.npos) {
      const std::vector<std::string> keys = {"k",    "scale", "sparse", "operands",
                                             "node", "tree",  "family"};
      return Fail("no line begins with " + Quoted(key) + NearestText("; similar: ", key, keys, 2),
                  words[0].column);
    }
    return Count(words, 2) && ReadFormat(words[1], *formats[operand]);
  }

  bool Count(const std::vector<Word>& words, size_t count) {
    if (words.size() == count) return true;
    return words.size() < count
               ? Fail("a value is missing after " + Quoted(words.back().text),
                      words.back().column + static_cast<int>(words.back().text.size()))
               : Fail(Quoted(words[count].text) + " is one value too many", words[count].column);
  }

  bool Number(const Word& word, int most, int& number) {
    const char* const end = word.text.data() + word.text.size();
    const auto [at, error] = std::from_chars(word.text.data(), end, number);
    if (error == std::errc() && at == end && number >= 1 && number <= most) return true;
    return Fail("a number from 1 to " + std::to_string(most) + ", not " + Quoted(word.text),
                word.column);
  }

  bool ReadFormat(const Word& word, Format& format) {
    const Format* found = FindFormat(word.text);
    const std::vector<std::string> meant = QuotedFormats(word.text);
    if (found == nullptr && meant.size() == 1) found = FindFormat(meant[0]);
    if (found == nullptr && meant.empty()) found = DescribedFormat(word.text);
    if (found == nullptr && meant.size() > 1) {
      std::string all;
      for (const std::string& name : meant) all += (all.empty() ? "" : ", ") + name;
      return Fail(Quoted(word.text) + " may mean " + all, word.column);
    }
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const Format* f : kFormats) names.push_back(f->name);
      return Fail("there is no format " + Quoted(word.text) +
                      NearestText("; similar: ", word.text, names, 3),
                  word.column);
    }
    format = *found;
    return true;
  }

  bool ReadFamily(const std::vector<Word>& words) {
    if (words.size() < 2) return Count(words, 2);
    const std::optional<Family> family = FindFamily(words[1].text);
    if (!family) {
      std::vector<std::string> names;
      for (int f = 0; f < kFamilyCount; ++f) names.push_back(Name(static_cast<Family>(f)));
      return Fail("there is no family " + Quoted(words[1].text) +
                      NearestText("; similar: ", words[1].text, names, 3),
                  words[1].column);
    }
    family_ = {.family = *family};
    return ReadParameters(words, 2, family_);
  }

  bool ReadParameters(const std::vector<Word>& words, size_t first, Algorithm& algorithm) {
    for (size_t i = first; i < words.size(); ++i) {
      const auto& [text, column] = words[i];
      const size_t equals = std::min(text.find('='), text.size());
      const Parameter* const p = FindParameter(algorithm.family, text.substr(0, equals));
      if (p == nullptr || (algorithm.family == Family::kTree && !IsOfOperands(*p))) {
        std::vector<std::string> names;
        for (const Parameter& own : Parameters()) {
          const bool has = FindParameter(algorithm.family, own.name) == &own;
          if (has && (algorithm.family != Family::kTree || IsOfOperands(own))) {
            names.push_back(own.name);
          }
        }
        return Fail("there is no parameter " + Quoted(text.substr(0, equals)) +
                        NearestText("; similar: ", text.substr(0, equals), names, 3),
                    column);
      }
      int value = 0;
      if (equals == text.size() || !ParseValue(*p, text.substr(equals + 1), &value)) {
        return Fail(Quoted(text) + ": write " + p->name + "=VALUE; allowed: " + AllowedValues(*p),
                    column);
      }
      p->set(algorithm, value);
    }
    return true;
  }

  bool Finish() {
    for (const char* key : {"k", "a", "b", "c", "d"}) {
      if (!seen_.contains(key)) return Fail("there is no line '" + std::string(key) + "'");
    }
    const bool family = family_.family != Family::kNone;
    if (family == tree_.complete()) {
      return Fail(family ? "a model has a tree or a family, not both"
                         : "there is neither a line 'tree' nor a line 'family'");
    }
    if (family) {
      if (!tree_.tree().nodes.empty()) return Fail("nodes belong to a tree, not to a family");
      if (seen_.contains("operands")) {
        line_ = seen_["operands"];
        return Fail("with a family these parameters belong to the line 'family'");
      }
      model_.algorithm = family_;
      if (family_.output_fraction_bits == 0) {
        model_.algorithm.output_fraction_bits = model_.d.fraction_bits;
      }
    } else {
      for (size_t i = 0; i < tree_.tree().nodes.size(); ++i) {
        const bool used = std::ranges::any_of(tree_.tree().code, [&](const TreeCode& c) {
          return c.push == Push::kJoin && c.node == i;
        });
        line_ = seen_["tree"];
        if (!used) return Fail("the tree has no node " + Quoted(tree_.tree().names[i]));
      }
      const bool adds_c = std::ranges::any_of(
          tree_.tree().code, [](const TreeCode& c) { return c.push == Push::kAddend; });
      line_ = seen_["tree"];
      if (IsAbsent(model_.c) && adds_c) return Fail("there is no addend c");
      model_.algorithm = operands_;
      model_.algorithm.tree = &tree_.tree();
    }
    const std::string why = WhyInvalid(model_);
    if (why.empty()) {
      if (!family) model_.algorithm.tree = InternTree(tree_.tree());
      return true;
    }
    line_ = seen_[family ? "family" : "tree"];
    return Fail(why);
  }

  TextError& error_;
  int line_ = 0;
  bool began_ = false;
  std::map<std::string, int> seen_;  // lines by their first word
  Model model_ = {.a = {}, .b = {}, .c = {}, .d = {}, .k = 0, .algorithm = {Family::kNone}};
  Algorithm family_ = {.family = Family::kNone}, operands_ = {.family = Family::kTree};
  TreeReader tree_;
};

std::string ParametersText(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& c : changes) text += " " + Name(c);
  return text;
}

}  // namespace

std::optional<Model> ParseModel(std::string_view text, TextError* error) {
  if (text.size() > kMaxModelText) {
    *error = {"the file is larger than " + std::to_string(kMaxModelText) + " bytes"};
    return std::nullopt;
  }
  Reader reader(*error);
  if (!reader.Read(text)) return std::nullopt;
  return reader.model();
}

std::string ModelFileText(const Model& m) {
  std::string text = std::string(kFirstLine) + "\nk " + std::to_string(m.k) + "\na " + m.a.name +
                     "\nb " + m.b.name + "\nc " + m.c.name + "\nd " + m.d.name + "\n";
  if (m.scale_block > 0) {
    text += "scale " + std::string(m.scale.name) + " " + std::to_string(m.scale_block) + "\n";
  }
  if (m.sparse_group > 0) text += "sparse " + std::to_string(m.sparse_group) + "\n";
  const Algorithm& a = m.algorithm;
  std::vector<Change> fields = AlgorithmFields(a);
  if (a.family != Family::kTree) {
    return text + "family " + Name(a.family) + ParametersText(fields) + "\n";
  }
  std::erase_if(fields,
                [](const Change& c) { return !IsOfOperands(*c.parameter) || c.value == 0; });
  if (!fields.empty()) text += "operands" + ParametersText(fields) + "\n";
  for (const std::string& line : TreeLines(*a.tree)) text += line + "\n";
  return text;
}

std::string ModelKey(const Model& m) {
  std::string text = ModelFileText(m);
  if (m.algorithm.family != Family::kTree) return text;
  text.resize(text.rfind("\ntree "));
  for (const TreeCode& c : m.algorithm.tree->code) {
    text += " " + std::to_string(static_cast<int>(c.push)) + "," + std::to_string(c.node) + "," +
            std::to_string(c.index);
  }
  return text;
}

}  // namespace mmadiff
