#pragma once

#include "tools/profile/name_table.h"
#include "tools/profile/profile.h"
#include "tools/profile/sizes.h"

namespace warpfold::profile {

// Sizes that the grid or the shared memory of a launch states if the operator's tensors are not recorded. Each function
// sets `sizes.missing` if they are not known to within a factor of two, and otherwise notes what it assumes.

// cuDNN's change of layout, listings vision_layout*: a CTA a tile of 32 pixels x 32 channels, grid.z images. Exact if
// an image or a filter of the operator has the grid's tiles. Otherwise images are assumed to be square:
//
//   98 x 2 x 32   3,105 to 3,136 pixels, of which 56 x 56 is the only square: 64 channels of 32 images
//   2 x 64 x 32   33 to 64 pixels, of which 6 x 6, 7 x 7 and 8 x 8 are squares: the middle one
//   1 x 8 x 512   missing: 1 to 32 pixels
void find_layout(const LaunchShape& shape, Sizes& sizes);

// multi_tensor_apply_kernel, listings multi_tensor_*: a CTA a chunk of 65,536 elements, of which a tensor's last one
// may be partial. The pattern has the groups depth, the number of lists, and large, true if the arguments take 32 KB.
// Exact if the operator's list has as many chunks as the grid. Otherwise a launch has at most as many tensors, and so
// partial chunks, as its arguments hold:
//
//   320 chunks of 4 lists   at most 36 are partial. assumed: 36 are half full, the middle of what is possible
//   71 chunks of 4 lists    missing, because half of them may be partial
void find_chunks(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes);

// cuDNN's batch norm in training, listings vision_batch_norm*: a CTA a channel. Images and pixels are those of the
// operator's tensor. Otherwise the pattern's group kept counts the arrays in shared memory, 512 elements at a time:
//
//   8,336 bytes, one array   1,537 to 2,048 elements of a channel. assumed: the middle, in one plane
void find_batch_norm(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes);

// The function above for the rule's kind of sizes: LAYOUT, CHUNKS, BATCH_NORM. Other kinds have none.
void find_of_grid(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes);

}  // namespace warpfold::profile
