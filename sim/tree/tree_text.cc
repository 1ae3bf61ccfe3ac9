#include "sim/tree/tree_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/operation.h"

namespace mmadiff {
namespace {

constexpr int kMaxTerms = 1024;  // of one list

struct Token {
  std::string_view text;
  int column = 1;
};

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words of letters, digits and '_', "..", single other characters, and an empty token at the end.
std::vector<Token> Tokens(std::string_view text) {
  std::vector<Token> tokens;
  size_t i = 0;
  while (i < text.size()) {
    const size_t start = i;
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    if (text.substr(i).starts_with("..")) {
      i += 2;
    } else if (IsNameCharacter(text[i])) {
      while (i < text.size() && IsNameCharacter(text[i])) ++i;
    } else {
      ++i;
    }
    tokens.push_back({text.substr(start, i - start), static_cast<int>(start) + 1});
  }
  tokens.push_back({"", static_cast<int>(text.size()) + 1});
  return tokens;
}

bool ParseInt(std::string_view text, int* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string Quoted(std::string_view text) {
  return text.empty() ? "the end" : "'" + std::string(text.substr(0, 40)) + "'";
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& names) {
  return NearestText("; similar: ", name, names, 3);
}

size_t SizeOf(const Branch& branch) {
  size_t size = 1;
  for (const Branch& term : branch.terms) size += SizeOf(term);
  return size;
}

// A node for every `count` terms; alone, the last is left as it is if `keeps`.
std::vector<Branch> Joined(int node, std::vector<Branch> terms, int count, bool keeps) {
  std::vector<Branch> joined;
  for (size_t i = 0; i < terms.size(); i += count) {
    const auto first = terms.begin() + i;
    const auto last = terms.begin() + std::min(terms.size(), i + count);
    if (keeps && last - first == 1) {
      joined.push_back(std::move(*first));
      continue;
    }
    Branch branch = {Push::kJoin, node};
    branch.terms.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    joined.push_back(std::move(branch));
  }
  return joined;
}

// Joined again and again until one is left.
Branch Reduced(int node, std::vector<Branch> terms, int count) {
  while (terms.size() > 1) terms = Joined(node, std::move(terms), count, true);
  return std::move(terms[0]);
}

class ShapeParser {
 public:
  ShapeParser(std::string_view text, int line, int k, const std::vector<std::string>& names,
              TextError& error)
      : tokens_(Tokens(text)), line_(line), k_(k), names_(names), error_(error) {}

  bool Parse(Branch& root) {
    List all;
    if (!ReadList(all) || (!Peek().empty() && !Fail(Quoted(Peek()) + " has no meaning here"))) {
      return false;
    }
    if (all.terms.size() != 1 || all.group > 0) {
      return Fail("a tree has one result, not " + std::to_string(all.terms.size()), 0);
    }
    root = std::move(all.terms[0]);
    return true;
  }

 private:
  struct List {
    std::vector<Branch> terms;
    int group = 0;  // n of "/n"; 0: none
  };

  std::string_view Peek() const { return tokens_[at_].text; }
  std::string_view Take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_].text; }

  bool Fail(const std::string& what) { return Fail(what, at_); }
  bool Fail(const std::string& what, size_t token) {
    error_ = {what, line_, tokens_[token].column};
    return false;
  }
  bool Want(std::string_view token) {
    if (Peek() != token) {
      return Fail("'" + std::string(token) + "' is missing before " + Quoted(Peek()));
    }
    Take();
    return true;
  }

  bool AtEnd() const {
    const std::string_view x = Peek();
    return x.empty() || x == ")" || x == "over" || x == "from";
  }

