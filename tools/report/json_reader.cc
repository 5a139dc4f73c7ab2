#include "tools/report/json_reader.h"

#include <google/protobuf/descriptor.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::report {

namespace pb = google::protobuf;

namespace {

// A value that is neither a list nor an object. protobuf's own mapping quotes 64-bit integers, so a text may be a number.
struct Scalar {
  enum class Kind { kNumber, kText, kBool, kNull };
  Kind kind;
  std::string text{};
};

using Stream = rapidjson::MemoryStream;

// Fills in a message by the events of RapidJSON's iterative parser, which come behind a value and in front of a bracket. The
// functions return false after a fault; `at` is then its offset in the text.
class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  Handler(const Stream& stream, std::string_view text, pb::Message& message) : stream_(stream), text_(text), root_(&message) {}

  size_t at() const { return at_; }
  const std::string& problem() const { return problem_; }

  bool Null() { return take({Scalar::Kind::kNull}, stream_.Tell() - 4); }
  bool Bool(bool value) { return take({Scalar::Kind::kBool, value ? "true" : ""}, stream_.Tell() - (value ? 4 : 5)); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return take({Scalar::Kind::kNumber, {text, length}}, stream_.Tell() - length);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return take({Scalar::Kind::kText, {text, length}}, begin_of_text());
  }

  bool Key(const char* text, rapidjson::SizeType length, bool) {
    Level& level = levels_.back();
    const std::string name(text, length);
    const pb::Descriptor& type = *level.message->GetDescriptor();
    level.field = field_of(type, name);
    const size_t start = begin_of_text();
    if (level.field == nullptr)
      return fail(start, "unknown field " + escape::quoted(name) + " in " + type.name() + suggestion(name, names(type)));
    const auto place = static_cast<size_t>(level.field->index());
    if (level.read[place])
      return fail(start, "the field " + escape::quoted(level.field->name()) + " occurs twice in one " + type.name());
    level.read[place] = true;
    const pb::OneofDescriptor* choice = level.field->real_containing_oneof();
    if (choice == nullptr || !level.message->GetReflection()->HasOneof(*level.message, choice)) return true;
    const std::string& other = level.message->GetReflection()->GetOneofFieldDescriptor(*level.message, choice)->name();
    return fail(start, type.name() + " has one of " + escape::quoted(other) + " and " + escape::quoted(level.field->name()));
  }

  bool StartObject() {
    pb::Message* message = root_;
    if (!levels_.empty()) {
      if (!expects_value(stream_.Tell())) return false;
      const Level& level = levels_.back();
      if (level.field->message_type() == nullptr) return wrong(stream_.Tell());
      const pb::Reflection& r = *level.message->GetReflection();
      message = level.list ? r.AddMessage(level.message, level.field) : r.MutableMessage(level.message, level.field);
    }
    levels_.push_back({message, std::vector<bool>(static_cast<size_t>(message->GetDescriptor()->field_count()))});
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return levels_.pop_back(), true; }
  bool StartArray() {
    const size_t start = stream_.Tell();
    if (levels_.empty()) return expects_object(start);
    Level& level = levels_.back();
    if (level.list || !level.field->is_repeated()) return wrong(start);
    return level.list = true;
  }
  bool EndArray(rapidjson::SizeType) { return levels_.back().list = false, true; }

 private:
  // An open object, and the field whose value comes next.
  struct Level {
    pb::Message* message;
    std::vector<bool> read;  // by field
    const pb::FieldDescriptor* field = nullptr;
    bool list = false;  // inside the field's brackets
  };

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

  // Returns the offset of the opening quote of the text that was read last: the quote before it that no backslash escapes.
  size_t begin_of_text() const {
    size_t quote = stream_.Tell() - 1;
    for (bool escaped = true; escaped;) {
      quote = text_.rfind('"', quote - 1);
      const size_t before = text_.find_last_not_of('\\', quote - 1);
      escaped = quote > 0 && (quote - before) % 2 == 0;
    }
    return quote;
  }

  bool fail(size_t at, std::string problem) {
    at_ = at;
    problem_ = std::move(problem);
    return false;
  }
  bool expects_object(size_t start) { return fail(start, "expected an object for " + root_->GetDescriptor()->name()); }
  bool expects_value(size_t start) {
    if (levels_.empty()) return expects_object(start);
    const Level& level = levels_.back();
    return level.list || !level.field->is_repeated() || fail(start, "expected a list for " + level.field->name());
  }

  bool wrong(size_t start) {
    const pb::FieldDescriptor& field = *levels_.back().field;
    return fail(start, field.name() + " takes a value of type " + field.cpp_type_name());
  }

