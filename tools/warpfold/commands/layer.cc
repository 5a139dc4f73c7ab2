#include <array>
#include <charconv>

#include "configs/escape/quoted.h"
#include "configs/gemm_library.h"
#include "configs/size_limits.h"
#include "tools/report/layer_graph.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/html_option.h"
#include "tools/warpfold/render/layer_report.h"
#include "tools/warpfold/run/layer_inputs.h"
#include "tools/warpfold/run/layer_run.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;

constexpr uint32_t kMostGpus = 1 << 24;  // of a training run; this only keeps times and tokens finite

constexpr std::array kEpilogues{layer::Epilogue::kScale, layer::Epilogue::kOne, layer::Epilogue::kFull};

Outcome<double> number_option(const Options& options, const std::string& name) {
  const std::string text = options.text(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= 1e18) return value;
  return user_error("--" + name + " takes a number from 1 on, such as 8 or 15e12, not " + escape::quoted(text));
}

Outcome<TrainingPlan> training_options(const Options& options, const configs::TransformerModel& model) {
  TrainingPlan plan{.remat = options.has("remat")};
  if (!options.has("train")) {
    if (options.has("gpus") || plan.remat || options.has("critical-batch"))
      return user_error("--gpus, --remat and --critical-batch need --train TOKENS");
    return plan;
  }
  if (options.has("forward")) return user_error("--train needs the backward pass; leave out --forward");
  const auto tokens = number_option(options, "train");
  if (!tokens) return std::unexpected(tokens.error());
  plan.tokens = *tokens;
  if (options.has("critical-batch")) {
    const auto critical = number_option(options, "critical-batch");
    if (!critical) return std::unexpected(critical.error());
    plan.critical_batch = *critical;
  }
  const uint64_t sharing = model.tensor_parallel() * model.context_parallel();
  plan.gpus = sharing;
  if (options.has("gpus")) {
    const auto gpus = options.number("gpus", 1, kMostGpus);
    if (!gpus) return std::unexpected(gpus.error());
    plan.gpus = *gpus;
  }
  if (plan.gpus % sharing != 0)
    return user_error("--gpus must be a multiple of the " + std::to_string(sharing) + " that share a layer, not " +
                      options.text("gpus"));
  return plan;
}

Outcome<std::optional<MemoryPlan>> memory_options(const Options& options) {
  std::optional<MemoryPlan> plan;
  for (const char* budget : {"activations", "memory"}) {
    if (!options.has(budget)) continue;
    if (options.has("forward")) return user_error("--" + std::string(budget) + " needs the backward pass; leave out --forward");
    if (plan) return user_error("--memory derives the budget that --activations states: give one of the two");
    const auto number = number_option(options, budget);
    if (!number) return std::unexpected(number.error());
    plan.emplace();
    (std::string_view(budget) == "memory" ? plan->memory_gb : plan->activations_mb) = *number;
  }
  if (!options.has("offload")) return plan;
  if (!plan) return user_error("--offload needs --activations MB or --memory GB");
  const auto rate = number_option(options, "offload");
  if (!rate) return std::unexpected(rate.error());
  plan->host_gb_per_s = *rate;
  return plan;
}

Outcome<LayerInputs> layer_inputs(const Options& options) {
  LayerInputs inputs{.model = options.arguments().front(),
                     .gpu = options.text("gpu"),
                     .kernels = options.has("kernels") ? options.text("kernels") : "operators",
                     .settings = options.texts("set")};
  if (options.has("past")) {
    const auto past = options.number("past", 0, configs::kMostSize);
    if (!past) return std::unexpected(past.error());
    inputs.settings.push_back("past=" + std::to_string(*past));
  }
  return inputs;
}

}  // namespace

