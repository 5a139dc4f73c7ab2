#include <cstdint>
#include <string>
#include <string_view>

#include "configs/load.h"
#include "traces/import/import.h"

namespace {

// A loop over a parameter, loads and stores of arrays, a box of a tensor map, and branches on the CTA's index and on loaded data.
constexpr std::string_view kListing = R"(	code for sm_90a
.text.sums:
S2R R0, SR_TID.X ;
S2UR UR4, SR_CTAID.X ;
ULDC.64 UR6, c[0x0][0x208] ;
MOV R6, c[0x0][0x210] ;
MOV R7, c[0x0][0x214] ;
IMAD R1, R0, 0x8, RZ ;
IMAD.WIDE R2, R0, 0x4, R6 ;
UISETP.LT.AND UP0, UPT, UR4, 0x2, UPT ;
PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0 ;
MOV R4, RZ ;
.L_1:
LDG.E R5, desc[UR6][R2.64] ;
ISETP.GT.AND P1, PT, R5, 0x3, PT ;
@P1 BRA `(.L_2) ;
STG.E desc[UR6][R2.64], R5 ;
.L_2:
IADD3 R2, P2, R2, 0x80, RZ ;
IMAD.X R3, RZ, RZ, R3, P2 ;
VIADD R4, R4, 0x1 ;
ISETP.LT.AND P3, PT, R4, c[0x0][0x218], PT ;
@P3 BRA `(.L_1) ;
@P0 EXIT ;
ULDC.64 UR8, c[0x0][0x198] ;
UIADD3 UR8, UP1, UR8, 0x30, URZ ;
UIADD3.X UR9, URZ, UR9, URZ, UP1, !UPT ;
UMOV UR12, 0x800 ;
UMOV UR13, URZ ;
UMOV UR14, URZ ;
UMOV UR15, URZ ;
UTMASTG.2D [UR12], [UR8] ;
UTMACMDFLUSH ;
EXIT ;
)";

}  // namespace

// Any text is a description with which a small listing imports, or one diagnostic. libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  configs::KernelLaunch launch;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!configs::parse_text("fuzz.textproto", text, launch)) return 0;
  const auto caches = [](uint32_t, uint32_t, uint32_t) {
    return traces::access::CacheSpec{.l1_bytes = 1024, .l2_bytes = 4096, .sms = 2, .ctas_per_sm = 1};
  };
  const sass::Limits limits{.instructions = 10'000, .passes = 1'000, .ctas = 20};
  const auto imported = sass::import_listing("fuzz.sass", kListing, launch, {}, caches, limits);
  if (!imported && imported.error().message.empty()) __builtin_trap();
  return 0;
}
