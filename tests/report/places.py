"""The expected positions of a chart's marks, computed from the figures of the result that the page names for each mark."""

import decimal
import math


def fixed(number, digits):
    """Returns a number with separated thousands; halves of its shortest text are rounded away from 0, as browsers do."""
    unit = decimal.Decimal(1).scaleb(-digits)
    return f"{decimal.Decimal(str(number)).quantize(unit, decimal.ROUND_HALF_UP):,}"


def rounded(number):
    """Three digits that matter, as the page's `rounded` writes them."""
    if number == 0:
        return "0"
    before = math.floor(math.log10(abs(number))) + 1
    return fixed(number, min(6, max(0, 3 - before)))


def percent(share, digits=1):
    return fixed(100 * share, digits) + " %"


def us_per_cycle(result):
    return result["total_time_us"] / result["total_cycles"]


def name_of(result, kernel):
    return result["kernels"][kernel]["name"]


# Each function gives (the mark's text, from where, to where) for each mark, along the chart's horizontal axis.


def kernels(result):
    us = us_per_cycle(result)
    for kernel in result["kernels"]:
        start, end = kernel["start_cycle"] * us, kernel["end_cycle"] * us
        yield f"{kernel['name']} runs from {rounded(start)} to {rounded(end)} us", start, end


def resources(result):
    for resource in result["resources"]:
        if resource["busy"] > 0:
            use = resource["utilization"]
            yield f"{resource['name']}: {percent(use)} of capacity, {resource['busy']:,} of {resource['capacity']:,}", 0, 100 * use


def states(result):
    for kernel in result["kernels"]:
        at = 0
        for state in kernel["states"]:
            share = 100 * state["warp_cycles"] / kernel["resident_warp_cycles"]
            if share > 0:
                words = f"{kernel['name']}, {state['state']}: {fixed(share, 1)} % of its warp time, {state['warp_cycles']:,} warp-cycles"
                yield words, at, at + share
                at += share


def slowdown(result, kernel):
    """The steps of the waterfall that have a row of their own."""
    shown = 10
    us = us_per_cycle(result)
    losses = sorted(kernel["slowdown"]["losses"], key=lambda loss: -abs(loss["cycles"]))
    at = kernel["slowdown"]["solo_cycles"] * us
    for loss in losses[:shown]:
        kind = loss["kind"].replace("_", " ")
        name = kind + (f": {loss['culprit']}, {loss['resource']}" if loss["culprit"] else f": {loss['resource']}")
        name = "rest" if kind == "rest" else name
        change = loss["cycles"] * us
        yield f"{kernel['name']}, {name}: {'+' if change >= 0 else ''}{rounded(change)} us", min(at, at + change), max(at, at + change)
        at += change


def policies(results):
    for result in results:
        yield f"{result['policy']}: {rounded(result['total_time_us'])} us", 0, result["total_time_us"]


def limiters(kernel):
    shown = 6
    for limiter in kernel["limiters"][:shown]:
        yield f"{kernel['name']}, {limiter['resource']}: at least {rounded(limiter['time_us'])} us", 0, limiter["time_us"]


def movers(difference):
    shown = 20
    for mover in difference["mover"][:shown]:
        value = math.copysign(100 * mover["share_of_total"], mover["change"])
        yield f"{mover['what']}: {rounded(mover['a'])} to {rounded(mover['b'])} {mover['unit']}", min(0, value), max(0, value)


def what_if(result):
    shown = 18

    def change(variation):
        return 100 * (variation["speedup"] - 1) if variation and variation["speedup"] > 0 else 0

    resources = result["what_if"]["resources"]
    noise = max(100 * result["what_if"].get("noise", 0), 0.5)
    longest = sorted(resources, key=lambda each: -max(abs(change(each.get(side))) for side in ("better", "worse")))[:shown]
    for resource in longest:
        if max(abs(change(resource.get(side))) for side in ("better", "worse")) <= noise:
            continue  # the page names it in a sentence
        for side in ("better", "worse"):
            variation = resource.get(side)
            if variation and variation["speedup"] > 0:
                value = change(variation)
                words = f"{resource['what']}, {' '.join(variation['setting'])}: {'+' if value > 0 else ''}{fixed(value, 2)} % speed"
                yield words, min(0, value), max(0, value)


def memory_bytes(result):
    for kernel in result["kernels"]:
        accesses = kernel["memory"]["accesses"]
        levels = {"asked of L1 and L2": sum(each["bytes"] for each in accesses),
                  "served by L1": sum(each["l1_bytes"] for each in accesses),
                  "between SMs and L2": kernel["l2_bytes"], "between L2 and DRAM": kernel["dram_bytes"]}
        for level, size in levels.items():
            if size > 0:
                yield f"{kernel['name']}: {rounded(size / 1e6)} MB {level}", 0, size / 1e6


