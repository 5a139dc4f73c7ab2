#include "traces/line_reader.h"

#include <algorithm>
#include <charconv>

#include "configs/escape/quoted.h"
#include "configs/escape/utf8.h"
#include "traces/validate.h"

namespace warpfold::traces {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// True for all characters of a word, valid or not, so that a message shows a wrong word whole.
bool is_word(char c) { return !is_blank(c) && c != '=' && c != '*' && c != '/' && c != '"'; }

// Reads one escape from `text`, which follows the backslash. Returns the number of characters it takes, or 0 if it is
// invalid.
size_t unescape(std::string_view text, char& out) {
  constexpr std::string_view kLetters = "\"\\nt";
  constexpr std::string_view kMeanings = "\"\\\n\t";
  if (text.empty()) return 0;
  if (const size_t letter = kLetters.find(text[0]); letter != std::string_view::npos) {
    out = kMeanings[letter];
    return 1;
  }
  unsigned code = 0;
  const bool complete =
      text.size() >= 3 && text[0] == 'x' && std::from_chars(text.data() + 1, text.data() + 3, code, 16).ptr == text.data() + 3;
  out = static_cast<char>(code);
  return complete ? 3 : 0;
}

}  // namespace

void LineReader::fail(std::string message) {
  if (!error_) error_ = Diagnostic{file_, number_, static_cast<int>(part_) + 1, std::move(message)};
}

void LineReader::fail_here(std::string message) {
  part_ = at_;
  fail(std::move(message));
}

void LineReader::skip_blanks() {
  while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
}

std::string_view LineReader::take_while(bool (*belongs)(char)) {
  part_ = at_;
  while (at_ < line_.size() && belongs(line_[at_])) ++at_;
  return line_.substr(part_, at_ - part_);
}

bool LineReader::ended() {
  skip_blanks();
  return error_ || at_ == line_.size();
}

bool LineReader::take(char punctuation) {
  if (ended() || line_[at_] != punctuation) return false;
  ++at_;
  return true;
}

void LineReader::expect(char punctuation) {
  if (!take(punctuation)) fail_here(std::string("expected ") + punctuation);
}

void LineReader::expect_end() {
  if (!ended()) fail_here("expected the end of the line, found " + escape::quoted(line_.substr(at_)));
}

std::string LineReader::name(const std::string& what) {
  skip_blanks();
  const std::string_view word = take_while(is_word);
  if (!is_name(word)) fail("expected " + what + (word.empty() ? "" : ", found " + escape::quoted(word)));
  return error_ ? std::string() : std::string(word);
}

uint64_t LineReader::number(const std::string& what, uint64_t largest) {
  skip_blanks();
  const std::string_view word = take_while(is_word);
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || end != word.data() + word.size() || problem == std::errc::invalid_argument) {
    fail("expected " + what + ", a number" + (word.empty() ? "" : "; found " + escape::quoted(word)));
  } else if (problem == std::errc::result_out_of_range || value > largest) {
    fail(what + " " + std::string(word) + " is more than " + std::to_string(largest));
  }
  return error_ ? 0 : value;
}

std::string LineReader::quoted(const std::string& what) {
  skip_blanks();
  part_ = at_;
  if (!take('"')) {
    fail("expected " + what + " in double quotes");
    return {};
  }
  std::string text;
  while (at_ < line_.size() && line_[at_] != '"') {
    char next = line_[at_++];
    if (next == '\\') {
      const size_t taken = unescape(line_.substr(at_), next);
      if (taken == 0) {
        part_ = at_ - 1;
        fail("unknown escape; known: \\\" \\\\ \\n \\t \\xHH");
      }
      at_ += taken;
    }
    text += next;
  }
  if (at_ == line_.size()) fail("the double quotes around " + what + " are not closed");
  ++at_;
  return error_ ? std::string() : text;
}

bool LineReader::at_quote() { return !ended() && line_[at_] == '"'; }
bool LineReader::at_digit() { return !ended() && is_digit(line_[at_]); }

std::string quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = escape::utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (character == "\"" || character == "\\") {
      out.append("\\").append(character);
    } else if (character == "\n") {
      out += "\\n";
    } else if (character == "\t") {
      out += "\\t";
    } else if (length == 0 || escape::is_unseen(escape::code_point(character))) {
      for (const char c : character) {
        const auto code = static_cast<unsigned char>(c);
        out.append("\\x").append(1, kHex[code >> 4U]).append(1, kHex[code & 0xfU]);
      }
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out + '"';
}

}  // namespace warpfold::traces
