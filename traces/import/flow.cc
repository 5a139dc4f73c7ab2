#include "traces/import/flow.h"

#include <algorithm>
#include <functional>

#include "configs/escape/quoted.h"

namespace warpfold::sass {
namespace {

bool predicate_operand(const Op& op) {
  return std::ranges::any_of(op.sources, [](const Source& source) {
    return source.kind == Source::Kind::kPredicate || source.kind == Source::Kind::kUniformPredicate;
  });
}

bool ends_block(const Op& op) { return op.behaviour == isa::Behaviour::kBranch || op.behaviour == isa::Behaviour::kExit; }

class Builder {
 public:
  Builder(const std::string& file, const std::vector<Op>& ops) : file_(file), ops_(ops) {}

  Expected<Flow> build() {
    cut_blocks();
    if (auto linked = link(); !linked) return std::unexpected(linked.error());
    order();
    if (auto checked = check_ends(); !checked) return std::unexpected(checked.error());
    find_dominators();
    if (auto found = find_loops(); !found) return std::unexpected(found.error());
    nest_loops();
    return std::move(flow_);
  }

 private:
  void cut_blocks() {
    std::vector<bool> begins(ops_.size() + 1, false);
    begins[0] = true;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (ends_block(ops_[i])) begins[i + 1] = true;
      for (const Op::IndirectTarget& target : ops_[i].indirect) begins[static_cast<size_t>(target.position)] = true;
      if (may_jump(ops_[i])) begins[static_cast<size_t>(ops_[i].target)] = true;
    }
    flow_.block_at.resize(ops_.size());
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (begins[i]) flow_.blocks.emplace_back().first = static_cast<int>(i);
      flow_.block_at[i] = static_cast<int>(flow_.blocks.size()) - 1;
      flow_.blocks.back().end = static_cast<int>(i) + 1;
    }
  }

  Expected<void> link() {
    for (FlowBlock& block : flow_.blocks) {
      const Op& last = ops_[static_cast<size_t>(block.end) - 1];
      if (may_jump(last)) block.successors.push_back(flow_.block_at[static_cast<size_t>(last.target)]);
      const auto add = [&](int to) {
        if (std::ranges::find(block.successors, to) == block.successors.end()) block.successors.push_back(to);
      };
      for (const Op::IndirectTarget& target : last.indirect) add(flow_.block_at[static_cast<size_t>(target.position)]);
      if (may_fall_through(last) && static_cast<size_t>(block.end) < ops_.size())
        add(flow_.block_at[static_cast<size_t>(block.end)]);
    }
    return {};
  }

  // Depth-first search. An edge to a block that is still open is a back edge.
  void order() {
    enum class Mark : uint8_t { kNew, kOpen, kDone };
    std::vector<Mark> marks(flow_.blocks.size(), Mark::kNew);
    std::vector<int> done;
    struct Visit {
      int block;
      size_t next;
    };
    std::vector<Visit> stack{{0, 0}};
    marks[0] = Mark::kOpen;
    while (!stack.empty()) {
      Visit& visit = stack.back();
      const std::vector<int>& successors = flow_.blocks[static_cast<size_t>(visit.block)].successors;
      if (visit.next == successors.size()) {
        marks[static_cast<size_t>(visit.block)] = Mark::kDone;
        done.push_back(visit.block);
        stack.pop_back();
        continue;
      }
      const int to = successors[visit.next++];
      Mark& mark = marks[static_cast<size_t>(to)];
      if (mark == Mark::kOpen) back_edges_.push_back({visit.block, to});
      if (mark != Mark::kNew) continue;
      mark = Mark::kOpen;
      stack.push_back({to, 0});
    }
    std::ranges::reverse(done);
    for (size_t rank = 0; rank < done.size(); ++rank) flow_.blocks[static_cast<size_t>(done[rank])].rank = static_cast<int>(rank);
    order_ = std::move(done);
  }

  Expected<void> check_ends() const {
    for (const int index : order_) {
      const FlowBlock& block = flow_.blocks[static_cast<size_t>(index)];
      const Op& last = ops_[static_cast<size_t>(block.end) - 1];
      const auto wrong = [&](const std::string& message) { return fail_at(file_, last.line, 1, message); };
      if (last.behaviour == isa::Behaviour::kBranch && last.target < 0 && !last.has("DIV") && last.callee.empty() &&
          last.indirect.empty() && !last.too_deep) {
        const bool switches = last.base == "BRX" || last.base == "BRXU";
        return wrong(escape::unquoted(last.instruction->mnemonic) + ": its target hangs on a register, " +
                     (switches
                          ? "and the listing does not say where it may lead; nvdisasm -hex FILE, without -c, prints that and the "
                            "table of the switch"
                          : "which the importer does not follow; write the kernel in Warpfold's own text (.wfs), or record a "
                            "trace"));
      }
      if (may_fall_through(last) && static_cast<size_t>(block.end) == ops_.size() && last.unreadable == nullptr) {
        return wrong("the function runs past its last instruction; the listing may have been cut off");
      }
    }
    return {};
  }

