#include "configs/field_writer.h"

#include <google/protobuf/descriptor.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string wrong_value(const pb::FieldDescriptor& field, const std::string& expected, std::string_view value) {
  return field.name() + " takes " + expected + ", not " + escape::quoted(value);
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
    const std::string why = escape::why_unprintable(value);
    if (!why.empty()) return fail(field_.name() + ": " + why);
    return std::string(value);
  }

  Expected<const pb::EnumValueDescriptor*> enum_value(std::string_view value) const {
    const pb::EnumDescriptor& type = *field_.enum_type();
    std::string upper(value);  // "fp8", "carve-out"
    for (char& letter : upper) letter = letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    if (const auto* found = type.FindValueByName(upper)) return found;
    std::vector<std::string> known;
    for (int i = 0; i < type.value_count(); ++i) known.push_back(type.value(i)->name());
    return fail("unknown value " + escape::quoted(value) + " of " + field_.name() + suggestion(value, known));
  }

  pb::Message& message_;
  const pb::Reflection& reflection_;
  const pb::FieldDescriptor& field_;
  bool add_;
};

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

Expected<void> write_value(pb::Message& message, const pb::FieldDescriptor& field, std::string_view value) {
  return Writer(message, field, false).write(value);
}

Expected<void> add_values(pb::Message& message, const pb::FieldDescriptor& field, std::string_view values) {
  if (values.empty()) return {};
  for (const std::string& element : split(values, ',')) {
    if (auto written = Writer(message, field, true).write(element); !written) return written;
  }
  return {};
}

}  // namespace warpfold::configs
