#include "tools/warpfold/render/trace_tables.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "isa/architecture.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/figures/ratio.h"
#include "traces/loop_stats.h"
#include "traces/stats.h"

namespace warpfold::cli {

namespace {

Cell share(uint64_t part, uint64_t whole) { return {percent(part, whole), 2}; }

Table by_kernel(const std::vector<traces::Kernel>& kernels) {
  Table table({"kernel", "architecture", "ctas", "warps_per_cta", "registers", "shared_memory", "in_text", "issued", "bytes_read",
               "bytes_written", "flops", "hash"});
  for (const traces::Kernel& kernel : kernels) {
    const traces::KernelStatistics counts = traces::statistics(kernel);
    table.add({kernel.name, kernel.architecture, counts.ctas, uint64_t{kernel.warps_per_cta()},
               uint64_t{kernel.registers_per_thread}, uint64_t{kernel.shared_memory_bytes}, counts.instructions.in_text,
               counts.instructions.issued, counts.bytes_read, counts.bytes_written, kernel.flops, kernel_hash(kernel)});
  }
  return table;
}

Table by_role(const std::vector<traces::Kernel>& kernels) {
  Table table({"kernel", "role", "warps", "in_text", "issued", "register_reads", "register_writes", "loop_depth", "bytes_read",
               "bytes_written"});
  for (const traces::Kernel& kernel : kernels) {
    for (const traces::RoleStatistics& role : traces::statistics(kernel).roles) {
      table.add({kernel.name, role.name, uint64_t{role.warps}, role.instructions.in_text, role.instructions.issued,
                 role.register_reads, role.register_writes, static_cast<uint64_t>(role.loop_depth), role.bytes_read,
                 role.bytes_written});
    }
  }
  return table;
}

Table by_pipe(const std::vector<traces::Kernel>& kernels) {
  Table table({"kernel", "role", "pipe", "in_text", "issued", "percent"});
  for (const traces::Kernel& kernel : kernels) {
    for (const traces::RoleStatistics& role : traces::statistics(kernel).roles) {
      for (size_t pipe = 0; pipe < role.pipes.size(); ++pipe) {
        const traces::InstructionCount& count = role.pipes[pipe];
        if (count.in_text == 0) continue;
        table.add({kernel.name, role.name, std::string(isa::pipe_name(static_cast<isa::Pipe>(pipe))), count.in_text, count.issued,
                   share(count.issued, role.instructions.issued)});
      }
    }
  }
  return table;
}

Table by_opcode(const std::vector<traces::Kernel>& kernels) {
  Table table({"kernel", "role", "opcode", "in_text", "issued", "percent"});
  for (const traces::Kernel& kernel : kernels) {
    for (const traces::RoleStatistics& role : traces::statistics(kernel).roles) {
      for (const traces::OpcodeCount& opcode : role.opcodes) {
        table.add({kernel.name, role.name, opcode.name, opcode.instructions.in_text, opcode.instructions.issued,
                   share(opcode.instructions.issued, role.instructions.issued)});
      }
    }
  }
  return table;
}

// Returns how the launch is rolled. "rolled" is the number of times that an instruction of the text is issued, on average.
Table by_loop(const std::vector<traces::Kernel>& kernels) {
  Table table({"kernel", "role", "loop", "least_trips", "most_trips", "in_text", "issued", "percent", "rolled"});
  for (const traces::Kernel& kernel : kernels) {
    for (const traces::Role& role : kernel.roles) {
      const auto loops = traces::loop_statistics(kernel, role);
      for (const traces::LoopStatistics& loop : loops) {
        table.add({kernel.name, role.name, loop.place.empty() ? "all" : loop.place, loop.least_trips, loop.most_trips, loop.in_text,
                   loop.issued, share(loop.issued, loops.front().issued),
                   Cell(static_cast<double>(loop.issued) / static_cast<double>(std::max<uint64_t>(loop.in_text, 1)), 1)});
      }
    }
  }
  return table;
}

// Returns footprints by stream. DRAM serves bytes that a stream touches for the first time, or again after they have left L2.
Table by_stream(const std::vector<traces::Kernel>& kernels) {
  Table table({"kernel", "stream", "way", "requests", "l1_percent", "bytes", "dram_percent", "dram_bytes"});
  for (const traces::Kernel& kernel : kernels) {
    for (const traces::StreamStatistics& stream : traces::stream_statistics(kernel)) {
      table.add({kernel.name, stream.name, stream.write ? "write" : "read", stream.requests,
                 share(stream.l1_requests, stream.requests), stream.bytes, share(stream.dram_bytes, stream.bytes),
                 stream.dram_bytes});
    }
  }
  return table;
}

constexpr std::array<std::pair<std::string_view, TraceTable>, 6> kTables{
    {{"kernel", by_kernel}, {"role", by_role}, {"pipe", by_pipe}, {"opcode", by_opcode}, {"loop", by_loop}, {"stream", by_stream}}};

}  // namespace

Outcome<TraceTable> trace_table(const std::string& by) {
  std::vector<std::string> known;
  for (const auto& [name, table] : kTables) {
    if (by == name) return table;
    known.emplace_back(name);
  }
  return user_error("--by: unknown kind of row " + escape::quoted(by) + suggestion(by, known));
}

}  // namespace warpfold::cli
