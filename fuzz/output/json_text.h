// JSON as text that any program and any terminal takes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace mmadiff {

// ASCII only; bytes that are no UTF-8 become U+FFFD. `indent` -1: one line.
std::string JsonText(const nlohmann::ordered_json& json, int indent);

}  // namespace mmadiff
