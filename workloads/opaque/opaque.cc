#include "workloads/opaque/opaque.h"

#include <string>

#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kWarpThreads = 32;
constexpr uint32_t kDefaultThreads = 256;
constexpr uint32_t kWordBytes = 4 * kWarpThreads;  // per warp: a word of each thread
constexpr uint32_t kVectorWords = 4;
constexpr uint32_t kVectors = 4;       // loads of 16 bytes per round
constexpr uint32_t kRoundFmas = 32;    // long enough that the branch back is a small part of a round
constexpr uint32_t kFirstData = 16;    // registers below: the address and operands
constexpr uint32_t kSectorBytes = 32;  // the smallest access of L2

class Program {
 public:
  Program(const configs::Opaque& opaque, const isa::Architecture& architecture)
      : amount_(opaque.amount()), architecture_(architecture) {}

  std::vector<traces::Node> latency() {
    Code round = code();
    // Each address depends on the previous load.
    round.add("LDG.E R4, [R4.64]", {.bytes = kSectorBytes});
    round.add("IADD3 R4, R4, R6, RZ");
    rounds(round, amount_);
    return ended({});
  }

  std::vector<traces::Node> dram() {
    Code round = code(), rest = code();
    for (uint32_t v = 0; v < kVectors; ++v) add_load(round, ".128", kVectorWords, v);
    rounds(round, amount_ / (kVectors * kVectorWords));
    const uint64_t left = amount_ % (kVectors * kVectorWords);
    for (uint64_t v = 0; v < left / kVectorWords; ++v) add_load(rest, ".128", kVectorWords, v);
    for (uint64_t w = 0; w < left % kVectorWords; ++w) add_load(rest, "", 1, kVectors + w);
    return ended(rest.instructions());
  }

  std::vector<traces::Node> issue() {
    Code round = code(), rest = code();
    for (uint32_t f = 0; f < kRoundFmas; ++f) add_fma(round, f);
    rounds(round, amount_ / kRoundFmas);
    for (uint32_t f = 0; f < amount_ % kRoundFmas; ++f) add_fma(rest, f);
    return ended(rest.instructions());
  }

  std::vector<traces::Node> nothing() { return ended({}); }

 private:
  Code code() const { return Code(architecture_); }

  static void add_load(Code& code, std::string_view width, uint32_t words, uint64_t number) {
    code.add(line({"LDG.E", width, " ", general(kFirstData + kVectorWords * number), ", [R4.64]"}),
             {.bytes = words * kWordBytes, .stream = 0});
  }
  static void add_fma(Code& code, uint32_t number) {
    const std::string sum = general(kFirstData + number);
    code.add(line({"FFMA ", sum, ", R6, R7, ", sum}));
  }

  void rounds(Code& round, uint64_t trips) {
    if (trips == 0) return;
    round.add("IADD3 R8, R8, -0x1, RZ").add("ISETP.NE.AND P0, PT, R8, RZ, PT").add("@P0 BRA `(.L_round)");
    body_.emplace_back(loop_of(round, {.literal = trips}));
  }

  std::vector<traces::Node> ended(const std::vector<isa::Instruction>& rest) {
    body_.emplace_back(block_of(code().add(rest).add("EXIT")));
    connect(architecture_, body_);
    return std::move(body_);
  }

  uint64_t amount_;
  const isa::Architecture& architecture_;
  std::vector<traces::Node> body_;
};

}  // namespace

Expected<traces::Kernel> make_opaque(const configs::Opaque& opaque, const configs::Gpu& gpu) {
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  const auto program = [&] { return Program(opaque, **architecture); };
  const uint32_t warps = (opaque.has_threads_per_cta() ? opaque.threads_per_cta() : kDefaultThreads) / kWarpThreads;
  traces::Kernel kernel;
  kernel.name = "opaque";
  kernel.architecture = (*architecture)->name();
  kernel.source = line({"opaque ", configs::OpaqueDemand_Name(opaque.demand()), " ctas=", std::to_string(opaque.ctas()),
                        " amount=", std::to_string(opaque.amount())});
  switch (opaque.demand()) {
    case configs::DRAM:
      kernel.assumed.emplace_back("an unknown kernel is bound by DRAM");
      kernel.streams.push_back({"in", false, 1, 1, opaque.ctas() * warps * opaque.amount() * kWordBytes});
      kernel.roles.push_back({"all", warps, program().dram()});
      break;
    case configs::ISSUE:
      kernel.assumed.emplace_back("an unknown kernel is bound by the issue of instructions");
      kernel.roles.push_back({"all", warps, program().issue()});
      break;
    default:
      kernel.assumed.emplace_back("an unknown kernel is bound by latency: its CTAs take as long beside others as alone");
      kernel.roles.push_back({"waits", 1, program().latency()});
      if (warps > 1) kernel.roles.push_back({"holds", warps - 1, program().nothing()});
  }
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"all", {}}};
  kernel.grid = {{0, opaque.ctas()}};
  return kernel;
}

}  // namespace warpfold::workloads