  bool ReadList(List& list) {
    while (!AtEnd()) {
      if (Peek() == "/") {
        Take();
        if (!ParseInt(Peek(), &list.group) || list.group < 1 || list.group > kMaxTerms) {
          return Fail("after '/' comes a number of terms, not " + Quoted(Peek()));
        }
        if (!dry_ && list.terms.size() % list.group != 0) {
          return Fail(std::to_string(list.terms.size()) +
                      " terms cannot be divided into groups of " + std::to_string(list.group));
        }
        Take();
        return AtEnd() || Fail("nothing can follow '/" + std::to_string(list.group) + "'");
      }
      if (!ReadItem(list.terms)) return false;
      if (list.terms.size() > kMaxTerms) return Fail("a list has at most 1024 terms");
    }
    return true;
  }

  bool ReadItem(std::vector<Branch>& terms) {
    if (++nesting_ > 200) return Fail("the nodes are nested too deeply");
    const bool ok = ReadOne(terms);
    --nesting_;
    return ok;
  }

  bool ReadOne(std::vector<Branch>& terms) {
    const size_t start = at_;
    const std::string_view token = Peek();
    if (token == "0" || token == "c") {
      Take();
      terms.push_back({token == "0" ? Push::kZero : Push::kAddend});
      return true;
    }
    if (token == "_" || token == "@") {
      if (folds_.empty()) return Fail("'" + std::string(token) + "' has a meaning only in 'fold'");
      Take();
      const Fold& fold = folds_.back();
      size_ += token == "_" ? SizeOf(fold.sum) : fold.group.size();
      if (size_ > 1 << 20) return Fail("the tree is too large");
      if (token == "_") {
        terms.push_back(fold.sum);
      } else {
        terms.insert(terms.end(), fold.group.begin(), fold.group.end());
      }
      return true;
    }
    if (token == "fold") return ReadFold(terms);
    int k = 0;
    if (token.size() > 1 && token[0] == 'k' && ParseInt(token.substr(1), &k)) {
      return ReadProducts(k, terms);
    }
    const bool reduce = token == "reduce";
    if (reduce) Take();
    const auto at = std::ranges::find(names_, Peek());
    if (at == names_.end()) {
      if (Peek().empty() || !IsNameCharacter(Peek()[0])) {
        return Fail(Quoted(Peek()) + " is not a term");
      }
      return Fail("there is no node " + Quoted(Peek()) + DidYouMean(Peek(), names_));
    }
    Take();
    List list;
    if (!Want("(") || !ReadList(list) || !Want(")")) return false;
    if (list.terms.empty()) return Fail("a node needs terms", start);
    const int node = static_cast<int>(at - names_.begin());
    if (reduce) {
      if (list.group < 2) return Fail("'reduce' needs /n with n of at least 2", start);
      terms.push_back(Reduced(node, std::move(list.terms), list.group));
      return true;
    }
    const size_t count = list.terms.size();
    std::vector<Branch> joined = Joined(
        node, std::move(list.terms), list.group == 0 ? static_cast<int>(count) : list.group, false);
    std::ranges::move(joined, std::back_inserter(terms));
    return true;
  }

  bool ReadProducts(int first, std::vector<Branch>& terms) {
    const size_t start = at_;
    int last = first, stride = 1;
    Take();
    if (Peek() == "..") {
      Take();
      last = k_ - 1;
      if (!Peek().empty() && Peek()[0] >= '0' && Peek()[0] <= '9') {
        if (!ParseInt(Peek(), &last)) last = k_;  // too large
        Take();
      }
    }
    if (Peek() == ":") {
      Take();
      if (!ParseInt(Peek(), &stride) || stride < 1) {
        return Fail("after ':' comes a step of at least 1, not " + Quoted(Peek()));
      }
      Take();
    }
    if (first < 0 || last < 0 || first >= k_ || last >= k_) {
      return Fail("there are " + std::to_string(k_) + " products, k0 to k" + std::to_string(k_ - 1),
                  start);
    }
    const int sign = first <= last ? 1 : -1;
    for (int k = first; sign * k <= sign * last; k += sign * stride) {
      terms.push_back({Push::kProduct, k});
    }
    return true;
  }

