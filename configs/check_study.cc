#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/expression.h"
#include "configs/near_miss.h"
#include "configs/study_words.h"

namespace warpfold::configs {

namespace {

std::string indexed(const std::string& field, int index) { return field + "[" + std::to_string(index) + "]"; }

// Points of a grid are listed before conditions, samples and bisections choose among them. assumed: ten times the size at which the
// store of points was measured (decision 35).
constexpr uint64_t kMostPoints = 1'000'000;

const std::string& label_of(const Axis& axis) { return axis.has_label() ? axis.label() : axis.name(); }

// Numbers are the same if they are equal, however they are written; of two points the second would simulate the first one again.
std::optional<Finding> check_values(const Axis& axis, const std::string& path) {
  std::map<Word, std::string> seen;
  for (int v = 0; v < axis.value_size(); ++v) {
    const auto [first, is_new] = seen.emplace(word_of(axis.value(v)), axis.value(v));
    if (is_new) continue;
    const int written = v < axis.written_size() ? static_cast<int>(axis.written(v)) : v;
    const std::string again = first->second == axis.value(v) ? "" : ", once as " + escape::unquoted(first->second);
    return Finding{indexed(path + ".value", written),
                   "axis " + escape::quoted(axis.name()) + " has " + escape::unquoted(axis.value(v)) + " twice" + again};
  }
  return std::nullopt;
}

std::optional<Finding> check_axes(const Study& study) {
  if (study.axis().empty()) return Finding{"axis", "no axis: a study varies something"};
  uint64_t points = 1;
  for (int i = 0; i < study.axis_size(); ++i) {
    const Axis& axis = study.axis(i);
    const std::string path = indexed("axis", i);
    if (axis.name().empty()) return Finding{path, "an axis has no name"};
    if (axis.value().empty()) return Finding{path, "axis " + escape::quoted(axis.name()) + " has no value"};
    points *= static_cast<uint64_t>(axis.value_size());  // at most 2^31 a factor, and 10^6 before it
    if (points > kMostPoints) return Finding{path, "the grid has more than " + std::to_string(kMostPoints) + " points"};
    for (int other = 0; other < i; ++other) {
      if (study.axis(other).name() == axis.name())
        return Finding{path + ".name", "a second axis called " + escape::quoted(axis.name())};
    }
    for (int other = 0; other < i; ++other) {
      if (label_of(study.axis(other)) == label_of(axis))
        return Finding{path + (axis.has_label() ? ".label" : ".name"), "a second axis labelled " + escape::quoted(label_of(axis))};
    }
    if (auto fault = check_values(axis, path)) return fault;
  }
  return std::nullopt;
}

std::optional<Finding> check_layer(const Study& study) {
  if (!study.scenario_file().empty()) return Finding{"scenario_file", "a study is of a layer or of a scenario, not of both"};
  if (!study.policy().empty()) return Finding{"policy", "policies are of scenarios, not of layers"};
  if (study.layer().model().empty()) return Finding{"layer", "layer: model is missing"};
  return std::nullopt;
}

std::optional<Finding> check_along(const Study& study) {
  std::set<std::string> names;
  for (const Axis& axis : study.axis()) names.insert(axis.name());
  for (int a = 0; a < study.axis_size(); ++a) {
    for (int w = 0; w < study.axis(a).along_size(); ++w) {
      const Along& along = study.axis(a).along(w);
      const std::string path = indexed(indexed("axis", a) + ".along", w);
      if (along.name().empty())
        return Finding{path, "what varies along with axis " + escape::quoted(study.axis(a).name()) + " has no name"};
      if (!names.insert(along.name()).second) return Finding{path + ".name", escape::quoted(along.name()) + " varies twice"};
    }
  }
  return std::nullopt;
}

// The words of a condition or of a measure at one point: an axis has the value at its place in `places`, a measure a number.
Words words_at(const Study& study, const std::vector<std::string>& known, const std::vector<int>& places) {
  const auto find = [&study, &known, &places](std::string_view name) -> std::optional<Word> {
    if (std::ranges::find(known, name) == known.end()) return std::nullopt;
    for (int a = 0; a < study.axis_size(); ++a) {
      const Axis& axis = study.axis(a);
      const int place = places[static_cast<size_t>(a)];
      if (axis.name() == name) return word_of(axis.value(place));
      for (const Along& along : axis.along()) {
        if (along.name() == name) return word_of(along.value(place));
      }
    }
    return 1.0;
  };
  return {.find = find, .known = known};
}

// Returns an index of the axis for each combination of types, number or text, of its value and the values along it. The
// validity of a condition depends on these types only.
std::vector<int> places_of_types(const Axis& axis) {
  std::set<std::vector<size_t>> seen;
  std::vector<int> places;
  for (int v = 0; v < axis.value_size(); ++v) {
    std::vector<size_t> types{word_of(axis.value(v)).index()};
    for (const Along& along : axis.along()) types.push_back(word_of(along.value(v)).index());
    if (seen.insert(std::move(types)).second) places.push_back(v);
  }
  return places;
}

std::string text_of(const Study& study, const std::vector<int>& places) {
  std::string text;
  for (int a = 0; a < study.axis_size(); ++a)
    text += (a == 0 ? "" : ", ") + study.axis(a).name() + "=" + study.axis(a).value(places[static_cast<size_t>(a)]);
  return text;
}

template <typename Value>
std::optional<std::string> fault_of(const Expected<Value>& value) {
  return value ? std::nullopt : std::optional(value.error().message);
}

enum class TextKind { kCondition, kNumber };

// A condition that is one at every point of the study, or a number.
std::optional<Finding> check_text(const Study& study, TextKind kind, const std::string& text, const std::vector<std::string>& known,
                                  const std::string& path) {
  std::vector<std::vector<int>> points{{}};
  for (const Axis& axis : study.axis()) {
    const bool named = text.contains(axis.name()) ||
                       std::ranges::any_of(axis.along(), [&](const Along& along) { return text.contains(along.name()); });
    std::vector<std::vector<int>> more;
    for (const std::vector<int>& point : points) {
      for (const int place : named ? places_of_types(axis) : std::vector<int>{0}) {
        more.push_back(point);
        more.back().push_back(place);
      }
    }
    points = std::move(more);
  }
  for (const std::vector<int>& point : points) {
    const Words words = words_at(study, known, point);
    const auto fault = kind == TextKind::kCondition ? fault_of(holds(text, words)) : fault_of(number_of(text, words));
    if (!fault) continue;
    return Finding{path, *fault + (&point == &points.front() ? "" : " at " + text_of(study, point))};
  }
  return std::nullopt;
}

// The tables of figures, fronts and searches lie in one folder under their names.
std::optional<Finding> check_file_name(const std::string& name, const std::string& what, const std::string& path,
                                       std::set<std::string>& taken) {
  if (taken.insert(name).second) return std::nullopt;
  return Finding{path + ".name", "a " + what + " called " + escape::quoted(name) + ", as another file of the study is"};
}

std::optional<Finding> check_questions(const Study& study) {
  for (int w = 0; w < study.where_size(); ++w) {
    if (auto fault = check_text(study, TextKind::kCondition, study.where(w), words_of_axes(study), indexed("where", w)))
      return fault;
  }
  std::set<std::string> files;
  for (const Figure& figure : study.figure()) files.insert(figure.name());
  for (int f = 0; f < study.front_size(); ++f) {
    const Front& front = study.front(f);
    const std::string path = indexed("front", f);
    if (front.name().empty()) return Finding{path, "a front has no name"};
    if (auto fault = check_file_name(front.name(), "front", path, files)) return fault;
    if (front.minimize_size() + front.maximize_size() < 2) return Finding{path, "a front has two measures or more"};
    std::vector<std::string> known = words_of_axes(study);
    for (const std::string& measure : measures()) known.push_back(measure);
    for (const auto* list : {&front.minimize(), &front.maximize()}) {
      for (int m = 0; m < list->size(); ++m) {
        const std::string at = indexed(path + (list == &front.minimize() ? ".minimize" : ".maximize"), m);
        if (auto fault = check_text(study, TextKind::kNumber, list->at(m), known, at)) return fault;
      }
    }
  }
  for (int l = 0; l < study.least_size(); ++l) {
    const Least& least = study.least(l);
    const std::string path = indexed("least", l);
    if (least.name().empty()) return Finding{path, "a search has no name"};
    if (auto fault = check_file_name(least.name(), "search", path, files)) return fault;
    std::vector<std::string> axes;
    for (const Axis& axis : study.axis()) axes.push_back(axis.name());
    if (std::ranges::find(axes, least.axis()) == axes.end())
      return Finding{path + ".axis", "no axis called " + escape::quoted(least.axis()) + suggestion(least.axis(), axes)};
    if (auto fault = check_text(study, TextKind::kCondition, least.such_that(), words_of_runs(study), path + ".such_that"))
      return fault;
  }
  if (study.has_sample()) {
    if (!study.figure().empty() || !study.least().empty())
      return Finding{"sample", "a sample is for studies without figures and searches: those say which points they want"};
    if (study.sample().has_random() && study.sample().where_the_fastest_policy_changes())
      return Finding{"sample", "a sample is random, or where the fastest policy changes: one of the two"};
    if (study.sample().where_the_fastest_policy_changes() && study.policy_size() < 2)
      return Finding{"sample", "one policy alone is the fastest everywhere"};
  }
  return std::nullopt;
}

std::optional<Finding> check_policies(const Study& study) {
  for (int i = 0; i < study.policy_size(); ++i) {
    if (std::find(study.policy().begin(), study.policy().begin() + i, study.policy(i)) == study.policy().begin() + i) continue;
    return Finding{indexed("policy", i), PolicyKind_Name(study.policy(i)) + " is given twice"};
  }
  return std::nullopt;
}

class FigureCheck {
 public:
  FigureCheck(const Study& study, int index) : study_(study), figure_(study.figure(index)), path_(indexed("figure", index)) {}

