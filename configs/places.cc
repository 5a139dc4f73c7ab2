#include "configs/places.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;
using Locations = pb::TextFormat::ParseInfoTree;

// One step of a path: "kernel[0]" is {kernel, 0}, "name" is {name, -1}.
struct Step {
  std::string field;
  int index = -1;
};

std::vector<Step> split(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    Step step{std::string(part.substr(0, part.find('['))), -1};
    if (step.field.size() < part.size()) {
      const std::string_view digits = part.substr(step.field.size() + 1);
      std::from_chars(digits.data(), digits.data() + digits.size(), step.index);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

// How far a file follows a path.
struct Trail {
  size_t depth = 0;  // steps that the file gives
  pb::TextFormat::ParseLocation location;
  size_t replaced = 0;  // steps up to the innermost repeated field that the file gives: it replaces what files before it gave
};

Trail follow(const std::vector<Step>& steps, const pb::Descriptor* type, const Locations* locations) {
  Trail trail;
  for (size_t s = 0; s < steps.size(); ++s) {
    const Step& step = steps[s];
    const pb::FieldDescriptor* field = type == nullptr || locations == nullptr ? nullptr : type->FindFieldByName(step.field);
    if (field == nullptr) break;
    if (field->is_repeated() && locations->GetLocation(field, 0).line >= 0) trail.replaced = s + 1;
    const int index = field->is_repeated() ? std::max(step.index, 0) : -1;
    const auto location = locations->GetLocation(field, index);
    if (location.line < 0) break;
    trail.location = location;
    ++trail.depth;
    type = field->message_type();
    locations = type == nullptr ? nullptr : locations->GetTreeForNested(field, index);
  }
  return trail;
}

}  // namespace

void Places::add_file(const std::string& file, const std::string& prefix, const pb::Descriptor& type,
                      std::unique_ptr<Locations> locations) {
  files_.push_back({file, prefix, &type, std::move(locations)});
}

void Places::put_below(Places lower) {
  files_.insert(files_.begin(), std::make_move_iterator(lower.files_.begin()), std::make_move_iterator(lower.files_.end()));
}

void Places::add_value(const std::string& path, Diagnostic place) { values_[path] = std::move(place); }

Diagnostic Places::find(const std::string& path) const {
  // A list that was set as a whole ("kernel[0].after") stands for its elements ("kernel[0].after[1]").
  for (const std::string& key : {path, path.substr(0, path.rfind('['))}) {
    const auto value = values_.find(key);
    if (value != values_.end()) return value->second;
  }
  Diagnostic place{files_.empty() ? std::string() : files_.back().name, 0, 0, {}};
  size_t deepest = 0;
  size_t replaced = 0;
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    if (!path.starts_with(file->prefix)) continue;
    const std::vector<Step> outer = split(file->prefix);
    if (outer.size() < replaced) continue;
    const Trail trail = follow(split(std::string_view(path).substr(file->prefix.size())), file->type, file->locations.get());
    const size_t depth = trail.depth == 0 ? 0 : outer.size() + trail.depth;
    if (depth > deepest) {
      deepest = depth;
      place = {file->name, trail.location.line + 1, trail.location.column + 1, {}};
    }
    if (trail.replaced != 0) replaced = std::max(replaced, outer.size() + trail.replaced);
  }
  return place;
}

Diagnostic Places::located(Diagnostic diagnostic) const {
  if (diagnostic.path.empty()) return diagnostic;
  Diagnostic place = find(diagnostic.path);
  if (place.file.empty()) return diagnostic;
  place.message = std::move(diagnostic.message);
  return place;
}

std::unexpected<Diagnostic> Places::fail(const Finding& finding) const {
  Diagnostic diagnostic = find(finding.path);
  diagnostic.message = finding.message;
  if (diagnostic.file.empty()) diagnostic.path = finding.path;
  return std::unexpected(std::move(diagnostic));
}

}  // namespace warpfold::configs
