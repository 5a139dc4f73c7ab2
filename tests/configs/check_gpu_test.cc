#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "configs/read_file.h"
#include "configs/resources.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

namespace pb = google::protobuf;

Gpu h100() { return load_gpu(gpu_path("h100_sxm.textproto")).value(); }

std::string fault(const std::function<void(Gpu&)>& change) {
  Gpu gpu = h100();
  change(gpu);
  const auto checked = check_gpu(gpu, "g");
  return checked ? "no error" : checked.error().text();
}

// Calls `visit` with every plain field, lists left out, of the groups below `message`, and the path to it.
using Visit = std::function<void(pb::Message& owner, const pb::FieldDescriptor& field, const std::string& path)>;
void for_each_field(pb::Message& message, const std::string& prefix, const Visit& visit) {
  const pb::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    if (field.is_repeated()) continue;
    const std::string path = prefix + field.name();
    if (field.message_type() != nullptr) {
      for_each_field(*message.GetReflection()->MutableMessage(&message, &field), path + ".", visit);
    } else {
      visit(message, field, path);
    }
  }
}

TEST(CheckGpu, MissesEveryFieldThatTheMachineReads) {
  Gpu all;
  std::vector<std::string> paths;
  for_each_field(all, "", [&](auto&, auto&, const std::string& path) { paths.push_back(path); });
  for (const std::string& wanted : paths) {
    // No base, and fields with a default.
    if (wanted.ends_with("scale") || wanted == "base" || wanted == "sub_core.issue_policy" ||
        wanted.ends_with("_admission_entries") || wanted.starts_with("data_sheet.") || wanted == "graph_launch_cycles" ||
        wanted == "programmatic_launch_cycles" || wanted == "timed_launch_us" || wanted.starts_with("sm.tcgen05.") ||
        wanted == "clock" || wanted == "power.gpu" || wanted == "gpcs" || wanted == "dram.turnaround_percent" ||
        wanted == "dram.write_queue_bytes" || wanted == "l2.write_back_bytes" || wanted.find("addition") != std::string::npos ||
        wanted.starts_with("sm.instruction_cache.") || wanted == "sm.constant_address_cycles")
      continue;
    const std::string message = fault([&](Gpu& gpu) {
      for_each_field(gpu, "", [&](pb::Message& owner, const pb::FieldDescriptor& field, const std::string& path) {
        if (path == wanted) owner.GetReflection()->ClearField(&owner, &field);
      });
    });
    EXPECT_EQ(message, "g: " + wanted + " is missing");
  }
}

TEST(CheckGpu, TakesAWholeInstructionCacheOrNone) {
  const auto with = [](void (*set)(configs::InstructionCache&)) {
    return fault([&](Gpu& gpu) { set(*gpu.mutable_sm()->mutable_instruction_cache()); });
  };
  EXPECT_EQ(with([](auto& cache) { cache.set_bytes(32768); }),
            "g: sm.instruction_cache.line_bytes is missing: an instruction cache has bytes, line_bytes and line_cycles");
  EXPECT_EQ(with([](auto& cache) {
              cache.set_bytes(32768);
              cache.set_line_bytes(128);
              cache.set_line_cycles(25);
            }),
            "no error");
}

TEST(CheckGpu, TakesADataSheetOrNone) {
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.clear_data_sheet(); }), "no error");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_data_sheet()->set_fp16_tflops(0); }),
            "g: data_sheet.fp16_tflops must be from 1 to 1000000, not 0");
}

TEST(CheckGpu, KnowsEveryFactorAsAResource) {
  Gpu all;
  std::set<std::string> fields;
  for_each_field(all, "", [&](auto&, auto&, const std::string& path) {
    if (path.ends_with("scale")) fields.insert(path);
  });
  std::set<std::string> known;
  for (const ScalableResource& resource : scalable_resources()) {
    if (!resource.whole) known.insert(std::string(resource.path));
  }
  EXPECT_EQ(known, fields);
}

