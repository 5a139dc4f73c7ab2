#include "workloads/common/list_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "isa/dependences.h"
#include "isa/operand.h"

namespace warpfold::workloads {
namespace {

using isa::Instruction;

// An earliest issue time: `cycles` after instruction `from` has issued.
struct Edge {
  size_t from;
  int cycles;
};

using Place = std::pair<isa::OperandKind, int>;  // a register or predicate

template <typename Visit>
void for_each_place(const isa::Operand& operand, Visit&& visit) {
  const bool predicate = operand.kind == isa::OperandKind::kPredicate || operand.kind == isa::OperandKind::kUniformPredicate;
  if (predicate && operand.index != isa::kTruePredicate) visit(Place{operand.kind, operand.index});
  for (const isa::RegisterRange& range : isa::registers_of(operand)) {
    for (int i = 0; i < range.count; ++i) visit(Place{range.file, range.first + i});
  }
}

// The instructions that each instruction must not overtake: the last writer of each register that it reads or writes, and the
// readers of each register that it writes.
class Order {
 public:
  explicit Order(size_t size) : before_(size) {}

  void add(size_t i, const Instruction& instruction) {
    if (instruction.guard.present && instruction.guard.predicate != isa::kTruePredicate) {
      read(i, {instruction.guard.uniform ? isa::OperandKind::kUniformPredicate : isa::OperandKind::kPredicate,
               instruction.guard.predicate});
    }
    for (const isa::Operand& operand : instruction.operands) {
      if (!operand.destination) for_each_place(operand, [&](const Place& place) { read(i, place); });
    }
    for (const isa::Operand& operand : instruction.operands) {
      if (operand.destination) for_each_place(operand, [&](const Place& place) { write(i, place); });
    }
  }

  void add_edge(size_t from, size_t to, int cycles) { before_[to].push_back({from, cycles}); }
  const std::vector<Edge>& before(size_t i) const { return before_[i]; }

 private:
  struct Users {
    std::optional<size_t> writer;
    std::vector<size_t> readers;
  };

  void read(size_t i, const Place& place) {
    Users& users = users_[place];
    if (users.writer) add_edge(*users.writer, i, 1);
    users.readers.push_back(i);
  }
  void write(size_t i, const Place& place) {
    Users& users = users_[place];
    if (users.writer && *users.writer != i) add_edge(*users.writer, i, 1);
    for (const size_t reader : users.readers) {
      if (reader != i) add_edge(reader, i, 1);
    }
    users = {i, {}};
  }

  std::map<Place, Users> users_;
  std::vector<std::vector<Edge>> before_;
};

Order order_of(const isa::Architecture& architecture, std::span<const Instruction> code) {
  Order order(code.size());
  std::optional<size_t> memory;
  for (size_t i = 0; i < code.size(); ++i) {
    order.add(i, code[i]);
    if (architecture.info(code[i]).pipe != isa::Pipe::kMemory) continue;
    if (memory) order.add_edge(*memory, i, 1);
    memory = i;
  }
  for (const isa::Dependence& dependence : isa::find_dependences(architecture, code, false)) {
    order.add_edge(dependence.producer, dependence.consumer, dependence.cycles);
  }
  return order;
}

}  // namespace

std::vector<Instruction> list_schedule(const isa::Architecture& architecture, std::span<const Instruction> code) {
  const Order order = order_of(architecture, code);
  std::vector<std::optional<int>> issued(code.size());
  std::map<std::string, int> port_free;
  // Cycle at which an instruction may issue; empty while a predecessor has not issued.
  const auto earliest = [&](size_t i) -> std::optional<int> {
    int cycle = 0;
    for (const Edge& edge : order.before(i)) {
      if (!issued[edge.from]) return std::nullopt;
      cycle = std::max(cycle, *issued[edge.from] + edge.cycles);
    }
    const std::string& port = architecture.info(code[i]).compiler_port;
    return port.empty() ? cycle : std::max(cycle, port_free[port]);
  };
  std::vector<size_t> left(code.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<Instruction> scheduled;
  for (int now = 0; !left.empty(); ++now) {
    const auto next = std::ranges::find_if(left, [&](size_t i) { return earliest(i).value_or(now + 1) <= now; });
    if (next == left.end()) continue;
    issued[*next] = now;
    const isa::OpcodeInfo& info = architecture.info(code[*next]);
    if (!info.compiler_port.empty()) port_free[info.compiler_port] = now + info.compiler_interval;
    scheduled.push_back(code[*next]);
    left.erase(next);
  }
  return scheduled;
}

}  // namespace warpfold::workloads
