#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/validation/micro_rows.h"

namespace warpfold::validation {

Mapped<uint64_t> option_of(const MeasuredRow& row, std::string_view name) {
  const std::string text = row.option(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value == 0 || value > 1 << 20)
    return not_mapped("dims_other: " + std::string(name) + " is missing, or no whole number from 1 to 1048576");
  return value;
}

RowWork micro_work(std::string family, const MeasuredRow& row, std::string text, double clock_mhz) {
  RowWork work;
  work.family = std::move(family);
  work.kernel = row.text("kernel");
  work.shape = row.text("dtype") + " " + row.text("dims_other");
  configs::Kernel& kernel = work.kernels.emplace_back();
  kernel.set_name("kernel");
  kernel.mutable_trace()->set_text(std::move(text));
  work.clock_mhz = clock_mhz;
  return work;
}

namespace {

// NVIDIA B200, driver's boost clock: SM cycles over time in SemiAnalysisAI/microbench-blackwell @9a068d8, ldgsts_throughput.
constexpr double kMicrobenchMhz = 1965;
// Bytes that the streaming reads of the same repository are rounded down from (MAX_DATA_VOLUME).
constexpr uint64_t kStreamBytes = uint64_t{2} << 30;
// 227 KB, which these kernels request regardless of their use, so that an SM holds one CTA.
constexpr uint64_t kAllSharedBytes = 227 * 1024;

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
  RowWork work = micro_work(latency ? "tcgen05 latency" : "tcgen05 stream", row, std::move(text), kMicrobenchMhz);
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
  RowWork work = micro_work("LDGSTS stream", row, std::move(text), kMicrobenchMhz);
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
  RowWork work = micro_work("TMA stream", row, std::move(text), kMicrobenchMhz);
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
  RowWork work = micro_work("TMA shared reads", row, text + roles + "end\n", kMicrobenchMhz);
  work.follows = {"shared memory"};
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
