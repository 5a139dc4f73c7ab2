#include "traces/slice.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::traces {
namespace {

Expected<void> keep_role(Kernel& kernel, const std::string& name) {
  std::vector<std::string> known;
  for (const Role& role : kernel.roles) known.push_back(role.name);
  if (std::ranges::find(known, name) == known.end())
    return fail("no role called " + escape::quoted(name) + suggestion(name, known));
  std::erase_if(kernel.roles, [&](const Role& role) { return role.name != name; });
  return {};
}

// Returns the loop at `place`: "2.1" is the first loop inside the second.
const Loop* find_loop(const std::vector<Node>& body, std::string_view place) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), number);
  const std::string_view rest(end, static_cast<size_t>(place.data() + place.size() - end));
  if (error != std::errc{} || (!rest.empty() && rest.front() != '.')) return nullptr;
  for (const Node& node : body) {
    const auto* loop = std::get_if<Loop>(&node);
    if (loop == nullptr || --number > 0) continue;
    return rest.empty() ? loop : find_loop(loop->body, rest.substr(1));
  }
  return nullptr;
}

Expected<void> keep_loop(Role& role, const std::string& place) {
  const Loop* found = find_loop(role.body, place);
  if (found == nullptr)
    return fail("role " + escape::unquoted(role.name) + " has no loop " + place + "; trace stats --by loop lists them");
  Loop loop = *found;
  const isa::Instruction exit = std::get<Block>(role.body.back()).code.back();
  role.body = {std::move(loop), Block{{exit}}};
  return {};
}

Expected<void> keep_ctas(Kernel& kernel, const Slice::Ctas& ctas) {
  const uint64_t all = kernel.ctas();
  if (ctas.count == 0 || ctas.first >= all || ctas.count > all - ctas.first) {
    return fail("CTAs " + std::to_string(ctas.first) + "-" + std::to_string(ctas.first + ctas.count - 1) + " of " +
                std::to_string(all) + ", counted from 0");
  }
  std::vector<CtaRun> grid;
  uint64_t at = 0;
  for (const CtaRun& run : kernel.grid) {
    const uint64_t begin = std::max(at, ctas.first);
    const uint64_t end = std::min(at + run.count, ctas.first + ctas.count);
    if (begin < end) grid.push_back({run.cta_class, end - begin});
    at += run.count;
  }
  kernel.grid = std::move(grid);
  return {};
}

}  // namespace

Expected<Kernel> slice(Kernel kernel, const Slice& part) {
  if (!part.role.empty()) {
    if (auto kept = keep_role(kernel, part.role); !kept) return std::unexpected(kept.error());
  }
  if (!part.loop.empty()) {
    if (kernel.roles.size() != 1) return fail("a loop is one of a role: name the role too");
    if (auto kept = keep_loop(kernel.roles.front(), part.loop); !kept) return std::unexpected(kept.error());
  }
  if (part.ctas) {
    if (auto kept = keep_ctas(kernel, *part.ctas); !kept) return std::unexpected(kept.error());
  }
  return kernel;
}

}  // namespace warpfold::traces
