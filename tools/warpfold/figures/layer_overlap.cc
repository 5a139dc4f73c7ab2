#include "tools/warpfold/figures/layer_overlap.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace warpfold::cli {

namespace {

using layer::Transfer;

// Number of layers in the shorter of two stacks; their difference is the cost of one more layer. From about the second layer on,
// every layer takes the same time.
constexpr int kLayers = 5;

// A stack of layers as jobs: forward from the first layer to the last, backward from the last to the first, then the optimiser's
// steps.
class Stack {
 public:
  Stack(const configs::LayerVersion& version, const std::vector<layer::FusedKernel>& kernels,
        const std::vector<Transfer>& transfers, const std::vector<double>& us)
      : version_(version), transfers_(transfers), us_(us) {
    for (int k = 0; k < static_cast<int>(kernels.size()); ++k) {
      for (const int member : kernels[static_cast<size_t>(k)].operators) kernel_of_[member] = k;
    }
    for (int t = 0; t < static_cast<int>(transfers.size()); ++t) {
      const Transfer& each = transfers[static_cast<size_t>(t)];
      if (each.of >= 0) transfer_of_[kernel_of_.at(each.of)] = t;
    }
    producers_.resize(static_cast<size_t>(version.kernels_size()));
    for (const configs::LayerTensor& tensor : version.tensors()) {
      for (const uint32_t reader : tensor.readers()) {
        for (const uint32_t maker : tensor.makers()) {
          if (maker < reader) producers_[reader].insert(static_cast<int>(maker));
        }
      }
    }
  }

  std::vector<Job> jobs(int layers) {
    jobs_.clear();
    visits_.clear();
    sums_.clear();
    for (const char* pass : {"forward", "backward"}) {
      for (int l = 0; l < layers; ++l) visits_.push_back({pass, l});
    }
    if (!visits_.empty()) add_gathers(0, -1);
    int before = -1;
    for (size_t v = 0; v < visits_.size(); ++v) {
      if (v + 1 < visits_.size()) add_gathers(v + 1, before);
      before = add_visit(v);
    }
    for (int l = 0; l < layers; ++l) add_kernels("update", {}, sums_[l]);
    return jobs_;
  }

 private:
  struct Visit {
    std::string pass;
    int layer = 0;
    std::map<int, std::vector<int>> gathered{};  // jobs of transfers, by the kernel that waits for them
  };

  const Transfer& transfer(int id) const { return transfers_[static_cast<size_t>(id)]; }
  int add(int stream, double us, std::vector<int> after, int id) {
    jobs_.push_back({stream, us, std::move(after), id});
    return static_cast<int>(jobs_.size()) - 1;
  }
  int add_transfer(int id, std::vector<int> after) {
    return add(transfer(id).data_parallel ? 2 : 1, us_[static_cast<size_t>(id)], std::move(after), id);
  }

  // Adds the transfers that gather the weights of visit `v`, which start once the job `before` has ended.
  void add_gathers(size_t v, int before) {
    Visit& visit = visits_[v];
    for (int t = 0; t < static_cast<int>(transfers_.size()); ++t) {
      if (!transfer(t).data_parallel || transfer(t).before < 0 || layer::name_of(transfer(t).pass) != visit.pass) continue;
      const int made = add_transfer(t, before < 0 ? std::vector<int>{} : std::vector<int>{before});
      visit.gathered[kernel_of_.at(transfer(t).before)].push_back(made);
    }
  }

  // Returns the job of the visit's last kernel.
  int add_visit(size_t v) {
    const Visit visit = visits_[v];
    const std::map<int, int> made = add_kernels(visit.pass, visit.gathered, {});
    if (visit.pass == "backward") {
      for (int t = 0; t < static_cast<int>(transfers_.size()); ++t) {
        if (!transfer(t).data_parallel || transfer(t).after.empty()) continue;
        std::vector<int> after;
        for (const int op : transfer(t).after) after.push_back(made.at(kernel_of_.at(op)));
        sums_[visit.layer].push_back(add_transfer(t, after));
      }
    }
    int last = -1;
    for (const auto& [kernel, job] : made) {
      if (jobs_[static_cast<size_t>(job)].stream == 0) last = job;
    }
    return last;
  }

  std::map<int, int> add_kernels(const std::string& pass, const std::map<int, std::vector<int>>& gathered,
                                 const std::vector<int>& all_after) {
    std::map<int, int> made;
    for (int k = 0; k < version_.kernels_size(); ++k) {
      if (version_.kernels(k).pass() != pass) continue;
      std::vector<int> after = all_after;
      for (const int producer : producers_[static_cast<size_t>(k)]) {
        if (made.contains(producer)) after.push_back(made[producer]);
      }
      if (const auto waits = gathered.find(k); waits != gathered.end())
        after.insert(after.end(), waits->second.begin(), waits->second.end());
      const auto sent = transfer_of_.find(k);
      made[k] = sent == transfer_of_.end() ? add(0, version_.kernels(k).time_us(), after, k) : add_transfer(sent->second, after);
    }
    return made;
  }