  // Sets the field, or adds to its list.
  bool take(const Scalar& value, size_t start) {
    if (!expects_value(start)) return false;
    const auto& [message, read, field, list] = levels_.back();
    const pb::Reflection& r = *message->GetReflection();
    const bool text = value.kind == Scalar::Kind::kText;
    switch (field->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        return number(value, start, list ? &pb::Reflection::AddUInt32 : &pb::Reflection::SetUInt32);
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        return number(value, start, list ? &pb::Reflection::AddUInt64 : &pb::Reflection::SetUInt64);
      case pb::FieldDescriptor::CPPTYPE_INT32:
        return number(value, start, list ? &pb::Reflection::AddInt32 : &pb::Reflection::SetInt32);
      case pb::FieldDescriptor::CPPTYPE_INT64:
        return number(value, start, list ? &pb::Reflection::AddInt64 : &pb::Reflection::SetInt64);
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        return number(value, start, list ? &pb::Reflection::AddDouble : &pb::Reflection::SetDouble);
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        if (value.kind != Scalar::Kind::kBool) return wrong(start);
        (r.*(list ? &pb::Reflection::AddBool : &pb::Reflection::SetBool))(message, field, !value.text.empty());
        return true;
      case pb::FieldDescriptor::CPPTYPE_ENUM:
        return text ? enumerator(value.text, start) : wrong(start);
      case pb::FieldDescriptor::CPPTYPE_STRING:
        if (!text) return wrong(start);
        (r.*(list ? &pb::Reflection::AddString : &pb::Reflection::SetString))(message, field, value.text);
        return true;
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        return wrong(start);
      default:
        throw std::logic_error("a schema field of a type that no schema had: " + field->full_name());
    }
  }

  template <typename Number>
  bool number(const Scalar& value, size_t start,
              void (pb::Reflection::*set)(pb::Message*, const pb::FieldDescriptor*, Number) const) {
    const Level& level = levels_.back();
    Number made{};
    const char* const last = value.text.data() + value.text.size();
    const auto [end, error] = std::from_chars(value.text.data(), last, made);
    const bool digits = value.kind == Scalar::Kind::kNumber || value.kind == Scalar::Kind::kText;
    if (digits && error == std::errc::result_out_of_range)
      return fail(start, level.field->name() + " is out of range: " + escape::unquoted(value.text));
    if (!digits || error != std::errc() || end != last || !std::isfinite(static_cast<double>(made))) return wrong(start);
    (level.message->GetReflection()->*set)(level.message, level.field, made);
    return true;
  }

  bool enumerator(const std::string& name, size_t start) {
    const Level& level = levels_.back();
    const pb::EnumDescriptor& type = *level.field->enum_type();
    if (const pb::EnumValueDescriptor* value = type.FindValueByName(name)) {
      const pb::Reflection& r = *level.message->GetReflection();
      (r.*(level.list ? &pb::Reflection::AddEnum : &pb::Reflection::SetEnum))(level.message, level.field, value);
      return true;
    }
    std::vector<std::string> known;
    for (int v = 0; v < type.value_count(); ++v) known.push_back(type.value(v)->name());
    return fail(start, "unknown " + type.name() + " " + escape::quoted(name) + suggestion(name, known));
  }

  const Stream& stream_;
  std::string_view text_;
  pb::Message* root_;
  std::vector<Level> levels_{};
  size_t at_ = 0;
  std::string problem_{};
};

// Collects the keys of the outermost object.
struct TopKeys : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TopKeys> {
  std::vector<std::string> keys{};
  int depth = 0;

  bool Default() { return depth > 0; }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    if (depth == 1) keys.emplace_back(text, length);
    return true;
  }
  bool StartObject() { return ++depth > 0; }
  bool EndObject(rapidjson::SizeType) { return --depth >= 0; }
  bool StartArray() { return depth++ > 0; }
  bool EndArray(rapidjson::SizeType) { return --depth >= 0; }
};

}  // namespace

// Iterative parsing: deep nesting uses no stack.
Expected<void> read_json(const std::string& file, std::string_view text, pb::Message& message) {
  Stream stream(text.data(), text.size());
  Handler handler(stream, text, message);
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult parsed = rapidjson::Reader().Parse<kFlags>(stream, handler);
  if (parsed) return {};
  const bool ours = !handler.problem().empty();
  const std::string_view before = text.substr(0, ours ? handler.at() : parsed.Offset());
  const auto line = static_cast<int>(1 + std::ranges::count(before, '\n'));
  const auto column = static_cast<int>(before.size() - before.rfind('\n'));  // of the first line, npos is -1
  return fail_at(file, line, column,
                 ours ? handler.problem() : "damaged JSON: " + escape::remark(rapidjson::GetParseError_En(parsed.Code())));
}

std::vector<std::string> top_keys(std::string_view text) {
  Stream stream(text.data(), text.size());
  TopKeys handler;
  // Kineto writes NaN for undefined rates.
  (void)rapidjson::Reader().Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag>(stream, handler);
  return handler.keys;
}

}  // namespace warpfold::report
