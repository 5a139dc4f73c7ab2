#!/usr/bin/env python3
"""Makes the traces of this folder from the listings of ../side_by_side.cu, which its head says how to compile.

    make.py WARPFOLD LISTING LISTING_OF_32_REGISTERS FOLDER [KERNEL...]

A division decides in these kernels what a thread does, so that the importer executes every CTA. 100 CTAs are imported therefore, of
problems that are as many times smaller, and the trace's grid is made 10,000 CTAs. Two geometries are simplified, so that all warps
have one program: max pooling has rows of 128 windows for 100, and the enlargement's source is one pixel. SHARES states the traffic
of their loads in the real geometry. The statistics of HFuse's launches (block, registers, shared memory): its traces,
aoli-al/HFuse@fb8bc7b:scripts/data/ml-volta.json and ml-regcap-volta.json; sizes: aoli-al/TorchKernel@07bdc30:wrappers/wrapper.cpp.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

CTAS = 100  # imported
TIMES = 100  # so many times as many are launched

# Kernel: its parts' parameters, block, registers without and with a cap, bytes of shared memory.
KERNELS = {
    "im2col_alone": ("c", (512, 1), 64, 58, 0),
    "max_pool_alone": ("w", (256, 1), 26, 24, 0),
    "upsample_alone": ("e", (512, 1), 64, 54, 0),
    "batch_norm_alone": ("s", (128, 4), 27, 26, 640),
    "histogram_alone": ("h", (512, 1), 40, 32, 88),
    "im2col_max_pool_beside": ("cw", (768, 1), 64, 32, 0),
    "im2col_max_pool_behind": ("cw", (512, 1), 64, 32, 0),
    "im2col_upsample_beside": ("ce", (512, 2), 64, 32, 0),
    "im2col_upsample_behind": ("ce", (512, 2), 64, 32, 0),
    "im2col_batch_norm_beside": ("cs", (1024, 1), 64, 32, 640),
    "im2col_batch_norm_behind": ("cs", (512, 1), 64, 32, 640),
    "max_pool_batch_norm_beside": ("ws", (768, 1), 29, 31, 640),
    "max_pool_batch_norm_behind": ("ws", (512, 1), 29, 29, 640),
    "upsample_batch_norm_beside": ("es", (1024, 1), 58, 32, 640),
    "upsample_batch_norm_behind": ("es", (512, 1), 64, 32, 640),
    "max_pool_upsample_behind": ("we", (512, 1), 64, 32, 0),
    "im2col_histogram_beside_count": ("ch", (1024, 1), 64, 32, 88),
    "im2col_histogram_beside_clear": ("ch", (1024, 1), 64, 32, 88),
    "im2col_histogram_behind": ("ch", (1024, 1), 64, 32, 88),
    "histogram_max_pool_beside_count": ("hw", (768, 1), 64, 32, 88),
    "histogram_max_pool_beside_add": ("hw", (768, 1), 64, 32, 88),
    "histogram_max_pool_behind": ("hw", (512, 1), 64, 32, 88),
    "histogram_upsample_beside_count": ("he", (1024, 1), 64, 32, 88),
    "histogram_upsample_beside_add": ("he", (1024, 1), 64, 32, 88),
    "histogram_upsample_behind": ("he", (512, 1), 64, 32, 88),
    "histogram_batch_norm_beside_count": ("hs", (1024, 1), 64, 32, 728),
    "histogram_batch_norm_beside_add": ("hs", (1024, 1), 64, 32, 728),
    "histogram_batch_norm_behind": ("hs", (512, 1), 64, 32, 728),
}

# Shares of streams in the real problem, for streams whose share differs in the small problem or its geometry.
SHARES = {
    # 2512 x 2048 floats are read 13 times, by CTAs that run at once or soon after each other: once from DRAM.
    "image": {"dram": "20096/260000"},
    # Imported in the real geometry, 100 windows a row. A warp's 25 loads ask for 32 sectors each. L1 has 74.8 % of
    # them, because five neighbours lie in 1 or 2 sectors. DRAM serves 93.8 % of the other sectors.
    "pictures": {"dram": "938/1000", "l1": "748/1000"},
    # A CTA's 512 pixels and one channel: 64 requests, 7.6 different sectors (counted over all CTAs); 2 MB are in L2 after 1 in 24.
    "small": {"dram": "42/1000", "l1": "881/1000"},
    # All CTAs add to the same 80 bytes.
    "bins": {"dram": "1/1000"},
}


def integer(value, size=4, offset=None):
    at = "" if offset is None else f" offset: {offset}"
    return f"parameter {{ value: {value} bytes: {size}{at} }}"


def real(value):
    return f"parameter {{ real: {value} }}"


def pointer(array):
    return f'parameter {{ array: "{array}" }}'


def tensor(array, sizes):
    strides = [sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1]
    return [pointer(array)] + [integer(v, 8) for v in (*sizes, *strides)]


def vector(array, size):
    return [pointer(array) if array else integer(0, 8), integer(size), integer(1)]


def strided(array, size):
    return [pointer(array)] + [integer(v, 8) for v in (size, 0, 1, 0)] + [integer(1)]


# Each part: bytes of its struct; arrays and parameters of a problem of CTAS CTAs, its struct beginning at `offset`.
def columns(_offset):
    rows = CTAS // 4
    sizes = (rows + 12, 2048, 13, 1, 0, 0, 1, 1, 1, 1, rows, 2048)
    arrays = {"image": (rows + 12) * 8192, "columns": 13 * CTAS * 2048}
    return arrays, [integer(CTAS * 512, 8), pointer("image"), *(integer(v, 8) for v in sizes), pointer("columns")]


def windows(_offset):
    rows = CTAS * 2
    sizes = (1, 1, rows * 10, 1280, rows, 128, 5, 5, 10, 10, 2, 2, 1, 1)
    arrays = {"pictures": rows * 51200, "largest": CTAS * 1024, "place": CTAS * 2048}
    return arrays, [integer(CTAS * 256), pointer("pictures"), *map(integer, sizes), pointer("largest"), pointer("place")]


def enlargement(_offset):
    arrays = {"small": 20 * 102400, "large": 20 * CTAS * 2048}
    scalars = [integer(CTAS * 512), real(0.0), real(0.0), integer(1)]
    return arrays, scalars + tensor("small", (5, 4, 256, 100)) + tensor("large", (5, 4, CTAS // 5, 2560))


def statistics(_offset):
    arrays = {"x": 128 * CTAS * 400, "mean": CTAS * 4, "inverse": CTAS * 4}
    scalars = [pointer("x"), *map(integer, (128, CTAS, 100, CTAS * 100, 100, 1)), real(0.2), real(0.0)]
    return arrays, scalars + vector(None, 0) * 2 + vector("mean", CTAS) + vector("inverse", CTAS)


def counting(offset):
    arrays = {"bins": 80, "values": CTAS * 2048}
    scalars = [integer(20, 4, offset + 96), real(-5.2), real(5.2), integer(CTAS * 512, 8)]
    return arrays, strided("bins", 20) + strided("values", CTAS * 512) + scalars


PARTS = {"c": (120, columns), "w": (88, windows), "e": (160, enlargement), "s": (104, statistics), "h": (120, counting)}


def description(name, capped, answers):
    parts, block, registers, registers_capped, shared = KERNELS[name]
    lines = [f'function: "{name}"', 'architecture: "sm_70"', f"grid {{ x: {CTAS} }}", f"block {{ x: {block[0]} y: {block[1]} }}"]
    lines.append(f"registers: {registers_capped if capped else registers}")
    if shared:
        lines.append(f"shared_memory_bytes: {shared}")
    offset, parameters = 0, []
    for part in parts:
        size, make = PARTS[part]
        arrays, values = make(offset)
        lines += [f'array {{ name: "{array}" bytes: {size_of} }}' for array, size_of in arrays.items()]
        parameters += values
        offset += size
    return "\n".join(lines + parameters + answers) + "\n"


def answer(source, line):
    """How often the branch of a line is taken. The instruction that sets its predicate stands above it."""
    guard = re.search(r"@(!?)(P\d)", source[line - 1])
    predicate, inverted = guard[2], bool(guard[1])

    def when(value):
        return f"answer {{ line: {line} taken: {int(value != inverted)} of: 1 }}"

    for i in range(line - 2, max(0, line - 80), -1):
        text = source[i]
        if re.search(rf"\bFCHK {predicate},", text):
            return when(False)  # a quotient of ordinary numbers
        if not re.search(rf"(FSETP|ISETP)\S* {predicate},", text):
            continue
        if "0x1ffffff" in text:
            return when(True)  # the reciprocal of an ordinary number
        if "0x727fffff" in text:
            return when(False)  # the root of an ordinary number
        if any("ATOMS.CAST" in source[k] for k in range(max(0, i - 12), i)):
            # 32 lanes of a normal distribution and 20 bins from -5.2 to 5.2: the fullest bin has 8.33 of them in the mean, and each
            # time one lane of a bin succeeds.
            return f"answer {{ line: {line} taken: 22 of: 25 }}"
        if "FSETP.NEU" in text:
            return when(True)  # a variance is not 0
        if "FSETP.GTU" in text or "FSETP.LTU.OR" in text:
            return when(False)  # a value lies between the least and the largest
    sys.exit(f"line {line}: {source[line - 1].strip()}: what is taken?")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def imported(warpfold, listing, name, capped, folder):
    source, answers = Path(listing).read_text().split("\n"), []
    launch, trace = folder / "launch.textproto", folder / "small.wft"
    gpu = Path(__file__).resolve().parents[2] / "gpus/v100_16gb.textproto"
    while True:
        launch.write_text(description(name, capped, answers))
        result = run(warpfold, "import", listing, "--launch", launch, "--gpu", gpu, "--output", trace)
        if result.returncode == 0:
            return run(warpfold, "trace", "dump", trace).stdout.split("\n")
        asked = re.findall(r"answer \{ line: (\d+) taken: N of: M", result.stderr)
        if not asked:
            sys.exit(result.stderr)
        answers.append(answer(source, int(asked[-1])))


def enlarged(text, name):
    lines, ctas, at = [], {}, None
    for line in text:
        words = line.split()
        if words and words[0] == "grid":
            for word in words[1:]:
                kind, count = word.split("*")
                ctas[kind] = ctas.get(kind, 0) + int(count) * TIMES
            if at is None:
                at = len(lines)
                lines.append("")
            continue
        if words and words[0] == "stream":
            shares = SHARES.get(words[1].split(".")[0], {})
            if "dram" in shares:
                line = re.sub(r"dram=\S+", "dram=" + shares["dram"], line)
            if "l1" in shares and words[2] == "read":
                line = re.sub(r" l1=\S+", "", line) + " l1=" + shares["l1"]
        if words and words[0] == "kernel":
            line = re.sub(r'source="[^"]*"', f'source="side_by_side.cu, function {name}"', line)
        lines.append(line)
    lines[at] = "  grid " + " ".join(f"{kind}*{count}" for kind, count in ctas.items())
    return "\n".join(lines)


def main():
    warpfold, listing, listing_32, out, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for name in names or KERNELS:
            for capped in (False, True):
                of = listing_32 if capped else listing
                whole = folder / "whole.wfs"
                text = imported(warpfold, of, name, capped, folder)
                whole.write_text(enlarged(text, name))
                trace = Path(out) / f"{name}{'_32' if capped else ''}.wft"
                result = run(warpfold, "trace", "write", whole, "--output", trace)
                if result.returncode != 0:
                    sys.exit(result.stderr)


if __name__ == "__main__":
    main()
