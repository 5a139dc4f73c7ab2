#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

enum class Verb {
  kSet,     // PATH=VALUE: of a list the elements, with commas between them
  kAdd,     // PATH+=VALUE: behind those that the list has; a group as text: kernel+={ name: "norm" ... }
  kRemove,  // PATH-=VALUE: of a list of groups by name
  kUnset,   // PATH: what the field has; an element of a list of groups goes out of the list
};

// One change of a message. Paths: configs/field_path.h. Files (`set`, `unset` of a scenario), the command line (--set, --unset),
// Python's keyword arguments and axes of studies have it in the same words.
struct Change {
  Verb verb = Verb::kSet;
  std::string path;
  std::string value;
};

// "PATH=VALUE", "PATH+=VALUE" or "PATH-=VALUE".
Expected<Change> parse_change(std::string_view text);
// A setting, which is one of these or "unset PATH", and how messages name it: "--set PATH=VALUE", "--unset PATH".
std::string unset_setting(const std::string& path);
Expected<Change> parse_setting(const std::string& setting);
std::string setting_label(const std::string& setting);

// A field that was changed, with indices: "kernel[0].philox.rounds".
struct Changed {
  std::string path;
  bool removed = false;  // an element that is out of its list; those behind it have moved up
};

// Carries a change out wherever its path leads; all of it or nothing. A value of the wrong type, an element that a list does not
// have, and a field that is not set and is to be unset fail.
Expected<std::vector<Changed>> apply_change(google::protobuf::Message& root, const Change& change);

// Sets the one field that `path` names. Returns the path with indices.
Expected<std::string> set_field(google::protobuf::Message& root, std::string_view path, std::string_view value);

}  // namespace warpfold::configs
