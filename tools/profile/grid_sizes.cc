#include "tools/profile/grid_sizes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tools/profile/extents.h"

namespace warpfold::profile {
namespace {

void state(Sizes& sizes, const std::string& name, uint64_t value) { sizes.values[name] = std::to_string(value); }

uint64_t number_of_group(const NamedKernel& named, const std::string& name) {
  const auto found = named.groups.find(name);
  uint64_t value = 0;
  if (found != named.groups.end()) std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

// A batch of images, or a filter: an image for each output channel.
struct Images {
  uint64_t images, channels, pixels;
};

std::optional<Images> images_of(const Extents& extents) {
  if (extents.size() != 4 || elements_of(extents) == 0) return std::nullopt;
  return Images{extents[0], extents[1], size_product(extents[2], extents[3])};
}

void state_images(Sizes& sizes, const Images& of) {
  state(sizes, "images", of.images);
  state(sizes, "channels", of.channels);
  state(sizes, "pixels", of.pixels);
}

// The square images of `least` to `most` pixels.
std::vector<uint64_t> squares(uint64_t least, uint64_t most) {
  std::vector<uint64_t> found;
  auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(least)));
  for (; root * root <= most; ++root) {
    if (root * root >= least) found.push_back(root * root);
  }
  return found;
}

}  // namespace

void find_layout(const LaunchShape& shape, Sizes& sizes) {
  constexpr uint64_t kTile = 32, kThreads = 256;
  const auto& [x, y, z] = shape.grid;
  if (shape.threads() != kThreads) {
    sizes.missing = "a change of layout by CTAs of other than 256 threads was not recorded";
    return;
  }
  for (const Extents& extents : shape.op.inputs) {
    const auto of = images_of(extents);
    if (!of || of->images != z || rounded_up(of->channels, kTile) != y || rounded_up(of->pixels, kTile) != x) continue;
    state_images(sizes, *of);
    return;
  }
  if (x < 2 || y < 2) {
    sizes.missing =
        "a grid of one tile does not say how many of its 32 pixels or channels there are; record the operators' shapes "
        "(record_shapes=True)";
    return;
  }
  const uint64_t most = x * kTile;
  const std::vector<uint64_t> possible = squares(most - kTile + 1, most);
  if (possible.empty()) {
    state_images(sizes, {z, y * kTile, most});
    sizes.notes.push_back("the size follows from the grid, within a tile");
    return;
  }
  state_images(sizes, {z, y * kTile, possible.at(possible.size() / 2)});
  sizes.notes.push_back(possible.size() == 1
                            ? "pixels are those of the only square image that has the tiles of the grid; channels fill theirs"
                            : "pixels are those of the middle of " + std::to_string(possible.size()) +
                                  " square images that have the tiles of the grid; channels fill theirs");
}

void find_chunks(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes) {
  // pytorch/pytorch @008356c, aten/src/ATen/native/cuda/MultiTensorApply.cuh: kChunkSize, kBlockSize,
  // depth_to_max_tensors, seven times as many with arguments of 32 KB. NVIDIA/apex @123854c:
  // csrc/multi_tensor_apply.cuh has the same table, apex/multi_tensor_apply the same chunk (2048 * 32).
  constexpr uint64_t kChunk = 65536, kThreads = 512, kMoreOfLarge = 7;
  constexpr std::array<uint64_t, 5> kMostTensors{110, 64, 48, 36, 30};
  const uint64_t depth = number_of_group(named, "depth"), chunks = shape.ctas();
  if (depth == 0 || depth > kMostTensors.size() || shape.threads() != kThreads) {
    sizes.missing = "a kernel over lists of tensors of this depth or block was not recorded";
    return;
  }
  state(sizes, "chunks", chunks);
  uint64_t all = 0, whole = 0, rest = 0;
  for (const Extents& extents : shape.op.list) {
    const uint64_t elements = elements_of(extents);
    all += rounded_up(elements, kChunk);
    whole += elements / kChunk;
    rest += elements % kChunk;
  }
  if (!shape.op.list.empty() && all == chunks) {
    state(sizes, "whole", whole);
    state(sizes, "part", all == whole ? 0 : rest / (all - whole));
    state(sizes, "elements", whole * kChunk + rest);
    return;
  }
  const uint64_t partial = kMostTensors.at(depth - 1) * (number_of_group(named, "large") != 0 ? kMoreOfLarge : 1);
  if (chunks < 2 * partial) {
    sizes.missing = "half of its chunks of 65,536 elements or more may be partial, because lists of tensors are not recorded";
    return;
  }
  state(sizes, "whole", chunks - partial);
  state(sizes, "part", kChunk / 2);
  state(sizes, "elements", size_product(chunks, kChunk) - partial * kChunk / 2);
  sizes.notes.push_back("lists of tensors are not recorded: as many tensors as the kernel's arguments hold, " +
                        std::to_string(partial) + ", each with a last chunk that is half full; the size is within " +
                        std::to_string(rounded_up(100 * partial, 2 * chunks - partial)) + " %");
}

void find_batch_norm(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes) {
  constexpr uint64_t kThreads = 512, kWord = 4;
  if (shape.threads() != kThreads) {
    sizes.missing = "a batch norm by CTAs of other than 512 threads was not recorded";
    return;
  }
  state(sizes, "shared", shape.shared_memory_bytes);
  for (const Extents& extents : shape.op.inputs) {
    const auto of = images_of(extents);
    if (!of || of->channels != shape.grid[0]) continue;
    state_images(sizes, *of);
    return;
  }
  const uint64_t kept = number_of_group(named, "kept");
  const uint64_t turns = kept == 0 ? 0 : shape.shared_memory_bytes / (kept * kWord * kThreads);
  if (turns < 2) {
    sizes.missing =
        "images and pixels are not recorded; record the operators' shapes (record_shapes=True), or state sizes (--names)";
    return;
  }
  state_images(sizes, {1, shape.grid[0], turns * kThreads - kThreads / 2});
  sizes.notes.push_back("shared memory says elements of a channel within 512: the middle, in one plane");
}

void find_of_grid(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes) {
  switch (named.rule->sizes()) {
    case LAYOUT:
      return find_layout(shape, sizes);
    case CHUNKS:
      return find_chunks(named, shape, sizes);
    case BATCH_NORM:
      return find_batch_norm(named, shape, sizes);
    default:
      return;
  }
}

}  // namespace warpfold::profile
