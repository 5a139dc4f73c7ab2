#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

enum class Verb {
  kSet,     // PATH=VALUE: for a list the elements, with commas between them
  kAdd,     // PATH+=VALUE: appends to a list; a group as text: kernel+={ name: "norm" ... }
  kRemove,  // PATH-=VALUE: removes from a list, in a list of groups by name
  kUnset,   // PATH: clears the field; an element of a list of groups is removed from the list
};

// One change of a message. Paths: configs/field_path.h. Files (`set`, `unset` of a scenario), the command line (--set,
// --unset), Python's keyword arguments and axes of studies write a change in the same words.
struct Change {
  Verb verb = Verb::kSet;
  std::string path;
  std::string value;
};

// Reads "PATH=VALUE", "PATH+=VALUE" or "PATH-=VALUE".
Expected<Change> parse_change(std::string_view text);
// A setting is one of these or "unset PATH". Messages label it "--set PATH=VALUE", "--unset PATH".
std::string unset_setting(const std::string& path);
Expected<Change> parse_setting(const std::string& setting);
std::string setting_label(const std::string& setting);

// A field that was changed, with indices: "kernel[0].philox.rounds".
struct Changed {
  std::string path;
  bool removed = false;  // an element was removed from its list; the elements behind it have moved up
};

// Carries out a change at every place that its path names, all of it or nothing. Fails for a value of the wrong type,
// for an element that the list does not have, and for unsetting a field that is not set.
Expected<std::vector<Changed>> apply_change(google::protobuf::Message& root, const Change& change);

// Sets the one field that `path` names. Returns the path with indices.
Expected<std::string> set_field(google::protobuf::Message& root, std::string_view path, std::string_view value);

}  // namespace warpfold::configs
