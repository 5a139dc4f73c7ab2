// Provokes all diagnostics about inputs, each with file, line and column, by changing fields of messages and words of texts one by
// one. test_all_said compares the messages from here and from other tests with the sources.

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "configs/gemm_library.pb.h"
#include "configs/gpu.pb.h"
#include "configs/kernel_launch.pb.h"
#include "configs/model.pb.h"
#include "configs/operator_kernels.pb.h"
#include "configs/scenario.pb.h"
#include "configs/study.pb.h"
#include "tests/source_dir.h"
#include "tools/warpfold/commands/dispatch.h"
#include "walk.h"

namespace warpfold::test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = WARPFOLD_SOURCE_DIR "/configs";
const fs::path kCorpus = WARPFOLD_SOURCE_DIR "/tests/fuzz/corpus";

// Of the listings of tests/fuzz/corpus.
constexpr const char* kLaunch =
    "architecture: \"sm_90\"\ngrid { x: 4 }\nblock { x: 64 }\ncluster { x: 2 }\nregisters: 32\nshared_memory_bytes: 4096\n"
    "array { name: \"x\" bytes: 65536 }\nparameter { array: \"x\" array_offset: 64 }\n"
    "parameter { name: \"n\" value: 9 bytes: 4 }\nparameter { offset: 12 real: 1.5 }\n"
    "parameter { tensor_map { array: \"x\" element_bytes: 2 extent: 64 extent: 32 box: 16 box: 8 } }\n"
    "answer { line: 16 taken: 1 of: 4 }\n";
constexpr const char* kPlainLaunch =
    "architecture: \"sm_80\"\ngrid { x: 4 }\nblock { x: 64 }\nshared_memory_bytes: 4096\n"
    "parameter { value: 64 } parameter { value: 5 } parameter { value: 7 }\n";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& each : fs::directory_iterator(folder)) {
    if (each.path().extension() == ".textproto") files.push_back(each.path());
  }
  std::ranges::sort(files);
  return files;
}

// Paths that a file of the repository names, from anywhere.
void make_absolute(google::protobuf::Message& message, const fs::path& folder) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    const bool list = field->is_repeated();
    const int size = list ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      if (field->message_type() != nullptr) {
        make_absolute(list ? *reflection.MutableRepeatedMessage(&message, field, i) : *reflection.MutableMessage(&message, field),
                      folder);
      } else if (!list && field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
        const std::string text = reflection.GetString(message, field);
        std::error_code none;
        if (!text.empty() && fs::is_regular_file(folder / text, none))
          reflection.SetString(&message, field, (folder / text).lexically_normal().string());
      }
    }
  }
}

template <typename Message>
void walk_files(Walk& walk, const std::vector<fs::path>& files, const std::vector<std::string>& words = {"check", "FILE"}) {
  for (const fs::path& file : files) {
    Message message;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text_of(file), &message)) << file;
    make_absolute(message, file.parent_path());
    walk.ask_of_each_field(file.filename().string(), message, words);
  }
}

TEST(Walk, FieldsOfGpus) {
  Walk walk;
  walk_files<configs::Gpu>(walk, {kConfigs / "gpus/h100_sxm.textproto", kConfigs / "gpus/b200.textproto"});
  EXPECT_GT(walk.refused(), 300U);
}

TEST(Walk, FieldsOfScenarios) {
  Walk walk;
  walk_files<configs::Scenario>(walk, files_in(kConfigs / "scenarios"));
  EXPECT_GT(walk.refused(), 500U);
}

TEST(Walk, FieldsOfPolicies) {
  const std::string scenario =
      "gpu_file: \"" + (kConfigs / "gpus/h100_sxm.textproto").string() +
      "\"\n"
      "kernel { name: \"gemm\" hopper_gemm { m: 512 n: 512 k: 512 type: BF16 tile_m: 128 tile_n: 128 tile_k: 64 } }\n"
      "kernel { name: \"rng\" stream: 1 philox { heads: 8 queries: 512 keys: 512 rounds: 7 threshold_bits: 8 threads_per_cta: 128 "
      "} }\n"
      "kernel { name: \"attention\" after: \"gemm\" after: \"rng\" flash_attention_3 { shape { batch: 1 heads: 8 queries: 512 "
      "keys: 512 "
      "head_dim: 128 dropout: STORED_BITS } } }\n";
  for (int kind = configs::PolicyKind_MIN; kind <= configs::PolicyKind_MAX; ++kind) {
    if (!configs::PolicyKind_IsValid(kind)) continue;
    configs::Scenario message;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        scenario + "policy { kind: " + configs::PolicyKind_Name(static_cast<configs::PolicyKind>(kind)) +
            " reserve { kernel: \"rng\" register_percent: 25 warp_slot_percent: 25 } quota { kernel: \"rng\" ctas: 2 } }\n",
        &message));
    Walk of_this;
    of_this.ask_of_each_field("policy.textproto", message, {"check", "FILE"}, message.mutable_policy());
  }
}

