#include "tests/support/tcgen05.h"

namespace warpfold::test {

std::string product_line(const Product& product) {
  const std::string a = product.a_in_tensor_memory ? "tmem[UR4]" : "gdesc[UR4]";
  return op(text({product.narrow ? "UTCQMMA" : "UTCHMMA", product.pair ? ".2CTA" : "", " ", a,
                  ", gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], !UPT"}),
            {}, text({"rows=", std::to_string(product.rows), " columns=", std::to_string(product.columns)}));
}

std::string scale_copy_line() { return op("UTCCP.T.S.4x32dp128bit tmem[UR4], gdesc[UR6]", {}, "wavefronts=4"); }

std::string commit_line(const std::string& effect) { return op("UTCBAR [UR12], URZ", {}, effect); }

Lines wait_lines(const std::string& effect) { return {op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR12], R3", {.stall = 2}, effect)}; }

traces::Kernel chain_of(const Product& product, int count) { return chain_of_lines({product_line(product)}, count); }

traces::Kernel chain_of_lines(const Lines& lines, int count) {
  const Lines products = loop(static_cast<uint64_t>(count), lines);
  return KernelText("products", "sm_100")
      .options("tensor_memory=512")
      .declare("ring done depth=1 arrivals=1")
      .declare("cursor use depth=1")
      .role("issuer", 1,
            join(join(products, {commit_line("barrier=done cursor=use")}),
                 {op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR12], R3", {.stall = 2, .write = 0}, "barrier=done cursor=use advance=1"),
                  op("NOP", {.wait = {0}})}))
      .kernel();
}

namespace {

traces::Kernel pipeline(const std::string& name, int columns, uint64_t tiles) {
  const Product product{.columns = columns};
  const Lines copies =
      join(wait_lines("barrier=empty cursor=load"),
           {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=full cursor=load tx_bytes=4096"),
            op("UTMALDG.2D [UR8], [UR4]", {.stall = 2}, "bytes=4096 barrier=full cursor=load stream=data advance=1")});
  const Lines products = join(join(wait_lines("barrier=full cursor=use"), {product_line(product), product_line(product)}),
                              {commit_line("barrier=empty cursor=use advance=1")});
  const Lines tile =
      join(join(wait_lines("barrier=free cursor=tile"), loop(5, products)), {commit_line("barrier=sums cursor=tile advance=1")});
  const Lines read = join(wait_lines("barrier=sums cursor=out"),
                          {op("LDTM.x16 R8, tmem[UR4]", {.write = 0}), op("FADD R4, R8, R4", {.stall = 4, .wait = {0}}),
                           op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=free cursor=out advance=1")});
  return KernelText(name, "sm_100")
      .options("registers=40 shared_memory=16384 tensor_memory=256")
      .declare("stream data read dram=1/3")
      .declare("ring full depth=2 arrivals=1")
      .declare("ring empty depth=2 arrivals=1 free")
      .declare("ring sums depth=2 arrivals=1")
      .declare("ring free depth=2 arrivals=4 free")
      .declare("cursor load depth=2")
      .declare("cursor use depth=2")
      .declare("cursor tile depth=2")
      .declare("cursor out depth=2")
      .ctas(3)
      .role("copier", 1, loop(tiles, loop(5, copies)))
      .role("issuer", 1, loop(tiles, tile))
      .role("idle", 2, {op("NOP")})
      .role("reader", 4, loop(tiles, read))
      .kernel();
}

}  // namespace

Scenario tcgen05_scenario(uint64_t tiles) {
  Scenario scenario;
  scenario.gpu = one_sm("b200");
  scenario.kernels.push_back(pipeline("wide", 256, tiles));
  scenario.kernels.push_back(pipeline("narrow", 64, tiles + tiles / 2));
  for (size_t k = 0; k < scenario.kernels.size(); ++k)
    scenario.launches.push_back(launch(scenario.kernels[k], static_cast<int>(k)));
  return scenario;
}

}  // namespace warpfold::test
