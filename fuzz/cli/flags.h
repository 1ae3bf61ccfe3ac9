// How a verb registers its flags. Only flags.cc includes CLI11 for it: each source that does takes three times as long
// to compile.
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

  Flag& TypeName(const std::string& name);  // in the help; COUNT after Count(), N after Range()
  Flag& Required();
  Flag& Expected(int values);
  Flag& Delimiter(char delimiter);  // between values in one argument; another argument is no value
  Flag& Excludes(const Flag& other);
  Flag& Count();  // what ParseCount() of cli.h takes
  Flag& Positive();
  Flag& Range(int least, int most);
  Flag& OneOf(const std::vector<std::string>& names);
  // `check` gives a complaint, or ""; `choices`: all values, where there are few.
  Flag& Check(const std::function<std::string(const std::string&)>& check,
              const std::vector<std::string>& choices = {});

 private:
  CLI::Option* option_;
};

// T: int, int64_t, uint64_t, std::string, a vector of strings, or an optional string or uint64_t.
template <class T>
Flag AddOption(CLI::App& command, const std::string& name, T& value, const std::string& what);
Flag AddFlag(CLI::App& command, const std::string& name, bool& value, const std::string& what);
// A flag that can be given several times: `each` gets one value after the other.
Flag AddRepeated(CLI::App& command, const std::string& name,
                 const std::function<void(const std::string&)>& each, const std::string& what);

// What an option takes, for its help.
struct FlagValues {
  std::vector<std::string> choices;  // all, where there are few
  std::string limits;                // "1 to 1024", "at least 1"
};
FlagValues ValuesOf(const CLI::Option& option);

}  // namespace mmadiff
