#include "configs/settings.h"

#include <google/protobuf/descriptor.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "configs/near_miss.h"
#include "configs/printable.h"

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

// "kernel[0].after" and "kernel.0.after" are the same path.
std::vector<std::string> split(std::string_view path, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : path) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

std::vector<std::string> path_steps(std::string_view path) {
  std::string dotted;
  for (const char letter : path) {
    if (letter == ']') continue;
    dotted += letter == '[' ? '.' : letter;
  }
  return split(dotted, '.');
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string wrong_value(const pb::FieldDescriptor& field, const std::string& expected, std::string_view value) {
  return field.name() + " takes " + expected + ", not " + in_quotes(value);
}

template <typename Integer>
Expected<Integer> integer_value(const pb::FieldDescriptor& field, std::string_view value) {
  const auto number = parse_number<Integer>(value);
  if (number) return *number;
  const auto bound = [](Integer limit) { return std::to_string(limit); };
  return fail(wrong_value(
      field, "an integer from " + bound(std::numeric_limits<Integer>::min()) + " to " + bound(std::numeric_limits<Integer>::max()),
      value));
}

// Sets a singular field (`add` false) or appends to a repeated one.
class Writer {
 public:
  Writer(pb::Message& message, const pb::FieldDescriptor& field, bool add)
      : message_(message), reflection_(*message.GetReflection()), field_(field), add_(add) {}

  Expected<void> write(std::string_view value) {
    switch (field_.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        return store(integer_value<uint32_t>(field_, value), &pb::Reflection::SetUInt32, &pb::Reflection::AddUInt32);
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        return store(integer_value<uint64_t>(field_, value), &pb::Reflection::SetUInt64, &pb::Reflection::AddUInt64);
      case pb::FieldDescriptor::CPPTYPE_INT32:
        return store(integer_value<int32_t>(field_, value), &pb::Reflection::SetInt32, &pb::Reflection::AddInt32);
      case pb::FieldDescriptor::CPPTYPE_INT64:
        return store(integer_value<int64_t>(field_, value), &pb::Reflection::SetInt64, &pb::Reflection::AddInt64);
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
        return store(float_value(value), &pb::Reflection::SetFloat, &pb::Reflection::AddFloat);
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        return store(double_value(value), &pb::Reflection::SetDouble, &pb::Reflection::AddDouble);
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        return store(bool_value(value), &pb::Reflection::SetBool, &pb::Reflection::AddBool);
      case pb::FieldDescriptor::CPPTYPE_ENUM:
        return store(enum_value(value), &pb::Reflection::SetEnum, &pb::Reflection::AddEnum);
      case pb::FieldDescriptor::CPPTYPE_STRING:
        return store(string_value(value), &pb::Reflection::SetString, &pb::Reflection::AddString);
      default:
        throw std::logic_error("a schema field of a type that no schema had: " + field_.full_name());
    }
  }

 private:
  template <typename Value, typename Set, typename Add>
  Expected<void> store(const Expected<Value>& value, Set set, Add add) {
    if (!value) return std::unexpected(value.error());
    if (add_) {
      (reflection_.*add)(&message_, &field_, *value);
    } else {
      (reflection_.*set)(&message_, &field_, *value);
    }
    return {};
  }

  Expected<float> float_value(std::string_view value) const {
    const auto number = double_value(value);
    if (!number) return std::unexpected(number.error());
    return static_cast<float>(*number);
  }

  Expected<double> double_value(std::string_view value) const {
    const auto number = parse_number<double>(value);
    if (!number || !std::isfinite(*number)) return fail(wrong_value(field_, "a number", value));
    return *number;
  }

  Expected<bool> bool_value(std::string_view value) const {
    if (value == "true" || value == "1") return true;
    if (value == "false" || value == "0") return false;
    return fail(wrong_value(field_, "true or false", value));
  }

  Expected<std::string> string_value(std::string_view value) const {
    const std::string why = why_unprintable(value);
    if (!why.empty()) return fail(field_.name() + ": " + why);
    return std::string(value);
  }

  Expected<const pb::EnumValueDescriptor*> enum_value(std::string_view value) const {
    const pb::EnumDescriptor& type = *field_.enum_type();
    if (const auto* found = type.FindValueByName(std::string(value))) return found;
    std::vector<std::string> known;
    for (int i = 0; i < type.value_count(); ++i) known.push_back(type.value(i)->name());
    return fail("unknown value " + in_quotes(value) + " of " + field_.name() + suggestion(value, known));
  }

  pb::Message& message_;
  const pb::Reflection& reflection_;
  const pb::FieldDescriptor& field_;
  bool add_;
};

// The field by which elements of a repeated group are called.
const pb::FieldDescriptor* key_field(const pb::Descriptor& type) {
  const auto* name = type.FindFieldByName("name");
  return name != nullptr ? name : type.FindFieldByName("kernel");
}

Expected<int> element_index(const pb::Message& message, const pb::FieldDescriptor& field, const std::string& selector) {
  const pb::Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  const pb::FieldDescriptor* key = key_field(*field.message_type());
  std::vector<std::string> known;
  for (int i = 0; key != nullptr && i < size; ++i) {
    const pb::Message& element = reflection.GetRepeatedMessage(message, &field, i);
    known.push_back(element.GetReflection()->GetString(element, key));
    if (known.back() == selector) return i;
  }
  const auto index = parse_number<int>(selector);
  if (index && *index >= 0 && *index < size) return *index;
  if (index) return fail("no " + field.name() + " " + selector + ": there are " + std::to_string(size) + ", counted from 0");
  return fail("no " + field.name() + " called " + in_quotes(selector) + suggestion(selector, known));
}

Expected<const pb::FieldDescriptor*> find_field(const pb::Message& message, const std::string& name) {
  const pb::Descriptor& type = *message.GetDescriptor();
  if (const auto* field = type.FindFieldByName(name)) return field;
  std::vector<std::string> known;
  for (int i = 0; i < type.field_count(); ++i) known.push_back(type.field(i)->name());
  return fail("unknown field " + in_quotes(name) + " in " + type.name() + suggestion(name, known));
}

// Setting a field of another alternative would silently throw the kernel's own workload away.
Expected<void> check_alternative(const pb::Message& message, const pb::FieldDescriptor& field) {
  const pb::OneofDescriptor* choice = field.real_containing_oneof();
  if (choice == nullptr) return {};
  const auto* present = message.GetReflection()->GetOneofFieldDescriptor(message, choice);
  if (present == nullptr || present == &field) return {};
  return fail("this " + message.GetDescriptor()->name() + " has " + present->name() + ", not " + field.name());
}

Expected<void> write_list(pb::Message& message, const pb::FieldDescriptor& field, std::string_view value) {
  message.GetReflection()->ClearField(&message, &field);
  if (value.empty()) return {};
  for (const std::string& element : split(value, ',')) {
    if (auto written = Writer(message, field, true).write(element); !written) return written;
  }
  return {};
}

std::string group_message(const pb::FieldDescriptor& field) {
  std::string fields;
  const pb::Descriptor& type = *field.message_type();
  for (int i = 0; i < type.field_count(); ++i) fields.append(i == 0 ? "" : ", ").append(type.field(i)->name());
  return field.name() + " is a group; name one of its fields: " + fields;
}

}  // namespace

