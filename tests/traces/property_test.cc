#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "samples.h"
#include "traces/stats.h"
#include "traces/trace_encoding.h"
#include "traces/trace_file.h"
#include "traces/validate.h"

namespace warpfold::traces {
namespace {

template <typename Number>
Number between(Number least, Number most) {
  return *rc::gen::inRange<Number>(least, static_cast<Number>(most + 1));
}

bool coin() { return *rc::gen::arbitrary<bool>(); }

// Random valid kernels: any shape of program, resources and launch.
class RandomKernel {
 public:
  Kernel make() {
    kernel_.name = *rc::gen::nonEmpty<std::string>();
    kernel_.architecture = "sm_90";
    kernel_.source = *rc::gen::arbitrary<std::string>();
    kernel_.registers_per_thread = between(1U, 255U);
    kernel_.shared_memory_bytes = *rc::gen::inRange<uint32_t>(0, kMostSharedMemory + 1);
    kernel_.flops = *rc::gen::arbitrary<uint64_t>();
    make_resources();
    make_launch();
    const uint32_t roles = between(1U, 4U);
    for (uint32_t r = 0; r < roles; ++r) {
      Role role{"role" + std::to_string(r), between(1U, 8U), make_body(0)};
      role.body.emplace_back(Block{{instruction("EXIT ;")}});
      kernel_.roles.push_back(std::move(role));
    }
    return kernel_;
  }

 private:
  void make_resources() {
    for (uint32_t s = between(1U, 3U); s > 0; --s) {
      const uint64_t denominator = between(uint64_t{1}, uint64_t{1} << 40U);
      const bool write = coin();
      kernel_.streams.push_back({"stream" + std::to_string(s), write, between(uint64_t{0}, denominator), denominator,
                                 coin() ? between(uint64_t{1}, uint64_t{1} << 50U) : 0,
                                 write ? 0 : between(uint64_t{0}, denominator), denominator});
    }
    const uint32_t depth = between(1U, 9U);
    for (uint32_t r = between(1U, 3U); r > 0; --r) {
      kernel_.rings.push_back({"ring" + std::to_string(r), depth, between(1U, 512U), coin()});
      kernel_.cursors.push_back({"cursor" + std::to_string(r), depth, *rc::gen::arbitrary<uint32_t>()});
    }
  }

  void make_launch() {
    for (uint32_t p = between(0U, 3U); p > 0; --p) kernel_.parameters.push_back("parameter" + std::to_string(p));
    const uint32_t classes = between(1U, 3U);
    for (uint32_t c = 0; c < classes; ++c) {
      CtaClass cta_class{"class" + std::to_string(c), {}};
      for (size_t p = 0; p < kernel_.parameters.size(); ++p) cta_class.values.push_back(between(uint64_t{1}, uint64_t{1000}));
      kernel_.cta_classes.push_back(std::move(cta_class));
    }
    kernel_.cluster_ctas = between(1U, 4U);
    for (uint32_t r = between(1U, 20U); r > 0; --r) {
      kernel_.grid.push_back({between(0U, classes - 1), kernel_.cluster_ctas * between(uint64_t{1}, uint64_t{1000})});
    }
  }

  std::vector<Node> make_body(int depth) {
    std::vector<Node> body{make_block(1)};
    for (int node = between(0, 3); node > 0; --node) {
      if (depth < 4 && coin()) {
        body.emplace_back(Loop{make_trips(), make_body(depth + 1)});
      } else {
        body.emplace_back(make_block(0));
      }
    }
    return body;
  }

  TripCount make_trips() {
    if (kernel_.parameters.empty() || coin()) return {.literal = between(uint64_t{1}, uint64_t{1000})};
    return {.parameter = between(0, static_cast<int32_t>(kernel_.parameters.size()) - 1)};
  }

  Block make_block(int least) {
    Block block;
    for (int count = between(least, 4); count > 0; --count) block.code.push_back(make_instruction());
    return block;
  }

