#include "workloads/policies/l2_left.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "workloads/common/key_reuse.h"
#include "workloads/common/stream_bytes.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

using Tensors = std::map<std::string, double>;  // bytes of each that a launch touches

// [launch][other]: true if the other launch has ended when the launch begins.
std::vector<std::vector<bool>> order_of(const Plan& plan) {
  const size_t launches = plan.kernels.size();
  std::vector<std::vector<bool>> before(launches, std::vector<bool>(launches));
  for (size_t l = 0; l < launches; ++l) {
    for (const int other : plan.kernels[l].after) before[l][static_cast<size_t>(other)] = true;
    for (size_t earlier = 0; earlier < l; ++earlier) {
      if (plan.serialise || plan.kernels[earlier].stream == plan.kernels[l].stream) before[l][earlier] = true;
    }
  }
  for (size_t by = 0; by < launches; ++by) {
    for (size_t l = 0; l < launches; ++l) {
      for (size_t other = 0; before[l][by] && other < launches; ++other) {
        if (before[by][other]) before[l][other] = true;
      }
    }
  }
  return before;
}

class LeftInL2 {
 public:
  LeftInL2(const configs::Scenario& scenario, uint64_t l2_bytes, Plan& plan)
      : scenario_(scenario), l2_bytes_(l2_bytes), plan_(plan), before_(order_of(plan)) {}

  Expected<void> begin() {
    for (int k = 0; k < scenario_.kernel_size(); ++k) {
      if (auto named = name_tensors(k); !named) return named;
    }
    for (const PlannedKernel& planned : plan_.kernels) {
      requested_.push_back(workloads::requested_bytes(planned.kernel));
      touched_.push_back(touched_by(planned));
    }
    for (int k = 0; k < scenario_.kernel_size(); ++k) {
      if (scenario_.kernel(k).l2() != configs::AS_LEFT || !is_launched(scenario_.kernel(k).name())) continue;
      const auto launch = launch_of(scenario_.kernel(k).name(), k);
      if (!launch) return std::unexpected(launch.error());
      if (auto taken = take(*launch, k); !taken) return taken;
    }
    return {};
  }

 private:
  // Maps a stream, such as "relu.in", to its tensor: the stream that was named first for the same data, such as "gemm.C".
  std::string tensor(const std::string& stream) const {
    const auto shared = shared_.find(stream);
    return shared == shared_.end() ? stream : shared->second;
  }
  static std::string kernel_of(const std::string& tensor) { return tensor.substr(0, tensor.find('.')); }

  bool is_launched(const std::string& kernel) const {
    return std::ranges::any_of(plan_.kernels, [&](const PlannedKernel& each) {
      return each.of == kernel || std::ranges::find(each.also, kernel) != each.also.end();
    });
  }
  // The launch that runs the whole kernel and nothing else; empty if the policy has cut or joined the kernel.
  std::optional<size_t> own_launch(const std::string& kernel) const {
    std::optional<size_t> own;
    for (size_t l = 0; l < plan_.kernels.size(); ++l) {
      const PlannedKernel& planned = plan_.kernels[l];
      const bool also = std::ranges::find(planned.also, kernel) != planned.also.end();
      if (planned.of != kernel && !also) continue;
      if (own || !planned.also.empty()) return std::nullopt;
      own = l;
    }
    return own;
  }
  Expected<size_t> launch_of(const std::string& kernel, int asked_by) const {
    const auto own = own_launch(kernel);
    if (own) return *own;
    return fail_in(path_of_kernel(asked_by) + ".l2", "kernel " + kernel + " is cut or joined with another one, so that what " +
                                                         scenario_.kernel(asked_by).name() +
                                                         " finds in L2 AS_LEFT is not known; expected COLD or WARM");
  }

  // Checks the stream's name for a kernel that is one launch of its own. Cut and joined kernels are not checked, since their
  // streams have other names.
  Expected<void> expect_stream(const std::string& kernel, const std::string& stream, const std::string& path) const {
    const auto own = own_launch(kernel);
    if (!own) return {};
    std::vector<std::string> known;
    for (const traces::MemoryStream& each : plan_.kernels[*own].kernel.streams) known.push_back(each.name);
    if (std::ranges::find(known, stream) != known.end()) return {};
    return fail_in(path, "kernel " + kernel + " has no stream " + escape::quoted(stream) + suggestion(stream, known));
  }

  Expected<void> name_tensors(int k) {
    const configs::Kernel& kernel = scenario_.kernel(k);
    for (int t = 0; t < kernel.tensor_size(); ++t) {
      const configs::SharedTensor& shared = kernel.tensor(t);
      const std::string path = path_of_kernel(k) + ".tensor[" + std::to_string(t) + "]";
      const std::string of = kernel_of(shared.of());
      const std::string stream = shared.of().substr(of.size() + 1);
      if (auto known = expect_stream(kernel.name(), shared.stream(), path + ".stream"); !known) return known;
      if (auto known = expect_stream(of, stream, path + ".of"); !known) return known;
      shared_[kernel.name() + "." + shared.stream()] = tensor(shared.of());
    }
    return {};
  }

