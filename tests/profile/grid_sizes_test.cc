// Sizes that grids and shared memory state: changes of layout, chunks of lists of tensors, batch norms.

#include "tools/profile/grid_sizes.h"

#include <gmock/gmock.h>

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LaunchShape launched(const std::array<uint32_t, 3>& grid, uint32_t threads, uint32_t shared_memory_bytes = 0) {
  LaunchShape shape;
  shape.grid = grid;
  shape.block = {threads, 1, 1};
  shape.shared_memory_bytes = shared_memory_bytes;
  return shape;
}
std::vector<std::string> of(const Sizes& sizes, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) values.push_back(sizes.values.contains(name) ? sizes.values.at(name) : "");
  return values;
}

Sizes layout(const LaunchShape& shape) {
  Sizes sizes;
  find_layout(shape, sizes);
  return sizes;
}
std::vector<std::string> images(const Sizes& sizes) { return of(sizes, {"images", "channels", "pixels"}); }

TEST(Layout, HasTheOnlySquareImageOfItsTiles) {
  const Sizes sizes = layout(launched({98, 2, 32}, 256));
  EXPECT_EQ(sizes.missing, "");
  EXPECT_THAT(images(sizes), ElementsAre("32", "64", "3136"));
  EXPECT_THAT(sizes.notes, ElementsAre(HasSubstr("the only square image")));
  EXPECT_THAT(images(layout(launched({7, 24, 4}, 256))), ElementsAre("4", "768", "196"));
}

// 33 to 64 pixels: 36, 49 or 64. 641 to 672 pixels: no square, because 25 x 25 is less and 26 x 26 more.
TEST(Layout, HasTheMiddleOfSeveralSquaresAndElseWholeTiles) {
  const Sizes three = layout(launched({2, 64, 32}, 256));
  EXPECT_THAT(images(three), ElementsAre("32", "2048", "49"));
  EXPECT_THAT(three.notes, ElementsAre(HasSubstr("the middle of 3 square images")));
  const Sizes none = layout(launched({21, 2, 1}, 256));
  EXPECT_THAT(images(none), ElementsAre("1", "64", "672"));
  EXPECT_THAT(none.notes, ElementsAre(HasSubstr("within a tile")));
}

// A filter of 768 x 3 x 16 x 16: three of a tile's 32 channels.
TEST(Layout, IsThatOfTheOperatorsTensorIfItHasTheGridsTiles) {
  LaunchShape shape = launched({8, 1, 768}, 256);
  EXPECT_THAT(layout(shape).missing, HasSubstr("a grid of one tile"));
  shape.op.inputs = {{4, 3, 224, 224}, {768, 3, 16, 16}};
  const Sizes filter = layout(shape);
  EXPECT_THAT(images(filter), ElementsAre("768", "3", "256"));
  EXPECT_THAT(filter.notes, IsEmpty());
  shape.op.inputs = {{4, 3, 224, 224}, {768, 3, 16}};
  EXPECT_THAT(layout(shape).missing, HasSubstr("a grid of one tile"));
}

TEST(Layout, OfOneTileOrOtherBlocksIsMissing) {
  EXPECT_THAT(layout(launched({1, 8, 512}, 256)).missing, HasSubstr("a grid of one tile"));
  EXPECT_THAT(layout(launched({1568, 1, 32}, 256)).missing, HasSubstr("a grid of one tile"));
  EXPECT_THAT(layout(launched({98, 2, 32}, 512)).missing, HasSubstr("other than 256 threads"));
}

Sizes chunks(const LaunchShape& shape, const std::string& depth = "4", const std::string& large = "0") {
  Sizes sizes;
  find_chunks({nullptr, {{"depth", depth}, {"large", large}}}, shape, sizes);
  return sizes;
}

