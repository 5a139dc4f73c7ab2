#include "tools/profile/axis_sizes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/profile/extents.h"

namespace warpfold::profile {
namespace {

constexpr uint64_t kWarp = 32, kSector = 32;
constexpr uint64_t kMostElements = uint64_t{1} << 31;  // an index of more bits has a kernel of its own

std::string text(uint64_t value) { return std::to_string(value); }
std::string grid_text(const LaunchShape& shape) {
  return text(shape.grid[0]) + " x " + text(shape.grid[1]) + " x " + text(shape.grid[2]);
}
std::string group(const NamedKernel& named, const std::string& name) {
  const auto found = named.groups.find(name);
  return found == named.groups.end() ? std::string() : found->second;
}

// An axis counts from the end if it is negative.
std::optional<size_t> axis_of(int64_t number, size_t extents) {
  const int64_t axis = number < 0 ? number + static_cast<int64_t>(extents) : number;
  if (axis < 0 || axis >= static_cast<int64_t>(extents)) return std::nullopt;
  return static_cast<size_t>(axis);
}

// The sectors that the warps of a pass touch, from a sample of 64 warps. A lane has one element of each `step`.
class SectorCount {
 public:
  SectorCount(uint64_t bytes, uint64_t step) : bytes_(bytes), step_(step) {}

  // Adds the pass over all elements of a tensor, whose first element has this offset in elements.
  void add(const Extents& extents, const Extents& strides, uint64_t begin) {
    constexpr uint64_t kSample = 64;
    const uint64_t elements = elements_of(extents), of_warp = kWarp * step_, warps = rounded_up(elements, of_warp);
    const uint64_t drawn = std::min(warps, kSample);
    uint64_t sectors = 0;
    for (uint64_t w = 0; w < drawn; ++w) {
      std::set<uint64_t> touched;
      for (uint64_t lane = 0; lane < kWarp; ++lane) {
        const uint64_t element = warps * w / drawn * of_warp + lane * step_;
        if (element < elements) touched.insert((begin + offset_of(extents, strides, element)) * bytes_ / kSector);
      }
      sectors += touched.size();
    }
    const auto share = static_cast<double>(warps) / static_cast<double>(drawn);
    sectors_ += static_cast<double>(sectors) * share;
    warps_ += static_cast<double>(warps);
  }
  // Of a warp's access, in the mean.
  uint64_t mean() const { return warps_ == 0 ? 1 : std::max<uint64_t>(1, static_cast<uint64_t>(std::lround(sectors_ / warps_))); }

 private:
  static uint64_t offset_of(const Extents& extents, const Extents& strides, uint64_t element) {
    uint64_t offset = 0;
    for (size_t i = extents.size(); i-- > 0;) {
      offset += element % extents[i] * strides[i];
      element /= extents[i];
    }
    return offset;
  }

  uint64_t bytes_, step_;
  double sectors_ = 0, warps_ = 0;
};

// Fields of a launch description, as settings.
class Fields {
 public:
  void add(const std::string& field, uint64_t value) { text_ += " description." + field + "=" + text(value); }
  void parameter(const std::string& name, uint64_t value) { add("parameter." + name + ".value", value); }
  void array(const std::string& name, uint64_t bytes) { add("array." + name + ".bytes", bytes); }
  std::string take() { return text_.empty() ? text_ : text_.substr(1); }

