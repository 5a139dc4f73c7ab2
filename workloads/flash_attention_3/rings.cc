#include "workloads/flash_attention_3/rings.h"

#include <string>

namespace warpfold::workloads {

void add_wait(Code& code, int16_t ring, int16_t cursor) {
  add_look(code, ring, cursor);
  add_wait_behind_look(code, ring, cursor);
}

void add_look(Code& code, int16_t ring, int16_t cursor) {
  code.add("ULEA UR44, UR38, UR39, 0x3").add("IMAD.U32 R3, RZ, RZ, UR41").add("SHF.L.U32 R3, R3, 0x1f, RZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = ring, .cursor = cursor});
}

void add_wait_behind_look(Code& code, int16_t ring, int16_t cursor) {
  code.add("@P0 BRA `(.L_ready)");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = ring, .cursor = cursor});
  code.add("@!P0 BRA `(.L_wait)");
}

void add_release(Code& code, int16_t ring, int16_t cursor) {
  code.add("IMAD.U32 R15, RZ, RZ, UR44").add("@!P3 BRA `(.L_released)");
  code.add("@!P3 LEA R15, R15, UR39, 0x3").add("@!P3 PRMT R15, R15, 0x654, R15");
  code.add("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R15], RZ", {.barrier = ring, .cursor = cursor, .advance = 1});
}

void add_next_stage(Code& code, uint32_t stages) {
  code.add("UIADD3 UR38, UR38, 0x1, URZ").add(line({"UISETP.NE.AND UP0, UPT, UR38, ", immediate(stages), ", UPT"}));
  code.add("USEL UR47, URZ, 0x1, UP0").add("USEL UR38, UR38, URZ, UP0").add("ULOP3.LUT UR41, UR41, UR47, URZ, 0x3c, !UPT");
  code.add("USHF.R.U32.HI UR48, URZ, 0x1, UR38");
}

void add_stage_load(Code& code, const StageLoad& load, const LoadRegisters& registers) {
  const auto r = [&registers](uint32_t i) { return general(registers.general + i); };
  const auto u = [&registers](uint32_t i) { return uniform(registers.uniform + i); };
  uint32_t bytes = 0;
  for (const StageLoad::Box& box : load.boxes) bytes += box.bytes;
  code.add(line({"IMAD ", r(3), ", ", r(0), ", 0x8, ", r(10)})).add(line({"SHF.L.U32 ", r(2), ", ", r(1), ", 0x1f, RZ"}));
  code.add(line({"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [", r(3), "+0x40], ", r(2)}), {.barrier = load.empty, .cursor = load.cursor});
  code.add("ISETP.NE.AND P1, PT, R0, RZ, PT").add(line({"IMAD ", r(5), ", ", r(0), ", 0x2c00, ", r(11)}));
  code.add("@!P0 BRA `(.L_wait_empty)");
  code.add(line({"@!P1 LDC ", r(4), ", c[0x0][0x500]"}));  // transaction bytes
  code.add(line({"UMOV ", u(6), ", 0x0"})).add(line({"UMOV ", u(7), ", 0x10000000"}));
  code.add(line({"UIADD3 ", u(8), ", UP0, UR4, 0xf0, URZ"})).add(line({"UIADD3.X ", u(9), ", URZ, UR5, URZ, UP0, !UPT"}));
  code.add(line({"R2UR ", u(1), ", ", r(3)})).add(line({"R2UR ", u(0), ", ", r(5)}));
  for (uint32_t i = 0; i < 3; ++i) code.add(line({"R2UR ", u(3 + i), ", ", r(6 + i)}));
  code.add(line({"@!P1 SYNCS.ARRIVE.TRANS64 RZ, [", r(3), "], ", r(4)}),
           {.barrier = load.full, .cursor = load.cursor, .tx_bytes = bytes});
  code.add(line({"VIADD ", r(0), ", ", r(0), ", 0x1"}))
      .add(line({"ISETP.NE.AND P2, PT, ", r(0), ", ", immediate(load.stages), ", PT"}));
  code.add(line({"SEL ", r(9), ", RZ, 0x1, P2"})).add(line({"SEL ", r(0), ", ", r(0), ", RZ, P2"}));
  code.add(line({"LOP3.LUT ", r(1), ", ", r(1), ", ", r(9), ", RZ, 0x3c, !PT"}));
  for (size_t box = 0; box < load.boxes.size(); ++box) {
    code.add(line({"UIADD3 ", u(0), ", ", u(0), ", ", immediate(box * 0x2c00), ", URZ"}));
    code.add(line({"UMOV ", u(2), ", ", immediate(64 * box)}));
    isa::Effect effect;
    effect.bytes = load.boxes[box].bytes;
    effect.stream = load.boxes[box].stream;
    effect.barrier = load.full;
    effect.cursor = load.cursor;
    effect.advance = box + 1 == load.boxes.size() ? 1 : 0;
    effect.multicast = static_cast<uint8_t>(load.multicast);
    const std::string_view name = load.multicast > 1 ? "UTMALDG.4D.MULTICAST [" : "UTMALDG.4D [";
    const std::string_view mask = load.multicast > 1 ? "], UR47, desc[" : "], desc[";
    code.add(line({name, u(0), "], [", u(8), mask, u(6), "]"}), effect);
  }
}

}  // namespace warpfold::workloads
