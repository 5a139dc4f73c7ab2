// Micro-kernels of memory: te42kyfo/gpu-benches @1c36d50, and reads on a green context.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/validation/micro_rows.h"
#include "traces/access/opcode_access.h"
#include "workloads/common/gpu_caches.h"
#include "workloads/common/occupancy.h"

namespace warpfold::validation {
namespace {

// Clocks of te42kyfo/gpu-benches @1c36d50. MHz in gpu-roofline's tables where there are any, else the boost clock: its README has
// the V100 as a PCIe card of 16 GB.
struct BenchClock {
  std::string_view gpu;
  double mhz;
};
constexpr std::array kBenchClocks{BenchClock{"A100", 1410}, BenchClock{"A40", 1740},       BenchClock{"L40", 2490},
                                  BenchClock{"H200", 1980}, BenchClock{"H100 PCIe", 1755}, BenchClock{"V100", 1380}};
double bench_clock_mhz(const configs::Gpu& gpu) {
  const auto* const found =
      std::ranges::find_if(kBenchClocks, [&](const auto& known) { return gpu.name().starts_with(known.gpu); });
  return found == kBenchClocks.end() ? 0 : found->mhz;
}

// "36 kB" of an option.
Mapped<uint64_t> bytes_of(const MeasuredRow& row, std::string_view name) {
  const std::string text = row.option(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || std::string_view(end) != " kB" || value == 0 || value > uint64_t{1} << 32)
    return not_mapped("dims_other: " + std::string(name) + "=" + text + "; expected a number of kB");
  return value * 1024;
}

std::string reading_kernel(const configs::Gpu& gpu, uint64_t ctas, uint64_t warps, const std::string& stream,
                           const std::string& body) {
  return "kernel reads architecture=" + gpu.architecture() + " registers=64\nclass all\ngrid all*" + number(ctas) + "\n" + stream +
         "role reader warps=" + number(warps) + "\n" + body + "EXIT\nend\nend\n";
}

RowWork reads_of_text(const MeasuredRow& row, const configs::Gpu& gpu, std::string text) {
  RowWork work = micro_work("cache curve", row, std::move(text), bench_clock_mhz(gpu));
  work.rate_unit = "GB/s";
  return work;
}

// A row of gpu-small-kernels.
struct SmallPass {
  uint64_t elements = 0;  // of each array, FP64
  uint32_t threads = 0;   // of a CTA: the column of the largest bandwidth
};
constexpr uint64_t kPassBytes = 8;  // of an element

// Columns end with 1024 threads and halve to the left.
Mapped<SmallPass> small_pass(const MeasuredRow& row) {
  const std::string columns = row.option("columns");
  std::vector<uint64_t> rates;
  for (size_t at = 0; at <= columns.size();) {
    const size_t end = std::min(columns.find('/', at), columns.size());
    uint64_t rate = 0;
    const auto [stop, error] = std::from_chars(columns.data() + at, columns.data() + end, rate);
    if (error != std::errc{} || stop != columns.data() + end) return not_mapped("dims_other: columns=" + columns);
    rates.push_back(rate);
    at = end + 1;
  }
  const auto best = static_cast<size_t>(std::ranges::max_element(rates) - rates.begin());
  const size_t halvings = rates.size() - 1 - best;
  if (halvings > 5) return not_mapped("the best of CTAs of less than a warp");
  SmallPass pass{.threads = static_cast<uint32_t>(1024 >> halvings)};
  const std::string elements = row.option("elements");
  if (const auto read = std::from_chars(elements.data(), elements.data() + elements.size(), pass.elements);
      read.ec != std::errc{} || pass.elements == 0)
    return not_mapped("dims_other: elements=" + elements);
  return pass;
}

// As above: a cyclic sweep over more than LRU holds finds nothing.
bool fits_l2(const SmallPass& pass, const configs::Gpu& gpu) { return pass.elements * 2 * kPassBytes <= gpu.l2().bytes(); }

RowWork small_kernels_work(const MeasuredRow& row, const configs::Gpu& gpu, const SmallPass& pass, const std::string& variant) {
  RowWork work;
  work.family = "small kernels";
  work.kernel = row.text("kernel") + ", " + variant;
  work.shape = number(pass.elements) + " x 8 bytes, " + number(pass.threads) + " threads";
  work.clock_mhz = bench_clock_mhz(gpu);
  work.rate_unit = "GB/s";
  work.work = static_cast<double>(pass.elements * 2 * kPassBytes);
  return work;
}

// The program of warps of a CTA: `passes` over its elements, which nvcc's loop takes one by one, and a meeting of the grid behind
// each. One thread of the CTA arrives and waits, between two barriers of the CTA.
//
// - grid sync: PTX of nvcc 13.0 for sm_80 has atom.add.release.gpu, then ld.acquire.gpu, xor, setp and bra as a loop.
// - persistent atomics: __threadfence() of all threads, atomicAdd, and a loop of volatile loads (main.cu).
//
// assumed: ptxas makes MEMBAR and ATOMG of a release, LDG and CCTL.IVALL of an acquire. As both variants invalidate L1, no pass
// hits there.
std::string passing_warps(uint64_t passes, bool atomics, bool leads) {
  const std::string barrier = "BAR.SYNC.DEFER_BLOCKING 0x0 ; {barrier=0}\n";
  std::string meeting = barrier;
  if (leads) {
    meeting +=
        "MEMBAR.SC.GPU\nATOMG.E.ADD.STRONG.GPU PT, R16, [R18.64], R3 ; {bytes=32 barrier=0}\n"
        "LDG.E.STRONG.GPU R17, [R18.64] ; {bytes=32 barrier=0}\n";
    meeting += atomics ? "ISETP.NE.AND P0, PT, R17, R21, PT\n"
                       : "CCTL.IVALL\nLOP3.LUT R17, R17, R16, RZ, 0x3c, !PT\nISETP.GT.AND P0, PT, R17, -0x1, PT\n";
    meeting += "@P0 BRA `(.L_poll)\n";
  }
  meeting += barrier + "IADD3 R20, R20, 0x1, RZ\nISETP.GE.AND P0, PT, R20, R22, PT\n@!P0 BRA `(.L_pass)\n";
  const std::string round =
      "IMAD.WIDE R4, R1, 0x8, R10\nLDG.E.64 R12, [R4.64] ; {bytes=256 stream=in}\nIMAD.WIDE R6, R1, 0x8, R14\n"
      "DMUL R12, R12, R8\nSTG.E.64 [R6.64], R12 ; {bytes=256 stream=out}\nIADD3 R1, R1, R23, RZ\n"
      "ISETP.GE.AND P0, PT, R1, R2, PT\n@!P0 BRA `(.L_round)\n";
  return "S2R R0, SR_CTAID.X\nS2R R3, SR_TID.X\nIMAD R0, R0, 0x100, R3\n" +
         loop(passes, "IMAD.MOV.U32 R1, RZ, RZ, R0\nloop rounds\n" + round + "end\n" + meeting) + "EXIT\nend\n";
}

// One launch of as many CTAs as the SMs hold, but not more than whole CTAs of elements. It passes 2,000 times and more over the
// arrays (sync_kernel_gsync and sync_kernel_atomic of main.cu), so its launch is a thousandth of the mean pass. Here it passes 64
// times, or fewer if a pass takes long: beside 2 to 64 passes of 10 us and more, from 2^20 elements on, its start counts little.
RowWork passes_that_meet(const MeasuredRow& row, const configs::Gpu& gpu, const SmallPass& pass, bool atomics) {
  constexpr uint32_t kRegisters = 24;
  const uint64_t passes = std::clamp<uint64_t>((uint64_t{1} << 26) / pass.elements, 2, 64);
  const uint32_t warps = pass.threads / 32;
  const uint64_t room =
      uint64_t{gpu.sm_count()} * workloads::ctas_per_sm(gpu, {.warps = warps, .registers_per_thread = kRegisters});
  const uint64_t ctas = std::clamp<uint64_t>(pass.elements / pass.threads, 1, std::max<uint64_t>(room, 1));
  const uint64_t rounds = (pass.elements + pass.threads - 1) / pass.threads;
  const std::string dram = fits_l2(pass, gpu) ? " dram=0/1\n" : " dram=1/1\n";
  std::string text = "kernel passes architecture=" + gpu.architecture() + " registers=" + number(kRegisters) +
                     "\nparameter rounds\nclass long rounds=" + number(rounds / ctas + 1) +
                     "\nclass all rounds=" + number(rounds / ctas) + "\ngrid";
  // The first CTAs have one round more.
  if (rounds % ctas > 0) text += " long*" + number(rounds % ctas);
  text += " all*" + number(ctas - rounds % ctas) + "\nstream in read" + dram + "stream out write" + dram;
  text += "role leader warps=1\n" + passing_warps(passes, atomics, true);
  if (warps > 1) text += "role others warps=" + number(warps - 1) + "\n" + passing_warps(passes, atomics, false);
  RowWork work = small_kernels_work(row, gpu, pass, atomics ? "persistent atomics" : "grid sync");
  configs::Kernel& kernel = work.kernels.emplace_back();
  kernel.set_name("passes");
  kernel.mutable_trace()->set_text(text + "end\n");
  work.work *= static_cast<double>(passes);
  return work;
}

}  // namespace

// One element a thread, as many threads a CTA as the column of the largest bandwidth says: te42kyfo/gpu-benches @1c36d50,
// gpu-small-kernels/main.cu. Launches follow each other and swap their arrays, or one launch meets behind each pass.
Mapped<RowWork> small_passes_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const auto pass = small_pass(row);
  if (!pass) return std::unexpected(pass.error());
  const std::string& impl = row.text("impl");
  const bool atomics = impl.ends_with("persistent atomics");
  if (atomics || impl.ends_with("grid sync")) return passes_that_meet(row, gpu, *pass, atomics);
  const bool graph = impl.ends_with("CUDA graph");
  if (!graph && !impl.ends_with("stream")) return not_mapped("impl: expected stream, CUDA graph, grid sync or persistent atomics");
  RowWork work = small_kernels_work(row, gpu, *pass, graph ? "CUDA graph" : "stream");
  configs::Kernel& kernel = work.kernels.emplace_back();
  kernel.set_name("pass");
  if (fits_l2(*pass, gpu)) kernel.set_l2(configs::WARM);
  configs::Elementwise& scale = *kernel.mutable_elementwise();
  scale.set_operation(configs::SCALE);
  scale.set_elements(pass->elements);
  scale.set_element_bytes(kPassBytes);
  scale.set_access_bytes(kPassBytes);
  scale.set_threads_per_cta(pass->threads);
  work.launches = true;
  work.timing = RowTiming{.timer = graph ? Timer::kGraph : Timer::kCalls};
  return work;
}

