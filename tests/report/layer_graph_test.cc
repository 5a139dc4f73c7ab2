#include "tools/report/layer_graph.h"

#include <gmock/gmock.h>

namespace warpfold::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two kernels of the forward pass, and one of the backward pass that reads the first kernel's result.
configs::LayerReport report() {
  configs::LayerReport made;
  made.mutable_model()->set_name("a <b> & \"c\"");
  made.set_gpu("GPU");
  configs::LayerVersion& version = *made.add_versions();
  version.set_name("fused");
  version.set_time_us(12);
  const auto kernel = [&](const char* name, const char* pass, std::vector<std::string> operators) {
    configs::LayerKernel& each = *version.add_kernels();
    each.set_name(name);
    each.set_pass(pass);
    each.set_kind("elementwise");
    each.set_bound("memory");
    each.set_flops(2'000'000);
    each.set_bytes(4'000'000);
    each.set_intensity(0.5);
    each.set_roofline_us(3);
    for (const std::string& of : operators) each.add_operators(of);
  };
  kernel("AB", "forward", {"first", "second"});
  kernel("C", "forward", {"third"});
  kernel("BC", "backward", {"third dX"});
  version.mutable_kernels(1)->set_simulated_us(4);
  const auto tensor = [&](const char* name, const char* role, uint64_t bytes, std::vector<uint32_t> makers,
                          std::vector<uint32_t> readers) {
    configs::LayerTensor& each = *version.add_tensors();
    each.set_name(name);
    each.set_role(role);
    each.set_dimensions("b 2");
    each.set_bytes(bytes);
    for (const uint32_t maker : makers) each.add_makers(maker);
    for (const uint32_t reader : readers) each.add_readers(reader);
  };
  tensor("x", "activation", 1'000, {}, {0});
  tensor("y", "activation", 2'000'000, {0}, {1, 2});
  tensor("w", "weight", 3'000'000'000, {}, {1});
  tensor("z", "activation", 500, {1}, {});
  version.mutable_tensors(3)->set_result(true);
  return made;
}

size_t times(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(LayerGraph, HasABoxForEachKernelAndInput) {
  const std::string svg = layer_graph(report(), 0, false);
  EXPECT_EQ(times(svg, "<g class=\"node\">"), 4U);
  EXPECT_THAT(svg,
              AllOf(HasSubstr(">AB<"), HasSubstr(">2.00 MFLOP, 4.00 MB, 0.500 FLOP/B<"), HasSubstr(">4.00 us, roofline 3.00<"),
                    HasSubstr(">3.00 us by roofline<"), HasSubstr(">weights 3.00 GB<"), HasSubstr(">elementwise, memory-bound<")));
}

TEST(LayerGraph, BoxesTheOperatorsOfAFusedKernel) {
  const std::string svg = layer_graph(report(), 0, false);
  EXPECT_EQ(times(svg, "\"box fused\""), 1U);
  EXPECT_EQ(times(svg, "class=\"inner\""), 2U);
  EXPECT_THAT(svg, AllOf(HasSubstr(">first<"), HasSubstr(">second<")));
}

TEST(LayerGraph, DrawsTensorsWithTheirSizes) {
  const std::string svg = layer_graph(report(), 0, false);
  EXPECT_EQ(times(svg, "class=\"edge\""), 2U);  // x, y
  EXPECT_EQ(times(svg, "class=\"edge kept\""), 1U);
  EXPECT_EQ(times(svg, "class=\"edge result\""), 1U);
  EXPECT_THAT(svg, AllOf(HasSubstr("<title>y (b 2): 2.00 MB</title>"), HasSubstr(">500 B<"), HasSubstr(">1.00 kB<")));
}

TEST(LayerGraph, EscapesNamesAndStandsAlone) {
  const std::string alone = layer_graph(report(), 0, true);
  EXPECT_THAT(alone, AllOf(HasSubstr("a &lt;b&gt; &amp; &quot;c&quot; on GPU, fused: 3 launches, 12.0 us"), HasSubstr("<style>"),
                           Not(HasSubstr("<b>"))));
  EXPECT_THAT(layer_graph(report(), 0, false), Not(HasSubstr("<style>")));
}

}  // namespace
}  // namespace warpfold::report
