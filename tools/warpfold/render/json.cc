#include "tools/warpfold/render/json.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "configs/escape/json.h"

namespace warpfold::cli {

namespace pb = google::protobuf;

namespace {

class Writer {
 public:
  void write_message(const pb::Message& message) {
    const pb::Descriptor& type = *message.GetDescriptor();
    const pb::Reflection& reflection = *message.GetReflection();
    bool first = true;
    open('{');
    for (int i = 0; i < type.field_count(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      if (field.has_presence() && !reflection.HasField(message, &field)) continue;
      separate(first);
      text_ += escape::json(field.name()) + ": ";
      if (field.is_repeated()) {
        write_list(message, field);
      } else {
        write_value(message, field, -1);
      }
    }
    close('}', first);
  }

  std::string take() { return std::move(text_); }

 private:
  void write_list(const pb::Message& message, const pb::FieldDescriptor& field) {
    const int size = message.GetReflection()->FieldSize(message, &field);
    bool first = true;
    open('[');
    for (int i = 0; i < size; ++i) {
      separate(first);
      write_value(message, field, i);
    }
    close(']', first);
  }

  // `index` -1: a singular field.
  void write_value(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
    const pb::Reflection& r = *message.GetReflection();
    const bool one = index < 0;
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        text_ += std::to_string(one ? r.GetUInt32(message, &field) : r.GetRepeatedUInt32(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        text_ += std::to_string(one ? r.GetUInt64(message, &field) : r.GetRepeatedUInt64(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_INT32:
        text_ += std::to_string(one ? r.GetInt32(message, &field) : r.GetRepeatedInt32(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_INT64:
        text_ += std::to_string(one ? r.GetInt64(message, &field) : r.GetRepeatedInt64(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        write_number(one ? r.GetDouble(message, &field) : r.GetRepeatedDouble(message, &field, index), field);
        return;
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
        write_number(one ? r.GetFloat(message, &field) : r.GetRepeatedFloat(message, &field, index), field);
        return;
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        text_ += (one ? r.GetBool(message, &field) : r.GetRepeatedBool(message, &field, index)) ? "true" : "false";
        return;
      case pb::FieldDescriptor::CPPTYPE_ENUM:
        text_ += escape::json((one ? r.GetEnum(message, &field) : r.GetRepeatedEnum(message, &field, index))->name());
        return;
      case pb::FieldDescriptor::CPPTYPE_STRING:
        text_ += escape::json(one ? r.GetString(message, &field) : r.GetRepeatedString(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        write_message(one ? r.GetMessage(message, &field) : r.GetRepeatedMessage(message, &field, index));
        return;
      default:
        throw std::logic_error("a schema field of a type that no schema had: " + field.full_name());
    }
  }

  // JSON has neither infinity nor NaN. A result that contains one is a defect of the program, so this throws.
  void write_number(double number, const pb::FieldDescriptor& field) {
    if (!std::isfinite(number)) throw std::logic_error(field.full_name() + " is no number");
    text_ += json_number(number);
  }

  void open(char bracket) {
    text_ += bracket;
    ++depth_;
  }
  void separate(bool& first) {
    if (!first) text_ += ',';
    first = false;
    new_line();
  }
  void close(char bracket, bool empty) {
    --depth_;
    if (!empty) new_line();
    text_ += bracket;
  }
  void new_line() { text_.append(1, '\n').append(2 * depth_, ' '); }

  std::string text_;
  size_t depth_ = 0;
};

}  // namespace

std::string json_number(double number) {
  if (!std::isfinite(number)) throw std::logic_error("a figure that is no number: " + std::to_string(number));
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), end};
}

std::string to_json(const pb::Message& message) {
  Writer writer;
  writer.write_message(message);
  return writer.take() + "\n";
}

}  // namespace warpfold::cli
