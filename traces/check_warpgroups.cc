#include <algorithm>
#include <map>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "traces/checks.h"

namespace warpfold::traces {
namespace {

constexpr uint32_t kWarpgroup = 4;  // warps that execute a wgmma together; PTX ISA, "warpgroup"

// A wgmma instruction, or the start or end of a loop that contains wgmma instructions.
struct Token {
  std::string text;
  isa::Effect effect{};
  bool operator==(const Token&) const = default;
};

// Lists the wgmma instructions of a role and the loops around them.
class Products {
 public:
  Products(const isa::Architecture& architecture, const Kernel& kernel) : architecture_(architecture) {
    std::map<std::vector<uint64_t>, size_t> first;  // first parameter with these values
    for (size_t p = 0; p < kernel.parameters.size(); ++p) {
      std::vector<uint64_t> values;
      for (const CtaClass& cta_class : kernel.cta_classes) values.push_back(cta_class.values[p]);
      same_as_.push_back(first.try_emplace(std::move(values), p).first->second);
    }
  }

  std::vector<Token> of(const std::vector<Node>& body) const {
    std::vector<Token> tokens;
    for (const Node& node : body) {
      if (const auto* block = std::get_if<Block>(&node)) {
        for (const isa::Instruction& each : block->code) {
          if (belongs(each)) tokens.push_back({text_of(each), each.effect});
        }
        continue;
      }
      const Loop& loop = std::get<Loop>(node);
      const std::vector<Token> inside = of(loop.body);
      if (inside.empty()) continue;
      tokens.push_back({trips_of(loop.trips)});
      tokens.insert(tokens.end(), inside.begin(), inside.end());
      tokens.push_back({"end"});
    }
    return tokens;
  }

 private:
  bool belongs(const isa::Instruction& instruction) const {
    const isa::Behaviour behaviour = architecture_.info(instruction).behaviour;
    return behaviour == isa::Behaviour::kWgmma || behaviour == isa::Behaviour::kWgmmaArrive ||
           behaviour == isa::Behaviour::kWgmmaWait;
  }

  static std::string text_of(const isa::Instruction& instruction) {
    std::string text = instruction.mnemonic;
    for (const isa::Operand& operand : instruction.operands) text.append(1, ' ').append(operand.text);
    return text;
  }

  std::string trips_of(const TripCount& count) const {
    if (count.parameter < 0) return "loop " + std::to_string(count.literal);
    return "parameter " + std::to_string(same_as_[static_cast<size_t>(count.parameter)]);
  }

  const isa::Architecture& architecture_;
  std::vector<size_t> same_as_;  // [parameter]: first parameter with the same value in every class
};

}  // namespace

Problem check_warpgroups(const isa::Architecture& architecture, const Kernel& kernel) {
  const Products products(architecture, kernel);
  std::vector<std::vector<Token>> of_role;
  std::vector<size_t> role_of;  // [warp]
  for (size_t r = 0; r < kernel.roles.size(); ++r) {
    of_role.push_back(products.of(kernel.roles[r].body));
    role_of.insert(role_of.end(), kernel.roles[r].warps, r);
  }
  for (uint32_t first = 0; first < role_of.size(); first += kWarpgroup) {
    const auto count = std::min(kWarpgroup, static_cast<uint32_t>(role_of.size()) - first);
    for (uint32_t warp = first; warp < first + count; ++warp) {
      const size_t role = role_of[warp];
      const size_t other = role_of[first];
      const std::string who = "role " + escape::unquoted(kernel.roles[role].name) + ": ";
      if (count < kWarpgroup && !of_role[role].empty()) {
        return Fault(who + "wgmma needs the four warps of a warpgroup; the last warpgroup of the CTA has " + std::to_string(count),
                     {Part::kRole, role});
      }
      if (of_role[role] != of_role[other]) {
        return Fault(who + "the four warps of a warpgroup issue the same wgmma instructions in the same order; warp " +
                         std::to_string(warp) + " issues others than warp " + std::to_string(first) + ", of role " +
                         escape::unquoted(kernel.roles[other].name),
                     {Part::kRole, role});
      }
    }
  }
  return {};
}

}  // namespace warpfold::traces
