#include <algorithm>
#include <vector>

#include "configs/escape/quoted.h"
#include "traces/import/other_forms.h"
#include "traces/import/words.h"

namespace warpfold::sass {
namespace {

// Returns the fields of a row, separated by commas. A quoted field may contain commas, and "" for a quote.
std::vector<std::string> fields_of(std::string_view row) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '"' && quoted && i + 1 < row.size() && row[i + 1] == '"') {
      fields.back() += row[i++];
    } else if (row[i] == '"') {
      quoted = !quoted;
    } else if (row[i] == ',' && !quoted) {
      fields.emplace_back();
    } else if (row[i] != '\r') {
      fields.back() += row[i];
    }
  }
  return fields;
}

struct Columns {
  size_t address = 0;
  size_t source = 0;
};

std::optional<Columns> columns_of(const std::vector<std::string>& fields) {
  const auto address = std::ranges::find(fields, "Address");
  const auto source = std::ranges::find(fields, "Source");
  if (address == fields.end() || source == fields.end()) return std::nullopt;
  return Columns{static_cast<size_t>(address - fields.begin()), static_cast<size_t>(source - fields.begin())};
}

std::string in_hexadecimal(uint64_t value) {
  char digits[17] = {};
  std::to_chars(digits, digits + 16, value, 16);
  return digits;
}

class CsvListingReader {
 public:
  CsvListingReader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Expected<std::string> read() {
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      ++line_;
      if (auto read = read_row(text_.substr(0, end)); !read) return std::unexpected(read.error());
      if (end == std::string_view::npos) break;
      text_.remove_prefix(end + 1);
    }
    if (!any_) return wrong("no instruction; export the page with ncu --page source --csv --print-source sass");
    return lines_.take() + "\n";
  }

 private:
  std::unexpected<Diagnostic> wrong(std::string message) const { return fail_at(file_, line_, 1, std::move(message)); }

  Expected<void> read_row(std::string_view row) {
    const std::vector<std::string> fields = fields_of(row);
    if (fields.size() > 1 && fields[0] == "Kernel Name") {
      name_ = std::string(trimmed(fields[1]));
      name_line_ = line_;
      columns_.reset();
      return {};
    }
    if (const auto columns = columns_of(fields)) {
      columns_ = columns;
      first_.reset();
      const size_t place = name_line_ == 0 ? static_cast<size_t>(line_) : static_cast<size_t>(name_line_);
      if (!lines_.add(place, "Function : " + (name_.empty() ? "kernel" : name_))) return wrong("columns twice for one kernel");
      name_line_ = 0;
      return {};
    }
    if (!columns_ || fields.size() <= std::max(columns_->address, columns_->source)) return {};
    const std::string_view source = trimmed(fields[columns_->source]);
    const std::string_view address = trimmed(fields[columns_->address]);
    if (address.empty() || source.empty()) return {};
    const auto at = hexadecimal(address);
    if (!at) return wrong("expected an address in hexadecimal, not " + escape::quoted(address));
    if (!first_) first_ = *at;
    if (*at < *first_) return wrong("the address " + std::string(address) + " lies before the first one; export without sorting");
    any_ = true;
    lines_.add(static_cast<size_t>(line_), "/*" + in_hexadecimal(*at - *first_) + "*/ " + relative(source) + " ;");
    return {};
  }

  // Replaces a branch target, which is an address in memory, by the offset from the function's first instruction.
  std::string relative(std::string_view source) const {
    if (source.ends_with(';')) source = trimmed(source.substr(0, source.size() - 1));
    const size_t at = source.rfind(" 0x");
    if (*first_ == 0 || at == std::string_view::npos) return std::string(source);
    const auto target = hexadecimal(source.substr(at + 1));
    constexpr uint64_t kImmediates = 0xffffffff;  // an immediate has 32 bits
    if (!target || *target < *first_ || *first_ <= kImmediates) return std::string(source);
    return std::string(source.substr(0, at)) + " 0x" + in_hexadecimal(*target - *first_);
  }

  const std::string& file_;
  std::string_view text_;
  int line_ = 0;
  std::string name_;
  int name_line_ = 0;  // 0: none since the last header row
  std::optional<Columns> columns_;
  std::optional<uint64_t> first_;
  bool any_ = false;
  ListingLines lines_;
};

}  // namespace

bool is_csv_listing(std::string_view text) {
  constexpr int kLines = 100;  // output of the tool before the table
  for (int i = 0; i < kLines && !text.empty(); ++i) {
    const size_t end = text.find('\n');
    const std::string_view row = text.substr(0, end);
    if (row.find(',') != std::string_view::npos && columns_of(fields_of(row))) return true;
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  return false;
}

Expected<std::string> read_csv_listing(const std::string& file, std::string_view text) {
  return CsvListingReader(file, text).read();
}

}  // namespace warpfold::sass
