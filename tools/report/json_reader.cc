#include "tools/report/json_reader.h"

#include <google/protobuf/descriptor.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::report {

namespace pb = google::protobuf;

namespace {

// A position in a text. The functions throw a Diagnostic, which this file catches.
class Cursor {
 public:
  Cursor(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  size_t at() const { return at_; }
  bool ended() { return skip_space(), at_ >= text_.size(); }
  char peek() { return ended() ? '\0' : text_[at_]; }

  bool take(char letter) {
    if (peek() != letter) return false;
    ++at_;
    return true;
  }
  void expect(char letter, std::string_view where) {
    if (!take(letter))
      fail(std::string("expected '").append(1, letter).append("' ").append(where).append(", found ").append(next()));
  }

  // Reads a quoted text and resolves its escapes.
  std::string text() {
    if (peek() != '"') fail("expected a text in quotes, found " + next());
    const size_t start = at_++;
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("a control character inside a text");
      if (text_[at_] == '\\') {
        escape(value);
      } else {
        value += text_[at_++];
      }
    }
    if (at_ >= text_.size()) fail_at(start, "this text has no end");
    ++at_;
    return value;
  }

  // Reads a bare word: a number, true or false.
  std::string_view word() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && std::string_view(",]}: \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(start, at_ - start);
  }

  [[noreturn]] void fail(const std::string& message) { skip_space(), fail_at(at_, message); }
  [[noreturn]] void fail_at(size_t where, const std::string& message) const {
    int line = 1;
    int column = 1;
    for (const char letter : text_.substr(0, where)) {
      column = letter == '\n' ? 1 : column + 1;
      line += letter == '\n' ? 1 : 0;
    }
    throw Diagnostic{file_, line, column, message};
  }

  std::string next() {
    if (ended()) return "the end of the file";
    return std::string("'").append(1, text_[at_]).append("'");
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  void escape(std::string& value) {
    const size_t start = at_++;
    const char letter = at_ < text_.size() ? text_[at_++] : '\0';
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view means = "\"\\/\b\f\n\r\t";
    if (letter == 'u') {
      append_utf8(code_point(start), value);
    } else if (const size_t known = names.find(letter); letter != '\0' && known != std::string_view::npos) {
      value += means[known];
    } else {
      fail_at(start, "an escape that JSON does not have");
    }
  }

  uint32_t four_digits(size_t start) {
    uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + 4) fail_at(start, "\\u takes four hexadecimal digits");
    at_ += 4;
    return code;
  }

  // Reads a code point in UTF-16: two escapes for a code point above 0xFFFF.
  uint32_t code_point(size_t start) {
    const uint32_t high = four_digits(start);
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || text_.substr(at_, 2) != "\\u") fail_at(start, "half of a surrogate pair");
    at_ += 2;
    const uint32_t low = four_digits(start);
    if (low < 0xDC00 || low > 0xDFFF) fail_at(start, "half of a surrogate pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  static void append_utf8(uint32_t code, std::string& value) {
    const auto byte = [&value](uint32_t bits) { value += static_cast<char>(bits); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xC0 | (code >> 6)), byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      byte(0xE0 | (code >> 12)), byte(0x80 | ((code >> 6) & 0x3F)), byte(0x80 | (code & 0x3F));
    } else {
      byte(0xF0 | (code >> 18)), byte(0x80 | ((code >> 12) & 0x3F)), byte(0x80 | ((code >> 6) & 0x3F)), byte(0x80 | (code & 0x3F));
    }
  }

  std::string file_;
  std::string_view text_;
  size_t at_ = 0;
};

class MessageReader {
 public:
  explicit MessageReader(Cursor& cursor) : cursor_(cursor) {}

  void read(pb::Message& message) {
    const pb::Descriptor& type = *message.GetDescriptor();
    cursor_.expect('{', "for " + type.name());
    std::vector<bool> read(static_cast<size_t>(type.field_count()));
    for (bool first = true; !cursor_.take('}'); first = false) {
      if (!first) cursor_.expect(',', "or '}'");
      const size_t start = (cursor_.peek(), cursor_.at());
      const std::string name = cursor_.text();
      const pb::FieldDescriptor* field = field_of(type, name);
      if (field == nullptr)
        cursor_.fail_at(start, "unknown field " + escape::quoted(name) + " in " + type.name() + suggestion(name, names(type)));
      const auto place = static_cast<size_t>(field->index());
      if (read[place]) cursor_.fail_at(start, "the field " + escape::quoted(field->name()) + " occurs twice in one " + type.name());
      read[place] = true;
      const pb::OneofDescriptor* choice = field->real_containing_oneof();
      if (choice != nullptr && message.GetReflection()->HasOneof(message, choice)) {
        const std::string& other = message.GetReflection()->GetOneofFieldDescriptor(message, choice)->name();
        cursor_.fail_at(start, type.name() + " has one of " + escape::quoted(other) + " and " + escape::quoted(field->name()));
      }
      cursor_.expect(':', "after the field's name");
      if (field->is_repeated()) {
        read_list(message, *field);
      } else {
        read_value(message, *field);
      }
    }
  }

 private:
  // Finds a field by its name, or by an earlier name that the schema keeps as its json_name.
  static const pb::FieldDescriptor* field_of(const pb::Descriptor& type, const std::string& name) {
    if (const pb::FieldDescriptor* field = type.FindFieldByName(name)) return field;
    for (int f = 0; f < type.field_count(); ++f) {
      if (type.field(f)->has_json_name() && type.field(f)->json_name() == name) return type.field(f);
    }
    return nullptr;
  }