  double bytes_of(const traces::MemoryStream& stream, double requested) const {
    return stream.footprint > 0 ? static_cast<double>(stream.footprint) : requested * workloads::dram_share(stream);
  }

  Tensors touched_by(const PlannedKernel& planned) const {
    Tensors touched;
    const std::vector<double>& requested = requested_.back();
    for (size_t s = 0; s < planned.kernel.streams.size(); ++s) {
      const traces::MemoryStream& stream = planned.kernel.streams[s];
      const double bytes = bytes_of(stream, requested[s]);
      double& most = touched[tensor(planned.also.empty() ? planned.of + "." + stream.name : stream.name)];
      most = std::max(most, bytes);
    }
    return touched;
  }

  // The last launch before `launch` that touches the tensor.
  std::optional<size_t> last_touched(const std::string& of, size_t launch) const {
    std::optional<size_t> last;
    for (size_t l = 0; l < plan_.kernels.size(); ++l) {
      if (!before_[launch][l] || !touched_[l].contains(of)) continue;
      if (!last || !before_[*last][l]) last = l;
    }
    return last;
  }

  // Distinct bytes touched between two uses of a tensor: by launches in between, by the launch that left it, and by the launch that
  // reads it.
  struct Since {
    double between = 0, left_by = 0, read_by = 0;
  };
  Since since(size_t left_by, size_t read_by) const {
    Tensors between;
    for (size_t m = 0; m < plan_.kernels.size(); ++m) {
      if (m == left_by || m == read_by || before_[left_by][m] || before_[m][read_by]) continue;
      for (const auto& [name, bytes] : touched_[m]) between[name] = std::max(between[name], bytes);
    }
    const auto others = [&](size_t launch) {
      double sum = 0;
      for (const auto& [name, bytes] : touched_[launch]) sum += between.contains(name) ? 0 : bytes;
      return sum;
    };
    double sum = 0;
    for (const auto& [name, bytes] : between) sum += bytes;
    return {sum, others(left_by), others(read_by)};
  }

  // Share of a tensor's bytes that has left L2, averaged over positions in the tensor.
  double gone(const Since& since) const {
    constexpr int kPlaces = 64;
    double gone = 0;
    for (int place = 0; place < kPlaces; ++place) {
      const double part = (place + 0.5) / kPlaces;
      const double distance = since.between + (1 - part) * since.left_by + part * since.read_by;
      gone += workloads::probability_of_miss(static_cast<uint64_t>(distance), l2_bytes_);
    }
    return gone / kPlaces;
  }

  Expected<void> take(size_t launch, int k) {
    constexpr double kShares = 1024;
    PlannedKernel& planned = plan_.kernels[launch];
    double found = 0;
    for (size_t s = 0; s < planned.kernel.streams.size(); ++s) {
      traces::MemoryStream& stream = planned.kernel.streams[s];
      const double requested = requested_[launch][s];
      const double dram = requested * workloads::dram_share(stream);
      if (stream.write || dram == 0) continue;
      const std::string of = tensor(planned.of + "." + stream.name);
      if (is_launched(kernel_of(of))) {
        if (const auto own = launch_of(kernel_of(of), k); !own) return std::unexpected(own.error());
      }
      const auto left_by = last_touched(of, launch);
      if (!left_by) continue;
      if (const auto own = launch_of(plan_.kernels[*left_by].of, k); !own) return std::unexpected(own.error());
      const double once = bytes_of(stream, requested);
      const double again = dram - std::min(dram, once);
      const double still = std::min(dram, again + gone(since(*left_by, launch)) * once);
      workloads::set_dram_share(stream, static_cast<uint64_t>(kShares * still / requested + 0.5), static_cast<uint64_t>(kShares));
      found += std::max(0.0, dram - requested * workloads::dram_share(stream));
    }
    planned.found_in_l2_bytes = static_cast<uint64_t>(found + 0.5);
    return {};
  }

  const configs::Scenario& scenario_;
  uint64_t l2_bytes_;
  Plan& plan_;
  std::vector<std::vector<bool>> before_;
  std::map<std::string, std::string> shared_;   // stream -> tensor, for streams that share an earlier kernel's tensor
  std::vector<std::vector<double>> requested_;  // [launch][stream] bytes
  std::vector<Tensors> touched_;                // [launch]
};

}  // namespace

Expected<void> begin_as_left(const configs::Scenario& scenario, uint64_t l2_bytes, Plan& plan) {
  const auto shares = [](const configs::Kernel& kernel) { return kernel.l2() == configs::AS_LEFT || kernel.tensor_size() > 0; };
  if (std::ranges::none_of(scenario.kernel(), shares)) return {};
  return LeftInL2(scenario, l2_bytes, plan).begin();
}

}  // namespace warpfold::policies
