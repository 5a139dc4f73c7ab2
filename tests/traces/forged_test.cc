#include <gmock/gmock.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "samples.h"
#include "traces/packed_control.h"
#include "traces/trace.pb.h"
#include "traces/trace_encoding.h"

namespace warpfold::traces {
namespace {

using testing::HasSubstr;

// A change to the messages of a good file, and the expected message of the reader.
struct Forgery {
  std::string name;
  std::string message;
  std::function<void(file::Header&, file::Kernel&)> forge;
};

void PrintTo(const Forgery& each, std::ostream* out) { *out << each.name; }

// The wait of the producer's inner loop: "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3".
file::Instruction& step(file::Kernel& kernel) {
  return *kernel.mutable_roles(0)
              ->mutable_body(1)
              ->mutable_loop()
              ->mutable_body(1)
              ->mutable_loop()
              ->mutable_body(0)
              ->mutable_block()
              ->mutable_code(0);
}

void add_unknown_field(google::protobuf::Message& message) {
  message.GetReflection()->MutableUnknownFields(&message)->AddVarint(1000, 1);
}

std::string forged(const std::function<void(file::Header&, file::Kernel&)>& forge) {
  const std::string good = encode_kernels("sample", {sample()}).value();
  google::protobuf::io::ArrayInputStream input(good.data(), static_cast<int>(good.size()));
  file::Header header;
  file::Kernel kernel;
  bool ended = false;
  EXPECT_TRUE(google::protobuf::util::ParseDelimitedFromZeroCopyStream(&header, &input, &ended));
  EXPECT_TRUE(google::protobuf::util::ParseDelimitedFromZeroCopyStream(&kernel, &input, &ended));
  forge(header, kernel);
  std::string content;
  {
    google::protobuf::io::StringOutputStream output(&content);
    google::protobuf::util::SerializeDelimitedToZeroCopyStream(header, &output);
    google::protobuf::util::SerializeDelimitedToZeroCopyStream(kernel, &output);
  }
  return content;
}

const std::vector<Forgery>& forgeries() {
  using H = file::Header;
  using K = file::Kernel;
  static const std::vector<Forgery> all{
      {"Magic", "not a Warpfold trace", [](H& h, K&) { h.set_magic("other-trace"); }},
      {"NewerVersion", "trace format version 2 (written by \"warpfold 9\"); this program reads version 1",
       [](H& h, K&) { h.set_format_version(2), h.set_producer("warpfold 9"); }},
      {"NoVersion", "trace format version 0", [](H& h, K&) { h.clear_format_version(); }},
      {"Architecture", "sm_91", [](H& h, K&) { h.set_architecture("sm_91"); }},
      {"NoKernels", "the trace holds no kernels", [](H& h, K&) { h.set_kernels(0); }},
      {"MissingKernel", "truncated: kernel 2 of 2 is missing", [](H& h, K&) { h.set_kernels(2); }},
      {"HeaderField", "the header has fields that this format version does not have", [](H& h, K&) { add_unknown_field(h); }},
      {"KernelField", "kernel sample has fields that this format version does not have",
       [](H&, K& k) { add_unknown_field(step(k)); }},
      {"LongText", "a text of 1025 bytes; mnemonics and operands have at most 1024",
       [](H& h, K&) { h.add_texts(std::string(1025, 'x')); }},
      {"Opcode", "kernel sample, role producer, instruction 3: unknown opcode \"SYNCZ.PHASECHK\" of sm_90; did you mean \"SYNCS",
       [](H& h, K& k) { h.set_texts(static_cast<int>(step(k).mnemonic()), "SYNCZ.PHASECHK"); }},
      {"Operand", "kernel sample, role producer, instruction 3: ",
       [](H& h, K& k) { h.set_texts(static_cast<int>(step(k).operands(2)), "R999"); }},
      {"OperandOfTwo",
       "kernel sample, role producer, instruction 3: \"SYNCS.PHASECHK.TRANS64.TRYWAIT\" and its operands are not one instruction",
       [](H& h, K& k) { h.set_texts(static_cast<int>(step(k).operands(2)), "R3, R4"); }},
      {"HiddenEffect", "kernel sample, role producer, instruction 3: unexpected text after the instruction",
       [](H& h, K& k) { h.set_texts(static_cast<int>(step(k).operands(2)), "R3 ; {bytes=1}"); }},
      {"TextNumber", "kernel sample, role producer, instruction 3: text 1000 does not exist",
       [](H&, K& k) { step(k).set_mnemonic(1000); }},
      {"Control", "kernel sample, role producer, instruction 3: control code 131072 has more than 17 bits",
       [](H&, K& k) { step(k).set_control(1U << 17U); }},
      {"Counter", "a dependence counter beyond SB5", [](H&, K& k) { step(k).set_control(pack_control({.read_counter = 6})); }},
      {"Guard", "kernel sample, role producer, instruction 3: guard predicate 8; predicates are 0-7",
       [](H&, K& k) { step(k).mutable_guard()->set_predicate(8); }},
      {"GuardNumber", "kernel sample, role producer, instruction 3: guard predicate 256 is more than 255",
       [](H&, K& k) { step(k).mutable_guard()->set_predicate(256); }},
      {"Wavefronts", "kernel sample, role producer, instruction 3: wavefronts 65536 is more than 65535",
       [](H&, K& k) { step(k).mutable_effect()->set_wavefronts(65536); }},
      {"Stream", "kernel sample, role producer, instruction 3: stream 32768 is more than 32767",
       [](H&, K& k) { step(k).mutable_effect()->set_stream(32768); }},
      {"Multicast", "kernel sample, role producer, instruction 3: multicast 256 is more than 255",
       [](H&, K& k) { step(k).mutable_effect()->set_multicast(256); }},
      {"Parameter", "parameter 4294967295 is more than 2147483647",
       [](H&, K& k) { k.mutable_roles(0)->mutable_body(1)->mutable_loop()->set_parameter(0xffffffff); }},
      {"Node", "neither a block nor a loop follows", [](H&, K& k) { k.mutable_roles(0)->mutable_body(0)->clear_kind(); }},
      {"DeepLoops", "damaged trace: kernel 1 of 1 cannot be decoded",
       [](H&, K& k) {
         file::Node* node = k.mutable_roles(0)->mutable_body(0);
         for (int depth = 0; depth < 200; ++depth) node = node->mutable_loop()->add_body();
       }},
      {"Invalid", "kernel sample: an empty grid", [](H&, K& k) { k.clear_grid(); }},
  };
  return all;
}

class ForgedFile : public testing::TestWithParam<Forgery> {};

TEST_P(ForgedFile, IsRefusedWithItsOwnMessage) {
  const Expected<std::vector<Kernel>> kernels = decode_kernels("forged.wft", forged(GetParam().forge));
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().file, "forged.wft");
  EXPECT_THAT(kernels.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Trace, ForgedFile, testing::ValuesIn(forgeries()), [](const auto& each) { return each.param.name; });

TEST(Forged, WithoutAChangeIsAccepted) {
  const Expected<std::vector<Kernel>> kernels = decode_kernels("good.wft", forged([](file::Header&, file::Kernel&) {}));
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_EQ(*kernels, std::vector<Kernel>{sample()});
}

TEST(PackedControl, WorkedExample) {
  // [B01----:R-:W2:-:S05], as trace.proto works it out
  const isa::ControlCode control{.stall = 5, .write_counter = 2, .wait_mask = 3};
  EXPECT_EQ(pack_control(control), 0x1f45);
  EXPECT_EQ(unpack_control(0x1f45), control);
}

TEST(PackedControl, EveryCodeComesBack) {
  for (uint32_t packed = 0; packed < kPackedControlLimit; ++packed) ASSERT_EQ(pack_control(unpack_control(packed)), packed);
}

}  // namespace
}  // namespace warpfold::traces
