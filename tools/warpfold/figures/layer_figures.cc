#include "tools/warpfold/figures/layer_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tools/warpfold/figures/layer_overlap.h"
#include "tools/warpfold/figures/layer_tensors.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/figures/tensor_rate.h"

namespace warpfold::cli {

namespace {

using configs::LayerKernel;
using configs::LayerVersion;
using layer::Graph;
using layer::Operator;
using layer::OperatorClass;

// FP32 multiply-adds per clock of an SM (CUDA C++ Programming Guide, table of arithmetic throughput).
double fp32_lanes(const std::string& architecture) {
  return architecture == "sm_70" || architecture == "sm_75" || architecture == "sm_80" ? 64 : 128;
}

// Returns a peak rate. A GPU file states its data sheet's peak either with the file's own factor in it (a GeForce
// makes FP32 sums at half rate) or, if --set gives the factor, without. A machine with a changed number of SMs or memory still has
// its base's data sheet; its peak is its own rate.
double peak(double stated, double own, double factor, double tolerance) {
  const auto is_own = [&](double value) { return std::abs(value - own) <= tolerance * own; };
  if (stated > 0 && (own == 0 || is_own(stated))) return stated;
  return stated > 0 && is_own(stated * factor) ? stated * factor : own;
}

class Filler {
 public:
  Filler(const LayerLaunches& launches, const Peaks& peaks, const configs::TransformerModel& model)
      : graph_(launches.graph), peaks_(peaks), model_(model) {}

  LayerKernel kernel(const layer::FusedKernel& fused, const SimulatedLaunch& simulated) const {
    LayerKernel made;
    const Operator& first = at(fused.operators.front());
    made.set_name(fused.name);
    made.set_pass(layer::name_of(first.pass));
    made.set_kind(layer::name_of(kind_of(fused)));
    for (const int member : fused.operators) made.add_operators(at(member).name);
    made.set_independent(text_of(first.independent));
    made.set_reduced(text_of(reduction_of(fused)));
    add_tensors(fused, made);
    made.set_flops(layer::flops_of(graph_, fused));
    made.set_input_words(graph_.words(fused.inputs));
    made.set_output_words(graph_.words(fused.outputs));
    made.set_bytes(layer::bytes_of(graph_, fused));
    add_roofline(fused, made);
    add_simulation(simulated, made);
    return made;
  }

  // Returns the class of the kernel's heaviest operator; reductions weigh more than maps.
  OperatorClass kind_of(const layer::FusedKernel& fused) const {
    for (const int member : fused.operators) {
      if (at(member).kind != OperatorClass::kElementwise) return at(member).kind;
    }
    return OperatorClass::kElementwise;
  }

 private:
  const Operator& at(int index) const { return graph_.operators[static_cast<size_t>(index)]; }

  layer::Dimensions reduction_of(const layer::FusedKernel& fused) const {
    for (const int member : fused.operators) {
      if (!at(member).reduction.empty()) return at(member).reduction;
    }
    return {};
  }

  void add_tensors(const layer::FusedKernel& fused, LayerKernel& made) const {
    std::set<std::string> needed;
    const auto add = [&](int id, auto adder) {
      (made.*adder)(graph_.tensor(id).name);
      const bool later = std::ranges::any_of(graph_.tensor(id).consumers, [&](int reader) {
        return at(reader).pass == layer::Pass::kBackward && at(fused.operators.front()).pass == layer::Pass::kForward;
      });
      if (later && needed.insert(graph_.tensor(id).name).second) made.add_backward_needs(graph_.tensor(id).name);
    };
    using Adder = void (LayerKernel::*)(const std::string&);
    for (const int id : fused.inputs) add(id, static_cast<Adder>(&LayerKernel::add_inputs));
    for (const int id : fused.outputs) add(id, static_cast<Adder>(&LayerKernel::add_outputs));
  }

  void add_roofline(const layer::FusedKernel& fused, LayerKernel& made) const {
    const OperatorClass kind = kind_of(fused);
    const auto bytes = static_cast<double>(made.bytes());
    made.set_intensity(ratio(static_cast<double>(made.flops()), bytes));
    if (kind == OperatorClass::kCommunication) {
      made.set_bound("link");
      made.set_roofline_us(transfer_us(layer::transfer_of(graph_, fused.operators.front(), model_), model_));
      return;
    }
    const double peak = peak_of(kind);
    made.set_ridge(peak * 1e3 / peaks_.memory_gb_per_s);
    made.set_bound(made.intensity() < made.ridge() ? "memory" : "compute");
    made.set_roofline_us(std::max(static_cast<double>(made.flops()) / (peak * 1e6), bytes / (peaks_.memory_gb_per_s * 1e3)));
  }

  double peak_of(OperatorClass kind) const {
    const bool products = kind == OperatorClass::kContraction || kind == OperatorClass::kAttention;
    return products ? peaks_.tensor_tflops : peaks_.vector_tflops;
  }

  void add_simulation(const SimulatedLaunch& simulated, LayerKernel& made) const {
    made.set_time_us(made.roofline_us());
    made.set_not_simulated(simulated.reason_not_simulated);
    if (simulated.reason_not_simulated.empty()) {
      made.set_simulated_us(simulated.us);
      made.set_limiter_us(simulated.limiter_us);
      made.set_limiter(simulated.limiter);
      made.set_dram_bytes(simulated.dram_bytes);
      made.set_kernel(simulated.kernel);
      made.set_time_us(simulated.us);
    }
    if (made.ridge() == 0) return;
    const double peak = made.ridge() * peaks_.memory_gb_per_s / 1e3;
    made.set_percent_of_peak(100 * ratio(static_cast<double>(made.flops()) / 1e6, made.time_us() * peak));
    made.set_gb_per_s(ratio(static_cast<double>(made.bytes()) / 1e3, made.time_us()));
    // MUE is Q/D times B/B^: words that had to move over words moved, D, times the share of the peak bandwidth. B is D over the
    // time, so D cancels.
    made.set_mue(100 * ratio(made.gb_per_s(), peaks_.memory_gb_per_s));
    made.set_bound_by_mue(made.mue() > made.percent_of_peak() ? "memory" : "compute");
  }

