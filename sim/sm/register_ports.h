#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"
#include "sim/sm/program.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// Register-file ports of one sub-core, and the software-managed register-file cache (Huerta et al., MICRO 2025). Each
// of two banks (register number mod 2) has one to four warp-wide read ports and one or two write ports.
//
// Reservations are bit masks over the coming 64 cycles. Bit 0 is cycle `base`:
//
//   read_busy[even] = 0b00111 at base 100: the even bank's port is taken in cycles 100, 101, 102
//
// A half port, of a scaled machine (Spec), is closed in every second cycle. A second write port takes results that find
// the first one taken.
//
// Fixed-latency instructions reserve ports at the allocate stage. Accumulator updates of wgmma use the cycles that are
// left without a reservation, as these cycles pass (advance). Results of the ALU, FMA and XU pipes wait for the updates
// (result_wait).
class RegisterPorts {
 public:
  explicit RegisterPorts(const Spec& spec)
      : half_reads_(spec.half_read_ports_per_bank),
        half_writes_(spec.half_write_ports_per_bank),
        read_ports_(half_reads_ > 2 ? half_reads_ / 2 : 1),
        half_ports_(half_reads_ < 2 || half_writes_ < 2),
        room_(half_ports_ || spec.issue_width > 1 ? 0 : std::min(kMostRoom, kRoomAndWindow - spec.read_window)),
        window_(spec.read_window),
        cache_(spec.register_file_cache),
        by_table_(half_reads_ == 2 && window_ == kTableWindow) {
    for (auto& bank : cached_) bank.fill(kNothing);
    close_half_ports();
  }

  using PerBank = std::array<uint32_t, 2>;

  // Returns the reads per bank that miss in the register-file cache, and updates it by the reuse bits. `warp`: the warp
  // slot.
  PerBank collect(const MicroOp& op, int warp) {
    if (!op.reuses && (cached_places_ & op.cache_places) == 0) return {op.reads[0], op.reads[1]};
    PerBank reads{};
    for (int i = 0; i < op.source_count; ++i) {
      const SourceRead& source = op.sources[i];
      if (op.narrow_sources || source.width == 1) {
        const int bank = source.reg & 1;
        reads[bank] += !lookup(bank, source, warp);
        continue;
      }
      // A wide operand covers both banks. Its cache entries carry the operand's first register as their tag.
      for (int bank = 0; bank < 2; ++bank) {
        if (!lookup(bank, source, warp)) reads[bank] += source.width / 2U;
      }
    }
    return reads;
  }

  // Moves the masks if reservations of an instruction issued at `now` might not fit them. Serving updates for past
  // cycles gives the same result at any later time.
  void make_room(Cycle now, uint32_t write_latency) {
    if (now + write_latency > base_ + room_) advance(now);
  }
  // Moves the masks to `now`. Past cycles without a reservation serve pending accumulator updates.
  void advance(Cycle now) {
    if (now <= base_) return;
    const Cycle passed = now - base_;
    if (pending_) serve_updates(passed);
    base_ = now;
    if (passed >= 64) {
      read_busy_ = {};
      write_busy_ = {};
      both_written_ = {};
    } else {
      for (int bank = 0; bank < 2; ++bank) {
        read_busy_[0][bank] >>= passed;
        write_busy_[bank] >>= passed;
        if (half_writes_ > 2) both_written_[bank] >>= passed;
      }
      if (read_ports_ > 1) advance_more_ports(passed);
    }
    if (!half_ports_) return;
    odd_ ^= (passed & 1) != 0;
    close_half_ports();
  }

  // Reserves `reads` in the read window behind the first allocate cycle >= `earliest` that has room for all. Returns
  // that cycle.
  Cycle allocate(Cycle earliest, const PerBank& reads) {
    if (by_table_ && (reads[0] | reads[1]) <= kTableWindow) return allocate_by_table(earliest, reads);
    if (reads[0] + reads[1] == 0) return earliest;
    const uint32_t most = std::max(reads[0], reads[1]);
    const uint32_t width = std::max(window_, (2 * most + half_reads_ - 1) / half_reads_);
    const uint64_t window = (uint64_t{1} << width) - 1;
    Cycle cycle = earliest;
    while (!fits(0, reads[0], window, cycle) || !fits(1, reads[1], window, cycle)) ++cycle;
    if (reads[0] != 0) take(0, reads[0], window, cycle);
    if (reads[1] != 0) take(1, reads[1], window, cycle);
    return cycle;
  }

