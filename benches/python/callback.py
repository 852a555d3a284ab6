"""What a call of a congestion control in Python costs: Reno in Python against Reno in Rust, on the same packets.

Run with the Python of `make python`, on a machine that does nothing else:
out/python/bin/python benches/python/callback.py
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))

import ackord as ak  # noqa: E402
from in_python import Reno  # noqa: E402

ROUNDS = 7


class Counted(Reno, name="counted"):
    calls = 0

    def on_ack(self, now: float, ack: ak.AckSample) -> None:
        Counted.calls += 1
        super().on_ack(now, ack)


def seconds(control: str) -> float:
    """The least processor time of some runs."""
    least = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        ak.run("dumbbell", set={"flows.*.tcp.congestion": control, "duration": "60 s"}, series=False)
        least = min(least, time.process_time() - began)
    return least


ak.run("dumbbell", set={"flows.*.tcp.congestion": "counted", "duration": "60 s"}, series=False)
rust, python = seconds("reno"), seconds("reno-in-python")
print(f"{Counted.calls} calls of on_ack: {rust:.3f} s in Rust, {python:.3f} s in Python")
print(f"{(python - rust) / Counted.calls * 1e6:.2f} us per call")
