#include "tools/warpfold/render/layer_report.h"

#include <boost/algorithm/string/join.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "tools/report/layer_verdict.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

using configs::LayerKernel;
using configs::LayerVersion;

constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;

Cell or_dash(bool there, double number, int decimals) { return there ? Cell(number, decimals) : Cell("-"); }

Table kernel_table(const LayerVersion& version, const std::string& pass) {
  Table table({"kernel", "class", "GFLOP", "words M", "FLOP/B", "bound", "roofline us", "limiter us", "simulated us", "% of peak",
               "GB/s", "MUE", "kernel simulated"});
  for (const LayerKernel& kernel : version.kernels()) {
    if (kernel.pass() != pass) continue;
    table.add({kernel.name(), kernel.kind(), Cell(static_cast<double>(kernel.flops()) / kGiga, 3),
               Cell(static_cast<double>(kernel.input_words() + kernel.output_words()) / kMega, 1), Cell(kernel.intensity(), 2),
               kernel.bound(), Cell(kernel.roofline_us(), 1), or_dash(kernel.has_limiter_us(), kernel.limiter_us(), 1),
               or_dash(kernel.has_simulated_us(), kernel.simulated_us(), 1), Cell(kernel.percent_of_peak(), 1),
               Cell(kernel.gb_per_s(), 0), Cell(kernel.mue(), 0),
               kernel.has_simulated_us() ? kernel.kernel() : "not simulated: roofline time"});
  }
  return table;
}

std::string kernel_tables(const LayerVersion& version) {
  std::string text;
  for (const char* pass : {"forward", "backward", "update"}) {
    text += kernel_table(version, pass).section(version.name() + ", " + pass);
  }
  return text;
}

Table class_table(const configs::LayerReport& report) {
  Table table({"version", "class", "FLOP %", "words %", "time us", "time %", "% of it simulated"});
  for (const LayerVersion& version : report.versions()) {
    for (const configs::LayerClass& each : version.classes()) {
      table.add({version.name(), each.kind(), Cell(each.flop_percent(), 2), Cell(each.word_percent(), 1), Cell(each.time_us(), 1),
                 Cell(each.time_percent(), 1), Cell(each.simulated_percent(), 0)});
    }
  }
  return table;
}

Table total_table(const configs::LayerReport& report) {
  Table table({"version", "launches", "GFLOP", "words M", "time us", "% of it simulated"});
  for (const LayerVersion& version : report.versions()) {
    table.add({version.name(), static_cast<uint64_t>(version.kernels_size()), Cell(static_cast<double>(version.flops()) / kGiga, 2),
               Cell(static_cast<double>(version.words()) / kMega, 1), Cell(version.time_us(), 1),
               Cell(version.simulated_percent(), 0)});
  }
  return table;
}

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& names) { return boost::algorithm::join(names, ", "); }

// Replaces a value that would print as -0.0, with one decimal, by 0.
double without_sign_of_zero(double value) { return std::abs(value) < 0.05 ? 0 : value; }

Table fusion_table(const configs::LayerReport& report) {
  Table table(
      {"kernel", "pass", "operators", "words M saved", "us saved by bytes", "by DRAM traffic", "by rates", "simulated us saved"});
  for (const configs::LayerFusion& each : report.fusions()) {
    table.add({each.kernel(), each.pass(), joined(each.operators()), Cell(static_cast<double>(each.words_saved()) / kMega, 1),
               Cell(each.bytes_saved_us(), 1), or_dash(each.has_traffic_us(), without_sign_of_zero(each.traffic_us()), 1),
               or_dash(each.has_rate_us(), without_sign_of_zero(each.rate_us()), 1),
               or_dash(each.has_simulated_us_saved(), each.simulated_us_saved(), 1)});
  }
  return table;
}

// Returns each reason for a missing simulation once, with its operators.
std::string reasons(const LayerVersion& version) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const LayerKernel& kernel : version.kernels()) {
    if (kernel.not_simulated().empty()) continue;
    auto known = all.begin();
    while (known != all.end() && known->first != kernel.not_simulated()) ++known;
    if (known == all.end()) {
      all.emplace_back(kernel.not_simulated(), kernel.name());
    } else {
      known->second += ", " + kernel.name();
    }
  }
  std::string text;
  for (const auto& [reason, kernels] : all) text += "  " + reason + ": " + kernels + "\n";
  return text.empty() ? text : "\nNot simulated, " + version.name() + ": roofline time\n" + text;
}

