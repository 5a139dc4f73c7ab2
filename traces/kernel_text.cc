#include "isa/architecture.h"
#include "isa/assembler.h"
#include "traces/line_reader.h"
#include "traces/trace_file.h"
#include "traces/validate.h"

namespace warpfold::traces {

namespace {

// A causal attention layer has one run of CTAs per row of tiles. Lines wrap to stay readable.
constexpr size_t kRunsPerLine = 8;

class Formatter {
 public:
  explicit Formatter(const Kernel& kernel) : names_(effect_names(kernel)), names_of_bar_{names_.streams, {}, names_.cursors} {
    if (const auto found = isa::Architecture::find(kernel.architecture)) architecture_ = *found;
  }

  std::string take() { return std::move(text_); }

  void kernel(const Kernel& kernel) {
    line(0, "kernel " + (is_name(kernel.name) ? kernel.name : quote(kernel.name)) + " architecture=" + kernel.architecture +
                " registers=" + std::to_string(kernel.registers_per_thread) +
                " shared_memory=" + std::to_string(kernel.shared_memory_bytes) + " cluster=" + std::to_string(kernel.cluster_ctas) +
                (kernel.tensor_memory_columns == 0 ? "" : " tensor_memory=" + std::to_string(kernel.tensor_memory_columns)) +
                (kernel.flops == 0 ? "" : " flops=" + std::to_string(kernel.flops)) +
                (kernel.source.empty() ? "" : " source=" + quote(kernel.source)));
    for (const std::string& parameter : kernel.parameters) line(1, "parameter " + parameter);
    for (const CtaClass& cta_class : kernel.cta_classes) {
      std::string values;
      for (size_t p = 0; p < kernel.parameters.size(); ++p) {
        values += " " + kernel.parameters[p] + "=" + std::to_string(cta_class.values.at(p));
      }
      line(1, "class " + cta_class.name + values);
    }
    grid(kernel);
    for (const std::string& assumed : kernel.assumed) line(1, "assumed " + quote(assumed));
    resources(kernel);
    for (const Role& role : kernel.roles) {
      line(1, "role " + role.name + " warps=" + std::to_string(role.warps));
      body(kernel, role.body, 2);
      line(1, "end");
    }
    line(0, "end");
  }

 private:
  void line(size_t depth, const std::string& content) {
    text_.append(2 * depth, ' ');
    text_ += content;
    text_ += '\n';
  }

  void grid(const Kernel& kernel) {
    std::string runs;
    for (size_t r = 0; r < kernel.grid.size(); ++r) {
      const CtaRun& run = kernel.grid[r];
      runs += " " + kernel.cta_classes.at(run.cta_class).name + "*" + std::to_string(run.count);
      if ((r + 1) % kRunsPerLine == 0 || r + 1 == kernel.grid.size()) {
        line(1, "grid" + runs);
        runs.clear();
      }
    }
  }

  void resources(const Kernel& kernel) {
    for (const MemoryStream& stream : kernel.streams) {
      const auto share = [](const char* of, uint64_t numerator, uint64_t denominator) {
        return std::string(of) + std::to_string(numerator) + "/" + std::to_string(denominator);
      };
      const bool in_l1 = stream.l1_numerator != 0 || stream.l1_denominator != 1;
      const bool in_part = stream.moved_numerator != stream.moved_denominator;
      line(1, "stream " + stream.name + (stream.write ? " write" : " read") +
                  share(" dram=", stream.dram_numerator, stream.dram_denominator) +
                  (in_l1 ? share(" l1=", stream.l1_numerator, stream.l1_denominator) : "") +
                  (in_part ? share(" moved=", stream.moved_numerator, stream.moved_denominator) : "") +
                  (stream.footprint == 0 ? "" : " footprint=" + std::to_string(stream.footprint)));
    }
    for (const Ring& ring : kernel.rings) {
      line(1, "ring " + ring.name + " depth=" + std::to_string(ring.depth) + " arrivals=" + std::to_string(ring.arrivals) +
                  (ring.starts_free ? " free" : ""));
    }
    for (const Cursor& cursor : kernel.cursors) {
      line(1, "cursor " + cursor.name + " depth=" + std::to_string(cursor.depth) + " start=" + std::to_string(cursor.start));
    }
  }

  void body(const Kernel& kernel, const std::vector<Node>& nodes, size_t depth) {
    bool after_block = false;
    for (const Node& node : nodes) {
      if (const auto* block = std::get_if<Block>(&node)) {
        // Writes `block` only if the text would not show the block otherwise: an empty block, or a block that follows
        // another.
        if (after_block || block->code.empty()) line(depth, "block");
        for (const isa::Instruction& instruction : block->code)
          line(depth, isa::format_instruction(instruction, names_for(instruction)));
        after_block = true;
      } else {
        const Loop& loop = std::get<Loop>(node);
        const auto parameter = static_cast<size_t>(loop.trips.parameter);
        line(depth, "loop " + (loop.trips.parameter < 0 ? std::to_string(loop.trips.literal) : kernel.parameters.at(parameter)));
        body(kernel, loop.body, depth + 1);
        line(depth, "end");
        after_block = false;
      }
    }
  }

  // Returns the names for the effect. For an unknown architecture effects use indices.
  const isa::EffectNames& names_for(const isa::Instruction& instruction) const {
    if (architecture_ == nullptr || instruction.opcode >= architecture_->opcodes().size()) return no_names_;
    const bool bar = isa::names_barriers_by_number(architecture_->info(instruction).behaviour);
    return bar ? names_of_bar_ : names_;
  }

  std::string text_;
  isa::EffectNames names_;
  isa::EffectNames names_of_bar_;
  isa::EffectNames no_names_;
  const isa::Architecture* architecture_ = nullptr;
};

}  // namespace

std::string format_kernels(const std::vector<Kernel>& kernels) {
  std::string text;
  for (const Kernel& kernel : kernels) {
    Formatter formatter(kernel);
    formatter.kernel(kernel);
    text += formatter.take();
  }
  return text;
}

}  // namespace warpfold::traces
