#include "tools/warpfold/render/hot_table.h"

#include <algorithm>
#include <variant>

#include "sim/account/states.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

namespace {

using Account = configs::InstructionAccount;

uint64_t warp_cycles(const Account& account) {
  uint64_t sum = 0;
  for (const configs::StateCycles& state : account.states()) sum += state.warp_cycles();
  return sum;
}

uint64_t warp_cycles(const Account& account, const std::string& state) {
  for (const configs::StateCycles& each : account.states()) {
    if (each.state() == state) return each.warp_cycles();
  }
  return 0;
}

// Returns the two longest waits of warps at an instruction, as shares of its warp-cycles: "long_scoreboard 61 %, wait 20 %".
std::string stalls(const Account& account) {
  constexpr size_t kMost = 2;
  constexpr double kLeast = 1;  // percent
  std::vector<configs::StateCycles> states(account.states().begin(), account.states().end());
  std::erase_if(states, [&](const auto& state) {
    return state.state() == "selected" || percent(state.warp_cycles(), warp_cycles(account)) < kLeast;
  });
  std::ranges::stable_sort(states, std::ranges::greater{}, &configs::StateCycles::warp_cycles);
  std::string text;
  for (size_t s = 0; s < std::min(states.size(), kMost); ++s) {
    if (s > 0) text += ", ";
    text.append(states[s].state())
        .append(" ")
        .append(fixed(percent(states[s].warp_cycles(), warp_cycles(account)), 0))
        .append(" %");
  }
  return text;
}

// A line of a role's program: an instruction, or the begin or end of a loop.
struct Line {
  size_t depth = 0;  // number of loops around the line
  int position = -1;
  const isa::Place* place = nullptr;  // source position of the instruction
  std::string loop{};                 // text of a loop's begin or end
};

void add_lines(const traces::Kernel& kernel, const std::vector<traces::Node>& body, size_t depth, int& position,
               std::vector<Line>& lines) {
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code)
        lines.push_back({.depth = depth, .position = position++, .place = &instruction.place});
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    const std::string trips = loop.trips.parameter < 0 ? std::to_string(loop.trips.literal)
                                                       : kernel.parameters[static_cast<size_t>(loop.trips.parameter)];
    lines.push_back({.depth = depth, .loop = "loop " + trips + " {"});
    add_lines(kernel, loop.body, depth + 1, position, lines);
    lines.push_back({.depth = depth, .loop = "}"});
  }
}

std::vector<Line> lines_of(const traces::Kernel& kernel, const traces::Role& role) {
  std::vector<Line> lines;
  int position = 0;
  add_lines(kernel, role.body, 0, position, lines);
  return lines;
}

// The accounts of one role's instructions by position, and their sum.
struct RoleView {
  RoleView(const configs::KernelResult& result, const traces::Kernel& kernel, const traces::Role& role)
      : lines(lines_of(kernel, role)) {
    for (const Account& account : result.instructions()) {
      if (account.role() != role.name) continue;
      accounts.push_back(&account);
      total += warp_cycles(account);
    }
  }
  // Returns the selected lines in the order of display.
  std::vector<Line> shown(const HotSelection& selection) const {
    if (selection.listing) return lines;
    std::vector<Line> instructions = lines;
    std::erase_if(instructions, [](const Line& line) { return line.position < 0; });
    std::ranges::stable_sort(instructions, std::ranges::greater{}, [&](const Line& line) { return warp_cycles(at(line)); });
    instructions.resize(std::min(instructions.size(), selection.top));
    std::erase_if(instructions, [&](const Line& line) { return warp_cycles(at(line)) == 0; });
    return instructions;
  }
  const Account& at(const Line& line) const { return *accounts[static_cast<size_t>(line.position)]; }

  std::vector<Line> lines;
  std::vector<const Account*> accounts;
  uint64_t total = 0;
};

// Calls visit(kernel's result, role, view) for each selected role.
template <typename Visit>
void for_each_role(const configs::Result& result, const std::vector<const traces::Kernel*>& kernels, const HotSelection& selection,
                   Visit visit) {
  for (size_t k = 0; k < kernels.size(); ++k) {
    const configs::KernelResult& kernel = result.kernels(static_cast<int>(k));
    if (!selection.kernel.empty() && kernel.name() != selection.kernel) continue;
    for (const traces::Role& role : kernels[k]->roles) {
      if (selection.role.empty() || role.name == selection.role) visit(kernel, role, RoleView(kernel, *kernels[k], role));
    }
  }
}

