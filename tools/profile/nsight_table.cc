#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "tools/profile/launch_collector.h"
#include "tools/profile/nsight_names.h"
#include "tools/profile/nsight_reader.h"
#include "tools/validation/csv.h"

namespace warpfold::profile {
namespace {

using validation::CsvCell;

struct Unit {
  std::string_view name;
  double factor;
};
// Units as named by Nsight Systems, by Nsight Compute, and by its older versions. Memory counts in powers of 1000.
constexpr std::array kTimes{Unit{"ns", 1e-3},     Unit{"nsecond", 1e-3}, Unit{"us", 1},    Unit{"usecond", 1}, Unit{"ms", 1e3},
                            Unit{"msecond", 1e3}, Unit{"s", 1e6},        Unit{"sec", 1e6}, Unit{"second", 1e6}};
constexpr std::array kBytes{Unit{"B", 1},          Unit{"KB", 1e3},          Unit{"MB", 1e6},
                            Unit{"byte/block", 1}, Unit{"Kbyte/block", 1e3}, Unit{"Mbyte/block", 1e6}};

// Converts the rows of a table to launches.
class Table {
 public:
  explicit Table(const std::string& file) : file_(file) {}

  Expected<void> take(std::vector<CsvCell> row) {
    if (header_.empty()) return take_header(std::move(row));
    if (systems_) return take_launch(row);
    if (row[id_].text.empty()) {
      units_ = std::move(row);
      return {};
    }
    return metric_name_ ? take_metric(row) : take_kernel(row);
  }

  Expected<Profile> finish() {
    if (auto last = flush(); !last) return std::unexpected(last.error());
    Profile profile = collector_.take();
    if (profile.shapes.empty()) return fail_at(file_, 0, 0, "no kernel in the table");
    profile.one_at_a_time = !systems_;
    return profile;
  }

 private:
  using Column = std::optional<size_t>;

  // Finds a column by its name without the unit: "Start" finds "Start (ns)".
  Column column(std::string_view name) const {
    const auto found = std::ranges::find_if(header_, [name](const CsvCell& cell) {
      return cell.text == name || (cell.text.starts_with(name) && cell.text.substr(name.size()).starts_with(" ("));
    });
    return found == header_.end() ? Column{} : static_cast<size_t>(found - header_.begin());
  }
  Expected<size_t> needed(std::string_view name) const {
    if (const Column found = column(name)) return *found;
    return fail_at(file_, header_.front().line, 1, "no column " + escape::quoted(name));
  }

  Expected<void> take_header(std::vector<CsvCell> row) {
    header_ = std::move(row);
    systems_ = column("GrdX").has_value();
    constexpr std::array<std::string_view, 12> kSystems{"Start", "Duration", "GrdX",    "GrdY",   "GrdZ", "BlkX",
                                                        "BlkY",  "BlkZ",     "Reg/Trd", "Device", "Strm", "Name"};
    constexpr std::array<std::string_view, 4> kCompute{"ID", "Kernel Name", "Block Size", "Grid Size"};
    for (const std::string_view name : systems_ ? std::span<const std::string_view>(kSystems) : std::span(kCompute)) {
      const auto found = needed(name);
      if (!found) return std::unexpected(found.error());
    }
    if (systems_) return {};
    id_ = *column("ID");
    metric_name_ = column("Metric Name");
    if (!metric_name_ && !column("gpu__time_duration.sum"))
      return fail_at(file_, header_.front().line, 1, "no column \"gpu__time_duration.sum\"; collect it by ncu --set basic");
    return {};
  }

