// Traces of torch.profiler: the values read from them, and one message with its position for each damaged trace.

#include <gmock/gmock.h>
#include <zlib.h>

#include <ostream>
#include <stdexcept>

#include "tools/profile/kineto_reader.h"

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Expected<Profile> read(std::string text) {
  auto source = traces::accelsim::source_of("trace.json", std::move(text));
  if (!source) return std::unexpected(source.error());
  return read_kineto("trace.json", std::move(*source));
}

std::string kernel(const std::string& name, const std::string& ts, const std::string& more_args = "") {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "ts": )" + ts +
         R"(, "dur": 2.5, "args": {"grid": [4, 2, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 1024, )"
         R"("stream": 7)" +
         more_args + "}}";
}
std::string trace(const std::string& events) {
  return "{\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\"}],\n\"traceEvents\": [\n" + events +
         "\n]}\n";
}

TEST(KinetoReader, ReadsLaunchesAndTheirShapes) {
  const auto profile = read(trace(kernel("f", "20.5") + ",\n" + kernel("g", "10") + ",\n" + kernel("f", "30")));
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->gpu, "NVIDIA H100");
  ASSERT_EQ(profile->launches.size(), 3);
  EXPECT_EQ(profile->launches[0].start_us, 10);
  EXPECT_EQ(profile->launches[1].start_us, 20.5);
  EXPECT_EQ(profile->launches[1].shape, profile->launches[2].shape);
  ASSERT_EQ(profile->shapes.size(), 2);
  const LaunchShape& shape = profile->shapes[profile->launches[1].shape];
  EXPECT_EQ(shape.name, "f");
  EXPECT_THAT(shape.grid, ElementsAre(4, 2, 1));
  EXPECT_EQ(shape.threads(), 128);
  EXPECT_EQ(shape.registers_per_thread, 32);
  EXPECT_EQ(shape.shared_memory_bytes, 1024);
  EXPECT_FALSE(profile->shapes_recorded);
}

// Of convolutions, the lists among the inputs: padding, stride. Other operators' lists are not kept.
TEST(KinetoReader, ReadsTheListsOfConvolutions) {
  for (const std::string name : {"aten::cudnn_convolution", "aten::mm"}) {
    const std::string op = R"({"ph": "X", "cat": "cpu_op", "name": ")" + name +
                           R"(", "ts": 1, "dur": 1, "args": {"External id": 9, )"
                           R"("Concrete Inputs": ["", "[0, 1]", "[16, 16]", "[a]", "[1", "True", "[]"]}})";
    const auto profile = read(trace(op + ",\n" + kernel("f", "1", ", \"External id\": 9")));
    ASSERT_TRUE(profile) << profile.error().text();
    const auto& lists = profile->shapes.front().op.lists;
    if (name == "aten::mm") {
      EXPECT_TRUE(lists.empty());
      continue;
    }
    ASSERT_EQ(lists.size(), 7);
    EXPECT_THAT(lists[1], ElementsAre(0, 1));
    EXPECT_THAT(lists[2], ElementsAre(16, 16));
    for (const size_t other : {0, 3, 4, 5, 6}) EXPECT_TRUE(lists[other].empty()) << other;
  }
}

// The operator may stand behind its kernel; lists of tensors and scalars have no extents.
TEST(KinetoReader, JoinsKernelsWithTheirOperators) {
  const std::string op =
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 1, "args": {"External id": 9, )"
      R"("Input Dims": [[8, 16], [], [[1, 2], [3, 4]], [16, 4]], "Input type": ["float", "Scalar", "TensorList", "float"], )"
      R"("Input Strides": [[16, 1], [], [[2, 1], [4, 1]], [1, 16]]}})";
  const auto profile = read(trace(kernel("f", "1", ", \"External id\": 9") + ",\n" + op + ",\n" +
                                  kernel("g", "5", ", \"External id\": 8") + ",\n" + kernel("f", "9")));
  ASSERT_TRUE(profile) << profile.error().text();
  ASSERT_EQ(profile->shapes.size(), 2);
  EXPECT_EQ(profile->shapes[0].op.name, "aten::mm");
  EXPECT_THAT(profile->shapes[0].op.inputs, ElementsAre(ElementsAre(8, 16), ElementsAre(), ElementsAre(), ElementsAre(16, 4)));
  EXPECT_THAT(profile->shapes[0].op.types, ElementsAre("float", "Scalar", "TensorList", "float"));
  EXPECT_THAT(profile->shapes[0].op.strides, ElementsAre(ElementsAre(16, 1), ElementsAre(), ElementsAre(), ElementsAre(1, 16)));
  EXPECT_EQ(profile->shapes[1].op.name, "");
  EXPECT_TRUE(profile->shapes_recorded);
  EXPECT_EQ(profile->operators_found, 1) << "the second launch of f takes the operator of the first";
}

