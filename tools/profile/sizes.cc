#include "tools/profile/sizes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "configs/expression.h"
#include "tools/profile/axis_sizes.h"
#include "tools/profile/convolution.h"
#include "tools/profile/extents.h"
#include "tools/profile/grid_sizes.h"
#include "tools/profile/strided.h"

namespace warpfold::profile {
namespace {

constexpr uint32_t kLargestCluster = 16;  // CUDA C++ Programming Guide, cluster size, with the non-portable attribute

std::string text(uint64_t value) { return std::to_string(value); }

std::string grid_text(const LaunchShape& shape) {
  return text(shape.grid[0]) + " x " + text(shape.grid[1]) + " x " + text(shape.grid[2]);
}

class Finder {
 public:
  Finder(const NamedKernel& named, const LaunchShape& shape) : named_(named), shape_(shape) {}

  Sizes find() {
    set("threads", shape_.threads());
    switch (named_.rule->sizes()) {
      case PRODUCT:
        find_product();
        break;
      case ELEMENTS:
        find_elements();
        break;
      case STRIDED:
        find_strided();
        break;
      case ROWS:
        find_rows();
        break;
      case TILES:
        set("columns", size_product(shape_.grid[0], group("tile")));
        set("rows", size_product(shape_.grid[1], group("tile")));
        break;
      case ATTENTION:
        find_attention();
        break;
      case STATED:
        find_stated();
        break;
      case CONVOLUTION:
        find_convolution();
        break;
      case CONCATENATION:
        find_concatenation(named_, shape_, bytes_of_type(), sizes_);
        break;
      case REDUCTION:
        find_reduction(named_, shape_, sizes_);
        break;
      case GATHER:
        find_gather(shape_, bytes_of_type(), sizes_);
        break;
      case ROTARY:
        find_rotary(shape_, sizes_);
        break;
      default:
        find_of_grid(named_, shape_, sizes_);
    }
    if (bytes_of_type() == 4) sizes_.values["suffix"] = "_fp32";  // of launch descriptions
    sizes_.values.try_emplace("suffix", "");
    return std::move(sizes_);
  }

 private:
  void set(const std::string& name, uint64_t value) { sizes_.values[name] = text(value); }
  void note(std::string what) { sizes_.notes.push_back(std::move(what)); }
  uint64_t group(const std::string& name) const {
    const auto found = named_.groups.find(name);
    uint64_t value = 0;
    if (found != named_.groups.end()) std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
    return std::min(value, kLargestSize);
  }

  // The operator's tensors that have extents.
  std::vector<Extents> tensors() const {
    std::vector<Extents> tensors;
    std::ranges::copy_if(shape_.op.inputs, std::back_inserter(tensors), [](const Extents& extents) { return !extents.empty(); });
    return tensors;
  }

  // The last two tensors that can be multiplied: the last extent of the first equals the last but one of the second (mm, addmm,
  // bmm, baddbmm). A linear layer's weight is n x k.
  struct Product {
    uint64_t batch, m, n, k;
  };
  std::optional<Product> matrices() const {
    const std::vector<Extents> all = tensors();
    const bool linear = shape_.op.name.ends_with("linear");
    for (size_t second = all.size(); second-- > 1;) {
      const Extents &a = all[second - 1], &b = all[second];
      if (a.size() < 2 || b.size() < 2) continue;
      const uint64_t k = a.back(), rows = b[b.size() - 2], columns = b.back();
      const Extents above(a.begin(), a.end() - 2);
      const bool batched = b.size() > 2;
      const uint64_t batch = batched ? elements_of(above) : 1;
      const uint64_t m = batched ? a[a.size() - 2] : elements_of({a.begin(), a.end() - 1});
      if (!linear && k == rows) return Product{batch, m, columns, k};
      if (linear && k == columns) return Product{batch, m, rows, k};
    }
    return std::nullopt;
  }

