#include <algorithm>
#include <map>

#include "configs/escape/quoted.h"
#include "tools/warpfold/commands/trace_verbs.h"
#include "tools/warpfold/render/table.h"
#include "traces/loop_stats.h"

namespace warpfold::cli {
namespace {

namespace po = boost::program_options;

// Returns the warp instructions of the launch by opcode, including modifiers.
std::map<std::string, uint64_t> opcodes(const traces::Kernel& kernel) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [mnemonic, issued] : traces::issued_by_mnemonic(kernel)) counts[mnemonic] = issued;
  return counts;
}

Cell difference(uint64_t one, uint64_t other) {
  const double change = static_cast<double>(other) - static_cast<double>(one);
  return {one == 0 ? 100.0 : 100 * change / static_cast<double>(one), 2};
}

// Returns the opcodes whose counts differ between the two kernels; with `all`, every opcode.
Table by_opcode(const traces::Kernel& one, const traces::Kernel& other, bool all) {
  Table table({"opcode", "first", "second", "percent"});
  const auto first = opcodes(one);
  const auto second = opcodes(other);
  std::map<std::string, std::pair<uint64_t, uint64_t>> both;
  for (const auto& [name, count] : first) both[name].first = count;
  for (const auto& [name, count] : second) both[name].second = count;
  for (const auto& [name, counts] : both) {
    if (all || counts.first != counts.second)
      table.add({name, counts.first, counts.second, difference(counts.first, counts.second)});
  }
  return table;
}

// Returns the loops of the roles in program order, paired by their places.
Table by_loop(const traces::Kernel& one, const traces::Kernel& other, bool all) {
  Table table({"role", "loop", "first_trips", "second_trips", "first_in_text", "second_in_text", "first", "second", "percent"});
  const size_t roles = std::max(one.roles.size(), other.roles.size());
  for (size_t r = 0; r < roles; ++r) {
    std::map<std::string, std::pair<traces::LoopStatistics, traces::LoopStatistics>> both;
    const traces::LoopStatistics none{.place = "", .least_trips = 0, .most_trips = 0};
    const auto pair_of = [&](const std::string& place) -> auto& { return both.try_emplace(place, none, none).first->second; };
    if (r < one.roles.size()) {
      for (const auto& loop : traces::loop_statistics(one, one.roles[r])) pair_of(loop.place).first = loop;
    }
    if (r < other.roles.size()) {
      for (const auto& loop : traces::loop_statistics(other, other.roles[r])) pair_of(loop.place).second = loop;
    }
    const std::string name = r < one.roles.size() ? one.roles[r].name : other.roles[r].name;
    for (const auto& [place, loops] : both) {
      const auto& [first, second] = loops;
      const bool same = first.issued == second.issued && first.in_text == second.in_text && first.most_trips == second.most_trips;
      if (!all && same) continue;
      table.add({name, place.empty() ? "all" : place, first.most_trips, second.most_trips, first.in_text, second.in_text,
                 first.issued, second.issued, difference(first.issued, second.issued)});
    }
  }
  return table;
}

Outcome<traces::Kernel> one_kernel(const Options& options, const std::string& file, const char* option) {
  auto all = source_kernels(file, options.settings());
  if (!all) return std::unexpected(all.error());
  if (options.has(option)) {
    const std::string name = options.text(option);
    for (traces::Kernel& kernel : *all) {
      if (kernel.name == name) return std::move(kernel);
    }
    return user_error("--" + std::string(option) + ": no kernel called " + escape::quoted(name) + " in " + file);
  }
  if (all->size() != 1) {
    return user_error(file + " has " + std::to_string(all->size()) + " kernels: name one with --" + option);
  }
  return std::move(all->front());
}

}  // namespace

Outcome<void> trace_diff(const Invocation& invocation) {
  Options options("warpfold trace diff FIRST SECOND [options]",
                  "Compares two kernels: issues of each opcode, or trips of each loop. Equal kernels give no output.",
                  "  warpfold trace diff before.wft after.wft\n"
                  "  warpfold trace diff kernels.wft kernels.wft --first rng --second rng10 --by loop --all\n");
  options.positional("FILE", 2, 2);
  options.add_settings();
  options.add()("first", po::value<std::string>()->value_name("NAME"), "the kernel of the first file, where it has several");
  options.add()("second", po::value<std::string>()->value_name("NAME"), "the kernel of the second file");
  options.add()("by", po::value<std::string>()->default_value("opcode")->value_name("WHAT"), "a row for each opcode or loop");
  options.add()("all", "equal rows too");
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const Destination& destination = options.destination();
  const std::string by = options.text("by");
  if (by != "opcode" && by != "loop") return user_error("--by " + by + ": expected opcode or loop");
  const auto first = one_kernel(options, options.arguments()[0], "first");
  if (!first) return std::unexpected(first.error());
  const auto second = one_kernel(options, options.arguments()[1], "second");
  if (!second) return std::unexpected(second.error());
  const Table table = (by == "opcode" ? by_opcode : by_loop)(*first, *second, options.has("all"));
  if (table.empty() && destination.format == Format::kTable) return {};
  return write_output(destination.path, table.render(destination.format));
}

}  // namespace warpfold::cli
