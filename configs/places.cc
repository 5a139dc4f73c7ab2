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

// Whether `inner` names something within what `outer` names.
bool is_within(std::string_view inner, std::string_view outer) {
  return inner.size() > outer.size() && inner.starts_with(outer) && (inner[outer.size()] == '.' || inner[outer.size()] == '[');
}

// Whether a message has a value at a path, or a list that holds it.
bool gives(const pb::Message& message, const std::vector<Step>& steps) {
  const pb::Message* group = &message;
  for (const Step& step : steps) {
    const pb::FieldDescriptor* field = group->GetDescriptor()->FindFieldByName(step.field);
    if (field == nullptr) return false;
    if (field->is_repeated()) return group->GetReflection()->FieldSize(*group, field) > 0;
    if (!group->GetReflection()->HasField(*group, field)) return false;
    if (field->message_type() == nullptr) return true;
    group = &group->GetReflection()->GetMessage(*group, field);
  }
  return true;
}

// Which element of `list` a path names or leads through; -1: none.
int index_in(const std::string& path, const std::string& list) {
  if (!path.starts_with(list) || path.size() <= list.size() || path[list.size()] != '[') return -1;
  return std::stoi(path.substr(list.size() + 1));
}

std::string with_index(const std::string& path, const std::string& list, int index) {
  return list + "[" + std::to_string(index) + path.substr(path.find(']', list.size()));
}

}  // namespace

void Places::add_file(const std::string& file, const std::string& prefix, const pb::Descriptor& type,
                      std::unique_ptr<Locations> locations) {
  files_.push_back({file, prefix, &type, std::move(locations)});
}

void Places::put_below(Places lower) {
  for (Removed& each : removed_) each.files += lower.files_.size();
  files_.insert(files_.begin(), std::make_move_iterator(lower.files_.begin()), std::make_move_iterator(lower.files_.end()));
}

void Places::add_value(const std::string& path, Diagnostic place) {
  // Values set within it are replaced.
  std::erase_if(values_, [&](const auto& value) { return is_within(value.first, path); });
  values_[path] = std::move(place);
}

void Places::supersede(const std::string& prefix, const pb::Message& message) {
  std::erase_if(values_, [&](const auto& value) {
    return value.first.starts_with(prefix) && gives(message, split(std::string_view(value.first).substr(prefix.size())));
  });
}

void Places::remove_element(const std::string& path) {
  const size_t open = path.rfind('[');
  const std::string list = path.substr(0, open);
  const int gone = std::stoi(path.substr(open + 1));
  std::map<std::string, Diagnostic> moved;
  for (auto& [at, place] : values_) {
    const int index = index_in(at, list);
    if (index == gone) continue;
    moved[index > gone ? with_index(at, list, index - 1) : at] = std::move(place);
  }
  values_ = std::move(moved);
  removed_.push_back({list, gone, files_.size()});
}

Diagnostic Places::find(const std::string& path) const {
  // A path that was never set is reported at the last file as a whole.
  Diagnostic place;
  if (!files_.empty()) place = {files_.back().name, 1, 1, {}};
  size_t deepest = 0;
  // The place of a list that was set as a whole ("kernel[0].after") is the place of its elements
  // ("kernel[0].after[1]"). The place of an added group is the place of its fields.
  for (const auto& [at, value] : values_) {
    if (at != path && !is_within(path, at)) continue;
    const size_t depth = split(at).size();
    if (at == path || path.substr(at.size()).front() == '[') return value;
    if (depth < deepest) continue;
    deepest = depth;
    place = value;
  }
  size_t replaced = 0;
  std::string as_written = path;  // in the file that is looked at
  auto removed = removed_.rbegin();
  for (size_t f = files_.size(); f-- > 0;) {
    for (; removed != removed_.rend() && removed->files > f; ++removed) {
      const int index = index_in(as_written, removed->list);
      if (index >= removed->index) as_written = with_index(as_written, removed->list, index + 1);
    }
    const File& file = files_[f];
    if (!as_written.starts_with(file.prefix)) continue;
    const std::vector<Step> outer = split(file.prefix);
    if (outer.size() < replaced) continue;
    const Trail trail = follow(split(std::string_view(as_written).substr(file.prefix.size())), file.type, file.locations.get());
    const size_t depth = trail.depth == 0 ? 0 : outer.size() + trail.depth;
    if (depth > deepest) {
      deepest = depth;
      place = {file.name, trail.location.line + 1, trail.location.column + 1, {}};
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
