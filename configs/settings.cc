#include "configs/settings.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/field_path.h"
#include "configs/field_writer.h"
#include "configs/load.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

constexpr std::string_view kUnsetWord = "unset ";

std::string group_message(const pb::FieldDescriptor& field) {
  std::string fields;
  const pb::Descriptor& type = *field.message_type();
  for (int i = 0; i < type.field_count(); ++i) fields.append(i == 0 ? "" : ", ").append(type.field(i)->name());
  return field.name() + " is a group; name one of its fields: " + fields;
}

// The message whose field the path ends in.
pb::Message& owner_of(pb::Message& root, const FieldPath& path) {
  pb::Message* message = &root;
  for (size_t s = 0; s + 1 < path.steps.size(); ++s) {
    const auto [field, index] = path.steps[s];
    const pb::Reflection& reflection = *message->GetReflection();
    message = index < 0 ? reflection.MutableMessage(message, field) : reflection.MutableRepeatedMessage(message, field, index);
  }
  return *message;
}

// The same where it is there, groups around it included; else none.
const pb::Message* present_owner_of(const pb::Message& root, const FieldPath& path) {
  const pb::Message* message = &root;
  for (size_t s = 0; s + 1 < path.steps.size(); ++s) {
    const auto [field, index] = path.steps[s];
    const pb::Reflection& reflection = *message->GetReflection();
    if (index < 0 && !reflection.HasField(*message, field)) return nullptr;
    message = index < 0 ? &reflection.GetMessage(*message, field) : &reflection.GetRepeatedMessage(*message, field, index);
  }
  return message;
}

bool is_list(const FieldPath& path) { return path.last().field->is_repeated() && path.last().index < 0; }

// Removes an element; the elements behind it move up.
void remove_element(pb::Message& message, const pb::FieldDescriptor& field, int index) {
  const pb::Reflection& reflection = *message.GetReflection();
  for (int i = index; i + 1 < reflection.FieldSize(message, &field); ++i) reflection.SwapElements(&message, &field, i, i + 1);
  reflection.RemoveLast(&message, &field);
}

// The text of a group, in braces or without.
Expected<void> add_group(pb::Message& message, const pb::FieldDescriptor& field, std::string_view text) {
  const size_t open = text.find_first_not_of(' ');
  const size_t close = text.find_last_not_of(' ');
  if (open != std::string_view::npos && text[open] == '{' && text[close] == '}') text = text.substr(open + 1, close - open - 1);
  const std::unique_ptr<pb::Message> element(pb::MessageFactory::generated_factory()->GetPrototype(field.message_type())->New());
  if (auto parsed = parse_text("", text, *element); !parsed) return fail(parsed.error().message);
  message.GetReflection()->AddMessage(&message, &field)->CopyFrom(*element);
  return {};
}

std::string element_text(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
  std::string text;
  pb::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING)
    return message.GetReflection()->GetRepeatedString(message, &field, index);
  return text;
}

// Indices of the elements that are to go, ascending.
Expected<std::vector<int>> elements_to_remove(const pb::Message& message, const pb::FieldDescriptor& field,
                                              const std::string& value) {
  if (field.message_type() != nullptr) return find_elements(message, field, value);
  std::vector<std::string> known;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) known.push_back(element_text(message, field, i));
  std::vector<int> indices;
  for (const std::string& each : split(value, ',')) {
    const auto before = indices.size();
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i] == each && std::ranges::find(indices, static_cast<int>(i)) == indices.end())
        indices.push_back(static_cast<int>(i));
    }
    if (indices.size() == before) return fail("no " + escape::quoted(each) + " in " + field.name() + suggestion(each, known));
  }
  std::ranges::sort(indices);
  return indices;
}

// Carries out one change at one place after the other.
class Changer {
 public:
  Changer(pb::Message& root, const Change& change) : root_(root), change_(change) {}

  Expected<std::vector<Changed>> run() {
    auto paths = find_fields(root_, change_.path);
    if (!paths) return std::unexpected(paths.error());
    if (has_wildcard(change_.path)) paths = those_concerned(*std::move(paths));
    if (!paths) return std::unexpected(paths.error());
    // From the last path on: the removal of an element does not move the elements that are still to be removed.
    for (const FieldPath& path : *paths | std::views::reverse) {
      if (auto done = change(path); !done) return std::unexpected(done.error());
    }
    return std::move(changed_);
  }

 private:
  // Returns the places of a pattern that have the field or element to remove.
  Expected<std::vector<FieldPath>> those_concerned(std::vector<FieldPath> paths) {
    std::erase_if(paths, [&](const FieldPath& path) {
      if (change_.verb == Verb::kUnset) return path.last().index < 0 && !is_set(path);
      if (change_.verb != Verb::kRemove || !is_list(path)) return false;
      const pb::Message* owner = present_owner_of(root_, path);
      return owner == nullptr || !elements_to_remove(*owner, *path.last().field, change_.value);
    });
    if (!paths.empty()) return paths;
    return fail(escape::quoted(change_.path) +
                (change_.verb == Verb::kUnset ? " is set nowhere" : ": no list has " + escape::quoted(change_.value)));
  }