def memory_wavefronts(result):
    for kernel in result["kernels"]:
        for access in kernel["memory"]["accesses"]:
            needed = access["wavefronts"] - access["excess_wavefronts"]
            for part, low, high in (("without conflicts", 0, needed), ("by conflicts", needed, access["wavefronts"])):
                if high > low:
                    yield f"{kernel['name']}: {access['kind'].replace('_', ' ')}, {part}: {high - low:,} wavefronts", low, high


def slowdown_is_noise(result, kernel):
    """The page has a sentence in place of a chart."""
    slowdown = kernel["slowdown"]
    open_cycles = max(2 * result["fold"].get("error_bound", 0), 0.01) * slowdown["solo_cycles"]
    return abs(slowdown["cycles"] - slowdown["solo_cycles"]) <= open_cycles


def occupancy_is_constant(curve):
    return len({point["warps"] for point in curve["points"]}) == 1


def occupancy(kernel, curve):
    quantity = {"registers_per_thread": "registers (a thread)", "shared_memory_bytes": "shared memory (bytes a CTA)",
                "warps_per_cta": "warps (a CTA)"}[curve["what"]]
    start = 0
    for point in curve["points"]:
        yield f"up to {point['value']:,} {quantity}: {point['ctas']:,} CTAs, {point['warps']:,} warps", start, point["value"]
        start = point["value"]
    if any(curve["now"] <= point["value"] for point in curve["points"]):
        yield f"{kernel['kernel']}: {curve['now']:,} {quantity}", curve["now"], curve["now"]


def ctas(result, sm):
    us = us_per_cycle(result)
    for cta in sm["ctas"]:
        start, end = cta["start_cycle"] * us, cta["end_cycle"] * us
        yield f"{name_of(result, cta['kernel'])}, a CTA in slot {cta['slot']}: {rounded(start)} to {rounded(end)} us", start, end
    for span in sm["kernels"]:
        if span["ctas_left_out"] > 0:
            start, end = span["left_out_from_cycle"] * us, span["left_out_to_cycle"] * us
            yield (f"{span['ctas_left_out']:,} CTAs of {name_of(result, span['kernel'])} not drawn: {rounded(start)} to {rounded(end)} us",
                   start, end)
    for span in sm["folded"]:
        how = "exactly" if span["exact"] else "within the bound"
        start, length = span["start_cycle"] * us, span["cycles"] * us
        yield f"{span['periods']:,} periods skipped, {how}: {rounded(length)} us", start, start + length


def phases(result, sm):
    """By lane: a chart shows only so many of them."""
    us = us_per_cycle(result)
    lanes = {}
    for phase in sm["phases"]:
        lane = f"{name_of(result, phase['kernel'])}, slot {phase['slot']}, {phase['role']}"
        start, end = phase["start_cycle"] * us, phase["end_cycle"] * us
        words = f"{lane}, {phase['phase'].replace('_', ' ')}: {rounded(start)} to {rounded(end)} us"
        lanes.setdefault(lane, []).append((words, start, end))
    return lanes


def use(result, sm):
    us = us_per_cycle(result)
    lanes = result["timeline"]["lanes"]
    for window in sm["windows"]:
        start, end = window["start_cycle"], window["end_cycle"]
        for resource in dict.fromkeys(lane["resource"] for lane in lanes):
            of = [i for i, lane in enumerate(lanes) if lane["resource"] == resource]
            busy = sum(window["busy"][i] for i in of)
            share = busy / (sum(lanes[i]["capacity_per_cycle"] for i in of) * (end - start))
            if busy > 0:
                yield f"{resource} from {rounded(start * us)} us: {percent(share)} busy", start * us, end * us


def time_text(us):
    if us >= 1e6:
        return rounded(us / 1e6) + " s"
    return rounded(us / 1e3) + " ms" if us >= 1e3 else rounded(us) + " us"


def profiled(report):
    for kernel in report["kernels"][:15]:
        us, launches = kernel["measured_us"], int(kernel["launches"])
        simulated = kernel["simulated_us"] * launches
        yield f"{kernel['short_name']}: {time_text(us)} in {launches:,} launches{'' if simulated else ', not simulated'}", 0, us
        if simulated:
            yield f"{kernel['short_name']}: {time_text(simulated)} simulated, bound by {kernel['bound_by']}", 0, simulated