// One CTA of 256 threads an SM reads one buffer of FP32 again and again, 32 loads unrolled (gpu-cache/main.cu). All SMs read the
// same buffer. Loads hit L1 if it holds the buffer, else L2; a cyclic sweep over more than LRU holds finds nothing.
Mapped<RowWork> reads_by_each_sm_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const auto bytes = bytes_of(row, "buffer per CTA");
  if (!bytes) return std::unexpected(bytes.error());
  constexpr uint64_t kThreads = 256;
  constexpr uint64_t kUnrolled = 32;
  const uint64_t elements = *bytes / 4;
  const uint64_t groups = (1'000'000'000 / elements + 2) * elements / kThreads / kUnrolled;
  const bool in_l1 = *bytes <= workloads::l1_beside(gpu, 0);
  const bool in_l2 = *bytes <= gpu.l2().bytes();
  std::string loads;
  std::string sums;
  for (uint64_t n = 0; n < kUnrolled; ++n) {
    loads += "LDG.E R" + number(8 + n) + ", [R2.64] ; {" + (in_l1 ? "l1_hit" : "bytes=128 stream=buffer") + "}\n";
    sums += "FADD R4, R4, R" + number(8 + n) + "\n";
  }
  const std::string stream = "stream buffer read dram=" + std::string(in_l2 ? "0/1" : "1/" + number(gpu.sm_count())) + "\n";
  RowWork work =
      reads_of_text(row, gpu, reading_kernel(gpu, gpu.sm_count(), kThreads / 32, in_l1 ? "" : stream, loop(groups, loads + sums)));
  work.shape = number(*bytes / 1024) + " kB by each SM";
  work.work = static_cast<double>(groups * kUnrolled * kThreads * 4 * gpu.sm_count());
  return work;
}