  bool ReadFold(std::vector<Branch>& terms) {
    Take();
    const size_t body = at_;
    std::vector<Branch> none;
    folds_.push_back({{Push::kZero}, {{Push::kZero}}});  // without meaning, to find its end
    ++dry_;
    bool ok = ReadItem(none);
    --dry_;
    folds_.pop_back();
    List over;
    std::vector<Branch> from;
    if (!ok || !Want("over") || !ReadList(over) || !Want("from") || !ReadItem(from)) return false;
    if (from.size() != 1) return Fail("a chain starts from one term");
    const size_t end = at_;
    Fold fold = {std::move(from[0])};
    const size_t count = over.group == 0 ? 1 : over.group;
    for (size_t i = 0; i < over.terms.size(); i += count) {
      const size_t last = std::min(over.terms.size(), i + count);
      fold.group.assign(over.terms.begin() + i, over.terms.begin() + last);
      folds_.push_back(std::move(fold));
      at_ = body;
      std::vector<Branch> sum;
      ok = ReadItem(sum);
      fold = std::move(folds_.back());
      folds_.pop_back();
      if (!ok) return false;
      if (sum.size() != 1) return Fail("a step of 'fold' has one result", body);
      fold.sum = std::move(sum[0]);
    }
    at_ = end;
    terms.push_back(std::move(fold.sum));
    return true;
  }

  struct Fold {
    Branch sum;
    std::vector<Branch> group = {};
  };

  const std::vector<Token> tokens_;
  size_t at_ = 0;
  const int line_, k_;
  const std::vector<std::string>& names_;
  std::vector<Fold> folds_;
  int dry_ = 0, nesting_ = 0;
  size_t size_ = 0;  // copied by folds
  TextError& error_;
};

std::string HexText(uint64_t word) {
  char text[17];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(word));
  return text;
}

bool ParseHex(std::string_view text, uint64_t* word) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *word, 16);
  return error == std::errc() && end == text.data() + text.size();
}

bool SetField(Node& n, std::string_view name, std::string_view value, std::string* why) {
  if (name == "to") {
    n.to = NodeFormat(value);
    if (n.to == nullptr) *why = "there is no format " + Quoted(value);
    return n.to != nullptr;
  }
  if (const size_t comma = value.find(','); name == "nan_rule" && comma != value.npos) {
    n.nan_rule = NodeNan::kConstants;
    if (ParseHex(value.substr(0, comma), &n.factor_nan) &&
        ParseHex(value.substr(comma + 1), &n.invalid_nan)) {
      return true;
    }
    *why = "nan_rule: two NaNs in hex, FACTOR,INVALID";
    return false;
  }
  const NodeField* const field = FindNodeField(name);
  if (field == nullptr) {
    std::vector<std::string> names = {"to"};
    for (const NodeField& f : NodeFields()) names.push_back(f.name);
    *why = "a node has no field " + Quoted(name) + DidYouMean(name, names);
    return false;
  }
  int number = 0;
  if (ParseField(*field, value, &number)) {
    field->set(n, number);
    if (name != std::string_view("nan_rule") || n.nan_rule != NodeNan::kConstants) return true;
  }
  *why = std::string(name) + ": ";
  if (field->values.empty()) {
    *why += std::to_string(field->min) + " to " + std::to_string(field->max);
    if (*field->absent != '\0') *why += std::string(" or ") + field->absent;
  } else {
    for (const char* v : field->values) {
      const bool constants = v == std::string_view("constants");
      *why += std::string(v == field->values[0] ? "" : ", ") + (constants ? "FACTOR,INVALID" : v);
    }
  }
  *why += "; not " + Quoted(value);
  return false;
}

// ---- printing

