#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/validation/kernels_of_row.h"
#include "traces/access/opcode_access.h"
#include "workloads/common/gpu_caches.h"

namespace warpfold::validation {
namespace {

// NVIDIA B200, driver's boost clock: SM cycles over time in SemiAnalysisAI/microbench-blackwell @9a068d8, ldgsts_throughput.
constexpr double kMicrobenchMhz = 1965;
// Bytes that the streaming reads of the same repository are rounded down from (MAX_DATA_VOLUME).
constexpr uint64_t kStreamBytes = uint64_t{2} << 30;
// 227 KB, which these kernels request regardless of their use, so that an SM holds one CTA.
constexpr uint64_t kAllSharedBytes = 227 * 1024;

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

std::string number(uint64_t value) { return std::to_string(value); }

Mapped<uint64_t> option_of(const MeasuredRow& row, std::string_view name) {
  const std::string text = row.option(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value == 0 || value > 1 << 20)
    return not_mapped("dims_other: " + std::string(name) + " is missing, or no whole number from 1 to 1048576");
  return value;
}

RowWork work_of_text(std::string family, const MeasuredRow& row, std::string text) {
  RowWork work;
  work.family = std::move(family);
  work.kernel = row.text("kernel");
  work.shape = row.text("dtype") + " " + row.text("dims_other");
  configs::Kernel& kernel = work.kernels.emplace_back();
  kernel.set_name("kernel");
  kernel.mutable_trace()->set_text(std::move(text));
  work.clock_mhz = kMicrobenchMhz;
  work.timing = RowTiming{.events = false, .graph = false, .kernel = true, .flush_bytes = 0};
  return work;
}

// The mnemonic of tcgen05.mma by the type of its operands. Scales, where a type has them, lie in tensor memory before the kernel's
// clock is read.
Mapped<std::string_view> product_of(const std::string& type) {
  if (type == "BF16") return "UTCHMMA";
  if (type == "S8") return "UTCIMMA";
  constexpr std::array<std::string_view, 4> kNarrow{"E4M3", "F4", "MXF8", "MXF4"};
  if (std::ranges::find(kNarrow, type) != kNarrow.end()) return "UTCQMMA";
  return not_mapped("tcgen05.mma of operands " + type + " is not known");
}

// One thread issues `depth` products, commits them and waits for the commit, again and again (umma_throughput/umma_tput.cu). The
// figure is cycles for each product. A latency is the same with one product at a time (umma_latency/umma_lat.cu).
Mapped<RowWork> products_of_row(const MeasuredRow& row, const configs::Gpu& gpu, bool latency) {
  if (!gpu.architecture().starts_with("sm_10")) return not_mapped("tcgen05.mma needs a GPU of sm_100 or sm_103");
  const auto mnemonic = product_of(row.text("dtype"));
  if (!mnemonic) return std::unexpected(mnemonic.error());
  const auto rows = count_of(row, "M");
  const auto columns = count_of(row, "N");
  const auto ctas = option_of(row, "cta_group");
  const auto depth = latency ? Mapped<uint64_t>(1) : option_of(row, "depth");
  for (const auto* value : {&rows, &columns, &ctas, &depth}) {
    if (!*value) return std::unexpected(value->error());
  }
  const std::string operands = row.option("operands");
  if (operands != "SS" && operands != "TS") return not_mapped("dims_other: operands=" + operands + "; expected SS or TS");
  constexpr uint64_t kRounds = 1000;
  const std::string pair = *ctas == 2 ? ".2CTA" : "";
  std::string text =
      "kernel products architecture=sm_100 registers=32 tensor_memory=512\n"
      "class all\ngrid all*1\nring done depth=1 arrivals=1\ncursor use depth=1\nrole issuer warps=1\n";
  text += "loop " + number(kRounds) + "\nloop " + number(*depth) + "\n";
  text += std::string(*mnemonic) + pair + " " + (operands == "TS" ? "tmem" : "gdesc") +
          "[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], !UPT ; {rows=" + number(*rows / *ctas) +
          " columns=" + number(*columns) + "}\nend\n";
  text += "UTCBAR" + pair + " [UR12], URZ ; {barrier=done cursor=use}\n";
  text += "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR12], R3 ; {barrier=done cursor=use advance=1}\n@!P0 BRA `(.L_wait)\n";
  text += "end\nEXIT\nend\nend\n";
  RowWork work = work_of_text(latency ? "tcgen05 latency" : "tcgen05 stream", row, std::move(text));
  work.shape = row.text("dtype") + " " + number(*rows) + " x " + number(*columns) + " " + row.text("dims_other");
  work.counted = static_cast<double>(kRounds * *depth);
  return work;
}

// Each thread copies one element a round to shared memory by LDGSTS and waits for the copy `stages` - 1 rounds ago
// (ldgsts_throughput/ldgsts_tput.cu). Of the array every `stages`-th round's part is read.
Mapped<RowWork> asynchronous_copies_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string& type = row.text("dtype");
  const uint64_t bytes = type == "float4" ? 16 : type == "float2" ? 8 : type == "float" ? 4 : 0;
  if (bytes == 0) return not_mapped("LDGSTS of " + type + "; expected float, float2 or float4");
  const auto stages = option_of(row, "stages");
  if (!stages) return std::unexpected(stages.error());
  const RowFacts& facts = row.facts();
  if (!facts.ctas_per_sm || !facts.block_x) return not_mapped("CTAs/SM and threads are not stated");
  const auto threads = static_cast<uint64_t>(*facts.block_x);
  const uint64_t ctas = static_cast<uint64_t>(*facts.ctas_per_sm) * gpu.sm_count();
  if (threads == 0 || threads % 32 != 0 || threads > 1024 || ctas == 0) return not_mapped("no whole warps, or no CTA");
  const uint64_t rounds = kStreamBytes / (ctas * threads * bytes * *stages);
  std::string text = "kernel copies architecture=" + gpu.architecture() +
                     " registers=32 shared_memory=" + number(*stages * threads * bytes) + "\nclass all\ngrid all*" + number(ctas) +
                     "\nstream array read dram=1/1\nrole copier warps=" + number(threads / 32) + "\n";
  const std::string left = number(*stages - 1);
  const std::string width = bytes == 4 ? "" : "." + number(8 * bytes);
  text += "loop " + number(rounds) + "\nDEPBAR.LE.LDGSTS SB0, 0x" + left + " ; {count=" + left + "}\n";
  text += "LDGSTS.E" + width + " [R4], [R2.64] ; {bytes=" + number(32 * bytes) + " stream=array}\n";
  text += "LDGDEPBAR ; {commit}\nIADD3 R2, R2, R6, RZ\nend\nEXIT\nend\nend\n";
  RowWork work = work_of_text("LDGSTS stream", row, std::move(text));
  work.rate_unit = "GB/s";
  work.work = static_cast<double>(rounds * ctas * threads * bytes);
  work.follows = {"block", "CTAs an SM", "stages"};
  return work;
}

struct Box {
  uint64_t bytes = 0;  // of a tile of FP32
};
Mapped<Box> box_of(const MeasuredRow& row) {
  const std::string text = row.option("box");
  const size_t by = std::min(text.find('x'), text.size());
  const auto side = [&](size_t begin, size_t end) -> uint64_t {
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    return error == std::errc{} && stop == text.data() + end ? value : 0;
  };
  const uint64_t columns = side(0, by);
  const uint64_t rows = by < text.size() ? side(by + 1, text.size()) : 0;
  if (columns == 0 || rows == 0 || columns > 256 || rows > 256)
    return not_mapped("dims_other: box=" + text + "; expected COLUMNSxROWS of 256 at most");
  return Box{.bytes = 4 * rows * columns};
}

// A ring of mbarriers, and one warp that fills and empties it.
struct Loader {
  std::string name;
  uint64_t bytes = 0;  // of a bulk load
  uint64_t depth = 1;
  uint64_t multicast = 1;  // CTAs that receive the same bytes

