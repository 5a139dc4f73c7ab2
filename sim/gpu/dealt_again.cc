// What a run says of the order in which SMs have room, and the CTAs dealt by it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/gpu/gpu_run.h"

namespace warpfold::sim {
namespace {

// When an SM had CTAs of each launch; nothing of a launch without CTAs there.
using Spans = std::vector<std::optional<SmPace>>;

Spans spans_of(const Sm& sm, const std::vector<CtaList>& ctas) {
  Spans spans(ctas.size());
  for (size_t l = 0; l < ctas.size(); ++l) {
    const LaunchProgress& progress = sm.state().progress[l];
    if (progress.done > 0) spans[l] = SmPace{progress.start, progress.end};
  }
  return spans;
}

// Whether the launch's CTAs ran beside another one's, or waited for room behind them.
bool met_another(const Spans& spans, size_t launch, Cycle released_at) {
  for (size_t other = 0; spans[launch] && other < spans.size(); ++other) {
    if (other != launch && spans[other] && spans[other]->start < spans[launch]->end && released_at < spans[other]->end) return true;
  }
  return false;
}

// From when on an SM without CTAs of a launch has room for one: from the end of those that it has, or at once. `end`: of the launch
// on all SMs, behind which others begin that it does not meet.
SmPace room_beside(const Spans& spans, Cycle released_at, Cycle end) {
  Cycle free = released_at;
  for (const std::optional<SmPace>& span : spans) {
    if (span && span->start < end) free = std::max(free, span->end);
  }
  return {free, free};
}

// Per SM. One that was not simulated had its CTAs when the one of its stratum had.
class Spread {
 public:
  Spread(const std::vector<ClassRun>& class_runs, const Dealing& dealing) : dealing_(dealing) {
    std::map<std::vector<CtaList>, const ClassRun*, InOrder> class_of;
    for (const ClassRun& class_run : class_runs) {
      class_of.emplace(class_run.stratum.sm_class.ctas, &class_run);
      for (const Stratum::Other& other : class_run.stratum.others) class_of.emplace(other.sm_class.ctas, &class_run);
    }
    for (size_t sm = 0; sm < dealing.front().size(); ++sm) {
      const std::vector<CtaList> ctas = received(dealing, sm);
      const auto found = class_of.find(ctas);
      spans_.push_back(found == class_of.end() ? Spans(dealing.size()) : spans_of(*found->second->sm, ctas));
    }
  }

  // The pace of each SM with a launch that met another one, where SMs were free while CTAs of it had yet to begin.
  std::optional<std::vector<SmPace>> uneven(const Launch& launch, size_t l, const SmRange& range, const KernelImage& image,
                                            Cycle released_at) const {
    if (std::ranges::none_of(spans_, [&](const Spans& of_sm) { return met_another(of_sm, l, released_at); })) return std::nullopt;
    Cycle end = 0;
    for (const Spans& of_sm : spans_) end = std::max(end, of_sm[l] ? of_sm[l]->end : 0);
    std::vector<SmPace> paces;
    for (const Spans& spans : spans_) paces.push_back(spans[l] ? *spans[l] : room_beside(spans, released_at, end));
    if (!keeps_sm_free(*launch.kernel, dealing_[l], range, paces, image.ctas_per_sm)) return std::nullopt;
    return paces;
  }

 private:
  const Dealing& dealing_;
  std::vector<Spans> spans_;
};

}  // namespace

std::vector<size_t> GpuRun::deal_again(const std::vector<Launch>& launches, const std::vector<int>& dealings, int most,
                                       Dealing& dealing) const {
  if (launches.size() == 1) return {};
  const Spread spread(class_runs_, dealing);
  Cycle first = kNever;
  std::vector<std::optional<std::vector<SmPace>>> paces(launches.size());
  const auto range = [&](size_t l) {
    return launches[l].sms.count > 0 ? launches[l].sms : SmRange{0, static_cast<uint32_t>(dealing[l].size())};
  };
  for (size_t l = 0; l < launches.size(); ++l) {
    if (!released_[l] || dealings[l] >= most) continue;
    paces[l] = spread.uneven(launches[l], l, range(l), images_[l], released_at_[l]);
    if (paces[l]) first = std::min(first, released_at_[l]);
  }
  std::vector<size_t> dealt;
  for (size_t l = 0; l < launches.size(); ++l) {
    if (!paces[l] || released_at_[l] > first) continue;
    dealing[l] = deal_by_pace(*launches[l].kernel, dealing[l], range(l), *paces[l]);
    dealt.push_back(l);
  }
  return dealt;
}

}  // namespace warpfold::sim