  std::optional<Finding> run() {
    if (figure_.name().empty()) return Finding{path_, "a figure has no name"};
    // The name becomes part of file names.
    if (figure_.name().find_first_of("/\\ ") != std::string::npos) {
      return Finding{path_ + ".name", "a figure's name is a file's: no / and no space, not " + escape::quoted(figure_.name())};
    }
    if (auto fault = check_axes_of_kind()) return fault;
    for (int f = 0; f < figure_.fixed_size(); ++f) {
      if (auto fault = check_fixed(f)) return fault;
    }
    for (const Axis& axis : study_.axis()) {
      if (std::ranges::find(used_, axis.name()) != used_.end()) continue;
      return Finding{path_, "figure " + escape::quoted(figure_.name()) + " says nothing of axis " + escape::quoted(axis.name()) +
                                ": give it a fixed value"};
    }
    if (figure_.quantity().empty()) return Finding{path_, "figure " + escape::quoted(figure_.name()) + " shows no quantity"};
    std::set<std::string> labels;
    for (int q = 0; q < figure_.quantity_size(); ++q) {
      const std::string& label = figure_.quantity(q).label();
      if (!label.empty() && !labels.insert(label).second)
        return Finding{indexed(path_ + ".quantity", q) + ".label", "a second quantity labelled " + escape::quoted(label)};
      if (auto fault = check_quantity(figure_.quantity(q), indexed(path_ + ".quantity", q))) return fault;
    }
    return std::nullopt;
  }