  std::string ring() const {
    std::string text = "ring full" + name + " depth=" + number(depth) + " arrivals=1\n";
    for (const std::string_view cursor : {"load", "use"})
      text.append("cursor ").append(cursor).append(name).append(" depth=").append(number(depth)).append("\n");
    return text;
  }
  std::string load() const {
    const std::string place = "barrier=full" + name + " cursor=load" + name;
    return "SYNCS.ARRIVE.TRANS64 RZ, [R2], R3 ; {" + place + " tx_bytes=" + number(bytes) +
           "}\nUTMALDG.2D [UR8], [UR4] ; {bytes=" + number(bytes) + (multicast > 1 ? " multicast=" + number(multicast) : "") +
           " stream=array " + place + " advance=1}\n";
  }
  std::string wait() const {
    return "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3 ; {barrier=full" + name + " cursor=use" + name +
           " advance=1}\n@!P0 BRA `(.L_wait)\n";
  }
};

std::string loop(uint64_t times, const std::string& body) { return "loop " + number(times) + "\n" + body + "end\n"; }

std::string loading_kernel(const configs::Gpu& gpu, uint64_t cluster, uint64_t ctas, uint64_t readers) {
  return "kernel loads architecture=" + gpu.architecture() + " registers=32 shared_memory=" + number(kAllSharedBytes) +
         " cluster=" + number(cluster) + "\nclass all\ngrid all*" + number(ctas) + "\nstream array read dram=1/" + number(readers) +
         "\n";
}

// One warp keeps `stages` bulk loads in flight (tma2d_throughput/tma2d_tput.cu).
Mapped<RowWork> bulk_loads_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const auto box = box_of(row);
  if (!box) return std::unexpected(box.error());
  const auto stages = option_of(row, "stages");
  if (!stages) return std::unexpected(stages.error());
  const RowFacts& facts = row.facts();
  if (!facts.ctas_per_sm || *facts.ctas_per_sm != 1) return not_mapped("these kernels fill an SM's shared memory with one CTA");
  const uint64_t ctas = gpu.sm_count();
  const uint64_t tiles = kStreamBytes / (ctas * box->bytes);
  if (tiles <= *stages) return not_mapped("fewer tiles than stages");
  const Loader loader{.name = "", .bytes = box->bytes, .depth = *stages};
  std::string text = loading_kernel(gpu, 1, ctas, 1) + loader.ring() + "role copier warps=1\n" + loop(*stages, loader.load()) +
                     loop(tiles - *stages, loader.wait() + loader.load()) + loop(*stages, loader.wait()) + "EXIT\nend\nend\n";
  RowWork work = work_of_text("TMA stream", row, std::move(text));
  work.rate_unit = "GB/s";
  work.work = static_cast<double>(tiles * ctas * box->bytes);
  work.follows = {"CTAs an SM", "stages"};
  return work;
}