  Expected<double> number(const CsvCell& cell) const {
    std::string digits = cell.text;
    std::erase(digits, ',');
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc{} && end == digits.data() + digits.size() && value >= 0) return value;
    return fail_at(file_, cell.line, cell.column, "expected a number, not " + escape::quoted(cell.text));
  }
  template <typename Units>
  Expected<double> number(const CsvCell& cell, std::string_view unit, const Units& units) const {
    const auto* const found = std::ranges::find(units, unit, &Unit::name);
    if (found == units.end()) return fail_at(file_, cell.line, cell.column, "a number in the unknown unit " + escape::quoted(unit));
    const auto value = number(cell);
    if (!value) return value;
    return *value * found->factor;
  }
  // The unit in a column's header, as in "Start (ns)".
  std::string_view unit_of(size_t column) const {
    const std::string_view name = header_[column].text;
    const size_t open = name.rfind('(');
    return open == std::string_view::npos ? std::string_view() : name.substr(open + 1, name.size() - open - 2);
  }
  Expected<uint64_t> whole(const CsvCell& cell) const {
    const auto value = number(cell);
    if (!value) return std::unexpected(value.error());
    return static_cast<uint64_t>(std::min(*value, 1e18));
  }

  // Nsight Systems: one row per launch or copy.
  Expected<void> take_launch(const std::vector<CsvCell>& row) {
    TraceEvent event;
    event.complete = true;
    event.name = as_demangled(row[*column("Name")].text);
    const auto start = number(row[*column("Start")], unit_of(*column("Start")), kTimes);
    const auto duration = number(row[*column("Duration")], unit_of(*column("Duration")), kTimes);
    if (!start) return std::unexpected(start.error());
    if (!duration) return std::unexpected(duration.error());
    event.ts = *start;
    event.dur = *duration;
    event.kind = row[*column("GrdX")].text.empty() ? EventKind::kCopy : EventKind::kKernel;
    const auto stream = whole(row[*column("Strm")]);
    if (!stream) return std::unexpected(stream.error());
    event.stream = *stream;
    if (auto known = take_device(row[*column("Device")], event); !known) return known;
    if (event.kind == EventKind::kKernel) {
      for (const std::string_view axis : {"GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ"}) {
        const auto extent = whole(row[*column(axis)]);
        if (!extent) return std::unexpected(extent.error());
        (axis.starts_with('G') ? event.grid : event.block).push_back(*extent);
      }
      const auto registers = whole(row[*column("Reg/Trd")]);
      if (!registers) return std::unexpected(registers.error());
      event.registers = *registers;
      for (const std::string_view name : {"StcSMem", "DymSMem"}) {
        const Column found = column(name);
        if (!found || row[*found].text.empty()) continue;
        const auto bytes = number(row[*found], unit_of(*found), kBytes);
        if (!bytes) return std::unexpected(bytes.error());
        event.shared_memory += static_cast<uint64_t>(*bytes + 0.5);
      }
    }
    return add(event, row.front());
  }

  // Splits "NVIDIA A100-SXM4-40GB (0)" into the GPU's name and its number.
  Expected<void> take_device(const CsvCell& cell, TraceEvent& event) {
    const size_t open = cell.text.rfind(" (");
    if (open == std::string::npos || !cell.text.ends_with(')'))
      return fail_at(file_, cell.line, cell.column, "expected a GPU with its number, as in \"NVIDIA H100 (0)\"");
    const auto index = whole({cell.text.substr(open + 2, cell.text.size() - open - 3), cell.line, cell.column});
    if (!index) return std::unexpected(index.error());
    event.device = *index;
    collector_.add_device(*index, cell.text.substr(0, open));
    return {};
  }

  // Nsight Compute: "(132, 1, 1)".
  static std::vector<uint64_t> extents_of(std::string_view text) {
    const auto inner = lists_of("[[" + std::string(text) + "]]");
    return inner.empty() ? std::vector<uint64_t>{} : inner.front();
  }
  TraceEvent kernel_of(const std::vector<CsvCell>& row) const {
    TraceEvent event;
    event.complete = true;
    event.kind = EventKind::kKernel;
    event.name = as_demangled(row[*column("Kernel Name")].text);
    event.grid = extents_of(row[*column("Grid Size")].text);
    event.block = extents_of(row[*column("Block Size")].text);
    return event;
  }

