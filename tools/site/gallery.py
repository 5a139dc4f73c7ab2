"""The gallery: reports of real runs, each with the command that made it and its picture (where there is a Chromium)."""

import html
import shutil
import subprocess
import sys

WIDTH, HEIGHT, SCALE = 1200, 900, 0.5  # of a picture: the part that a window shows first

# Name, subject and command. OUT is where the page goes; of a study the pictures are shown.
REPORTS = (
    ("simulate", "A GEMM beside a random-number kernel: times, states of warps, contention, and an SM over time",
     "simulate qkv_philox_small --timeline --html OUT/simulate.html"),
    ("compare", "The same pair under every policy that shares the GPU",
     "compare qkv_philox_small --policies all --html OUT/compare.html"),
    ("whatif", "What more of each resource would gain, and less would cost",
     "whatif qkv_philox_small --html OUT/whatif.html"),
    ("occupancy", "CTAs an SM, what bounds them, and what a smaller footprint gains",
     "occupancy qkv_philox_small --html OUT/occupancy.html"),
    ("layer", "A layer of Llama-3-8B, operator by operator, under the roofs of an H100",
     "layer llama3_8b --no-simulation --html OUT/layer.html"),
    ("layer-graph", "The dataflow graph of that layer with fused kernels",
     "layer llama3_8b --no-simulation --fused --svg OUT/layer-graph.svg"),
    ("study", "A study's map: where random numbers beside the GEMM are worth it",
     "study small_pair --output OUT/study"),
    ("validate", "GEMMs of DeepGEMM on an H800, measured beside simulated",
     "validate tests/validation/data/h800_deepgemm.csv --html OUT/validate.html"),
)


def write(root, program, work, sources):
    folder = work / "extra/gallery"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "made-by"
    stamp = f"{program.stat().st_mtime_ns} {hash_of_reports()}"
    if not made.exists() or made.read_text() != stamp:
        for name, _, command in REPORTS:
            words = [word.replace("OUT", str(folder)) for word in command.split()]
            done = subprocess.run([program, *words], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                sys.exit(f"warpfold {command}: {done.stderr}")
        shutil.rmtree(folder / "study/points", ignore_errors=True)
        take_pictures(root, folder)
        made.write_text(stamp)
    figures = "".join(figure(folder, *report) for report in REPORTS)
    sources.write("gallery.md", f"# Gallery\n\nPages and pictures as the commands below them write them. Each page stands alone: one file, no network.\n\n"
                  f'<div class="gallery">\n{figures}</div>\n')


def hash_of_reports():
    return " ".join(command for _, _, command in REPORTS)


def take_pictures(root, folder):
    if not shutil.which("chromium"):
        print("gallery: no pictures, for chromium is not installed")
        return
    sys.path.insert(0, str(root / "tools/report"))
    import headless

    for page in folder.glob("*.html"):
        with headless.Page(page, width=WIDTH, height=HEIGHT) as shown:
            page.with_suffix(".png").write_bytes(shown.screenshot(height=HEIGHT, scale=SCALE))


def figure(folder, name, says, command):
    page = f"{name}.html" if (folder / f"{name}.html").exists() else f"{name}.svg"
    if (folder / name).is_dir():
        page = f"{name}/{min((folder / name).glob('*.svg')).name}"
    picture = f"{name}.png" if (folder / f"{name}.png").exists() else page
    shown = f'<img src="gallery/{picture}" alt="{html.escape(says)}">' if not picture.endswith(".html") else html.escape(page)
    command = html.escape("warpfold " + command.replace("OUT/", ""))
    return f'<figure><a href="gallery/{page}">{shown}</a><figcaption>{html.escape(says)}<pre>{command}</pre></figcaption></figure>\n'