// Warps of a CTA load a tile each, wait for it, and meet the other warps of the cluster (tma2dmcast_throughput). CTAs that share
// read the same tiles: by multicast, or from L2. The simulated warps meet within the CTA alone.
Mapped<RowWork> shared_loads_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const auto box = box_of(row);
  const auto cluster = option_of(row, "cluster");
  const auto sharing = option_of(row, "sharing");
  if (!box) return std::unexpected(box.error());
  for (const auto* value : {&cluster, &sharing}) {
    if (!*value) return std::unexpected(value->error());
  }
  const RowFacts& facts = row.facts();
  if (!facts.shared_bytes) return not_mapped("smem is not stated, which says how many warps load");
  const uint64_t warps = static_cast<uint64_t>(*facts.shared_bytes) / (box->bytes + 8);  // a tile and an mbarrier each
  if (warps == 0 || warps > 32) return not_mapped("smem says " + number(warps) + " warps");
  const bool multicast = row.text("kernel").ends_with("explicit_mcast");
  const uint64_t readers = row.text("kernel").ends_with("no_sharing") ? 1 : *sharing;
  const uint64_t group = std::max(*cluster, *sharing);
  const uint64_t ctas = gpu.sm_count() / group * group;
  const uint64_t rounds = kStreamBytes / (warps * box->bytes * (ctas / readers));
  if (ctas == 0 || rounds == 0) return not_mapped("clusters larger than the GPU, or no round");
  const std::string meet = "BAR.SYNC.DEFER_BLOCKING 0x0 ; {barrier=0 count=" + number(32 * warps) + "}\n";
  std::string text = loading_kernel(gpu, *cluster, ctas, multicast ? 1 : readers);
  std::string roles;
  for (uint64_t warp = 0; warp < warps; ++warp) {
    const Loader loader{.name = number(warp), .bytes = box->bytes, .multicast = multicast ? *cluster : 1};
    text += loader.ring();
    roles += "role copier" + number(warp) + " warps=1\n" + loop(rounds, loader.load() + loader.wait() + meet) + "EXIT\nend\n";
  }
  RowWork work = work_of_text("TMA shared reads", row, text + roles + "end\n");
  work.follows = {"shared memory"};
  return work;
}