std::string layouts_text(const configs::LayerLayouts& layouts) {
  Table table({"kernel", "class", "features us", "tokens us", "reads", "stores", "turned", "turning us"});
  for (const configs::LayerLayout& each : layouts.kernels()) {
    table.add({each.kernel(), each.kind(), or_dash(each.has_features_us(), each.features_us(), 1),
               or_dash(each.has_tokens_us(), each.tokens_us(), 1), each.reads(), each.stores(),
               each.transposed().empty() ? "-" : joined(each.transposed()), Cell(each.transposes_us(), 1)});
  }
  return "\nLayouts of the forward pass: the innermost dimension of tensors that a kernel reads and stores\n" +
         table.aligned("  ") + "The shortest path takes " + with_thousands(fixed(layouts.path_us(), 1)) + " us, " +
         fixed(layouts.excess_percent(), 2) + " % more than each kernel in its best layout; features innermost everywhere take " +
         with_thousands(fixed(layouts.features_us(), 1)) + ".\n";
}

std::string offload_text(const configs::LayerMemory& memory) {
  std::string text;
  if (memory.host_gb_per_s() > 0) {
    text = "Offloaded: " + with_thousands(fixed(memory.offloaded_mb(), 1)) + " MB; a link of " + fixed(memory.host_gb_per_s(), 0) +
           " GB/s hides up to " + with_thousands(fixed(memory.hidden_mb(), 1)) + " behind a pass; the others take " +
           with_thousands(fixed(memory.exposed_us(), 1)) + " us.\n";
  }
  if (memory.memory_gb() > 0) {
    text += "Of " + fixed(memory.memory_gb(), 1) + " GB weights take " + fixed(memory.weights_gb(), 1) + ", gradients " +
            fixed(memory.gradients_gb(), 1) + ", the optimiser's states " + fixed(memory.states_gb(), 1) +
            "; a layer's activations have " + with_thousands(fixed(memory.budget_mb(), 1)) + " MB.\n";
  }
  if (memory.gain_nothing_size() > 0)
    text += "Recomputation of these kernels frees no memory, because the backward pass reads none of their results: " +
            joined(memory.gain_nothing()) + ".\n";
  return text;
}

std::string memory_text(const configs::LayerMemory& memory) {
  Table table({"kernel", "class", "tensors", "MB", "recompute us", "us a MB", "what"});
  for (const configs::LayerActivation& each : memory.activations()) {
    table.add({each.kernel().empty() ? "the layer's input" : each.kernel(), each.kernel().empty() ? "-" : each.kind(),
               joined(each.tensors()), Cell(static_cast<double>(each.bytes()) / kMega, 1),
               or_dash(!each.kernel().empty(), each.recompute_us(), 1), or_dash(!each.kernel().empty(), each.us_per_mb(), 2),
               each.kept()        ? "kept"
               : each.offloaded() ? "offloaded"
                                  : "recomputed"});
  }
  return "\nActivations for the backward pass, by recomputation time a byte\n" + table.aligned("  ") + "Of " +
         with_thousands(fixed(memory.all_mb(), 1)) + " MB " + with_thousands(fixed(memory.kept_mb(), 1)) +
         " are kept; recomputation takes " + with_thousands(fixed(memory.recompute_us(), 1)) + " us.\n" + offload_text(memory);
}