  const configs::LayerVersion& version_;
  const std::vector<Transfer>& transfers_;
  const std::vector<double>& us_;
  std::map<int, int> kernel_of_;    // by operator
  std::map<int, int> transfer_of_;  // by kernel, if the kernel is a transfer
  std::vector<std::set<int>> producers_;
  std::vector<Job> jobs_;
  std::vector<Visit> visits_;
  std::map<int, std::vector<int>> sums_;  // jobs that sum gradients, by layer
};

// Sums over all layers of a stack, by transfer.
struct Sums {
  double all_us = 0;
  std::vector<double> exposed;
  std::vector<double> slowed;
  std::vector<std::set<int>> beside;
};

Sums sums_of(const std::vector<Job>& jobs, size_t transfers, const Slowdown& slowdown) {
  const std::vector<JobTimes> times = run_streams(jobs, slowdown);
  Sums sums{0, std::vector<double>(transfers, 0), std::vector<double>(transfers, 0), std::vector<std::set<int>>(transfers)};
  for (size_t j = 0; j < jobs.size(); ++j) {
    sums.all_us = std::max(sums.all_us, times[j].end);
    if (jobs[j].stream == 0) continue;
    const auto id = static_cast<size_t>(jobs[j].id);
    sums.exposed[id] += times[j].exposed_us;
    sums.slowed[id] += times[j].slowed_us;
    for (const int kernel : times[j].beside) sums.beside[id].insert(jobs[static_cast<size_t>(kernel)].id);
  }
  return sums;
}

}  // namespace

double transfer_us(const Transfer& transfer, const configs::TransformerModel& model, const CopyKernel& copy) {
  const double link = transfer.data_parallel ? model.data_link_gb_per_s() : model.link_gb_per_s();
  const double latency = transfer.data_parallel ? model.data_link_latency_us() : model.link_latency_us();
  const double most = copy.links[transfer.data_parallel ? 1 : 0].gb_per_s;
  const double rate = most > 0 ? std::min(link, most) : link;
  const auto sent = static_cast<double>(layer::sent_bytes(transfer.work, transfer.bytes, transfer.gpus));
  return sent / (rate * 1e3) + static_cast<double>(layer::steps_of(transfer.work, transfer.gpus)) * latency;
}

configs::LayerOverlap layer_overlap(const configs::TransformerModel& model, const layer::Graph& graph,
                                    const std::vector<layer::FusedKernel>& kernels, const configs::LayerVersion& version,
                                    const CopyKernel& copy) {
  const std::vector<Transfer> transfers = layer::transfers_of(graph, model);
  std::vector<double> us;
  for (const Transfer& each : transfers) us.push_back(transfer_us(each, model, copy));
  const Slowdown slowdown = [&](int kernel, int transfer) {
    const CopyKernel::OfLink& link = copy.links[transfers[static_cast<size_t>(transfer)].data_parallel ? 1 : 0];
    return link.slowdown.empty() ? 1 : link.slowdown[static_cast<size_t>(kernel)];
  };
  Stack stack(version, kernels, transfers, us);
  const Sums fewer = sums_of(stack.jobs(kLayers), transfers.size(), slowdown);
  const Sums more = sums_of(stack.jobs(kLayers + 1), transfers.size(), slowdown);

  configs::LayerOverlap overlap;
  for (int k = 0; k < version.kernels_size(); ++k) {
    if (version.kernels(k).kind() != layer::name_of(layer::OperatorClass::kCommunication))
      overlap.set_kernels_us(overlap.kernels_us() + version.kernels(k).time_us());
  }
  for (size_t t = 0; t < transfers.size(); ++t) {
    const Transfer& each = transfers[t];
    configs::LayerTransfer& made = *overlap.add_transfers();
    made.set_name(each.name);
    made.set_pass(layer::name_of(each.pass));
    made.set_kind(layer::name_of(each.work));
    made.set_data_parallel(each.data_parallel);
    made.set_gpus(each.gpus);
    made.set_bytes(each.bytes);
    made.set_sent_bytes(layer::sent_bytes(each.work, each.bytes, each.gpus));
    made.set_us(us[t]);
    made.set_exposed_us(std::max(0.0, more.exposed[t] - fewer.exposed[t]));
    made.set_slowed_us(std::max(0.0, more.slowed[t] - fewer.slowed[t]));
    for (const int kernel : more.beside[t]) {
      made.add_beside(version.kernels(kernel).name());
      made.add_beside_kernels(static_cast<uint32_t>(kernel));
    }
    overlap.set_transfers_us(overlap.transfers_us() + us[t]);
  }
  overlap.set_layer_us(more.all_us - fewer.all_us);
  for (size_t t = 0; t < transfers.size(); ++t) {
    overlap.set_exposed_us(overlap.exposed_us() + more.exposed[t] - fewer.exposed[t]);
    overlap.set_slowed_us(overlap.slowed_us() + more.slowed[t] - fewer.slowed[t]);
  }
  overlap.set_once_us(std::max(0.0, fewer.all_us - kLayers * overlap.layer_us()));
  overlap.set_copy_gb_per_s(std::max(copy.links[0].gb_per_s, copy.links[1].gb_per_s));
  return overlap;
}

}  // namespace warpfold::cli
