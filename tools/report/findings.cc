#include "tools/report/findings.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "tools/report/advice.h"
#include "tools/report/names.h"
#include "tools/report/number_text.h"
#include "tools/report/waves.h"

namespace warpfold::report {

namespace {

constexpr double kWorthTelling = 0.005;  // of a kernel's warp time; less than rounding shows

using Fields = std::vector<std::string>;

std::string text_of(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string indexed(std::string_view list, int index, std::string_view field) {
  return text_of({list, "[", std::to_string(index), "].", field});
}

configs::Statement finding(std::string text, const Fields& fields) {
  configs::Statement made;
  made.set_text(std::move(text));
  for (const std::string& field : fields) made.add_field(field);
  return made;
}

configs::Statement total_of(const configs::Result& result) {
  return finding(text_of({result.scenario(), " on ", result.gpu(), " takes ", time_text(result.total_time_us()), " under policy ",
                          result.policy(), "."}),
                 {"total_time_us", "scenario", "gpu", "policy"});
}

// "The GEMM (qkv) takes 3.69 ms, 1.10 times as long as alone; alone it is bound by the tensor cores (wgmma)."
configs::Statement kernel_finding(const configs::Result& result, int index) {
  const configs::KernelResult& kernel = result.kernels(index);
  const std::string words = capitalised(kernel_words(result, kernel.name()));
  const bool many = words.ends_with("numbers");
  Fields fields{indexed("kernels", index, "bound_by"), indexed("kernels", index, "time_us")};
  std::string text = words;
  if (words != kernel.name()) text += " (" + kernel.name() + ")";
  text += text_of({many ? " take " : " takes ", time_text(kernel.time_us())});
  if (kernel.solo_cycles() > 0 && kernel.slowdown_vs_solo() > 0) {
    fields.push_back(indexed("kernels", index, "slowdown_vs_solo"));
    text += text_of({", ", fixed(kernel.slowdown_vs_solo(), 2), " times as long as alone"});
    if (kernel.sms() > 0 && kernel.sms() < result.provenance().scenario().gpu().sm_count())
      text += " on its " + std::to_string(kernel.sms()) + " SMs";
  }
  if (!kernel.bound_by().empty())
    text += text_of({"; alone ", many ? "they are" : "it is", " bound by ", resource_words(kernel.bound_by())});
  if (const std::string tail = tail_text(result, kernel); !tail.empty()) {
    fields.insert(fields.end(), {indexed("kernels", index, "ctas"), indexed("kernels", index, "occupancy.ctas_per_sm_limit")});
    text += text_of({"; ", many ? "they make " : "it makes ", tail});
  }
  return finding(text + ".", fields);
}

auto company_of(const configs::KernelResult& victim, const std::string& culprit) {
  return std::ranges::find(victim.beside(), culprit, &configs::Company::kernel);
}

// "While both were on an SM, the GEMM took 94.1 % of the random numbers' warp time, all of it register write ports."
configs::Statement contention_finding(const configs::Result& result, const ContentionShare& contention) {
  const auto victim = std::ranges::find(result.kernels(), contention.victim, &configs::KernelResult::name);
  const std::string culprit = kernel_words(result, contention.culprit);
  const double part =
      contention.warp_cycles == 0 ? 0 : static_cast<double>(contention.on_resource) / static_cast<double>(contention.warp_cycles);
  return finding(text_of({met_on_an_sm(*victim, contention.culprit) ? "While both were on an SM, " + culprit : capitalised(culprit),
                          " took ", percent_text(contention.share), " of ", possessive(kernel_words(result, contention.victim)),
                          " warp time, ", part >= 1 ? "all of it " : "mostly ", resource_words(contention.resource),
                          part >= 1 ? "" : text_of({" (", fixed(100 * part, 0), " % of it)"}), "."}),
                 contention.fields);
}

configs::Statement loss_finding(const configs::Result& result) {
  return finding(text_of({"The run is limited by ", result.reason(), "."}), {"reason"});
}

// "The board takes 400 W at 1,289 MHz under a cap of 400 W; without it the clock would be 1,410 MHz and the run 8.6 % shorter."
configs::Statement power_finding(const configs::Result& result) {
  const configs::PowerUse& power = result.power();
  const auto whole = [](double number) { return with_thousands(fixed(number, 0)); };
  std::string text = text_of({"The board takes ", whole(power.watts()), " W at ", whole(power.clock_mhz()), " MHz"});
  if (!power.capped()) return finding(text + ", its highest clock.", {"power.watts", "power.clock_mhz"});
  text += text_of({" under a cap of ", whole(power.cap_w()), " W; without it the clock would be ", whole(power.clock_limit_mhz()),
                   " MHz and the run ", percent_text(power.cap_cost_us() / result.total_time_us()), " shorter."});
  return finding(text, {"power.watts", "power.clock_mhz", "power.cap_w", "power.clock_limit_mhz", "power.cap_cost_us"});
}

// Returns the indices of kernels by time, longest first.
std::vector<int> by_time(const configs::Result& result) {
  std::vector<int> order;
  for (int k = 0; k < result.kernels_size(); ++k) order.push_back(k);
  std::ranges::stable_sort(order,
                           [&](int left, int right) { return result.kernels(left).cycles() > result.kernels(right).cycles(); });
  return order;
}

std::vector<configs::Statement> warnings_of(const configs::Result& result) {
  std::vector<configs::Statement> found;
  for (int w = 0; w < result.warnings_size(); ++w)
    found.push_back(finding(result.warnings(w), {text_of({"warnings[", std::to_string(w), "]"})}));
  return found;
}

configs::Statement composition_finding(const configs::Model& model, int index) {
  const configs::Composition& each = model.compositions(index);
  return finding(text_of({"Run ", each.name() == "sequential" ? "in sequence" : each.name(), ", all kernels take ",
                          time_text(each.total_time_us()), " by the limiter model, a speed-up of ", fixed(each.speedup(), 3), "."}),
                 {indexed("model.compositions", index, "total_time_us"), indexed("model.compositions", index, "speedup")});
}

std::vector<configs::Statement> of_model(const configs::Result& result) {
  std::vector<configs::Statement> found;
  for (int c = 0; c < result.model().compositions_size(); ++c) found.push_back(composition_finding(result.model(), c));
  for (const int k : by_time(result)) {
    const configs::KernelResult& kernel = result.kernels(k);
    found.push_back(
        finding(text_of({capitalised(kernel_words(result, kernel.name())), " cannot take less than ", time_text(kernel.time_us()),
                         ": the largest demand is on ", resource_words(kernel.bound_by()), "."}),
                {indexed("kernels", k, "time_us"), indexed("kernels", k, "bound_by")}));
  }
  return found;
}

}  // namespace

bool met_on_an_sm(const configs::KernelResult& victim, const std::string& culprit) {
  return company_of(victim, culprit) != victim.beside().end();
}

uint64_t warp_cycles_with(const configs::KernelResult& victim, const std::string& culprit) {
  const auto company = company_of(victim, culprit);
  return company != victim.beside().end() ? company->warp_cycles() : victim.resident_warp_cycles();
}

std::vector<ContentionShare> contention_shares(const configs::Result& result) {
  std::map<std::pair<std::string, std::string>, ContentionShare> pairs;
  for (int e = 0; e < result.ledger_size(); ++e) {
    const configs::LedgerEntry& entry = result.ledger(e);
    if (entry.victim() == entry.culprit()) continue;
    ContentionShare& contention = pairs[{entry.victim(), entry.culprit()}];
    contention.victim = entry.victim();
    contention.culprit = entry.culprit();
    contention.warp_cycles += entry.warp_cycles();
    contention.fields.push_back(indexed("ledger", e, "warp_cycles"));
    if (entry.warp_cycles() > contention.on_resource) {
      contention.on_resource = entry.warp_cycles();
      contention.resource = entry.resource();
    }
  }
  std::vector<ContentionShare> all;
  for (auto& [names, contention] : pairs) {
    const auto victim = std::ranges::find(result.kernels(), contention.victim, &configs::KernelResult::name);
    if (victim == result.kernels().end() || victim->resident_warp_cycles() == 0) continue;
    contention.share =
        static_cast<double>(contention.warp_cycles) / static_cast<double>(warp_cycles_with(*victim, contention.culprit));
    const auto company = company_of(*victim, contention.culprit);
    const std::string whole = company == victim->beside().end()
                                  ? "resident_warp_cycles"
                                  : indexed("beside", static_cast<int>(company - victim->beside().begin()), "warp_cycles");
    contention.fields.push_back(indexed("kernels", static_cast<int>(victim - result.kernels().begin()), whole));
    all.push_back(std::move(contention));
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &ContentionShare::share);
  return all;
}

std::vector<configs::Statement> findings(const configs::Result& result, size_t most) {
  const std::vector<configs::Statement> warned = warnings_of(result);
  if (result.has_model()) {
    auto found = of_model(result);
    found.insert(found.begin(), warned.begin(), warned.end());
    found.resize(std::min(found.size(), most));
    return found;
  }
  std::vector<configs::Statement> found{total_of(result)};
  found.insert(found.end(), warned.begin(), warned.end());
  if (result.has_power()) found.push_back(power_finding(result));
  if (result.what_if().resources_size() > 0) found.push_back(what_if_advice(result));
  for (configs::Statement& advice : occupancy_advice(result)) {
    advice.set_text(text_of({"Occupancy of ", advice.text()}));
    found.push_back(std::move(advice));
  }
  const std::vector<ContentionShare> taken = contention_shares(result);
  const bool contention = !taken.empty() && taken.front().share >= kWorthTelling;
  const bool loss = result.kernels_size() > 1 && !result.reason().empty();
  const size_t kept = (contention ? 1 : 0) + (loss ? 1 : 0);
  for (const int k : by_time(result)) {
    if (found.size() + kept >= most) break;
    found.push_back(kernel_finding(result, k));
  }
  if (contention) found.push_back(contention_finding(result, taken.front()));
  if (loss) found.push_back(loss_finding(result));
  return found;
}

}  // namespace warpfold::report