  // A column-major library computes the transposed product, whose rows are our columns. Takes the orientation that fits the grid.
  void find_product() {
    const auto product_of = matrices();
    if (!product_of) {
      sizes_.missing = "k is neither in the kernel's name nor in its grid; record the operators' shapes (record_shapes=True)";
      return;
    }
    const auto [batch, m, n, k] = *product_of;
    for (const uint64_t size : {batch, m, n, k}) {
      if (size == 0 || size >= kLargestSize) {
        sizes_.missing = "a matrix of the operator is empty, or larger than any";
        return;
      }
    }
    const uint64_t tile_m = group("tile_m"), tile_n = group("tile_n");
    const bool transposed = fits(n, m, batch), as_is = fits(m, n, batch);
    const bool turned = transposed || !as_is;  // the default, because cuBLAS and its callers are column-major
    set("m", turned ? n : m);
    set("n", turned ? m : n);
    set("k", k);
    set("batch", batch);
    set("split", std::max<uint64_t>(1, shape_.grid[2] / batch));
    // CUTLASS's persistent kernels of sm_90 start the rows of a grid as clusters along n (sm90_tile_scheduler, get_grid_shape,
    // raster along m). A grid of one row does not state its clusters.
    const bool rows = std::has_single_bit(shape_.grid[1]) && shape_.grid[1] > 1 && shape_.grid[1] <= kLargestCluster;
    set("grid_cluster_m", rows ? 1 : 2);
    set("grid_cluster_n", rows ? shape_.grid[1] : 1);
    sizes_.grid_fits = as_is || transposed;
    if (tile_m == 0 || tile_n == 0 || sizes_.grid_fits) return;
    note("grid " + grid_text(shape_) + " holds no tiling of " + text(n) + " x " + text(m) + " by " + text(tile_m) + " x " +
         text(tile_n) + (batch > 1 ? ", " + text(batch) + " times" : ""));
  }
  bool fits(uint64_t rows, uint64_t columns, uint64_t batch) const {
    const uint64_t tile_m = group("tile_m"), tile_n = group("tile_n");
    if (tile_m == 0 || tile_n == 0) return false;
    const uint64_t across = rounded_up(rows, tile_m), along = rounded_up(columns, tile_n);
    if (!named_.rule->whole_tiles()) return true;  // persistent: any grid can take the tiles in turn
    constexpr uint64_t kMostGrid =
        65535;  // largest grid in z; kernels with more products loop over them (CUDA C Programming Guide, technical specifications)
    if (batch <= kMostGrid ? shape_.grid[2] % batch != 0 : shape_.grid[2] != kMostGrid) return false;
    // CUTLASS's GemmIdentityThreadblockSwizzle: a grid of tiles x S by tiles / S (threadblock_swizzle.h). cuBLAS also has S = 16
    // [NS].
    for (const uint64_t swizzle : {1, 2, 4, 8, 16}) {
      if (shape_.grid[0] == across * swizzle && shape_.grid[1] == rounded_up(along, swizzle)) return true;
      if (shape_.grid[0] == along * swizzle && shape_.grid[1] == rounded_up(across, swizzle)) return true;
    }
    return false;
  }

  // Number of elements to which the operator's tensors broadcast.
  std::optional<uint64_t> broadcast(const std::vector<Extents>& all) const {
    Extents result;
    for (Extents each : all) {
      if (each.size() > result.size()) std::swap(each, result);
      for (size_t i = 1; i <= each.size(); ++i) {
        uint64_t& extent = result[result.size() - i];
        const uint64_t other = each[each.size() - i];
        if (extent == 1) extent = other;
        if (other != 1 && other != extent) return std::nullopt;
      }
    }
    if (result.empty()) return std::nullopt;
    return elements_of(result);
  }

  // Bytes of the type in the kernel's name, otherwise of the operator's first tensor.
  uint64_t bytes_of_type() const {
    const auto named = named_.groups.find("type");
    const std::string type = named != named_.groups.end() ? named->second : shape_.op.types.empty() ? "" : shape_.op.types.front();
    for (const auto& [word, bytes] : {std::pair{"double", 8},
                                      {"long", 8},
                                      {"fp32", 4},
                                      {"float", 4},
                                      {"int", 4},
                                      {"OpaqueType<1", 1},
                                      {"OpaqueType<2", 2},
                                      {"OpaqueType<4", 4},
                                      {"OpaqueType<8", 8},
                                      {"bf16", 2},
                                      {"fp16", 2},
                                      {"BFloat16", 2},
                                      {"Half", 2},
                                      {"short", 2},
                                      {"bool", 1},
                                      {"char", 1},
                                      {"Float8", 1}}) {
      if (type.find(word) != std::string::npos) return static_cast<uint64_t>(bytes);
    }
    return 0;
  }