  static std::vector<std::string> names(const pb::Descriptor& type) {
    std::vector<std::string> names;
    for (int f = 0; f < type.field_count(); ++f) names.push_back(type.field(f)->name());
    return names;
  }

  void read_list(pb::Message& message, const pb::FieldDescriptor& field) {
    cursor_.expect('[', "for the list " + field.name());
    for (bool first = true; !cursor_.take(']'); first = false) {
      if (!first) cursor_.expect(',', "or ']'");
      read_value(message, field);
    }
  }

  void read_value(pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& r = *message.GetReflection();
    const bool list = field.is_repeated();
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_UINT32: {
        const auto value = integer<uint32_t>(field);
        return list ? r.AddUInt32(&message, &field, value) : r.SetUInt32(&message, &field, value);
      }
      case pb::FieldDescriptor::CPPTYPE_UINT64: {
        const auto value = integer<uint64_t>(field);
        return list ? r.AddUInt64(&message, &field, value) : r.SetUInt64(&message, &field, value);
      }
      case pb::FieldDescriptor::CPPTYPE_INT32: {
        const auto value = integer<int32_t>(field);
        return list ? r.AddInt32(&message, &field, value) : r.SetInt32(&message, &field, value);
      }
      case pb::FieldDescriptor::CPPTYPE_INT64: {
        const auto value = integer<int64_t>(field);
        return list ? r.AddInt64(&message, &field, value) : r.SetInt64(&message, &field, value);
      }
      case pb::FieldDescriptor::CPPTYPE_DOUBLE: {
        const double value = number(field);
        return list ? r.AddDouble(&message, &field, value) : r.SetDouble(&message, &field, value);
      }
      case pb::FieldDescriptor::CPPTYPE_BOOL: {
        const bool value = boolean(field);
        return list ? r.AddBool(&message, &field, value) : r.SetBool(&message, &field, value);
      }
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        const pb::EnumValueDescriptor* value = enumerator(field);
        return list ? r.AddEnum(&message, &field, value) : r.SetEnum(&message, &field, value);
      }
      case pb::FieldDescriptor::CPPTYPE_STRING: {
        std::string value = cursor_.text();
        return list ? r.AddString(&message, &field, std::move(value)) : r.SetString(&message, &field, std::move(value));
      }
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        return read(list ? *r.AddMessage(&message, &field) : *r.MutableMessage(&message, &field));
      default:
        throw std::logic_error("a schema field of a type that no schema had: " + field.full_name());
    }
  }

  // Reads the digits of a number and sets `start` to their position. protobuf's own mapping quotes 64-bit integers.
  std::string digits(size_t& start) {
    const bool quoted = cursor_.peek() == '"';
    start = cursor_.at();
    return quoted ? cursor_.text() : std::string(cursor_.word());
  }

  template <typename Number>
  Number integer(const pb::FieldDescriptor& field) {
    size_t start = 0;
    const std::string text = digits(start);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      cursor_.fail_at(start, field.name() + " is out of range: " + escape::unquoted(text));
    if (error != std::errc() || end != text.data() + text.size()) wrong(start, field, "an integer");
    return value;
  }

  double number(const pb::FieldDescriptor& field) {
    size_t start = 0;
    const std::string text = digits(start);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) wrong(start, field, "a number");
    return value;
  }

  bool boolean(const pb::FieldDescriptor& field) {
    const size_t start = (cursor_.peek(), cursor_.at());
    const std::string_view word = cursor_.word();
    if (word != "true" && word != "false") wrong(start, field, "true or false");
    return word == "true";
  }

  const pb::EnumValueDescriptor* enumerator(const pb::FieldDescriptor& field) {
    const size_t start = (cursor_.peek(), cursor_.at());
    const std::string name = cursor_.text();
    const pb::EnumValueDescriptor* value = field.enum_type()->FindValueByName(name);
    if (value != nullptr) return value;
    std::vector<std::string> known;
    for (int v = 0; v < field.enum_type()->value_count(); ++v) known.push_back(field.enum_type()->value(v)->name());
    cursor_.fail_at(start, "unknown " + field.enum_type()->name() + " " + escape::quoted(name) + suggestion(name, known));
  }

  [[noreturn]] void wrong(size_t start, const pb::FieldDescriptor& field, std::string_view wanted) {
    cursor_.fail_at(start, field.name() + " takes " + std::string(wanted));
  }

  Cursor& cursor_;
};

}  // namespace

Expected<void> read_json(const std::string& file, std::string_view text, pb::Message& message) {
  Cursor cursor(file, text);
  try {
    MessageReader(cursor).read(message);
    if (!cursor.ended()) cursor.fail("something follows the end of the JSON object");
  } catch (Diagnostic& diagnostic) {
    return std::unexpected(std::move(diagnostic));
  }
  return {};
}

std::vector<std::string> top_keys(std::string_view text) {
  std::vector<std::string> keys;
  Cursor cursor("", text);
  int depth = 0;
  bool key = false;
  try {
    while (!cursor.ended()) {
      const char letter = cursor.peek();
      if (letter == '"') {
        std::string word = cursor.text();
        if (depth == 1 && key && cursor.peek() == ':') keys.push_back(std::move(word));
        key = false;
      } else {
        depth += letter == '{' || letter == '[' ? 1 : 0;
        depth -= letter == '}' || letter == ']' ? 1 : 0;
        key = letter == '{' || letter == ',';
        if (depth == 0 && letter != '}') return {};
        cursor.take(letter);
      }
    }
  } catch (const Diagnostic&) {
    return keys;
  }
  return keys;
}

}  // namespace warpfold::report
