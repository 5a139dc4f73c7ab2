#include "traces/accelsim/trace_header.h"

#include <functional>
#include <map>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "traces/accelsim/tokens.h"

namespace warpfold::traces::accelsim {
namespace {

constexpr uint64_t kMostRegisters = 255;
constexpr uint64_t kMostThreads = 1024;
constexpr uint64_t kMostCtasAcross = 65535;  // in y and z; CUDA C Programming Guide, technical specifications

// Reads dimensions such as "(128,1,1)".
bool dimensions(std::string_view text, std::array<uint64_t, 3>& value) {
  if (!text.starts_with('(') || !text.ends_with(')')) return false;
  text = text.substr(1, text.size() - 2);
  for (size_t d = 0; d < 3; ++d) {
    const size_t comma = d < 2 ? text.find(',') : text.size();
    if (comma == std::string_view::npos || !Tokens::whole(text.substr(0, comma), value[d]) || value[d] == 0) return false;
    if (value[d] > 0x7fffffff) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

bool hexadecimal(std::string_view text, uint64_t& value) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return Tokens::whole(text, value, 16);
}

// Splits "-kernel name = x" into "kernel name" and "x".
std::pair<std::string_view, std::string_view> key_and_value(std::string_view line) {
  line.remove_prefix(1);
  const size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) {
    const size_t last = line.ends_with(" =") ? line.size() - 2 : line.size();
    return {line.substr(0, last), {}};
  }
  return {line.substr(0, equals), line.substr(equals + 3)};
}

using Field = std::function<bool(TraceHeader&, std::string_view)>;

Field whole(uint64_t TraceHeader::* member) {
  return [member](TraceHeader& header, std::string_view value) { return Tokens::whole(value, header.*member); };
}
Field address(uint64_t TraceHeader::* member) {
  return [member](TraceHeader& header, std::string_view value) { return hexadecimal(value, header.*member); };
}

const std::map<std::string_view, Field>& fields() {
  static const std::map<std::string_view, Field> all = {
      {"kernel name", [](TraceHeader& header, std::string_view value) { return header.kernel_name = value, true; }},
      {"kernel id", whole(&TraceHeader::kernel_id)},
      {"grid dim", [](TraceHeader& header, std::string_view value) { return dimensions(value, header.grid); }},
      {"block dim", [](TraceHeader& header, std::string_view value) { return dimensions(value, header.block); }},
      {"shmem", whole(&TraceHeader::shared_memory)},
      {"nregs", whole(&TraceHeader::registers)},
      {"binary version", whole(&TraceHeader::binary_version)},
      {"cuda stream id", whole(&TraceHeader::stream)},
      {"shmem base_addr", address(&TraceHeader::shared_base)},
      {"local mem base_addr", address(&TraceHeader::local_base)},
      {"nvbit version", [](TraceHeader& header, std::string_view value) { return header.nvbit_version = value, true; }},
      {"accelsim tracer version",
       [](TraceHeader& header, std::string_view value) {
         return Tokens::whole(value.substr(0, value.find('.')), header.version) && header.version >= 1 && header.version <= 6;
       }},
      {"enable lineinfo",
       [](TraceHeader& header, std::string_view value) {
         uint64_t on = 0;
         if (!Tokens::whole(value, on)) return false;
         header.line_numbers = on != 0;
         return true;
       }},
  };
  return all;
}

// Reads the words before PC in "#traces format = [line_num] PC mask ...".
void read_format(std::string_view line, TraceHeader& header) {
  Tokens words(line.substr(line.find('=') + 1));
  size_t before = 0;
  while (!words.ended()) {
    const std::string_view word = words.next();
    if (word == "PC") {
      header.leading = before;
      header.format_known = true;
      return;
    }
    if (!word.starts_with('[')) ++before;
  }
}

// Reads "#warpfold stream A read dram=1/8 l1=0/1 footprint=4096", in the syntax of the text form.
bool read_stream(std::string_view line, TraceHeader& header) {
  Tokens words(line);
  words.next();
  words.next();
  MemoryStream stream;
  stream.name = words.next();
  const std::string_view way = words.next();
  if (stream.name.empty() || (way != "read" && way != "write")) return false;
  stream.write = way == "write";
  while (!words.ended()) {
    const std::string_view word = words.next();
    const size_t equals = word.find('=');
    if (word.starts_with("footprint=")) {
      if (!Tokens::whole(word.substr(equals + 1), stream.footprint)) return false;
      continue;
    }
    const size_t slash = word.find('/');
    if (equals == std::string_view::npos || slash == std::string_view::npos || slash < equals) return false;
    uint64_t numerator = 0;
    uint64_t denominator = 0;
    if (!Tokens::whole(word.substr(equals + 1, slash - equals - 1), numerator)) return false;
    if (!Tokens::whole(word.substr(slash + 1), denominator)) return false;
    const std::string_view of = word.substr(0, equals);
    if (of != "dram" && of != "l1" && of != "moved") return false;
    (of == "dram" ? stream.dram_numerator : of == "l1" ? stream.l1_numerator : stream.moved_numerator) = numerator;
    (of == "dram" ? stream.dram_denominator : of == "l1" ? stream.l1_denominator : stream.moved_denominator) = denominator;
  }
  header.streams.push_back(std::move(stream));
  return true;
}

bool begins_body(std::string_view line) {
  return line.starts_with("#BEGIN_TB") || line.starts_with("thread block") ||
         (!line.empty() && line.front() != '-' && line.front() != '#');
}

}  // namespace

Expected<bool> read_header(LineSource& lines, TraceHeader& header, std::string_view& line) {
  bool any = false;
  while (lines.next(line)) {
    if (line.empty()) continue;
    if (line.starts_with("#traces format")) read_format(line, header);
    header.synthetic = header.synthetic || line.starts_with("#warpfold");
    if (line.starts_with("#warpfold stream") && !read_stream(line, header)) {
      return lines.fail_here("expected #warpfold stream NAME read|write dram=N/M l1=N/M footprint=N");
    }
    if (line.front() == '#' && !begins_body(line)) continue;
    if (begins_body(line)) {
      if (!any) return lines.fail_here("no header: a trace begins with -kernel name = ...; is this a trace of Accel-Sim's tracer?");
      return true;
    }
    const auto [key, value] = key_and_value(line);
    const auto field = fields().find(key);
    any = true;
    if (field == fields().end()) continue;  // later tracers add lines
    if (key == "nregs") header.registers_line = lines.number();
    if (key == "binary version") header.binary_line = lines.number();
    if (key == "grid dim") header.grid_line = lines.number();
    if (key == "block dim") header.block_line = lines.number();
    if (field->second(header, value)) continue;
    if (key == "accelsim tracer version") {
      return lines.fail_here("tracer version " + escape::unquoted(value) + "; versions 1 to 6 are read");
    }
    return lines.fail_here("cannot read the " + std::string(key) + " in " + escape::quoted(value) + "; the header is damaged");
  }
  if (lines.error()) return std::unexpected(*lines.error());
  if (!any) return lines.fail_here("an empty file; expected a trace of Accel-Sim's tracer");
  return false;
}

Expected<std::string> architecture_of(const TraceHeader& header, const std::string& file) {
  const std::string name = "sm_" + std::to_string(header.binary_version);
  if (isa::Architecture::find(name)) return name;
  std::string known;
  for (const std::string& each : isa::Architecture::known()) known += (known.empty() ? "" : ", ") + each;
  return fail_at(file, header.binary_line, 1,
                 "binary version = " + std::to_string(header.binary_version) + " is none of " + known +
                     "; if the header is wrong, or the nearest of them will do, name it with --architecture");
}

Expected<void> check_header(const TraceHeader& header, const std::string& file) {
  if (header.registers < 1 || header.registers > kMostRegisters) {
    return fail_at(file, header.registers_line, 1,
                   "nregs = " + std::to_string(header.registers) +
                       "; a thread has 1 to 255 registers. The header is damaged: correct the line, or trace again");
  }
  if (header.grid[1] > kMostCtasAcross || header.grid[2] > kMostCtasAcross) {
    return fail_at(file, header.grid_line, 1,
                   "a grid of " + std::to_string(header.grid[1]) + " x " + std::to_string(header.grid[2]) +
                       " in y and z; both are at most 65535. The header is damaged");
  }
  const bool small = header.block[0] <= kMostThreads && header.block[1] <= kMostThreads && header.block[2] <= kMostThreads;
  if (!small || header.threads() > kMostThreads) {
    return fail_at(file, header.block_line, 1,
                   "a block of " + (small ? std::to_string(header.threads()) : "too many") +
                       " threads; it has at most 1024. The header is damaged");
  }
  return {};
}

}  // namespace warpfold::traces::accelsim