  void find_elements() {
    // ATen, aten/src/ATen/native/cuda/thread_constants.h @v2.4: thread_work_size 4.
    constexpr uint64_t kOfThread = 4, kMostOfThread = 32;
    const uint64_t threads = size_product(shape_.ctas(), shape_.threads());
    const std::vector<Extents> all = tensors();
    auto elements = broadcast(all);
    uint64_t arrays = named_.rule->arrays() != 0 ? named_.rule->arrays() : group("arrays");
    if (elements) {
      const auto whole = static_cast<uint64_t>(
          std::ranges::count_if(all, [&](const Extents& extents) { return elements_of(extents) == *elements; }));
      arrays = arrays == 0 ? whole + 1 : std::min(arrays, std::max<uint64_t>(whole, 1) + (arrays > 1 ? 1 : 0));
    }
    const uint64_t stated = group("each") != 0 ? group("each") : kOfThread;
    uint64_t each = elements ? rounded_up(*elements, std::max<uint64_t>(threads, 1)) : stated;
    if (elements && (each == 0 || each > kMostOfThread)) {
      note("grid " + grid_text(shape_) + " of " + text(shape_.threads()) + " threads is not one of a pass over the operator's " +
           text(*elements) + " elements; the grid counts");
      elements.reset();
      each = stated;
    }
    if (!elements) {
      elements = size_product(threads, each);
      note("the size follows from the grid, within a CTA");
    }
    if (arrays == 0 || arrays > 3) {
      sizes_.missing = arrays == 0 ? "how many arrays it reads is not recorded" : "no generator passes over four arrays or more";
      return;
    }
    const uint64_t bytes = bytes_of_type();
    if (bytes == 0) {
      sizes_.missing = "neither the name nor the operator says the type of its elements";
      return;
    }
    uint64_t vector = std::max<uint64_t>(group("vector"), 1);
    const uint64_t element_bytes = std::max<uint64_t>(bytes, 2);
    const uint64_t access = std::clamp<uint64_t>(vector * element_bytes, 4, 16);
    const uint64_t accesses = std::clamp<uint64_t>(rounded_up(each * element_bytes, access), 1, 8);
    if (bytes == 1) note("elements of one byte are moved as half as many of two");
    set("elements", bytes == 1 ? rounded_up(*elements, 2) : *elements);
    set("element_bytes", element_bytes);
    set("access_bytes", access);
    set("accesses", accesses);
    sizes_.values["operation"] = arrays == 1 ? "FILL" : arrays == 2 ? "SCALE" : "ADD";
  }

  // The kernel's own loops over the operator's tensors, if the grid has as many elements; else dense ones.
  StridedPass strided_pass(size_t arguments, uint64_t of_cta) {
    const uint64_t threads = size_product(shape_.ctas(), shape_.threads());
    const uint64_t each = of_cta / std::max<uint64_t>(shape_.threads(), 1);
    const auto fits = [&](uint64_t elements) { return elements != 0 && rounded_up(elements, of_cta) * of_cta == threads * each; };
    if (auto recorded = strided_pass_of(shape_.op, arguments); recorded && fits(elements_of(recorded->extents))) return *recorded;
    const std::vector<Extents> all = tensors();
    const auto largest = std::ranges::max_element(all, {}, elements_of);
    StridedPass dense;
    if (largest != all.end() && broadcast(all) && fits(elements_of(*largest))) {
      note("strides are not recorded: its tensors are dense, each extent a loop");
      std::copy_if(largest->rbegin(), largest->rend(), std::back_inserter(dense.extents),
                   [](uint64_t extent) { return extent > 1; });
    } else {
      note("the size follows from the grid, within a CTA; two loops over dense tensors");
      dense.extents = {of_cta, shape_.ctas()};
    }
    Extents strides;
    uint64_t stride = 1;
    for (const uint64_t extent : dense.extents) {
      strides.push_back(stride);
      stride = size_product(stride, extent);
    }
    dense.strides.assign(arguments + 1, strides);
    return dense;
  }