// Releases write the number 0, equal numbers of both kinds, numbers beyond 32 bits and numbers as strings.
TEST(KinetoReader, JoinsByAnyExternalId) {
  const auto op = [](const std::string& name, const std::string& id) {
    return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "ts": 1, "dur": 1, "args": {"External id": )" + id + "}},\n";
  };
  const auto profile = read(
      trace(op("aten::mm", "0") + op("aten::add", "5") + op("aten::relu", "\"6\"") + op("aten::sum", "18446744073709551615") +
            kernel("f", "1", ", \"External id\": \"0\"") + ",\n" + kernel("g", "2", ", \"External id\": 5, \"correlation\": 5") +
            ",\n" + kernel("h", "3", ", \"External id\": 6, \"correlation\": \"9\"") + ",\n" +
            kernel("i", "4", ", \"External id\": 18446744073709551615") + ",\n" + kernel("j", "5", ", \"External id\": null")));
  ASSERT_TRUE(profile) << profile.error().text();
  std::vector<std::string> names;
  for (const LaunchShape& shape : profile->shapes) names.push_back(shape.op.name);
  EXPECT_THAT(names, ElementsAre("aten::mm", "aten::add", "aten::relu", "aten::sum", ""));
}

// Operators that share an id, as those outside of any recorded function do: the call that launched the kernel decides.
TEST(KinetoReader, TheCallDecidesBetweenOperatorsOfOneId) {
  const auto event = [](const std::string& category, const std::string& name, int begin, int us, const std::string& args) {
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "tid": 1, "ts": )" + std::to_string(begin) +
           R"(, "dur": )" + std::to_string(us) + R"(, "args": {)" + args + "}},\n";
  };
  const auto profile = read(trace(event("cpu_op", "aten::mm", 0, 10, "\"External id\": 0") +
                                  event("cpu_op", "aten::add", 20, 10, "\"External id\": 0") +
                                  event("cuda_runtime", "cudaLaunchKernel", 25, 2, "\"correlation\": 3") +
                                  kernel("f", "40", ", \"External id\": 0, \"correlation\": 3")));
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->shapes[0].op.name, "aten::add");
}

// Kineto before 2023: External ids of kernels are their correlations. The call was made inside of aten::mm, on its thread.
TEST(KinetoReader, JoinsOldKernelsByTheCallThatLaunchedThem) {
  const auto event = [](const std::string& category, const std::string& name, int thread, int begin, int us,
                        const std::string& args) {
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "tid": )" + std::to_string(thread) +
           R"(, "ts": )" + std::to_string(begin) + R"(, "dur": )" + std::to_string(us) + R"(, "args": {)" + args + "}},\n";
  };
  const auto profile = read(trace(event("cpu_op", "aten::linear", 1, 0, 100, "\"External id\": 7") +
                                  event("cpu_op", "aten::mm", 1, 10, 50, "\"External id\": 8") +
                                  event("cpu_op", "aten::add", 1, 70, 20, "\"External id\": 5000") +
                                  event("cpu_op", "aten::relu", 2, 15, 50, "\"External id\": 9") +
                                  event("cuda_runtime", "cudaLaunchKernel", 1, 20, 5, "\"correlation\": 5000") +
                                  event("cuda_runtime", "cudaLaunchKernel", 1, 65, 5, "\"correlation\": 5001") +
                                  kernel("f", "200", ", \"External id\": 5000, \"correlation\": 5000") + "," +
                                  kernel("g", "300", ", \"External id\": 5001, \"correlation\": 5001")));
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->shapes[0].op.name, "aten::mm");
  EXPECT_EQ(profile->shapes[1].op.name, "aten::linear");
}

