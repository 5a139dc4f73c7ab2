#include "workloads/elementwise/elementwise.h"

#include <string>

#include "workloads/common/program.h"
#include "workloads/elementwise/plan.h"

namespace warpfold::workloads {
namespace {

using Plan = ElementwisePlan;

constexpr uint32_t kWarpThreads = Plan::kWarpThreads;
constexpr uint32_t kFirstData = 12;  // registers below: index and addresses
constexpr uint32_t kScalar = 10;     // the pair that holds the scalar

std::string_view width_of(uint32_t bytes) { return bytes == 16 ? ".128" : bytes == 8 ? ".64" : ""; }

uint32_t address(uint32_t array) { return 4 + 2 * array; }  // R4, R6, R8
uint32_t data(const Plan& plan, uint32_t input, uint32_t access) {
  return kFirstData + (input * plan.accesses + access) * plan.access_bytes / 4;
}

// Address of an access of so many bytes. A warp's accesses to one array are contiguous.
std::string place(uint32_t bytes, uint32_t array, uint32_t access) {
  const std::string offset = access == 0 ? "" : line({"+", immediate(uint64_t{access} * bytes * kWarpThreads)});
  return line({"[", general(address(array)), ".64", offset, "]"});
}

void add_addresses(const Plan& plan, Code& code) {
  code.add("S2R R0, SR_CTAID.X").add("S2R R3, SR_TID.X").add("ULDC.64 UR4, c[0x0][0x160]").add("IMAD R0, R0, 0x100, R3");
  for (uint32_t array = 0; array <= plan.inputs; ++array) {
    const std::string low = general(address(array));
    code.add(line({"IMAD.MOV.U32 ", low, ", RZ, RZ, UR4"}));
    code.add(line({"IMAD.MOV.U32 ", general(address(array) + 1), ", RZ, RZ, UR5"}));
    const uint32_t bytes = array == plan.inputs ? plan.stored_bytes : plan.access_bytes;
    code.add(line({"IMAD.WIDE.U32 ", low, ", R0, ", immediate(bytes), ", ", low}));
  }
  if (plan.operation == configs::SCALE || plan.operation == configs::TRIAD) {
    code.add("IMAD.MOV.U32 R10, RZ, RZ, UR4").add("IMAD.MOV.U32 R11, RZ, RZ, UR5");
  }
  for (uint32_t word = 0; plan.operation == configs::FILL && word < plan.access_bytes / 4; ++word)
    code.add(line({"IMAD.MOV.U32 ", general(kFirstData + word), ", RZ, RZ, UR4"}));
}

// Arithmetic on one register, or on a pair for doubles. A register holds a float or two packed halves.
std::string arithmetic(const Plan& plan, uint32_t first, uint32_t second) {
  const std::string_view kind = plan.element_bytes == 8 ? "D" : plan.element_bytes == 4 ? "F" : "H";
  const std::string_view packed = plan.element_bytes == 2 ? "2" : "";
  const std::string one = general(first);
  const std::string other = general(second);
  const std::string scalar = general(kScalar);
  switch (plan.operation) {
    case configs::SCALE:
      return line({kind, "MUL", packed, " ", one, ", ", one, ", ", scalar});
    case configs::ADD:
      return line({kind, "ADD", packed, " ", one, ", ", one, ", ", other});
    default:
      return line({kind, "FMA", packed, " ", one, ", ", other, ", ", scalar, ", ", one});
  }
}

// Two floats become a word, in the first registers of their access.
void add_conversions(const Plan& plan, Code& code) {
  for (uint32_t access = 0; access < plan.accesses; ++access) {
    const uint32_t first = data(plan, 0, access);
    for (uint32_t word = 0; word < plan.stored_bytes / 4; ++word)
      code.add(line(
          {"F2FP.BF16.PACK_AB ", general(first + word), ", ", general(first + 2 * word + 1), ", ", general(first + 2 * word)}));
  }
}

void add_arithmetic(const Plan& plan, Code& code) {
  if (plan.operation == configs::COPY || plan.operation == configs::FILL) return;
  if (plan.operation == configs::NARROW) return add_conversions(plan, code);
  const uint32_t step = plan.element_bytes == 8 ? 2 : 1;
  for (uint32_t access = 0; access < plan.accesses; ++access) {
    for (uint32_t word = 0; word < plan.access_bytes / 4; word += step) {
      const uint32_t other = plan.inputs > 1 ? data(plan, 1, access) : kFirstData;
      code.add(arithmetic(plan, data(plan, 0, access) + word, other + word));
    }
  }
}

traces::Block body_of(const Plan& plan, const isa::Architecture& architecture) {
  Code code(architecture);
  add_addresses(plan, code);
  for (uint32_t access = 0; access < plan.accesses; ++access) {
    for (uint32_t input = 0; input < plan.inputs; ++input) {
      code.add(line({"LDG.E", width_of(plan.access_bytes), " ", general(data(plan, input, access)), ", ",
                     place(plan.access_bytes, input, access)}),
               {.bytes = plan.access_bytes * kWarpThreads, .stream = static_cast<int16_t>(input)});
    }
  }
  add_arithmetic(plan, code);
  for (uint32_t access = 0; access < plan.accesses; ++access) {
    const uint32_t stored = plan.operation == configs::FILL ? kFirstData : data(plan, 0, access);
    code.add(
        line({"STG.E", width_of(plan.stored_bytes), " ", place(plan.stored_bytes, plan.inputs, access), ", ", general(stored)}),
        {.bytes = plan.stored_bytes * kWarpThreads, .stream = static_cast<int16_t>(plan.inputs)});
  }
  code.add("EXIT");
  return block_of(code);
}

}  // namespace

Expected<traces::Kernel> make_elementwise(const configs::Elementwise& elementwise, const configs::Gpu& gpu) {
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  const Plan plan = plan_elementwise(elementwise);
  traces::Kernel kernel;
  kernel.name = "elementwise";
  kernel.architecture = (*architecture)->name();
  kernel.source = line({"elementwise ", configs::ElementwiseOperation_Name(plan.operation),
                        " elements=", std::to_string(plan.elements), " element_bytes=", std::to_string(plan.element_bytes)});
  const uint64_t bytes = plan.elements * plan.element_bytes;  // per array
  for (uint32_t input = 0; input < plan.inputs; ++input) kernel.streams.push_back({input == 0 ? "in" : "in2", false, 1, 1, bytes});
  kernel.streams.push_back({"out", true, 1, 1, bytes * plan.stored_bytes / plan.access_bytes});
  kernel.flops = plan.elements * plan.flops;
  std::vector<traces::Node> body{body_of(plan, **architecture)};
  connect(**architecture, body);
  kernel.roles = {{"elements", plan.warps, std::move(body)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  const uint64_t cta_elements = uint64_t{plan.warps} * kWarpThreads * plan.accesses * (plan.access_bytes / plan.element_bytes);
  kernel.cta_classes = {{"all", {}}};
  kernel.grid = {{0, (plan.elements + cta_elements - 1) / cta_elements}};
  return kernel;
}

}  // namespace warpfold::workloads
