"""What an episode of `ackord.gym` costs: 10 s of a bulk transfer at 20 Mbit/s, a step each 100 ms, without losses.

Prints processor time and wall time, the least and the median of 40 episodes.

    out/python/bin/python benches/python/gym.py
"""

from __future__ import annotations

import statistics
import time

from ackord import gym

EPISODES = 40


def main() -> None:
    env = gym.CongestionEnv(
        "lossy-wifi", step="100 ms",
        set={"duration": "10 s", "flows.download.traffic": {"kind": "bulk"}, "links.wifi.loss": "none"},
    )  # fmt: skip
    processor, wall, delivered = [], [], []
    for seed in range(EPISODES):
        began = time.process_time(), time.perf_counter()
        env.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step([60.0])
            delivered.append(info["delivered_bit_s"])
            over = terminated or truncated
        processor.append(time.process_time() - began[0])
        wall.append(time.perf_counter() - began[1])
    print(f"{len(delivered) / EPISODES:.0f} steps an episode, {statistics.mean(delivered) / 1e6:.1f} Mbit/s delivered")
    for name, times in (("processor", processor), ("wall", wall)):
        print(f"{name}: {1e3 * min(times):.1f} ms at least, {1e3 * statistics.median(times):.1f} ms median")


if __name__ == "__main__":
    main()