 private:
  // The axes that the figure runs over.
  std::optional<Finding> check_axes_of_kind() {
    if (figure_.kind() == ROOFLINE) {
      if (!study_.has_layer()) return Finding{path_ + ".kind", "a ROOFLINE shows the kernels of a layer"};
      if (figure_.has_x()) return Finding{path_ + ".x", "a ROOFLINE has no x; it shows kernels at one point, or over a series"};
      if (figure_.has_y()) return Finding{path_ + ".y", "a ROOFLINE has no y"};
      if (figure_.quantity_size() > 1) return Finding{path_, "a ROOFLINE shows one quantity's kernels"};
      return figure_.has_series() ? run_over("series", figure_.series()) : std::nullopt;
    }
    if (auto fault = run_over("x", figure_.x())) return fault;
    if (figure_.kind() == MAP) {
      if (auto fault = run_over("y", figure_.y())) return fault;
      if (figure_.has_series()) return Finding{path_ + ".series", "a MAP has no series"};
    } else {
      if (figure_.has_y()) return Finding{path_ + ".y", "LINES have no y; they show their quantities"};
      if (figure_.has_series()) {
        if (auto fault = run_over("series", figure_.series())) return fault;
        if (figure_.quantity_size() != 1) return Finding{path_ + ".series", "LINES with a series show one quantity"};
      }
    }
    return std::nullopt;
  }

  const Axis* axis(const std::string& name) const {
    const auto found = std::ranges::find(study_.axis(), name, [](const Axis& each) { return each.name(); });
    return found == study_.axis().end() ? nullptr : &*found;
  }

  std::optional<Finding> use(const std::string& name, const std::string& path) {
    if (axis(name) == nullptr) {
      std::vector<std::string> known;
      for (const Axis& each : study_.axis()) known.push_back(each.name());
      return Finding{path, "no axis called " + escape::quoted(name) + suggestion(name, known)};
    }
    if (std::ranges::find(used_, name) != used_.end()) return Finding{path, "axis " + escape::quoted(name) + " is used twice"};
    used_.push_back(name);
    return std::nullopt;
  }

  std::optional<Finding> run_over(const std::string& field, const std::string& name) {
    if (name.empty()) return Finding{path_, "figure " + escape::quoted(figure_.name()) + ": " + field + " is missing"};
    return use(name, path_ + "." + field);
  }

