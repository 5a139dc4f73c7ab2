#include "sim/account/states.h"

namespace warpfold::sim {
namespace {

using enum WarpState;
constexpr auto kStateNames = by_enum<WarpState, std::string_view>({
    {kSelected, "selected"},
    {kWait, "wait"},
    {kNotSelected, "not_selected"},
    {kDispatchStall, "dispatch_stall"},
    {kMathPipeThrottle, "math_pipe_throttle"},
    {kMioThrottle, "mio_throttle"},
    {kLgThrottle, "lg_throttle"},
    {kShortScoreboard, "short_scoreboard"},
    {kLongScoreboard, "long_scoreboard"},
    {kBarrier, "barrier"},
    {kGmma, "gmma"},
    {kNoInstruction, "no_instruction"},
    {kBranchResolving, "branch_resolving"},
    {kSleeping, "sleeping"},
    {kDrain, "drain"},
});

}  // namespace

std::string_view state_name(WarpState state) { return kStateNames[static_cast<size_t>(state)]; }

}  // namespace warpfold::sim