// The arguments of a kernel over four lists hold 36 tensors.
TEST(Chunks, AsManyAsTheArgumentsHoldTensorsAreHalfFull) {
  const Sizes sizes = chunks(launched({320, 1, 1}, 512));
  EXPECT_EQ(sizes.missing, "");
  EXPECT_THAT(of(sizes, {"chunks", "whole", "part", "elements"}),
              ElementsAre("320", "284", "32768", std::to_string((284 * 2 + 36) * 32768)));
  EXPECT_THAT(sizes.notes, ElementsAre(HasSubstr("36, each with a last chunk that is half full; the size is within 6 %")));
  EXPECT_THAT(of(chunks(launched({320, 1, 1}, 512), "1"), {"whole"}), ElementsAre("210"));
}

TEST(Chunks, OfWhichHalfMayBePartialAreMissing) {
  EXPECT_EQ(chunks(launched({72, 1, 1}, 512)).missing, "");
  EXPECT_THAT(chunks(launched({71, 1, 1}, 512)).missing, HasSubstr("may be partial"));
  EXPECT_THAT(chunks(launched({320, 1, 1}, 512), "4", "1").missing, HasSubstr("may be partial"));
  EXPECT_EQ(chunks(launched({2240, 1, 1}, 512), "4", "1").missing, "");
}

// Tensors of 100,000 and 131,072 elements: three whole chunks, and one of 34,464.
TEST(Chunks, OfARecordedListAreExact) {
  LaunchShape shape = launched({4, 1, 1}, 512);
  shape.op.list = {{100, 1000}, {131072}};
  const Sizes sizes = chunks(shape);
  EXPECT_THAT(of(sizes, {"chunks", "whole", "part", "elements"}), ElementsAre("4", "3", "34464", "231072"));
  EXPECT_THAT(sizes.notes, IsEmpty());
  shape.grid[0] = 3;  // the list's other chunks are another launch's
  EXPECT_THAT(chunks(shape).missing, HasSubstr("may be partial"));
}

TEST(Chunks, OfOtherBlocksAndDepthsAreMissing) {
  EXPECT_THAT(chunks(launched({320, 1, 1}, 256)).missing, HasSubstr("was not recorded"));
  EXPECT_THAT(chunks(launched({320, 1, 1}, 512), "6").missing, HasSubstr("was not recorded"));
}

Sizes batch_norm(const LaunchShape& shape, const std::string& kept = "") {
  Sizes sizes;
  find_batch_norm({nullptr, {{"kept", kept}}}, shape, sizes);
  return sizes;
}

TEST(BatchNorm, HasTheImagesOfItsTensor) {
  LaunchShape shape = launched({64, 1, 1}, 512, 144);
  EXPECT_THAT(batch_norm(shape).missing, HasSubstr("images and pixels are not recorded"));
  shape.op.inputs = {{32, 64, 112, 112}, {64}};
  EXPECT_THAT(images(batch_norm(shape)), ElementsAre("32", "64", "12544"));
  shape.op.inputs = {{32, 128, 112, 112}};
  EXPECT_THAT(batch_norm(shape).missing, HasSubstr("images and pixels are not recorded"));
}

// 2,048 words, and twice as many: 1,537 to 2,048 elements.
TEST(BatchNorm, KeepsAsManyElementsAsItsSharedMemorySays) {
  const Sizes forward = batch_norm(launched({2048, 1, 1}, 512, 8336), "1"),
              backward = batch_norm(launched({2048, 1, 1}, 512, 16656), "2");
  EXPECT_THAT(images(forward), ElementsAre("1", "2048", "1792"));
  EXPECT_EQ(images(backward), images(forward));
  EXPECT_THAT(of(forward, {"shared"}), ElementsAre("8336"));
  EXPECT_THAT(forward.notes, ElementsAre(HasSubstr("within 512")));
  EXPECT_THAT(batch_norm(launched({2048, 1, 1}, 512, 4000), "1").missing, HasSubstr("not recorded"));
  EXPECT_THAT(batch_norm(launched({2048, 1, 1}, 256, 8336), "1").missing, HasSubstr("other than 512 threads"));
}

}  // namespace
}  // namespace warpfold::profile