  // Immediate dominators in order of ranks (Cooper, Harvey, Kennedy 2001).
  void find_dominators() {
    dominator_.assign(flow_.blocks.size(), -1);
    dominator_[0] = 0;
    const auto rank = [this](int block) { return flow_.blocks[static_cast<size_t>(block)].rank; };
    const auto common = [&](int a, int b) {
      while (a != b) (rank(a) > rank(b) ? a : b) = dominator_[static_cast<size_t>(rank(a) > rank(b) ? a : b)];
      return a;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const int block : order_) {
        for (const int to : flow_.blocks[static_cast<size_t>(block)].successors) {
          int& above = dominator_[static_cast<size_t>(to)];
          const int now = above < 0 ? block : common(above, block);
          if (to == 0 || now == above) continue;
          above = now;
          changed = true;
        }
      }
    }
  }

  bool dominates(int above, int block) const {
    while (block != above && block != 0) block = dominator_[static_cast<size_t>(block)];
    return block == above;
  }

  Expected<void> find_loops() {
    std::vector<std::vector<int>> before(flow_.blocks.size());
    for (const int block : order_) {
      for (const int to : flow_.blocks[static_cast<size_t>(block)].successors) before[static_cast<size_t>(to)].push_back(block);
    }
    for (const auto& [from, header] : back_edges_) {
      if (!dominates(header, from)) {
        const Op& entry = ops_[static_cast<size_t>(flow_.blocks[static_cast<size_t>(header)].first)];
        return fail_at(file_, entry.line, 1,
                       "an irreducible loop: control enters it here and elsewhere. Compile with fewer jumps into loops "
                       "(no goto, no switch across a loop), or record a trace");
      }
      auto loop = std::ranges::find(flow_.loops, header, &FlowLoop::header);
      if (loop == flow_.loops.end()) {
        flow_.loops.push_back({.header = header, .parent = -1, .members = std::vector<bool>(flow_.blocks.size(), false)});
        loop = flow_.loops.end() - 1;
      }
      loop->members[static_cast<size_t>(header)] = true;
      std::vector<int> open{from};
      while (!open.empty()) {
        const int block = open.back();
        open.pop_back();
        if (loop->members[static_cast<size_t>(block)]) continue;
        loop->members[static_cast<size_t>(block)] = true;
        for (const int earlier : before[static_cast<size_t>(block)]) open.push_back(earlier);
      }
    }
    return {};
  }

  void nest_loops() {
    std::ranges::sort(flow_.loops, std::less<>(), [](const FlowLoop& loop) { return -std::ranges::count(loop.members, true); });
    for (size_t inner = 0; inner < flow_.loops.size(); ++inner) {
      for (size_t outer = 0; outer < inner; ++outer) {
        if (flow_.loops[outer].members[static_cast<size_t>(flow_.loops[inner].header)])
          flow_.loops[inner].parent = static_cast<int>(outer);
      }
      for (size_t block = 0; block < flow_.blocks.size(); ++block) {
        if (flow_.loops[inner].members[block]) flow_.blocks[block].loop = static_cast<int>(inner);
      }
    }
  }

  const std::string& file_;
  const std::vector<Op>& ops_;
  Flow flow_;
  std::vector<int> order_;
  std::vector<std::pair<int, int>> back_edges_;
  std::vector<int> dominator_;
};

}  // namespace

bool may_jump(const Op& op) {
  // BRA.DIV jumps to a slow path if the warp has diverged. The executed warp counts as converged.
  return op.behaviour == isa::Behaviour::kBranch && op.target >= 0 && !op.has("DIV");
}

bool may_fall_through(const Op& op) {
  if (op.behaviour == isa::Behaviour::kExit) return op.instruction->guard.present;
  if (op.behaviour != isa::Behaviour::kBranch || op.has("DIV")) return true;
  return op.instruction->guard.present || predicate_operand(op) || !op.callee.empty() || op.too_deep;
}

int Flow::loop_at(int block) const {
  const auto loop = std::ranges::find(loops, block, &FlowLoop::header);
  return loop == loops.end() ? -1 : static_cast<int>(loop - loops.begin());
}

Expected<Flow> make_flow(const std::string& file, const std::vector<Op>& ops) { return Builder(file, ops).build(); }

}  // namespace warpfold::sass
