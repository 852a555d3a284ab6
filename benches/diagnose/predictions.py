"""Checks the predictions of a diagnosis: those in the JSON, and the sentences that only the terminal prints."""

import re

import claims

IDLE = ("client-idle", "server-idle")
RATES = {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
# Words of internal errors, which mean nothing to a user.
INTERNAL = re.compile(r"panicked|sound|out of range|cannot be simulated|simulation of its path|fitted\.toml|NaN|\binf\b")
REMARK = re.compile(r"^- connection (\d+): (.*)$")
LIMIT = re.compile(r"no remedy is credited with more than ([\d.]+) ([kMG]?bit/s), (.*)$")
# No link carries more, bit/s.
FASTEST = 1e12
# Digits of a rate in a sentence.
ROUNDING = 1.01


def remarks(text):
    """Returns the remarks of the section "What would help": pairs of a connection's number and the sentence."""
    lines, inside = [], False
    for line in text.splitlines():
        if line == "What would help":
            inside = True
        elif line == "Where the time went":
            break
        elif inside and line.startswith("- "):
            lines.append(line)
        elif inside and lines and line.startswith("  ") and line.strip():
            lines[-1] += " " + line.strip()
        elif inside and not line.strip() and lines:
            lines.append("")
    return [(int(found[1]), found[2]) for found in map(REMARK.match, lines) if found]


def kind(sentence):
    """Returns the kind of a remark: what became of the prediction."""
    if "prediction stopped after" in sentence or "prediction interrupted" in sentence:
        return "stopped"
    for start in ("no prediction", "nothing to gain"):
        if sentence.startswith(start):
            return start
    return "predicted"


def active_s(one):
    """Returns the duration of connection `one` without the time of idle applications."""
    return max(one["duration_s"] - sum(cause["seconds"] for cause in one["causes"] if cause["cause"] in IDLE), 1e-6)


def limits(sentences):
    """Returns the limit of each connection that has one in its remarks: bit/s, and what it is."""
    found = {}
    for number, sentence in sentences:
        for part in sentence.split("; "):
            if limit := LIMIT.match(part):
                found[number] = (float(limit[1]) * RATES[limit[2]], limit[3])
    return found


def of_remedies(one, limit):
    """Yields problems of the remedies of connection `one`; `limit` is that of its remark."""
    size, least = max(one["bytes_by"]), active_s(one)
    for remedy in one["remedies"]:
        gain, (low, high) = remedy["gain_percent"], remedy["ci95"]
        what = f"{remedy['remedy']} {gain:.2f} % [{low:.2f}, {high:.2f}]"
        if not (0 < low < high < 100 and low <= gain <= high):
            yield claims.problem("interval", what, high - low, one["id"])
        rate = 8 * size / (least * (1 - gain / 100))
        if limit and rate > limit[0] * ROUNDING:
            yield claims.problem("beats-limit", f"{what}: {rate:.0f} bit/s, {limit}", rate / limit[0], one["id"])


def of_remarks(sentences, connections):
    """Yields problems of the remarks."""
    for number, sentence in sentences:
        one = connections[number]
        if INTERNAL.search(sentence):
            yield claims.problem("internal-error", sentence, None, number)
        for value, half, unit, _ in claims.numbers(sentence):
            impossible = (unit == "percent" and value - half > 100 or unit == "rate" and not 0 < value < FASTEST)
            if impossible:
                yield claims.problem("impossible-number", sentence, value, number)
        if kind(sentence) == "predicted" and not one["remedies"]:
            yield claims.problem("remark-without-remedy", sentence, None, number)


def check(found, text):
    """Returns the remarks with their kinds, and all problems of the predictions in `found` and `text`."""
    sentences = remarks(text)
    connections = {one["id"]: one for one in found["connections"]}
    bounds = limits(sentences)
    problems = list(of_remarks(sentences, connections))
    for one in found["connections"]:
        problems += of_remedies(one, bounds.get(one["id"]))
    return [[number, kind(sentence), sentence] for number, sentence in sentences], problems
