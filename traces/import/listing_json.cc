#include <charconv>
#include <vector>

#include "configs/escape/quoted.h"
#include "traces/import/listing.h"
#include "traces/import/other_forms.h"

namespace warpfold::sass {
namespace {

constexpr int kDeepest = 64;

struct Place {
  int line = 1;  // line of the file
  int column = 1;
  size_t jq = 1;  // line of `jq . FILE`
};

// Reads JSON from left to right. It tracks the line in which `jq .` would print each part: every member, element and
// closing bracket has its own line, except for empty arrays and objects.
class JsonReader {
 public:
  JsonReader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  std::unexpected<Diagnostic> wrong(std::string message) const {
    return fail_at(file_, place_.line, place_.column, std::move(message));
  }
  Place place() {
    skip_blanks();
    return place_;
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool ended() { return peek() == '\0' && at_ >= text_.size(); }

  // `each` reads an element.
  template <typename Each>
  Expected<void> array(const Each& each) {
    return list('[', ']', [&]() -> Expected<void> { return each(); });
  }
  // `each` reads the value of the member with the given name.
  template <typename Each>
  Expected<void> object(const Each& each) {
    return list('{', '}', [&]() -> Expected<void> {
      const auto name = string();
      if (!name) return std::unexpected(name.error());
      if (peek() != ':') return wrong("expected : behind the name of a member");
      take();
      return each(*name);
    });
  }

  Expected<std::string> string() {
    if (peek() != '"') return wrong("expected a string");
    take();
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < ' ') return wrong("a string with a control character");
      if (text_[at_] != '\\') {
        value += take();
        continue;
      }
      take();
      if (auto escaped = escape(value); !escaped) return std::unexpected(escaped.error());
    }
    if (at_ >= text_.size()) return wrong("the text breaks off inside a string");
    take();
    return value;
  }

  Expected<uint64_t> whole() {
    skip_blanks();
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) return wrong("expected a whole number");
    while (text_.data() + at_ != end) take();
    return value;
  }

  Expected<void> skip() {
    if (depth_ > kDeepest) return wrong("values inside each other more than " + std::to_string(kDeepest) + " deep");
    if (peek() == '[') return array([this]() { return skip(); });
    if (peek() == '{') return object([this](const std::string&) { return skip(); });
    if (peek() == '"') {
      const auto value = string();
      return value ? Expected<void>() : std::unexpected(value.error());
    }
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-' ||
                                  text_[at_] == '+' || text_[at_] == '.')) {
      take();
    }
    return at_ > begin ? Expected<void>() : wrong("expected a value");
  }

 private:
  char take() {
    const char c = text_[at_++];
    ++place_.column;
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    }
    return c;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) take();
  }

  template <typename Each>
  Expected<void> list(char open, char close, const Each& each) {
    if (peek() != open) return wrong(std::string("expected ") + open);
    if (++depth_ > kDeepest) return wrong("values inside each other more than " + std::to_string(kDeepest) + " deep");
    take();
    bool any = false;
    while (peek() != close) {
      if (any) {
        if (peek() != ',') return wrong(std::string("expected , or ") + close);
        take();
      }
      any = true;
      ++place_.jq;
      skip_blanks();
      if (auto read = each(); !read) return read;
    }
    take();
    if (any) ++place_.jq;
    --depth_;
    return {};
  }

  Expected<void> escape(std::string& value) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return wrong("the text breaks off inside a string");
    const char c = take();
    if (const size_t known = kNames.find(c); known != std::string_view::npos) {
      value += kMeanings[known];
      return {};
    }
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (c != 'u' || digits.size() < 4 || error != std::errc{} || end != digits.data() + 4)
      return wrong("an unknown escape in a string");
    for (int i = 0; i < 4; ++i) take();
    value += code < 0x80 ? static_cast<char>(code) : '?';  // names and operands are ASCII
    return {};
  }

  const std::string& file_;
  std::string_view text_;
  size_t at_ = 0;
  Place place_;
  int depth_ = 0;
};

struct JsonInstruction {
  Place place;
  std::string text;
};
struct JsonFunction {
  Place place;  // place of its name
  std::string name;
  std::vector<JsonInstruction> code;
};

class JsonListingReader {
 public:
  JsonListingReader(const std::string& file, std::string_view text) : file_(file), json_(file, text) {}

  Expected<JsonListing> read() {
    size_t element = 0;
    auto read = json_.array([&]() -> Expected<void> {
      if (element++ == 0) return metadata();
      return element == 2 ? json_.array([this]() { return function(); }) : json_.skip();
    });
    if (!read) return std::unexpected(read.error());
    if (!json_.ended()) return json_.wrong("more behind the end of the JSON");
    for (const bool of_jq : {false, true}) {
      if (auto text = as_text(of_jq)) return JsonListing{*std::move(text), of_jq};
    }
    return fail_at(file_, 1, 1, "a function's name stands behind its instructions; expected what nvdisasm -json writes");
  }