TEST(KinetoReader, ReadsAListOfEventsAndOldCategories) {
  const auto profile = read(R"([{"ph": "M", "name": "process_name"}, {"ph": "X", "cat": "Kernel", "name": "f", "ts": 1, "dur": 1},
                                {"ph": "X", "cat": "Memcpy", "name": "Memcpy", "ts": 2, "dur": 3, "args": {"nested": {"name": "x"}}}])");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->launches.size(), 2);
  EXPECT_EQ(profile->launches[1].shape, Launch::kCopy);
  EXPECT_EQ(profile->shapes.size(), 1);
}

TEST(KinetoReader, TakesTheGpuWithTheMostKernelTime) {
  const auto profile =
      read(trace(kernel("f", "1", ", \"device\": 1") + "," + kernel("g", "2") + "," + kernel("f", "3", ", \"device\": 1")));
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->device, 1);
  EXPECT_EQ(profile->other_devices, 1);
  EXPECT_EQ(profile->launches.size(), 2);
  EXPECT_EQ(profile->gpu, "");
}

TEST(KinetoReader, ReadsGzip) {
  const std::string text = trace(kernel("f", "1"));
  std::string packed(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  EXPECT_TRUE(read(packed));
  const auto cut = read(packed.substr(0, packed.size() / 2));
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().text(), HasSubstr("trace.json: truncated: the gzip data ends early"));
}

struct Case {
  std::string name;
  std::string text;
  std::string message;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class BrokenTrace : public testing::TestWithParam<Case> {};

TEST_P(BrokenTrace, HasOneMessage) {
  const auto profile = read(GetParam().text);
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr(GetParam().message));
}

std::vector<Case> cases() {
  const std::string good = trace(kernel("f", "1"));
  std::string bad_text = good;
  bad_text.replace(bad_text.find("\"f\""), 3, "\"\xff\"");
  return {
      {"Empty", "", "trace.json:1:1: the trace is empty"},
      {"CutShort", good.substr(0, good.size() - 8), "truncated: the JSON ends early; export the trace again"},
      {"Word", trace("hello"), "trace.json:4:1: damaged JSON: Invalid value"},
      {"Utf8", bad_text, "damaged JSON: Invalid encoding in string"},
      {"Behind", good + "x", "damaged JSON"},
      {"Nul", good + std::string(1, '\0') + "x", "damaged JSON: a NUL behind the trace"},
      {"Number", "42", "expected a trace of torch.profiler, an object or a list of events"},
      {"Deep", "[" + std::string(100, '['), "trace.json:1:65: nested deeper than 64 brackets"},
      {"Endless", "[\"" + std::string(size_t{1} << 25, 'a') + "\"]", "a string or a blank longer than 16 MiB"},
      {"NoKernel", trace(R"({"ph": "X", "cat": "cpu_op", "name": "f", "ts": 1, "dur": 1})"),
       "no kernel in the trace; profile with ProfilerActivity.CUDA"},
      {"NoDuration", trace(R"({"ph": "X", "cat": "kernel", "name": "f", "ts": 1})"),
       "trace.json:4:50: kernel \"f\" lacks a start or a duration from 0 to 1e16 us"},
      {"NoName", trace(R"({"ph": "X", "cat": "kernel", "ts": 1, "dur": 1})"), "a kernel without a name"},
      {"NegativeDuration", trace(R"({"ph": "X", "cat": "kernel", "name": "f", "ts": 1, "dur": -1})"), "kernel \"f\" lacks a start"},
      {"LfsPointer", "version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"},
  };
}

INSTANTIATE_TEST_SUITE_P(Each, BrokenTrace, testing::ValuesIn(cases()), [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace warpfold::profile
