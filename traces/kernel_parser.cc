#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "isa/architecture.h"
#include "isa/assembler.h"
#include "traces/connect.h"
#include "traces/line_reader.h"
#include "traces/trace_file.h"
#include "traces/validate.h"

namespace warpfold::traces {

namespace {

constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();

std::vector<std::string> names(const auto& named) {
  std::vector<std::string> all;
  for (const auto& each : named) all.push_back(each.name);
  return all;
}

// Reads a name and returns its index in `known`. Fails for an unknown name, with the nearest known one.
size_t find_name(LineReader& line, const std::string& kind, const std::vector<std::string>& known) {
  const std::string name = line.name("the name of a " + kind);
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) line.fail("unknown " + kind + " " + escape::quoted(name) + suggestion(name, known));
  return static_cast<size_t>(found - known.begin());
}

// Reads the options at the end of a line, in any order, each at most once. `read` reads the value of option number i.
template <typename Read>
void read_options(LineReader& line, const std::vector<std::string>& known, Read read) {
  std::set<size_t> seen;
  while (!line.ended()) {
    const size_t option = find_name(line, "option", known);
    if (line.error()) return;
    if (!seen.insert(option).second) line.fail(known[option] + " is given twice");
    read(option);
  }
}

uint32_t value32(LineReader& line, const std::string& what) {
  line.expect('=');
  return static_cast<uint32_t>(line.number(what, kMost32));
}

uint64_t value64(LineReader& line, const std::string& what) {
  line.expect('=');
  return line.number(what);
}

class Parser {
 public:
  Parser(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  // Returns the places of each kernel's parts in the text.
  std::vector<TextPlaces> take_places() { return std::move(places_); }

  Expected<std::vector<Kernel>> parse() {
    while (!text_.empty()) {
      const std::string_view content = next_line();
      const size_t start = content.find_first_not_of(" \t");
      if (start == std::string_view::npos || content[start] == '#') continue;
      column_ = static_cast<int>(start) + 1;
      if (const Expected<void> read = parse_line(content, start); !read) return std::unexpected(read.error());
    }
    if (kernel_open_) {
      const std::string what = bodies_.empty() ? "" : " and its role " + escape::unquoted(kernel().roles.back().name);
      return fail_at(file_, line_number_, 1,
                     "the text ends inside kernel " + escape::unquoted(kernel().name) + what + "; expected end");
    }
    if (kernels_.empty()) return fail_at(file_, 1, 1, "no kernels; expected kernel NAME architecture=...");
    return std::move(kernels_);
  }

 private:
  struct Statement {
    std::string_view keyword;
    void (Parser::*parse)(LineReader&);
  };

  // Takes the next line from the remaining text, without blanks at its end.
  std::string_view next_line() {
    const size_t end = std::min(text_.find('\n'), text_.size());
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++line_number_;
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
  }

  Expected<void> parse_line(std::string_view content, size_t start) {
    const std::string_view keyword = content.substr(start, content.find_first_of(" \t", start) - start);
    const std::span<const Statement> statements = known_statements();
    const auto statement = std::ranges::find(statements, keyword, &Statement::keyword);
    if (statement == statements.end()) {
      return bodies_.empty() ? unknown_statement(keyword, start) : parse_instruction(content);
    }
    LineReader line(file_, line_number_, content);
    line.name("a statement");
    (this->*statement->parse)(line);
    line.expect_end();
    if (line.error()) return std::unexpected(*line.error());
    return keyword == "end" && !kernel_open_ ? finish_kernel() : Expected<void>();
  }

  std::span<const Statement> known_statements() const {
    static constexpr std::array kTop{Statement{"kernel", &Parser::parse_kernel}};
    static constexpr std::array kInKernel{
        Statement{"assumed", &Parser::parse_assumed}, Statement{"parameter", &Parser::parse_parameter},
        Statement{"class", &Parser::parse_class},     Statement{"grid", &Parser::parse_grid},
        Statement{"stream", &Parser::parse_stream},   Statement{"ring", &Parser::parse_ring},
        Statement{"cursor", &Parser::parse_cursor},   Statement{"role", &Parser::parse_role},
        Statement{"end", &Parser::end_kernel}};
    static constexpr std::array kInBody{Statement{"loop", &Parser::parse_loop}, Statement{"block", &Parser::parse_block},
                                        Statement{"end", &Parser::end_body}};
    if (!kernel_open_) return kTop;
    return bodies_.empty() ? std::span<const Statement>(kInKernel) : kInBody;
  }

  std::unexpected<Diagnostic> unknown_statement(std::string_view keyword, size_t start) const {
    std::vector<std::string> known;
    for (const Statement& statement : known_statements()) known.emplace_back(statement.keyword);
    const std::string where = kernel_open_ ? " in kernel " + kernels_.back().name : "";
    return fail_at(file_, line_number_, static_cast<int>(start) + 1,
                   "unknown statement " + escape::quoted(keyword) + where + suggestion(keyword, known));
  }

  void parse_kernel(LineReader& line) {
    Kernel kernel;
    kernel.name = line.at_quote() ? line.quoted("the kernel's name") : line.name("the kernel's name");
    architecture_ = nullptr;
    read_options(line, {"architecture", "registers", "shared_memory", "cluster", "flops", "source", "tensor_memory"},
                 [&](size_t option) {
                   if (option == 0) kernel.architecture = parse_architecture(line);
                   if (option == 1) kernel.registers_per_thread = value32(line, "registers");
                   if (option == 2) kernel.shared_memory_bytes = value32(line, "shared_memory");
                   if (option == 3) kernel.cluster_ctas = value32(line, "cluster");
                   if (option == 4) kernel.flops = value64(line, "flops");
                   if (option == 5) {
                     line.expect('=');
                     kernel.source = line.quoted("source");
                   }
                   if (option == 6) kernel.tensor_memory_columns = value32(line, "tensor_memory");
                 });
    if (architecture_ == nullptr)
      line.fail_here("kernel " + escape::unquoted(kernel.name) + " needs architecture=..." +
                     suggestion("", isa::Architecture::known()));
    kernels_.push_back(std::move(kernel));
    kernel_open_ = true;
    places_.emplace_back();
    mark({});
  }

  std::string parse_architecture(LineReader& line) {
    line.expect('=');
    const std::string name = line.name("an architecture");
    if (line.error()) return {};
    const Expected<const isa::Architecture*> found = isa::Architecture::find(name);
    if (!found) {
      line.fail(found.error().message);
      return {};
    }
    architecture_ = *found;
    return name;
  }

  void parse_assumed(LineReader& line) { kernel().assumed.push_back(line.quoted("what is assumed")); }

  void parse_parameter(LineReader& line) {
    mark({Part::kParameter, kernel().parameters.size()});
    kernel().parameters.push_back(line.name("the parameter's name"));
  }

  void parse_class(LineReader& line) {
    CtaClass cta_class{line.name("the class's name"), std::vector<uint64_t>(kernel().parameters.size())};
    std::set<size_t> given;
    read_options(line, kernel().parameters, [&](size_t parameter) {
      cta_class.values[parameter] = value64(line, kernel().parameters[parameter]);
      given.insert(parameter);
    });
    for (size_t p = 0; p < cta_class.values.size(); ++p) {
      if (!given.contains(p))
        line.fail_here("class " + escape::unquoted(cta_class.name) + " needs " + kernel().parameters[p] + "=...");
    }
    mark({Part::kClass, kernel().cta_classes.size()});
    kernel().cta_classes.push_back(std::move(cta_class));
  }

  void parse_grid(LineReader& line) {
    mark({Part::kGrid});
    while (!line.ended()) {
      const auto cta_class = static_cast<uint32_t>(find_name(line, "class", names(kernel().cta_classes)));
      line.expect('*');
      kernel().grid.push_back({cta_class, line.number("CTAs")});
    }
  }

  void parse_stream(LineReader& line) {
    MemoryStream stream{.name = line.name("the stream's name")};
    read_options(line, {"read", "write", "dram", "l1", "moved", "footprint"}, [&](size_t option) {
      const auto share = [&](const char* of, uint64_t& numerator, uint64_t& denominator) {
        numerator = value64(line, of);
        line.expect('/');
        denominator = line.number(of);
      };
      if (option == 1) stream.write = true;
      if (option == 2) share("dram", stream.dram_numerator, stream.dram_denominator);
      if (option == 3) share("l1", stream.l1_numerator, stream.l1_denominator);
      if (option == 4) share("moved", stream.moved_numerator, stream.moved_denominator);
      if (option == 5) stream.footprint = value64(line, "footprint");
    });
    mark({Part::kStream, kernel().streams.size()});
    kernel().streams.push_back(std::move(stream));
  }

  void parse_ring(LineReader& line) {
    Ring ring{.name = line.name("the ring's name")};
    read_options(line, {"depth", "arrivals", "free"}, [&](size_t option) {
      if (option == 0) ring.depth = value32(line, "depth");
      if (option == 1) ring.arrivals = value32(line, "arrivals");
      if (option == 2) ring.starts_free = true;
    });
    mark({Part::kRing, kernel().rings.size()});
    kernel().rings.push_back(std::move(ring));
  }

  void parse_cursor(LineReader& line) {
    Cursor cursor{.name = line.name("the cursor's name")};
    read_options(line, {"depth", "start"}, [&](size_t option) {
      if (option == 0) cursor.depth = value32(line, "depth");
      if (option == 1) cursor.start = value32(line, "start");
    });
    mark({Part::kCursor, kernel().cursors.size()});
    kernel().cursors.push_back(std::move(cursor));
  }

  void parse_role(LineReader& line) {
    Role role;
    role.name = line.name("the role's name");
    read_options(line, {"warps"}, [&](size_t) { role.warps = value32(line, "warps"); });
    mark({Part::kRole, kernel().roles.size()});
    instructions_ = 0;
    controlled_ = 0;
    effect_names_ = effect_names(kernel());
    kernel().roles.push_back(std::move(role));
    bodies_.push_back(&kernel().roles.back().body);
  }

  void parse_loop(LineReader& line) {
    // The depth is limited here because bodies are walked recursively later.
    if (bodies_.size() > static_cast<size_t>(kDeepestLoops)) {
      line.fail("more than " + std::to_string(kDeepestLoops) + " loops inside each other");
    }
    Loop loop;
    if (line.at_digit()) {
      loop.trips.literal = line.number("trips");
    } else {
      loop.trips.parameter = static_cast<int32_t>(find_name(line, "parameter", kernel().parameters));
    }
    bodies_.back()->emplace_back(std::move(loop));
    bodies_.push_back(&std::get<Loop>(bodies_.back()->back()).body);
  }

  void parse_block(LineReader& /*line*/) { bodies_.back()->emplace_back(Block{}); }
  void end_body(LineReader& line) {
    bodies_.pop_back();
    if (!bodies_.empty()) return;
    if (controlled_ == 0) {
      to_assign_.push_back(kernel().roles.size() - 1);
    } else if (controlled_ < instructions_) {
      const std::string missing = std::to_string(instructions_ - controlled_);
      line.fail_here("role " + escape::unquoted(kernel().roles.back().name) + " has " + missing +
                     " instructions without a control code and " + std::to_string(controlled_) +
                     " with one; state all, or none to have them assigned");
    }
  }
  void end_kernel(LineReader& /*line*/) { kernel_open_ = false; }

  Expected<void> parse_instruction(std::string_view content) {
    Expected<isa::Instruction> instruction = isa::parse_instruction(*architecture_, content, file_, line_number_, effect_names_);
    if (!instruction) return std::unexpected(instruction.error());
    mark({Part::kRole, kernel().roles.size() - 1, ++instructions_});
    if (content[content.find_first_not_of(" \t")] == '[') ++controlled_;
    std::vector<Node>& body = *bodies_.back();
    if (body.empty() || !std::holds_alternative<Block>(body.back())) body.emplace_back(Block{});
    std::get<Block>(body.back()).code.push_back(*std::move(instruction));
    return {};
  }

  // Validates the kernel as a whole, then assigns control codes to roles without any.
  Expected<void> finish_kernel() {
    if (Expected<void> valid = validate(kernel(), file_, places_.back()); !valid) return valid;
    for (const size_t role : to_assign_) assign_control_codes(*architecture_, kernel().roles[role].body);
    to_assign_.clear();
    return {};
  }

  void mark(const Place& place) { places_.back().add(place, {line_number_, column_}); }

  Kernel& kernel() { return kernels_.back(); }

  const std::string& file_;
  std::string_view text_;
  int line_number_ = 0;
  std::vector<Kernel> kernels_;
  bool kernel_open_ = false;
  int column_ = 0;  // column where the current statement begins
  std::vector<TextPlaces> places_;
  uint64_t instructions_ = 0;                        // in the open role
  uint64_t controlled_ = 0;                          // instructions of the open role with a control code
  std::vector<size_t> to_assign_;                    // roles of the open kernel without control codes
  const isa::Architecture* architecture_ = nullptr;  // architecture of the open kernel
  isa::EffectNames effect_names_;                    // names declared before the open role
  std::vector<std::vector<Node>*> bodies_;           // body of the open role, then those of the open loops
};

}  // namespace

Expected<std::vector<Kernel>> parse_kernels(const std::string& file, const std::string& text, std::vector<TextPlaces>* places) {
  Parser parser(file, text);
  auto kernels = parser.parse();
  if (kernels && places != nullptr) *places = parser.take_places();
  return kernels;
}

}  // namespace warpfold::traces