std::string ProductsText(std::span<const Branch> terms) {
  std::string text;
  for (size_t i = 0; i < terms.size();) {
    const int first = terms[i].index;
    const int step = i + 1 < terms.size() ? terms[i + 1].index - first : 0;
    size_t end = i + 1;
    while (end < terms.size() && step != 0 && terms[end].index - terms[end - 1].index == step)
      ++end;
    if (end - i < 3) end = i + 1;
    text += (text.empty() ? "k" : " k") + std::to_string(first);
    if (end - i >= 3) {
      text += ".." + std::to_string(terms[end - 1].index);
      if (std::abs(step) != 1) text += ":" + std::to_string(std::abs(step));
      if (step == 0) std::abort();
    }
    i = end;
  }
  return text;
}

bool AllProducts(std::span<const Branch> terms) {
  return std::ranges::all_of(terms, [](const Branch& b) { return b.push == Push::kProduct; });
}

class ShapePrinter {
 public:
  explicit ShapePrinter(const Tree& tree) : tree_(tree) {}

  std::string Text(const Branch& b) const {
    switch (b.push) {
      case Push::kProduct:
        return "k" + std::to_string(b.index);
      case Push::kAddend:
        return "c";
      case Push::kZero:
        return "0";
      case Push::kJoin:
        break;
    }
    if (std::string reduce = ReduceText(b); !reduce.empty()) return reduce;
    if (std::string fold = FoldText(b); !fold.empty()) return fold;
    return tree_.names[b.index] + "(" + ListText(b.terms) + ")";
  }

 private:
  // Terms one after the other; runs of products and of equal nodes over products are short.
  std::string ListText(std::span<const Branch> terms) const {
    std::string text;
    for (size_t i = 0; i < terms.size();) {
      size_t end = i + 1;
      std::string part;
      if (terms[i].push == Push::kProduct) {
        while (end < terms.size() && terms[end].push == Push::kProduct) ++end;
        part = ProductsText(terms.subspan(i, end - i));
      } else if (terms[i].push == Push::kJoin && AllProducts(terms[i].terms)) {
        std::vector<Branch> products = terms[i].terms;
        while (end < terms.size() && terms[end].push == Push::kJoin &&
               terms[end].index == terms[i].index && AllProducts(terms[end].terms) &&
               terms[end].terms.size() == terms[i].terms.size()) {
          const std::vector<Branch>& more = terms[end++].terms;
          products.insert(products.end(), more.begin(), more.end());
        }
        part = tree_.names[terms[i].index] + "(" + ProductsText(products) +
               (end - i > 1 ? " /" + std::to_string(terms[i].terms.size()) : "") + ")";
      } else {
        part = Text(terms[i]);
      }
      text += (text.empty() ? "" : " ") + part;
      i = end;
    }
    return text;
  }

  // A step of a chain: `node` over `rest` and, at `position`, `inner` through one-term nodes.
  struct Step {
    int node = 0, position = 0;
    std::vector<int> through = {};
    std::vector<Branch> rest = {};
    const Branch* inner = nullptr;
  };

  // The node of a step, under its one-term nodes; nullptr if it is a leaf.
  static const Branch* Through(const Branch* b, std::vector<int>& through) {
    while (b->push == Push::kJoin && b->terms.size() == 1) {
      through.push_back(b->index);
      b = &b->terms[0];
    }
    return b;
  }

  static bool AsStep(const Branch& b, int node, int position, Step& step) {
    if (b.push != Push::kJoin || b.index != node || b.terms.size() < 2) return false;
    if (position >= static_cast<int>(b.terms.size())) return false;
    step = {node, position};
    step.inner = Through(&b.terms[position], step.through);
    for (int i = 0; i < static_cast<int>(b.terms.size()); ++i) {
      if (i != position) step.rest.push_back(b.terms[i]);
    }
    return true;
  }

  // Terms of the sums of one node below others of that node, and the most that one of these sums has.
  static void AddReduced(const Branch& b, int node, std::vector<Branch>& terms, size_t& most) {
    if (b.push != Push::kJoin || b.index != node || b.terms.size() < 2) {
      terms.push_back(b);
      return;
    }
    most = std::max(most, b.terms.size());
    for (const Branch& term : b.terms) AddReduced(term, node, terms, most);
  }