std::string overlap_text(const configs::LayerReport& report) {
  const LayerVersion& shown = report.versions(report.versions_size() - 1);
  const configs::LayerOverlap& overlap = shown.overlap();
  Table table({"transfer", "pass", "over", "GPUs", "MB sent", "us", "exposed us", "kernels slowed us"});
  for (const configs::LayerTransfer& each : overlap.transfers()) {
    table.add({each.name(), each.pass(), each.data_parallel() ? "data link" : "link", uint64_t{each.gpus()},
               Cell(static_cast<double>(each.sent_bytes()) / kMega, 1), Cell(each.us(), 1), Cell(each.exposed_us(), 1),
               Cell(each.slowed_us(), 1)});
  }
  const std::string mover = overlap.copy_gb_per_s() > 0
                                ? "a kernel of " + std::to_string(report.model().copy_ctas()) + " CTAs, which move at most " +
                                      with_thousands(fixed(overlap.copy_gb_per_s(), 0)) + " GB/s"
                                : "copy engines";
  return "\nTransfers beside kernels, " + shown.name() + ", by " + mover + "\n" + table.aligned("  ") + "Of " +
         with_thousands(fixed(overlap.transfers_us(), 1)) + " us of transfers " + with_thousands(fixed(overlap.exposed_us(), 1)) +
         " us are exposed. Kernels take " + with_thousands(fixed(overlap.kernels_us(), 1)) + " us and " +
         with_thousands(fixed(overlap.slowed_us(), 1)) + " more beside them. A layer takes " +
         with_thousands(fixed(overlap.layer_us(), 1)) + " us, and the ends of a step " +
         with_thousands(fixed(overlap.once_us(), 1)) + ".\n";
}

// Returns a duration in the unit that needs the fewest digits: seconds, hours or days.
std::string duration(double seconds) {
  constexpr double kHour = 3600;
  if (seconds < kHour) return fixed(seconds, 1) + " s";
  if (seconds < 3 * 24 * kHour) return fixed(seconds / kHour, 1) + " h";
  return with_thousands(fixed(seconds / (24 * kHour), 1)) + " days";
}

// Returns the cost of a batch above the critical batch, whose gradients repeat each other.
std::string loss_text(const configs::LayerTraining& training) {
  constexpr double kMillion = 1e6;
  std::string text = "  A step has " + with_thousands(fixed(training.step_tokens() / kMillion, 2)) + " million tokens.";
  if (training.critical_batch() == 0) return text + "\n";
  return text + " Small batches reach the loss of " + with_thousands(fixed(training.tokens() / kGiga, 1)) +
         " billion tokens, with a critical batch of\n  " + with_thousands(fixed(training.critical_batch() / kMillion, 2)) +
         " million, in " + with_thousands(fixed(training.loss_tokens() / kGiga, 1)) + " billion tokens (" +
         fixed(training.loss_tokens() / training.tokens(), 2) + " times), " + with_thousands(fixed(training.loss_steps(), 0)) +
         " steps,\n  " + duration(training.loss_seconds()) + "; larger batches on more GPUs at best " +
         duration(training.least_loss_seconds()) + ".\n";
}

std::string training_text(const configs::LayerTraining& training) {
  const double billions = static_cast<double>(training.parameters()) / kGiga;
  return "\nTraining: " + with_thousands(fixed(billions, 2)) + " billion parameters, " +
         with_thousands(fixed(training.tokens() / kGiga, 1)) + " billion tokens, " +
         with_thousands(std::to_string(training.gpus())) + " GPUs" + (training.remat() ? ", forward pass twice" : "") +
         "\n  A token takes " + with_thousands(fixed(training.counted_flops() / kGiga, 2)) + " GFLOP by its operators, " +
         with_thousands(fixed(training.shortcut_flops() / kGiga, 2)) + " by the rule of " + (training.remat() ? "8" : "6") +
         " FLOP a parameter.\n  A GPU makes " + fixed(training.tflops(), 1) + " TFLOPS, MFU " + fixed(training.mfu_percent(), 1) +
         " %; all make " + with_thousands(fixed(training.tokens_per_second(), 0)) + " tokens/s.\n  Training takes " +
         duration(training.seconds()) + ", by the rule " + duration(training.shortcut_seconds()) + ".\n" + loss_text(training);
}

// A model that lists its operators has no batch size.
std::string size_text(const configs::TransformerModel& model) {
  if (model.operator__size() > 0) return ", " + std::to_string(model.operator__size()) + " operators";
  const std::string past = model.past() > 0 ? " behind " + with_thousands(std::to_string(model.past())) + " past tokens" : "";
  return ", batch " + std::to_string(model.batch()) + " of " + with_thousands(std::to_string(model.sequence())) +
         (model.sequence() == 1 ? " token" : " tokens") + past;
}

