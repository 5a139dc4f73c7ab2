// Sizes of kernels with an axis: concatenations, reductions, gathers, rotary embeddings.

#include "tools/profile/axis_sizes.h"

#include <gmock/gmock.h>

namespace warpfold::profile {
namespace {

using testing::HasSubstr;
using testing::Not;

using Lists = std::vector<std::vector<uint64_t>>;

NamedKernel named(std::map<std::string, std::string> groups) { return {nullptr, std::move(groups)}; }
NamedKernel concatenation(const std::string& extents, const std::string& strides, bool vectors = false) {
  std::map<std::string, std::string> groups{{"extents", extents}, {"inputs_with_strides", strides}};
  if (vectors) groups["vectors"] = "_aligned16";
  return named(std::move(groups));
}
LaunchShape launch(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& block) {
  LaunchShape shape;
  shape.grid = grid;
  shape.block = block;
  return shape;
}
Sizes joined(const LaunchShape& shape, const NamedKernel& kernel, uint64_t bytes = 2) {
  Sizes sizes;
  find_concatenation(kernel, shape, bytes, sizes);
  return sizes;
}

LaunchShape two_halves() {
  LaunchShape shape = launch({264, 2, 1}, {512, 1, 1});
  shape.op.name = "aten::cat";
  shape.op.list = {{16, 16, 559, 32}, {16, 16, 559, 32}};
  shape.op.list_strides = {{286208, 32, 512, 1}, {572416, 64, 1024, 1}};
  shape.op.values = {"", "-1"};
  return shape;
}

TEST(Concatenation, HasTheElementsOfEachInput) {
  const Sizes sizes = joined(two_halves(), concatenation("4", "64"));
  EXPECT_EQ(sizes.missing, "");
  const std::string& fields = sizes.values.at("fields");
  EXPECT_THAT(fields, HasSubstr("description.grid.x=264 description.grid.y=2"));
  EXPECT_THAT(fields, HasSubstr("description.parameter.variant.value=4"));
  EXPECT_THAT(fields, HasSubstr("description.parameter.elements_1.value=4579328"));
  EXPECT_THAT(fields, HasSubstr("description.array.out.bytes=18317312"));
  // 32 elements of two bytes are two sectors, in the inputs and in the result.
  EXPECT_THAT(fields, HasSubstr("description.choice.3.answer.0.sectors=2 description.choice.3.answer.1.sectors=2"));
  EXPECT_TRUE(sizes.notes.empty());
}

// [8, 3136, 768] with strides [768, 6144, 1]: rows of 768 elements, wherever they lie. A transposed input: a sector a lane.
TEST(Concatenation, CountsTheSectorsOfItsInputs) {
  LaunchShape shape = launch({264, 2, 1}, {512, 1, 1});
  shape.op.list = {{8, 1, 768}, {8, 3136, 768}};
  shape.op.list_strides = {{768, 768, 1}, {768, 6144, 1}};
  shape.op.values = {"", "1"};
  EXPECT_THAT(joined(shape, concatenation("3", "64")).values.at("fields"), HasSubstr("choice.2.answer.0.sectors=2 "));
  shape.op.list_strides[1] = {2408448, 1, 3136};
  EXPECT_THAT(joined(shape, concatenation("3", "64")).values.at("fields"), HasSubstr("choice.2.answer.0.sectors=32 "));
}

// A vector's elements are stored one by one, each at a place of its own: 32 lanes 16 bytes apart are 16 sectors. A tail as well.
TEST(Concatenation, OfVectorsStoresSingleElements) {
  LaunchShape shape = launch({264, 2, 1}, {512, 1, 1});
  shape.op.list = {{512, 1024}, {256, 1024}};
  shape.op.values = {"", "0"};
  const std::string fields = joined(shape, concatenation("2", "1", true), 4).values.at("fields");
  EXPECT_THAT(fields, HasSubstr("variant.value=10"));
  EXPECT_THAT(fields, HasSubstr("choice.9.answer.0.sectors=16"));
  EXPECT_THAT(fields, HasSubstr("choice.9.answer.4.sectors=16"));
  EXPECT_THAT(fields, Not(HasSubstr("answer.5")));
  EXPECT_THAT(joined(shape, concatenation("2", "1")).values.at("fields"), HasSubstr("choice.5.answer.0.sectors=2"));
}

TEST(Concatenation, StaysOpaqueWithoutItsTensors) {
  LaunchShape shape = two_halves();
  shape.op.list.clear();
  EXPECT_EQ(joined(shape, concatenation("4", "64")).missing, "lists of tensors are not recorded");
  shape = two_halves();
  shape.grid[1] = 3;
  EXPECT_THAT(joined(shape, concatenation("4", "64")).missing,
              HasSubstr("grid 264 x 3 x 1 is not that of the operator's 2 tensors"));
  EXPECT_THAT(joined(two_halves(), concatenation("3", "64")).missing, HasSubstr("the number of extents in its name"));
  EXPECT_THAT(joined(two_halves(), concatenation("4", "64"), 8).missing, HasSubstr("elements of 8 bytes"));
  shape = two_halves();
  shape.op.list[1][0] = 8;
  EXPECT_THAT(joined(shape, concatenation("4", "64")).missing, HasSubstr("more than one axis"));
  shape = two_halves();
  shape.op.values.clear();  // Kineto before 2024; equal tensors do not show their axis
  EXPECT_THAT(joined(shape, concatenation("4", "64")).missing, HasSubstr("the axis along which it joins tensors is not recorded"));
  shape.op.list[1][3] = 64;
  EXPECT_EQ(joined(shape, concatenation("4", "64")).missing, "");
  shape.op.list.assign(9, {16, 16, 559, 32});
  shape.op.values = {"", "-1"};
  shape.grid[1] = 9;
  EXPECT_THAT(joined(shape, concatenation("4", "64")).missing, HasSubstr("more than eight tensors"));
  shape.op.list.assign(2, {1 << 20, 1 << 10, 1, 1});
  EXPECT_THAT(joined(shape, concatenation("4", "64")).missing, HasSubstr("2^31"));
}

Sizes reduced(const LaunchShape& shape, const std::string& of_thread) {
  Sizes sizes;
  find_reduction(named({{"of_thread", of_thread}}), shape, sizes);
  return sizes;
}
LaunchShape mean_of_rows() {
  LaunchShape shape = launch({559, 1, 1}, {32, 16, 1});
  shape.op.inputs = {{16, 559, 1024}, {}, {}, {}};
  shape.op.types = {"float", "ScalarList", "Scalar", ""};
  shape.op.strides = {{572416, 1024, 1}, {}, {}, {}};
  shape.op.values = {"", "[-1]", "True", ""};
  return shape;
}

TEST(Reduction, HasTheRowsThatItsAxesLeave) {
  const Sizes sizes = reduced(mean_of_rows(), "1");
  EXPECT_EQ(sizes.missing, "");
  EXPECT_EQ(sizes.values.at("rows"), "8944");
  EXPECT_EQ(sizes.values.at("columns"), "1024");
  EXPECT_TRUE(sizes.notes.empty());
  LaunchShape both = mean_of_rows();
  both.op.values[1] = "[2, 1]";
  both.grid[0] = 16;  // 572,416 elements: a CTA a row
  EXPECT_EQ(reduced(both, "1").values.at("columns"), "572416");
  both.op.strides[0] = {572416, 2048, 1};
  EXPECT_THAT(reduced(both, "1").notes, testing::ElementsAre("its tensor is taken to be dense"));
  LaunchShape argument = mean_of_rows();
  argument.op.types[1] = "Scalar";  // amax along one axis
  argument.op.values[1] = "2";
  EXPECT_EQ(reduced(argument, "1").values.at("rows"), "8944");
}

TEST(Reduction, OfColumnsHasPartsOfTheGrid) {
  LaunchShape shape = launch({8, 16, 1}, {32, 4, 1});
  shape.op.inputs = {{32, 128, 1024}, {}, {}, {}};
  shape.op.types = {"float", "ScalarList", "Scalar", ""};
  shape.op.values = {"", "[0, 1]", "False", ""};
  const Sizes sizes = reduced(shape, "4");
  EXPECT_EQ(sizes.missing, "");
  EXPECT_EQ(sizes.values.at("rows"), "4096");
  EXPECT_EQ(sizes.values.at("columns"), "1024");
  EXPECT_EQ(sizes.values.at("parts"), "16");
  shape.op.values[1] = "[1]";
  EXPECT_THAT(reduced(shape, "4").missing, HasSubstr("between others"));
}

TEST(Reduction, StaysOpaqueIfItsAxesOrItsLayoutAreNotKnown) {
  LaunchShape shape = mean_of_rows();
  shape.op.values.clear();
  EXPECT_EQ(reduced(shape, "1").missing, "which extents it reduces is not recorded");
  EXPECT_EQ(reduced(launch({1, 1, 1}, {512, 1, 1}), "1").missing, "which extents it reduces is not recorded");
  shape = mean_of_rows();
  shape.block = {128, 1, 1};
  EXPECT_THAT(reduced(shape, "1").missing, HasSubstr("block of 128 x 1 and a grid of 559 x 1 x 1"));
  shape = mean_of_rows();
  shape.op.values[1] = "[]";  // all extents: one row
  EXPECT_THAT(reduced(shape, "1").missing, HasSubstr("9158656 elements to each of 1 "));
  for (const std::string wrong : {"[3]", "[-4]"}) {
    shape.op.values[1] = wrong;
    EXPECT_EQ(reduced(shape, "1").missing, "which extents it reduces is not recorded") << wrong;
  }
}

TEST(Gather, HasTheRowsOfItsIndices) {
  LaunchShape shape = launch({1056, 1, 1}, {128, 1, 1});
  shape.op.inputs = {{151936, 1024}, {}, {8944}};
  shape.op.values = {"", "0", ""};
  Sizes sizes;
  find_gather(shape, 2, sizes);
  EXPECT_EQ(sizes.missing, "");
  const std::string& fields = sizes.values.at("fields");
  EXPECT_THAT(fields, HasSubstr("parameter.elements.value=9158656"));
  EXPECT_THAT(fields, HasSubstr("array.x.bytes=18317312"));
  EXPECT_THAT(fields, HasSubstr("answer.0.sectors=1 description.answer.1.sectors=2 description.answer.2.sectors=2"));
  const auto missing = [&](const LaunchShape& of, uint64_t bytes) {
    Sizes none;
    find_gather(of, bytes, none);
    return none.missing;
  };
  EXPECT_THAT(missing(shape, 8), HasSubstr("none of rows of 2 or 4 bytes"));
  LaunchShape columns = shape;
  columns.op.values[1] = "1";
  EXPECT_THAT(missing(columns, 2), HasSubstr("none of rows"));
  LaunchShape few = shape;
  few.op.inputs[2] = {4};
  EXPECT_THAT(missing(few, 2), HasSubstr("grid 1056 x 1 x 1 is larger than 4 rows of 1024"));
  few.op.inputs = {{5, 4}};
  EXPECT_THAT(missing(few, 2), HasSubstr("not recorded"));
}

TEST(Rotary, HasHeadsOfTheOperatorsTensors) {
  LaunchShape shape = launch({888, 1, 1}, {256, 1, 1});
  shape.op.inputs = {{888}, {888, 512}, {888, 64}, {}, {131072, 64}, {}};
  shape.op.strides = {{1}, {640, 1}, {640, 1}, {}, {64, 1}, {}};
  shape.op.values = {"", "", "", "64", "", "True"};
  Sizes sizes;
  find_rotary(shape, sizes);
  EXPECT_EQ(sizes.missing, "");
  EXPECT_EQ(sizes.values.at("heads"), "8");
  EXPECT_EQ(sizes.values.at("kv_heads"), "1");
  EXPECT_EQ(sizes.values.at("stride"), "640");
  shape.grid[0] = 900;
  find_rotary(shape, sizes);
  EXPECT_THAT(sizes.missing, HasSubstr("a CTA for each of 888 tokens"));
  shape.op.values.clear();
  find_rotary(shape, sizes);
  EXPECT_EQ(sizes.missing, "tokens, heads and their size are not recorded");
}

}  // namespace
}  // namespace warpfold::profile
