// Rolled programs expand to the given instructions, and loops are found.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "traces/accelsim/program_roller.h"

namespace warpfold::traces::accelsim {
namespace {

using Sequence = std::vector<uint32_t>;

void expand(const ProgramArena& arena, uint32_t list, Sequence& into) {
  for (const Symbol symbol : arena.list(list)) {
    if (!symbol.is_loop()) {
      into.push_back(symbol.number());
      continue;
    }
    for (uint64_t trip = 0; trip < arena.loop(symbol).trips; ++trip) expand(arena, arena.loop(symbol).body, into);
  }
}

// "a b 3(c d)": instructions as letters, loops in parentheses.
std::string text(const ProgramArena& arena, uint32_t list) {
  std::string all;
  for (const Symbol symbol : arena.list(list)) {
    if (!symbol.is_loop()) {
      all += static_cast<char>('a' + symbol.number());
    } else {
      all += std::to_string(arena.loop(symbol).trips) + "(" + text(arena, arena.loop(symbol).body) + ")";
    }
  }
  return all;
}

// Instructions are numbered by their PC.
uint32_t roll(ProgramArena& arena, ProgramRoller& roller, const Sequence& sequence) {
  for (const uint32_t each : sequence) roller.add(each, each, each * 16);
  (void)arena;
  return roller.finish();
}

std::string rolled(const std::string& letters) {
  ProgramArena arena;
  ProgramRoller roller(arena);
  Sequence sequence;
  for (const char letter : letters) sequence.push_back(static_cast<uint32_t>(letter - 'a'));
  return text(arena, roll(arena, roller, sequence));
}

TEST(Roller, StraightCodeStaysAsItIs) { EXPECT_EQ(rolled("abcd"), "abcd"); }

TEST(Roller, PassesBecomeTrips) { EXPECT_EQ(rolled("abcbcbcd"), "a3(bc)d"); }

TEST(Roller, ALoopOfOneInstruction) { EXPECT_EQ(rolled("abbbbc"), "a4(b)c"); }

TEST(Roller, LoopsInLoops) { EXPECT_EQ(rolled("abcdcdebcdcdef"), "a2(b2(cd)e)f"); }

TEST(Roller, TripCountsThatDifferInside) { EXPECT_EQ(rolled("abcbcbcdabcbcdef"), "a3(bc)da2(bc)def"); }

TEST(Roller, OneLoopBehindAnother) { EXPECT_EQ(rolled("abababcdcdcde"), "3(ab)3(cd)e"); }

// The condition on top: the last pass is a part of one.
TEST(Roller, APassThatEndsInTheMiddle) { EXPECT_EQ(rolled("abcabcabd"), "2(abc)abd"); }

TEST(Roller, PassesByTurnsAreALoopOfBoth) { EXPECT_EQ(rolled("abdacdabdacdabdacde"), "3(abdacd)e"); }

TEST(Roller, AFunctionCalledTwiceIsNoLoop) { EXPECT_EQ(rolled("defabgabh"), "defabgabh"); }

TEST(Roller, EqualWarpsAreOneProgram) {
  ProgramArena arena;
  ProgramRoller roller(arena);
  const uint32_t first = roll(arena, roller, {0, 1, 2, 1, 2, 3});
  EXPECT_EQ(roll(arena, roller, {0, 1, 2, 1, 2, 3}), first);
  EXPECT_NE(roll(arena, roller, {0, 1, 2, 1, 2, 1, 2, 3}), first);
}

// Ten times the trips are as much text.
TEST(Roller, TextDoesNotGrowWithTrips) {
  Sequence sequence;
  for (int outer = 0; outer < 100; ++outer) {
    sequence.push_back(0);
    for (int inner = 0; inner < 1000; ++inner) sequence.insert(sequence.end(), {1, 2, 3});
    sequence.push_back(4);
  }
  ProgramArena arena;
  ProgramRoller roller(arena);
  EXPECT_EQ(text(arena, roll(arena, roller, sequence)), "100(a1000(bcd)e)");
}

RC_GTEST_PROP(Roller, ExpandsToWhatWasGiven, ()) {
  const auto letters = *rc::gen::inRange(1U, 6U);
  const auto sequences = *rc::gen::container<std::vector<Sequence>>(rc::gen::container<Sequence>(rc::gen::inRange(0U, letters)));
  ProgramArena arena;
  ProgramRoller roller(arena);
  for (const Sequence& sequence : sequences) {
    Sequence expanded;
    const uint32_t program = roll(arena, roller, sequence);
    expand(arena, program, expanded);
    RC_ASSERT(expanded == sequence);
    RC_ASSERT(arena.expanded(program) == sequence.size());
  }
}

}  // namespace
}  // namespace warpfold::traces::accelsim
