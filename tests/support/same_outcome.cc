#include "tests/support/same_outcome.h"

#include <utility>
#include <vector>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

void add(Fields& fields, const std::string& prefix, const sim::SegmentCounters& counters) {
  const auto& [segment, states, lost, inherited, hidden, inherited_in_all, hidden_in_all, requests_lost] = counters;
  const auto& [role, phase, position] = segment;
  const std::string where =
      text({prefix, "role ", std::to_string(role), " ", sim::phase_name(phase), " ", std::to_string(position), " "});
  for (size_t s = 0; s < states.size(); ++s)
    fields.emplace_back(text({where, sim::state_name(static_cast<sim::WarpState>(s))}), std::to_string(states[s]));
  for (size_t s = 0; s < inherited.size(); ++s) {
    fields.emplace_back(text({where, "inherited ", sim::state_name(static_cast<sim::WarpState>(s))}), std::to_string(inherited[s]));
    fields.emplace_back(text({where, "hidden ", sim::state_name(static_cast<sim::WarpState>(s))}), std::to_string(hidden[s]));
    fields.emplace_back(text({where, "inherited in all ", sim::state_name(static_cast<sim::WarpState>(s))}),
                        std::to_string(inherited_in_all[s]));
    fields.emplace_back(text({where, "hidden in all ", sim::state_name(static_cast<sim::WarpState>(s))}),
                        std::to_string(hidden_in_all[s]));
  }
  for (size_t culprit = 0; culprit < lost.size(); ++culprit) {
    for (size_t r = 0; r < lost[culprit].size(); ++r) {
      const std::string_view resource = sim::contended_name(static_cast<sim::Contended>(r));
      fields.emplace_back(text({where, "lost to ", std::to_string(culprit), " ", resource}), std::to_string(lost[culprit][r]));
      fields.emplace_back(text({where, "requests lost to ", std::to_string(culprit), " ", resource}),
                          std::to_string(requests_lost[culprit][r]));
    }
  }
}

// Structured bindings name every member: one that is added does not compile until it is compared.
void add(Fields& fields, const std::string& prefix, const sim::KernelCounters& kernel) {
  const auto& [start, end, ctas, instructions, resident, states, l2, l2_served, dram, limit, limiter, segments, absent] = kernel;
  const auto number = [&](const char* name, uint64_t value) { fields.emplace_back(text({prefix, name}), std::to_string(value)); };
  number("start_cycle", start);
  number("end_cycle", end);
  number("ctas", ctas);
  number("instructions", instructions);
  number("resident_warp_cycles", resident);
  for (size_t s = 0; s < states.size(); ++s) number(sim::state_name(static_cast<sim::WarpState>(s)).data(), states[s]);
  number("l2_bytes", l2);
  number("l2_bytes_served", l2_served);
  number("dram_bytes", dram);
  number("cta_limit", limit);
  fields.emplace_back(text({prefix, "cta_limiter"}), limiter);
  for (const sim::SegmentCounters& segment : segments) add(fields, prefix, segment);
  for (size_t culprit = 0; culprit < absent.size(); ++culprit) {
    for (size_t r = 0; r < absent[culprit].size(); ++r)
      number(text({"absent for ", std::to_string(culprit), " ", sim::contended_name(static_cast<sim::Contended>(r))}).c_str(),
             absent[culprit][r]);
  }
}

Fields fields_of(const sim::Outcome& outcome) {
  const auto& [total, kernels, resources, ledger, sm_classes, sms_simulated, whole_chip, fold, folds, timeline, alternative_bounds,
               left_idle, ran, always_ran, deadlocked, deadlock] = outcome;
  const auto& [report] = deadlock;
  static_cast<void>(fold);
  static_cast<void>(folds);
  static_cast<void>(timeline);  // shows what was folded
  static_cast<void>(alternative_bounds);
  static_cast<void>(always_ran);  // of the way to the outcome
  Fields fields = {{"total_cycles", std::to_string(total)},          {"sm_classes", std::to_string(sm_classes)},
                   {"sms_simulated", std::to_string(sms_simulated)}, {"whole_chip", std::to_string(whole_chip)},
                   {"left_idle", std::to_string(left_idle)},         {"ran", std::to_string(ran.size())},
                   {"deadlocked", std::to_string(deadlocked)},       {"deadlock", report}};
  for (size_t k = 0; k < kernels.size(); ++k) add(fields, text({"kernel ", std::to_string(k), " "}), kernels[k]);
  for (const auto& [name, busy, capacity] : resources)
    fields.emplace_back(text({"resource ", name}), text({std::to_string(busy), " of ", std::to_string(capacity)}));
  for (size_t victim = 0; victim < ledger.size(); ++victim) {
    for (size_t culprit = 0; culprit < ledger[victim].size(); ++culprit) {
      for (size_t r = 0; r < ledger[victim][culprit].size(); ++r) {
        fields.emplace_back(text({"ledger ", std::to_string(victim), " ", std::to_string(culprit), " ",
                                  sim::contended_name(static_cast<sim::Contended>(r))}),
                            std::to_string(ledger[victim][culprit][r]));
      }
    }
  }
  return fields;
}

}  // namespace

std::string difference(const sim::Outcome& one, const sim::Outcome& other) {
  const Fields first = fields_of(one);
  const Fields second = fields_of(other);
  if (first.size() != second.size()) return "another number of kernels or resources";
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] != second[i]) return text({first[i].first, ": ", first[i].second, " against ", second[i].second});
  }
  return "";
}

}  // namespace warpfold::test