  std::string ReduceText(const Branch& b) const {
    std::vector<Branch> terms;
    size_t most = 0;
    AddReduced(b, b.index, terms, most);
    if (terms.size() < 4 || terms.size() <= most || terms.size() % most != 0) return "";
    const int count = static_cast<int>(most);
    if (CodeOf(Reduced(b.index, terms, count)) != CodeOf(b)) return "";
    return "reduce " + tree_.names[b.index] + "(" + ListText(terms) + " /" + std::to_string(count) +
           ")";
  }

  std::string FoldText(const Branch& b) const {
    if (b.terms.size() < 2) return "";
    for (const int position : {0, static_cast<int>(b.terms.size()) - 1}) {
      Step first;
      if (!AsStep(b, b.index, position, first)) continue;
      std::vector<Step> steps = {first};
      Step next;
      while (ReduceText(*steps.back().inner).empty() &&
             AsStep(*steps.back().inner, b.index, position, next) &&
             next.rest.size() == first.rest.size() && next.through == first.through) {
        steps.push_back(next);
      }
      if (steps.size() < 3) continue;
      std::ranges::reverse(steps);
      std::vector<Branch> list;
      for (Step& s : steps) std::ranges::move(s.rest, std::back_inserter(list));
      std::string sum = "_";
      for (auto at = first.through.rbegin(); at != first.through.rend(); ++at) {
        sum = tree_.names[*at] + "(" + sum + ")";
      }
      const std::string group =
          first.rest.size() == 1 ? "" : " /" + std::to_string(first.rest.size());
      return "fold " + tree_.names[b.index] + "(" + (position == 0 ? sum + " @" : "@ " + sum) +
             ") over " + ListText(list) + group + " from " + Text(*steps.front().inner);
    }
    return "";
  }

  const Tree& tree_;
};

}  // namespace

const NodeField* FindNodeField(std::string_view name) {
  const std::vector<NodeField>& all = NodeFields();
  const auto at =
      std::ranges::find(all, name, [](const NodeField& f) { return std::string_view(f.name); });
  return at == all.end() ? nullptr : &*at;
}

std::string ValueText(const NodeField& f, int value) {
  if (!f.values.empty()) return f.values[value];
  const int absent = f.get(Node());
  return value == absent && *f.absent != '\0' ? f.absent : std::to_string(value);
}

bool ParseField(const NodeField& f, std::string_view text, int* value) {
  for (size_t i = 0; i < f.values.size(); ++i) {
    if (text != f.values[i]) continue;
    *value = static_cast<int>(i);
    return true;
  }
  if (!f.values.empty()) return false;
  if (*f.absent != '\0' && text == f.absent) {
    *value = f.get(Node());
    return true;
  }
  return ParseInt(text, value) && *value >= f.min && *value <= f.max;
}

