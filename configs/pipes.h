#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "configs/enum_values.h"

// The pipes of an SM, one row each. Counters, timelines, limiters, ledgers, scale factors and names are made from the
// rows.
namespace warpfold::configs {

// Numbered as PipeName in isa/opcode_table.proto, where each is described.
enum class Pipe : uint8_t {
  kNone,
  kAlu,
  kFmaHeavy,
  kFmaLite,
  kFp64,
  kXu,
  kTensor,
  kUniform,
  kMemory,
  kWgmma,
  kFp16,
  kTcgen05,
  kTensorMemory
};
inline constexpr int kPipes = enum_size<Pipe>();

enum class PipePlace : uint8_t {
  kNowhere,  // control instructions, which take an issue slot only
  kSubCore,  // a math pipe of each sub-core, busy while its input latch is held; of all cycles of all sub-cores
  kSm,       // a queue before a unit that the SM has once; the unit counts its own use
};

struct PipeRow {
  Pipe pipe;
  std::string_view name;  // in opcode tables, results, timelines and settings
  PipePlace place;
  std::string_view contended;    // the resource for which a warp waits at the pipe: a name of sim::Contended
  std::string_view words;        // in reports; empty: reports do not name the pipe
  std::string_view throughput;   // the quantity that the pipe's factor changes, in words; empty: the pipe has no factor
  std::string_view rate{};       // that factor in a Gpu
  std::string_view latency{};    // factor on results that dependence counters announce, in a Gpu; empty: none
  std::string_view admission{};  // instructions that wait in front of the input latch, in a Gpu; empty: none do
};

// In the order of reports.
inline constexpr std::array kPipeTable{
    PipeRow{Pipe::kNone, "none", PipePlace::kNowhere, "issue_slot", "", ""},
    PipeRow{Pipe::kAlu, "alu", PipePlace::kSubCore, "alu", "the ALU pipe", "throughput of the ALU pipe", "sub_core.alu.scale", "",
            "sub_core.alu_admission_entries"},
    PipeRow{Pipe::kFmaHeavy, "fma_heavy", PipePlace::kSubCore, "fma_heavy", "the heavy FMA pipe",
            "throughput of the heavy half of the FMA pipe", "sub_core.fma_heavy.scale", "", "sub_core.fma_heavy_admission_entries"},
    PipeRow{Pipe::kFmaLite, "fma_lite", PipePlace::kSubCore, "fma_lite", "the light FMA pipe",
            "throughput of the light half of the FMA pipe", "sub_core.fma_lite.scale"},
    PipeRow{Pipe::kFp16, "fp16", PipePlace::kSubCore, "fp16", "the FP16 pipe", "throughput of the half-precision pipe",
            "sub_core.fp16.scale"},
    PipeRow{Pipe::kFp64, "fp64", PipePlace::kSubCore, "fp64", "the FP64 pipe", "throughput of the FP64 pipe", "sub_core.fp64.scale",
            "sub_core.fp64.latency_scale", "sub_core.fp64_admission_entries"},
    PipeRow{Pipe::kXu, "xu", PipePlace::kSubCore, "xu", "the transcendental pipe (XU)", "throughput of the special-function pipe",
            "sub_core.xu.scale", "sub_core.xu.latency_scale", "sub_core.xu_admission_entries"},
    PipeRow{Pipe::kTensor, "tensor", PipePlace::kSubCore, "tensor", "the tensor pipe (mma.sync)",
            "throughput of the tensor cores: mma.sync, wgmma and tcgen05.mma", "sm.tensor.scale"},
    PipeRow{Pipe::kUniform, "uniform", PipePlace::kSubCore, "uniform", "the uniform pipe", "throughput of the uniform pipe",
            "sub_core.uniform.scale"},
    PipeRow{Pipe::kMemory, "memory", PipePlace::kSm, "memory_queue", "", ""},
    PipeRow{Pipe::kWgmma, "wgmma", PipePlace::kSm, "wgmma", "the tensor cores (wgmma)", ""},
    PipeRow{Pipe::kTcgen05, "tcgen05", PipePlace::kSm, "tcgen05", "the tensor cores (tcgen05)", ""},
    PipeRow{Pipe::kTensorMemory, "tensor_memory", PipePlace::kSubCore, "tensor_memory", "the path to tensor memory",
            "throughput of the path between registers and tensor memory", "sub_core.tensor_memory.scale",
            "sub_core.tensor_memory.latency_scale"},
};

// Where each pipe's row is. The build stops here where a pipe has no row or two, or the row of a math pipe is not complete.
inline constexpr auto kRowOfPipe = [] {
  static_assert(kPipeTable.size() == kPipes, "a pipe has no row in kPipeTable, or two");
  std::array<const PipeRow*, kPipes> rows{};
  for (const PipeRow& row : kPipeTable) {
    if (rows[static_cast<size_t>(row.pipe)] != nullptr) throw "a pipe has two rows in kPipeTable";
    rows[static_cast<size_t>(row.pipe)] = &row;
    if (row.place != PipePlace::kSubCore) continue;
    if (row.contended != row.name) throw "a math pipe is contended under another name";
    if (row.words.empty() || row.throughput.empty() || row.rate.empty()) throw "a math pipe has no words or no factor";
  }
  return rows;
}();

constexpr const PipeRow& row_of(Pipe pipe) { return *kRowOfPipe[static_cast<size_t>(pipe)]; }

// The math pipes of a sub-core, in the order of reports.
inline constexpr auto kMathPipes = [] {
  constexpr auto kIsMath = [](const PipeRow& row) { return row.place == PipePlace::kSubCore; };
  std::array<PipeRow, std::ranges::count_if(kPipeTable, kIsMath)> rows{};
  std::ranges::copy_if(kPipeTable, rows.begin(), kIsMath);
  return rows;
}();

}  // namespace warpfold::configs
