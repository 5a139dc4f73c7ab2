#include "isa/counter_allocation.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "isa/architecture.h"

namespace warpfold::isa {

namespace {

// Enough passes for the pending counters of a loop to repeat.
constexpr size_t kLoopPasses = 3;

// Counter that DEPBAR.LE names ("SB0"), and the number of holders that may remain.
struct NamedCounter {
  size_t counter;
  size_t left;
};

std::optional<NamedCounter> named_counter(const Instruction& instruction) {
  if (!instruction.mnemonic.starts_with("DEPBAR") || instruction.operands.empty()) return std::nullopt;
  const std::string& text = instruction.operands[0].text;
  if (text.size() != 3 || !text.starts_with("SB") || text[2] < '0' || text[2] >= '0' + kDependenceCounters) return std::nullopt;
  const size_t left = instruction.operands.size() > 1 ? std::strtoul(instruction.operands[1].text.c_str(), nullptr, 0) : 0;
  return NamedCounter{static_cast<size_t>(text[2] - '0'), left};
}

bool reads_in_order(const OpcodeInfo& info) { return info.memory() || info.pipe == Pipe::kXu; }

bool returns_in_order(const OpcodeInfo& first, const OpcodeInfo& second) {
  const auto shared = [](const OpcodeInfo& info) {
    return info.behaviour == Behaviour::kLoadShared || info.behaviour == Behaviour::kLoadMatrix ||
           info.behaviour == Behaviour::kShuffle;
  };
  return (first.pipe == Pipe::kXu && second.pipe == Pipe::kXu) || (shared(first) && shared(second));
}

// Span in which an instruction holds a counter: from its issue to the issue of the first instruction that waits for it.
// Positions count over two passes, so a hold around the loop ends after the code.
struct Hold {
  size_t begin;
  size_t end;
};

class Allocator {
 public:
  Allocator(size_t size, bool loop) : size_(size), loop_(loop) {}

  // Excludes the counter of cp.async groups, because DEPBAR.LE counts its holders.
  void reserve(size_t counter) { reserved_ |= 1U << counter; }

  // Assigns a counter. First choice: a counter whose other holders the same instruction waits for. Second: a free
  // counter. Third: the counter whose holders are waited for nearest to the end of `hold`, because a wait for one
  // holder waits for all.
  uint8_t take(Hold hold) {
    size_t best = kDependenceCounters;
    size_t best_cost = std::numeric_limits<size_t>::max();
    for (size_t counter = 0; counter < kDependenceCounters; ++counter) {
      if ((reserved_ >> counter & 1U) != 0) continue;
      const size_t cost = cost_of(counter, hold);
      if (cost >= best_cost) continue;
      best = counter;
      best_cost = cost;
    }
    holds_[best].push_back(hold);
    return static_cast<uint8_t>(best);
  }

 private:
  size_t cost_of(size_t counter, Hold hold) const {
    bool shared = false;
    size_t cost = 0;
    for (const Hold& other : holds_[counter]) {
      for (const size_t shift : {size_t{0}, size_}) {
        if (shift != 0 && !loop_) continue;
        const bool behind = hold.begin + shift < other.end && other.begin < hold.end + shift;
        const bool ahead = hold.begin < other.end + shift && other.begin + shift < hold.end;
        if (!behind && !ahead) continue;
        shared = true;
        const size_t here = hold.end % size_;
        const size_t there = other.end % size_;
        cost = std::max(cost, here > there ? here - there : there - here);
      }
    }
    if (!shared) return 1;
    return cost == 0 ? 0 : cost + 1;
  }