  // Reserves the write ports of a fixed-latency result from `cycle` on. A result queue keeps it from any delay.
  void write(Cycle cycle, const MicroOp& op) {
    const Cycle offset = cycle - base_;
    const std::array<uint8_t, 2>& registers = op.writes;
    if (half_writes_ == 2) {
      write_busy_[0] |= uint64_t{op.write_slots[0]} << offset;
      write_busy_[1] |= uint64_t{op.write_slots[1]} << offset;
      return;
    }
    for (int bank = 0; bank < 2; ++bank) {
      if (half_writes_ < 2) {
        write_busy_[bank] |= slots(2U * registers[bank]) << offset;
      } else {
        write_by_two(bank, slots((registers[bank] + 1U) / 2) << offset);
        write_by_two(bank, slots(registers[bank] / 2U) << offset);
      }
    }
  }
  // True if a bank of `registers` has no write port free in this cycle.
  bool write_port_busy(Cycle now, const std::array<uint8_t, 2>& registers) {
    advance(now);
    const auto& taken = half_writes_ > 2 ? both_written_ : write_busy_;
    return (registers[0] > 0 && (taken[0] & 1) != 0) || (registers[1] > 0 && (taken[1] & 1) != 0);
  }

  // Accumulator updates. demand() asks for `reads` read slots of either bank and `writes_per_bank` write slots of each
  // bank. It returns the totals that must be served before the update is complete.
  struct Totals {
    uint32_t reads = 0;
    PerBank writes{};
    bool operator==(const Totals&) const = default;
  };
  Totals demand(Cycle now, uint32_t reads, uint32_t writes_per_bank) {
    advance(now);
    demanded_.reads += reads;
    demanded_.writes[0] += writes_per_bank;
    demanded_.writes[1] += writes_per_bank;
    pending_ = true;
    return demanded_;
  }
  // Begins a write-back of accumulators, in pairs: an even and an odd register every second cycle, the first pair at
  // `now`. A wide result that is being written goes first.
  void begin_write_back(Cycle now, Cycle cycles) {
    const Cycle begin = later(now, wide_until_);
    pair_wait_cycles_ += static_cast<uint32_t>(begin - now);
    write_back_end_ = begin + cycles;
  }
  // True while accumulators are written back, unless a second write port makes room for results.
  bool writes_back(Cycle now) const { return write_back_end_ > now && half_writes_ <= 2; }
  // True if a pair is written in cycle `now`, which must be one of a write-back.
  bool is_of_pair(Cycle now) const { return ((write_back_end_ - now) & 1) == 0; }
  // True while a wide result waits for pairs.
  bool wide_waits(Cycle now) const { return now < wide_from_; }
  // Returns the cycles for which pairs hold up a result that takes its bank's port for `cycles` cycles from `enters`
  // on. A pair goes first and takes the ports of both banks for one cycle:
  //
  //   pairs        x   x   x   x          LOP3 after LOP3, of 16 lanes, half a row a cycle: one every two cycles
  //   results    a   a   b   b   c        alone, one every four beside the pairs
  //
  // Sources: cicuvc register_bandwidth.md, round 3, and docs/validation/h100_kit.csv, "beside a flood"
  // (docs/decisions/0017, 0039).
  //
  // In the last n cycles of a write-back, results may use (n + 1) / 2: every cycle at an odd distance from the end. A
  // result waits one cycle for each of them that it uses, except for the first if it enters in one.
  uint32_t result_wait(Cycle enters, uint32_t cycles) const {
    const Cycle end = half_writes_ > 2 ? 0 : write_back_end_;
    const Cycle left = later(end, enters) - enters;
    return static_cast<uint32_t>(std::min<Cycle>(cycles, (left + 1) / 2) - (left & 1));
  }
  // Returns the cycles for which pairs hold up a wide result, which takes the ports of both banks for `cycles`
  // consecutive cycles. The result waits for the end of the pairs, or for `pairs` pairs if that is less. The other
  // pairs then wait for it.
  uint32_t enter_wide_result(Cycle enters, uint32_t cycles, uint32_t pairs) {
    const auto waits = static_cast<uint32_t>(std::min<Cycle>(later(write_back_end_, enters) - enters, Cycle{2} * pairs));
    wide_from_ = enters + waits;
    wide_until_ = wide_from_ + cycles;
    if (wide_from_ < write_back_end_) {
      pair_wait_cycles_ += cycles;
      write_back_end_ += cycles;
    }
    return waits;
  }
  // Returns the cycles for which pairs have waited for wide results, modulo 2^32.
  uint32_t pair_wait_cycles() const { return pair_wait_cycles_; }
  // Slots of a demand's totals that have not been served. Unlike the totals, they mean the same in every state.
  uint64_t unserved_reads(const Totals& totals) const { return remaining(totals.reads, served_.reads); }
  uint64_t unserved_writes(const Totals& totals) const {
    return uint64_t{remaining(totals.writes[0], served_.writes[0])} << 32 | remaining(totals.writes[1], served_.writes[1]);
  }