  void find_strided() {
    constexpr std::array<const char*, 3> kArrays{"out", "x", "y"};
    constexpr size_t kMostLoops = 6;  // of torch_strided_*.textproto
    const uint64_t bytes = bytes_of_type(), each = group("each");
    const size_t arguments = named_.rule->arrays() - 1;
    const StridedPass pass = strided_pass(arguments, size_product(shape_.threads(), each));
    const uint64_t elements = elements_of(pass.extents);
    if (pass.extents.size() > kMostLoops || elements >= uint64_t{1} << 31) {
      sizes_.missing = "a strided pass of more than six loops, or of 2^31 elements, has no launch description";
      return;
    }
    std::string fields = "description.parameter.elements.value=" + text(elements) +
                         " description.parameter.extents.value=" + text(pass.extents.size());
    const auto add = [&fields](const std::string& field, uint64_t value) {
      fields.append(" description.").append(field).append("=").append(text(value));
    };
    const auto parameter = [&](const std::string& name, size_t loop, uint64_t value) {
      add("parameter." + name + "_" + text(loop) + ".value", value);
    };
    for (size_t i = 0; i < pass.extents.size(); ++i) {
      // Granlund and Montgomery (PLDI 1994), as ATen's IntDivider: n / d = (high word of n * multiplier, plus n) >> shift.
      const uint64_t divisor = pass.extents[i];
      const auto shift = static_cast<unsigned>(std::bit_width(divisor - 1));
      parameter("divisor", i, divisor);
      parameter("multiplier", i, ((((uint64_t{1} << shift) - divisor) << 32) / divisor) + 1);
      parameter("shift", i, shift);
      for (size_t k = 0; k <= arguments; ++k) parameter(kArrays[k], i, pass.strides[k][i] * bytes);
    }
    for (size_t k = 0; k <= arguments; ++k) {
      uint64_t last = 0;
      for (size_t i = 0; i < pass.extents.size(); ++i) last += (pass.extents[i] - 1) * pass.strides[k][i];
      add(std::string("array.") + kArrays[k] + ".bytes", (last + 1) * bytes);
    }
    set("elements", elements);
    set("element_bytes", bytes);
    set("loops", pass.extents.size());
    sizes_.values["fields"] = std::move(fields);
  }

  void find_rows() {
    const std::vector<Extents> all = tensors();
    if (all.empty() || all.front().back() == 0) {
      sizes_.missing = "rows and columns are not recorded; record the operators' shapes (record_shapes=True)";
      return;
    }
    const uint64_t columns = all.front().back();
    const uint64_t rows = elements_of(all.front()) / columns;
    constexpr uint64_t kWarp = 32, kVector = 8;
    set("rows", rows);
    set("columns", columns);
    set("elements", size_product(rows, columns));
    set("whole_columns", columns / kVector * kVector);
    // Rows that are no whole vectors begin at every place of one in turn. assumed: all in its middle.
    constexpr uint64_t kVectorBytes = 16;
    const uint64_t bytes = std::max<uint64_t>(bytes_of_type(), 1),
                   begin = columns * bytes % kVectorBytes == 0 ? 0 : kVectorBytes / 2;
    set("begin", begin);
    set("pitch", rounded_up(size_product(columns, bytes) + begin, kVectorBytes) * kVectorBytes / bytes);
    if (rows > size_product(shape_.ctas(), std::max<uint64_t>(1, shape_.threads() / kWarp)) * 2)
      note("grid " + grid_text(shape_) + " has fewer warps than half of the " + text(rows) + " rows");
  }

  std::optional<double> number_named(std::string_view name) const {
    const std::string key(name);
    if (const auto found = shape_.number(name)) return found;
    const std::map<std::string, double> near{{"near_grid_x", shape_.near_grid[0]},
                                             {"near_grid_y", shape_.near_grid[1]},
                                             {"near_grid_z", shape_.near_grid[2]},
                                             {"near_shared_memory_bytes", shape_.near_shared_memory_bytes}};
    if (const auto found = near.find(key); found != near.end() && shape_.has_near) return found->second;
    if (sizes_.values.contains(key)) return std::stod(sizes_.values.at(key));
    if (named_.groups.contains(key)) return static_cast<double>(group(key));
    return std::nullopt;
  }