bool TreeReader::ReadNode(std::string_view text, int line, TextError& error) {
  const auto fail = [&](const std::string& what, size_t at) {
    error = {what, line, static_cast<int>(at) + 1};
    return false;
  };
  Node node;
  std::string name;
  std::set<std::string_view> fields;
  for (size_t at = text.find_first_not_of(" \t", 4); at < text.size();
       at = text.find_first_not_of(" \t", at)) {
    const size_t end = std::min(text.size(), text.find_first_of(" \t", at));
    const std::string_view word = text.substr(at, end - at);
    if (name.empty()) {
      name = word;
      const bool plain = std::ranges::all_of(name, IsNameCharacter) && !std::isdigit(name[0]);
      int k = 0;
      const bool taken = name == "c" || name == "fold" || name == "reduce" || name == "over" ||
                         name == "from" || name == "_" ||
                         (name[0] == 'k' && ParseInt(std::string_view(name).substr(1), &k));
      if (!plain || taken) return fail(Quoted(word) + " cannot be the name of a node", at);
      if (std::ranges::count(tree_.names, name) > 0) {
        return fail("there is a node " + Quoted(word) + " already", at);
      }
    } else {
      const size_t equals = word.find('=');
      if (equals == word.npos) return fail(Quoted(word) + " is not FIELD=VALUE", at);
      if (equals + 1 == word.size()) return fail(Quoted(word) + " has no value", at);
      if (!fields.insert(word.substr(0, equals)).second) {
        return fail(Quoted(word.substr(0, equals)) + " is there already", at);
      }
      std::string why;
      if (!SetField(node, word.substr(0, equals), word.substr(equals + 1), &why)) {
        return fail(why, at);
      }
    }
    at = end;
  }
  if (name.empty()) return fail("the node has no name", text.size());
  for (const char* field :
       {"output_fraction_bits", "output_rounding", "output_subnormals", "overflow", "tininess"}) {
    if (node.to == nullptr && fields.contains(field)) {
      return fail(Quoted(field) + " needs to=FORMAT: without it, nothing is rounded", 0);
    }
  }
  if (tree_.nodes.size() == kMaxTreeNodes) {
    return fail("a tree has at most " + std::to_string(kMaxTreeNodes) + " nodes", 0);
  }
  tree_.nodes.push_back(node);
  tree_.names.push_back(std::move(name));
  return true;
}

bool TreeReader::ReadTree(std::string_view text, int line, int k, TextError& error) {
  if (complete()) {
    error = {"there is a tree already", line, 1};
    return false;
  }
  // Columns count from the start of the line.
  std::string shape(text);
  shape.replace(0, 4, "    ");
  Branch root;
  if (!ShapeParser(shape, line, k, tree_.names, error).Parse(root)) return false;
  tree_.code = CodeOf(root);
  if (tree_.code.size() <= kMaxTreeCode) return true;
  tree_.code.clear();
  error = {"the tree is too large", line, 1};
  return false;
}

namespace {

// Whether all lines could be read; `number` becomes that of the last one.
bool ReadLines(std::string_view text, int k, TreeReader& reader, TextError& error, int& number) {
  bool ok = true;
  while (ok && !text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    ok = line.starts_with("node") ? reader.ReadNode(line, number, error)
                                  : reader.ReadTree(line, number, k, error);
  }
  return ok && reader.complete();
}

}  // namespace

bool IsTreeOf(std::string_view text, int k) {
  TreeReader reader;
  TextError error;
  int number = 0;
  return ReadLines(text, k, reader, error, number);
}

Tree TreeFromText(std::string_view text, int k) {
  TreeReader reader;
  TextError error;
  int number = 0;
  if (!ReadLines(text, k, reader, error, number)) {
    std::fprintf(stderr, "a tree of the tables, line %d: %s\n", number, error.what.c_str());
    std::abort();  // programmer error
  }
  return reader.tree();
}

std::string NodeText(const Tree& tree, int index) {
  const Node& n = tree.nodes[index];
  const Node plain;
  std::string text = "node " + tree.names[index];
  if (n.to != nullptr) text += std::string(" to=") + n.to->name;
  for (const NodeField& f : NodeFields()) {
    if (f.get(n) == f.get(plain)) continue;
    const bool constants =
        f.name == std::string_view("nan_rule") && n.nan_rule == NodeNan::kConstants;
    text +=
        std::string(" ") + f.name + "=" +
        (constants ? HexText(n.factor_nan) + "," + HexText(n.invalid_nan) : ValueText(f, f.get(n)));
  }
  return text;
}

std::string ShapeText(const Tree& tree) { return "tree " + ShapePrinter(tree).Text(RootOf(tree)); }

std::vector<std::string> TreeLines(const Tree& tree) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    lines.push_back(NodeText(tree, static_cast<int>(i)));
  }
  lines.push_back(ShapeText(tree));
  return lines;
}

}  // namespace mmadiff