std::string bars(size_t depth) {
  std::string text;
  for (size_t d = 0; d < depth; ++d) text += "| ";
  return text;
}

// "configs/kernels/gemm.cu:12" -> "gemm.cu:12"
std::string without_folders(const std::string& place) { return place.substr(place.rfind('/') + 1); }

// Returns the source line; for an inlined function also the kernel's line that it was inlined into.
std::string source_of(const isa::Place& place) {
  if (place.sources.empty()) return "";
  std::string text = without_folders(place.sources.front());
  return place.sources.size() == 1 ? text : text + " in " + without_folders(place.sources.back());
}

std::string for_people(const configs::KernelResult& kernel, const traces::Role& role, const RoleView& view,
                       const HotSelection& selection) {
  const std::vector<Line> lines = view.shown(selection);
  const std::vector<std::string> columns{"at", "issued", "% of role", "waits for", "line", "source", "instruction"};
  Table table(columns);
  for (const Line& line : lines) {
    std::vector<Cell> row(columns.size(), "");
    row.back() = bars(line.depth) + line.loop;
    if (line.position >= 0) {
      const Account& account = view.at(line);
      row = {uint64_t{account.position()},
             account.issued(),
             Cell(percent(warp_cycles(account), view.total), 2),
             stalls(account),
             without_folders(line.place->line),
             source_of(*line.place),
             bars(line.depth) + account.text()};
    }
    table.add(std::move(row));
  }
  std::string text = kernel.name() + ", role " + role.name + ": " + with_thousands(std::to_string(view.total)) + " warp-cycles, " +
                     fixed(percent(view.total, kernel.resident_warp_cycles()), 1) + " % of the kernel's\n";
  return text + table.aligned("  ") + "\n";
}

Table for_machines(const configs::Result& result, const std::vector<const traces::Kernel*>& kernels,
                   const HotSelection& selection) {
  std::vector<std::string> columns{"kernel", "role", "position", "phase", "loops", "issued", "warp_cycles", "percent_of_role"};
  for (int s = 0; s < sim::kWarpStates; ++s) columns.emplace_back(sim::state_name(static_cast<sim::WarpState>(s)));
  for (const char* column : {"line", "source", "inlined_at", "text"}) columns.emplace_back(column);
  Table table(columns);
  for_each_role(result, kernels, selection, [&](const auto& kernel, const auto& role, const RoleView& view) {
    for (const Line& line : view.shown(selection)) {
      if (line.position < 0) continue;
      const Account& account = view.at(line);
      std::vector<Cell> row{
          kernel.name(),        role.name,        uint64_t{account.position()}, account.phase(),
          uint64_t{line.depth}, account.issued(), warp_cycles(account),         Cell(percent(warp_cycles(account), view.total), 4)};
      for (int s = 0; s < sim::kWarpStates; ++s)
        row.emplace_back(warp_cycles(account, std::string(sim::state_name(static_cast<sim::WarpState>(s)))));
      const std::vector<std::string>& sources = line.place->sources;
      row.emplace_back(line.place->line);
      row.emplace_back(sources.empty() ? "" : sources.front());
      row.emplace_back(sources.size() < 2 ? "" : sources.back());
      row.emplace_back(account.text());
      table.add(std::move(row));
    }
  });
  return table;
}

// Explains the columns and marks of the tables.
std::string legend() {
  return wrapped(
             "at: the instruction's place in the program of its role, from 0 on. issued: how often warps issued it. % of role: of "
             "the "
             "warp-cycles of the role's warps, those spent at it. waits for: the two longest waits there, in % of these "
             "warp-cycles, "
             "under the names of Nsight Compute.") +
         wrapped(
             "| marks a loop around the instruction. [B0-----:R1:W2:Y:S04] is its control code: scoreboards that it waits for, "
             "scoreboards that it sets when it has read and when it has written, yield, stall cycles.");
}

}  // namespace

std::string render_hot(const configs::Result& result, const std::vector<const traces::Kernel*>& kernels,
                       const HotSelection& selection, Format format) {
  if (format != Format::kTable) return for_machines(result, kernels, selection).render(format);
  std::string text =
      result.scenario() + " on " + result.gpu() + ", policy " + result.policy() + "\n" + legend() + warning_lines(result) + "\n";
  for_each_role(result, kernels, selection, [&](const auto& kernel, const auto& role, const RoleView& view) {
    text += for_people(kernel, role, view, selection);
  });
  return text;
}

}  // namespace warpfold::cli