  void visit(StateVisitor& visitor) {
    // The binding lists all fields. Not visited: the fields up to by_table, which are constant; base, which advance()
    // brings to now; cached_places and pending, which follow from other fields; odd, which the closed cycles show. Of
    // demanded and served only the difference matters. pair_wait_cycles is visited by the commands that write back, as
    // the difference since they began.
    [[maybe_unused]] const auto& [half_reads, half_writes, read_ports, half_ports, room, window, cache, by_table, base, read_busy,
                                  write_busy, both_written, odd, cache_tags, cached_places, demanded, served, pending,
                                  write_back_end, wide_from, wide_until, pair_wait_cycles] = *this;
    if (!visitor.recording()) {
      base_ += visitor.shift();
      write_back_end_ = visitor.moved(write_back_end_);
      wide_from_ = visitor.moved(wide_from_);
      wide_until_ = visitor.moved(wide_until_);
      return;
    }
    advance(visitor.now());
    for (int bank = 0; bank < 2; ++bank) {
      for (uint32_t port = 0; port < read_ports_; ++port) visitor.value("read_port", read_busy_[port][bank]);
      visitor.value("write_port", write_busy_[bank]);
      if (half_writes_ > 2) visitor.value("second_write_port", both_written_[bank]);
      const auto& cached = cached_[bank];
      visitor.values("register_cache", cached[0], "register_cache", cached[1], "register_cache", cached[2]);
    }
    visitor.value("commits_left", write_back_end_ > visitor.now() ? write_back_end_ - visitor.now() : 0);
    visitor.value("wide_result_waits", wide_from_ > visitor.now() ? wide_from_ - visitor.now() : 0);
    visitor.value("wide_result_left", wide_until_ > visitor.now() ? wide_until_ - visitor.now() : 0);
    visitor.relative("update_reads", unserved_reads(demanded_));
    visitor.relative("update_writes", unserved_writes(demanded_));
  }

  // Returns the least number of cycles from `now` on that serve everything up to `totals`: of reads, and of writes.
  std::pair<uint32_t, uint32_t> missing(Cycle now, const Totals& totals) {
    advance(now);
    const uint32_t writes =
        std::max(remaining(totals.writes[0], served_.writes[0]), remaining(totals.writes[1], served_.writes[1]));
    return {cycles_of_reads(remaining(totals.reads, served_.reads)), (2 * writes + half_writes_ - 1) / half_writes_};
  }
  // Returns the cycles of reads that missing() would report if `others` taken read slots had been free.
  uint32_t missing_without(const Totals& totals, uint64_t others) const {
    const uint32_t reads = remaining(totals.reads, served_.reads);
    return others < reads ? cycles_of_reads(reads - static_cast<uint32_t>(others)) : 0;
  }

  bool operator==(const RegisterPorts&) const = default;

