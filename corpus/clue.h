// A device's reply to a question about answers that no change of the model explains.
#pragma once

#include <cstdint>
#include <string>

namespace mmadiff {

struct Clue {
  enum Kind : uint8_t {
    kFound,     // something that is not as the model has it
    kNothing,   // the question found nothing
    kNotAsked,  // `text` is the reason
  };
  std::string question;  // id of a question of `probe`, or "infer"
  Kind kind = kFound;
  std::string text = {};  // for people

  friend bool operator==(const Clue&, const Clue&) = default;
};
inline constexpr int kClueKinds = Clue::kNotAsked + 1;
inline const char* Name(Clue::Kind kind) {
  constexpr const char* kNames[kClueKinds] = {"found", "nothing", "not_asked"};
  return kNames[kind];
}

}  // namespace mmadiff
