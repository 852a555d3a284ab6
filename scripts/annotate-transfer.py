#!/usr/bin/env python3
"""Writes docs/annotated-transfer.md: one live transfer with losses, a capture of the kernel's end beside
our event log, each step explained.

Our endpoint serves a file of 65,000 octets to curl over a path that loses some packets; tcpdump runs
at the kernel's end. Needs root or rootless TUN, tcpdump and curl.

Usage: scripts/annotate-transfer.py [--seed N] [--out FILE] [--ackord PROGRAM]
"""

import argparse
import json
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

SIZE = 65_000
DELAY_MS = 20.0
RATE_MBIT = 10.0
LOSS = '{ kind = "random", per_packet = "6 %" }'
WIDTH = 62


def run_transfer(ackord, seed, folder):
    """The transfer; its capture and event log are then in the folder."""
    files = os.path.join(folder, "files")
    os.mkdir(files)
    with open(os.path.join(files, "file"), "wb") as file:
        file.write(os.urandom(SIZE))
    inside = (
        'tcpdump -i ackord0 -n -U --immediate-mode --time-stamp-precision nano -w "$1/kernel.pcap" tcp '
        '2>"$1/tcpdump.log" & p=$!; sleep 0.7; '
        'curl -sSf -m 60 -o "$1/copy" http://10.77.0.2/file; s=$?; sleep 0.5; kill $p; wait $p; '
        "exit $s"
    )
    command = [
        *ackord, "live", "serve", files,
        "--scenario", "lossy-wifi", "--seed", str(seed), "--compare-runs", "0",
        "--set", f"links.wifi.rate={RATE_MBIT:g} Mbit/s",
        "--set", f"links.wifi.delay={DELAY_MS:g} ms",
        "--set", f"links.wifi.loss={LOSS}",
        "--set", "links.wifi.reverse.loss=none",
        "--events", os.path.join(folder, "events.jsonl"),
        "--", "sh", "-c", inside, "sh", folder,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the transfer failed:\n{done.stderr}{done.stdout}")
    same = all(
        open(os.path.join(folder, a), "rb").read() == open(os.path.join(folder, b), "rb").read()
        for a, b in [("files/file", "copy")]
    )
    if not same:
        sys.exit("the copy differs from the file")


def read_capture(folder):
    """What tcpdump prints, as (nanoseconds since 1970, direction, text)."""
    said = subprocess.run(
        ["tcpdump", "-n", "-tt", "--nano", "-r", os.path.join(folder, "kernel.pcap")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    packets = []
    for line in said.stdout.splitlines():
        stamp, rest = line.split(" ", 1)
        seconds, nanos = stamp.split(".")
        match = re.match(r"IP (\S+)\.(\d+) > (\S+)\.(\d+): (.*)", rest)
        ours = match[1] == "10.77.0.2"
        packets.append((int(seconds) * 10**9 + int(nanos), "<-" if ours else "->", match[5]))
    return packets


def shortened(text):
    """tcpdump's words without what every line repeats."""
    text = re.sub(r"^Flags ", "", text)
    text = re.sub(r"\[nop,nop,TS val \d+ ecr \d+\]", "", text)
    text = re.sub(r"nop,nop,TS val \d+ ecr \d+,nop,nop,sack \d+ ", "sack ", text)
    text = re.sub(r",TS val \d+ ecr \d+,nop", ",TS", text)
    text = re.sub(r", options (?=,|$)", "", text)
    text = re.sub(r", length \d+.*$", "", text)
    return re.sub(r"(seq|ack) (\d{6,})", lambda found: f"{found[1]} ISN", text)


def read_events(folder):
    """Our events, as (nanoseconds since 1970, event), and when the run began."""
    lines = [json.loads(line) for line in open(os.path.join(folder, "events.jsonl"))]
    began = lines[0]["began_unix_ns"]
    return began, [(began + event["at_ns"], event) for event in lines[1:]]


class Story:
    """Turns our events into short words, and says what each step is by RFC."""

    def __init__(self, isn):
        self.isn = isn
        self.said = set()
        self.again = set()
        self.in_recovery = False

    def relative(self, seq):
        return (seq - self.isn) % 2**32

    def octets(self, event):
        start = self.relative(event["seq"])
        return f"{start}:{start + event['bytes']}"

    def bare(self, event):
        return "sends SYN, ACK" if event["seq"] == self.isn else "sends FIN"

    def once(self, key, text):
        if key in self.said:
            return []
        self.said.add(key)
        return [text]

    def words(self, event):
        """What stands at the right, or nothing."""
        name = event["event"]
        if name == "StateChanged":
            return f"{event['from']} -> {event['to']}"
        if name == "SegmentSent":
            return {
                "New": f"sends {self.octets(event)}" if event["bytes"] else self.bare(event),
                "Retransmission": f"SENDS AGAIN {self.octets(event)}",
                "PureAck": "sends an acknowledgment",
            }.get(event["kind"], f"sends {event['kind']}")
        if name == "CwndChanged":
            ssthresh = event["ssthresh"]
            limit = "" if ssthresh is None else f", ssthresh {ssthresh}"
            return f"cwnd {event['cwnd']}{limit} ({event['reason']})"
        if name == "AckAdvanced":
            return f"acknowledged up to {event['stream_offset'] + 1}"
        if name == "SegmentLost":
            return f"LOST {self.octets(event)} ({event['reason']})"
        if name == "RecoveryEntered":
            return f"RECOVERY BEGINS ({event['kind']})"
        if name == "RecoveryExited":
            return f"RECOVERY ENDS ({event['kind']})"
        if name == "RetransmissionTimeout":
            return f"TIMEOUT, the next one after {event['next_rto_ns'] / 1e6:.0f} ms"
        if name == "RepairUndone":
            return f"REPAIR UNDONE ({event['evidence']})"
        if name == "RetransmissionSpurious":
            return f"sent again in vain: {self.octets(event)}"
        if name == "PacketDropped":
            return f"(the path loses {self.octets(event)})"
        return None

    def comments_on(self, group):
        """What to say about what happened at one instant."""
        names = {event["event"] for event in group}
        sends = [event for event in group if event["event"] == "SegmentSent"]
        comments = []
        if "SegmentLost" in names:
            self.lost_now = {event["seq"] for event in group if event["event"] == "SegmentLost"}
        else:
            self.lost_now = set()
        for event in group:
            comments += self.comments(event)
            if event["event"] in {"RecoveryEntered", "RecoveryExited"}:
                self.in_recovery = event["event"] == "RecoveryEntered"
        new = [event for event in sends if event["kind"] == "New" and event["bytes"] > 0]
        if new and not self.in_recovery and names == {"SegmentSent"} and "slow start" in self.said:
            comments += self.once(
                "limited transmit",
                "A duplicate acknowledgment, and not the third yet: it lets a new segment out, so "
                "that there will be more of them (limited transmit, RFC 3042).",
            )
        if any(event["bytes"] < 1448 for event in new):
            comments += self.once(
                "nagle",
                "The last octets are less than a full segment: they have waited until all before "
                "them was acknowledged (Nagle's algorithm, RFC 9293 §3.7.4).",
            )
        return comments

    def comments(self, event):
        """What to say about an event, each thing once unless it is about a loss."""
        name = event["event"]
        if name == "StateChanged":
            return self.state_comments(event["to"])
        if name == "CwndChanged":
            return self.cwnd_comments(event["reason"], event)
        if name == "PacketDropped":
            return [
                f"From here on the kernel misses {self.octets(event)}: it stands in our log only, "
                "for the path took it and tcpdump never sees it."
            ]
        if name == "SegmentLost" and event["reason"] == "DuplicateAcks":
            return [
                f"The third duplicate of an acknowledgment: {self.octets(event)} counts as lost "
                "(RFC 5681 §3.2, RFC 6675 §5 step 4)."
            ]
        if name == "SegmentLost" and event["reason"] == "Scoreboard":
            return [
                f"{self.octets(event)} is lost too: three segments above it have been SACKed "
                "(IsLost, RFC 6675 §4); it is the next to be sent again (NextSeg rule 1)."
            ]
        if name == "SegmentLost" and event["reason"] == "RetransmissionTimeout":
            return [
                f"What is outstanding and not SACKed counts as lost, from {self.octets(event)} on "
                "(RFC 6675 §5.1); SACK information is kept."
            ]
        if name == "RetransmissionTimeout":
            why = (
                "a retransmission was lost, which duplicates do not tell"
                if self.lost_now & self.again
                else "too little was sent after what was lost for three duplicates"
            )
            return [
                f"No acknowledgment for a whole timeout: {why}, and nothing but the timer repairs "
                "that here. The oldest segment is sent again and the timeout doubled (RFC 6298 "
                "§5.4, §5.5); its floor of one second (§2.4) is what made it so long."
            ]
        if name == "RecoveryExited" and event["kind"] == "Fast":
            return [
                "Everything that was outstanding when the recovery began is acknowledged: "
                "RecoveryPoint is reached (RFC 6675 §5 step A), cwnd goes on from ssthresh."
            ]
        if name == "RecoveryExited":
            return ["What was outstanding at the timeout is acknowledged: the repair is over."]
        if name == "RetransmissionSpurious":
            return [
                f"The kernel had {self.octets(event)} already and says so: the first block is below "
                "what another one reports (DSACK, RFC 2883 §4.1)."
            ]
        if name == "SegmentSent" and event["kind"] == "Retransmission":
            first = event["seq"] not in self.again
            self.again.add(event["seq"])
            if self.in_recovery and first and event["seq"] not in self.lost_now:
                return [
                    "Nothing is known to be lost here and nothing new may leave: once in a "
                    "recovery the last octets outstanding are sent again, in case they were lost "
                    "(the rescue of NextSeg rule 4, RFC 6675 §4)."
                ]
            return self.once(
                "again",
                "While it repairs, what leaves is paced by what arrives: proportional rate "
                "reduction (RFC 9937 §6.2) lets out about 0.7 segments for each one delivered.",
            )
        return []

    def state_comments(self, state):
        texts = {
            "SynReceived": "A SYN in LISTEN is answered with SYN and acknowledgment (RFC 9293 "
            "§3.10.7.2) and with every option that it offered: MSS (RFC 9293 §3.7.1), SACK "
            "(RFC 2018 §2), window scale and timestamps (RFC 7323 §2, §3).",
            "Established": "The handshake is complete. The initial window is ten segments of 1448 "
            "octets (RFC 6928 §2): 1460 less the 12 of timestamps (RFC 6691 §2).",
            "FinWait1": "The last octets carry our FIN (RFC 9293 §3.6): curl asked for one file and "
            "the server closes at its end.",
            "CloseWait": "curl has closed: its FIN is acknowledged, our side may still send "
            "(RFC 9293 §3.6, case 2).",
            "LastAck": "We close as well.",
            "TimeWait": "Both FINs are acknowledged; the ports are kept for a minute "
            "(RFC 9293 §3.6.1).",
        }
        return self.once(state, texts[state]) if state in texts else []

    def cwnd_comments(self, reason, event):
        if reason == "Ack" and event["ssthresh"] is None:
            return self.once(
                "slow start",
                "Slow start: cwnd grows by a segment for each one acknowledged, so that two leave "
                "for each that arrived (RFC 5681 §3.1).",
            )
        if reason == "Ack":
            return self.once(
                f"avoid {event['ssthresh']}",
                f"Growth after the loss, with ssthresh {event['ssthresh']}: slow start below it "
                "(RFC 5681 §3.1), CUBIC above (RFC 9438 §4.2, §4.3).",
            )
        if reason == "Recovery":
            return [
                f"ssthresh is 0.7 of what was in flight (RFC 9438 §4.6): {event['ssthresh']}."
            ] if event["ssthresh"] is not None and not self.repeated(event) else []
        if reason == "Timeout":
            return ["cwnd falls to one segment (RFC 5681 §3.1, LW)."]
        return []

    def repeated(self, event):
        key = ("recovery", event["ssthresh"])
        known = key in self.said
        self.said.add(key)
        return known


def listing(packets, events):
    """The two columns in order of time, with comments, and what the clocks differ by."""
    isn = next(event["seq"] for _, event in events if event["event"] == "SegmentSent")
    story = Story(isn)
    # At one instant the packet comes first: it is what happened elsewhere before.
    rows = [(at, 0, ("packet", way, text)) for at, way, text in packets]
    rows += [(at, 1, ("event", event, None)) for at, event in events]
    rows.sort(key=lambda row: row[:2])
    start = rows[0][0]
    lines, previous_ack, duplicates = [], None, 0
    for at, group in grouped(rows):
        millis = f"{(at - start) / 1e6:9.3f}"
        comments = []
        if group[0][0] == "packet":
            _, way, text = group[0]
            lines.append(f"{millis}  {way} {shortened(text)}")
            ack = re.search(r"\back (\d+)", text)
            if way == "->" and ack and "length 0" in text:
                duplicates = duplicates + 1 if ack[1] == previous_ack else 0
                previous_ack = ack[1]
                if duplicates == 1 and "sack" in text:
                    comments += story.once(
                        ("duplicate", ack[1]),
                        f"A segment above the hole at {ack[1]} has arrived: the kernel says so at "
                        "once (RFC 5681 §4.2) and which octets it has (RFC 2018 §4).",
                    )
        else:
            words = [story.words(event) for _, event, _ in group]
            comments = story.comments_on([event for _, event, _ in group])
            for line in wrapped([word for word in words if word]):
                lines.append(f"{millis}  {'':{WIDTH}} | {line}")
                millis = " " * len(millis)
        for comment in comments:
            lines += [f"{'':11}# {line}" for line in folded(comment, 100)]
    return lines


def grouped(rows):
    """Events of one instant together, packets by themselves."""
    group, since = [], None
    for at, kind, row in rows:
        if row[0] == "event" and row[1]["event"] in {"RttSampled", "DataDelivered"}:
            continue
        if group and (kind == 0 or at != since or group[0][0] == "packet"):
            yield since, group
            group = []
        since = at
        group.append(row)
    if group:
        yield since, group


def wrapped(words):
    """Words joined by semicolons, in lines of some width; new segments in a row as one."""
    merged = []
    for word in words:
        found = re.match(r"sends (\d+):(\d+)$", word)
        last = re.match(r"sends (\d+):(\d+)", merged[-1]) if merged else None
        if found and last and last[2] == found[1]:
            merged[-1] = f"sends {last[1]}:{found[2]}"
        else:
            merged.append(word)
    return folded("; ".join(merged), 74)


def folded(text, width):
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def clock_offset(packets, events):
    """How much later than planned our segments were seen, in microseconds: median and largest."""
    sent, late = {}, []
    isn = next(event["seq"] for _, event in events if event["event"] == "SegmentSent")
    busy_until = 0.0
    dropped = [event["seq"] for _, event in events if event["event"] == "PacketDropped"]
    for at, event in events:
        if event["event"] == "SegmentSent" and event["bytes"] > 0:
            length = event["bytes"] + 52
            # The link is a serialiser with a queue, and a delay after it; a lost packet takes its
            # time too.
            busy_until = max(busy_until, at) + length * 8 / RATE_MBIT * 1e3
            key = (event["seq"] - isn) % 2**32
            if event["kind"] == "New" and event["seq"] not in dropped:
                sent[key] = busy_until + DELAY_MS * 1e6
    for at, way, text in packets:
        seq = re.search(r"\bseq (\d+):\d+", text)
        if way == "<-" and seq and int(seq[1]) in sent:
            late.append((at - sent.pop(int(seq[1]))) / 1e3)
    return statistics.median(late), max(late), len(late)


def page(lines, facts):
    return f"""# One transfer with losses, packet by packet

Our endpoint serves {SIZE:,} octets to a stock curl on Linux {facts["kernel"]}, over a path of
{RATE_MBIT:g} Mbit/s and {DELAY_MS:g} ms each way that loses 6 % of what we send
(seed {facts["seed"]}; {facts["lost"]} packets were lost). The endpoint is the `rfc` profile: CUBIC,
three duplicates, SACK with proportional rate reduction.

On the left stands what tcpdump saw at the kernel's end (`<-` arrives there, `->` leaves), without the
timestamps option and the addresses that every line repeats, and with initial sequence numbers
written as ISN; on the right our event log, at our end of the path; between them, after `#`, what each
step is and which RFC asks for it.

**Clocks.** Both columns are in milliseconds after the first packet, in the kernel's clock. The event
log counts from the start of the run on the monotonic clock, and its first line says when that was in
the system's: {facts["began"]} ns since 1970, which is the offset added here. What is left: of
{facts["measured"]} segments sent once, tcpdump saw half no more than {facts["median"]:.0f} us after the
path's own {DELAY_MS:g} ms and queue, and the last {facts["max"]:.0f} us after, which is how late the
driver handed them over. A segment stands on the left therefore {DELAY_MS:g} ms and its queueing after it
stands on the right, and an acknowledgment on the right as long after it stands on the left.

Made by this, which anyone may repeat; another run has other times, the same losses:

```text
scripts/annotate-transfer.py --seed {facts["seed"]}
```

```text
{chr(10).join(lines)}
```
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--out", default="docs/annotated-transfer.md")
    parser.add_argument("--ackord", default="cargo run --quiet --package ackord-cli --")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ackord-annotate-") as folder:
        run_transfer(shlex.split(arguments.ackord), arguments.seed, folder)
        packets = read_capture(folder)
        began, events = read_events(folder)
    median, largest, measured = clock_offset(packets, events)
    facts = {
        "kernel": platform.release().split("-")[0],
        "seed": arguments.seed,
        "lost": sum(event["event"] == "PacketDropped" for _, event in events),
        "began": f"{began:,}".replace(",", " "),
        "median": median,
        "max": largest,
        "measured": measured,
    }
    with open(arguments.out, "w", encoding="utf-8") as file:
        file.write(page(listing(packets, events), facts))
    print(f"wrote {arguments.out}: {len(packets)} packets, {len(events)} events")


main()