  bool is_set(const FieldPath& path) const {
    const pb::Message* message = present_owner_of(root_, path);
    const pb::FieldDescriptor* field = path.last().field;
    if (message == nullptr) return false;
    return field->is_repeated() ? message->GetReflection()->FieldSize(*message, field) > 0
                                : message->GetReflection()->HasField(*message, field);
  }

  Expected<void> change(const FieldPath& path) {
    switch (change_.verb) {
      case Verb::kSet:
        return set(path);
      case Verb::kAdd:
        return add(path);
      case Verb::kRemove:
        return remove(path);
      case Verb::kUnset:
        return unset(path);
    }
    return {};
  }

  Expected<void> set(const FieldPath& path) {
    const pb::FieldDescriptor& field = *path.last().field;
    if (field.message_type() != nullptr) return fail(group_message(field));
    pb::Message& message = owner_of(root_, path);
    if (field.is_repeated()) message.GetReflection()->ClearField(&message, &field);
    changed_.push_back({path.text()});
    return field.is_repeated() ? add_values(message, field, change_.value) : write_value(message, field, change_.value);
  }

  Expected<void> add(const FieldPath& path) {
    const pb::FieldDescriptor& field = *path.last().field;
    if (!is_list(path)) return fail(field.name() + " is no list: PATH=VALUE sets it");
    pb::Message& message = owner_of(root_, path);
    if (field.message_type() == nullptr) {
      changed_.push_back({path.text()});
      return add_values(message, field, change_.value);
    }
    changed_.push_back({path.text() + "[" + std::to_string(message.GetReflection()->FieldSize(message, &field)) + "]"});
    return add_group(message, field, change_.value);
  }

  Expected<void> remove(const FieldPath& path) {
    const pb::FieldDescriptor& field = *path.last().field;
    if (!is_list(path)) return fail(field.name() + " is no list: --unset clears it");
    pb::Message& message = owner_of(root_, path);
    const auto indices = elements_to_remove(message, field, change_.value);
    if (!indices) return std::unexpected(indices.error());
    for (const int index : *indices | std::views::reverse) {
      remove_element(message, field, index);
      if (field.message_type() != nullptr) changed_.push_back({path.text() + "[" + std::to_string(index) + "]", true});
    }
    if (field.message_type() == nullptr) changed_.push_back({path.text()});
    return {};
  }

  Expected<void> unset(const FieldPath& path) {
    const auto [field, index] = path.last();
    pb::Message& message = owner_of(root_, path);
    if (index >= 0) {
      remove_element(message, *field, index);
      changed_.push_back({path.text(), true});
      return {};
    }
    if (!is_set(path)) return fail(path.text() + " is not set");
    message.GetReflection()->ClearField(&message, field);
    changed_.push_back({path.text()});
    return {};
  }

  pb::Message& root_;
  const Change& change_;
  std::vector<Changed> changed_;
};

}  // namespace

Expected<Change> parse_change(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return fail("expected PATH=VALUE");
  Change change{Verb::kSet, std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  const char before = text[equals - 1];
  if (before != '+' && before != '-') return change;
  change.path.pop_back();
  change.verb = before == '+' ? Verb::kAdd : Verb::kRemove;
  if (change.path.empty()) return fail("expected PATH" + std::string(1, before) + "=VALUE");
  return change;
}

std::string unset_setting(const std::string& path) { return std::string(kUnsetWord) + path; }

Expected<Change> parse_setting(const std::string& setting) {
  if (!setting.starts_with(kUnsetWord)) return parse_change(setting);
  Change change{Verb::kUnset, setting.substr(kUnsetWord.size()), {}};
  if (change.path.empty() || change.path.find('=') != std::string::npos) return fail("expected PATH");
  return change;
}

std::string setting_label(const std::string& setting) {
  return setting.starts_with(kUnsetWord) ? "--unset " + escape::unquoted(setting.substr(kUnsetWord.size()))
                                         : "--set " + escape::unquoted(setting);
}

Expected<std::vector<Changed>> apply_change(pb::Message& root, const Change& change) {
  const std::unique_ptr<pb::Message> changed(root.New());
  changed->CopyFrom(root);
  auto paths = Changer(*changed, change).run();
  if (paths) root.GetReflection()->Swap(&root, changed.get());
  return paths;
}

Expected<std::string> set_field(pb::Message& root, std::string_view path, std::string_view value) {
  auto changed = apply_change(root, {Verb::kSet, std::string(path), std::string(value)});
  if (!changed) return std::unexpected(changed.error());
  return std::move(changed->front().path);
}

}  // namespace warpfold::configs
