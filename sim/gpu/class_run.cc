#include "sim/gpu/class_run.h"

#include <algorithm>
#include <utility>

#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

// Gives class `own`, whose list of SMs is complete, a copy of the Sm of the class from which it is split.
void begin_as_copy(ClassRun& own, const ClassRun& from, size_t index) {
  own.sms = own.indices.size();
  own.sm = std::make_unique<Sm>(*from.sm);
  own.sm->observation().issue_log = from.sm->observation().issue_log;
  own.sm->observation().sm_class = static_cast<uint32_t>(index);
  own.next = from.next;
}

}  // namespace

uint64_t ClassRun::replayed() const {
  return sm->instructions() - (folding ? folding->skipped_instructions() : 0) - replayed_elsewhere;
}

bool ClassRun::Twin::fits(size_t launch, uint32_t theirs, uint32_t own) const {
  const auto known = class_of[launch].find(theirs);
  return known != class_of[launch].end() ? known->second == own : theirs == own;
}

void ClassRun::Twin::add(size_t launch, uint32_t theirs, uint32_t own, uint64_t ctas_added) {
  class_of[launch].emplace(theirs, own);
  append(ctas[launch], own, ctas_added);
}

bool ClassRun::Twin::diverges(const Sm& of) const {
  for (size_t l = 0; l < class_of.size(); ++l) {
    const traces::Kernel& kernel = *of.state().launches[l].image->kernel;
    std::vector<bool> differs(kernel.parameters.size());
    for (const auto& [theirs, own] : class_of[l]) {
      for (size_t p = 0; p < differs.size(); ++p)
        differs[p] = differs[p] || kernel.cta_classes[theirs].values[p] != kernel.cta_classes[own].values[p];
    }
    if (on_last_trip(of, static_cast<int>(l), differs)) return true;
  }
  return false;
}

bool begins_alike(const traces::Kernel& kernel, uint32_t less, uint32_t more) {
  return std::ranges::equal(kernel.cta_classes[less].values, kernel.cta_classes[more].values,
                            [](uint64_t one, uint64_t other) { return one == other || (one >= 2 && one < other); });
}

ClassRun::Twin& become_twin(ClassRun& class_run, const std::vector<uint32_t>& indices) {
  ClassRun::Twin& twin = class_run.twins.emplace_back(ClassRun::Twin{.indices = indices, .ctas = class_run.ctas, .class_of = {}});
  for (const CtaList& list : class_run.ctas) {
    ClassMap& same = twin.class_of.emplace_back();
    for (const traces::CtaRun& run : list) same.emplace(run.cta_class, run.cta_class);
  }
  std::erase_if(class_run.indices, [&](uint32_t sm) { return std::ranges::find(indices, sm) != indices.end(); });
  class_run.sm->control().has_twins = true;
  return twin;
}

size_t split_class(std::vector<ClassRun>& class_runs, size_t from, std::vector<uint32_t> indices, const FoldOptions& fold) {
  ClassRun& own = class_runs[from];
  ClassRun split{.ctas = own.ctas, .indices = std::move(indices)};
  begin_as_copy(split, own, class_runs.size());
  own.sms -= split.sms;
  std::erase_if(own.indices, [&](uint32_t sm) { return std::ranges::find(split.indices, sm) != split.indices.end(); });
  if (own.folding) {
    split.folding = std::make_unique<SmFolding>(*own.folding, *split.sm);
    if (fold.mode != FoldMode::kOff) split.sm->observe_with(*split.folding);
  }
  split.replayed_elsewhere = split.replayed();
  class_runs.push_back(std::move(split));
  return class_runs.size() - 1;
}

std::vector<size_t> split_twins(std::vector<ClassRun>& class_runs, size_t from, bool all, const FoldOptions& fold) {
  std::vector<size_t> split;
  ClassRun& own = class_runs[from];
  std::erase_if(own.twins, [&](ClassRun::Twin& twin) {
    if (!all && !twin.diverges(*own.sm)) return false;
    ClassRun each{.ctas = std::move(twin.ctas), .indices = std::move(twin.indices)};
    begin_as_copy(each, own, class_runs.size());
    own.sms -= each.sms;
    exchange_classes(*each.sm, each.ctas, twin.class_of);
    // The new class starts without snapshots: those of the other class hold other CTAs.
    each.folding = std::make_unique<SmFolding>(fold, *each.sm, *own.folding);
    if (fold.mode != FoldMode::kOff) each.sm->observe_with(*each.folding);
    each.replayed_elsewhere = each.replayed();
    split.push_back(class_runs.size());
    class_runs.push_back(std::move(each));
    return true;
  });
  own.sm->control().has_twins = !own.twins.empty();
  return split;
}

}  // namespace warpfold::sim