  size_t size_;
  bool loop_;
  unsigned reserved_ = 0;
  std::array<std::vector<Hold>, kDependenceCounters> holds_;
};

// Position of the first instruction that waits for each instruction; empty if none does.
using FirstWaiters = std::vector<std::optional<size_t>>;

FirstWaiters first_waiters(const std::vector<Dependence>& dependences, size_t size, Protection protection) {
  FirstWaiters waiters(size);
  for (const Dependence& dependence : dependences) {
    if (dependence.protection != protection) continue;
    const size_t at = dependence.consumer + (dependence.carried ? size : 0);
    std::optional<size_t>& waiter = waiters[dependence.producer];
    if (!waiter || at < *waiter) waiter = at;
  }
  return waiters;
}

bool writes_registers(const Instruction& instruction) {
  return std::ranges::any_of(instruction.operands, [](const Operand& operand) {
    const bool predicate = operand.kind == OperandKind::kPredicate || operand.kind == OperandKind::kUniformPredicate;
    return operand.destination && operand.index != (predicate ? kTruePredicate : kZeroRegister);
  });
}

void hand_out(const Architecture& architecture, std::span<Instruction> code, bool loop,
              const std::vector<Dependence>& dependences) {
  const size_t size = code.size();
  Allocator allocator(size, loop);
  size_t copy_counter = 0;
  for (const Instruction& instruction : code) {
    if (const auto named = named_counter(instruction)) copy_counter = named->counter;
  }
  for (Instruction& instruction : code) {
    if (architecture.info(instruction).behaviour != Behaviour::kCopyAsyncCommit) continue;
    allocator.reserve(copy_counter);
    instruction.control.write_counter = static_cast<uint8_t>(copy_counter);
  }
  const FirstWaiters results = first_waiters(dependences, size, Protection::kResultCounter);
  const FirstWaiters reads = first_waiters(dependences, size, Protection::kReadCounter);
  for (size_t i = 0; i < size; ++i) {
    const OpcodeInfo& info = architecture.info(code[i]);
    if (info.fixed_latency() || info.pipe == Pipe::kWgmma || info.pipe == Pipe::kTcgen05) continue;
    std::optional<size_t> result = results[i];
    // A result without a consumer here is for the code after the block: the last instruction waits for it.
    if (!loop && !result && writes_registers(code[i]) && i + 1 < size) result = size - 1;
    if (result) code[i].control.write_counter = allocator.take({i, *result});
    // A wait for the result implies that the sources have been read.
    if (reads[i] && (!result || *reads[i] < *result)) code[i].control.read_counter = allocator.take({i, *reads[i]});
  }
}

uint8_t counter_for(const Instruction& producer, Protection protection) {
  const ControlCode& control = producer.control;
  const bool read = protection == Protection::kReadCounter && control.read_counter != kNoCounter;
  return read ? control.read_counter : control.write_counter;
}

}  // namespace

CounterState::CounterState(const Architecture& architecture, std::span<const Instruction> code)
    : architecture_(architecture), code_(code), now_(code.size()), before_(code.size()) {}

void CounterState::wait(size_t i, unsigned mask) {
  for (size_t counter = 0; counter < kDependenceCounters; ++counter) {
    if ((mask >> counter & 1U) == 0) continue;
    for (const Holder& holder : holders_[counter]) release(holder);
    holders_[counter].clear();
  }
  if (const auto named = named_counter(code_[i])) {
    auto& holders = holders_[named->counter];
    const size_t released = holders.size() - std::min(named->left, holders.size());
    for (size_t h = 0; h < released; ++h) release(holders[h]);
    holders.erase(holders.begin(), holders.begin() + static_cast<std::ptrdiff_t>(released));
  }
}

void CounterState::release(const Holder& holder) {
  const OpcodeInfo& own = architecture_.info(code_[holder.instruction]);
  const auto release_up_to = [&](std::vector<Progress>& pass, size_t end) {
    for (size_t i = 0; i < end; ++i) {
      const OpcodeInfo& other = architecture_.info(code_[i]);
      if (own.pipe == other.pipe && reads_in_order(own)) pass[i].read = true;
      if (holder.result && returns_in_order(own, other)) pass[i].written = true;
    }
    if (end == code_.size()) return;
    pass[end].read = true;
    if (holder.result) pass[end].written = true;
  };
  if (holder.this_pass) release_up_to(before_, code_.size());
  release_up_to(holder.this_pass ? now_ : before_, holder.instruction);
}

void CounterState::issue(size_t i) {
  now_[i].issued = true;
  const ControlCode& control = code_[i].control;
  if (control.write_counter < kDependenceCounters) holders_[control.write_counter].push_back({i, true, true});
  if (control.read_counter < kDependenceCounters) holders_[control.read_counter].push_back({i, true, false});
}

void CounterState::next_pass() {
  before_ = now_;
  std::ranges::fill(now_, Progress{});
  for (auto& holders : holders_) {
    std::erase_if(holders, [](const Holder& holder) { return !holder.this_pass; });
    for (Holder& holder : holders) holder.this_pass = false;
  }
}

bool CounterState::done(const Dependence& dependence) const {
  const Progress& progress = (dependence.carried ? before_ : now_)[dependence.producer];
  if (!progress.issued) return true;  // no earlier pass
  return dependence.protection == Protection::kReadCounter ? progress.read : progress.written;
}

unsigned CounterState::pending_results() const {
  unsigned mask = 0;
  for (size_t counter = 0; counter < kDependenceCounters; ++counter) {
    if (std::ranges::any_of(holders_[counter], &Holder::result)) mask |= 1U << counter;
  }
  return mask;
}

void allocate_counters(const Architecture& architecture, std::span<Instruction> code, bool loop,
                       const std::vector<Dependence>& dependences) {
  hand_out(architecture, code, loop, dependences);
  CounterState state(architecture, code);
  for (size_t pass = 0; pass < (loop ? kLoopPasses : 1); ++pass) {
    auto next = dependences.begin();
    for (size_t i = 0; i < code.size(); ++i) {
      unsigned mask = 0;
      for (; next != dependences.end() && next->consumer == i; ++next) {
        if (next->protection == Protection::kStall || state.done(*next)) continue;
        mask |= 1U << counter_for(code[next->producer], next->protection);
      }
      if (!loop && i + 1 == code.size()) mask |= state.pending_results();
      code[i].control.wait_mask = static_cast<uint8_t>(mask);
      state.wait(i, mask);
      state.issue(i);
    }
    state.next_pass();
  }
}

}  // namespace warpfold::isa
