#include "tools/warpfold/render/result_report.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tools/report/findings.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/render/fold_line.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/memory_table.h"
#include "tools/warpfold/render/power_tables.h"
#include "tools/warpfold/render/slowdown_table.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

namespace {

std::string total_line(const configs::Result& result) {
  return with_thousands(std::to_string(result.total_cycles())) + " cycles, " + with_thousands(fixed(result.total_time_us(), 2)) +
         " us, " + with_thousands(std::to_string(result.instructions_issued())) + " warp instructions";
}

std::string sm_line(const configs::Result& result) {
  return result.whole_chip() ? std::to_string(result.sms_simulated()) + " SMs simulated\n" : "";
}

// Returns the kernels that `tile: AUTO` selected, each with the next best candidates.
Table choice_table(const configs::Result& result) {
  constexpr int kShown = 6;
  Table table({"kernel", "library", "slower %", "cycles", "candidate"});
  for (const configs::TileChoice& choice : result.tile_choices().choice()) {
    for (int i = 0; i < std::min(kShown, choice.candidates_size()); ++i) {
      const configs::TileCandidate& candidate = choice.candidates(i);
      const Cell cycles = candidate.cycles() > 0 ? Cell(candidate.cycles()) : Cell("-");
      table.add({i == 0 ? choice.kernel() : "", i == 0 ? choice.library() : "", Cell(100 * candidate.slower(), 1), cycles,
                 candidate.kernel()});
    }
  }
  return table;
}

// Returns the number of candidates and of simulations; candidates that the lower bounds rule out are not simulated.
std::string choice_title(const configs::Result& result) {
  int candidates = 0;
  int simulated = 0;
  for (const configs::TileChoice& choice : result.tile_choices().choice()) {
    candidates += choice.candidates_size();
    for (const configs::TileCandidate& candidate : choice.candidates()) simulated += candidate.cycles() > 0 ? 1 : 0;
  }
  return "Tile AUTO: the selected kernel and the next ones, of " + std::to_string(candidates) + " candidates, " +
         std::to_string(simulated) + " simulated";
}

Table kernel_table(const configs::Result& result) {
  const report::TimeUnit time = report::time_unit(result.total_time_us());
  Table table({"kernel", "cycles", "time " + std::string(time.name), "start", "end", "alone", "slowdown", "TFLOPS", "CTAs",
               "CTAs/SM that fit", "occupancy limit", "mean warps/SM", "bound by"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    const configs::Occupancy& occupancy = kernel.occupancy();
    table.add({kernel.name(), kernel.cycles(), Cell(kernel.time_us() / time.us, 2), kernel.start_cycle(), kernel.end_cycle(),
               kernel.solo_cycles(), Cell(kernel.slowdown_vs_solo(), 3), kernel.tflops() > 0 ? Cell(kernel.tflops(), 1) : Cell("-"),
               kernel.ctas(), uint64_t{occupancy.ctas_per_sm_limit()}, occupancy.limiter(), Cell(occupancy.average_warps(), 2),
               kernel.bound_by()});
  }
  return table;
}

// Returns a row for each warp state with a column for each kernel; skips states in which no warp was.
Table state_table(const configs::Result& result) {
  std::vector<std::string> columns{"state"};
  for (const configs::KernelResult& kernel : result.kernels()) columns.push_back(kernel.name());
  Table table(std::move(columns));
  for (int s = 0; s < result.kernels(0).states_size(); ++s) {
    std::vector<Cell> row{result.kernels(0).states(s).state()};
    bool seen = false;
    for (const configs::KernelResult& kernel : result.kernels()) {
      seen = seen || kernel.states(s).warp_cycles() > 0;
      row.emplace_back(percent(kernel.states(s).warp_cycles(), kernel.resident_warp_cycles()), 1);
    }
    if (seen) table.add(std::move(row));
  }
  return table;
}

Table resource_table(const configs::Result& result) {
  Table table({"resource", "used %", "busy", "capacity"});
  for (const configs::Resource& resource : result.resources()) {
    if (resource.busy() > 0) {
      table.add({resource.name(), Cell(100 * resource.utilization(), 1), resource.busy(), resource.capacity()});
    }
  }
  return table;
}

// Returns the contention between kernels first, then each kernel's waits for itself; the largest first in both parts.
Table ledger_table(const configs::Result& result) {
  std::vector<const configs::LedgerEntry*> entries;
  for (const configs::LedgerEntry& entry : result.ledger()) entries.push_back(&entry);
  std::ranges::stable_sort(entries, [](const auto* left, const auto* right) {
    const bool left_own = left->victim() == left->culprit();
    const bool right_own = right->victim() == right->culprit();
    return left_own != right_own ? right_own : left->warp_cycles() > right->warp_cycles();
  });
  Table table({"victim", "culprit", "resource", "warp-cycles", "% of victim's time"});
  for (const configs::LedgerEntry* entry : entries) {
    const auto victim = std::ranges::find(result.kernels(), entry->victim(), &configs::KernelResult::name);
    table.add({entry->victim(), entry->victim() == entry->culprit() ? "itself" : entry->culprit(), entry->resource(),
               entry->warp_cycles(), Cell(percent(entry->warp_cycles(), report::warp_cycles_with(*victim, entry->culprit())), 2)});
  }
  return table;
}

// Returns a line for each kernel that did not start with a cold L2.
std::string l2_lines(const configs::Result& result) {
  std::string lines;
  for (const configs::KernelResult& kernel : result.kernels()) {
    if (kernel.l2().empty()) continue;
    lines += kernel.name() + " begins with L2 " + kernel.l2();
    if (kernel.found_in_l2_bytes() > 0)
      lines += ", " + fixed(static_cast<double>(kernel.found_in_l2_bytes()) / 1e6, 1) + " MB of its inputs in L2";
    lines += "\n";
  }
  return lines;
}

std::string assumption_lines(const configs::Result& result) {
  std::string lines;
  for (const configs::KernelResult& kernel : result.kernels()) {
    for (const std::string& assumed : kernel.assumptions()) lines += "assumed of " + kernel.name() + ": " + assumed + "\n";
  }
  return lines.empty() ? lines : "\n" + lines;
}

std::string result_text(const configs::Result& result) {
  std::string checks;
  for (const std::string& line : check_lines(result)) checks += line + "\n";
  return findings_text(result) + "\n" + total_line(result) + "\n" + sm_line(result) + fold_line(result) + "\n" + checks +
         l2_lines(result) + kernel_table(result).section("Kernels") + assumption_lines(result) +
         choice_table(result).section(choice_title(result)) +
         state_table(result).section("Warp states, % of the kernel's resident warp-cycles") +
         resource_table(result).section("Resources, % of the chip's capacity") +
         memory_table(result).section(
             "Memory: 32-byte sectors; wavefronts are 128-byte passes through shared memory's data stage") +
         power_tables(result) +
         slowdown_table(result).section("Slowdown by cause: cycles beyond the time alone (docs/accounting.md)") +
         ledger_table(result).section(
             "Contention ledger: warp-cycles that the victim waited while the culprit held the resource; %: of the victim's\n"
             "warp-cycles while both were on its SM");
}

// Columns that only some results have. A table may hold results of several commands.
struct CsvParts {
  bool rank = false;  // of a comparison
  bool power = false;
  std::vector<std::string> states;
};

CsvParts csv_parts(const std::vector<const configs::Result*>& results) {
  CsvParts parts;
  for (const configs::Result* result : results) {
    parts.rank = parts.rank || result->rank() > 0;
    parts.power = parts.power || result->has_power();
    for (const configs::StateCycles& state : result->kernels(0).states()) {
      if (std::ranges::find(parts.states, state.state()) == parts.states.end()) parts.states.push_back(state.state());
    }
  }
  return parts;
}

std::vector<std::string> csv_columns(const CsvParts& parts) {
  std::vector<std::string> columns = column_names(
      "scenario policy gpu total_cycles total_time_us kernel cycles time_us start_cycle end_cycle "
      "solo_cycles slowdown_vs_solo ctas ctas_per_sm_limit limiter average_warps instructions_issued tflops "
      "l2_bytes dram_bytes bound_by resident_warp_cycles fold_mode fold_error_bound instructions_replayed");
  if (parts.rank) columns.insert(columns.end(), {"rank", "tie_fastest", "tie_slower", "tie_told_apart_from"});
  if (parts.power) std::ranges::copy(power_csv_columns(), std::back_inserter(columns));
  std::ranges::copy(parts.states, std::back_inserter(columns));
  return columns;
}

void add_csv_rows(const configs::Result& result, const CsvParts& parts, Table& table) {
  constexpr int kDecimals = 6;
  for (int k = 0; k < result.kernels_size(); ++k) {
    const configs::KernelResult& kernel = result.kernels(k);
    const configs::Occupancy& occupancy = kernel.occupancy();
    std::vector<Cell> row = cells(
        result.scenario(), result.policy(), result.gpu(), result.total_cycles(), Cell(result.total_time_us(), kDecimals),
        kernel.name(), kernel.cycles(), Cell(kernel.time_us(), kDecimals), kernel.start_cycle(), kernel.end_cycle(),
        kernel.solo_cycles(), Cell(kernel.slowdown_vs_solo(), kDecimals), kernel.ctas(), occupancy.ctas_per_sm_limit(),
        occupancy.limiter(), Cell(occupancy.average_warps(), kDecimals), kernel.instructions_issued(),
        Cell(kernel.tflops(), kDecimals), kernel.l2_bytes(), kernel.dram_bytes(), kernel.bound_by(), kernel.resident_warp_cycles(),
        result.fold().mode(), Cell(result.fold().error_bound(), kDecimals), result.instructions_replayed());
    if (parts.rank) {
      row.push_back(result.rank() > 0 ? Cell(uint64_t{result.rank()}) : Cell(""));
      row.emplace_back(result.tie().fastest());
      row.push_back(result.has_tie() ? Cell(result.tie().slower(), kDecimals) : Cell(""));
      row.push_back(result.has_tie() ? Cell(result.tie().told_apart_from(), kDecimals) : Cell(""));
    }
    if (result.has_power()) {
      std::ranges::copy(power_csv_cells(result), std::back_inserter(row));
      row.emplace_back(result.power().kernels(k).joules(), kDecimals);
    } else if (parts.power) {
      row.insert(row.end(), power_csv_columns().size(), Cell(""));
    }
    for (const std::string& name : parts.states) {
      const auto state = std::ranges::find(kernel.states(), name, &configs::StateCycles::state);
      row.push_back(state == kernel.states().end() ? Cell("") : Cell(uint64_t{state->warp_cycles()}));
    }
    table.add(std::move(row));
  }
}

std::string csv_of(const std::vector<const configs::Result*>& results) {
  const CsvParts parts = csv_parts(results);
  Table table(csv_columns(parts));
  for (const configs::Result* result : results) add_csv_rows(*result, parts, table);
  return table.csv();
}

// Returns a line for each run, and another for each check of it.
std::string fold_note(const configs::Comparison& comparison, const std::vector<std::string>& names) {
  std::string note;
  for (int r = 0; r < comparison.results_size(); ++r) {
    std::vector<std::string> lines = check_lines(comparison.results(r));
    lines.insert(lines.begin(), fold_line(comparison.results(r)));
    for (const std::string& line : lines) note += names[static_cast<size_t>(r)] + " " + line + "\n";
  }
  return note;
}

// Returns the factor by which all parts of a kernel of the scenario take longer than the kernel alone; "-" if another kernel does
// its work.
Cell slowdown_cell(const configs::Result& result, const configs::Alone& alone) {
  uint64_t busy = 0;
  for (const configs::KernelResult& kernel : result.kernels()) busy += kernel.of() == alone.name() ? kernel.cycles() : 0;
  return busy == 0 ? Cell("-") : Cell(static_cast<double>(busy) / static_cast<double>(alone.cycles()), 3);
}

// The kind of the lines of a comparison: policies of one scenario, or runs of several files.
struct RunKind {
  std::string word;  // "policy"
  std::vector<std::string> names;
};

// Returns the runs that share a rank, and a hint at the option that would order the first rank. Empty without ties.
std::string ties_text(const configs::Comparison& comparison, const RunKind& kind) {
  Table table({"rank", kind.word, "tied with", "slower %", "told apart from %"});
  bool estimated_first = false;
  for (int r = 0; r < comparison.results_size(); ++r) {
    const configs::Result& result = comparison.results(r);
    if (!result.has_tie()) continue;
    const configs::Tie& tie = result.tie();
    table.add({uint64_t{result.rank()}, kind.names[static_cast<size_t>(r)], tie.fastest(), Cell(100 * tie.slower(), 2),
               Cell(100 * tie.told_apart_from(), 2)});
    estimated_first = estimated_first || (result.rank() == 1 && tie.told_apart_from() > 0);
  }
  if (table.empty()) return "";
  const std::string flag =
      "--fold exact would resolve the ties of rank 1: it estimates nothing. How long it takes is not predicted.\n";
  return "\nTies: time over that of the rank's fastest " + kind.word + ", and the smallest difference that would not be a tie\n" +
         table.aligned("  ") + (estimated_first ? flag : "") + "\n";
}

// Returns the settings that policies took for fields that the scenario leaves open. Empty if all policies took the defaults.
std::string taken_text(const configs::Comparison& comparison, const report::TimeUnit& time) {
  Table table({"policy", "settings", "tried", std::string("by default ").append(time.name)});
  for (const configs::TakenSettings& taken : comparison.taken()) {
    if (taken.settings().empty()) continue;
    table.add({taken.policy(), taken.settings(), uint64_t{taken.tried()},
               taken.has_default_time_us() ? Cell(taken.default_time_us() / time.us, 2) : Cell("-")});
  }
  if (table.empty()) return "";
  return "\nSettings that the scenario leaves open, taken as the fastest of those tried (--fixed takes defaults)\n" +
         table.aligned("  ") + "\n";
}

std::string comparison_text(const configs::Comparison& comparison, const RunKind& kind) {
  const configs::Result& first = comparison.results(0);
  const auto longest = std::ranges::max_element(comparison.results(), {}, &configs::Result::total_time_us);
  const report::TimeUnit time = report::time_unit(longest->total_time_us());
  std::vector<std::string> columns{kind.word, "rank", std::string("total ").append(time.name), "speed-up"};
  if (first.has_power()) std::ranges::copy(power_columns(), std::back_inserter(columns));
  for (const configs::Alone& alone : first.alone()) columns.push_back(alone.name() + " slowdown");
  std::vector<uint64_t> stored;
  for (const configs::Result& result : comparison.results()) stored.push_back(result.stored_bits_bytes());
  const report::ByteUnit unit = report::byte_unit(stored);
  columns.emplace_back("stored ").append(unit.name);
  columns.emplace_back("limited by");
  Table table(std::move(columns));
  for (int r = 0; r < comparison.results_size(); ++r) {
    const configs::Result& result = comparison.results(r);
    std::vector<Cell> row{kind.names[static_cast<size_t>(r)], uint64_t{result.rank()}, Cell(result.total_time_us() / time.us, 2),
                          Cell(first.total_time_us() / result.total_time_us(), 3)};
    if (first.has_power()) std::ranges::copy(power_cells(result), std::back_inserter(row));
    for (const configs::Alone& alone : result.alone()) row.push_back(slowdown_cell(result, alone));
    const uint64_t bytes = result.stored_bits_bytes();
    row.push_back(bytes > 0 ? Cell(static_cast<double>(bytes) / unit.bytes, 1) : Cell("-"));
    row.emplace_back(result.reason());
    table.add(std::move(row));
  }
  std::string skipped;
  for (const configs::Skipped& each : comparison.skipped()) skipped += "not run: " + each.reason() + "\n";
  return wrapped(comparison.verdict()) + "\n" + first.scenario() + " on " + first.gpu() + "\n\n" + table.aligned("") +
         "\nSpeed-up: the first " + kind.word +
         "'s time over this one's. Slowdown: a kernel's busy time over its time alone on the same GPU.\n" +
         taken_text(comparison, time) + least_energy_line(comparison, kind.names) + ties_text(comparison, kind) + skipped +
         fold_note(comparison, kind.names) + warning_lines(comparison);
}

std::string comparison_of_policies(const configs::Comparison& comparison) {
  std::vector<std::string> policies;
  for (const configs::Result& result : comparison.results()) policies.push_back(result.policy());
  return comparison_text(comparison, {"policy", std::move(policies)});
}

}  // namespace

std::string render_result(const configs::Result& result, Format format) {
  return rendered<configs::Result>(result, format, result_text, [](const auto& each) { return csv_of({&each}); });
}

std::string comparison_of_runs(const configs::Comparison& comparison, const std::vector<std::string>& labels) {
  return comparison_text(comparison, {"run", labels});
}

std::string render_comparison(const configs::Comparison& comparison, Format format) {
  return rendered<configs::Comparison>(comparison, format, comparison_of_policies, [](const auto& all) {
    return csv_of({all.results().pointer_begin(), all.results().pointer_end()});
  });
}

}  // namespace warpfold::cli