// One element a thread, as many threads a CTA as the column of the largest bandwidth says, launches one behind the other that swap
// their arrays (te42kyfo/gpu-benches @1c36d50, gpu-small-kernels/main.cu). Columns end with 1024 threads and halve to the left.
Mapped<RowWork> small_passes_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string& impl = row.text("impl");
  const bool graph = impl.ends_with("CUDA graph");
  if (!graph && !impl.ends_with("stream")) return not_mapped("CTAs that wait for each other through memory are not simulated");
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
  const std::string elements = row.option("elements");
  uint64_t count = 0;
  if (const auto read = std::from_chars(elements.data(), elements.data() + elements.size(), count);
      read.ec != std::errc{} || count == 0)
    return not_mapped("dims_other: elements=" + elements);
  constexpr uint64_t kElementBytes = 8;
  RowWork work;
  work.family = "small kernels";
  work.kernel = row.text("kernel") + (graph ? ", CUDA graph" : ", stream");
  configs::Kernel& kernel = work.kernels.emplace_back();
  kernel.set_name("pass");
  // As above: a cyclic sweep over more than LRU holds finds nothing.
  if (count * 2 * kElementBytes <= gpu.l2().bytes()) kernel.set_l2(configs::WARM);
  configs::Elementwise& pass = *kernel.mutable_elementwise();
  pass.set_operation(configs::SCALE);
  pass.set_elements(count);
  pass.set_element_bytes(kElementBytes);
  pass.set_access_bytes(kElementBytes);
  pass.set_threads_per_cta(static_cast<uint32_t>(1024 >> halvings));
  work.shape = number(count) + " x 8 bytes, " + number(pass.threads_per_cta()) + " threads";
  work.launches = true;
  work.timing = RowTiming{.events = false, .graph = graph, .kernel = false, .flush_bytes = 0};
  work.clock_mhz = bench_clock_mhz(gpu);
  work.rate_unit = "GB/s";
  work.work = static_cast<double>(count * 2 * kElementBytes);
  return work;
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
  RowWork work = work_of_text("cache curve", row, std::move(text));
  work.clock_mhz = bench_clock_mhz(gpu);
  work.rate_unit = "GB/s";
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
  RowWork work = work_of_text("L1 loads", row, text + "end\n");
  work.clock_mhz = bench_clock_mhz(gpu);
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
  RowWork work = work_of_text("reads of some SMs", row,
                              reading_kernel(gpu, ctas, kThreads / 32, "stream array read dram=1/1\n", loop(rounds, body)));
  work.clock_mhz = gpu.clock_mhz();
  work.rate_unit = "GB/s";
  work.shape = number(static_cast<uint64_t>(sms)) + " SMs";
  work.work = static_cast<double>(rounds * ctas * kThreads * kLoadBytes);
  return work;
}

using Mapper = Mapped<RowWork> (*)(const MeasuredRow&, const configs::Gpu&);
struct MicroKernel {
  std::string_view begins;  // the row's kernel
  Mapper map;
};
constexpr std::array kMicroKernels{
    MicroKernel{"tcgen05.mma stream",
                [](const MeasuredRow& row, const configs::Gpu& gpu) { return products_of_row(row, gpu, false); }},
    MicroKernel{"tcgen05.mma single latency",
                [](const MeasuredRow& row, const configs::Gpu& gpu) { return products_of_row(row, gpu, true); }},
    MicroKernel{"mma.sync ", mma_sync_of_row},
    MicroKernel{"LDGSTS streaming read", asynchronous_copies_of_row},
    MicroKernel{"TMA 2D streaming read", bulk_loads_of_row},
    MicroKernel{"TMA 2D shared read", shared_loads_of_row},
    MicroKernel{"back-to-back small SCALE kernels", small_passes_of_row},
    MicroKernel{"L1 hit load, ", l1_loads_of_row},
    MicroKernel{"repeated read of one per-CTA buffer", reads_by_each_sm_of_row},
    MicroKernel{"shared read of one buffer by all SMs", reads_by_all_sms_of_row},
    MicroKernel{"streaming read on a green context", reads_of_some_sms_of_row},
    MicroKernel{"streaming read of 2 arrays + FFMA chain", reads_and_products_of_row},
};

Mapper mapper_of(std::string_view kernel) {
  const auto* const found =
      std::ranges::find_if(kMicroKernels, [&](const auto& known) { return kernel.starts_with(known.begins); });
  return found == kMicroKernels.end() ? nullptr : found->map;
}

}  // namespace

bool is_micro_row(const MeasuredRow& row) { return mapper_of(row.text("kernel")) != nullptr; }

Mapped<RowWork> micro_of_row(const MeasuredRow& row, const configs::Gpu& gpu) { return mapper_of(row.text("kernel"))(row, gpu); }

}  // namespace warpfold::validation