 private:
  // Common case by table: one read port a bank and a window of three cycles. kSlots[free][reads] has the earliest
  // `reads` of the free slots, or kNoFit if there are fewer.
  static constexpr uint32_t kTableWindow = 3;  // all its bits are set, so a | b <= 3 says that neither exceeds 3
  static constexpr uint8_t kNoFit = 0x80;
  static constexpr std::array<std::array<uint8_t, 4>, 8> kSlots = [] {
    std::array<std::array<uint8_t, 4>, 8> slots{};
    for (uint32_t free = 0; free < 8; ++free) {
      for (uint32_t reads = 0; reads < 4; ++reads) {
        uint32_t taken = 0;
        uint32_t left = reads;
        for (uint32_t bit = 1; bit < 8 && left > 0; bit <<= 1) {
          if ((free & bit) != 0) {
            taken |= bit;
            --left;
          }
        }
        slots[free][reads] = left > 0 ? kNoFit : static_cast<uint8_t>(taken);
      }
    }
    return slots;
  }();
  Cycle allocate_by_table(Cycle earliest, const PerBank& reads) {
    Cycle offset = earliest + 1 - base_;
    uint8_t even = kSlots[~(read_busy_[0][0] >> offset) & 7][reads[0]];
    uint8_t odd = kSlots[~(read_busy_[0][1] >> offset) & 7][reads[1]];
    while (((even | odd) & kNoFit) != 0) {
      ++offset;
      even = kSlots[~(read_busy_[0][0] >> offset) & 7][reads[0]];
      odd = kSlots[~(read_busy_[0][1] >> offset) & 7][reads[1]];
    }
    read_busy_[0][0] |= uint64_t{even} << offset;
    read_busy_[0][1] |= uint64_t{odd} << offset;
    return base_ + offset - 1;
  }

  static constexpr uint16_t kNothing = 0xffff;
  // kMostRoom: cycles after `base` in which a write may begin before the masks must move. The masks have room behind
  // them for a result's registers, or for a read window. A window has 16 cycles at most (configs/check_gpu.cc) and
  // begins late by as many cycles as an instruction reads registers of a bank. If two warps issue in a cycle, each also
  // waits for the reads of the other's instructions: no room is left then.
  static constexpr uint32_t kMostRoom = 40;
  static constexpr uint32_t kRoomAndWindow = 48;
  static constexpr size_t kMostReadPorts = 4;  // limit of configs/check_gpu.cc

  uint32_t cycles_of_reads(uint32_t reads) const { return (reads + half_reads_ - 1) / half_reads_; }

  // Moves the masks of further read ports, which only a scaled machine has.
  [[gnu::noinline]] void advance_more_ports(Cycle passed) {
    for (uint32_t port = 1; port < read_ports_; ++port) {
      for (uint64_t& busy : read_busy_[port]) busy >>= passed;
    }
  }

  static uint64_t slots(uint32_t count) { return (uint64_t{1} << count) - 1; }

  void write_by_two(int bank, uint64_t wanted) {
    both_written_[bank] |= write_busy_[bank] & wanted;
    write_busy_[bank] |= wanted;
  }

  // Closes half ports in every second cycle, counted from the first one of the clock.
  void close_half_ports() {
    constexpr uint64_t kEverySecond = 0xaaaaaaaaaaaaaaaaULL;
    const uint64_t closed = odd_ ? kEverySecond >> 1 : kEverySecond;
    for (int bank = 0; bank < 2; ++bank) {
      if (half_reads_ < 2) read_busy_[0][bank] |= closed;
      if (half_writes_ < 2) write_busy_[bank] |= closed;
    }
  }

  // Totals count modulo 2^32; only their difference matters.
  static uint32_t remaining(uint32_t wanted, uint32_t served) {
    const auto difference = static_cast<int32_t>(wanted - served);
    return difference > 0 ? static_cast<uint32_t>(difference) : 0;
  }