// 200,000 CTAs of 1024 threads read parts of 512 kB of one buffer in turn, two loads of FP64 unrolled (gpu-l2-cache/main.cu). As
// above, a buffer that L2 does not hold is read from DRAM.
Mapped<RowWork> reads_by_all_sms_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const auto part = bytes_of(row, "block data");
  const auto buffer = bytes_of(row, "total data set");
  for (const auto* value : {&part, &buffer}) {
    if (!*value) return std::unexpected(value->error());
  }
  constexpr uint64_t kThreads = 1024;
  constexpr uint64_t kCtas = 200'000;
  const uint64_t pairs = *part / (kThreads * 16);
  if (pairs == 0) return not_mapped("dims_other: block data of less than two loads a thread");
  const std::string stream = "stream buffer read dram=" + std::string(*buffer <= gpu.l2().bytes() ? "0" : "1") + "/1\n";
  const std::string load = "{bytes=256 stream=buffer}\n";
  const std::string body = "LDG.E.64 R8, [R2.64] ; " + load + "LDG.E.64 R10, [R2.64+0x2000] ; " + load + "DFMA R4, R8, R10, R4\n";
  RowWork work = reads_of_text(row, gpu, reading_kernel(gpu, kCtas, kThreads / 32, stream, loop(pairs, body)));
  work.shape = number(*buffer / 1024) + " kB by all SMs";
  work.work = static_cast<double>(pairs * 16 * kThreads * kCtas);
  return work;
}

