#include "tools/validation/csv.h"

#include <utility>

#include "configs/escape/utf8.h"
#include "configs/escape/visible.h"

namespace warpfold::validation {

namespace {

class Parser {
 public:
  Parser(const std::string& file, std::string_view text, int line) : file_(file), text_(text), line_(line) {}

  Expected<void> parse(const std::function<Expected<void>(std::vector<CsvCell>)>& take) {
    size_t width = 0;  // width of the header
    while (at_ < text_.size()) {
      if (skip_line()) continue;
      auto row = parse_row();
      if (!row) return std::unexpected(row.error());
      for (const CsvCell& cell : *row) {
        if (!escape::is_utf8(cell.text)) return fail_at(file_, cell.line, cell.column, "bytes that are no UTF-8");
      }
      if (width == 0) width = row->size();
      if (row->size() != width) return wrong_width(*row, width);
      if (auto taken = take(std::move(*row)); !taken) return taken;
    }
    if (width == 0) return fail_at(file_, 1, 1, "no header: expected a line with the names of columns");
    return {};
  }

 private:
  bool ended() const { return at_ == text_.size(); }
  bool at_line_end() const { return ended() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n"; }

  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }

  void end_line() {
    while (!ended() && text_[at_] != '\n') advance();
    if (!ended()) advance();
  }

  // Skips a comment or an empty line; returns false if there is none.
  bool skip_line() {
    if (text_[at_] != '#' && !at_line_end()) return false;
    end_line();
    return true;
  }

  Expected<std::vector<CsvCell>> parse_row() {
    std::vector<CsvCell> row;
    while (true) {
      auto cell = parse_cell();
      if (!cell) return std::unexpected(cell.error());
      row.push_back(std::move(*cell));
      if (at_line_end()) break;
      advance();  // the comma
    }
    end_line();
    return row;
  }

  Expected<CsvCell> parse_cell() {
    CsvCell cell{"", line_, column_};
    if (!ended() && text_[at_] == '"') return parse_quoted(std::move(cell));
    while (!at_line_end() && text_[at_] != ',') {
      if (text_[at_] == '"')
        return fail_at(file_, line_, column_, "a quote inside a cell; put the whole cell in quotes and double it");
      cell.text += text_[at_];
      advance();
    }
    return cell;
  }

  Expected<CsvCell> parse_quoted(CsvCell cell) {
    advance();
    bool closed = false;
    while (!closed && !ended()) {
      if (text_[at_] == '"') {
        advance();
        closed = ended() || text_[at_] != '"';
      }
      if (closed) break;
      cell.text += text_[at_];
      advance();
    }
    if (!closed) return fail_at(file_, cell.line, cell.column, "this quote is not closed");
    if (!at_line_end() && text_[at_] != ',') return fail_at(file_, line_, column_, "expected a comma after the closing quote");
    return cell;
  }

  std::unexpected<Diagnostic> wrong_width(const std::vector<CsvCell>& row, size_t wanted) const {
    const CsvCell& place = row.size() > wanted ? row[wanted] : row.back();
    return fail_at(
        file_, place.line, place.column,
        std::to_string(row.size()) + (row.size() == 1 ? " cell" : " cells") + ", the header has " + std::to_string(wanted));
  }

  const std::string& file_;
  std::string_view text_;
  size_t at_ = 0;
  int line_;
  int column_ = 1;
};

}  // namespace

Expected<CsvTable> parse_csv(const std::string& file, std::string_view text) {
  CsvTable table;
  const auto parsed = parse_csv_rows(file, text, 1, [&table](std::vector<CsvCell> row) -> Expected<void> {
    if (table.header.empty()) {
      table.header = std::move(row);
    } else {
      table.rows.push_back(std::move(row));
    }
    return {};
  });
  if (!parsed) return std::unexpected(parsed.error());
  return table;
}

Expected<void> parse_csv_rows(const std::string& file, std::string_view text, int line,
                              const std::function<Expected<void>(std::vector<CsvCell>)>& take) {
  return Parser(file, text, line).parse(take);
}

}  // namespace warpfold::validation