  const Graph& graph_;
  const Peaks& peaks_;
  const configs::TransformerModel& model_;
};

void add_classes(LayerVersion& version) {
  std::vector<std::string> order;
  std::map<std::string, configs::LayerClass> classes;
  std::map<std::string, double> simulated;
  double in_all = 0;
  for (const LayerKernel& kernel : version.kernels()) {
    configs::LayerClass& all = classes[kernel.kind()];
    if (all.kind().empty()) order.push_back(kernel.kind());
    all.set_kind(kernel.kind());
    all.set_flops(all.flops() + kernel.flops());
    all.set_words(all.words() + kernel.input_words() + kernel.output_words());
    all.set_time_us(all.time_us() + kernel.time_us());
    if (kernel.has_simulated_us()) simulated[kernel.kind()] += kernel.time_us();
    if (kernel.has_simulated_us()) in_all += kernel.time_us();
    version.set_flops(version.flops() + kernel.flops());
    version.set_words(version.words() + kernel.input_words() + kernel.output_words());
    version.set_time_us(version.time_us() + kernel.time_us());
  }
  version.set_simulated_percent(100 * ratio(in_all, version.time_us()));
  for (const std::string& kind : order) {
    configs::LayerClass& each = classes[kind];
    each.set_flop_percent(100 * ratio(static_cast<double>(each.flops()), static_cast<double>(version.flops())));
    each.set_word_percent(100 * ratio(static_cast<double>(each.words()), static_cast<double>(version.words())));
    each.set_time_percent(100 * ratio(each.time_us(), version.time_us()));
    each.set_simulated_percent(100 * ratio(simulated[kind], each.time_us()));
    *version.add_classes() = each;
  }
}

}  // namespace

Peaks peaks_of(const configs::Gpu& gpu) {
  // assumed: a data sheet differs by less than these from the rate of the machine that it describes. The files differ by up to 1.2
  // % (products, L40S) and 4.1 % (DRAM, B300).
  constexpr double kProducts = 0.02;
  constexpr double kMemory = 0.05;
  const configs::DataSheet& sheet = gpu.data_sheet();
  const double clock_mhz = sheet.tensor_clock_mhz() > 0 ? sheet.tensor_clock_mhz() : gpu.clock_mhz();
  const double tensor_factor = gpu.sm().tensor().has_scale() ? gpu.sm().tensor().scale() : 1;
  const double memory_factor = gpu.dram().has_scale() ? gpu.dram().scale() : 1;
  return {
      .tensor_tflops = peak(sheet.fp16_tflops(), tensor_flop_per_clk(gpu) * clock_mhz / 1e6, tensor_factor, kProducts),
      .vector_tflops = 2 * fp32_lanes(gpu.architecture()) * gpu.sm_count() * clock_mhz / 1e6,
      .memory_gb_per_s = peak(sheet.memory_gb_per_s(), gpu.dram().bandwidth_gb_per_s() * memory_factor, memory_factor, kMemory)};
}

LayerVersion layer_version(const LayerLaunches& launches, const Peaks& peaks, const configs::TransformerModel& model) {
  LayerVersion version;
  version.set_name(launches.name);
  const Filler filler(launches, peaks, model);
  for (size_t k = 0; k < launches.kernels.size(); ++k)
    *version.add_kernels() = filler.kernel(launches.kernels[k], launches.simulated[k]);
  add_classes(version);
  add_tensors(launches.graph, launches.kernels, version);
  return version;
}

void add_fusions(const LayerVersion& alone, const LayerVersion& fused, const Peaks& peaks, configs::LayerReport& report) {
  std::map<std::string, const LayerKernel*> by_name;
  for (const LayerKernel& each : alone.kernels()) by_name[each.name()] = &each;
  for (const LayerKernel& kernel : fused.kernels()) {
    if (kernel.operators_size() < 2) continue;
    configs::LayerFusion& fusion = *report.add_fusions();
    fusion.set_kernel(kernel.name());
    fusion.set_pass(kernel.pass());
    *fusion.mutable_operators() = kernel.operators();
    fusion.set_launches_saved(static_cast<uint32_t>(kernel.operators_size() - 1));
    uint64_t words = 0;
    uint64_t bytes = 0;
    double us = 0;
    double dram_bytes = -static_cast<double>(kernel.dram_bytes());
    bool simulated = kernel.has_simulated_us();
    for (const std::string& name : kernel.operators()) {
      const LayerKernel& each = *by_name.at(name);
      words += each.input_words() + each.output_words();
      bytes += each.bytes();
      us += each.time_us();
      dram_bytes += static_cast<double>(each.dram_bytes());
      simulated = simulated && each.has_simulated_us();
    }
    fusion.set_words_saved(words - kernel.input_words() - kernel.output_words());
    fusion.set_bytes_saved_us(static_cast<double>(bytes - kernel.bytes()) / (peaks.memory_gb_per_s * 1e3));
    if (!simulated) continue;
    fusion.set_simulated_us_saved(us - kernel.time_us());
    fusion.set_traffic_us(dram_bytes / (peaks.memory_gb_per_s * 1e3) - fusion.bytes_saved_us());
    fusion.set_rate_us(fusion.simulated_us_saved() - fusion.bytes_saved_us() - fusion.traffic_us());
  }
}

}  // namespace warpfold::cli
