#include "fuzz/cli/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fuzz/cli/cli.h"

namespace mmadiff {
namespace {

std::map<const CLI::Option*, FlagValues>& AllValues() {
  static auto& all = *new std::map<const CLI::Option*, FlagValues>;
  return all;
}

// Without a description, which CLI11 would add to the type that help shows.
CLI::Validator CheckedBy(std::function<std::string(std::string&)> check) {
  return CLI::Validator(std::move(check), "");
}

template <class Int>
bool ParseInteger(const std::string& text, Int* value) {
  return CLI::detail::lexical_cast(text, *value);
}

template <class Int>
void CheckInteger(CLI::Option* option) {
  option->check(CheckedBy([](std::string& text) {
    Int value;
    return ParseInteger(text, &value) ? std::string()
           : std::is_unsigned_v<Int>
               ? absl::StrCat("'", text, "' is not a whole number from 0 to 2^64 - 1")
               : absl::StrCat("'", text, "' is not a whole number");
  }));
}

}  // namespace

FlagValues ValuesOf(const CLI::Option& option) {
  const auto values = AllValues().find(&option);
  return values == AllValues().end() ? FlagValues() : values->second;
}

Flag& Flag::TypeName(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Flag& Flag::Required() {
  option_->required();
  return *this;
}

Flag& Flag::Expected(int values) {
  option_->expected(values);
  return *this;
}

Flag& Flag::Delimiter(char delimiter) {
  option_->delimiter(delimiter);
  option_->allow_extra_args(false);
  return *this;
}

Flag& Flag::Excludes(const Flag& other) {
  option_->excludes(other.option_);
  return *this;
}

Flag& Flag::Count() {
  option_->type_name("COUNT")->transform(CheckedBy([](std::string& text) {
    const absl::StatusOr<uint64_t> count = ParseCount(text);
    if (!count.ok()) return std::string(count.status().message());
    text = std::to_string(*count);
    return std::string();
  }));
  return *this;
}

Flag& Flag::Positive() {
  option_->check(CheckedBy([](std::string& text) {
    int64_t value;
    return ParseInteger(text, &value) && value > 0 ? ""
                                                   : absl::StrCat("must be at least 1, not ", text);
  }));
  AllValues()[option_].limits = "at least 1";
  return *this;
}

Flag& Flag::Range(int least, int most) {
  option_->type_name("N")->check(CheckedBy([least, most](std::string& text) {
    int64_t value;
    const bool in_range = ParseInteger(text, &value) && value >= least && value <= most;
    return in_range ? "" : absl::StrCat("must be ", least, " to ", most, ", not ", text);
  }));
  AllValues()[option_].limits = std::to_string(least) + " to " + std::to_string(most);
  return *this;
}

Flag& Flag::OneOf(const std::vector<std::string>& names) {
  option_->check(CheckedBy([names](std::string& text) {
    return std::ranges::count(names, text) > 0
               ? ""
               : absl::StrCat("no value '", text, "'; choose from: ", absl::StrJoin(names, ", "));
  }));
  AllValues()[option_].choices = names;
  return *this;
}

Flag& Flag::Check(const std::function<std::string(const std::string&)>& check,
                  const std::vector<std::string>& choices) {
  option_->check(CheckedBy(check));
  AllValues()[option_].choices = choices;
  return *this;
}

template <class T>
Flag AddOption(CLI::App& command, const std::string& name, T& value, const std::string& what) {
  CLI::Option* option = command.add_option(name, value, what);
  if constexpr (std::is_integral_v<T>) CheckInteger<T>(option);
  if constexpr (std::is_same_v<T, std::optional<uint64_t>>) CheckInteger<uint64_t>(option);
  return Flag(option);
}
template Flag AddOption(CLI::App&, const std::string&, std::string&, const std::string&);
template Flag AddOption(CLI::App&, const std::string&, std::vector<std::string>&,
                        const std::string&);
template Flag AddOption(CLI::App&, const std::string&, int&, const std::string&);
template Flag AddOption(CLI::App&, const std::string&, int64_t&, const std::string&);
template Flag AddOption(CLI::App&, const std::string&, uint64_t&, const std::string&);
template Flag AddOption(CLI::App&, const std::string&, std::optional<std::string>&,
                        const std::string&);
template Flag AddOption(CLI::App&, const std::string&, std::optional<uint64_t>&,
                        const std::string&);

Flag AddFlag(CLI::App& command, const std::string& name, bool& value, const std::string& what) {
  return Flag(command.add_flag(name, value, what));
}

Flag AddRepeated(CLI::App& command, const std::string& name,
                 const std::function<void(const std::string&)>& each, const std::string& what) {
  return Flag(
      command.add_option_function<std::string>(name, each, what)->take_all()->trigger_on_parse());
}

}  // namespace mmadiff
