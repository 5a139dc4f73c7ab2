#include "samples.h"

#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "isa/architecture.h"
#include "isa/assembler.h"
#include "traces/trace_file.h"

namespace warpfold::traces {

const std::string kSampleText =
    R"(kernel sample architecture=sm_90 registers=168 shared_memory=131072 cluster=2 flops=34359738368 source="by hand, \"m=512\"\n"
  parameter tiles
  parameter steps
  class full tiles=2 steps=16
  class edge tiles=1 steps=3
  grid full*6 edge*2 full*2
  stream A read dram=1/8
  stream C write dram=1/1 footprint=4194304
  ring full depth=4 arrivals=1
  ring empty depth=4 arrivals=256 free
  cursor load depth=4 start=0
  cursor use depth=4 start=1
  role producer warps=4
    [B------:R-:W-:-:S05] USETMAXREG.DEALLOC.CTAPOOL 0x18 ; {count=24}
    loop tiles
      [B------:R-:W-:-:S04] IADD3 R4, R4, 0x1, RZ ;
      loop steps
        [B------:R-:W0:-:S02] SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ; {barrier=empty cursor=load}
        [B0-----:R1:W-:-:S02] SYNCS.ARRIVE.TRANS64 RZ, [R2], R3 ; {barrier=full cursor=load tx_bytes=32768}
        [B-1----:R-:W-:Y:S04] @!P1 UTMALDG.2D.MULTICAST [UR8], [UR4], UR6 ; {bytes=32768 stream=A barrier=full cursor=load advance=1 multicast=2}
      end
    end
    [B------:R-:W-:-:S05] EXIT ;
  end
  role consumer warps=4
    [B------:R-:W-:-:S01] LDS.128 R4, [R2] ; {wavefronts=8}
    block
    loop tiles
      loop 2
        [B------:R-:W0:-:S02] SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ; {barrier=full cursor=use}
        [B0-----:R-:W-:-:S01] WARPGROUP.ARRIVE ;
        [B------:R-:W-:-:S01] HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24, gsb0 ; {commit}
        [B------:R-:W-:-:S02] WARPGROUP.DEPBAR.LE gsb0, 0x0 ; {count=1}
        [B------:R-:W-:-:S02] SYNCS.ARRIVE.TRANS64 RZ, [R2], R3 ; {barrier=empty cursor=use advance=1}
      end
      [B------:R-:W-:-:S05] BAR.SYNC.DEFER_BLOCKING 0x1, 0x80 ; {barrier=1 count=128}
      [B------:R0:W-:-:S02] @UP0 STG.E.128 desc[UR4][R2.64+0x10], R24 ; {bytes=512 stream=C}
      [B------:R-:W-:-:S04] IMAD.MOV.U32 R6, RZ, RZ, R5.reuse ;
    end
    [B------:R-:W-:-:S05] EXIT ;
  end
end
)";

Kernel sample() {
  const Expected<std::vector<Kernel>> kernels = parse_kernels("sample.wfs", kSampleText);
  if (!kernels) throw std::logic_error(kernels.error().text());
  return kernels->at(0);
}

isa::Instruction instruction(std::string_view text) {
  const Expected<isa::Instruction> parsed = isa::parse_instruction(*isa::Architecture::find("sm_90").value(), text, "test", 1);
  if (!parsed) throw std::logic_error(parsed.error().text());
  return *parsed;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "warpfold_traces_XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a destructor cannot report; the folder is empty of value by now
  std::filesystem::remove_all(path_, ignored);
}

std::string read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace warpfold::traces
