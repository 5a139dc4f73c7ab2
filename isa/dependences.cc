#include "isa/dependences.h"

#include <algorithm>
#include <array>

#include "isa/architecture.h"
#include "isa/operand.h"

namespace warpfold::isa {

namespace {

// Registers of all files have one flat number. Each file ends with room for a tuple that begins at its last register.
constexpr size_t kTuple = 16;
constexpr size_t kUniformBase = 256 + kTuple;
constexpr size_t kPredicateBase = kUniformBase + 256 + kTuple;
constexpr size_t kUniformPredicateBase = kPredicateBase + 8;
constexpr size_t kRegisters = kUniformPredicateBase + 8;

size_t base_of(OperandKind file) {
  switch (file) {
    case OperandKind::kUniformRegister:
      return kUniformBase;
    case OperandKind::kPredicate:
      return kPredicateBase;
    case OperandKind::kUniformPredicate:
      return kUniformPredicateBase;
    default:
      return 0;
  }
}

bool is_predicate(size_t number) { return number >= kPredicateBase; }

struct Access {
  size_t number;       // flat register number
  uint8_t word = 0;    // position in its operand
  uint8_t words = 1;   // registers of the operand
  bool guard = false;  // read as @P
};

struct Accesses {
  std::vector<Access> reads;
  std::vector<Access> writes;
};

Accesses accesses_of(const Instruction& instruction) {
  Accesses result;
  const Guard& guard = instruction.guard;
  if (guard.present && guard.predicate != kTruePredicate) {
    result.reads.push_back({(guard.uniform ? kUniformPredicateBase : kPredicateBase) + guard.predicate, 0, 1, true});
  }
  for (const Operand& operand : instruction.operands) {
    for (const RegisterRange& range : registers_of(operand)) {
      for (uint8_t word = 0; word < range.count; ++word) {
        (operand.destination ? result.writes : result.reads)
            .push_back({base_of(range.file) + range.first + word, word, range.count});
      }
    }
  }
  return result;
}

// True if the address is in uniform registers alone. Such memory instructions have latencies of their own.
bool uniform_address(const Instruction& instruction) {
  return std::ranges::none_of(instruction.operands, [](const Operand& operand) {
    return operand.kind == OperandKind::kMemory && operand.index != kZeroRegister;
  });
}

int result_latency(const OpcodeInfo& info, const Instruction& instruction) {
  return (uniform_address(instruction) ? info.result_cycles_uniform : info.result_cycles)[access_width_index(instruction.mnemonic)];
}

int release_latency(const OpcodeInfo& info, const Instruction& instruction) {
  const ByWidth& cycles = uniform_address(instruction) ? info.source_release_cycles_uniform : info.source_release_cycles;
  return cycles[access_width_index(instruction.mnemonic)];
}

// Walks the code once or twice. Tracks the last writer of every register and the readers since.
class Walk {
 public:
  Walk(const Architecture& architecture, std::span<const Instruction> code) : architecture_(architecture), code_(code) {
    for (const Instruction& instruction : code) accesses_.push_back(accesses_of(instruction));
  }

  // Walks the code once and returns the dependences of this pass. Writers and readers persist from pass to pass.
  std::vector<Dependence> pass(size_t number) {
    found_.clear();
    first_of_pass_ = number * code_.size();
    for (size_t i = 0; i < code_.size(); ++i) step(first_of_pass_ + i);
    return found_;
  }

 private:
  struct Writer {
    bool known = false;
    size_t at = 0;  // counted over all passes
    Access access{};
  };

  const OpcodeInfo& info(size_t at) const { return architecture_.info(code_[at % code_.size()]); }

  void add(size_t producer, size_t consumer, Protection protection, int cycles) {
    const size_t size = code_.size();
    found_.push_back({producer % size, consumer % size, producer < first_of_pass_, protection, cycles});
  }

  int latency(const Writer& writer, const OpcodeInfo& consumer, const Access& read) const {
    const OpcodeInfo& producer = info(writer.at);
    if (read.guard) return architecture_.guard_latency(producer);
    if (is_predicate(read.number)) return architecture_.predicate_latency(producer, consumer);
    const bool early_word = writer.access.words == 2 && writer.access.word == 0;
    return architecture_.register_latency(producer, consumer) - (early_word ? producer.low_word_earlier : 0);
  }

  void read_after_write(size_t at, const Access& read) {
    const Writer& writer = writers_[read.number];
    if (!writer.known) return;
    const OpcodeInfo& producer = info(writer.at);
    if (producer.fixed_latency()) {
      add(writer.at, at, Protection::kStall, std::max(1, latency(writer, info(at), read)));
    } else {
      add(writer.at, at, Protection::kResultCounter, result_latency(producer, code_[writer.at % code_.size()]));
    }
  }

  void write_after_write(size_t at, const Access& write) {
    const Writer& writer = writers_[write.number];
    if (!writer.known) return;
    const OpcodeInfo& producer = info(writer.at);
    const Instruction& instruction = code_[at % code_.size()];
    if (!producer.fixed_latency()) {
      add(writer.at, at, Protection::kResultCounter, result_latency(producer, code_[writer.at % code_.size()]));
      return;
    }
    // The later write must also land later.
    const int own = info(at).fixed_latency() ? architecture_.write_latency(info(at)) : result_latency(info(at), instruction);
    add(writer.at, at, Protection::kStall, std::max(1, architecture_.write_latency(producer) - own + 1));
  }

  void write_after_read(size_t at, const Access& write) {
    for (const size_t reader : readers_[write.number]) {
      // The memory queue and the XU read operands in order, so a later instruction of the same pipe cannot
      // overwrite too early.
      if (info(reader).pipe == info(at).pipe) continue;
      add(reader, at, Protection::kReadCounter, release_latency(info(reader), code_[reader % code_.size()]));
    }
  }

  void step(size_t at) {
    const Accesses& accesses = accesses_[at % code_.size()];
    const OpcodeInfo& own = info(at);
    for (const Access& read : accesses.reads) read_after_write(at, read);
    if (own.behaviour == Behaviour::kWgmma) return;
    for (const Access& write : accesses.writes) {
      write_after_read(at, write);
      write_after_write(at, write);
    }
    for (const Access& write : accesses.writes) {
      writers_[write.number] = {true, at, write};
      readers_[write.number].clear();
    }
    if (own.source_release_cycles[0] == 0) return;
    const bool bulk = own.behaviour == Behaviour::kBulkLoad || own.behaviour == Behaviour::kBulkStore;
    for (const Access& read : accesses.reads) {
      const bool late = read.number < kUniformBase || (bulk && read.number < kPredicateBase);
      if (late) readers_[read.number].push_back(at);
    }
  }

  const Architecture& architecture_;
  std::span<const Instruction> code_;
  std::vector<Accesses> accesses_;
  std::array<Writer, kRegisters> writers_{};
  std::array<std::vector<size_t>, kRegisters> readers_{};  // variable-latency readers since the last write
  std::vector<Dependence> found_;
  size_t first_of_pass_ = 0;
};

}  // namespace

std::vector<Dependence> find_dependences(const Architecture& architecture, std::span<const Instruction> code, bool loop) {
  if (code.empty()) return {};
  Walk walk(architecture, code);
  std::vector<Dependence> found = walk.pass(0);
  return loop ? walk.pass(1) : found;
}

}  // namespace warpfold::isa
