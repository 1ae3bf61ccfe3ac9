// How a verb registers its flags. Only flags.cc includes CLI11 for this: a source that includes it
// takes three times the time to compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mmadiff {

// A flag or argument of a verb.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  Flag& TypeName(const std::string& name);  // shown in help; COUNT after Count(), N after Range()
  Flag& Required();
  Flag& Expected(int values);
  Flag& Delimiter(
      char delimiter);  // between values in one argument; the next argument is not a value
  Flag& Excludes(const Flag& other);
  Flag& Count();  // accepts the input of ParseCount() in cli.h
  Flag& Positive();
  Flag& Range(int least, int most);
  Flag& OneOf(const std::vector<std::string>& names);
  // `check` returns a complaint, or "". `choices`: all values, if there are few.
  Flag& Check(const std::function<std::string(const std::string&)>& check,
              const std::vector<std::string>& choices = {});

 private:
  CLI::Option* option_;
};

// T: int, int64_t, uint64_t, std::string, a vector of strings, or an optional string or uint64_t.
template <class T>
Flag AddOption(CLI::App& command, const std::string& name, T& value, const std::string& what);
Flag AddFlag(CLI::App& command, const std::string& name, bool& value, const std::string& what);
// A repeatable flag: `each` is called with one value after the other.
Flag AddRepeated(CLI::App& command, const std::string& name,
                 const std::function<void(const std::string&)>& each, const std::string& what);

// The values that an option accepts, for its help.
struct FlagValues {
  std::vector<std::string> choices;  // all values, if there are few
  std::string limits;                // "1 to 1024", "at least 1"
};
FlagValues ValuesOf(const CLI::Option& option);

}  // namespace mmadiff