TEST(CheckGpu, RefusesNumbersFarBeyondAnyChip) {
  Gpu all;
  std::vector<std::string> paths;
  for_each_field(all, "", [&](auto&, const pb::FieldDescriptor& field, const std::string& path) {
    if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_UINT32) paths.push_back(path);
  });
  for (const std::string& wanted : paths) {
    const std::string message = fault([&](Gpu& gpu) {
      for_each_field(gpu, "", [&](pb::Message& owner, const pb::FieldDescriptor& field, const std::string& path) {
        if (path == wanted) owner.GetReflection()->SetUInt32(&owner, &field, 4294967295U);
      });
    });
    EXPECT_TRUE(message.starts_with("g: " + wanted + " must be from ")) << message;
  }
}

TEST(CheckGpu, RefusesZeroAndNegativeRates) {
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.set_clock_mhz(0); }), "g: clock_mhz must be from 1 to 100000, not 0");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.set_clock_mhz(-1); }), "g: clock_mhz must be from 1 to 100000, not -1");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.set_clock_mhz(std::nan("")); }), "g: clock_mhz must be from 1 to 100000, not nan");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_dram()->set_efficiency_percent(101); }),
            "g: dram.efficiency_percent must be from 1 to 100, not 101");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_sm()->set_ingress_bytes_per_clk(0); }),
            "g: sm.ingress_bytes_per_clk must be from 1 to 65536, not 0");
}

TEST(CheckGpu, WantsNumbersThatAgree) {
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_sm()->set_warp_slots(48); }),
            "g: sm.warp_slots must be sm.sub_cores x sub_core.warp_slots (4 x 16), not 48");
  EXPECT_EQ(fault([](Gpu& gpu) {
              gpu.mutable_sm()->set_sub_cores(8);
              gpu.mutable_sub_core()->set_warp_slots(8);
              gpu.mutable_sm()->mutable_tcgen05()->set_queue_entries_per_sub_core(16);
            }),
            "g: sm.tcgen05.queue_entries_per_sub_core x sm.sub_cores must be at most 64, not 16 x 8");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_sm()->set_registers(65000); }),
            "g: sm.registers (65000) must be a multiple of sm.register_allocation_unit x sm.sub_cores (256 x 4)");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_sm()->mutable_shared_memory()->set_bytes_per_cta_max(233472); }),
            "g: sm.shared_memory.bytes_per_cta_max plus reserved_bytes_per_cta (233472 + 1024) must not exceed "
            "sm.shared_memory.bytes (233472)");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_sm()->set_data_memory_bytes(131072); }),
            "g: sm.data_memory_bytes (131072) holds L1 and shared memory: it must not be below sm.shared_memory.bytes (233472)");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_dram()->set_latency_cycles(100); }),
            "g: dram.latency_cycles (100) must not be below l2.hit_latency_cycles (260): it is the whole latency");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_dram()->set_bulk_latency_cycles(100); }),
            "g: dram.bulk_latency_cycles (100) must not be below l2.bulk_hit_latency_cycles (367): it is the whole latency");
}

TEST(CheckGpu, KnowsArchitecturesByTheirForm) {
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.set_architecture("hopper"); }), "g: architecture must look like \"sm_90\", not \"hopper\"");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.set_architecture("sm_9x"); }), "g: architecture must look like \"sm_90\", not \"sm_9x\"");
}

TEST(CheckGpu, LetsChipsBeforeHopperDoWithoutBulkCopies) {
  EXPECT_EQ(fault([](Gpu& gpu) {
              gpu.set_architecture("sm_86");
              gpu.mutable_sm()->clear_tensor();
              gpu.mutable_sm()->clear_bulk_copy_issue_cycles();
              gpu.mutable_l2()->clear_bulk_hit_latency_cycles();
              gpu.mutable_dram()->clear_bulk_latency_cycles();
            }),
            "no error");
}

std::vector<std::string> gpu_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(gpu_path(""))) files.push_back(entry.path().string());
  return files;
}