std::string layer_text(const configs::LayerReport& report) {
  const LayerVersion& shown = report.versions(report.versions_size() - 1);
  std::string text;
  for (const configs::Statement& each : report::layer_verdict(report)) text += wrapped(each.text());
  text += "\n" + report.model().name() + " on " + report.gpu() + ": one layer of " + std::to_string(report.model().layers()) +
          size_text(report.model()) + "\nPeaks: " + with_thousands(fixed(report.tensor_tflops(), 1)) + " TFLOPS of products, " +
          fixed(report.vector_tflops(), 1) + " of other operators (FP32), " + with_thousands(fixed(report.memory_gb_per_s(), 0)) +
          " GB/s; ridges " + fixed(report.tensor_tflops() * 1e3 / report.memory_gb_per_s(), 1) + " and " +
          fixed(report.vector_tflops() * 1e3 / report.memory_gb_per_s(), 1) + " FLOP/B. " + std::to_string(report.simulations()) +
          " different kernels simulated.\n";
  text += kernel_tables(shown);
  if (report.simulations() > 0) text += reasons(shown);
  text += "\nClasses\n" + class_table(report).aligned("  ") +
          "\nWhole layer; kernels without a simulation have the roofline's time\n" + total_table(report).aligned("  ");
  if (report.versions_size() > 1) {
    text += "\nFused kernels, against their operators one by one\n" + fusion_table(report).aligned("  ") +
            (report.simulations() == 0 ? ""
                                       : "Simulated savings are the sum of bytes, DRAM traffic (beyond the bytes; negative: L2 "
                                         "hits) and rates (below the peak, starts and ends).\n") +
            "Fusion saves " + fixed(report.words_saved_percent(), 2) + " % of the words moved.\n";
  }
  if (shown.has_overlap()) text += overlap_text(report);
  if (report.has_layouts()) text += layouts_text(report.layouts());
  if (report.has_memory()) text += memory_text(report.memory());
  if (report.has_training()) text += training_text(report.training());
  return text;
}

std::string layer_csv(const configs::LayerReport& report) {
  constexpr int kDecimals = 6;
  Table table({"model",           "gpu",      "version",     "pass",         "kernel",           "class",        "operators",
               "independent",     "reduced",  "flops",       "input_words",  "output_words",     "bytes",        "intensity",
               "ridge",           "bound",    "roofline_us", "limiter_us",   "limiter",          "simulated_us", "time_us",
               "percent_of_peak", "gb_per_s", "mue",         "bound_by_mue", "kernel_simulated", "not_simulated"});
  for (const LayerVersion& version : report.versions()) {
    for (const LayerKernel& kernel : version.kernels()) {
      const auto number = [](bool there, double value) { return there ? Cell(value, kDecimals) : Cell(""); };
      table.add(cells(report.model().name(), report.gpu(), version.name(), kernel.pass(), kernel.name(), kernel.kind(),
                      joined(kernel.operators()), kernel.independent(), kernel.reduced(), kernel.flops(), kernel.input_words(),
                      kernel.output_words(), kernel.bytes(), Cell(kernel.intensity(), kDecimals), Cell(kernel.ridge(), kDecimals),
                      kernel.bound(), Cell(kernel.roofline_us(), kDecimals), number(kernel.has_limiter_us(), kernel.limiter_us()),
                      kernel.limiter(), number(kernel.has_simulated_us(), kernel.simulated_us()), Cell(kernel.time_us(), kDecimals),
                      Cell(kernel.percent_of_peak(), kDecimals), Cell(kernel.gb_per_s(), kDecimals), Cell(kernel.mue(), kDecimals),
                      kernel.bound_by_mue(), kernel.kernel(), kernel.not_simulated()));
    }
  }
  return table.csv();
}

}  // namespace

std::string render_layer(const configs::LayerReport& report, Format format) {
  return rendered(report, format, layer_text, layer_csv);
}

}  // namespace warpfold::cli
