#include "sim/sampling/sm_sample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/sampling/work.h"

namespace warpfold::sim {
namespace {

constexpr uint64_t kShortRun = 8'000'000;  // assumed: instructions below which a sample saves too little time
constexpr double kUnlikely = 0.05;         // probability that the bound of latest_end_uncertainty does not hold

}  // namespace

// After the first end, the other sampled ends are spread evenly over the time to the last end of all. The probability
// that none of them lies in the last part x / (1 + x) of that time is (1 + x) ^ -(sampled - 1). The result is the x for
// which it is kUnlikely.
double latest_end_uncertainty(size_t sampled) { return std::pow(kUnlikely, -1.0 / static_cast<double>(sampled - 1)) - 1; }

bool may_sample_sms(const KernelImage& image, uint64_t sms, double error) {
  if (sms <= kSampledSms) return false;
  WorkTable table(image);
  Work all;
  uint64_t longest = 0;
  uint64_t shortest = UINT64_MAX;
  for (const traces::CtaRun& run : image.kernel->grid) {
    const Work cta = table.of_cta(run.cta_class);
    all = all + cta * run.count;
    longest = std::max(longest, cta.instructions);
    shortest = std::min(shortest, cta.instructions);
  }
  if (longest == shortest || all.instructions < kShortRun) return false;
  const double places = static_cast<double>(sms) * image.ctas_per_sm;
  const double range = static_cast<double>(longest) * places / static_cast<double>(all.instructions);
  return latest_end_uncertainty(kSampledSms) * range <= error;
}

std::vector<SmClass> sample_of(const SmClass& sms) {
  std::vector<SmClass> parts;
  for (size_t part = 0; part < kSampledSms; ++part) {
    SmClass& own = parts.emplace_back(SmClass{.sms = 0, .ctas = sms.ctas, .indices = {}, .sampled = true});
    const auto from = sms.indices.begin() + static_cast<std::ptrdiff_t>(part * sms.indices.size() / kSampledSms);
    const auto to = sms.indices.begin() + static_cast<std::ptrdiff_t>((part + 1) * sms.indices.size() / kSampledSms);
    own.indices.assign(from, to);
    own.sms = own.indices.size();
  }
  return parts;
}

uint32_t SampledQueue::pick(const CtaList& ctas, uint64_t weight) {
  for (const traces::CtaRun& run : ctas) owed_[run.cta_class] += static_cast<int64_t>(run.count);
  const auto owed = [&](const traces::CtaRun& run) { return owed_[run.cta_class]; };
  const uint32_t picked = std::ranges::max_element(ctas, {}, owed)->cta_class;
  owed_[picked] -= static_cast<int64_t>(weight);
  return picked;
}

}  // namespace warpfold::sim