 private:
  Expected<void> metadata() {
    return json_.object([this](const std::string& name) -> Expected<void> {
      if (name != "SM") return json_.skip();
      return json_.object([this](const std::string& inside) -> Expected<void> {
        if (inside != "version") return json_.skip();
        return json_.object([this](const std::string& part) -> Expected<void> {
          if (part != "major" && part != "minor") return json_.skip();
          version_ = json_.place();
          const auto number = json_.whole();
          if (!number) return std::unexpected(number.error());
          (part == "major" ? major_ : minor_) = *number;
          return {};
        });
      });
    });
  }

  Expected<void> function() {
    JsonFunction function;
    auto read = json_.object([&](const std::string& name) -> Expected<void> {
      if (name == "function-name") {
        function.place = json_.place();
        auto value = json_.string();
        if (!value) return std::unexpected(value.error());
        function.name = *std::move(value);
        return {};
      }
      if (name != "sass-instructions") return json_.skip();
      uint64_t offset = 0;
      return json_.array([&]() -> Expected<void> {
        auto read_one = instruction(offset, function);
        offset += kInstructionBytes;
        return read_one;
      });
    });
    if (!read) return read;
    if (function.name.empty() || function.name.find_first_of("\r\n") != std::string::npos) {
      return json_.wrong("a function without function-name; expected what nvdisasm -json writes");
    }
    functions_.push_back(std::move(function));
    return {};
  }

  Expected<void> instruction(uint64_t offset, JsonFunction& function) {
    std::string predicate;
    std::string opcode;
    std::string operands;
    std::string extra;
    Place place = json_.place();
    auto read = json_.object([&](const std::string& name) -> Expected<void> {
      std::string* into = name == "predicate"  ? &predicate
                          : name == "opcode"   ? &opcode
                          : name == "operands" ? &operands
                          : name == "extra"    ? &extra
                                               : nullptr;
      if (into == nullptr) return json_.skip();
      if (into == &opcode) place = json_.place();
      auto value = json_.string();
      if (!value) return std::unexpected(value.error());
      if (value->find_first_of("\r\n;") != std::string::npos) return json_.wrong("an instruction with a line break or ;");
      *into = *std::move(value);
      return {};
    });
    if (!read) return read;
    if (opcode.empty()) opcode = "GAP";  // between instructions; an unknown opcode, reported if control reaches it
    char hexadecimal[17] = {};
    std::to_chars(hexadecimal, hexadecimal + 16, offset, 16);
    std::string text = "/*" + std::string(hexadecimal) + "*/ ";
    for (const std::string& part : {predicate, opcode, operands, extra}) text += part.empty() ? "" : part + " ";
    function.code.push_back({place, text + ";"});
    return {};
  }

  std::optional<std::string> as_text(bool of_jq) const {
    const auto line = [of_jq](const Place& place) { return of_jq ? place.jq : static_cast<size_t>(place.line); };
    ListingLines lines;
    bool fits = major_ == 0 || lines.add(line(version_), "code for sm_" + std::to_string(major_) + std::to_string(minor_));
    for (const JsonFunction& function : functions_) {
      fits = fits && lines.add(line(function.place), "Function : " + function.name);
      for (const JsonInstruction& instruction : function.code) fits = fits && lines.add(line(instruction.place), instruction.text);
    }
    return fits ? std::optional(lines.take()) : std::nullopt;
  }

  const std::string& file_;
  JsonReader json_;
  Place version_;
  uint64_t major_ = 0;
  uint64_t minor_ = 0;
  std::vector<JsonFunction> functions_;
};

}  // namespace

bool ListingLines::add(size_t line, std::string_view text) {
  if (line <= line_) return false;
  text_.append(line - std::max<size_t>(line_, 1), '\n');
  line_ = line;
  text_ += text;
  return true;
}

bool is_json_listing(std::string_view text) {
  const size_t open = text.find_first_not_of(" \t\r\n");
  if (open == std::string_view::npos || text[open] != '[') return false;
  const size_t next = text.find_first_not_of(" \t\r\n", open + 1);
  return next != std::string_view::npos && text[next] == '{';
}

Expected<JsonListing> read_json_listing(const std::string& file, std::string_view text) {
  auto listing = JsonListingReader(file, text).read();
  if (listing) listing->text += '\n';
  return listing;
}

}  // namespace warpfold::sass
