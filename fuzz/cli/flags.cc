#include "fuzz/cli/flags.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>

#include "fuzz/cli/cli.h"

namespace mmadiff {
namespace {

std::map<const CLI::Option*, FlagValues>& AllValues() {
  static auto& all = *new std::map<const CLI::Option*, FlagValues>;
  return all;
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
  option_->type_name("COUNT")->transform(CLI::Validator(
      [](std::string& text) {
        const absl::StatusOr<uint64_t> count = ParseCount(text);
        if (!count.ok()) return std::string(count.status().message());
        text = std::to_string(*count);
        return std::string();
      },
      "COUNT", "count"));
  return *this;
}

Flag& Flag::Positive() {
  option_->check(CLI::PositiveNumber);
  AllValues()[option_].limits = "at least 1";
  return *this;
}

Flag& Flag::Range(int least, int most) {
  option_->type_name("N")->check(CLI::Range(least, most));
  AllValues()[option_].limits = std::to_string(least) + " to " + std::to_string(most);
  return *this;
}

Flag& Flag::OneOf(const std::vector<std::string>& names) {
  option_->check(CLI::IsMember(names));
  AllValues()[option_].choices = names;
  return *this;
}

Flag& Flag::Check(const std::function<std::string(const std::string&)>& check,
                  const std::vector<std::string>& choices) {
  option_->check(CLI::Validator([check](const std::string& text) { return check(text); }, ""));
  AllValues()[option_].choices = choices;
  return *this;
}

template <class T>
Flag AddOption(CLI::App& command, const std::string& name, T& value, const std::string& what) {
  return Flag(command.add_option(name, value, what));
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