  // The raw page: one row per kernel, one column per metric.
  Expected<void> take_kernel(const std::vector<CsvCell>& row) {
    pending_ = {kernel_of(row), row.front()};
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string_view unit = units_.empty() ? std::string_view() : std::string_view(units_[c].text);
      if (auto taken = take_value(header_[c].text, unit, row[c]); !taken) return taken;
    }
    return flush();
  }

  // The details page: one row per metric.
  Expected<void> take_metric(const std::vector<CsvCell>& row) {
    if (!pending_ || pending_->second.text != row[id_].text) {
      if (auto last = flush(); !last) return last;
      pending_ = {kernel_of(row), row[id_]};
    }
    const Column unit = column("Metric Unit");
    const Column value = column("Metric Value");
    if (!unit || !value) return {};
    return take_value(row[*metric_name_].text, row[*unit].text, row[*value]);
  }

  Expected<void> take_value(std::string_view metric, std::string_view unit, const CsvCell& cell) {
    TraceEvent& event = pending_->first;
    const auto is = [metric](std::string_view raw, std::string_view detail) { return metric == raw || metric == detail; };
    if (is("gpu__time_duration.sum", "Duration")) {
      const auto duration = number(cell, unit, kTimes);
      if (!duration) return std::unexpected(duration.error());
      event.dur = *duration;
    } else if (is("launch__registers_per_thread", "Registers Per Thread")) {
      const auto registers = whole(cell);
      if (!registers) return std::unexpected(registers.error());
      event.registers = *registers;
    } else if (is("launch__shared_mem_per_block_static", "Static Shared Memory Per Block") ||
               is("launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block")) {
      const auto bytes = number(cell, unit, kBytes);
      if (!bytes) return std::unexpected(bytes.error());
      event.shared_memory += static_cast<uint64_t>(*bytes + 0.5);
    } else if (metric == "device__attribute_display_name") {
      collector_.add_device(0, cell.text);
    }
    return {};
  }

  Expected<void> flush() {
    if (!pending_) return {};
    auto [event, cell] = *std::exchange(pending_, std::nullopt);
    if (event.dur < 0)
      return fail_at(file_, cell.line, 1, "kernel " + escape::quoted(event.name) + " has no duration (gpu__time_duration.sum)");
    event.ts = time_;
    time_ += event.dur;
    return add(event, cell);
  }

  Expected<void> add(const TraceEvent& event, const CsvCell& cell) {
    if (collector_.add(event)) return {};
    return fail_at(file_, cell.line, 1, why_invalid(event));
  }

  const std::string& file_;
  std::vector<CsvCell> header_{};
  std::vector<CsvCell> units_{};  // row of units in Nsight Compute's raw page
  bool systems_ = false;          // true: a table of Nsight Systems
  size_t id_ = 0;
  Column metric_name_{};
  std::optional<std::pair<TraceEvent, CsvCell>> pending_{};  // a kernel of Nsight Compute, and its first cell
  double time_ = 0;
  LaunchCollector collector_{};
};

// Position of the header, after messages of the tools.
struct Header {
  size_t at;
  int line;
};
std::optional<Header> header_of(std::string_view text) {
  int line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view each = text.substr(at, end - at);
    const bool systems = each.starts_with("Start (") && each.find("GrdX") != std::string_view::npos;
    const bool compute = each.starts_with("\"ID\",") && each.find("\"Kernel Name\"") != std::string_view::npos;
    if (systems || compute) return Header{at, line};
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace

bool is_nsight_table(std::string_view text) { return header_of(text).has_value(); }

Expected<Profile> read_nsight_table(const std::string& file, std::string_view text) {
  const auto header = header_of(text);
  if (!header) return fail_at(file, 0, 0, "no header of Nsight Systems' or Nsight Compute's tables");
  Table table(file);
  const auto parsed = validation::parse_csv_rows(file, text.substr(header->at), header->line,
                                                 [&table](std::vector<CsvCell> row) { return table.take(std::move(row)); });
  if (!parsed) return std::unexpected(parsed.error());
  return table.finish();
}

}  // namespace warpfold::profile
