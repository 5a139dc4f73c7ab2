#include "tools/warpfold/render/cycle_view.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "isa/assembler.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

using sim::WarpSpan;
using sim::WarpState;

// The letter of a state in the picture. A wait is the most frequent state, so that it is the lightest mark.
char letter(WarpState state) {
  using enum WarpState;
  switch (state) {
    case kSelected:
      return 'I';
    case kWait:
      return '.';
    case kNotSelected:
      return 'n';
    case kDispatchStall:
      return 'd';
    case kMathPipeThrottle:
      return 'p';
    case kMioThrottle:
      return 'q';
    case kLgThrottle:
      return 'Q';
    case kShortScoreboard:
      return 's';
    case kLongScoreboard:
      return 'L';
    case kBarrier:
      return 'b';
    case kGmma:
      return 'g';
    case kNoInstruction:
      return 'f';
    case kBranchResolving:
      return ':';
    case kSleeping:
      return 'z';
    case kDrain:
      return 'e';
  }
  return '?';
}

struct WarpName {
  std::string kernel;
  std::string cta;
  std::string role;
  std::string warp;
};

WarpName name_of(const CycleView& view, const WarpSpan& span) {
  const traces::Kernel& kernel = *view.kernels[static_cast<size_t>(span.launch)];
  uint32_t first = 0;
  size_t role = 0;
  while (first + kernel.roles[role].warps <= static_cast<uint32_t>(span.index_in_cta)) first += kernel.roles[role++].warps;
  return {kernel.name, std::to_string(span.cta), kernel.roles[role].name, std::to_string(span.index_in_cta)};
}

// Spans of the sub-core by warp, each warp's in the order of time, with the fixed waits between them.
std::map<uint64_t, std::vector<WarpSpan>> rows_of(const CycleView& view) {
  std::map<uint64_t, std::vector<WarpSpan>> given;
  for (const WarpSpan& span : view.log->spans) {
    if (span.sub_core == view.sub_core) given[span.warp].push_back(span);
  }
  std::map<uint64_t, std::vector<WarpSpan>> rows;
  for (auto& [warp, spans] : given) {
    std::ranges::stable_sort(spans, {}, &WarpSpan::from);
    for (const WarpSpan& span : spans) {
      std::vector<WarpSpan>& row = rows[warp];
      if (!row.empty() && row.back().until < span.from) {
        WarpSpan wait = span;
        wait.from = row.back().until;
        wait.until = span.from;
        wait.state = WarpState::kWait;
        row.push_back(wait);
      }
      // Awake cycles are reported one by one.
      if (!row.empty() && row.back().until == span.from && row.back().state == span.state && span.state != WarpState::kSelected &&
          row.back().instruction == span.instruction) {
        row.back().until = span.until;
      } else {
        row.push_back(span);
      }
    }
  }
  // The log has a margin, from which the waits at the window's edges follow.
  for (auto& [warp, spans] : rows) {
    for (WarpSpan& span : spans) {
      span.from = std::max(span.from, view.from);
      span.until = std::min(span.until, view.until);
    }
    std::erase_if(spans, [](const WarpSpan& span) { return span.from >= span.until; });
  }
  std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
  return rows;
}

// "12,000    12,010    " over the columns.
std::string ruler(uint64_t from, uint64_t until) {
  constexpr uint64_t kStep = 10;
  std::string text;
  for (uint64_t cycle = from; cycle < until; ++cycle) {
    if (text.size() > cycle - from) continue;
    text += cycle % kStep == 0 && cycle + kStep <= until ? with_thousands(std::to_string(cycle)) : " ";
  }
  return text.substr(0, until - from);
}

std::string legend(const std::set<WarpState>& used) {
  std::string text;
  for (const WarpState state : used) {
    if (!text.empty()) text += ", ";
    text += std::string(1, letter(state)) + " " + std::string(state == WarpState::kSelected ? "issues" : sim::state_name(state));
  }
  return wrapped("A letter a cycle: " + text + ". Blank: the warp is not on the sub-core.");
}

// The picture of the cycles from `from` to before `until`; empty if no warp is on the sub-core.
std::string picture(const CycleView& view, const std::map<uint64_t, std::vector<WarpSpan>>& rows, uint64_t from, uint64_t until) {
  Table table({"kernel", "CTA slot", "role", "warp", ruler(from, until)});
  for (const auto& [warp, spans] : rows) {
    std::string cycles(until - from, ' ');
    for (const WarpSpan& span : spans) {
      for (uint64_t cycle = std::max(span.from, from); cycle < std::min(span.until, until); ++cycle)
        cycles[cycle - from] = letter(span.state);
    }
    if (cycles.find_first_not_of(' ') == std::string::npos) continue;
    const WarpName name = name_of(view, spans.front());
    table.add({name.kernel, name.cta, name.role, name.warp, cycles});
  }
  return table.empty() ? "" : "\n" + table.aligned("");
}

std::string for_people(const CycleView& view) {
  constexpr uint64_t kColumns = 100;
  const auto rows = rows_of(view);
  std::string text = view.title + "\nCycles " + with_thousands(std::to_string(view.from)) + " to " +
                     with_thousands(std::to_string(view.until - 1)) + " of sub-core " + std::to_string(view.sub_core) +
                     " of an SM of class " + std::to_string(view.log->sm_class) + "\n";
  if (rows.empty()) return text + "No warp is on the sub-core in these cycles.\n";
  std::set<WarpState> used;
  std::vector<WarpSpan> issued;
  for (const auto& [warp, spans] : rows) {
    for (const WarpSpan& span : spans) {
      used.insert(span.state);
      if (span.state == WarpState::kSelected) issued.push_back(span);
    }
  }
  text += legend(used);
  for (uint64_t from = view.from; from < view.until; from += kColumns)
    text += picture(view, rows, from, std::min(from + kColumns, view.until));
  Table issues({"cycle", "kernel", "CTA slot", "role", "warp", "instruction"});
  std::ranges::stable_sort(issued, {}, &WarpSpan::from);
  for (const WarpSpan& span : issued) {
    const WarpName name = name_of(view, span);
    issues.add({span.from, name.kernel, name.cta, name.role, name.warp, isa::format_instruction(*span.instruction)});
  }
  return text + issues.section("Issued");
}

Table for_machines(const CycleView& view) {
  Table table(column_names("from until state sub_core kernel cta_slot role warp instruction"));
  for (const auto& [warp, spans] : rows_of(view)) {
    const WarpName name = name_of(view, spans.front());
    for (const WarpSpan& span : spans) {
      table.add({span.from, span.until, std::string(sim::state_name(span.state)), uint64_t{span.sub_core}, name.kernel,
                 uint64_t{static_cast<uint32_t>(span.cta)}, name.role, uint64_t{static_cast<uint32_t>(span.index_in_cta)},
                 isa::format_instruction(*span.instruction)});
    }
  }
  return table;
}

}  // namespace

std::string render_cycles(const CycleView& view, Format format) {
  return format == Format::kTable ? for_people(view) : for_machines(view).render(format);
}

}  // namespace warpfold::cli