// CTAs of 256 threads read two arrays once and multiply, two elements a round (gpu-roofline/main.cu).
Mapped<RowWork> reads_and_products_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const RowFacts& facts = row.facts();
  const auto products = option_of(row, "FMA per element");
  if (!products) return std::unexpected(products.error());
  if (!facts.grid_x || !facts.block_x || *facts.block_x != 256 || row.option("loads per thread") != "4000 x2")
    return not_mapped("grid, CTAs of 256 threads and 4000 x2 loads a thread are not stated");
  constexpr uint64_t kLoads = 4000;  // of each array
  const auto ctas = static_cast<uint64_t>(*facts.grid_x);
  std::string body;
  for (const std::string_view registers : {"R8", "R9", "R10", "R11"})
    body.append("LDG.E ").append(registers).append(", [R2.64] ; {bytes=128 stream=arrays}\n");
  body += "FADD R4, R8, -R9\nFADD R5, R10, -R11\n";
  body += loop(*products, "FFMA R4, R4, R8, -R9\nFFMA R5, R5, R10, -R11\n") + "FADD R6, R4, R6\nFADD R6, R5, R6\n";
  RowWork work = reads_of_text(row, gpu, reading_kernel(gpu, ctas, 8, "stream arrays read dram=1/1\n", loop(kLoads / 2, body)));
  work.family = "roofline";
  work.shape = number(*products) + " FMA an element";
  work.work = static_cast<double>(ctas * 256 * kLoads * 2 * 4);
  work.follows = {"grid", "block", "clock"};
  return work;
}