TEST(Walk, FieldsOfStudies) {
  Walk walk;
  walk_files<configs::Study>(walk, files_in(kConfigs / "studies"));
  EXPECT_GT(walk.refused(), 100U);
}

TEST(Walk, FieldsOfModels) {
  Walk walk;
  std::vector<fs::path> files = files_in(kConfigs / "models");
  for (const fs::path& each : files_in(kCorpus / "model")) files.push_back(each);
  walk_files<configs::TransformerModel>(walk, files);
  EXPECT_GT(walk.refused(), 100U);
}

TEST(Walk, FieldsOfLaunches) {
  Walk walk;
  fs::copy(kCorpus / "listing/loop.sass", walk.folder() / "loop.sass");
  fs::copy(kConfigs / "kernels/philox_sm_80.sass", walk.folder() / "philox.sass");
  std::ofstream(walk.folder() / "launch.textproto") << kLaunch;
  walk_files<configs::KernelLaunch>(walk, {walk.folder() / "launch.textproto"},
                                    {"import", (walk.folder() / "loop.sass").string(), "--launch", "FILE", "--output", "OUT"});
  Walk of_philox;
  walk_files<configs::KernelLaunch>(of_philox, {kConfigs / "kernels/philox.textproto"},
                                    {"import", (walk.folder() / "philox.sass").string(), "--launch", "FILE", "--output", "OUT"});
  walk_files<configs::OperatorKernels>(walk, {kConfigs / "kernels/operators.textproto"});
  walk_files<configs::GemmLibraries>(walk, {kConfigs / "libraries/deepgemm.textproto"});
}

TEST(Walk, WordsOfConfigurations) {
  Walk walk;
  walk.ask_of_each_word("scenario.textproto",
                        "gpu_file: \"" + (kConfigs / "gpus/h100_sxm.textproto").string() +
                            "\"\nparameter { name: \"heads\" value: 8 sets { path: \"kernel.rng.philox.heads\" } }\n"
                            "kernel { name: \"rng\" philox { queries: 512 keys: 512 rounds: 7 threshold_bits: 8 } }\n"
                            "policy { kind: CONCURRENT }\n",
                        1000);
}

TEST(Walk, WordsOfTraceTexts) {
  Walk walk;
  for (const auto& each : fs::directory_iterator(kCorpus / "trace_text"))
    walk.ask_of_each_word("kernel.wfs", text_of(each.path()), 1200);
  walk.ask_of_each_word("xqa.wfs", text_of(kConfigs / "kernels/xqa_decode.wfs"), 600);
  EXPECT_GT(walk.refused(), 500U);
}

TEST(Walk, WordsOfListings) {
  Walk walk;
  std::ofstream(walk.folder() / "launch.textproto") << kLaunch;
  std::ofstream(walk.folder() / "plain.textproto") << kPlainLaunch;
  for (const auto& each : fs::directory_iterator(kCorpus / "listing")) {
    const std::string launch = each.path().stem() == "ring" ? "launch.textproto" : "plain.textproto";
    walk.ask_of_each_word("listing.sass", text_of(each.path()), 120,
                          {"import", "FILE", "--launch", (walk.folder() / launch).string(), "--output", "OUT"});
  }
  walk.ask_of_each_word("listing.sass", text_of(kCorpus / "listing/loop.sass"), 300);
  EXPECT_GT(walk.refused(), 200U);
}

TEST(Walk, WordsOfRecordedTraces) {
  Walk walk;
  walk.ask_of_each_word("kernel.traceg", text_of(kCorpus / "accelsim_trace/two_warps.traceg"), 1200,
                        {"import-trace", "FILE", "--output", "OUT"});
  walk.ask_of_each_word("kernelslist.g", "MemcpyHtoD,0x00007f0000000000,1024\nkernel-1.traceg\n", 500,
                        {"import-trace", "FILE", "--gpu", (kConfigs / "gpus/a100_sxm.textproto").string(), "--output",
                         (walk.folder() / "out").string()});
  EXPECT_GT(walk.refused(), 500U);
}

TEST(Walk, WordsOfMeasurementsAndResults) {
  Walk walk;
  const std::string rows =
      "id,category,gpu,kernel,impl,dtype,M,N,K,batch,heads,seqlen,head_dim,causal,dropout,value,unit,metric,judged,set\n"
      "gemm,GEMM,NVIDIA H100 80GB HBM3,,cuBLAS,bf16,1024,1024,1024,,,,,,,9.5,us,,,\n"
      "attention,ATTN,NVIDIA H100 80GB HBM3,attention fwd,FlashAttention-3,fp16,,,,1,16,1024,128,0,0,300,TFLOPS,,no,\n";
  walk.ask_of_each_word("rows.csv", rows, 1000);
  const auto result = cli::answer({"simulate", (kConfigs / "scenarios/qkv_philox_small.textproto").string(), "--format", "json"});
  ASSERT_TRUE(result.has_value());
  walk.ask_of_each_word("result.json", *result, 600, {"report", "FILE"});
  walk.ask_of_each_word("result.json", *result, 300);
  EXPECT_GT(walk.refused(), 500U);
}

}  // namespace
}  // namespace warpfold::test
