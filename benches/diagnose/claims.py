"""Checks a JSON diagnosis against itself: what no capture can make true, whatever it contains."""

import math
import re

LOSS_CAUSES = ("outage", "random-loss", "timeout-tail", "timeout-window", "timeout-small-window",
               "timeout-lost-retransmission")
# Causes that also consist of losses, counted apart.
OTHER_LOSS_CAUSES = ("fast-recovery", "policer")
TIME = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0,
        "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0}
BYTES = {"byte": 1, "bytes": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2**10, "mib": 2**20}
RATES = {"bit/s": 1, "kbit/s": 1e3, "mbit/s": 1e6, "gbit/s": 1e9}
COUNTS = {"segment", "segments", "packet", "packets", "frame", "frames", "time", "times", "ack", "acks",
          "retransmission", "retransmissions", "round", "probe", "probes", "syn", "syns"}
NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%|[A-Za-zµ]+(?:/s)?)?")
# Sentences about bytes that the connection has and the capture lacks; no more than the largest window is under way.
LACKING = "the capture does not have"
LARGEST_WINDOW = 2**30
# With more packets than this, an account may merge short intervals.
EVERY_INTERVAL = 1024
# Numbers that name a standard.
STANDARD = re.compile(r"RFC \d+")


def problem(kind, what, amount=None, connection=None):
    """Returns one finding; `amount` is its size (seconds, or a ratio)."""
    return {"kind": kind, "what": what, "amount": amount, "connection": connection}


def numbers(sentence):
    """Yields (value, rounding, unit, word) for every number; unit is time, bytes, rate, count, percent or None."""
    found = []
    for digits, word in NUMBER.findall(STANDARD.sub("", sentence)):
        plain = digits.rstrip(",").replace(",", "")
        decimals = len(plain.partition(".")[2]) if "e" not in plain else 6
        value, half, low = float(plain), 0.5 * 10.0 ** -decimals, word.lower()
        for unit, factors in (("time", TIME), ("bytes", BYTES), ("rate", RATES)):
            if low in factors:
                found.append([value * factors[low], half * factors[low], unit, word])
                break
        else:
            unit = "percent" if word == "%" else "count" if low in COUNTS else None
            found.append([value, half, unit, word])
    return found


def exceeding(sentence, seconds, size, packets):
    """Yields (kind, what, ratio) for the numbers of `sentence` that exceed what its connection contains."""
    found = numbers(sentence)
    bound = {"time": seconds, "bytes": size, "count": packets, "percent": 100.0}
    if LACKING in sentence:
        bound["bytes"] = LARGEST_WINDOW
    for value, half, unit, word in found:
        if unit is None and value > max(packets, size, seconds):
            yield "number-without-unit", sentence, value
        elif unit in bound and value - half > bound[unit] * (1 + 1e-9):
            yield f"{unit}-exceeds", sentence, value / bound[unit] if bound[unit] else math.inf
    for part, whole in zip(found, found[1:]):
        pattern = rf"{re.escape(part[3] or '')}\s+of\s+[\d]"
        comparable = part[2] == whole[2] or part[3] == "of" or whole[3] == "retransmitted"
        if (part[3] == "of" or re.search(pattern, sentence)) and comparable and part[2] != "percent":
            if part[0] - part[1] > (whole[0] + whole[1]) * 1.05:
                yield "part-exceeds-whole", sentence, part[0] / whole[0] if whole[0] else math.inf


def of_sums(one):
    """Yields problems of the seconds and intervals of connection `one`."""
    duration, number = one["duration_s"], one["id"]
    slack = 1e-6 + 1e-9 * abs(duration)
    if duration < 0 or not math.isfinite(duration):
        yield problem("duration", f"lasts {duration} s", duration, number)
    total = sum(cause["seconds"] for cause in one["causes"])
    if abs(total - duration) > slack * max(1, len(one["causes"])):
        yield problem("sum", f"causes add up to {total} of {duration} s", total - duration, number)
    at, by_cause = 0.0, {}
    for interval in one["intervals"]:
        if abs(interval["from_s"] - at) > slack or interval["to_s"] < interval["from_s"]:
            yield problem("gap", f"{interval['from_s']} to {interval['to_s']} s follows {at} s", None, number)
            break
        at = interval["to_s"]
        by_cause[interval["cause"]] = by_cause.get(interval["cause"], 0.0) + at - interval["from_s"]
    if one["intervals"] and abs(at - duration) > slack:
        yield problem("gap", f"the last interval ends at {at} of {duration} s", duration - at, number)
    for cause in one["causes"]:
        listed = by_cause.get(cause["cause"], 0.0)
        if sum(one["packets"]) <= EVERY_INTERVAL and abs(cause["seconds"] - listed) > 1e-3 * max(1.0, duration):
            yield problem("sum", f"{cause['cause']}: {cause['seconds']} s, in intervals {listed} s", cause["seconds"],
                          number)