 private:
  std::string text_;
};

// The inputs of a concatenation that have elements.
struct Joined {
  std::vector<Extents> extents, strides;
  size_t axis = 0;
  Extents out;
};

// The axis that the operator's last number says; otherwise the one along which the inputs' extents differ.
std::optional<size_t> axis_of_concatenation(const Operator& op, const std::vector<Extents>& inputs) {
  const size_t extents = inputs.front().size();
  for (size_t i = op.values.size(); i-- > 0;) {
    const auto numbers = numbers_of(op.values[i]);
    if (numbers && numbers->size() == 1) return axis_of(numbers->front(), extents);
  }
  for (size_t axis = 0; axis < extents; ++axis) {
    if (std::ranges::any_of(inputs, [&](const Extents& each) { return each[axis] != inputs.front()[axis]; })) return axis;
  }
  return std::nullopt;
}

std::string find_joined(const Operator& op, size_t extents, Joined& joined) {
  for (size_t i = 0; i < op.list.size(); ++i) {
    if (elements_of(op.list[i]) == 0) continue;
    joined.extents.push_back(op.list[i]);
    const bool recorded = i < op.list_strides.size() && op.list_strides[i].size() == op.list[i].size();
    joined.strides.push_back(recorded ? op.list_strides[i] : dense_strides(op.list[i]));
  }
  if (joined.extents.empty()) return "lists of tensors are not recorded";
  if (std::ranges::any_of(joined.extents, [&](const Extents& each) { return each.size() != extents; }))
    return "its tensors have not the number of extents in its name";
  const auto axis = axis_of_concatenation(op, joined.extents);
  if (!axis) return "the axis along which it joins tensors is not recorded";
  joined.axis = *axis;
  joined.out = joined.extents.front();
  joined.out[*axis] = 0;
  for (const Extents& each : joined.extents) {
    for (size_t i = 0; i < extents; ++i) {
      if (i != *axis && each[i] != joined.out[i]) return "the extents of its tensors differ along more than one axis";
    }
    joined.out[*axis] += each[*axis];
  }
  if (elements_of(joined.out) >= kMostElements) return "a concatenation of 2^31 elements has no listing";
  return {};
}

}  // namespace

void find_concatenation(const NamedKernel& named, const LaunchShape& shape, uint64_t bytes, Sizes& sizes) {
  constexpr size_t kMostInputs = 8, kMostExtents = 4;  // of torch_lists.cu
  const auto numbers = numbers_of(group(named, "extents"));
  const size_t extents = numbers && numbers->size() == 1 ? static_cast<size_t>(numbers->front()) : 0;
  Joined joined;
  sizes.missing = find_joined(shape.op, extents, joined);
  if (!sizes.missing.empty()) return;
  if (bytes != 2 && bytes != 4) {
    sizes.missing = "a concatenation of elements of " + text(bytes) + " bytes has no listing";
    return;
  }
  if (extents == 0 || extents > kMostExtents || joined.extents.size() > kMostInputs) {
    sizes.missing = "a concatenation of more than eight tensors, or of more than four extents, has no listing";
    return;
  }
  if (shape.grid[1] != joined.extents.size()) {
    sizes.missing = "grid " + grid_text(shape) + " is not that of the operator's " + text(joined.extents.size()) + " tensors";
    return;
  }
  const bool vectors = !group(named, "vectors").empty(), dense = vectors || group(named, "inputs_with_strides") == "1";
  const uint64_t each = vectors ? 16 / bytes : 1;
  const uint64_t variant = (vectors ? 2 : dense ? 1 : 0) * kMostExtents + extents;
  const Extents out_strides = dense_strides(joined.out);
  SectorCount loads(bytes, each), stores(bytes, each);
  Fields fields;
  fields.add("grid.x", shape.grid[0]);
  fields.add("grid.y", shape.grid[1]);
  fields.add("block.x", shape.threads());
  fields.parameter("variant", variant);
  fields.array("out", elements_of(joined.out) * bytes);
  uint64_t begin = 0;
  for (size_t i = 0; i < joined.extents.size(); ++i) {
    const Extents& input = joined.extents[i];
    loads.add(input, joined.strides[i], 0);
    stores.add(input, out_strides, begin * out_strides[joined.axis]);
    begin += input[joined.axis];
    fields.parameter("elements_" + text(i), elements_of(input));
    fields.array("in_" + text(i), elements_of(input) * bytes);
  }
  const std::string choice = "choice." + text(variant - 1) + ".answer.";
  if (!dense) fields.add(choice + "0.sectors", loads.mean());
  const uint64_t first = dense ? 0 : 1, count = vectors ? each + 1 : 1;  // a vector's elements, and those of a tail
  for (uint64_t i = 0; i < count; ++i) fields.add(choice + text(first + i) + ".sectors", stores.mean());
  if (!dense && shape.op.list_strides.empty()) sizes.notes.emplace_back("strides are not recorded: its tensors are dense");
  sizes.values["tensors"] = text(joined.extents.size());
  sizes.values["elements"] = text(elements_of(joined.out));
  sizes.values["element_bytes"] = text(bytes);
  sizes.values["fields"] = fields.take();
}

namespace {

// Whether the operator reduces each of its tensor's extents; none if the trace does not say.
std::optional<std::vector<bool>> reduced_extents(const Operator& op, size_t extents) {
  if (op.values.empty()) return std::nullopt;
  std::optional<std::vector<int64_t>> axes;
  for (const std::string& value : op.values) {
    if (value.starts_with('[')) axes = numbers_of(value);
  }
  const bool one = !axes && op.values.size() > 1 && op.types.size() > 1 && op.types[1] == "Scalar";
  if (one) axes = numbers_of(op.values[1]);
  if (!axes || axes->empty()) {
    if (one) return std::nullopt;
    return std::vector<bool>(extents, true);
  }
  std::vector<bool> reduced(extents, false);
  for (const int64_t number : *axes) {
    const auto axis = axis_of(number, extents);
    if (!axis) return std::nullopt;
    reduced[*axis] = true;
  }
  return reduced;
}

}  // namespace

void find_reduction(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes) {
  const auto tensor = std::ranges::find_if(shape.op.inputs, [](const Extents& each) { return !each.empty(); });
  const auto reduced = tensor == shape.op.inputs.end() ? std::nullopt : reduced_extents(shape.op, tensor->size());
  if (!reduced) {
    sizes.missing = "which extents it reduces is not recorded";
    return;
  }
  uint64_t kept = 1, summed = 1;
  bool last = false, first = false;  // whether an extent is reduced behind a kept one, or the other way round
  for (size_t i = 0; i < tensor->size(); ++i) {
    if ((*tensor)[i] == 1) continue;
    if ((*reduced)[i] && kept > 1) last = true;
    if (!(*reduced)[i] && summed > 1) first = true;
    uint64_t& size = (*reduced)[i] ? summed : kept;
    size = size_product(size, (*tensor)[i]);
  }
  const bool rows = group(named, "of_thread") == "1";
  if ((rows ? first : last) || kept * summed == 0) {
    sizes.missing = "it reduces extents between others, which has no listing";
    return;
  }
  constexpr uint64_t kOfLane = 256, kWarps = 16, kColumns = 128;
  const bool fits = rows ? shape.block[0] == kWarp && shape.block[1] == kWarps && shape.grid[1] == 1 &&
                               shape.grid[0] == (summed < kOfLane * kWarp ? rounded_up(kept, kWarps) : kept)
                         : shape.block[0] == kWarp && shape.block[1] == 4 && shape.grid[0] == rounded_up(kept, kColumns);
  if (!fits) {
    sizes.missing = "a reduction of " + text(summed) + " elements to each of " + text(kept) + " in a block of " +
                    text(shape.block[0]) + " x " + text(shape.block[1]) + " and a grid of " + grid_text(shape) + " has no listing";
    return;
  }
  const size_t input = static_cast<size_t>(tensor - shape.op.inputs.begin());
  if (input < shape.op.strides.size() && shape.op.strides[input] != dense_strides(*tensor))
    sizes.notes.emplace_back("its tensor is taken to be dense");
  sizes.values["rows"] = text(rows ? kept : summed);
  sizes.values["columns"] = text(rows ? summed : kept);
  sizes.values["parts"] = text(shape.grid[1]);
}

void find_gather(const LaunchShape& shape, uint64_t bytes, Sizes& sizes) {
  std::vector<Extents> tensors;
  std::ranges::copy_if(shape.op.inputs, std::back_inserter(tensors), [](const Extents& extents) { return !extents.empty(); });
  if (tensors.size() < 2 || tensors[0].size() != 2) {
    sizes.missing = "the table and the number of indices are not recorded";
    return;
  }
  const bool other_axis =
      std::ranges::any_of(shape.op.values, [](const std::string& value) { return !value.empty() && value != "0"; });
  const uint64_t columns = tensors[0][1], rows = elements_of(tensors[1]), elements = size_product(rows, columns);
  if (other_axis || elements == 0 || elements >= kMostElements || (bytes != 2 && bytes != 4)) {
    sizes.missing = "this gather is none of rows of 2 or 4 bytes an element";
    return;
  }
  if (shape.grid[0] > rounded_up(elements, shape.threads()) || shape.grid[1] != 1) {
    sizes.missing = "grid " + grid_text(shape) + " is larger than " + text(rows) + " rows of " + text(columns);
    return;
  }
  SectorCount moved(bytes, 1), indices(8, 1);
  moved.add({rows, columns}, {columns, 1}, 0);
  indices.add({rows, columns}, {1, 0}, 0);
  Fields fields;
  fields.add("grid.x", shape.grid[0]);
  fields.add("block.x", shape.threads());
  fields.array("out", elements * bytes);
  fields.array("x", elements * bytes);
  fields.array("index", rows * 8);
  fields.parameter("elements", elements);
  fields.add("answer.0.sectors", indices.mean());
  fields.add("answer.1.sectors", moved.mean());
  fields.add("answer.2.sectors", moved.mean());
  sizes.values["rows"] = text(rows);
  sizes.values["columns"] = text(columns);
  sizes.values["element_bytes"] = text(bytes);
  sizes.values["fields"] = fields.take();
}

void find_rotary(const LaunchShape& shape, Sizes& sizes) {
  // positions, query, key, head_size, cos_sin_cache, is_neox: vllm-project/vllm @v0.9, csrc/pos_encoding_kernels.cu.
  const Operator& op = shape.op;
  const auto head = op.values.size() > 3 ? numbers_of(op.values[3]) : std::nullopt;
  const bool recorded = head && head->size() == 1 && head->front() > 0 && op.inputs.size() > 4 && op.inputs[1].size() == 2 &&
                        op.inputs[2].size() == 2 && op.inputs[4].size() == 2;
  if (!recorded) {
    sizes.missing = "tokens, heads and their size are not recorded";
    return;
  }
  const auto head_columns = static_cast<uint64_t>(head->front());
  const uint64_t tokens = op.inputs[1][0], heads = op.inputs[1][1] / head_columns, kv_heads = op.inputs[2][1] / head_columns;
  const bool strides = op.strides.size() > 1 && op.strides[1].size() == 2;
  if (shape.grid[0] != tokens || shape.grid[1] != 1 || heads == 0) {
    sizes.missing = "grid " + grid_text(shape) + " is not one of a CTA for each of " + text(tokens) + " tokens";
    return;
  }
  sizes.values["rows"] = text(tokens);
  sizes.values["heads"] = text(heads);
  sizes.values["kv_heads"] = text(kv_heads);
  sizes.values["head_columns"] = text(head_columns);
  sizes.values["turned"] = text(op.inputs[4][1]);
  sizes.values["stride"] = text(std::max(strides ? op.strides[1][0] : 0, (heads + kv_heads) * head_columns));
  sizes.values["threads"] = text(shape.threads());
}

}  // namespace warpfold::profile
