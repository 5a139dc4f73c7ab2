#include "configs/expression.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

// A mistake, found at a character of the text.
struct Mistake {
  size_t at;
  std::string what;
};

using Value = std::variant<double, std::string, bool>;

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '[' || c == ']';
}

// Recursive descent that computes as it reads: condition > conjunction > comparison > sum > product > operand.
class Reader {
 public:
  Reader(std::string_view text, const Words& words) : text_(text), words_(words) {}

  bool read() { return as_condition(whole(), 0); }
  double read_number() { return as_number(whole(), 0); }

 private:
  Value whole() {
    Value value = condition();
    if (!at_end()) throw Mistake{at_, "expected an operator or the end"};
    return value;
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }
  bool take(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    const size_t end = at_ + word.size();
    return !(end < text_.size() && in_name(text_[end])) && take(word);
  }
  static bool as_condition(const Value& value, size_t at) {
    if (const bool* condition = std::get_if<bool>(&value)) return *condition;
    throw Mistake{at, "expected a condition, such as a <= b"};
  }
  static double as_number(const Value& value, size_t at) {
    if (const double* number = std::get_if<double>(&value)) return *number;
    throw Mistake{at, "expected a number"};
  }

  // One level of parentheses, `not` or a sign. The reader calls itself there, and a text of a megabyte shall not use up the stack.
  template <typename Read>
  Value nested(Read read) {
    constexpr int kDeepest = 100;
    if (depth_ == kDeepest) throw Mistake{at_, "nested more than " + std::to_string(kDeepest) + " deep"};
    ++depth_;
    Value value = read();
    --depth_;
    return value;
  }

  Value condition() {
    const size_t start = at_;
    Value left = conjunction();
    while (take_word("or")) {
      const size_t behind = at_;
      const bool right = as_condition(conjunction(), behind);
      left = as_condition(left, start) || right;
    }
    return left;
  }

  Value conjunction() {
    const size_t start = at_;
    Value left = negation();
    while (take_word("and")) {
      const size_t behind = at_;
      const bool right = as_condition(negation(), behind);
      left = as_condition(left, start) && right;
    }
    return left;
  }

  Value negation() {
    if (!take_word("not")) return comparison();
    const size_t behind = at_;
    return !as_condition(nested([this] { return negation(); }), behind);
  }

  Value comparison() {
    const size_t start = at_;
    Value left = sum();
    constexpr std::array<std::string_view, 6> kSigns{"==", "!=", "<=", ">=", "<", ">"};
    for (size_t sign = 0; sign < kSigns.size(); ++sign) {
      if (!take(kSigns[sign])) continue;
      const size_t behind = at_;
      const Value right = sum();
      if (sign < 2 && left.index() == right.index()) return (left == right) == (sign == 0);
      const double a = as_number(left, start);
      const double b = as_number(right, behind);
      const std::array results{a == b, a != b, a <= b, a >= b, a<b, a> b};
      return results[sign];
    }
    return left;
  }

  Value sum() {
    const size_t start = at_;
    Value left = product();
    while (true) {
      const bool plus = take("+");
      if (!plus && !take("-")) return left;
      const size_t behind = at_;
      const double right = as_number(product(), behind);
      left = as_number(left, start) + (plus ? right : -right);
    }
  }

  Value product() {
    const size_t start = at_;
    Value left = operand();
    while (true) {
      skip_spaces();
      const char sign = at_ < text_.size() ? text_[at_] : ' ';
      if (sign != '*' && sign != '/' && sign != '%') return left;
      const size_t behind = ++at_;
      const double right = as_number(operand(), behind);
      const double number = as_number(left, start);
      left = sign == '*' ? number * right : sign == '/' ? number / right : std::fmod(number, right);
    }
  }

  Value operand() {
    if (at_end()) throw Mistake{at_, "expected a name, a number or a text"};
    if (take("(")) {
      Value inner = nested([this] { return condition(); });
      if (!take(")")) throw Mistake{at_, "expected )"};
      return inner;
    }
    if (take("-")) {
      const size_t behind = at_;
      return -as_number(nested([this] { return operand(); }), behind);
    }
    if (take("'")) {
      const size_t end = text_.find('\'', at_);
      if (end == std::string_view::npos) throw Mistake{at_ - 1, "a text without its end"};
      const std::string text(text_.substr(at_, end - at_));
      at_ = end + 1;
      return text;
    }
    if (begins_name(text_[at_])) return name();
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) throw Mistake{at_, "expected a name, a number or a text"};
    at_ = static_cast<size_t>(end - text_.data());
    return number;
  }

  Value name() {
    const size_t start = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    const auto word = words_.find(name);
    if (!word) throw Mistake{start, "no " + escape::quoted(name) + suggestion(name, words_.known)};
    return std::visit([](const auto& value) -> Value { return value; }, *word);
  }

  std::string_view text_;
  const Words& words_;
  size_t at_ = 0;
  int depth_ = 0;
};

std::unexpected<Diagnostic> told(const std::string& text, const Mistake& mistake) {
  return fail(escape::quoted(text) + ", character " + std::to_string(mistake.at + 1) + ": " + mistake.what);
}

}  // namespace

Expected<bool> holds(const std::string& text, const Words& words) {
  try {
    return Reader(text, words).read();
  } catch (const Mistake& mistake) {
    return told(text, mistake);
  }
}

Expected<double> number_of(const std::string& text, const Words& words) {
  if (const auto whole = words.find(text)) {
    if (const double* number = std::get_if<double>(&*whole)) return *number;
  }
  try {
    return Reader(text, words).read_number();
  } catch (const Mistake& mistake) {
    return told(text, mistake);
  }
}

}  // namespace warpfold::configs