def of_loss(one, everywhere):
    """Yields the seconds in causes of loss of a connection that shows no loss."""
    kinds = {artefact["kind"] for artefact in one["artefacts"]}
    if one["retransmitted_bytes"] or one["path"]["lost"] or "missing-packets" in kinds:
        return
    noted = f"{sum(one['packets'])} packets, {one['bytes']} bytes, artefacts {sorted(kinds | everywhere)}"
    for cause in one["causes"]:
        name = cause["cause"]
        if cause["seconds"] > 0 and (name in LOSS_CAUSES or name in OTHER_LOSS_CAUSES):
            kind = "invented-loss" if name in LOSS_CAUSES else "invented-congestion-loss"
            yield problem(kind, f"{name} {cause['seconds']:.3f} s of {one['duration_s']:.3f} s; {noted}",
                          cause["seconds"], one["id"])


def of_numbers(one):
    """Yields problems of the numbers in sentences and fields of connection `one`."""
    number, path, duration = one["id"], one["path"], one["duration_s"]
    packets, size = sum(one["packets"]), one["bytes"] + one["retransmitted_bytes"]
    sentences = [interval["reason"] for interval in one["intervals"]]
    sentences += [artefact["meaning"] for artefact in one["artefacts"]]
    sentences += [text for text in one.get("remarks", []) if isinstance(text, str)]
    told = set()
    for sentence in sentences:
        for kind, what, ratio in exceeding(sentence, duration, size, packets):
            if (kind, what) not in told:
                told.add((kind, what))
                yield problem(kind, f"{what} ({duration:.6f} s, {size} bytes, {packets} packets)", ratio, number)
    for name in ("base_rtt_s", "queue_s"):
        if path.get(name) is not None and path[name] > duration + 1e-9:
            yield problem("field-exceeds", f"path.{name} {path[name]} of {duration} s", path[name], number)
    if path["lost"] > path["segments"] or path["lost"] < 0:
        yield problem("field-exceeds", f"path.lost {path['lost']} of {path['segments']} segments", None, number)
    if sum(one["bytes_by"]) != one["bytes"]:
        yield problem("field-exceeds", f"bytes {one['bytes']}, by end {one['bytes_by']}", None, number)
    for cause in one["causes"] + one["intervals"]:
        if not 0.0 <= cause["confidence"] <= 1.0:
            yield problem("confidence", f"{cause['cause']}: {cause['confidence']}", None, number)


def check(found):
    """Returns all problems of the parsed JSON diagnosis `found`."""
    problems = []
    frames = sum(capture["frames"] for capture in found["captures"])
    everywhere = {artefact["kind"] for artefact in found["artefacts"]}
    for one in found["connections"]:
        problems += [*of_sums(one), *of_loss(one, everywhere), *of_numbers(one)]
        for cause in one["causes"] + one["intervals"] + one["artefacts"]:
            shown = cause.get("frames") or [cause.get("frame") or 1]
            if min(shown) < 1 or max(shown) > frames:
                problems.append(problem("frames", f"frames {shown} of {frames}", None, one["id"]))
                break
        for remedy in one["remedies"]:
            low, high = remedy.get("ci95") or (0, 0)
            if low > high or remedy["gain_percent"] > 100:
                problems.append(problem("remedy", str(remedy)[:200], None, one["id"]))
    packets = sum(sum(one["packets"]) for one in found["connections"])
    tcp = sum(capture["tcp"] for capture in found["captures"])
    if packets > tcp:
        problems.append(problem("packets", f"connections have {packets} packets of {tcp} TCP frames"))
    return problems
