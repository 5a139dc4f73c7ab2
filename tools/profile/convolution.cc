#include "tools/profile/convolution.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tools/profile/extents.h"

namespace warpfold::profile {
namespace {

// A convolution's image, filter, result, stride and products, as aten::cudnn_convolution(input, weight, padding, stride,
// dilation, groups, ..) and aten::convolution_backward(gradient, input, weight, bias_sizes, stride, ..) record them.
struct Convolution {
  uint64_t images, inputs, height, width, outputs, filter_height, filter_width, result_height, result_width, stride;
};
// The operator's inputs that are lists of numbers from 0 on; other inputs are empty.
std::vector<Extents> lists_of_values(const Operator& op) {
  std::vector<Extents> lists;
  for (const std::string& value : op.values) {
    Extents& list = lists.emplace_back();
    const auto numbers = value.starts_with('[') ? numbers_of(value) : std::nullopt;
    if (numbers && std::ranges::all_of(*numbers, [](int64_t number) { return number >= 0; }))
      list.assign(numbers->begin(), numbers->end());
  }
  return lists;
}
std::optional<Convolution> convolution(const Operator& op) {
  const std::vector<Extents>& inputs = op.inputs;
  const std::vector<Extents> lists = lists_of_values(op);
  const bool backward = op.name.ends_with("convolution_backward");
  const size_t input = backward ? 1 : 0, stride = backward ? 4 : 3, padding = backward ? 5 : 2, dilation = backward ? 6 : 4;
  if (inputs.size() < input + 2 || lists.size() <= std::max({stride, padding, dilation})) return std::nullopt;
  const Extents &image = inputs[input], &filter = inputs[input + 1];
  if (image.size() != 4 || filter.size() != 4 || image[1] != filter[1]) return std::nullopt;  // two dimensions, one group
  for (const size_t list : {stride, padding, dilation}) {
    if (lists[list].size() != 2) return std::nullopt;
  }
  Extents result;
  for (const size_t d : {0, 1}) {
    const uint64_t reach = size_product(lists[dilation][d], filter[2 + d] - 1) + 1, padded = image[2 + d] + 2 * lists[padding][d];
    if (filter[2 + d] == 0 || lists[stride][d] == 0 || padded < reach) return std::nullopt;
    result.push_back((padded - reach) / lists[stride][d] + 1);
  }
  return Convolution{image[0],  image[1],  image[2],  image[3],  filter[0],
                     filter[2], filter[3], result[0], result[1], size_product(lists[stride][0], lists[stride][1])};
}

}  // namespace

std::optional<ImplicitProduct> implicit_product(const Operator& op, std::string_view pass, uint64_t tile_k) {
  const auto found = convolution(op);
  if (!found) return std::nullopt;
  const Convolution& of = *found;
  const uint64_t positions = size_product(of.filter_height, of.filter_width);
  const auto whole = [&](uint64_t channels) { return rounded_up(channels, tile_k) * tile_k; };
  const uint64_t pixels = size_product(of.images, size_product(of.height, of.width)),
                 results = size_product(of.images, size_product(of.result_height, of.result_width));
  ImplicitProduct product{.m = results,
                          .n = of.outputs,
                          .k = size_product(positions, whole(of.inputs)),
                          .a_repeats = std::max<uint64_t>(positions / of.stride, 1),
                          .b_repeats = 1,
                          .channels = of.inputs,
                          .filter_height = of.filter_height,
                          .filter_width = of.filter_width};
  if (pass == "dgrad") {
    product.m = pixels;
    product.n = of.inputs;
    // With strides, a pixel has a product with its own positions only.
    product.k = rounded_up(size_product(positions, whole(of.outputs)), of.stride);
    product.a_repeats = positions;
  } else if (pass == "wgrad") {
    product.m = of.outputs;
    product.n = size_product(positions, of.inputs);
    product.k = results;
    std::swap(product.a_repeats, product.b_repeats);
  }
  return product;
}

}  // namespace warpfold::profile
