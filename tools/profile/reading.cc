#include "tools/profile/reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "configs/architecture.h"
#include "tools/profile/sizes.h"
#include "workloads/ampere_gemm/plan.h"
#include "workloads/common/cta_footprint.h"
#include "workloads/workloads.h"

namespace warpfold::profile {
namespace {

using Values = std::map<std::string, std::string>;

uint64_t number(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  uint64_t value = 0;
  if (found != values.end()) std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

// Replaces each {NAME} in the template; `missing` receives the first name without a value.
std::string filled(const std::string& text, const Values& values, std::string& missing) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('{', at);
    const size_t close = open == std::string::npos ? open : text.find('}', open);
    result += text.substr(at, open == std::string::npos ? open : open - at);
    if (close == std::string::npos) break;
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto found = values.find(name);
    if (found == values.end() && missing.empty()) missing = name;
    result += found == values.end() ? "?" : found->second;
    at = close + 1;
  }
  return result;
}

class Reader {
 public:
  Reader(const NamedKernel& named, const LaunchShape& shape, const SimulatedGpu& on, validation::RowMapper& mapper)
      : named_(named), rule_(*named.rule), shape_(shape), on_(on), mapper_(mapper) {}

  Reading read() {
    reading_.family = rule_.family();
    if (rule_.has_demand()) reading_.demand = rule_.demand();
    Sizes sizes = sizes_of(named_, shape_);
    values_ = named_.groups;
    for (auto& [name, value] : sizes.values) values_[name] = std::move(value);
    reading_.notes.assign(rule_.assumption().begin(), rule_.assumption().end());
    for (std::string& note : sizes.notes) reading_.notes.push_back(std::move(note));
    std::string unknown;  // a text for display may have gaps
    reading_.reads_as = filled(rule_.reads_as(), values_, unknown);
    reading_.opaque = !rule_.opaque().empty() ? rule_.opaque() : sizes.missing;
    if (reading_.opaque.empty()) make();
    if (!reading_.opaque.empty()) reading_.run.reset();
    return std::move(reading_);
  }

 private:
  void set(const std::string& name, uint64_t value) { values_[name] = std::to_string(value); }

  // Models parts of k and products of a batch as further rows of one product: the same number of CTAs with the same work.
  // AmpereGemm supports neither.
  void stack_rows() {
    const uint64_t batch = number(values_, "batch"), split = number(values_, "split");
    if (batch * split <= 1) return;
    set("m", number(values_, "m") * batch * split);
    set("k", (number(values_, "k") + split - 1) / split);
    reading_.notes.push_back(std::to_string(batch * split) + (batch > 1 ? " products of a batch" : " parts of k") +
                             " are simulated as rows of one product, which read the same second matrix");
  }

  // The listings of products have no parts of k: models them as further products of the batch.
  void batch_parts() {
    const uint64_t split = number(values_, "split");
    if (split <= 1) return;
    set("batch", number(values_, "batch") * split);
    set("k", (number(values_, "k") + split - 1) / split);
    reading_.notes.push_back(std::to_string(split) + " parts of k are simulated as products of a batch");
  }

  void take_recorded_tile() {
    // Loops were recorded for 16-bit operands; TF32 operands are twice as wide.
    const uint64_t words = values_["type"] == "tf32" ? 2 : 1;
    set("tile_k", words * number(values_, "tile_k"));
    const auto nearest = workloads::nearest_recorded_tile(
        static_cast<uint32_t>(number(values_, "tile_m")), static_cast<uint32_t>(number(values_, "tile_n")),
        static_cast<uint32_t>(number(values_, "tile_k") * std::max<uint64_t>(number(values_, "stages"), 1)));
    if (!nearest) {
      reading_.opaque = "no loop of mma.sync near a tile of " + values_["tile_m"] + " x " + values_["tile_n"] + " was recorded";
      return;
    }
    if (nearest->transposed) {
      std::swap(values_["m"], values_["n"]);
      std::swap(values_["tile_m"], values_["tile_n"]);
      if (values_.contains("a_repeats") && values_.contains("b_repeats")) std::swap(values_["a_repeats"], values_["b_repeats"]);
    }
    const workloads::RecordedTile& tile = nearest->tile;
    const bool same = number(values_, "tile_m") == tile.m && number(values_, "tile_n") == tile.n &&
                      number(values_, "tile_k") == tile.k && number(values_, "stages") == tile.stages;
    if (!same)
      reading_.notes.push_back("simulated by the recorded loop of " + std::to_string(tile.m) + " x " + std::to_string(tile.n) +
                               " x " + std::to_string(tile.k / words) + ", " + std::to_string(tile.stages) + " stages");
    fill_tile("m", tile.m);
    fill_tile("n", tile.n);
    set("tile_m", tile.m);
    set("tile_n", tile.n);
    set("tile_k", tile.k / words);
    set("stages", tile.stages);
  }

  // A CTA always multiplies whole tiles, even if it stores only a part. The generator does so for the products of a batch.
  void fill_tile(const std::string& size, uint32_t tile) {
    if (number(values_, size) >= tile || values_.contains("products")) return;
    reading_.notes.push_back(values_[size] + " rows or columns are simulated as the " + std::to_string(tile) + " of a tile");
    set(size, tile);
  }

  // tcgen05.mma multiplies 64 or 128 rows of a CTA (PTX ISA). nvjet_tst_144x128 is 128 rows by 144 columns of the transposed
  // product.
  void turn_for_tcgen05() {
    const auto rows = [&](const std::string& name) { return number(values_, name) == 64 || number(values_, name) == 128; };
    if (rows("tile_m") || !rows("tile_n")) return;
    std::swap(values_["m"], values_["n"]);
    std::swap(values_["tile_m"], values_["tile_n"]);
    std::swap(values_["cluster_m"], values_["cluster_n"]);
  }