Outcome<void> layer_command(const Invocation& invocation) {
  Options options("warpfold layer MODEL [options]",
                  "Derives the operators of a transformer's layer from its model card, forward and backward, and reports their\n"
                  "operations, bytes, limits and times: by the roofline, by the limiter model and simulated.",
                  "  warpfold layer llama3_70b --gpu h100_sxm\n"
                  "  warpfold layer bert_large --gpu a100_sxm --fused\n"
                  "  warpfold layer llama3_8b --set batch=4 --set gpu.sm.tensor.scale=2 --format csv\n"
                  "  warpfold layer llama3_8b --forward --set batch=16 --set sequence=1 --past 8192\n"
                  "  warpfold layer llama2_7b --fused --html layer.html --svg layer.svg\n");
  options.positional("MODEL", 1, 1);
  options.add()("set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
                "set a field of the model, or gpu.FIELD of the GPU; repeatable");
  options.add()("gpu", po::value<std::string>()->default_value("h100_sxm")->value_name("GPU"),
                "the GPU that runs the layer: a file, or a name of `warpfold gpu list`");
  options.add()("fused", "also with stacked projections and fused operators, and their savings");
  options.add()("epilogue", po::value<std::string>()->default_value("scale")->value_name("WHICH"),
                "epilogue of matrix products in fused kernels: scale: a factor; one: also bias or residual; full: also every "
                "elementwise operator");
  options.add()("forward", "the forward pass alone");
  options.add()(
      "past", po::value<std::string>()->value_name("TOKENS"),
      "past tokens of each sequence: attention reads their keys and values from memory, in front of the card's `sequence` "
      "tokens; a decode step has --set sequence=1; needs --forward");
  options.add()("no-simulation", "times by the roofline alone");
  options.add()("layouts", "layouts of the forward pass's tensors with the least total time, operator by operator");
  options.add()("activations", po::value<std::string>()->value_name("MB"),
                "memory for activations that the backward pass reads; activations beyond it are recomputed");
  options.add()("memory", po::value<std::string>()->value_name("GB"),
                "memory of the GPU; activations get the part beside weights, gradients and optimiser states");
  options.add()("offload", po::value<std::string>()->value_name("GB/S"),
                "bandwidth of the link to host memory, in each direction (PCIe), for offloaded activations");
  options.add()("train", po::value<std::string>()->value_name("TOKENS"),
                "time to train the whole model on this number of tokens, at the rate of this layer");
  options.add()("gpus", po::value<std::string>()->value_name("N"), "GPUs of the training; default: the GPUs that share a layer");
  options.add()("remat", "recompute every activation: the backward pass runs the forward pass again");
  options.add()("critical-batch", po::value<std::string>()->value_name("TOKENS"),
                "critical batch size, for the time to the loss that --train's tokens reach in small batches");
  options.add()("library", po::value<std::string>()->default_value("cuBLAS")->value_name("NAME"),
                "library of matrix products, a name of configs/libraries");
  options.add()("kernels", po::value<std::string>()->value_name("FILE"),
                "table of the listings that run operators; default: configs/kernels/operators.textproto");
  add_run_options(options, "0.01");  // 1 %: a layer has many kernels, and 1 % of one of them decides nothing
  options.add_html();
  options.add()("svg", po::value<std::string>()->value_name("FILE.svg"),
                "also write the dataflow graph to this file; with --fused the graph of the fused kernels");
  options.writes_file("svg");
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;

  const Destination& destination = options.destination();
  if (options.has("svg") && !options.text("svg").ends_with(".svg"))
    return user_error("--svg " + options.text("svg") + ": expected a name that ends in .svg");
  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  if (how->folding.self_check) return user_error("--self-check is of results of simulations; layer has none to say it in");
  if (how->reference) return user_error("--reference is of results of simulations; layer has none to say it in");
  if (how->folding.shadow)
    return user_error("--fold shadow compares one simulation with its replay; layer takes auto, exact or off");
  const auto epilogue = options.choice("epilogue", {"scale", "one", "full"});
  if (!epilogue) return std::unexpected(epilogue.error());
  LayerRequest request{.library = options.text("library"),
                       .backward = !options.has("forward"),
                       .fused = options.has("fused"),
                       .simulate = !options.has("no-simulation"),
                       .epilogue = kEpilogues[*epilogue],
                       .layouts = options.has("layouts"),
                       .command_line = invocation.command_line,
                       .how = *how};
  if (configs::find_gemm_library(request.library) == nullptr)
    return user_error("--library: no library called " + escape::quoted(request.library) +
                      configs::gemm_library_suggestion(request.library));
  const auto inputs = layer_inputs(options);
  if (!inputs) return std::unexpected(inputs.error());
  if (auto read = read_layer_inputs(*inputs, request); !read) return read;
  if (request.model.operator__size() > 0) {
    if (options.has("train"))
      return user_error("--train takes a model card: a list of operators does not state its number of tokens");
    if (options.has("layouts")) return user_error("--layouts takes a model card: a list of operators states its tensors' layouts");
  }
  const auto training = training_options(options, request.model);
  if (!training) return std::unexpected(training.error());
  request.training = *training;
  const auto memory = memory_options(options);
  if (!memory) return std::unexpected(memory.error());
  request.memory = *memory;
  const auto report = run_layer(request);
  if (!report) return std::unexpected(report.error());
  if (auto written = write_html_option(options, *report); !written) return written;
  if (options.has("svg")) {
    const std::string picture = report::layer_graph(*report, report->versions_size() - 1, true);
    if (auto written = write_output(options.text("svg"), picture); !written) return written;
  }
  return write_output(destination.path, render_layer(*report, destination.format));
}

}  // namespace warpfold::cli