Expected<std::string> set_field(pb::Message& root, std::string_view path, std::string_view value) {
  const std::vector<std::string> steps = path_steps(path);
  pb::Message* message = &root;
  std::string resolved;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto found = find_field(*message, steps[i]);
    if (!found) return std::unexpected(found.error());
    const pb::FieldDescriptor& field = **found;
    if (auto checked = check_alternative(*message, field); !checked) return std::unexpected(checked.error());
    if (!resolved.empty()) resolved += '.';
    resolved += field.name();
    const bool last = i + 1 == steps.size();
    if (field.message_type() == nullptr) {
      if (!last) return fail(field.name() + " is a plain value and has no field " + in_quotes(steps[i + 1]));
      const auto written = field.is_repeated() ? write_list(*message, field, value) : Writer(*message, field, false).write(value);
      if (!written) return std::unexpected(written.error());
      return resolved;
    }
    if (last) return fail(group_message(field));
    if (!field.is_repeated()) {
      message = message->GetReflection()->MutableMessage(message, &field);
      continue;
    }
    const auto index = element_index(*message, field, steps[++i]);
    if (!index) return std::unexpected(index.error());
    resolved.append("[").append(std::to_string(*index)).append("]");
    message = message->GetReflection()->MutableRepeatedMessage(message, &field, *index);
    if (i + 1 == steps.size()) return fail(group_message(field));
  }
  throw std::logic_error("a path without steps");
}

}  // namespace warpfold::configs