  bool lookup(int bank, const SourceRead& source, int warp) {
    if (!cache_) return false;
    uint16_t& entry = cached_[bank][source.slot];
    const auto tag = static_cast<uint16_t>(warp << 8 | source.reg);
    const bool hit = entry == tag;
    entry = source.reuse ? tag : kNothing;
    const auto place = static_cast<uint8_t>(cache_place(bank, source));
    cached_places_ = static_cast<uint8_t>(source.reuse ? cached_places_ | place : cached_places_ & ~place);
    return hit;
  }

  // Returns the free slots of one port in the window behind `cycle`.
  uint64_t free_slots(int bank, uint32_t port, uint64_t window, Cycle cycle) const {
    return ~(read_busy_[port][bank] >> (cycle + 1 - base_)) & window;
  }
  bool fits(int bank, uint32_t reads, uint64_t window, Cycle cycle) const {
    int free = std::popcount(free_slots(bank, 0, window, cycle));
    for (uint32_t port = 1; port < read_ports_; ++port) free += std::popcount(free_slots(bank, port, window, cycle));
    return static_cast<uint32_t>(free) >= reads;
  }
  void take(int bank, uint32_t reads, uint64_t window, Cycle cycle) {
    for (uint32_t port = 0; port < read_ports_ && reads > 0; ++port) {
      uint64_t free = free_slots(bank, port, window, cycle);
      uint64_t taken = 0;
      for (; free != 0 && reads > 0; free &= free - 1, --reads) taken |= free & -free;
      read_busy_[port][bank] |= taken << (cycle + 1 - base_);
    }
  }

  void serve_updates(Cycle passed) {
    const uint64_t mask = passed < 64 ? (uint64_t{1} << passed) - 1 : ~uint64_t{0};
    const auto beyond = static_cast<uint32_t>(passed > 64 ? passed - 64 : 0);
    const uint32_t half_open = (beyond + (odd_ ? 0 : 1)) / 2;  // cycles beyond the masks in which a half port is open
    uint32_t free_reads = half_reads_ < 2 ? 2 * half_open : beyond * half_reads_;
    for (int bank = 0; bank < 2; ++bank) {
      for (uint32_t port = 0; port < read_ports_; ++port) {
        free_reads += static_cast<uint32_t>(std::popcount(~read_busy_[port][bank] & mask));
      }
      uint32_t free_writes = half_writes_ < 2 ? half_open : beyond * half_writes_ / 2;
      free_writes += static_cast<uint32_t>(std::popcount(~write_busy_[bank] & mask));
      if (half_writes_ > 2) free_writes += static_cast<uint32_t>(std::popcount(~both_written_[bank] & mask));
      served_.writes[bank] += std::min(free_writes, remaining(demanded_.writes[bank], served_.writes[bank]));
    }
    served_.reads += std::min(free_reads, remaining(demanded_.reads, served_.reads));
    // Compared one by one: a comparison of the arrays is a function call for eight bytes.
    pending_ =
        served_.reads != demanded_.reads || served_.writes[0] != demanded_.writes[0] || served_.writes[1] != demanded_.writes[1];
  }

  uint32_t half_reads_;
  uint32_t half_writes_;
  uint32_t read_ports_;
  bool half_ports_;
  uint32_t room_;  // cycles after base_ in which a write may begin; 0 with half ports or several issues a cycle
  uint32_t window_;
  bool cache_;
  bool by_table_;
  Cycle base_ = 0;
  std::array<std::array<uint64_t, 2>, kMostReadPorts> read_busy_{};  // [port][bank]
  std::array<uint64_t, 2> write_busy_{};
  std::array<uint64_t, 2> both_written_{};           // with two write ports: both are taken
  bool odd_ = false;                                 // with half ports: the number of cycles passed is odd
  std::array<std::array<uint16_t, 3>, 2> cached_{};  // [bank][operand slot]: warp << 8 | register
  uint8_t cached_places_ = 0;                        // entries that hold a register, as bits of cache_place
  Totals demanded_;
  Totals served_;
  bool pending_ = false;
  Cycle write_back_end_ = 0;
  Cycle wide_from_ = 0;   // start of the write of the last wide result that met pairs
  Cycle wide_until_ = 0;  // end of that write
  uint32_t pair_wait_cycles_ = 0;
};

}  // namespace warpfold::sim