  void make() {
    const bool stated = rule_.sizes() == STATED && std::ranges::any_of(rule_.column(), [](const Column& column) {
                          return column.name() == "category" && column.value() == "GEMM";
                        });
    const bool product = rule_.sizes() == PRODUCT || rule_.sizes() == CONVOLUTION || stated;
    const bool lacks_tile = rule_.settings().find("{tile_m}") != std::string::npos && values_["tile_m"].empty();
    const bool as_traced = on_.traced && !(product && lacks_tile);
    const bool listed = std::ranges::any_of(rule_.column(), [](const Column& column) { return column.name() == "kernel_file"; });
    const bool tcgen05 = as_traced && !rule_.tcgen05_settings().empty() &&
                         configs::product_family(on_.gpu.architecture()) == configs::ProductFamily::kTcgen05;
    set("ctas", shape_.ctas());
    if (tcgen05) turn_for_tcgen05();
    if (product && listed) batch_parts();
    if (product && rule_.mma_sync() && as_traced) {
      stack_rows();
      take_recorded_tile();
      if (!reading_.opaque.empty()) return;
    }
    std::map<std::string, validation::CsvCell, std::less<>> cells;
    const auto put = [&](const std::string& name, std::string value) { cells[name] = {std::move(value), 0, 0}; };
    std::string missing;
    for (const Column& column : rule_.column()) put(column.name(), filled(column.value(), values_, missing));
    put("gpu", on_.gpu.name());
    put("id", "launch");
    put("time_ms", "1");  // a row must state a time; the report compares launches itself
    put("how_read", "CUPTI's activity records, as Nsight Systems has them");
    if (product && !rule_.mma_sync() && number(values_, "batch") > 1) {
      put("dims_other", "groups=" + values_["batch"] + ";M_per_group=" + values_["m"]);
      put("kernel", "batched GEMM");
    }
    if (as_traced || !product || listed) {
      put("set", filled(tcgen05 ? rule_.tcgen05_settings() : rule_.settings(), values_, missing));
    } else {
      put("impl", "cuBLAS");  // on another GPU the library chooses another kernel
    }
    if (!missing.empty()) {
      reading_.opaque = "neither the name nor the operator says its " + missing;
      return;
    }
    const validation::MeasuredRow row(on_.operators + "/profile", 0, std::move(cells));
    auto mapped = mapper_.map(row, on_.gpu);
    if (!mapped) {
      reading_.opaque = mapped.error().mistake ? mapped.error().mistake->message : mapped.error().reason;
      return;
    }
    if (rule_.run() >= mapped->runs.size()) {
      reading_.opaque = "its launch is no part of the kernels that are simulated for it";
      return;
    }
    reading_.run = std::move(mapped->runs[rule_.run()]);
    // Removes the memset by which benchmarks empty L2 before a call; it does not occur in a step.
    auto& kernels = *reading_.run->scenario.mutable_kernel();
    for (int k = kernels.size(); k-- > 0;) {
      if (kernels.Get(k).name() == "flush") kernels.DeleteSubrange(k, 1);
    }
    kernels.Mutable(0)->set_name("kernel");
    // Passes over arrays and rows stay far below the power limit, so they run at the highest clock, as in operator_of_row.
    configs::Gpu& gpu = *reading_.run->scenario.mutable_gpu();
    constexpr std::array<SizesFrom, 10> kPasses{ELEMENTS, STRIDED, ROWS,   CONCATENATION, REDUCTION,
                                                GATHER,   ROTARY,  LAYOUT, CHUNKS,        BATCH_NORM};
    const bool pass = std::ranges::find(kPasses, rule_.sizes()) != kPasses.end() ||
                      (rule_.sizes() == STATED && reading_.run->scenario.kernel(0).has_elementwise());
    if (pass && gpu.power().has_clock_limit_mhz()) gpu.set_clock_mhz(gpu.power().clock_limit_mhz());
  }

  const NamedKernel& named_;
  const NameRule& rule_;
  const LaunchShape& shape_;
  const SimulatedGpu& on_;
  validation::RowMapper& mapper_;
  Values values_{};
  Reading reading_{};
};

}  // namespace

Reading read_launch(const NameTable& names, const LaunchShape& shape, const SimulatedGpu& on, validation::RowMapper& mapper) {
  const NamedKernel named = names.find(shape);
  if (named.rule != nullptr) return Reader(named, shape, on, mapper).read();
  Reading reading;
  reading.opaque = "no rule of kernel_names.textproto knows the name";
  return reading;
}

void occupy_as_traced(const LaunchShape& shape, Reading& reading) {
  if (!reading.run) return;
  configs::Kernel& kernel = *reading.run->scenario.mutable_kernel(0);
  const auto made = workloads::make_kernel(kernel, reading.run->scenario.gpu(), reading.run->file);
  if (!made) {
    reading.opaque = made.error().message;
    reading.run.reset();
    return;
  }
  if (workloads::moves_registers(*made)) return;
  if (shape.registers_per_thread > 0 && shape.registers_per_thread <= 255)
    kernel.mutable_footprint()->set_registers_per_thread(shape.registers_per_thread);
  kernel.mutable_footprint()->set_shared_memory_bytes(shape.shared_memory_bytes);
}

}  // namespace warpfold::profile
