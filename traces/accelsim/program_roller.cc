#include "traces/accelsim/program_roller.h"

#include <algorithm>

namespace warpfold::traces::accelsim {
namespace {

constexpr size_t kLongestRow = 16;  // passes that may repeat as a whole

}  // namespace

ProgramRoller::ProgramRoller(ProgramArena& arena) : arena_(arena) { frames_.push_back({.serial = ++serials_}); }

void ProgramRoller::add(uint32_t instruction, uint32_t place, uint64_t pc) {
  if (place >= seen_.size()) seen_.resize(place + 1);
  if (instruction >= place_of_.size()) place_of_.resize(instruction + 1);
  place_of_[instruction] = place;
  if (instructions_ > 0 && pc <= last_pc_) go_back_to(place);
  append(frames_.back(), Symbol::instruction(instruction));
  last_pc_ = pc;
  ++instructions_;
}

void ProgramRoller::append(Frame& frame, Symbol symbol) {
  if (!symbol.is_loop()) seen_[place_of_[symbol.number()]] = {frame.serial, static_cast<uint32_t>(frame.pass.size())};
  frame.pass.push_back(symbol);
}

void ProgramRoller::add_pass(Frame& frame, uint32_t list) {
  if (!frame.passes.empty() && frame.passes.back().list == list) {
    ++frame.passes.back().count;
  } else {
    frame.passes.push_back({list, 1});
  }
}

void ProgramRoller::end_pass(Frame& frame) {
  add_pass(frame, arena_.list(frame.pass));
  frame.pass.clear();
  frame.serial = ++serials_;
}

// True if the pass still has the place at this position: its instruction may have become part of a loop.
bool ProgramRoller::is_at(const Frame& frame, size_t at, uint32_t place) const {
  return at < frame.pass.size() && !frame.pass[at].is_loop() && place_of_[frame.pass[at].number()] == place;
}

void ProgramRoller::go_back_to(uint32_t place) {
  const Seen seen = seen_[place];
  size_t around = frames_.size();
  bool heads = false;  // true: the place is the head of the frame's loop; false: it lies within the frame's pass
  while (around > 0) {
    const Frame& frame = frames_[around - 1];
    heads = around > 1 && frame.head == place;
    if (heads || (seen.serial == frame.serial && is_at(frame, seen.at, place))) break;
    --around;
  }
  if (around == 0) return;  // not executed before: a jump, no loop
  while (frames_.size() > around) close_frame();
  Frame& frame = frames_.back();
  if (heads) {
    end_pass(frame);
    return;
  }
  Frame inner{.head = place, .serial = ++serials_};
  inner.pass.assign(frame.pass.begin() + seen.at, frame.pass.end());
  frame.pass.erase(frame.pass.begin() + seen.at, frame.pass.end());
  end_pass(inner);
  frames_.push_back(std::move(inner));
}

// Closes the innermost frame: its passes become loops of the outer frame, followed by the code after the last pass.
void ProgramRoller::close_frame() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  // The current pass may begin with a complete pass: a repetition of the last one, or of an earlier one if passes
  // alternate.
  size_t taken = 0;
  uint32_t complete = 0;
  const size_t compared = std::min(frame.passes.size(), kLongestRow);
  for (size_t back = 1; back <= compared; ++back) {
    const uint32_t list = frame.passes[frame.passes.size() - back].list;
    const SymbolList& before = arena_.list(list);
    const bool begins = before.size() <= frame.pass.size() && std::equal(before.begin(), before.end(), frame.pass.begin());
    if (!begins || before.size() <= taken) continue;
    taken = before.size();
    complete = list;
  }
  if (taken > 0) add_pass(frame, complete);
  Frame& outer = frames_.back();
  for (const Symbol symbol : rolled(frame.passes)) append(outer, symbol);
  for (size_t i = taken; i < frame.pass.size(); ++i) append(outer, frame.pass[i]);
}

SymbolList ProgramRoller::rolled(const std::vector<Run>& runs) {
  SymbolList symbols;
  const auto expand = [&](const Run& run, SymbolList& into) {
    if (run.count > 1) {
      into.push_back(arena_.loop(run.list, run.count));
    } else {
      const SymbolList& list = arena_.list(run.list);
      into.insert(into.end(), list.begin(), list.end());
    }
  };
  for (size_t i = 0; i < runs.size();) {
    size_t row = 0;
    size_t times = 1;
    for (size_t length = 2; length <= kLongestRow && i + 2 * length <= runs.size() && times == 1; ++length) {
      size_t repeats = 1;
      while (i + (repeats + 1) * length <= runs.size() &&
             std::equal(runs.begin() + static_cast<std::ptrdiff_t>(i), runs.begin() + static_cast<std::ptrdiff_t>(i + length),
                        runs.begin() + static_cast<std::ptrdiff_t>(i + repeats * length))) {
        ++repeats;
      }
      if (repeats > 1) {
        row = length;
        times = repeats;
      }
    }
    if (times == 1) {
      expand(runs[i++], symbols);
      continue;
    }
    SymbolList body;
    for (size_t r = 0; r < row; ++r) expand(runs[i + r], body);
    symbols.push_back(arena_.loop(arena_.list(body), times));
    i += row * times;
  }
  return symbols;
}

uint32_t ProgramRoller::finish() {
  while (frames_.size() > 1) close_frame();
  const uint32_t program = arena_.list(frames_.back().pass);
  frames_.back().pass.clear();
  frames_.back().serial = ++serials_;
  instructions_ = 0;
  last_pc_ = 0;
  return program;
}

}  // namespace warpfold::traces::accelsim
