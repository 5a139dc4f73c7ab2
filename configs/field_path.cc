#include "configs/field_path.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/field_writer.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

constexpr char kAnyLetters = '*';

// "kernel[0].after" and "kernel.0.after" are the same path.
std::vector<std::string> path_steps(std::string_view path) {
  std::string dotted;
  for (const char letter : path) {
    if (letter == ']') continue;
    dotted += letter == '[' ? '.' : letter;
  }
  return split(dotted, '.');
}

// If a letter does not match, the last `*` takes one more letter. Earlier ones keep their letters.
bool matches(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  size_t star = std::string_view::npos;  // the last one
  size_t behind = 0;                     // of the name, where what follows it was tried
  for (size_t letter = 0; letter < name.size();) {
    if (at < pattern.size() && pattern[at] == kAnyLetters) {
      star = at++;
      behind = letter;
    } else if (at < pattern.size() && pattern[at] == name[letter]) {
      ++at;
      ++letter;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      letter = ++behind;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of(kAnyLetters, at) == std::string_view::npos;
}

// The field by which elements of a list of groups are called.
const pb::FieldDescriptor* key_field(const pb::Descriptor& type) {
  const auto* name = type.FindFieldByName("name");
  return name != nullptr ? name : type.FindFieldByName("kernel");
}

std::vector<std::string> field_names(const pb::Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

Expected<const pb::FieldDescriptor*> find_field(const pb::Descriptor& type, const std::string& name) {
  if (const auto* field = type.FindFieldByName(name)) return field;
  return fail("unknown field " + escape::quoted(name) + " in " + type.name() + suggestion(name, field_names(type)));
}

// Returns the alternative of `field` that the message has in its place; null if it has none, or if `field` has no
// alternatives.
const pb::FieldDescriptor* alternative_to(const pb::Message& message, const pb::FieldDescriptor& field) {
  const pb::OneofDescriptor* choice = field.real_containing_oneof();
  if (choice == nullptr) return nullptr;
  const auto* present = message.GetReflection()->GetOneofFieldDescriptor(message, choice);
  return present == &field ? nullptr : present;
}

class Finder {
 public:
  explicit Finder(std::string_view path) : path_(path), names_(path_steps(path)) {}

  Expected<std::vector<FieldPath>> find(const pb::Message& root) {
    if (auto walked = walk(root, 0, {}); !walked) return std::unexpected(walked.error());
    if (!found_.empty()) return std::move(found_);
    std::string why;
    for (const std::string& each : why_not_) why.append(why.empty() ? ": " : "; ").append(each);
    return fail(escape::quoted(path_) + " matches nothing" + why);
  }

 private:
  // A path that does not exist below a wildcard is no mistake: the element does not match.
  Expected<void> mismatch(std::string why) {
    if (!below_wildcard_) return fail(std::move(why));
    if (std::ranges::find(why_not_, why) == why_not_.end()) why_not_.push_back(std::move(why));
    return {};
  }

  Expected<void> walk(const pb::Message& message, size_t at, FieldPath way) {
    const std::string& name = names_[at];
    if (has_wildcard(name)) return walk_fields(message, at, way);
    const auto field = find_field(*message.GetDescriptor(), name);
    if (!field) return below_fields_ ? mismatch(field.error().message) : Expected<void>(std::unexpected(field.error()));
    return enter(message, **field, at, std::move(way));
  }

  // The groups that are there.
  Expected<void> walk_fields(const pb::Message& message, size_t at, const FieldPath& way) {
    std::vector<const pb::FieldDescriptor*> present;
    message.GetReflection()->ListFields(message, &present);
    const Restored restored(*this);
    below_wildcard_ = below_fields_ = true;
    bool any = false;
    for (const pb::FieldDescriptor* field : present) {
      if (!matches(names_[at], field->name())) continue;
      any = true;
      // A value or a list where the path goes on is no group.
      if (at + 1 < names_.size() && field->message_type() == nullptr) continue;
      if (auto entered = enter(message, *field, at, way); !entered) return entered;
    }
    if (any) return {};
    return mismatch("no field of this " + message.GetDescriptor()->name() + " is called " + escape::quoted(names_[at]) +
                    suggestion(names_[at], field_names(*message.GetDescriptor())));
  }

  Expected<void> enter(const pb::Message& message, const pb::FieldDescriptor& field, size_t at, FieldPath way) {
    if (const auto* other = alternative_to(message, field))
      return mismatch("this " + message.GetDescriptor()->name() + " has " + other->name() + ", not " + field.name());
    const pb::Reflection& reflection = *message.GetReflection();
    if (below_wildcard_ && field.real_containing_oneof() != nullptr && !reflection.HasField(message, &field))
      return mismatch("this " + message.GetDescriptor()->name() + " has no " + field.name());
    way.steps.push_back({&field});
    if (at + 1 == names_.size()) {
      found_.push_back(std::move(way));
      return {};
    }
    if (field.message_type() == nullptr)
      return mismatch(field.name() + " is a plain value and has no field " + escape::quoted(names_[at + 1]));
    if (!field.is_repeated()) return walk(reflection.GetMessage(message, &field), at + 1, std::move(way));
    return walk_elements(message, field, at + 1, std::move(way));
  }

  Expected<void> walk_elements(const pb::Message& message, const pb::FieldDescriptor& field, size_t at, FieldPath way) {
    const auto elements = find_elements(message, field, names_[at]);
    if (!elements) return mismatch(elements.error().message);
    const Restored restored(*this);
    if (has_wildcard(names_[at])) below_wildcard_ = true;
    for (const int index : *elements) {
      way.steps.back().index = index;
      if (at + 1 == names_.size()) {
        found_.push_back(way);
        continue;
      }
      if (auto walked = walk(message.GetReflection()->GetRepeatedMessage(message, &field, index), at + 1, way); !walked)
        return walked;
    }
    return {};
  }

  // Leaves the part of the path below a wildcard at the end of the scope.
  struct Restored {
    explicit Restored(Finder& finder) : of(finder), below_wildcard(finder.below_wildcard_), below_fields(finder.below_fields_) {}
    ~Restored() {
      of.below_wildcard_ = below_wildcard;
      of.below_fields_ = below_fields;
    }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;
    Finder& of;
    bool below_wildcard;
    bool below_fields;
  };

  std::string_view path_;
  std::vector<std::string> names_;
  bool below_wildcard_ = false;
  bool below_fields_ = false;  // groups of several types
  std::vector<FieldPath> found_;
  std::vector<std::string> why_not_;  // reasons of elements that did not match
};

}  // namespace

std::string FieldPath::text() const {
  std::string text;
  for (const Step& step : steps) {
    text.append(text.empty() ? "" : ".").append(step.field->name());
    if (step.index >= 0) text.append("[").append(std::to_string(step.index)).append("]");
  }
  return text;
}

bool has_wildcard(std::string_view path) { return path.find(kAnyLetters) != std::string_view::npos; }

Expected<std::vector<int>> find_elements(const pb::Message& message, const pb::FieldDescriptor& field,
                                         const std::string& selector) {
  const pb::Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  const pb::FieldDescriptor* key = key_field(*field.message_type());
  std::vector<std::string> known;
  std::vector<int> named;
  for (int i = 0; i < size; ++i) {
    const pb::Message& element = reflection.GetRepeatedMessage(message, &field, i);
    known.push_back(key == nullptr ? std::to_string(i) : element.GetReflection()->GetString(element, key));
    if (matches(selector, known.back())) named.push_back(i);
  }
  if (!named.empty() && !has_wildcard(selector)) return std::vector<int>{named.front()};
  if (!named.empty()) return named;
  int index = -1;
  const auto [end, error] = std::from_chars(selector.data(), selector.data() + selector.size(), index);
  const bool counted = error == std::errc() && end == selector.data() + selector.size();
  if (counted && index >= 0 && index < size) return std::vector<int>{index};
  if (counted) return fail("no " + field.name() + " " + selector + ": there are " + std::to_string(size) + ", counted from 0");
  std::string letters = selector;
  std::erase(letters, kAnyLetters);
  return fail("no " + field.name() + " called " + escape::quoted(selector) + suggestion(letters, known));
}

Expected<std::vector<FieldPath>> find_fields(const pb::Message& root, std::string_view path) { return Finder(path).find(root); }

}  // namespace warpfold::configs
