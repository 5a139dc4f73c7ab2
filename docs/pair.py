import warpfold as wf

pair = wf.Scenario("pair", gpu="h100_sxm")
pair.kernel("qkv", hopper_gemm={"m": 2048, "n": 6144, "k": 4096, "type": "FP8", "fp8_accumulation": "FAST", "tile_m": 128,
                                "tile_n": 128, "registers_per_thread": 160}, priority=1)
pair.kernel("rng", philox={"queries": 2048, "keys": 2048, "heads": 32, "calls_per_thread": 64}, stream=1)
for result in wf.compare(pair, ["sequential", "concurrent"]).results:
    slowdowns = [f"{kernel.name} {kernel.slowdown_vs_solo:.2f}" for kernel in result.kernels]
    print(f"{result.policy:10} {result.total_time_us:6.1f} us, slowdowns {', '.join(slowdowns)}; limited by {result.reason}")
