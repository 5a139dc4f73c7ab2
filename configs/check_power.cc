#include <sstream>

#include "configs/check.h"
#include "configs/escape/quoted.h"

namespace warpfold::configs {

namespace {

std::string text(double number) {
  std::ostringstream out;
  out.precision(12);
  out << number;
  return out.str();
}

std::string path_of_point(int point, const std::string& field) { return "power.point[" + std::to_string(point) + "]." + field; }

struct PointField {
  const char* name;
  bool present;
  double value;
  double least;
  double most;
};

// One point by itself.
std::optional<Finding> check_point(const OperatingPoint& point, int index) {
  for (const PointField& field : {PointField{"clock_mhz", point.has_clock_mhz(), point.clock_mhz(), 1, 1e5},
                                  PointField{"voltage", point.has_voltage(), point.voltage(), 0.1, 10},
                                  PointField{"static_w", point.has_static_w(), point.static_w(), 0, 1e5}}) {
    const std::string path = path_of_point(index, field.name);
    if (!field.present) return Finding{path, path + " is missing"};
    // Written so that a not-a-number fails too.
    if (!(field.value >= field.least && field.value <= field.most)) {
      return Finding{path, path + " must be from " + text(field.least) + " to " + text(field.most) + ", not " + text(field.value)};
    }
  }
  return std::nullopt;
}

// Power must grow with the clock.
std::optional<Finding> check_order(const OperatingPoint& before, const OperatingPoint& point, int index) {
  const auto must = [&](const std::string& field, const std::string& how, double low, double high) {
    const std::string path = path_of_point(index, field);
    return Finding{path, path + " must " + how + " that of the point before (" + text(low) + "), not " + text(high)};
  };
  if (point.clock_mhz() <= before.clock_mhz()) return must("clock_mhz", "be above", before.clock_mhz(), point.clock_mhz());
  if (point.voltage() < before.voltage()) return must("voltage", "not be below", before.voltage(), point.voltage());
  if (point.static_w() < before.static_w()) return must("static_w", "not be below", before.static_w(), point.static_w());
  return std::nullopt;
}

std::optional<Finding> check_points(const Power& power) {
  if (power.point().empty()) return Finding{"power", "power.point is missing: voltage and static power at some clock"};
  for (int p = 0; p < power.point_size(); ++p) {
    if (auto fault = check_point(power.point(p), p)) return fault;
    if (p == 0) continue;
    if (auto fault = check_order(power.point(p - 1), power.point(p), p)) return fault;
  }
  const OperatingPoint& lowest = power.point(0);
  if (power.cap_w() <= lowest.static_w()) {
    return Finding{"power.cap_w", "power.cap_w (" + text(power.cap_w()) + ") must be above the static power at the lowest clock (" +
                                      text(lowest.static_w()) + "): nothing could run"};
  }
  if (power.clock_limit_mhz() < lowest.clock_mhz()) {
    return Finding{"power.clock_limit_mhz", "power.clock_limit_mhz (" + text(power.clock_limit_mhz()) +
                                                ") must not be below the lowest clock of power.point (" + text(lowest.clock_mhz()) +
                                                ")"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> find_power_fault(const Gpu& gpu) {
  if (gpu.has_power()) {
    if (gpu.power().gpu().empty()) return Finding{"power", "power.gpu is missing: the name of the GPU that the model is of"};
    if (auto fault = check_points(gpu.power())) return fault;
  }
  if (gpu.clock() != POWER) return std::nullopt;
  if (!gpu.has_power()) return Finding{"clock", "clock: POWER needs a power model, and the file of " + gpu.name() + " has none"};
  if (gpu.power().gpu() != gpu.name()) {
    return Finding{"clock", "clock: POWER needs a power model of " + escape::unquoted(gpu.name()) + ", this one is of " +
                                escape::unquoted(gpu.power().gpu()) + " (power.gpu): say so where it is to stand for it"};
  }
  return std::nullopt;
}

}  // namespace warpfold::configs