  isa::Instruction make_instruction() {
    static const std::vector<std::string> guards{"", "@P0 ", "@!P6 ", "@UP3 ", "@!PT "};
    static const std::vector<std::string> plain{"FFMA R1, R2.reuse, R3, -R4",        "MUFU.EX2 R7, R8", "LDS.64 R10, [R2+0x40]",
                                                "ISETP.GE.AND P0, PT, R1, 0x10, PT", "BRA `(.L_x_1)",   "NOP"};
    isa::Instruction made;
    const int kind = between(0, 2);
    const std::string guard = *rc::gen::elementOf(guards);
    if (kind == 0) {
      made = instruction(guard + *rc::gen::elementOf(plain));
    } else if (kind == 1) {
      made = instruction(guard + "LDG.E.128 R4, desc[UR4][R2.64]");
      made.effect.l1_hit = coin();
      if (!made.effect.l1_hit) {
        made.effect.bytes = between(1U, ~0U);
        made.effect.stream = between<int16_t>(-1, static_cast<int16_t>(kernel_.streams.size() - 1));
      }
      made.effect.wavefronts = *rc::gen::arbitrary<uint16_t>();
    } else {
      made = instruction(guard + "SYNCS.ARRIVE.TRANS64 RZ, [R2], R3");
      made.effect.barrier = between<int16_t>(0, static_cast<int16_t>(kernel_.rings.size() - 1));
      made.effect.cursor = between<int16_t>(0, static_cast<int16_t>(kernel_.cursors.size() - 1));
      made.effect.advance = *rc::gen::arbitrary<uint32_t>();
      made.effect.tx_bytes = between(0U, 0xfffffU);
    }
    made.control = {.stall = between<uint8_t>(0, 15),
                    .yield = coin(),
                    .write_counter = make_counter(),
                    .read_counter = make_counter(),
                    .wait_mask = between<uint8_t>(0, 63)};
    return made;
  }

  static uint8_t make_counter() { return coin() ? isa::kNoCounter : between<uint8_t>(0, isa::kDependenceCounters - 1); }

  Kernel kernel_;
};

// Runs the program of every warp of every CTA in the head.
uint64_t counted_by_walking(const std::vector<Node>& body, const CtaClass& cta_class) {
  uint64_t count = 0;
  for (const Node& node : body) {
    if (const auto* block = std::get_if<Block>(&node)) {
      count += block->code.size();
    } else {
      const auto& loop = std::get<Loop>(node);
      const uint64_t times =
          loop.trips.parameter < 0 ? loop.trips.literal : cta_class.values[static_cast<size_t>(loop.trips.parameter)];
      const uint64_t once = counted_by_walking(loop.body, cta_class);
      for (uint64_t t = 0; t < times; ++t) count += once;
    }
  }
  return count;
}

RC_GTEST_PROP(RandomKernels, SurviveTextAndFile, ()) {
  const Kernel kernel = RandomKernel().make();
  const Expected<void> valid = validate(kernel, "random");
  if (!valid) RC_FAIL(valid.error().text());

  const std::string text = format_kernels({kernel});
  const Expected<std::vector<Kernel>> from_text = parse_kernels("random", text);
  if (!from_text) RC_FAIL(from_text.error().text() + "\n" + text);
  RC_ASSERT(from_text->at(0) == kernel);
  RC_ASSERT(format_kernels(*from_text) == text);

  const Expected<std::vector<Kernel>> from_file = decode_kernels("random", encode_kernels("random", {kernel}).value());
  if (!from_file) RC_FAIL(from_file.error().text() + "\n" + text);
  RC_ASSERT(from_file->at(0) == kernel);
}

RC_GTEST_PROP(RandomKernels, IssueWhatWalkingTheirLoopsIssues, ()) {
  const Kernel kernel = RandomKernel().make();
  uint64_t issued = 0;
  for (const CtaRun& run : kernel.grid) {
    for (const Role& role : kernel.roles) {
      issued += run.count * role.warps * counted_by_walking(role.body, kernel.cta_classes[run.cta_class]);
    }
  }
  RC_ASSERT(issued_instructions(kernel) == issued);
  RC_ASSERT(statistics(kernel).instructions.issued == issued);
}

}  // namespace
}  // namespace warpfold::traces