TEST(GpuFiles, AllLoad) {
  const std::vector<std::string> files = gpu_files();
  EXPECT_GE(files.size(), 6);
  for (const std::string& file : files) EXPECT_EQ(gpu_error(file), "no error");
}

// A line with a number carries its source, or stands right under a comment or under a line of the same commented group.
TEST(GpuFiles, GiveASourceForEveryNumber) {
  for (const std::string& file : gpu_files()) {
    std::istringstream lines(read_file(file).value());
    bool covered = false;
    int line_number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++line_number;
      const bool comment = line.find('#') != std::string::npos;
      const size_t colon = line.find(": ");
      const bool bare = !comment && colon != std::string::npos && std::isdigit(static_cast<unsigned char>(line[colon + 2])) != 0;
      EXPECT_TRUE(covered || !bare) << file << ":" << line_number << ": a number without a source";
      covered = comment ? line.find_first_not_of(' ') == line.find('#') : covered && bare;
    }
  }
}

TEST(GpuFiles, DeriveFromOneDie) {
  const Gpu base = h100();
  for (const char* name : {"h100_pcie.textproto", "h800_sxm.textproto", "h200_sxm.textproto"}) {
    const Gpu gpu = load_gpu(gpu_path(name)).value();
    EXPECT_EQ(gpu.sm().SerializeAsString(), base.sm().SerializeAsString()) << name;
    EXPECT_EQ(gpu.sub_core().SerializeAsString(), base.sub_core().SerializeAsString()) << name;
    EXPECT_NE(gpu.name(), base.name());
  }
}

// NVIDIA's dense 16-bit tensor peak: m64nNk16 is 2 x 64 x N x 16 operations in N / columns_per_clk cycles.
TEST(GpuFiles, ReachThePublishedTensorPeak) {
  const Gpu gpu = h100();
  const double per_clk = 2.0 * 64 * 16 * gpu.sm().tensor().wgmma_columns_per_clk();
  EXPECT_NEAR(per_clk * gpu.sm_count() * 1.83e9 / 1e12, 989.4, 0.5);
}

// A file's clock is the sustained clock: at most that of its tensor peaks, at which kernels cannot be faster than the data sheet.
TEST(GpuFiles, RunNoFasterThanTheClockOfTheirTensorPeaks) {
  for (const std::string& file : gpu_files()) {
    const Gpu gpu = load_gpu(file).value();
    ASSERT_GT(gpu.data_sheet().tensor_clock_mhz(), 0) << file;
    EXPECT_LE(gpu.clock_mhz(), gpu.data_sheet().tensor_clock_mhz()) << file;
    EXPECT_LE(gpu.dram().bandwidth_gb_per_s(), gpu.data_sheet().memory_gb_per_s()) << file;
    if (gpu.sm().tensor().wgmma_columns_per_clk() == 0) continue;
    const double scale = gpu.sm().tensor().has_scale() ? gpu.sm().tensor().scale() : 1;
    const double per_clk = gpu.sm().has_tcgen05() ? 2.0 * 128 * 16 * gpu.sm().tcgen05().columns_per_clk()
                                                  : 2.0 * 64 * 16 * scale * gpu.sm().tensor().wgmma_columns_per_clk();
    EXPECT_NEAR(per_clk * gpu.sm_count() * gpu.data_sheet().tensor_clock_mhz() / 1e6, gpu.data_sheet().fp16_tflops(), 0.5) << file;
    // Rubin's 8 bits have four times the rate of 16, both figures rounded for print.
    const Tcgen05& tcgen05 = gpu.sm().tcgen05();
    const double narrow =
        tcgen05.narrow_columns_per_clk() == 0 ? 1 : double{1} * tcgen05.narrow_columns_per_clk() / tcgen05.columns_per_clk();
    EXPECT_NEAR(gpu.data_sheet().fp8_tflops() / gpu.data_sheet().fp16_tflops(), 2 * narrow, narrow > 1 ? 0.4 : 0.002) << file;
  }
}

}  // namespace
}  // namespace warpfold::configs
