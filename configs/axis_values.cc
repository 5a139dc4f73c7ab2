#include "configs/axis_values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string_view>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

constexpr size_t kMostValues = 100000;  // of an axis; assumed: the size at which the store of points was measured (decision 35)

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Twelve digits, so that 0.1 + 2 * 0.1 is 0.3.
std::string digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value);
  return text.data();
}

// Both ends of a range, and the word and number behind them, if any.
struct Range {
  double first = 0;
  double last = 0;
  bool whole = false;  // both ends
  std::string word = "step";
  double by = 1;
};

Expected<std::vector<std::string>> stepped(const Range& range) {
  if (range.by <= 0) return fail("step takes a number above 0: the ends say which way it goes");
  const double steps = std::floor(std::abs(range.last - range.first) / range.by * (1 + 1e-12));
  if (steps >= kMostValues) return fail("more than " + std::to_string(kMostValues) + " values");
  std::vector<std::string> values;
  for (double step = 0; step <= steps; ++step)
    values.push_back(digits(range.first + (range.last < range.first ? -step : step) * range.by));
  return values;
}

Expected<std::vector<std::string>> multiplied(const Range& range) {
  if (range.by <= 1) return fail("times takes a number above 1: the ends say which way it goes");
  if (range.first <= 0 || range.last <= 0) return fail("times takes ends above 0");
  std::vector<std::string> values;
  const double factor = range.last < range.first ? 1 / range.by : range.by;
  constexpr double kSlack = 1 + 1e-9;
  for (double step = 0;; ++step) {
    const double value = range.first * std::pow(factor, step);
    if (factor > 1 ? value > range.last * kSlack : value * kSlack < range.last) break;
    if (values.size() == kMostValues) return fail("more than " + std::to_string(kMostValues) + " values");
    values.push_back(digits(value));
  }
  return values;
}

Expected<std::vector<std::string>> logarithmic(const Range& range) {
  if (range.by < 2 || range.by > kMostValues || range.by != std::floor(range.by)) return fail("log takes how many values, from 2");
  if (range.first <= 0 || range.last <= 0) return fail("log takes ends above 0");
  const double ratio = range.last / range.first;
  if (!std::isnormal(ratio)) return fail("the ends of log are too far apart");
  std::vector<std::string> values;
  for (double i = 0; i < range.by; ++i) {
    const double value = range.first * std::pow(ratio, i / (range.by - 1));
    std::string text = digits(range.whole ? std::round(value) : value);
    if (values.empty() || values.back() != text) values.push_back(std::move(text));
  }
  return values;
}

}  // namespace

Expected<std::vector<std::string>> axis_values(const std::string& written) {
  const size_t dots = written.find("..");
  if (dots == std::string::npos) return std::vector{written};
  std::istringstream words(written.substr(dots + 2));
  std::string last;
  words >> last;
  const auto from = number(std::string_view(written).substr(0, dots));
  const auto to = number(last);
  if (!from || !to) return std::vector{written};  // a path, ../a.wft
  Range range{.first = *from, .last = *to, .whole = *from == std::round(*from) && *to == std::round(*to)};
  std::string by;
  if (words >> range.word) {
    words >> by;
    const auto how = number(by);
    std::string more;
    if (!how || words >> more)
      return fail("a range is \"FIRST..LAST step NUMBER\", with step, times or log, not " + escape::quoted(written));
    range.by = *how;
  }
  if (range.word == "step") return stepped(range);
  if (range.word == "times") return multiplied(range);
  if (range.word == "log") return logarithmic(range);
  return fail("a range goes by step, times or log, not " + escape::quoted(range.word) +
              suggestion(range.word, {"step", "times", "log"}));
}

namespace {

// Expands ranges among the values. `written` gets the index of the written value that each value comes from.
std::optional<Finding> expand(const std::string& path, google::protobuf::RepeatedPtrField<std::string>& values,
                              std::vector<uint32_t>& written) {
  google::protobuf::RepeatedPtrField<std::string> expanded;
  for (int v = 0; v < values.size(); ++v) {
    const auto each = axis_values(values[v]);
    if (!each) return Finding{path + ".value[" + std::to_string(v) + "]", each.error().message};
    if (expanded.size() + each->size() > kMostValues)
      return Finding{path + ".value[" + std::to_string(v) + "]", "more than " + std::to_string(kMostValues) + " values"};
    for (const std::string& value : *each) {
      *expanded.Add() = value;
      written.push_back(static_cast<uint32_t>(v));
    }
  }
  values.Swap(&expanded);
  return std::nullopt;
}

}  // namespace

std::optional<Finding> expand_axes(Study& study) {
  for (int a = 0; a < study.axis_size(); ++a) {
    Axis& axis = *study.mutable_axis(a);
    const std::string path = "axis[" + std::to_string(a) + "]";
    std::vector<uint32_t> written;
    if (auto fault = expand(path, *axis.mutable_value(), written)) return fault;
    axis.clear_written();
    axis.mutable_written()->Add(written.begin(), written.end());
    for (int w = 0; w < axis.along_size(); ++w) {
      Along& along = *axis.mutable_along(w);
      const std::string inner = path + ".along[" + std::to_string(w) + "]";
      std::vector<uint32_t> unused;
      if (auto fault = expand(inner, *along.mutable_value(), unused)) return fault;
      if (along.value_size() == axis.value_size()) continue;
      return Finding{inner, "axis " + escape::quoted(axis.name()) + " has " + std::to_string(axis.value_size()) +
                                " values, and along with it " + escape::quoted(along.name()) + " has " +
                                std::to_string(along.value_size())};
    }
  }
  return std::nullopt;
}

Expected<Axis> axis_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return fail("--axis takes NAME=VALUE,VALUE,..., such as 'gpu.sm_count=100..160 step 10', not " + escape::quoted(text));
  Axis axis;
  axis.set_name(text.substr(0, equals));
  std::istringstream values(text.substr(equals + 1));
  for (std::string value; std::getline(values, value, ',');) axis.add_value(value);
  return axis;
}

}  // namespace warpfold::configs