  std::optional<Finding> check_fixed(int index) {
    const FixedAxis& fixed = figure_.fixed(index);
    const std::string path = indexed(path_ + ".fixed", index);
    if (auto fault = use(fixed.axis(), path + ".axis")) return fault;
    const Axis& which = *axis(fixed.axis());
    if (std::ranges::find(which.value(), fixed.value()) != which.value().end()) return std::nullopt;
    const std::vector<std::string> known(which.value().begin(), which.value().end());
    return Finding{path + ".value", "axis " + escape::quoted(which.name()) + " has no value " + escape::quoted(fixed.value()) +
                                        suggestion(fixed.value(), known)};
  }

  std::optional<Finding> check_layer_quantity(const LayerQuantity& quantity, const std::string& path) const {
    const std::string& version = quantity.version();
    if (!version.empty() && version != "unfused" && version != "stacked" && version != "fused")
      return Finding{path + ".version", "a version is one of unfused, stacked, fused, not " + escape::quoted(version)};
    if (!version.empty() && version != "unfused" && !study_.layer().fused())
      return Finding{path + ".version", "version " + escape::quoted(version) + " needs fused: true of the layer"};
    if (auto fault = check_kinds(quantity.of(), path + ".of")) return fault;
    return check_kinds(quantity.over(), path + ".over");
  }

  static std::optional<Finding> check_kinds(const LayerPart& part, const std::string& path) {
    static const std::vector<std::string> kKinds{"contraction", "normalisation", "elementwise",
                                                 "attention",   "communication", "optimiser"};
    for (int k = 0; k < part.kind_size(); ++k) {
      if (std::ranges::find(kKinds, part.kind(k)) != kKinds.end()) continue;
      return Finding{indexed(path + ".kind", k),
                     "no class of operators called " + escape::quoted(part.kind(k)) + suggestion(part.kind(k), kKinds)};
    }
    return std::nullopt;
  }

  std::optional<Finding> check_quantity(const Quantity& quantity, const std::string& path) const {
    if (study_.has_layer()) {
      if (quantity.has_layer()) return check_layer_quantity(quantity.layer(), path + ".layer");
      return Finding{path, "a quantity of a layer is layer { measure: ... }"};
    }
    switch (quantity.what_case()) {
      case Quantity::kSpeedup:
        if (auto fault = simulated(quantity.speedup().of(), path + ".speedup.of")) return fault;
        return simulated(quantity.speedup().over(), path + ".speedup.over");
      case Quantity::kTotalTime:
        return simulated(quantity.total_time(), path + ".total_time");
      case Quantity::kKernelTime:
        return simulated(quantity.kernel_time().policy(), path + ".kernel_time.policy");
      case Quantity::kKernelAlone:
        return simulated(quantity.kernel_alone().policy(), path + ".kernel_alone.policy");
      case Quantity::kKernelSlowdown:
        return simulated(quantity.kernel_slowdown().policy(), path + ".kernel_slowdown.policy");
      case Quantity::kStoredBitsMb:
        return simulated(quantity.stored_bits_mb(), path + ".stored_bits_mb");
      case Quantity::kEnergyJ:
        return simulated(quantity.energy_j(), path + ".energy_j");
      case Quantity::kRegion:
        return std::nullopt;
      case Quantity::kLayer:
        return Finding{path + ".layer", "the study is of a scenario, not of a layer"};
      case Quantity::WHAT_NOT_SET:
        break;
    }
    return Finding{
        path,
        "a quantity is one of speedup, total_time, kernel_time, kernel_alone, kernel_slowdown, stored_bits_mb, energy_j, region"};
  }

  std::optional<Finding> simulated(int policy, const std::string& path) const {
    if (std::ranges::find(study_.policy(), policy) != study_.policy().end()) return std::nullopt;
    return Finding{path, "the study does not simulate policy " + PolicyKind_Name(static_cast<PolicyKind>(policy))};
  }

  const Study& study_;
  const Figure& figure_;
  std::string path_;
  std::vector<std::string> used_;
};

}  // namespace

std::optional<Finding> find_study_fault(const Study& study) {
  if (study.has_layer()) {
    if (auto fault = check_layer(study)) return fault;
  } else if (study.scenario_file().empty()) {
    return Finding{"", "scenario_file is missing"};
  }
  if (auto fault = check_axes(study)) return fault;
  if (auto fault = check_along(study)) return fault;
  if (!study.has_layer()) {
    if (auto fault = check_policies(study)) return fault;
    if (auto fault = check_questions(study)) return fault;
  }
  for (int i = 0; i < study.figure_size(); ++i) {
    for (int other = 0; other < i; ++other) {
      if (study.figure(other).name() == study.figure(i).name()) {
        return Finding{indexed("figure", i) + ".name", "a second figure called " + escape::quoted(study.figure(i).name())};
      }
    }
    if (auto fault = FigureCheck(study, i).run()) return fault;
  }
  return std::nullopt;
}

}  // namespace warpfold::configs
