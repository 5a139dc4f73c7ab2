#include "sim/gpu/merge.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

struct Share {
  Work work;
  uint64_t ctas = 0;
};

// Whether `less` is at most `more`, and by no more than the share of it.
bool alike(uint64_t more, uint64_t less, double difference) {
  return less <= more && static_cast<double>(more - less) <= difference * static_cast<double>(more);
}

bool stands_for(const std::vector<Share>& one, const std::vector<Share>& other, double difference) {
  for (size_t l = 0; l < one.size(); ++l) {
    if (!alike(one[l].work.instructions, other[l].work.instructions, difference)) return false;
    if (!alike(one[l].work.bytes, other[l].work.bytes, difference) || !alike(one[l].ctas, other[l].ctas, difference)) return false;
  }
  return true;
}

uint64_t instructions(const std::vector<Share>& shares) {
  uint64_t sum = 0;
  for (const Share& share : shares) sum += share.work.instructions;
  return sum;
}

}  // namespace

std::vector<MergedClass> merge_alike(std::vector<SmClass> classes, const std::vector<KernelImage>& images, double difference) {
  std::vector<MergedClass> merged;
  if (difference == 0) {  // nobody stands for another, not even where both have the same in another order
    for (SmClass& each : classes) merged.push_back({std::move(each), std::vector<MergedClass::Less>(images.size()), false});
    return merged;
  }
  std::vector<WorkTable> tables(images.begin(), images.end());
  std::vector<std::vector<Share>> shares;
  for (const SmClass& sm_class : classes) {
    std::vector<Share>& of_class = shares.emplace_back(images.size());
    for (size_t l = 0; l < images.size(); ++l) {
      for (const traces::CtaRun& run : sm_class.ctas[l]) {
        of_class[l].work = of_class[l].work + tables[l].of_cta(run.cta_class) * run.count;
        of_class[l].ctas += run.count;
      }
    }
  }
  std::vector<size_t> order;
  for (size_t c = 0; c < classes.size(); ++c) order.push_back(c);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t c) { return instructions(shares[c]); });
  std::vector<size_t> leaders;
  for (const size_t c : order) {
    const auto leader = std::ranges::find_if(leaders, [&](size_t each) { return stands_for(shares[each], shares[c], difference); });
    if (leader == leaders.end()) {
      leaders.push_back(c);
      merged.push_back({std::move(classes[c]), std::vector<MergedClass::Less>(images.size()), false});
      continue;
    }
    MergedClass& into = merged[static_cast<size_t>(leader - leaders.begin())];
    into.sm_class.sms += classes[c].sms;
    into.merged = true;
    for (size_t l = 0; l < images.size(); ++l) {
      into.less[l].work = into.less[l].work + (shares[*leader][l].work - shares[c][l].work) * classes[c].sms;
      into.less[l].ctas += (shares[*leader][l].ctas - shares[c][l].ctas) * classes[c].sms;
    }
  }
  return merged;
}

}  // namespace warpfold::sim
