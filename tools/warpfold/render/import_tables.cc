#include "tools/warpfold/render/import_tables.h"

#include <algorithm>

#include "tools/warpfold/render/table.h"
#include "traces/stats.h"

namespace warpfold::cli {
namespace {

std::string grouped(uint64_t number) { return with_thousands(std::to_string(number)); }

std::string trips_text(const traces::Kernel& kernel, const traces::TripCount& trips) {
  if (trips.parameter < 0) return grouped(trips.literal);
  const auto parameter = static_cast<size_t>(trips.parameter);
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (const traces::CtaClass& cta_class : kernel.cta_classes) {
    least = std::min(least, cta_class.values[parameter]);
    most = std::max(most, cta_class.values[parameter]);
  }
  return grouped(least) + " to " + grouped(most);
}

void add_loops(const traces::Kernel& kernel, const std::string& role, const std::vector<traces::Node>& body, int depth,
               Table& table) {
  for (const traces::Node& node : body) {
    const auto* loop = std::get_if<traces::Loop>(&node);
    if (loop == nullptr) continue;
    table.add({role, static_cast<uint64_t>(depth), trips_text(kernel, loop->trips), traces::static_instructions(loop->body)});
    add_loops(kernel, role, loop->body, depth + 1, table);
  }
}

std::string followed_text(const std::string& cache, const sass::Followed& followed) {
  const std::string of = "reuse in " + cache;
  switch (followed.why) {
    case sass::Followed::Why::kNothing:
      return "";
    case sass::Followed::Why::kFits:
      return of + " not followed: the launch's footprint fits\n";
    case sass::Followed::Why::kTooMuch:
      return of + " not followed: too many different accesses, or nested loops\n";
    case sass::Followed::Why::kFollowed:
      break;
  }
  return of + " followed for " + (followed.every == 1 ? "all lines" : "one line in " + grouped(followed.every)) + ", on " +
         grouped(followed.sms) + " of " + grouped(followed.of_sms) + " SMs, in " + grouped(followed.waves) + " of " +
         grouped(followed.of_waves) + " waves of CTAs\n";
}

std::string executed_text(const sass::ImportReport& report) {
  const std::string executed = "; CTAs executed: " + grouped(report.followed_ctas);
  if (report.drawn_ctas == 0) return executed + ", which represent all\n";
  return executed + ", a sample\nestimated: " + grouped(report.drawn_ctas) + " CTAs drawn at random represent " +
         grouped(report.sampled_ctas) + " on different paths; warp instructions within " +
         fixed(100 * report.instructions_error, 2) + " % (95 % confidence); --all-ctas executes every CTA\n";
}

std::string not_linear_text(const std::vector<sass::ArrayReport>& arrays) {
  std::string names;
  for (const sass::ArrayReport& array : arrays) {
    if (!array.linear) names += (names.empty() ? "" : ", ") + array.name;
  }
  return names.empty() ? "" : "reuse of " + names + " not followed: addresses are not linear in the CTA or a pass\n";
}

std::string assumed_text(const std::vector<std::string>& assumed) {
  std::string text = assumed.empty() ? "" : "\nAssumed\n";
  for (const std::string& line : assumed) text += "  " + line + "\n";
  return text;
}

}  // namespace

std::string questions_text(const std::vector<std::string>& questions) {
  if (questions.empty()) return "";
  std::string text = "# For the launch description, with numbers in place of N and M:\n";
  for (const std::string& line : questions) text += line + "\n";
  return text;
}

std::string import_tables(const sass::Imported& imported) {
  const traces::Kernel& kernel = imported.kernel;
  const traces::KernelStatistics counts = traces::statistics(kernel);
  std::string text = kernel.name + ", " + kernel.architecture + ": " + grouped(counts.ctas) + " CTAs of " +
                     std::to_string(kernel.warps_per_cta()) + " warps, " + std::to_string(kernel.registers_per_thread) +
                     " registers a thread, " + grouped(kernel.shared_memory_bytes) + " bytes of shared memory\n" +
                     grouped(counts.instructions.issued) + " warp instructions, kept as " + grouped(counts.instructions.in_text) +
                     "; control codes " + (imported.report.control_codes ? "from the listing" : "assigned") +
                     executed_text(imported.report);
  Table roles({"role", "warps", "in_text", "issued"});
  Table loops({"role", "depth", "trips", "instructions"});
  for (size_t i = 0; i < kernel.roles.size(); ++i) {
    const traces::Role& role = kernel.roles[i];
    roles.add({role.name, uint64_t{role.warps}, counts.roles[i].instructions.in_text, counts.roles[i].instructions.issued});
    add_loops(kernel, role.name, role.body, 1, loops);
  }
  Table classes({"class", "ctas"});
  const std::vector<uint64_t> ctas = traces::ctas_by_class(kernel);
  for (size_t c = 0; c < ctas.size() && ctas.size() > 1; ++c) classes.add({kernel.cta_classes[c].name, ctas[c]});
  Table arrays({"array", "bytes", "touched", "requested", "in_l1", "dram", "written"});
  for (const sass::ArrayReport& array : imported.report.arrays) {
    arrays.add({array.name, array.bytes, array.touched, array.requested, array.in_l1, array.dram, array.written ? "yes" : "no"});
  }
  text +=
      followed_text("L1", imported.report.l1) + followed_text("L2", imported.report.l2) + not_linear_text(imported.report.arrays);
  return text + assumed_text(imported.report.assumed) + roles.section("Roles") + loops.section("Loops") +
         classes.section("Classes of CTAs") + arrays.section("Arrays, in bytes");
}

}  // namespace warpfold::cli
