#include "traces/text_layout.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "traces/trace_file.h"

namespace warpfold::traces {

namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// Takes the text before the first of `stops` from `text`, and returns it without blanks at its ends.
std::string_view take_until(std::string_view& text, std::string_view stops) {
  text = trimmed(text);
  const size_t end = std::min(text.find_first_of(stops), text.size());
  const std::string_view taken = trimmed(text.substr(0, end));
  text.remove_prefix(end);
  return taken;
}

// Returns the length of the quoted text at the beginning of `text`, including both quotes.
size_t quoted_length(std::string_view text) {
  size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Puts one blank between words and none around `joints`. Text in double quotes does not change.
std::string words_of(std::string_view text, std::string_view joints) {
  std::string out;
  while (!(text = trimmed(text)).empty()) {
    const bool joint = joints.find(text.front()) != std::string_view::npos;
    const bool joined = out.empty() || joint || joints.find(out.back()) != std::string_view::npos;
    size_t length = 1;
    if (text.front() == '"') {
      length = quoted_length(text);
    } else if (!joint) {
      while (length < text.size() && !is_blank(text[length]) && text[length] != '"' && joints.find(text[length]) == joints.npos)
        ++length;
    }
    if (!joined) out += ' ';
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

// Returns the length of the operand at the beginning of `text`: up to a comma, semicolon or brace outside brackets.
size_t operand_length(std::string_view text) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth <= 0 && (c == ',' || c == ';' || c == '{')) return at;
  }
  return text.size();
}

// Lays out an instruction such as "[B------:R-:W-:-:S05] @!P0 BRA `(.L_wait) ;".
std::string instruction_of(std::string_view text) {
  std::string out;
  if (text.front() == '[') {
    out.append(take_until(text, "]")).append("] ");
    text.remove_prefix(1);
  }
  text = trimmed(text);
  if (text.starts_with('@')) {
    text = trimmed(text.substr(1));
    out += '@';
    if (text.starts_with('!')) {
      out += '!';
      text.remove_prefix(1);
    }
    out.append(take_until(text, " \t;{")).append(" ");
  }
  out += take_until(text, " \t;{");
  std::string_view separator = " ";
  while (!(text = trimmed(text)).empty() && text.front() != ';' && text.front() != '{') {
    const size_t length = operand_length(text);
    out.append(separator).append(trimmed(text.substr(0, length)));
    text.remove_prefix(length + (text.substr(length).starts_with(',') ? 1 : 0));
    separator = ", ";
  }
  if (text.starts_with(';')) text = trimmed(text.substr(1));
  out += " ;";
  if (text.empty()) return out;
  const std::string effect = words_of(text.substr(1, text.size() - 2), "=");
  return effect.empty() ? out : out.append(" {").append(effect).append("}");
}

class Layout {
 public:
  std::string lay_out(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      add(trimmed(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(out_);
  }

 private:
  void add(std::string_view line) {
    if (line.empty()) {
      empty_line_ = !out_.empty();
      return;
    }
    if (empty_line_) out_ += '\n';
    empty_line_ = false;
    const std::string_view keyword = line.substr(0, line.find_first_of(" \t"));
    if (keyword == "end") --depth_;
    out_.append(2 * depth_, ' ');
    out_ += line.front() == '#' ? std::string(line) : is_statement(keyword) ? words_of(line, "=*/") : instruction_of(line);
    out_ += '\n';
    if (keyword == "kernel" || keyword == "role" || keyword == "loop") ++depth_;
  }

  // Inside a role only these words are statements, whatever the names of instructions.
  bool is_statement(std::string_view keyword) const {
    constexpr std::array<std::string_view, 3> kInBody{"loop", "block", "end"};
    return depth_ < 2 || std::ranges::find(kInBody, keyword) != kInBody.end();
  }

  std::string out_;
  size_t depth_ = 0;
  bool empty_line_ = false;
};

}  // namespace

Expected<std::string> lay_out_text(const std::string& file, const std::string& text) {
  const auto before = parse_kernels(file, text);
  if (!before) return std::unexpected(before.error());
  std::string laid_out = Layout().lay_out(text);
  const auto after = parse_kernels(file, laid_out);
  if (!after || *after != *before) throw std::logic_error("the layout of " + file + " changes its kernels");
  return laid_out;
}

}  // namespace warpfold::traces
