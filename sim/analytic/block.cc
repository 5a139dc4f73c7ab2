#include "sim/analytic/block.h"

#include <algorithm>

#include "configs/escape/quoted.h"
#include "configs/gpu.pb.h"
#include "isa/architecture.h"
#include "sim/analytic/block_counts.h"
#include "sim/sm/make_spec.h"

namespace warpfold::sim {
namespace {

// Tiles of the paper: 128 x 128 x 128 for GEMMs, 64 x 128 x 128 for attention and random numbers.
constexpr double kGemmTile = 128;
constexpr double kQueryTile = 64;
constexpr double kKeyTile = 128;
// FlashAttention-3: two consumer warpgroups of 64 queries each share the keys and values in shared memory.
constexpr double kQueriesOfCta = 128;
// assumed: clusters of 2 x 2, for the reason in configs/scenarios/qkv_philox_llama3_70b.textproto. Without multicast,
// 128 x 128 tiles of FP8 would read 64 bytes per clock and SM at the full tensor rate: 8448 bytes per clock, while L2
// delivers 5050.
constexpr double kCluster = 2;
constexpr double kElementsPerCall = 4.0 * 32;  // elements of a warp: four per thread
// Multiply-adds per column of an FP8 wgmma, m64nNk32, which takes N / wgmma_columns_per_clk cycles.
constexpr double kRowsTimesDepth = 64.0 * 32;

double number(uint64_t value) { return static_cast<double>(value); }

// Rates of the chip per cycle.
struct Rates {
  double sub_cores;                                 // in the chip
  double multiply_adds;                             // FP8, of the chip
  double hbm_bytes;                                 // read, of the chip
  double l2_bytes;                                  // read, of the chip
  double registers;                                 // warp-wide reads of a sub-core
  double issue;                                     // instructions of a sub-core
  double alu, fp32, multiply, wide_multiply, mufu;  // cycles that an instruction occupies its pipe
};

Expected<Rates> rates_of(const configs::Gpu& gpu, const BlockMachine& machine) {
  const auto spec = make_spec(gpu);
  if (!spec) return std::unexpected(spec.error());
  const isa::Architecture& architecture = *spec->architecture;
  if (architecture.name() != "sm_90") {
    return fail("the block's attention was counted in code for sm_90; GPU " + escape::quoted(gpu.name()) + " is " +
                architecture.name());
  }
  const auto interval = [&](std::string_view mnemonic) {
    const isa::OpcodeInfo& opcode = architecture.opcodes()[architecture.resolve(mnemonic).value()];
    return number(spec->pipe_rate[static_cast<size_t>(opcode.pipe)].at_rate(opcode.issue_interval));
  };
  const double sms = gpu.sm_count();
  Rates rates{};
  rates.sub_cores = sms * spec->sub_cores;
  rates.multiply_adds = sms * kRowsTimesDepth * number(spec->wgmma_milli_columns_per_clk) / 1000;
  rates.hbm_bytes = number(spec->memory.dram_milli_bytes_per_clk) / 1000;
  rates.l2_bytes = number(spec->memory.l2_read_milli_bytes_per_clk) / 1000;
  rates.registers = spec->half_read_ports_per_bank;
  rates.issue = static_cast<double>(spec->issue_width) / spec->issue_interval;
  rates.alu = interval("LOP3.LUT");
  rates.fp32 = interval("FFMA");
  rates.multiply = interval("IMAD");
  rates.wide_multiply = machine.wide_multiply_cycles > 0 ? machine.wide_multiply_cycles : interval("IMAD.WIDE.U32");
  rates.mufu = interval("MUFU.EX2");
  return rates;
}

// Work of a kernel on the whole chip.
struct KernelWork {
  double multiply_adds = 0;
  double hbm_bytes = 0;
  double l2_bytes = 0;
  double warps = 0;  // number of times that a warp runs `code`
  CodeCounts code{};
};

Limiters limiters_of(const Rates& rates, const KernelWork& work) {
  // Runs of the code per sub-core.
  const double passes = work.warps / rates.sub_cores;
  const CodeCounts& code = work.code;
  std::vector<Limiter> limiters{
      {"mma", work.multiply_adds / rates.multiply_adds},
      {"hbm_read", work.hbm_bytes / rates.hbm_bytes},
      {"l2_read", work.l2_bytes / rates.l2_bytes},
      {"register_read", passes * code.register_words / rates.registers},
      {"issue", passes * code.instructions / rates.issue},
      {"alu", passes * code.alu * rates.alu},
      {"fma_heavy", passes * (code.multiply * rates.multiply + code.wide_multiply * rates.wide_multiply)},
      {"fma_lite", passes * code.fp32 * rates.fp32},
      {"mufu", passes * code.mufu * rates.mufu},
  };
  std::erase_if(limiters, [](const Limiter& limiter) { return limiter.cycles == 0; });
  return Limiters(std::move(limiters));
}

// Multiply-adds only. The other instructions of a GEMM's main loop are a few per k-block and are left out, as in the
// paper.
Limiters gemm(const Rates& rates, double m, double n, double k) {
  KernelWork work;
  work.multiply_adds = m * n * k;
  work.hbm_bytes = m * k + n * k;
  work.l2_bytes = k * (m * n / kGemmTile + n * m / kGemmTile) / kCluster;
  return limiters_of(rates, work);
}

Limiters attention(const Rates& rates, const BlockShape& shape, const CodeCounts& code, bool reads_bits) {
  const double sequence = number(shape.sequence);
  const double scores = number(shape.batch * shape.heads()) * sequence * sequence;
  const double inputs = number(shape.batch * shape.embedding) * sequence;
  const double bits = reads_bits ? scores / 8 : 0;
  KernelWork work;
  work.multiply_adds = 2 * scores * number(shape.head_dim);
  work.hbm_bytes = 3 * inputs + bits;
  work.l2_bytes = inputs + 2 * inputs * sequence / kQueriesOfCta + bits;
  work.warps = 4 * scores / (kQueryTile * kKeyTile);
  work.code = code;
  return limiters_of(rates, work);
}

Limiters random_numbers(const Rates& rates, const BlockShape& shape, const CodeCounts& call) {
  KernelWork work;
  work.warps = number(shape.batch * shape.heads() * shape.sequence * shape.sequence) / kElementsPerCall;
  work.code = call;
  return limiters_of(rates, work);
}

Expected<const CodeCounts*> check_shape(const BlockShape& shape) {
  if (shape.head_dim != 128)
    return fail("the block's attention was counted for head_dim 128, not " + std::to_string(shape.head_dim));
  for (const uint64_t size : {shape.sequence, shape.embedding, shape.batch}) {
    if (size == 0) return fail("the block's sequence, embedding and batch must be at least 1");
  }
  if (shape.sequence % 128 != 0 || shape.embedding % 128 != 0) {
    return fail("the block's sequence and embedding must be multiples of 128, its tiles, not " + std::to_string(shape.sequence) +
                " and " + std::to_string(shape.embedding));
  }
  const auto* counted = std::ranges::find(kPhilox, shape.rounds, &PhiloxCounts::rounds);
  if (counted == std::end(kPhilox))
    return fail("Philox was counted with 3, 5, 7 and 10 rounds, not " + std::to_string(shape.rounds));
  return &counted->call;
}

}  // namespace

ChainTimes Block::times() const {
  ChainTimes times{.rng = rng.cycles(), .attention = attention.cycles(), .merged = fused_attention.cycles()};
  for (const Limiters& each : gemms) times.gemm += each.cycles();
  return times;
}

ChainTimes Block::times(size_t beside) const {
  ChainTimes one = times();
  one.others = one.gemm - gemms.at(beside).cycles();
  one.gemm = gemms.at(beside).cycles();
  return one;
}

Expected<Block> make_block(const configs::Gpu& gpu, const BlockShape& shape, const BlockMachine& machine) {
  const auto philox = check_shape(shape);
  if (!philox) return std::unexpected(philox.error());
  const auto rates = rates_of(gpu, machine);
  if (!rates) return std::unexpected(rates.error());
  const double m = number(shape.batch * shape.sequence);
  const double e = number(shape.embedding);
  const Limiters rng = random_numbers(*rates, shape, **philox);
  const AttentionCounts& code = machine.attention == AttentionCode::kFlashAttention3 ? kFlashAttention3 : kFlashAttention2;
  const Limiters dropping = attention(*rates, shape, code.dropping, true);
  // The fused kernel applies each bit as it is generated and reads none.
  const Limiters applying = attention(*rates, shape, code.dropping, false);
  return Block{{gemm(*rates, m, 3 * e, e), gemm(*rates, m, e, e), gemm(*rates, m, 4 * e, e), gemm(*rates, m, e, 4 * e)},
               rng,
               attention(*rates, shape, code.plain, false),
               dropping,
               merged(applying, rng)};
}

}  // namespace warpfold::sim
