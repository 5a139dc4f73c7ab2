#include "configs/text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/load.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

// Keeps the first error. Later errors are mostly its consequences.
class FirstError : public pb::io::ErrorCollector {
 public:
  struct Error {
    int line;
    int column;
    std::string message;
  };

  void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
    if (!error_) error_ = Error{line, column, message};
  }
  void AddWarning(int, pb::io::ColumnNumber, const std::string&) override {}

  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

// The parser has already read past an unknown name when it complains, so its position is that of the next token, often on
// the next line. Moves the error back to the last token before it that reads `name`.
void move_to_token(std::string_view text, const std::string& name, FirstError::Error& error) {
  pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  FirstError ignored;
  pb::io::Tokenizer tokenizer(&stream, &ignored);
  tokenizer.set_comment_style(pb::io::Tokenizer::SH_COMMENT_STYLE);
  const int end_line = error.line;
  const int end_column = error.column;
  while (tokenizer.Next()) {
    const auto& token = tokenizer.current();
    if (token.line > end_line || (token.line == end_line && token.column >= end_column)) break;
    if (token.text != name) continue;
    error.line = token.line;
    error.column = token.column;
  }
}

std::vector<std::string> field_names(const pb::Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

// Values of every enum field called `field` in `type` or in a message below it.
void collect_enum_values(const pb::Descriptor& type, const std::string& field, std::set<const pb::Descriptor*>& seen,
                         std::vector<std::string>& values) {
  if (!seen.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& candidate = *type.field(i);
    if (candidate.message_type() != nullptr) collect_enum_values(*candidate.message_type(), field, seen, values);
    if (candidate.enum_type() == nullptr || candidate.name() != field) continue;
    for (int v = 0; v < candidate.enum_type()->value_count(); ++v) values.push_back(candidate.enum_type()->value(v)->name());
  }
}

// The words between quotation marks.
std::vector<std::string> quoted_words(const std::string& message) {
  std::vector<std::string> words;
  for (size_t open = message.find('"'); open != std::string::npos;) {
    const size_t close = message.find('"', open + 1);
    if (close == std::string::npos) break;
    words.push_back(message.substr(open + 1, close - open - 1));
    open = message.find('"', close + 1);
  }
  return words;
}

// Returns a suggestion for a name that no field of `type` has. If the file's outermost message has the name, a bracket
// may be missing before it.
std::string meant(const std::string& name, const pb::Descriptor& type, const pb::Descriptor& root) {
  if (&type != &root && root.FindFieldByName(name) != nullptr) return ": " + root.name() + " has one; is a } missing before it?";
  return suggestion(name, field_names(type));
}

// Protobuf's messages about unknown names, in our words and with a near miss; other messages are passed on. They read
//   Message type "warpfold.configs.Philox" has no field named "roundz".
//   Unknown enumeration value of "CONCURENT" for field "kind".
void improve(std::string_view text, const pb::Descriptor& root, FirstError::Error& error) {
  const std::vector<std::string> words = quoted_words(error.message);
  if (words.size() != 2) {
    error.message = escape::remark(error.message);
    return;
  }
  if (error.message.starts_with("Message type \"") && error.message.find("\" has no field named \"") != std::string::npos) {
    const pb::Descriptor* type = root.file()->pool()->FindMessageTypeByName(words[0]);
    move_to_token(text, words[1], error);
    error.message = "unknown field " + escape::quoted(words[1]) + " in " + type->name() + meant(words[1], *type, root);
  } else if (error.message.starts_with("Unknown enumeration value of \"")) {
    std::set<const pb::Descriptor*> seen;
    std::vector<std::string> known;
    collect_enum_values(root, words[1], seen, known);
    move_to_token(text, words[0], error);
    error.message = "unknown value " + escape::quoted(words[0]) + " of " + words[1] + suggestion(words[0], known);
  } else {
    error.message = escape::remark(error.message);
  }
}

using Locations = pb::TextFormat::ParseInfoTree;

std::string what_is_wrong(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
  const pb::Reflection& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
  if (field.enum_type() != nullptr) {
    const int number =
        repeated ? reflection.GetRepeatedEnumValue(message, &field, index) : reflection.GetEnumValue(message, &field);
    if (field.enum_type()->FindValueByNumber(number) != nullptr) return {};
    return "unknown value " + std::to_string(number) + " of " + field.name();
  }
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE) {
    const double number = repeated ? reflection.GetRepeatedDouble(message, &field, index) : reflection.GetDouble(message, &field);
    return std::isfinite(number) ? std::string() : field.name() + " takes a number, not infinity or nan";
  }
  if (field.cpp_type() != pb::FieldDescriptor::CPPTYPE_STRING) return {};
  std::string text = repeated ? reflection.GetRepeatedString(message, &field, index) : reflection.GetString(message, &field);
  if (field.full_name() == "warpfold.configs.TraceFile.text") std::erase(text, '\n');  // the trace language has lines
  const std::string why = escape::why_unprintable(text);
  return why.empty() ? why : field.name() + ": " + why;
}

// Returns the first value that protobuf accepts but no file may contain: a number that is no value of its enum, or text
// that does not stay in its line.
std::optional<FirstError::Error> find_wrong_value(const pb::Message& message, const Locations& locations) {
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    const bool repeated = field->is_repeated();
    const int count = repeated ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const int index = repeated ? i : -1;  // as ParseInfoTree wants it
      if (field->message_type() == nullptr) {
        const pb::TextFormat::ParseLocation at = locations.GetLocation(field, index);
        if (std::string wrong = what_is_wrong(message, *field, i); !wrong.empty())
          return FirstError::Error{at.line, at.column, std::move(wrong)};
        continue;
      }
      const Locations* inner = locations.GetTreeForNested(field, index);
      const pb::Message& value =
          repeated ? reflection.GetRepeatedMessage(message, field, i) : reflection.GetMessage(message, field);
      if (inner == nullptr) continue;
      if (auto wrong = find_wrong_value(value, *inner)) return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace

Expected<void> parse_located_text(const std::string& file, std::string_view text, pb::Message& message,
                                  pb::TextFormat::ParseInfoTree& locations) {
  pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  FirstError errors;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(&locations);
  if (parser.Parse(&stream, &message)) {
    const auto wrong = find_wrong_value(message, locations);
    if (!wrong) return {};
    return fail_at(file, wrong->line + 1, wrong->column + 1, wrong->message);
  }
  FirstError::Error error = errors.error().value_or(FirstError::Error{-1, -1, "not a text-format protobuf file"});
  improve(text, *message.GetDescriptor(), error);
  return fail_at(file, error.line + 1, error.column + 1, error.message);
}

Expected<void> parse_text(const std::string& file, std::string_view text, pb::Message& message) {
  Locations locations;
  return parse_located_text(file, text, message, locations);
}

}  // namespace warpfold::configs