  void find_stated() {
    const configs::Words words{.find = [this](std::string_view name) -> std::optional<configs::Word> {
                                 if (const auto number = number_named(name)) return *number;
                                 return std::nullopt;
                               },
                               .known = {}};
    const auto find = [&](const Size& size) {
      const std::string& value = size.value(static_cast<int>(shape_.turn % static_cast<uint32_t>(size.value_size())));
      const auto number = configs::number_of(value, words);
      if (number && *number >= 1 && *number < static_cast<double>(kLargestSize) && *number == std::floor(*number)) {
        set(size.name(), static_cast<uint64_t>(*number));
        return true;
      }
      sizes_.missing = "size " + size.name() + ", " + value + ", is not a whole number from 1 on";
      if (named_.rule->has_near() && !shape_.has_near) sizes_.missing = "no launch near it has the name that its rule expects";
      return false;
    };
    if (named_.sequence != nullptr && !std::ranges::all_of(named_.sequence->size(), find)) return;
    if (!std::ranges::all_of(named_.rule->size(), find)) return;
    for (const std::string& condition : named_.rule->check()) {
      const auto held = configs::holds(condition, words);
      if (held && *held) continue;
      sizes_.missing = "grid " + grid_text(shape_) + " is not one of the layer that its turn states: " + condition;
      return;
    }
  }

  void find_convolution() {
    const uint64_t tile_k = std::max<uint64_t>(group("tile_k"), 1);
    const std::string& pass = named_.groups.at("pass");
    const auto found = implicit_product(shape_.op, pass, tile_k);
    if (!found) {
      sizes_.missing =
          "image, filter or stride are not recorded, or it is no convolution of two dimensions and one group; record the "
          "operators' shapes (record_shapes=True), or state sizes (--names)";
      return;
    }
    const ImplicitProduct& of = *found;
    if (std::ranges::any_of(std::array{of.m, of.n, of.k}, [](uint64_t size) { return size == 0 || size >= kLargestSize; })) {
      sizes_.missing = "a matrix of the operator is empty, or larger than any";
      return;
    }
    const uint64_t parts = std::max<uint32_t>(shape_.grid[2], 1);
    if (of.channels % tile_k != 0 && pass == "fprop")
      note(text(of.channels) + " input channels take a tile of " + text(tile_k) + " for each position of the filter");
    set("m", of.m);
    set("n", of.n);
    set("k", rounded_up(of.k, parts));
    set("products", parts);
    set("a_repeats", of.a_repeats);
    set("b_repeats", of.b_repeats);
    set("filter_height", of.filter_height);
    set("filter_width", of.filter_width);
    sizes_.grid_fits = fits(of.m, of.n, parts) || fits(of.n, of.m, parts);
    if (!sizes_.grid_fits)
      note("grid " + grid_text(shape_) + " holds no tiling of " + text(of.m) + " x " + text(of.n) + " by " + text(group("tile_m")) +
           " x " + text(group("tile_n")));
  }

  // Tensors are batch x tokens x heads x head_dim, as in FlashAttention.
  void find_attention() {
    const std::vector<Extents> all = tensors();
    const uint64_t tile = std::max<uint64_t>(group("tile_q"), 1);
    const bool recorded = all.size() >= 2 && all[0].size() == 4 && all[1].size() == 4;
    if (recorded) {
      set("batch", all[0][0]);
      set("queries", all[0][1]);
      set("heads", all[0][2]);
      set("keys", all[1][1]);
      set("kv_heads", all[1][2]);
      const bool agrees =
          shape_.grid[0] == rounded_up(all[0][1], tile) && shape_.grid[1] == all[0][0] && shape_.grid[2] == all[0][2];
      if (!agrees)
        note("grid " + grid_text(shape_) + " is not tiles of " + text(tile) + " queries x batch x heads of the operator's " +
             text(all[0][0]) + " x " + text(all[0][1]) + " x " + text(all[0][2]));
      return;
    }
    set("batch", shape_.grid[1]);
    set("queries", size_product(shape_.grid[0], tile));
    set("heads", shape_.grid[2]);
    set("keys", size_product(shape_.grid[0], tile));
    set("kv_heads", shape_.grid[2]);
    note("queries follow from the grid, within a tile; assumed: as many keys, and heads that share none");
  }

  const NamedKernel& named_;
  const LaunchShape& shape_;
  Sizes sizes_;
};

}  // namespace

Sizes sizes_of(const NamedKernel& named, const LaunchShape& shape) { return Finder(named, shape).find(); }

}  // namespace warpfold::profile