// A CTA of 1024 threads loads elements that L1 holds, at eight offsets a round (gpu-strides/main.cu). Lanes take element stride x
// (thread mod 64), or elements of a tile of blockDim.x columns. Rows of the tile are `pitch` elements apart. The figure is cycles
// for each load of a warp.
Mapped<RowWork> l1_loads_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string& type = row.text("dtype");
  if (type != "fp32" && type != "fp64") return not_mapped("loads of " + type + "; expected fp32 or fp64");
  if (row.facts().block_x && *row.facts().block_x != 1024) return not_mapped("these kernels have CTAs of 1024 threads");
  const uint32_t bytes = type == "fp64" ? 8 : 4;
  const bool tile = row.text("kernel").ends_with("2-D block shape");
  const auto columns = option_of(row, "blockDim.x");
  const auto pitch = option_of(row, "pitch");
  const std::string of_stride = row.option("stride");
  uint64_t stride = 0;
  const auto [end, error] = std::from_chars(of_stride.data(), of_stride.data() + of_stride.size(), stride);
  const bool strided = error == std::errc{} && std::string_view(end) == " elements" && stride <= 1024;
  if (tile ? !columns || !pitch || *columns > 1024 : !strided)
    return not_mapped("dims_other: neither stride nor blockDim.x and pitch are stated");
  constexpr std::array<uint64_t, 8> kOffsets{0, 4, 8, 12, 20, 16, 24, 28};  // in elements
  constexpr uint64_t kWarps = 32;
  constexpr uint64_t kRounds = 1000;
  const auto element = [&](uint64_t thread) {
    return tile ? thread % *columns % 64 + (thread / *columns % 32 + 1) * *pitch : thread % 64 * stride;
  };
  const std::string width = bytes == 8 ? ".64" : "";
  std::string text =
      "kernel loads architecture=" + gpu.architecture() + " registers=64\nclass all\ngrid all*" + number(gpu.sm_count()) + "\n";
  for (uint64_t warp = 0; warp < kWarps; ++warp) {
    std::string body;
    for (size_t n = 0; n < kOffsets.size(); ++n) {
      traces::access::LaneAccess lanes{.mask = UINT32_MAX, .bytes = bytes};
      for (uint64_t lane = 0; lane < lanes.addresses.size(); ++lane)
        lanes.addresses[lane] = (element(32 * warp + lane) + kOffsets[n]) * bytes;
      const std::string mnemonic = "LDG.E" + width;
      const uint32_t passes =
          traces::access::global_wavefronts(traces::access::Access::kGlobalLoad, mnemonic, lanes, traces::access::coalesce(lanes));
      body += mnemonic + " R" + number(8 + 2 * n) + ", [R2.64] ; {l1_hit wavefronts=" + number(passes) + "}\n";
    }
    for (size_t n = 0; n < kOffsets.size(); n += 2) {
      body += std::string(bytes == 8 ? "DFMA" : "FFMA") + " R4, R" + number(8 + 2 * n) + ", R" + number(10 + 2 * n) + ", R4\n";
    }
    text += "role loader" + number(warp) + " warps=1\n" + loop(kRounds, body) + "EXIT\nend\n";
  }
  RowWork work = micro_work("L1 loads", row, text + "end\n", bench_clock_mhz(gpu));
  work.counted = static_cast<double>(kRounds * kOffsets.size() * kWarps);
  work.follows = {"block"};
  return work;
}

// 32 CTAs of 256 threads for each SM of a green context read 512 MiB, one load of 16 bytes a round (green_ctx_bw_bench.cu of
// shh8228/cuda-green-context-bandwidth-bench @2db4540). Loads by ld.global.cg are the same here: L1 holds nothing for a second
// read.
Mapped<RowWork> reads_of_some_sms_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const double sms = row.facts().sms.value_or(0);
  if (!(sms >= 1 && sms <= gpu.sm_count())) return not_mapped("dims_other: expected SMs=N, up to the GPU's");
  constexpr uint64_t kThreads = 256, kBytes = uint64_t{512} << 20, kLoadBytes = 16;
  const uint64_t ctas = 32 * static_cast<uint64_t>(sms);
  const uint64_t rounds = kBytes / (ctas * kThreads * kLoadBytes);
  const std::string body =
      "LDG.E.128 R12, [R4.64] ; {bytes=512 stream=array}\nIADD3 R4, R4, R8, RZ\nFADD R7, R12, R7\nFADD R0, R13, R0\n"
      "FADD R9, R14, R9\nFADD R6, R15, R6\n";
  RowWork work =
      micro_work("reads of some SMs", row,
                 reading_kernel(gpu, ctas, kThreads / 32, "stream array read dram=1/1\n", loop(rounds, body)), gpu.clock_mhz());
  work.rate_unit = "GB/s";
  work.shape = number(static_cast<uint64_t>(sms)) + " SMs";
  work.work = static_cast<double>(rounds * ctas * kThreads * kLoadBytes);
  return work;
}

}  // namespace warpfold::validation
